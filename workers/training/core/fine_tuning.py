"""Fine-tuning of a pretrained language model on conversations, as the baselines of DEnsity's paper
are made (Park et al., 2023, appendix A): a masked one for USR-MLM, one epoch; a causal one for
GPT2-Coherency, ten.

What comes out is a folder that transformers loads. Overlap with evaluation sets is the caller's to
look at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workers.inference import resources
from workers.inference.encoders.devices import device_for, use_threads
from workers.inference.encoders.loading import from_folder, loading, most_tokens
from workers.inference.encoders.tokens import Tokens
from workers.inference.model_files import ModelError, ModelFiles
from workers.training.core.conversations import TrainingDialogue
from workers.training.core.settings import TrainingError

if TYPE_CHECKING:
    import torch

Kind = Literal["masked", "causal"]
CLASSES: dict[Kind, str] = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
MASKED_SHARE, OF_THEM_MASKED, OF_THEM_RANDOM = 0.15, 0.8, 0.1
"""BERT's: of the tokens that are to be found, so many are [MASK], so many another one, the rest
stand."""
WARM_UP_STEPS, WARM_UP_SHARE = 1_000, 0.1
LARGEST_GRADIENT = 1.0
NOT_LOOKED_AT = -100
"""The label of a token that no loss is computed of."""


@dataclass(frozen=True, slots=True)
class FineTuning:
    """The defaults are the paper's but for epochs: 1 of a masked model, 10 of a causal one."""

    kind: Kind
    epochs: int
    learning_rate: float = 5e-5
    batch: int = 16
    max_tokens: int = 256
    seed: int = 0


def fine_tune(
    files: ModelFiles,
    dialogues: Sequence[TrainingDialogue],
    target: Path,
    settings: FineTuning,
    progress: Callable[[int, int, float], None] | None = None,
) -> list[float]:
    """Train, and write model and tokenizer to an existing, empty folder.

    Args:
        progress: hears after each step of how many it is, and the loss.

    Returns:
        Each epoch's mean loss per token that is looked at, in natural logarithms.

    Raises:
        ModelError: the model is not there, of another kind, or has no mask.
        TrainingError: there is nothing to learn from, or the loss is no number.
    """
    import torch

    device = device_for(resources.at_hand().device)
    use_threads()
    tokenizer, model = _loaded(files, settings.kind, str(device))
    tokens = Tokens(files)
    room = min(settings.max_tokens, most_tokens(model.config, tokens, settings.max_tokens))
    texts = _token_ids(tokens, tokenizer.eos_token_id, dialogues, settings.kind, room)
    if not texts:
        raise TrainingError("the conversations have no text of two tokens or more")
    torch.manual_seed(settings.seed)
    model.to(device).train()
    steps = math.ceil(len(texts) / settings.batch) * settings.epochs
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate)
    warm_up = max(1, min(WARM_UP_STEPS, round(WARM_UP_SHARE * steps)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up)),
    )
    losses: list[float] = []
    done = 0
    for epoch in range(settings.epochs):
        total, count = 0.0, 0
        for ids, mask, labels in _batches(tokenizer, texts, settings, epoch):
            found = model(
                input_ids=ids.to(device), attention_mask=mask.to(device), labels=labels.to(device)
            ).loss
            value = float(found.detach())
            if not math.isfinite(value):
                raise TrainingError(f"the loss is no number at step {done}")
            optimizer.zero_grad()
            found.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT)
            optimizer.step()
            schedule.step()
            looked_at = int((labels != NOT_LOOKED_AT).sum())
            total, count, done = total + value * looked_at, count + looked_at, done + 1
            if progress is not None:
                progress(done, steps, value)
        losses.append(total / count)
    model.cpu().eval().save_pretrained(target)
    tokenizer.save_pretrained(target)
    return losses


def _loaded(files: ModelFiles, kind: Kind, device: str) -> tuple[Any, Any]:
    from transformers import AutoTokenizer

    with loading(files, device):
        tokenizer = AutoTokenizer.from_pretrained(
            str(files.folder), local_files_only=True, trust_remote_code=False
        )
        model, lacking = from_folder(files, CLASSES[kind])
    if lacking and not getattr(model.config, "tie_word_embeddings", False):
        raise ModelError(f"the weights of the model {files.name} lack {lacking[0]}")
    if kind == "masked" and tokenizer.mask_token_id is None:
        raise ModelError(f"the tokenizer of the model {files.name} has no mask")
    if kind == "causal" and tokenizer.eos_token_id is None:
        raise ModelError(f"the tokenizer of the model {files.name} has no token for a text's end")
    return tokenizer, model


def _token_ids(
    tokens: Tokens, end: int, dialogues: Sequence[TrainingDialogue], kind: Kind, room: int
) -> list[list[int]]:
    """Of a masked model each utterance after all before it, the beginning cut; of a causal one each
    dialogue, an end after every utterance, in pieces."""
    utterances = [[one.text.strip() for one in dialogue.utterances] for dialogue in dialogues]
    if kind == "masked":
        texts = [" ".join(of[: place + 1]) for of in utterances for place in range(1, len(of))]
        capacity = room - tokens.special_tokens(texts=1)
        found = [tokens.framed([ids[-capacity:]], False).ids for ids in tokens.ids(texts)]
    else:
        spoken = [
            [token for ids in tokens.ids(of_dialogue) for token in (*ids, end)]
            for of_dialogue in utterances
        ]
        found = [ids[start : start + room] for ids in spoken for start in range(0, len(ids), room)]
    return [ids for ids in found if len(ids) > 1]


def _batches(
    tokenizer: Any, texts: Sequence[list[int]], settings: FineTuning, epoch: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Ids, mask and labels, in an order drawn for the epoch."""
    import torch

    random = np.random.default_rng((settings.seed, epoch))
    order = random.permutation(len(texts))
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    for start in range(0, len(order), settings.batch):
        some = [texts[index] for index in order[start : start + settings.batch]]
        ids = np.full((len(some), max(map(len, some))), padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(some):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        labels = np.where(mask == 1, ids, NOT_LOOKED_AT)
        if settings.kind == "masked":
            ids, labels = masked(ids, labels, tokenizer, random)
        yield torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(labels)


def masked(
    ids: np.ndarray[Any, np.dtype[np.int64]],
    labels: np.ndarray[Any, np.dtype[np.int64]],
    tokenizer: Any,
    random: np.random.Generator,
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Ids in which some tokens are hidden, and labels of these alone; special tokens never are, and
    of every batch one token is at least."""
    may_be = (labels != NOT_LOOKED_AT) & ~np.isin(labels, tokenizer.all_special_ids)
    wanted = may_be & (random.random(ids.shape) < MASKED_SHARE)
    if not wanted.any():
        wanted.flat[random.choice(np.flatnonzero(may_be if may_be.any() else labels >= 0))] = True
    how = random.random(ids.shape)
    hidden = np.where(wanted & (how < OF_THEM_MASKED), tokenizer.mask_token_id, ids)
    others = random.integers(0, len(tokenizer), ids.shape)
    is_random = wanted & (how >= OF_THEM_MASKED) & (how < OF_THEM_MASKED + OF_THEM_RANDOM)
    return np.where(is_random, others, hidden), np.where(wanted, labels, NOT_LOOKED_AT)
