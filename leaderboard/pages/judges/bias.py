"""Whether a judge is taken in: by length, by place, by its own kin, by a response that speaks to
it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from annotations.models import CorpusVersion, Response
from common.estimates import Estimate, Undefined
from leaderboard.answers.judges import (
    InjectedResponse,
    Injections,
    JudgeBias,
    OwnFamily,
    ScoresByLength,
    ScoresByTurn,
)
from leaderboard.pages.judges.items import JudgedItems, injections_of, judged_items
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.results.kinds import registered
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.judges.self_preference import self_preference
from leaderboard.statistics.judges.standardised_gaps import by_turn_number
from leaderboard.statistics.judges.verbosity import with_covariate, words_of
from workers.judges.core.model_caveats import family_of, judge_of
from workers.metrics.common.configuration import parse

NO_TURNS = "the judge scores whole dialogues, which have no place in one another"


@registered("judge-hygiene", version=1)
def judge_bias(
    version: CorpusVersion, aspect: str, text: str, *, resamples: int = RESAMPLES, seed: int = SEED
) -> JudgeBias:
    """The four checks of the judge ``text``."""
    configuration = parse(text)
    items = judged_items(version, aspect, configuration)
    return JudgeBias(
        level=items.level,
        n=items.n,
        scored=int(np.isfinite(items.score).sum()),
        signature=configuration.signature(
            corpus=version.corpus.slug,
            corpus_version=version.label,
            aspect=aspect,
            level=items.level,
            ci="percentile95-bootstrap-over-dialogues",
            resamples=resamples,
            seed=seed,
        ),
        resamples=resamples,
        seed=seed,
        verbosity=_verbosity(version, items, resamples, seed),
        position=_position(items, resamples, seed),
        self_preference=_self_preference(items, judge_of(configuration), resamples, seed),
        injections=_injections(items),
    )


# --- length ---------------------------------------------------------------------------------------


def _verbosity(
    version: CorpusVersion, items: JudgedItems, resamples: int, seed: int
) -> ScoresByLength:
    words = _lengths(version, items)
    found = with_covariate(items.score, items.human, words, items.dialogue, resamples, seed)
    return ScoresByLength(
        found.n,
        found.judge,
        found.human,
        found.judge_given_human,
        mean_words=float(words.mean()) if len(words) else None,
    )


def _lengths(version: CorpusVersion, items: JudgedItems) -> FloatArray:
    """Words of each response; of a dialogue, the mean over the system's responses in it."""
    if not items.n:
        return np.empty(0)
    systems = [
        system.pk for system, run in zip(items.systems, items.runs, strict=True) if run is not None
    ]
    rows = Response.objects.filter(system__in=systems)
    if items.level == "turn":
        words = {pk: words_of(text) for pk, text in rows.values_list("pk", "text").iterator()}
        return np.array([words[pk] for pk in items.responses.tolist()], dtype=np.float64)
    in_order = version.dialogues.order_by("position").values_list("pk", flat=True)
    place = {pk: number for number, pk in enumerate(in_order)}
    system_index = {system.pk: number for number, system in enumerate(items.systems)}
    total = np.zeros((len(items.systems), len(place)))
    count = np.zeros_like(total)
    for system, dialogue, text in rows.values_list(
        "system_id", "turn__dialogue_id", "text"
    ).iterator():
        at = system_index[system], place[dialogue]
        total[at] += words_of(text)
        count[at] += 1
    means = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    return np.asarray(means[items.system, items.dialogue])


# --- place ----------------------------------------------------------------------------------------


def _position(items: JudgedItems, resamples: int, seed: int) -> ScoresByTurn:
    if items.level != "turn":
        nothing = Estimate.undefined(NO_TURNS)
        return ScoresByTurn(0, nothing, nothing, nothing, turns=(), reason=NO_TURNS)
    number = items.number.astype(np.float64)
    found = with_covariate(items.score, items.human, number, items.dialogue, resamples, seed)
    turns = by_turn_number(items.score, items.human, items.number, items.dialogue, resamples, seed)
    return ScoresByTurn(
        found.n,
        found.judge,
        found.human,
        found.judge_given_human,
        turns=() if isinstance(turns, Undefined) else tuple(turns),
        reason=turns.reason if isinstance(turns, Undefined) else "",
    )


# --- own family -----------------------------------------------------------------------------------


def _self_preference(items: JudgedItems, model: str, resamples: int, seed: int) -> OwnFamily:
    family = family_of(model)
    families = [
        family_of(system.name) if run is not None else ""
        for system, run in zip(items.systems, items.runs, strict=True)
    ]
    found = self_preference(
        items.score, items.human, items.system, items.dialogue, family, families, resamples, seed
    )
    return OwnFamily(
        model=model,
        family=family,
        own=found.own,
        others=found.others,
        difference=found.difference,
        own_systems=_named(items, families, lambda one: bool(family) and one == family),
        other_systems=_named(items, families, lambda one: bool(one) and one != family),
        unknown=sum(
            run is not None and not one for run, one in zip(items.runs, families, strict=True)
        ),
    )


def _named(
    items: JudgedItems, families: Sequence[str], wanted: Callable[[str], bool]
) -> tuple[tuple[str, str], ...]:
    """(system, family)"""
    return tuple(
        (system.name, family)
        for system, family in zip(items.systems, families, strict=True)
        if wanted(family)
    )


# --- responses that speak to the judge ------------------------------------------------------------


def _injections(items: JudgedItems) -> Injections:
    found = []
    for row in range(items.n):
        run = items.runs[items.system[row]]
        assert run is not None
        trace = run.traces.get(str(items.place[row])) or {}
        if texts := injections_of(trace):
            system = items.systems[items.system[row]]
            found.append(
                InjectedResponse(
                    system=system.position,
                    name=system.name,
                    dialogue=int(items.dialogue[row]),
                    turn=int(items.number[row]),
                    texts=tuple(texts),
                    kept=trace.get("kept"),
                    removed=trace.get("removed"),
                )
            )
    changes = [one.change for one in found if one.change is not None]
    return Injections(
        flagged=len(found),
        compared=len(changes),
        raised=sum(change > 0 for change in changes),
        mean_change=sum(changes) / len(changes) if changes else None,
        rows=tuple(found),
    )
