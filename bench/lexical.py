"""``python -m bench.lexical``: BLEU-1..4, word-F1 and ROUGE-1/2/L at ComperDial's size, against
NLTK and rouge-score.

99 systems × 105 turns = 10,395 responses, from the real pairs under ``DIALEVAL_DATA`` in turn, or
from generated ones where that is unset. Ours is timed as workers use it: one system at a time, each
metric through the registry, nothing remembered at the start, normalisation included. The peers get
the normalised text and its tokens for nothing, and are called one pair at a time. Both run in one
thread and are timed in CPU seconds, which other work on the machine moves least. All scores must be
equal to 1e-9.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from rouge_score.rouge_scorer import RougeScorer

from workers.metrics.base import Example
from workers.metrics.common import tokenisation
from workers.metrics.common.configuration import parse
from workers.metrics.common.lexical import normalise

SYSTEMS, TURNS = 99, 105
AT_LEAST = 5.0
BLEU = ("bleu_1", "bleu_2", "bleu_3", "bleu_4")
ROUGE = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
METRICS = (*BLEU, "word_f1", *ROUGE)

Pair = tuple[str, str]
"""Reference, response."""


def real_pairs(data: Path) -> list[Pair]:
    """References and responses of the FBD paper's corpora and of USR."""
    pairs: list[Pair] = []
    for file in sorted((data / "fbd").glob("*_annotation.json")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            pairs += [(row["refs"][0], response) for response in row["hyps"]]
    for row in json.loads((data / "usr" / "pc_usr_data.json").read_text(encoding="utf-8")):
        answers = {answer["model"]: answer["response"].strip() for answer in row["responses"]}
        pairs += [(answers["Original Ground Truth"], response) for response in answers.values()]
    return pairs


def generated_pairs(seed: int = 0) -> list[Pair]:
    """All different: responses of 4 to 32 words that end in a run of up to 8 words of the reference
    (5 to 30 words)."""
    random_source = random.Random(seed)
    vocabulary = ["the", "a", "i", "you", "is", "to", *(f"word{n}" for n in range(800))]
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]

    def sentence(length: int) -> list[str]:
        return random_source.choices(vocabulary, weights, k=length)

    pairs = []
    for _ in range(TURNS):
        reference = sentence(random_source.randint(5, 30))
        for _ in range(SYSTEMS):
            start = random_source.randrange(len(reference))
            response = (
                sentence(random_source.randint(4, 24))
                + reference[start : start + random_source.randint(0, 8)]
            )
            pairs.append((" ".join(reference) + " .", " ".join(response).capitalize() + " !"))
    return pairs


def as_systems(pairs: Sequence[Pair]) -> list[list[Example]]:
    """99 systems that answer the same 105 turns: a turn's reference is the same in each, the
    responses differ."""
    responses_to: dict[str, list[str]] = {}
    for reference, response in pairs:
        if reference.strip():
            responses_to.setdefault(reference, []).append(response)
    all_responses = [response for _, response in pairs]
    references = list(responses_to)[:TURNS]
    systems = []
    for system in range(SYSTEMS):
        examples = []
        for turn, reference in enumerate(references):
            own = responses_to[reference]
            # First the real answers to this turn, then other answers, so that no system repeats
            # another one whole.
            spare = all_responses[(system * 7919 + turn * 104_729) % len(all_responses)]
            response = own[system] if system < len(own) else spare
            examples.append(Example(str(turn // 7), turn % 7, (), (), (), (reference,), response))
        systems.append(examples)
    return systems


def score_ours(systems: Sequence[Sequence[Example]]) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {name: [] for name in METRICS}
    for examples in systems:
        for name in METRICS:
            scores[name] += parse(name).scorer().score(examples)
    return scores


def plain_f1(reference: Sequence[str], response: Sequence[str]) -> float:
    common = sum((Counter(reference) & Counter(response)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(response), common / len(reference)
    return 2 * precision * recall / (precision + recall)


def score_peers(
    normalised: Sequence[Pair], tokens: Sequence[tuple[list[str], list[str]]]
) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {name: [] for name in METRICS}
    smoothing = SmoothingFunction(epsilon=1e-12).method1
    scorer = RougeScorer(list(ROUGE.values()), use_stemmer=False)
    for (reference, response), (reference_tokens, response_tokens) in zip(
        normalised, tokens, strict=True
    ):
        for order, name in enumerate(BLEU, start=1):
            weights = (1 / order,) * order
            scores[name].append(
                sentence_bleu([reference_tokens], response_tokens, weights, smoothing)
            )
        scores["word_f1"].append(plain_f1(reference_tokens, response_tokens))
        rouge_scores = scorer.score(reference, response)
        for name, key in ROUGE.items():
            scores[name].append(rouge_scores[key].fmeasure)
    return scores


def forget_everything() -> None:
    tokenisation._remembered.cache_clear()


def timed(work: Callable[[], dict[str, list[float]]]) -> tuple[float, dict[str, list[float]]]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main() -> int:
    data = os.environ.get("DIALEVAL_DATA")
    pairs = real_pairs(Path(data)) if data else generated_pairs()
    systems = as_systems(pairs)
    flat = [
        (normalise(e.references[0]), normalise(e.response))
        for examples in systems
        for e in examples
    ]
    tokens = [(reference.split(), response.split()) for reference, response in flat]
    for name in METRICS:
        parse(name)  # the registry is loaded once in the life of a worker
    forget_everything()

    ours_seconds, ours = timed(lambda: score_ours(systems))
    peer_seconds, peers = timed(lambda: score_peers(flat, tokens))

    # The packages fold no Unicode: beside ASCII they count other words.
    plain = [(e.references[0] + e.response).isascii() for examples in systems for e in examples]
    difference = {
        name: max(
            abs(a - b) for a, b, same in zip(ours[name], peers[name], plain, strict=True) if same
        )
        for name in METRICS
    }
    assert max(difference.values()) <= 1e-9, difference
    ratio = peer_seconds / ours_seconds
    distinct = len({response for _, response in flat})
    origin = "real" if data else "generated"
    print(f"{len(flat):,} responses ({distinct:,} distinct), {origin} pairs: {', '.join(METRICS)}")
    print(f"{'':24}{'CPU seconds':>12}{'responses/s':>14}")
    for who, seconds in (("NLTK + rouge-score + F1", peer_seconds), ("dialeval", ours_seconds)):
        print(f"{who:24}{seconds:>12.2f}{len(flat) / seconds:>14,.0f}")
    print(
        f"ratio {ratio:.1f} (at least {AT_LEAST:g} wanted); largest difference "
        f"{max(difference.values()):.1e}"
    )
    return 0 if ratio >= AT_LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
