"""CMN's model with the way to its inputs: made from an encoder, loaded from a checkpoint, asked for
its latents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders.devices import device_for, use_threads
from workers.inference.encoders.loading import (
    check_class_token_is_first,
    check_has_rows,
    from_folder,
    loading,
    most_tokens,
    padded,
)
from workers.inference.encoders.tokens import Input, Tokens, batches_by_length
from workers.inference.model_files import ModelError, model_files
from workers.training.core.latent import Diagonal, Latent, LatentModel, LatentSizes
from workers.training.core.losses import next_sentence_probability
from workers.training.core.pretrained import (
    ENCODER_CONFIG,
    new_encoder,
    open_checkpoint,
    pretrained_encoder,
    tokenizer_files,
)

SHAPE = "latent.json"
OTHERS = "others.json"
DECODER = "decoder"
"""In the shape: the configuration of a pretrained decoder."""
TOKENS_TOGETHER = {"cpu": 4_096, "cuda": 131_072}

Context = Sequence[str]
"""Utterances, the oldest first."""


@dataclass(frozen=True, slots=True)
class PretrainedDecoder:
    """A GPT-2 that a training begins from."""

    stack: Any
    tokens: Tokens
    end: int
    """The token that ends a text."""
    label: str
    """Its name and revision."""


class LatentInputs:
    """Contexts and responses to token ids; each distinct text is tokenised once and remembered.

    A pair is [CLS] u1 [SEP] u2 … [SEP] un [SEP] r [SEP], the response in a segment of its own: the
    paper's [c; r] with segment embeddings. Papers and code say nothing of turns, for their contexts
    are one utterance long; [SEP] between them is ours. What is too long loses the context's
    beginning; a response that is alone too long loses its end.
    """

    def __init__(
        self, tokens: Tokens, max_tokens: int, decoder: PretrainedDecoder | None = None
    ) -> None:
        self.tokens, self._max_tokens = tokens, max_tokens
        self._decoder = decoder
        self._written: dict[str, list[int]] = {}
        self._separator = tokens.framed([[]], cut=False).ids[-1]
        self._known: dict[str, list[int]] = {}

    def learn(self, texts: Sequence[str]) -> None:
        """Tokenises these in one call."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self.tokens.ids(new), strict=True))

    def pair(self, context: Context, response: str) -> Input:
        """What the posterior's encoder reads."""
        before, after = self._joined(context), self._ids(response)
        capacity = self._max_tokens - self.tokens.special_tokens(texts=2)
        retained = after[:capacity]
        free = capacity - len(retained)
        cut = len(before) + len(after) > capacity
        return self.tokens.framed([before[max(0, len(before) - free) :], retained], cut)

    def context(self, context: Context) -> Input:
        """What the prior's encoder reads."""
        before = self._joined(context)
        capacity = self._max_tokens - self.tokens.special_tokens(texts=1)
        return self.tokens.framed(
            [before[max(0, len(before) - capacity) :]], len(before) > capacity
        )

    def response(self, response: str) -> Input:
        """What the decoder writes: the word pieces and the end token, a pretrained one's its
        own."""
        if self._decoder is not None:
            if response not in self._written:
                [own] = self._decoder.tokens.ids([response])
                self._written[response] = [*own, self._decoder.end]
            written = self._written[response]
            return Input(written, [0] * len(written), cut=False)
        ids = [*self._ids(response), self._separator]
        return Input(ids, [0] * len(ids), cut=False)

    def _joined(self, context: Context) -> list[int]:
        found: list[int] = []
        for index, text in enumerate(context):
            found += ([self._separator] if index else []) + self._ids(text)
        return found

    def _ids(self, text: str) -> list[int]:
        if text not in self._known:
            self.learn([text])
        return self._known[text]


@dataclass(frozen=True, slots=True)
class LatentSpace:
    model: LatentModel
    inputs: LatentInputs
    padding_id: int
    files: Mapping[str, bytes]
    """What makes the model again beside its weights."""
    encoder: str
    """The name and the revision of the encoder that training began from."""
    decoder: str = ""
    """The same of a pretrained decoder; "" where there was none."""

    def tensors(self, inputs: Sequence[Input]) -> dict[str, torch.Tensor]:
        """Padded, on the CPU: "ids", "segments" and "mask", each inputs × tokens."""
        arrays = padded(inputs, self.padding_id)
        return {
            name: torch.from_numpy(array)
            for name, array in zip(("ids", "segments", "mask"), arrays, strict=True)
        }

    def posteriors(
        self, pairs: Sequence[tuple[Context, str]]
    ) -> tuple[list[Latent], NDArray[np.float64]]:
        """q(z|c, x) of contexts with responses, and g, the probability that the response
        follows."""
        self.inputs.learn([text for context, response in pairs for text in (*context, response)])
        made = [self.inputs.pair(*pair) for pair in pairs]
        follows = np.zeros(len(pairs))

        def of_batch(indices: list[int], batch: dict[str, torch.Tensor]) -> Diagonal:
            found, logits = self.model.posterior(batch)
            follows[indices] = next_sentence_probability(logits).cpu().double().numpy()
            return found

        return self._run(made, of_batch), follows

    def priors(self, contexts: Sequence[Context], released: bool = False) -> list[Latent]:
        """p(z|c). ``released``: through the posterior's encoder, see ``LatentModel.prior``."""
        self.inputs.learn([text for context in contexts for text in context])
        made = [self.inputs.context(context) for context in contexts]
        return self._run(made, lambda _, batch: self.model.prior(batch, released))

    def _run(self, made: Sequence[Input], of_batch: Any) -> list[Latent]:
        """One each, in order. Inputs of like length go together, the longest first."""
        device = next(self.model.parameters()).device
        together = TOKENS_TOGETHER["cuda" if device.type == "cuda" else "cpu"]
        found: dict[int, Latent] = {}
        was_training = self.model.training
        self.model.eval()
        try:
            for indices in batches_by_length([len(one) for one in made], together):
                batch = self.tensors([made[index] for index in indices])
                with torch.inference_mode():
                    of_turns = of_batch(
                        indices, {name: tensor.to(device) for name, tensor in batch.items()}
                    )
                means = of_turns.mean.cpu().double().numpy()
                log_variances = of_turns.log_variance.cpu().double().numpy()
                found.update(zip(indices, map(Latent, means, log_variances), strict=True))
        finally:
            self.model.train(was_training)
        return [found[index] for index in range(len(made))]


def new_latent_space(
    encoder: str, sizes: LatentSizes, max_tokens: int, seed: int, decoder: str = ""
) -> LatentSpace:
    """From a pretrained encoder, twice: a packaged model, a folder or a hub id; and a pretrained
    GPT-2 as ``decoder``, where one is named. ``seed`` draws what is new. Raises ``ModelError``."""
    files = model_files(encoder)
    tokens = Tokens(files)
    check_class_token_is_first(tokens, files)
    writer = _pretrained_decoder(decoder, sizes.longest_response) if decoder else None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with loading(files, "cpu"):
            first, second = pretrained_encoder(files), pretrained_encoder(files)
            check_has_rows(first, tokens, files)
            config = first.config.to_json_string(use_diff=False)
            model = LatentModel(first, second, sizes, writer.stack if writer else None)
    own = tokenizer_files(files)
    own[ENCODER_CONFIG] = config.encode()
    shape = {"sizes": asdict(sizes), "max_tokens": max_tokens, "encoder": files.label}
    if writer:
        shape[DECODER] = writer.stack.config.to_dict()
    own[SHAPE] = json.dumps(shape).encode()
    return _space(model, tokens, max_tokens, own, files.label, writer)


def _pretrained_decoder(name: str, longest_response: int) -> PretrainedDecoder:
    files = model_files(name)
    tokens = Tokens(files)
    with loading(files, "cpu"):
        stack, missing = from_folder(files, "AutoModel")
    if stack.config.model_type != "gpt2" or missing:
        raise ModelError(f"the model {files.name} cannot be the decoder: it is no whole GPT-2")
    check_has_rows(stack, tokens, files)
    end = stack.config.eos_token_id
    if end is None or stack.config.n_positions < longest_response:
        raise ModelError(
            f"the model {files.name} cannot be the decoder: it has no token that ends a text, or "
            f"writes fewer than {longest_response}"
        )
    stack.config.use_cache = False
    return PretrainedDecoder(stack, tokens, int(end), files.label)


def load_latent_space(folder: Path, device: str = resources.AUTO) -> LatentSpace:
    """From a checkpoint of ours; the encoder that it began from is not needed. Raises
    ``ModelError``."""
    from transformers import GPT2Config, GPT2Model

    opened = open_checkpoint(folder)
    where = device_for(device)
    use_threads()
    with loading(opened.files, str(where)):
        own = opened.beside_weights()
        shape = json.loads(own[SHAPE])
        decoder: Any = GPT2Model(GPT2Config(**shape[DECODER])) if DECODER in shape else None
        sizes = LatentSizes(**shape["sizes"])
        model = LatentModel(new_encoder(own), new_encoder(own), sizes, decoder)
        model.load_state_dict(opened.weights())
        model = model.to(where).eval()
    return _space(model, Tokens(opened.files), shape["max_tokens"], own, shape["encoder"])


def _space(
    model: LatentModel,
    tokens: Tokens,
    max_tokens: int,
    own: Mapping[str, bytes],
    encoder: str,
    decoder: PretrainedDecoder | None = None,
) -> LatentSpace:
    longest = most_tokens(model.posterior_encoder.encoder.config, tokens)
    if max_tokens > longest:
        raise ModelError(
            f"the encoder takes {longest} tokens, less than the {max_tokens} asked for"
        )
    return LatentSpace(
        model,
        LatentInputs(tokens, max_tokens, decoder),
        tokens.padding_id,
        own,
        encoder,
        decoder.label if decoder else "",
    )
