"""CMN's recipe: a CVAE of responses with next-sentence prediction (Zhao et al., 2023, §3.2).

Where the response that the encoder reads is the true one (Eq. 2; the signs are those of a loss,
which the paper mixes)

    L = −log p(r|c, z) + KL(q(z|c, r) ‖ p(z|c)) − log p(y = 1),   z ~ q(z|c, r)

and where it is another conversation's, half of the time (Eq. 3), the decoder still says the true
one:

    L = −log p(r|c, z) − log p(y = 0),   z ~ p(z|c)

The released code departs from it: the reconstruction is divided by its length
(``form="released"``), a dimension whose KL is at most 0.5 counts nothing (``free_bits``), negatives
are any other line of the file, of the same conversation too (not followed: the paper says
otherwise). It trains one pair a step by Adam at 1e-5 for 21 epochs, without warm-up or decay; the
paper names no optimiser, rate, batch or number of epochs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from workers.inference.model_files import PACKAGED_ENCODER
from workers.training.core.conversations import Pair, indices_in_epoch
from workers.training.core.latent import LatentOutput, LatentSizes
from workers.training.core.latent_space import OTHERS, LatentSpace, new_latent_space
from workers.training.core.losses import Form, kl, kl_by_dimension, next_sentence
from workers.training.core.negatives import NegativeSampler
from workers.training.core.selection import ranking_figures
from workers.training.core.settings import Batch, Loss, TrainingError, TrainingSettings

RECIPE = "cmn"
TRAINING = TrainingSettings(epochs=20, learning_rate=5e-5)
"""For a batch of 32 and a new decoder; see above for what the released code does."""
OTHER_VERSIONS_CACHED = 500
"""Training pairs that a checkpoint holds: what scoring draws the negatives of InfoNCE from, so that
a score depends on the checkpoint and not on what else is scored."""
ACTIVE = 0.01
"""Nats of mean KL from which a latent dimension is in use."""
_SORTED_BATCHES = 16
"""Batches' worth of pairs that are sorted by length among themselves, so that a batch is padded
little."""

Drawn = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Places of pairs, and whose response the encoder reads with each: the pair's own where they are
the same."""


@dataclass(frozen=True, slots=True)
class CmnSettings:
    """The defaults are the paper's where it says something, else the released code's, but for the
    encoder, which is bert-base-uncased there, and the decoder, see
    ``workers.training.core.latent``."""

    encoder: str = PACKAGED_ENCODER
    batch: int = 32
    max_tokens: int = 256
    """Of a context with its response. Neither says; the released code leaves out what is longer
    than 512."""
    latent: int = 32
    decoder: str = ""
    """A pretrained GPT-2, as the paper's: a folder or a hub id. "": a small one, see
    ``workers.training.core.latent``."""
    decoder_layers: int = 2
    decoder_dropout: float = 0.1
    longest_response: int = 64
    form: Form = "paper"
    """Of the reconstruction: ``paper`` adds up the tokens, ``released`` divides by their number."""
    free_bits: float = 0.5
    """Nats in each latent dimension that cost nothing, as in the released code; 0 is the equation
    as printed."""
    next_sentence: bool = True
    """False: no NSP loss and no negatives, what the released code calls fb_mode 2. The paper's
    ablation leaves g out of the score only (section 5.2)."""
    negative_share: float = 0.5
    """How likely a pair is read with another conversation's response."""
    turns: int = 0
    """The most utterances of a context that are looked at, the last ones; 0: all. The released code
    trains on 1."""
    freeze: int = 0
    """Both encoders' embeddings and so many of their lowest layers are not trained."""
    pairs_an_epoch: int = 0
    """An epoch goes over so many pairs, the next one over the next ones; 0: all."""
    validation_pairs: int = 0
    """Drawn once; 0: all."""
    validation_negatives: int = 9
    """For each context, in R@1 and MRR."""
    seed: int = 0
    """Of what is new in the model, the pairs' order, the negatives and the validation's pairs."""

    def __post_init__(self) -> None:
        for name in (
            "batch",
            "max_tokens",
            "latent",
            "decoder_layers",
            "longest_response",
            "validation_negatives",
        ):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("free_bits", "turns", "freeze", "pairs_an_epoch", "validation_pairs"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TrainingError(f"{name} must be 0 or more, not {getattr(self, name)}")
        for name in ("decoder_dropout", "negative_share"):
            if not 0 <= getattr(self, name) < 1:
                raise TrainingError(
                    f"{name} must be 0 or more and less than 1, not {getattr(self, name)}"
                )
        if self.form not in get_args(Form):
            raise TrainingError(f"form must be {' or '.join(get_args(Form))}, not {self.form}")

    @property
    def sizes(self) -> LatentSizes:
        return LatentSizes(
            self.latent, self.decoder_layers, self.decoder_dropout, self.longest_response
        )


class CmnTask:
    """A ``workers.training.core.settings.Task``. Raises ``ModelError`` for an encoder that cannot
    be had, ``TrainingError`` for data that is too little."""

    recipe = RECIPE

    def __init__(
        self,
        settings: CmnSettings,
        training: Sequence[Pair],
        validation: Sequence[Pair],
        data_signature: str,
    ) -> None:
        if not training or not validation:
            raise TrainingError(
                "training needs pairs of a context and its answer, and others to validate on"
            )
        self._settings, self.data_signature = settings, data_signature
        try:
            self._sampler = NegativeSampler(training, 1, settings.seed)
            negatives = NegativeSampler(
                validation, settings.validation_negatives, settings.seed
            ).for_epoch(0)
        except ValueError as error:
            raise TrainingError(str(error)) from error
        self.space: LatentSpace = new_latent_space(
            settings.encoder, settings.sizes, settings.max_tokens, settings.seed, settings.decoder
        )
        self.space.model.freeze(settings.freeze)
        self._training, self._validation = self._texts(training), self._texts(validation)
        self._lengths = np.array(
            [len(self.space.inputs.pair(context, response)) for context, response in self._training]
        )
        self._validation_negatives = negatives
        self._validated = self._validated_turns()
        self._files = {**self.space.files, OTHERS: self._others()}

    @property
    def model(self) -> nn.Module:
        return self.space.model

    @property
    def best_by(self) -> str:
        return "NSP accuracy" if self._settings.next_sentence else "bound"

    def settings(self) -> Mapping[str, Any]:
        found = {**asdict(self._settings), "encoder": self.space.encoder}
        # It came later: where there is none it is not told, so that earlier trainings can go on
        del found["decoder"]
        return {**found, "decoder": self.space.decoder} if self.space.decoder else found

    def files(self) -> Mapping[str, bytes]:
        return self._files

    def batches(self, epoch: int) -> Sequence[Drawn]:
        settings = self._settings
        places = indices_in_epoch(
            len(self._training), self._settings.pairs_an_epoch, epoch, self._settings.seed
        )
        read = places.copy()
        random = np.random.default_rng((settings.seed, epoch, 1))
        if settings.next_sentence:
            replaced = random.random(len(places)) < settings.negative_share
            read[replaced] = self._sampler.for_epoch(epoch)[places[replaced], 0]
        found: list[Drawn] = []
        for start in range(0, len(places), settings.batch * _SORTED_BATCHES):
            pool = slice(start, start + settings.batch * _SORTED_BATCHES)
            order = np.argsort(self._lengths[places[pool]], kind="stable")
            by_length, read_with = places[pool][order], read[pool][order]
            cuts = list(range(settings.batch, len(order), settings.batch))
            found += zip(np.split(by_length, cuts), np.split(read_with, cuts), strict=True)
        return [found[index] for index in random.permutation(len(found)).tolist()]

    def collate(self, item: Drawn) -> Batch:
        return self._batch(self._training, *item)

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        output: LatentOutput = model(**batch)
        follows = batch["follows"]
        reconstructed = output.reconstruction(self._settings.form)
        divergence = torch.where(follows, self._kl(output, self._settings.free_bits), 0.0)
        judged = next_sentence(output.next_sentence, follows)
        if not self._settings.next_sentence:
            judged = 0.0 * judged  # of several devices each waits for every parameter's gradient
        total = (reconstructed + divergence + judged).mean()
        true = follows.sum().clamp(min=1)
        parts = {
            "reconstruction": reconstructed.mean(),
            "kl": divergence.sum() / true,
            "next sentence": judged.mean(),
        }
        return Loss(total, {name: part.detach() for name, part in parts.items()})

    def validate(self, model: nn.Module) -> Mapping[str, float]:
        """On the validation's pairs, the same ones every time, z at its mean:

        R@1, MRR: of the true response among negatives, by g. NSP accuracy: the mean of two shares,
        of true responses with g > ½ and of negatives with g < ½. reconstruction: nats a token. KL:
        nats a response, without free bits. active dimensions: latent ones with a mean KL above 0.01
        nats. bound: minus reconstruction and KL, nats a response.
        """
        assert model is self.model
        contexts, responses = zip(*self._validation, strict=True)
        pairs = [
            (contexts[index], responses[read])
            for index in self._validated.tolist()
            for read in (index, *self._validation_negatives[index].tolist())
        ]
        _, follows = self.space.posteriors(pairs)
        g = follows.reshape(len(self._validated), -1)
        accuracy = ((g[:, 0] > 0.5).mean() + (g[:, 1:] < 0.5).mean()) / 2
        return {
            **ranking_figures(g),
            "NSP accuracy": float(accuracy),
            **self._validated_bound(model),
        }

    def _validated_bound(self, model: nn.Module) -> dict[str, float]:
        device = next(model.parameters()).device
        nats, tokens, rows = 0.0, 0, 0
        divergences = np.zeros(self._settings.latent)
        for start in range(0, len(self._validated), self._settings.batch):
            indices = self._validated[start : start + self._settings.batch]
            batch = _moved(self._batch(self._validation, indices, indices), device)
            output: LatentOutput = model(**batch, draw=False)
            nats += float(output.token_nats.sum())
            tokens += int(output.tokens.sum())
            rows += len(indices)
            divergences += self._kl_by_dimension(output).sum(dim=0).cpu().double().numpy()
        means = divergences / rows
        return {
            "reconstruction": nats / tokens,
            "KL": float(means.sum()),
            "active dimensions": float((means > ACTIVE).sum()),
            "bound": -nats / rows - float(means.sum()),
        }

    @staticmethod
    def _kl(output: LatentOutput, free_bits: float) -> torch.Tensor:
        q, p = output.posterior, output.prior
        return kl(q.mean, q.log_variance, p.mean, p.log_variance, free_bits)

    @staticmethod
    def _kl_by_dimension(output: LatentOutput) -> torch.Tensor:
        q, p = output.posterior, output.prior
        return kl_by_dimension(q.mean, q.log_variance, p.mean, p.log_variance)

    def _batch(
        self,
        pairs: Sequence[tuple[list[str], str]],
        places: NDArray[np.int64],
        read: NDArray[np.int64],
    ) -> Batch:
        """What ``LatentModel.forward`` takes."""
        inputs = self.space.inputs
        own = [pairs[index] for index in places.tolist()]
        others = [pairs[index][1] for index in read.tolist()]
        pair = [
            inputs.pair(context, other) for (context, _), other in zip(own, others, strict=True)
        ]
        return {
            "pair": self.space.tensors(pair),
            "context": self.space.tensors([inputs.context(context) for context, _ in own]),
            "response": self.space.tensors([inputs.response(response) for _, response in own]),
            "follows": torch.from_numpy(places == read),
        }

    def _validated_turns(self) -> NDArray[np.int64]:
        pairs, wanted = len(self._validation), self._settings.validation_pairs
        if not 0 < wanted < pairs:
            return np.arange(pairs)
        return np.sort(
            np.random.default_rng(self._settings.seed).choice(pairs, wanted, replace=False)
        )

    def _others(self) -> bytes:
        """Drawn among the training pairs, each response text once."""
        distinct = list(
            {response: index for index, (_, response) in enumerate(self._training)}.values()
        )
        random = np.random.default_rng((self._settings.seed, OTHER_VERSIONS_CACHED))
        drawn = sorted(random.permutation(distinct)[:OTHER_VERSIONS_CACHED].tolist())
        return json.dumps([self._training[index] for index in drawn], ensure_ascii=False).encode()

    def _texts(self, pairs: Sequence[Pair]) -> list[tuple[list[str], str]]:
        """What the model reads; the persona is none of it, as in the paper."""
        found = [
            ([utterance.text for utterance in pair.context][-self._settings.turns :], pair.response)
            for pair in pairs
        ]
        self.space.inputs.learn(
            [text for context, response in found for text in (*context, response)]
        )
        return found


def _moved(values: Any, device: torch.device) -> Any:
    if isinstance(values, torch.Tensor):
        return values.to(device)
    return {name: _moved(value, device) for name, value in values.items()}
