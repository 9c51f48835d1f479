"""The stored answer of systems by preferences: strengths, ranks, checks, style control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from common.correlation.resampling import MAX_UNDEFINED_SHARE
from common.estimates import Estimate, Undefined
from leaderboard.answers.preferences import (
    Meeting,
    PreferenceQuestion,
    PreferenceStanding,
    PreferredSystem,
    StyleCoefficient,
)
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.preferences import (
    Votes,
    has_preferences,
    preference_questions,
    read_votes,
    resolve_question,
    styles,
)
from leaderboard.results.kinds import registered
from leaderboard.statistics.preferences.battles import average_win_rates, transitivity, win_rates
from leaderboard.statistics.preferences.bradley_terry import resampled_strengths, strengths
from leaderboard.statistics.preferences.connectivity import why_undefined
from leaderboard.statistics.preferences.covariates import (
    FEATURES,
    CovariateFit,
    Style,
    fit_with_covariates,
    relative_difference,
    scaled,
)
from leaderboard.statistics.preferences.davidson import davidson
from leaderboard.statistics.preferences.uncertainty import (
    LEAST_CLUSTERS,
    Uncertainty,
    clustered,
    pairwise_p,
    rank_ranges,
    two_way,
)
from leaderboard.statistics.share_over_dialogues import share_over_dialogues
from leaderboard.statistics.significance.compact_letters import compact_letters

FloatArray = NDArray[np.float64]

STRENGTHS_CI = "t95-sandwich-by-dialogue"
MOST_RESAMPLED = 100_000
"""With more conversations than this resamples say what the intervals say already."""
ONE_CONVERSATION = "an interval needs votes on at least 2 conversations"
NO_VARIANCE = "an interval needs votes that differ: these are ties alone"
NO_RATER_ERROR = "clustered by conversation and by rater the variance comes out below 0"
ONE_RATER = "the file names one rater for all votes"
NOT_IDENTIFIED = "the file does not say which votes are of one rater"
SEPARATED = "the votes alone have no finite strengths"


def of_preferences(version: CorpusVersion) -> list[dict[str, Any]]:
    """What pages of a version with preferences show first."""
    return [{}] if has_preferences(version) else []


@registered("preferences", version=2, shown_first=of_preferences)
def preference_leaderboard(
    version: CorpusVersion, aspect: str = "", level: str = ""
) -> PreferenceStanding:
    """Systems by Bradley–Terry strength on one question; without ``aspect`` and ``level`` on the
    one with most votes.

    Raises:
        NotFound: nobody was asked for that preference.
    """
    questions = preference_questions(version)
    question = resolve_question(questions, aspect, level)
    votes = read_votes(version, question, select_systems(version))
    return standing_of(version, votes, question, questions, styles)


Styles = Callable[[Votes], tuple[list[Style], list[Style]]]
"""The style of what stood in slot A and in slot B of every vote."""


def standing_of(
    version: CorpusVersion,
    votes: Votes,
    question: PreferenceQuestion,
    questions: Sequence[PreferenceQuestion],
    styles_of: Styles,
) -> PreferenceStanding:
    """Systems by the Bradley–Terry strengths of these votes."""
    battles = votes.battles
    names = [system.name for system in votes.systems]
    wins = battles.wins()
    strength = strengths(wins) if names else np.zeros(0)
    reason = why_undefined(wins, names) if names else "no two systems were compared"
    plain = _Ranked.without(reason, len(names))
    slot = Estimate.undefined(reason or SEPARATED)
    style: tuple[StyleCoefficient, ...] = ()
    controlled, by_rater = plain, [Estimate.undefined(reason)] * len(names)
    if not reason:
        fit = CovariateFit(strength, np.empty(0))
        plain = _Ranked.of(fit.strength, clustered(battles, fit, battles.conversation))
        by_rater = _by_rater(votes, fit)
        slot = _slot_effect(votes)
        controlled, style = _style_control(votes, styles_of)
    resampled = _resampled(votes, reason)
    ties = battles.ties()
    with_ties = davidson(wins - ties / 2, ties) if names else Undefined(reason)
    circles = transitivity(wins) if names else None
    average = average_win_rates(wins) if names else np.zeros(0)
    by_system = [
        PreferredSystem(
            system=system.name,
            kind=system.kind,
            position=system.position,
            battles=round(float(wins[number].sum() + wins[:, number].sum())),
            wins=round(float((wins - ties / 2)[number].sum())),
            ties=round(float(ties[number].sum())),
            strength=plain.estimates[number],
            by_rater=by_rater[number],
            controlled=controlled.estimates[number],
            rank=plain.ranks[number][0],
            worst_rank=plain.ranks[number][1],
            controlled_rank=controlled.ranks[number][0],
            controlled_worst_rank=controlled.ranks[number][1],
            groups=plain.groups[number],
            controlled_groups=controlled.groups[number],
            win_rate=_win_rate(votes, number),
            average_win_rate=float(average[number]),
            first=Undefined(resampled.reason)
            if resampled.first is None or resampled.reason
            else float(resampled.first[number]),
            davidson=with_ties
            if isinstance(with_ties, Undefined)
            else float(with_ties.strength[number]),
        )
        for number, system in enumerate(votes.systems)
    ]
    return PreferenceStanding(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        ci=STRENGTHS_CI,
        resamples=0 if resampled.first is None else RESAMPLES,
        seed=SEED,
        aspect=question.aspect,
        level=question.level,
        questions=tuple(questions),
        votes=len(battles),
        ties=int((battles.won == 0.5).sum()),
        both_bad=votes.both_bad,
        conversations=battles.conversations,
        raters=battles.raters,
        reason=reason,
        systems=tuple(by_system),
        meetings=_meetings(wins, plain.p_holm),
        slot_share=share_over_dialogues(battles.won, battles.conversation),
        slot=slot,
        style=style,
        triples=circles.triples if circles else 0,
        cyclic=circles.cyclic if circles else 0,
        circles=tuple(
            (names[one], names[two], names[three])
            for one, two, three in (circles.examples if circles else ())
        ),
        undefined_resamples=resampled.undefined,
        nu=with_ties if isinstance(with_ties, Undefined) else with_ties.nu,
        same_system=votes.same_system,
    )


@dataclass(frozen=True)
class _Ranked:
    """Of every system; ``p_holm``: (S, S)."""

    estimates: list[Estimate]
    ranks: list[tuple[int | None, int | None]]
    groups: list[tuple[int, ...]]
    p_holm: FloatArray

    @classmethod
    def without(cls, reason: str, systems: int) -> _Ranked:
        return cls(
            [Estimate.undefined(reason)] * systems,
            [(None, None)] * systems,
            [()] * systems,
            np.full((systems, systems), np.nan),
        )

    @classmethod
    def of(cls, strength: FloatArray, uncertainty: Uncertainty) -> _Ranked:
        estimates = _with_intervals(strength, uncertainty, _why_no_interval(uncertainty))
        size = len(strength)
        adjusted = pairwise_p(strength, uncertainty)[1]
        if any(one.ci is None for one in estimates):
            return cls(estimates, [(None, None)] * size, [()] * size, adjusted)
        low, high = zip(*(one.ci for one in estimates if one.ci), strict=True)
        best, worst = rank_ranges(low, high)
        ranks: list[tuple[int | None, int | None]] = [
            (int(first), int(last)) for first, last in zip(best, worst, strict=True)
        ]
        groups = [tuple(one) for one in compact_letters(strength.tolist(), adjusted)]
        return cls(estimates, ranks, groups, adjusted)


def _why_no_interval(uncertainty: Uncertainty) -> str:
    return ONE_CONVERSATION if uncertainty.clusters < LEAST_CLUSTERS else NO_VARIANCE


def _with_intervals(values: FloatArray, uncertainty: Uncertainty, reason: str) -> list[Estimate]:
    low, high = uncertainty.intervals(values)
    return [
        Estimate(float(value), (float(first), float(last)))
        if np.isfinite(first)
        else Estimate(float(value), reason=reason)
        for value, first, last in zip(values, low, high, strict=True)
    ]


def _by_rater(votes: Votes, fit: CovariateFit) -> list[Estimate]:
    reason = "" if votes.has_identified_raters else NOT_IDENTIFIED
    if votes.battles.raters < 2:
        reason = ONE_RATER
    if reason:
        return [Estimate(float(value), reason=reason) for value in fit.strength]
    found = two_way(votes.battles, fit)
    why = NO_RATER_ERROR if found.clusters > 1 else ONE_CONVERSATION
    return _with_intervals(fit.strength, found, why)


def _slot_effect(votes: Votes) -> Estimate:
    """The log odds that slot A has of itself, with the p that it has none."""
    features = np.ones((len(votes.battles), 1))
    fit = fit_with_covariates(votes.battles, features)
    if isinstance(fit, Undefined):
        return Estimate.undefined(fit.reason)
    return _effects(votes, fit, features)[0]


def _effects(votes: Votes, fit: CovariateFit, features: FloatArray) -> list[Estimate]:
    uncertainty = clustered(votes.battles, fit, votes.battles.conversation, features)
    every = np.concatenate((fit.strength, fit.coefficients))
    why = _why_no_interval(uncertainty)
    found = _with_intervals(every, uncertainty, why)[len(fit.strength) :]
    p = uncertainty.p_values(every)[len(fit.strength) :]
    return [
        Estimate(one.value, one.ci, float(own)) if one.ci else one
        for one, own in zip(found, p, strict=True)
    ]


def _style_control(votes: Votes, styles_of: Styles) -> tuple[_Ranked, tuple[StyleCoefficient, ...]]:
    """Strengths with length, Markdown and emoji held constant, and what each of these does."""
    first, second = styles_of(votes)
    used: dict[str, FloatArray] = {}
    unit: dict[str, float] = {}
    for place, name in enumerate(FEATURES):
        difference = relative_difference(_counts(first, place), _counts(second, place))
        column = scaled(difference)
        if column is not None:
            used[name], unit[name] = column, float(difference.std())
    size = len(votes.systems)
    nothing = Estimate.undefined("the two responses of every pair have equally many")
    if not used:
        reason = "no two responses that were compared differ in length, Markdown or emoji"
        ranked, effects = _Ranked.without(reason, size), {}
    else:
        features = np.column_stack(list(used.values()))
        fit = fit_with_covariates(votes.battles, features)
        if isinstance(fit, Undefined):
            ranked = _Ranked.without(fit.reason, size)
            effects = dict.fromkeys(used, Estimate.undefined(fit.reason))
        else:
            uncertainty = clustered(votes.battles, fit, votes.battles.conversation, features)
            ranked = _Ranked.of(fit.strength, uncertainty.of_first(size))
            effects = dict(zip(used, _effects(votes, fit, features), strict=True))
    return ranked, tuple(
        StyleCoefficient(feature=name, effect=effects.get(name, nothing), unit=unit.get(name))
        for name in FEATURES
    )


def _counts(of_votes: Sequence[Style], place: int) -> list[int]:
    return [(one.words, one.markdown, one.emoji)[place] for one in of_votes]


def _win_rate(votes: Votes, number: int) -> Estimate:
    """The share of its battles that the system won."""
    battles = votes.battles
    own = (battles.a == number) | (battles.b == number)
    won = np.where(battles.a[own] == number, battles.won[own], 1.0 - battles.won[own])
    return share_over_dialogues(won, battles.conversation[own])


@dataclass(frozen=True)
class _Resampled:
    first: FloatArray | None
    undefined: int
    reason: str


def _resampled(votes: Votes, reason: str) -> _Resampled:
    if reason or votes.battles.conversations < 2:
        return _Resampled(None, 0, reason or ONE_CONVERSATION)
    if votes.battles.conversations > MOST_RESAMPLED:
        return _Resampled(None, 0, f"not drawn with more than {MOST_RESAMPLED:,} conversations")
    drawn = resampled_strengths(votes.battles, RESAMPLES, SEED)
    defined = drawn[np.isfinite(drawn).all(axis=1)]
    undefined = RESAMPLES - len(defined)
    if undefined > MAX_UNDEFINED_SHARE * RESAMPLES:
        reason = f"{undefined} of {RESAMPLES} resamples have no finite strengths"
        return _Resampled(np.full(len(votes.systems), np.nan), undefined, reason)
    best = np.argmax(defined, axis=1)
    first = np.bincount(best, minlength=len(votes.systems)) / len(defined)
    return _Resampled(first, undefined, "")


def _meetings(wins: FloatArray, p_holm: FloatArray) -> tuple[Meeting, ...]:
    rates, games = win_rates(wins), wins + wins.T
    first, second = np.nonzero(np.triu(games, 1))
    return tuple(
        Meeting(
            first=one,
            second=other,
            battles=round(float(games[one, other])),
            win_rate=float(rates[one, other]),
            p_holm=None if np.isnan(p_holm[one, other]) else float(p_holm[one, other]),
        )
        for one, other in zip(first.tolist(), second.tolist(), strict=True)
    )
