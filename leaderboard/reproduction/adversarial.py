"""Whether metrics score people's answers above what rules make of them (DEnsity, Park et al., 2023,
Figure 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from common.estimates import Undefined
from leaderboard.statistics.share_over_dialogues import share_over_dialogues
from workers.metrics.base import Account, Example, Score
from workers.metrics.common.configuration import Configuration, MetricUnavailableError
from workers.runs.scoring import loaded_model_fields
from workers.training.core.adversarial import KINDS, Spoilt, spoilt
from workers.training.core.conversations import SPEAKERS, Pair, TrainingDialogue, pairs_of

PUBLISHED = (
    "Park et al. (2023), DEnsity: Open-domain Dialogue Evaluation Metric using Density "
    "Estimation, Findings of ACL, Figure 3; kinds after Khalid and Lee (2022), Explaining "
    "Dialogue Evaluation Metrics using Adversarial Behavioral Analysis, NAACL"
)
NOTES = (
    "Of the paper's kinds contradiction is not made: a text that denies what was said takes more "
    "than a rule.",
    (
        "The paper uses the texts that Khalid and Lee released, and draws its figures without "
        "printing them."
    ),
    "A tie is a failure. A pair of which one side has no score is left out and counted.",
)
ITS_OWN_REFERENCE = (
    "looks at a reference, too: the true answer stands for it, which makes the question easy"
)

ProgressCallback = Callable[[Configuration, int, int], None]
"""Hears of which metric how many texts of how many are scored."""


def skip_reason(configuration: Configuration) -> str:
    """Why the check is none for this metric, or cannot be made here; "" where it can."""
    metric = configuration.metric
    if "turn" not in metric.levels:
        return "it has no scores of single responses"
    if metric.queue == "llm":
        return "judges are asked by the workers, within a budget: score a corpus with them"
    if "reference" in configuration.needs and "context" not in configuration.needs:
        return "it looks at the reference alone, which here is the true answer itself"
    return configuration.missing()


def adversarial_check(
    configurations: Sequence[Configuration],
    dialogues: Sequence[TrainingDialogue],
    seed: int = 0,
    most: int = 0,
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """``most``: pairs that are drawn by the seed; 0: all. Of each metric a row a kind: "accuracy"
    is an estimate as JSON, the share of pairs whose true answer scores higher, with an interval
    over dialogues.

    Raises ``MetricUnavailableError`` for a metric that is not asked (``skip_reason``).
    """
    for configuration in configurations:
        if reason := skip_reason(configuration):
            raise MetricUnavailableError(f"{configuration.text} is not asked: {reason}")
    pairs = pairs_of(dialogues)
    retained = _drawn(len(pairs), most, seed)
    made = [one for one in spoilt(pairs, seed) if one.place in retained]
    rows = [
        row
        for configuration in configurations
        for row in _rows(configuration, dialogues, pairs, sorted(retained), made, progress)
    ]
    return {
        "seed": seed,
        "dialogues": len({pairs[place].dialogue for place in retained}),
        "pairs": len(retained),
        "of": len(pairs),
        "rows": rows,
        "published": PUBLISHED,
        "notes": [*NOTES, *_of_references(configurations)],
    }


def _drawn(pairs: int, most: int, seed: int) -> set[int]:
    if not 0 < most < pairs:
        return set(range(pairs))
    return set(np.random.default_rng(seed).choice(pairs, most, replace=False).tolist())


def _rows(
    configuration: Configuration,
    dialogues: Sequence[TrainingDialogue],
    pairs: Sequence[Pair],
    retained: Sequence[int],
    made: Sequence[Spoilt],
    progress: ProgressCallback | None,
) -> list[dict[str, Any]]:
    scorer = configuration.scorer()
    true = [_example(dialogues, pairs[place]) for place in retained]
    if hasattr(scorer, "see_corpus"):
        scorer.see_corpus([replace(one, response="") for one in true])
    by_position = dict(zip(retained, true, strict=True))
    inputs = [*true, *(replace(by_position[one.place], response=one.response) for one in made)]
    report = None if progress is None else lambda done: progress(configuration, done, len(inputs))
    scores: list[Score] = scorer.score(inputs, report)
    of_answer = dict(zip(retained, scores, strict=False))
    account = scorer.account() if hasattr(scorer, "account") else Account()
    about = {
        "metric": configuration.text,
        "signature": configuration.signature(**loaded_model_fields(configuration, account)),
        "model": account.model,
        "device": account.device,
    }
    sign = 1 if configuration.higher_is_better else -1
    return [
        {
            **about,
            "kind": kind,
            **_compared(kind, made, scores[len(retained) :], of_answer, pairs, sign),
        }
        for kind in KINDS
    ]


def _compared(
    kind: str, made: Sequence[Spoilt], scores: Sequence[Score], of_answer: dict[int, Score],
    pairs: Sequence[Pair], sign: int,
) -> dict[str, Any]:  # fmt: skip
    hits: list[bool] = []
    clusters: list[int] = []
    equal, without = 0, Counter[str]()
    for one, score in zip(made, scores, strict=True):
        if one.kind != kind:
            continue
        answer = of_answer[one.place]
        if isinstance(answer, Undefined):
            without[answer.reason] += 1
        elif isinstance(score, Undefined):
            without[score.reason] += 1
        else:
            hits.append(sign * (answer - score) > 0)
            clusters.append(pairs[one.place].dialogue)
            equal += answer == score
    accuracy = share_over_dialogues(hits, clusters).as_json()
    if not hits and without:
        accuracy = {
            "value": None,
            "reason": f"no pair has two scores: {without.most_common(1)[0][0]}",
        }
    return {
        "pairs": len(hits),
        "dialogues": len(set(clusters)),
        "higher": sum(hits),
        "equal": equal,
        "undefined": without.total(),
        "accuracy": accuracy,
    }


def _example(dialogues: Sequence[TrainingDialogue], pair: Pair) -> Example:
    dialogue = dialogues[pair.dialogue]
    partner = SPEAKERS[1 - SPEAKERS.index(dialogue.utterances[pair.turn].speaker)]
    return Example(
        dialogue_id=dialogue.id,
        turn=pair.turn,
        persona=pair.persona,
        partner_persona=dialogue.persona_of(partner),
        context=pair.context,
        references=(pair.response,),
        response=pair.response,
    )


def _of_references(configurations: Sequence[Configuration]) -> list[str]:
    return [
        f"{one.text} {ITS_OWN_REFERENCE}." for one in configurations if "reference" in one.needs
    ]
