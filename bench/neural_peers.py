"""What ``bench.neural`` compares with: the usual ways, one metric after another, each as its
package or paper has it.

The bert-score package itself; everything else is written here in the plain way that the released
code has: no text is remembered, nothing is sorted, one response after another or batches of 32 in
the order of the input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from workers.metrics.base import Example

BATCH = 32
Array = NDArray[np.float64]


def bert_score(folder: str, references: Sequence[str], responses: Sequence[str], scorer=None):
    """P, R, F1 as the package gives them, one row a pair."""
    scorer = scorer or bert_scorer(folder)
    found = scorer.score(list(responses), list(references), batch_size=64)
    return np.stack([values.numpy() for values in found], axis=1)


def bert_scorer(folder: str):
    from bert_score import BERTScorer

    return BERTScorer(model_type=folder, num_layers=6, device="cpu")


class PlainEncoder:
    """A tokenizer and a model, used batch after batch."""

    def __init__(self, folder: str) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).eval()
        self.table = self.model.get_input_embeddings().weight.detach().numpy().astype(np.float64)

    def pairs(self, contexts: Sequence[str], responses: Sequence[str]) -> Array:
        """[CLS] of the last layer for each pair."""
        found = []
        with torch.no_grad():
            for start in range(0, len(contexts), BATCH):
                tokens = self.tokenizer(
                    list(contexts[start : start + BATCH]),
                    list(responses[start : start + BATCH]),
                    padding=True,
                    truncation=True,
                    return_tensors="pt",
                )
                found.append(self.model(**tokens).last_hidden_state[:, 0].numpy())
        return np.concatenate(found).astype(np.float64)

    def sentences(self, texts: Sequence[str]) -> Array:
        found = []
        with torch.no_grad():
            for start in range(0, len(texts), BATCH):
                tokens = self.tokenizer(
                    list(texts[start : start + BATCH]),
                    padding=True,
                    truncation=True,
                    return_tensors="pt",
                )
                states = self.model(**tokens).last_hidden_state
                mask = tokens["attention_mask"].unsqueeze(-1)
                found.append(((states * mask).sum(1) / mask.sum(1)).numpy())
        return np.concatenate(found).astype(np.float64)

    def words(self, text: str) -> Array:
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return self.table[ids]


def cosine(a: Array, b: Array) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def sentence_cosine(
    encoder: PlainEncoder, references: Sequence[str], responses: Sequence[str]
) -> list[float]:
    return [
        cosine(a, b)
        for a, b in zip(encoder.sentences(references), encoder.sentences(responses), strict=True)
    ]


def embedding_average(
    encoder: PlainEncoder, references: Sequence[str], responses: Sequence[str]
) -> list[float]:
    return [
        cosine(encoder.words(reference).mean(0), encoder.words(response).mean(0))
        for reference, response in zip(references, responses, strict=True)
    ]


def vector_extrema(
    encoder: PlainEncoder, references: Sequence[str], responses: Sequence[str]
) -> list[float]:
    def extreme(words: Array) -> Array:
        highest, lowest = words.max(0), words.min(0)
        return np.where(np.abs(lowest) > highest, lowest, highest)

    return [
        cosine(extreme(encoder.words(reference)), extreme(encoder.words(response)))
        for reference, response in zip(references, responses, strict=True)
    ]


def greedy_matching(
    encoder: PlainEncoder, references: Sequence[str], responses: Sequence[str]
) -> list[float]:
    found = []
    for reference, response in zip(references, responses, strict=True):
        a, b = encoder.words(reference), encoder.words(response)
        a, b = (
            a / np.linalg.norm(a, axis=1, keepdims=True),
            b / np.linalg.norm(b, axis=1, keepdims=True),
        )
        similar = a @ b.T
        found.append(float((similar.max(0).mean() + similar.max(1).mean()) / 2))
    return found


def fbd(
    encoder: PlainEncoder,
    human: Sequence[tuple[str, str]],
    systems: Sequence[Sequence[tuple[str, str]]],
):
    """The human side once, each system as it comes, a matrix square root for each."""
    mean, covariance = _statistics(encoder.pairs(*zip(*human, strict=True)))
    found = []
    for pairs in systems:
        other, its_covariance = _statistics(encoder.pairs(*zip(*pairs, strict=True)))
        found.append(frechet_by_square_root(mean, covariance, other, its_covariance))
    return found


def _statistics(features: Array) -> tuple[Array, Array]:
    return features.mean(0), np.cov(features, rowvar=False)


def frechet_by_square_root(
    mean_a: Array, covariance_a: Array, mean_b: Array, covariance_b: Array
) -> float:
    from scipy.linalg import sqrtm

    root = np.real(sqrtm(covariance_a @ covariance_b))
    gap = mean_a - mean_b
    return float(gap @ gap + np.trace(covariance_a) + np.trace(covariance_b) - 2 * np.trace(root))


def prd(
    encoder: PlainEncoder,
    human: Sequence[tuple[str, str]],
    systems: Sequence[Sequence[tuple[str, str]]],
    seed: int = 0,
) -> list[float]:
    """Ten clusterings of both sides together for each system, the curves' mean, its largest F."""
    from sklearn.cluster import MiniBatchKMeans

    target = encoder.pairs(*zip(*human, strict=True))
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    found = []
    for pairs in systems:
        features = encoder.pairs(*zip(*pairs, strict=True))
        union = np.concatenate((features, target))
        precision, recall = np.zeros(1001), np.zeros(1001)
        for run in range(10):
            labels = (
                MiniBatchKMeans(n_clusters=20, n_init=10, random_state=seed + run)
                .fit(union)
                .labels_
            )
            ours = np.bincount(labels[: len(features)], minlength=20) / len(features)
            theirs = np.bincount(labels[len(features) :], minlength=20) / len(target)
            shared = np.minimum(theirs * slopes[:, None], ours).sum(1)
            precision += shared.clip(0, 1) / 10
            recall += (shared / slopes).clip(0, 1) / 10
        found.append(float((2 * precision * recall / (precision + recall + 1e-6)).max()))
    return found


def likelihood_one_by_one(model, tokenizer, prompts: Sequence[tuple[str, str]]) -> list[float]:
    """Mean log-probability of each text given its prefix, one forward pass over both for each."""
    found = []
    with torch.no_grad():
        for prefix, text in prompts:
            before = tokenizer(prefix)["input_ids"]
            after = tokenizer(text, add_special_tokens=False)["input_ids"]
            logits = model(torch.tensor([before + after])).logits[0, len(before) - 1 : -1]
            chosen = logits.log_softmax(-1)[torch.arange(len(after)), torch.tensor(after)]
            found.append(float(chosen.mean()))
    return found


def texts_of(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [example.references[0] for example in examples], [
        example.response for example in examples
    ]
