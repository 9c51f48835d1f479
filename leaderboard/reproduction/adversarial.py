"""Whether metrics score people's answers above what rules, or others, make of them (DEnsity, Park
et al., 2023, Figure 3); how their scores are distributed (Figure 5); and whether they find the
answer among others' (Table 5)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from common.estimates import Undefined
from leaderboard.statistics.share_over_dialogues import share_over_dialogues
from workers.metrics.base import Account, Example, Score
from workers.metrics.common.configuration import Configuration, MetricUnavailableError
from workers.runs.scoring import loaded_model_fields
from workers.training.core.adversarial import KINDS, of_another_dialogue, spoilt
from workers.training.core.conversations import SPEAKERS, Pair, TrainingDialogue, pairs_of
from workers.training.core.given_cases import GivenCase
from workers.training.core.negatives import stream

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
GIVEN_NOTE = "The cases are those of the folder; contradiction is among them where it has a folder."
BINS = 20
"""Of a histogram, over all scores of a metric."""
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
    over dialogues; and a histogram of its scores by kind.

    Raises ``MetricUnavailableError`` for a metric that is not asked (``skip_reason``).
    """
    _refuse_unasked(configurations)
    pairs = pairs_of(dialogues)
    retained = _drawn(len(pairs), most, seed)
    true = {place: _example(dialogues, pairs[place]) for place in sorted(retained)}
    made = [
        _Made(one.place, one.kind, replace(true[one.place], response=one.response))
        for one in spoilt(pairs, seed)
        if one.place in retained
    ]
    clusters = {place: pairs[place].dialogue for place in true}
    return {
        "seed": seed,
        "dialogues": len(set(clusters.values())),
        "pairs": len(retained),
        "of": len(pairs),
        **_of_metrics(configurations, true, made, clusters, KINDS, progress),
        "published": PUBLISHED,
        "notes": [*NOTES, *_of_references(configurations)],
    }


def given_cases_check(
    configurations: Sequence[Configuration],
    cases: Sequence[GivenCase],
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """The same of cases that others have made, each of which counts as a dialogue; a row a kind.

    Raises ``MetricUnavailableError`` as ``adversarial_check`` does.
    """
    _refuse_unasked(configurations)
    true = {
        place: Example(case.name, 0, (), (), case.context, (case.answer,), case.answer)
        for place, case in enumerate(cases)
    }
    made = [
        _Made(
            place,
            case.kind,
            replace(true[place], context=case.spoilt_context, response=case.spoilt),
        )
        for place, case in enumerate(cases)
    ]
    kinds = list(dict.fromkeys(case.kind for case in cases))
    clusters = {place: place for place in true}
    return {
        "seed": 0,
        "dialogues": len(cases),
        "pairs": len(cases),
        "of": len(cases),
        **_of_metrics(configurations, true, made, clusters, kinds, progress),
        "published": PUBLISHED,
        "notes": [GIVEN_NOTE, NOTES[-1], *_of_references(configurations)],
    }


def selection_figures(
    configurations: Sequence[Configuration],
    dialogues: Sequence[TrainingDialogue],
    candidates: int,
    seed: int = 0,
    most: int = 0,
    progress: ProgressCallback | None = None,
) -> list[dict[str, Any]]:
    """Of each metric R@1 and MRR of the answers among ``candidates`` answers of other dialogues,
    drawn by the seed, as DEnsity's Table 5 has them on test splits. Contexts of which a candidate
    has no score are left out and counted.

    Raises ``MetricUnavailableError`` as ``adversarial_check`` does, and where no other dialogue has
    an answer.
    """
    _refuse_unasked(configurations)
    pairs = pairs_of(dialogues)
    retained = sorted(_drawn(len(pairs), most, seed))
    examples: list[Example] = []
    for place in retained:
        true = _example(dialogues, pairs[place])
        random = stream(seed, "selection", str(place))
        others = (of_another_dialogue(pairs, pairs[place], random) for _ in range(candidates))
        examples += [true, *(replace(true, response=other) for other in others if other)]
    if len(examples) != len(retained) * (candidates + 1):
        raise MetricUnavailableError("no other dialogue has another answer")
    return [_ranked(one, examples, candidates + 1, progress) for one in configurations]


def _ranked(
    configuration: Configuration,
    examples: Sequence[Example],
    width: int,
    progress: ProgressCallback | None,
) -> dict[str, Any]:
    from workers.training.core.selection import ranking_figures  # here: it loads torch

    scores, account = _scored(configuration, examples, examples[::width], progress)
    sign = 1 if configuration.higher_is_better else -1
    table = np.array(
        [math.nan if isinstance(one, Undefined) else sign * one for one in scores]
    ).reshape(-1, width)
    whole = table[~np.isnan(table).any(axis=1)]
    figures = (
        ranking_figures(whole)
        if len(whole)
        else {"R@1": None, "MRR": None, "reason": "no context has all its scores"}
    )
    return {
        **_about(configuration, account),
        "candidates": width - 1,
        "contexts": len(whole),
        "undefined": len(table) - len(whole),
        **figures,
    }


def _refuse_unasked(configurations: Sequence[Configuration]) -> None:
    for configuration in configurations:
        if reason := skip_reason(configuration):
            raise MetricUnavailableError(f"{configuration.text} is not asked: {reason}")


def _drawn(pairs: int, most: int, seed: int) -> set[int]:
    if not 0 < most < pairs:
        return set(range(pairs))
    return set(np.random.default_rng(seed).choice(pairs, most, replace=False).tolist())


@dataclass(frozen=True, slots=True)
class _Made:
    """What was made of the answer at ``place``."""

    place: int
    kind: str
    example: Example


def _of_metrics(
    configurations: Sequence[Configuration],
    true: Mapping[int, Example],
    made: Sequence[_Made],
    clusters: Mapping[int, int],
    kinds: Sequence[str],
    progress: ProgressCallback | None,
) -> dict[str, Any]:
    """Rows and histograms. ``true``: examples of answers by their places; ``clusters``: which of
    them belong together."""
    rows: list[dict[str, Any]] = []
    histograms: list[dict[str, Any]] = []
    for configuration in configurations:
        inputs = [*true.values(), *(one.example for one in made)]
        scores, account = _scored(configuration, inputs, true.values(), progress)
        of_answer = dict(zip(true, scores, strict=False))
        of_made = scores[len(true) :]
        about = _about(configuration, account)
        sign = 1 if configuration.higher_is_better else -1
        rows += [
            {
                **about,
                "kind": kind,
                **_compared(kind, made, of_made, of_answer, clusters, sign),
            }
            for kind in kinds
        ]
        by_kind = {
            "answer": list(of_answer.values()),
            **{
                kind: [score for one, score in zip(made, of_made, strict=True) if one.kind == kind]
                for kind in kinds
            },
        }
        histograms.append({"metric": configuration.text, **histogram(by_kind)})
    return {"rows": rows, "histograms": histograms}


def histogram(scores: Mapping[str, Sequence[Score]]) -> dict[str, Any]:
    """Shares of each kind's scores in ``BINS`` bins from the lowest score of all to the highest.

    Returns:
        ``edges`` and ``shares`` by kind; without edges where nothing has a score or all are equal.
    """
    defined = {
        kind: [one for one in of_kind if not isinstance(one, Undefined)]
        for kind, of_kind in scores.items()
    }
    values = [one for of_kind in defined.values() for one in of_kind]
    if not values or min(values) == max(values):
        return {"reason": "all scores are equal" if values else "no response has a score"}
    edges = np.linspace(min(values), max(values), BINS + 1)
    return {
        "edges": edges.tolist(),
        "shares": {
            kind: (np.histogram(of_kind, edges)[0] / len(of_kind)).tolist()
            for kind, of_kind in defined.items()
            if of_kind
        },
    }


def _scored(
    configuration: Configuration,
    inputs: Sequence[Example],
    seen: Iterable[Example],
    progress: ProgressCallback | None,
) -> tuple[list[Score], Account]:
    """``seen``: the corpus, for a metric that looks at all of it."""
    scorer = configuration.scorer()
    if hasattr(scorer, "see_corpus"):
        scorer.see_corpus([replace(one, response="") for one in seen])
    report = None if progress is None else lambda done: progress(configuration, done, len(inputs))
    scores: list[Score] = scorer.score(inputs, report)
    return scores, scorer.account() if hasattr(scorer, "account") else Account()


def _about(configuration: Configuration, account: Account) -> dict[str, Any]:
    return {
        "metric": configuration.text,
        "signature": configuration.signature(**loaded_model_fields(configuration, account)),
        "model": account.model,
        "device": account.device,
    }


def _compared(
    kind: str,
    made: Sequence[_Made],
    scores: Sequence[Score],
    of_answer: Mapping[int, Score],
    clusters: Mapping[int, int],
    sign: int,
) -> dict[str, Any]:
    hits: list[bool] = []
    of_hits: list[int] = []
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
            of_hits.append(clusters[one.place])
            equal += answer == score
    accuracy = share_over_dialogues(hits, of_hits).as_json()
    if not hits and without:
        accuracy = {
            "value": None,
            "reason": f"no pair has two scores: {without.most_common(1)[0][0]}",
        }
    return {
        "pairs": len(hits),
        "dialogues": len(set(of_hits)),
        "higher": sum(hits),
        "equal": equal,
        "undefined": without.total(),
        **({"undefined_reasons": dict(without.most_common())} if without else {}),
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
