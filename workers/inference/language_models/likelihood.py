"""How likely a causal language model finds a continuation of a text. Torch and transformers, in
this process.

Continuations of the same prefix share its computation: what 99 systems answer to one context costs
one context, and what texts have in common at their beginning is computed once (``token_tree``).

Prefix and continuation are tokenised apart and joined as tokens, so that a prefix is the same
tokens whatever follows it. With byte-pair tokenizers this is what the joined text gives where the
continuation begins a new word: a prefix ends without white space and the continuation begins with
it, or the prefix ends with a line break.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workers.inference import resources
from workers.inference.encoders import devices
from workers.inference.language_models.loading import best_dtype, load_causal
from workers.inference.language_models.token_tree import Row, Scored, in_rows
from workers.inference.model_files import (
    PACKAGED_LANGUAGE_MODEL,
    ModelError,
    ModelFiles,
    model_files,
)

if TYPE_CHECKING:
    import torch

LONGEST = 4096
"""Tokens of a prefix with its continuation, where a model would take more: attention grows with
their square."""
NODES_AT_ONCE = {"cpu": 768, "mps": 2048, "cuda": 8192}
"""Tokens that go through the model together. On a CPU more is slower: most of a wide attention is
masked."""
_WINDOW = 4096
"""Continuations tokenised at a time."""
_LOGIT_ROWS = 512
"""Rows of the vocabulary's size that are held in float32 at a time."""
_MODELS_CACHED = 2
_WITHOUT_EFFECT = {"_name_or_path", "architectures", "dtype", "transformers_version"}


@dataclass(frozen=True, slots=True)
class Continuation:
    prefix: str
    """"" for a text out of nowhere: p(text) after the model's token for the beginning."""
    text: str


@dataclass(frozen=True, slots=True)
class Likelihood:
    log_probability: float
    """Natural logarithm of p(text | prefix), summed over tokens."""
    tokens: int
    cut: bool
    """Whether something was cut because the model takes no more tokens: the prefix's beginning, and
    where the continuation alone is too long its end."""

    @property
    def per_token(self) -> float:
        return self.log_probability / self.tokens


class CausalModel:
    """Loads a model on a device. Raises ``ModelError``. float32 on a CPU without AMX, else
    bfloat16."""

    files: ModelFiles
    device_label: str
    dtype_name: str
    max_tokens: int
    namespace: str
    """Weights, tokenizer, configuration and dtype: what anything computed with this model is
    remembered under."""

    def __init__(self, files: ModelFiles, device: str = resources.AUTO) -> None:
        import torch

        self.files = files
        self._device = devices.device_for(device)
        devices.use_threads()
        dtype = best_dtype(self._device)
        self._tokenizer, self._model = load_causal(files, self._device, dtype)
        self.dtype_name = str(dtype).removeprefix("torch.")
        self.device_label = f"{devices.device_name(self._device)}, {self.dtype_name}"
        self.max_tokens = min(LONGEST, _positions(self._model.config))
        self.nodes_at_once = NODES_AT_ONCE.get(self._device.type, NODES_AT_ONCE["cpu"])
        self._blocked = float(torch.finfo(dtype).min)
        self._dtype = dtype
        self._beginning = _beginning(self._tokenizer, files)
        self._adds_beginning = self._tokenizer("a").input_ids[:1] == [self._beginning]
        special = sorted(filter(None, self._tokenizer.all_special_tokens), key=len, reverse=True)
        self._control_words = re.compile("|".join(map(re.escape, special)) or "(?!)")
        # A digest of what decides a likelihood beside the weights. Whether they lay in GGUF is not
        # among it.
        rust = getattr(self._tokenizer, "backend_tokenizer", None)
        words = rust.to_str() if rust is not None else sorted(self._tokenizer.get_vocab().items())
        configuration = {
            key: value
            for key, value in self._model.config.to_dict().items()
            if key not in _WITHOUT_EFFECT
        }
        whole = json.dumps(
            [words, self._beginning, self.max_tokens, configuration], sort_keys=True, default=str
        )
        self.namespace = (
            f"{files.revision}/{hashlib.sha256(whole.encode()).hexdigest()[:12]}/{self.dtype_name}"
        )
        self._check_causal()
        self._shares = True
        self._shares = self._shares_truly()

    @property
    def unknown_id(self) -> int | None:
        """The token that stands for whatever the vocabulary does not hold; None where it can write
        every text."""
        unknown: int | None = self._tokenizer.unk_token_id
        return unknown

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Per text its tokens' ids, as a continuation has them."""
        if not texts:
            return []
        ids: list[list[int]] = self._tokenizer(
            list(texts), add_special_tokens=False, split_special_tokens=True
        ).input_ids
        return ids

    def as_chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """(role, text) messages in the model's chat template with the beginning of an answer; None
        without one.

        A message cannot end itself: what spells one of the model's control tokens is taken out of
        it. Where a template refuses the order of roles, neighbours of the same role become one
        message and a system message becomes a part of the first user's. No message at all: the
        beginning of an answer alone.
        """
        if not self._tokenizer.chat_template:
            return None
        if not messages:
            # What a template puts before an answer; templates themselves refuse an empty dialogue.
            inputs = [{"role": "user", "content": "x"}]
            closed = str(
                self._tokenizer.apply_chat_template(
                    inputs, tokenize=False, add_generation_prompt=False
                )
            )
            return self._in_template([("user", "x")]).removeprefix(closed)
        clean = [(role, self._control_words.sub("", text)) for role, text in messages]
        try:
            return self._in_template(clean)
        except Exception:  # a template raises what it likes for an order that it does not know
            return self._in_template(_alternating(clean))

    def as_ended(self, text: str) -> str | None:
        """A text with the token that ends one behind it, as DialoGPT's utterances have it; None
        where the model has no such token. What spells a control token is taken out of the text."""
        end = self._tokenizer.eos_token
        return f"{self._control_words.sub('', text)}{end}" if end else None

    def likelihoods(
        self, continuations: Sequence[Continuation], progress: Callable[[int], None] | None = None
    ) -> list[Likelihood]:
        """One each, in order; equal ones are computed once. Raises ``ValueError`` for a text
        without a token.

        Equal to one forward pass a continuation but for rounding: how they are grouped changes the
        last digits only.
        """
        index_of: dict[Continuation, int] = {}
        indices = [index_of.setdefault(one, len(index_of)) for one in continuations]
        distinct = list(index_of)
        times = (
            np.bincount(indices, minlength=len(distinct))
            if indices
            else np.zeros(0, dtype=np.int64)
        )
        found: dict[int, Likelihood] = {}
        done = 0
        # In the order of prefixes, what belongs together is in one window.
        order = sorted(
            range(len(distinct)), key=lambda index: (distinct[index].prefix, distinct[index].text)
        )
        for start in range(0, len(order), _WINDOW):
            window = order[start : start + _WINDOW]
            tokenised = self._tokenise([distinct[index] for index in window])
            for number, sums in self._log_probabilities([scored for scored, _ in tokenised]):
                scored, cut = tokenised[number]
                found[window[number]] = Likelihood(sums, len(scored.tokens) - scored.first, cut)
                done += int(times[window[number]])
                if progress is not None:
                    progress(done)
        return [found[index] for index in indices]

    def _in_template(self, messages: Sequence[tuple[str, str]]) -> str:
        written = [{"role": role, "content": text} for role, text in messages]
        return str(
            self._tokenizer.apply_chat_template(written, tokenize=False, add_generation_prompt=True)
        )

    def _tokenise(self, continuations: Sequence[Continuation]) -> list[tuple[Scored, bool]]:
        """The tokens of each with the place of its continuation, and whether something was cut."""
        prefixes = list(dict.fromkeys(one.prefix for one in continuations))
        ids_of = dict(zip(prefixes, map(self._prefix_ids, prefixes), strict=True))
        tokenised = []
        for one in continuations:
            # A response that spells a control token is scored as the characters that it is.
            inputs = self._tokenizer(
                one.text, add_special_tokens=False, split_special_tokens=True
            ).input_ids
            if not inputs:
                raise ValueError(f"nothing to score: {one.text[:50]!r} has no token")
            given = ids_of[one.prefix]
            retained = inputs[: self.max_tokens - 1]
            capacity = self.max_tokens - len(retained)
            cut = len(retained) < len(inputs) or len(given) > capacity
            tokenised.append(
                (Scored((*given[-capacity:], *retained), min(len(given), capacity)), cut)
            )
        return tokenised

    def _prefix_ids(self, prefix: str) -> tuple[int, ...]:
        ids = tuple(self._tokenizer(prefix, add_special_tokens=False).input_ids) if prefix else ()
        if not ids or (self._adds_beginning and ids[0] != self._beginning):
            return (self._beginning, *ids)
        return ids

    def _log_probabilities(self, sequences: Sequence[Scored]) -> Iterator[tuple[int, float]]:
        """(place, Σ log p of its scored tokens), as they get ready. Where memory runs out, halves
        the rows."""
        waiting = list(range(len(sequences)))
        while waiting:
            finished: set[int] = set()
            try:
                # 1: every sequence in a row of its own
                budget = self.nodes_at_once if self._shares else 1
                for row in in_rows([sequences[index] for index in waiting], budget):
                    sums = self._sums(row, [sequences[waiting[index]] for index in row.sequences])
                    for index, total in zip(row.sequences, sums, strict=True):
                        finished.add(waiting[index])
                        yield waiting[index], total
            except (RuntimeError, MemoryError) as error:
                if not devices.is_out_of_memory(error):
                    raise
                devices.free_unused_memory(self._device)
                if self.nodes_at_once <= 1:
                    raise ModelError(
                        f"there is not enough memory on {self._device} for {self.files.name} "
                        "and one text"
                    ) from error
                self.nodes_at_once //= 2
            waiting = [index for index in waiting if index not in finished]

    def _sums(self, row: Row, sequences: Sequence[Scored]) -> list[float]:
        """Σ log p of each sequence's scored tokens. Raises ``ModelError`` where the model gives no
        number."""
        counts = [len(nodes) for nodes in row.predictors]
        predictors, column = np.unique(np.concatenate(row.predictors), return_inverse=True)
        targets = np.concatenate(
            [np.array(one.tokens[one.first :], dtype=np.int64) for one in sequences]
        )
        log_probabilities = self._row_log_probabilities(row, predictors, column, targets)
        if not np.isfinite(log_probabilities).all():
            raise ModelError(
                f"{self.files.name} gives log-probabilities that are no numbers, as "
                f"{self.dtype_name}"
            )
        return [math.fsum(part) for part in np.split(log_probabilities, np.cumsum(counts)[:-1])]

    def _row_log_probabilities(
        self,
        row: Row,
        predictors: NDArray[np.int64],
        column: NDArray[np.int64],
        targets: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """log p(targets[i] | the text up to the node predictors[column[i]])."""
        import torch

        with torch.inference_mode():
            nodes = torch.from_numpy(predictors).to(self._device)
            tokens = torch.tensor([row.tokens], device=self._device)
            logits = self._model(
                tokens, use_cache=False, logits_to_keep=nodes, **self._as_tree(row)
            ).logits[0]
            totals = torch.cat(
                [torch.logsumexp(part.float(), dim=-1) for part in logits.split(_LOGIT_ROWS)]
            )
            at, wanted = (
                torch.from_numpy(column).to(self._device),
                torch.from_numpy(targets).to(self._device),
            )
            values: NDArray[np.float64] = (
                (logits[at, wanted].float() - totals[at]).cpu().double().numpy()
            )
            return values

    def _as_tree(self, row: Row) -> dict[str, torch.Tensor]:
        """What tells the model that a row is a tree; nothing for one that knows lines of text
        only."""
        import torch

        if not self._shares:
            return {}
        mask = torch.from_numpy(row.mask()).to(self._device)
        additive = torch.zeros(mask.shape, dtype=self._dtype, device=self._device).masked_fill_(
            ~mask, self._blocked
        )
        return {
            "position_ids": torch.tensor([row.depths], device=self._device),
            "attention_mask": additive[None, None],
        }

    def _check_causal(self) -> None:
        """Raises ``ModelError`` where what comes after a token changes what the model says there: a
        masked language model (RoBERTa) loads as a causal one, has the same parts, and would see the
        words that it is to foresee."""
        import torch

        ids = self._tokenizer(
            "one two three four five six seven", add_special_tokens=False
        ).input_ids[:16]
        two = torch.tensor(
            [[self._beginning, *ids], [self._beginning, ids[0], *ids[:0:-1]]], device=self._device
        )
        with torch.inference_mode():
            first, second = self._model(two, use_cache=False).logits[:, :2].float()
        # Later words move a masked model's logits by far more than rounding does.
        if not torch.allclose(first, second, rtol=0.02, atol=0.02 * float(first.std())):
            raise ModelError(
                f"{self.files.name} is no causal language model: it sees the words that it is to "
                "foresee"
            )

    def _shares_truly(self) -> bool:
        """Whether the model heeds a mask and positions of a tree: not every architecture does
        (ALiBi, state spaces).

        Tried on one tree of two branches, against each branch alone.
        """
        ids = self._tokenizer(
            "one two three four five six seven", add_special_tokens=False
        ).input_ids
        stem, branch = (self._beginning, *ids[:3]), tuple(ids[3:])
        two = [Scored((*stem, *branch), 1), Scored((*stem, *branch[::-1]), 1)]
        try:
            (row,) = in_rows(two, len(stem) + 2 * len(branch))
            together = self._sums(row, [two[index] for index in row.sequences])
        except (TypeError, ValueError, RuntimeError, IndexError, ModelError):
            return False
        self._shares = False
        alone = [
            total for one in two for row in in_rows([one], 1) for total in self._sums(row, [one])
        ]
        tolerance = 1e-3 if self.dtype_name == "float32" else 0.1
        in_order = (together[row.sequences.index(index)] for index in range(2))
        return all(
            abs(shared - single) <= tolerance * len(one.tokens)
            for shared, single, one in zip(in_order, alone, two, strict=True)
        )


def causal_model_for(name: str = PACKAGED_LANGUAGE_MODEL) -> CausalModel:
    """The model of this process; loaded at the first call. Raises ``ModelError``."""
    return _causal_model(model_files(name), resources.at_hand().device)


@lru_cache(maxsize=_MODELS_CACHED)
def _causal_model(files: ModelFiles, device: str) -> CausalModel:
    return CausalModel(files, device)


def _positions(config: Any) -> int:
    """How many tokens a model has positions for."""
    for name in ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len"):
        number = getattr(config, name, None)
        if isinstance(number, int) and number > 1:
            return number
    return LONGEST


def _beginning(tokenizer: Any, files: ModelFiles) -> int:
    for token in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise ModelError(f"the tokenizer of {files.name} has no token for the beginning of a text")


def _alternating(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    instructions = [text for role, text in messages if role == "system"]
    merged: list[tuple[str, str]] = []
    for role, text in messages:
        if role == "system":
            continue
        if merged and merged[-1][0] == role:
            merged[-1] = (role, f"{merged[-1][1]}\n{text}")
        else:
            merged.append((role, text))
    if not merged or merged[0][0] != "user":
        merged.insert(0, ("user", ""))
    if instructions:
        merged[0] = ("user", "\n\n".join([*instructions, merged[0][1]]).strip())
    return merged
