"""How strict each rater is, how each uses the scale, and what is left of the systems' order without
that; and how far a campaign's raters agree, live: the coefficients, each system, the spread of
scores, the widest gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import numpy as np

from annotations.agreement.intervals import METHOD as METHOD_OF_AGREEMENT
from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.agreement.score_use import MOST_STEPS, score_use
from annotations.agreement.tabulation import tabulate
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.question_agreement import question_agreement
from annotations.campaigns.queries.ratings import (
    CampaignItems,
    campaign_matrix,
    ratings_data_version,
    resolve_campaign_aspect,
)
from annotations.campaigns.rater_statistics.others import widest_disagreements
from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import RatedItems
from annotations.models import CorpusVersion
from common.estimates import Estimate, Undefined
from leaderboard.answers.agreement import (
    CampaignAgreement,
    ScoreCount,
    SystemAgreement,
    WidestDisagreement,
)
from leaderboard.answers.raters import (
    CorrectedSystem,
    Deviations,
    RaterEffect,
    RaterEffects,
    WithOthers,
)
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import human_side, placed_human, scale_of
from leaderboard.queries.standing import agreement
from leaderboard.results.computing import answer_of
from leaderboard.results.kinds import of_the_main_aspect, registered
from leaderboard.statistics.bounded import bounds_of_difference, cut_to
from leaderboard.statistics.correlation.placed_scores import FloatArray
from leaderboard.statistics.ranking.crossed_ratings import CrossedRatings
from leaderboard.statistics.ranking.rater_severity import SeverityCorrected, correct_severity
from leaderboard.statistics.ranking.system_ranking import rank_systems

METHOD = (
    "linear mixed model score = system + dialogue + item + rater + error, variance components by "
    "REML; intervals of systems: jackknife over dialogues, Student's t; of severities: best "
    "linear unbiased prediction"
)
NOBODY_ELSE = WithOthers(Estimate.undefined("nobody else judged the same items"))


@registered("rater-effects", version=3, shown_first=of_the_main_aspect)
def rater_effects(
    version: CorpusVersion,
    aspect: str,
    level: Literal["turn", "dialogue", ""] = "",
    *,
    seed: int = SEED,
) -> RaterEffects:
    """Severity-corrected means beside raw ones, and a line for each rater. ``level``: of which
    ratings; of turns where there are any, unless asked otherwise."""
    systems = select_systems(version)
    human = human_side(version, aspect, systems)
    items = {"turn": human.turn, "dialogue": human.dialogue}[level] if level else human.at("system")
    nothing = RaterEffects(
        corpus=version.corpus.slug,
        corpus_version=version.label,
        aspect=aspect,
        level=level or ("turn" if human.turn else "dialogue"),
        resamples=RESAMPLES,
        seed=seed,
        method=METHOD,
        reason="nobody rated",
    )
    if items is None:
        return nothing
    found = correct_severity(CrossedRatings.of(items.matrix, items.system, len(systems)))
    corrected = found if isinstance(found, SeverityCorrected) else None
    scale = scale_of(version, aspect)
    ranks = rank_systems(placed_human(items), len(systems), RESAMPLES, seed, bounds=scale)
    raw = [one.mean for one in ranks]
    if isinstance(found, Undefined):
        means = [Estimate.undefined(found.reason)] * len(systems)
    else:
        means = [cut_to(one, scale) for one in found.systems]
    steps = _steps(items.matrix)
    return replace(
        nothing,
        reason=found.reason if isinstance(found, Undefined) else "",
        ratings=int(np.isfinite(items.matrix.scores).sum()),
        deviation=Deviations(**{name: float(one) for name, one in corrected.deviation.items()})
        if corrected
        else None,
        groups=corrected.groups if corrected else None,
        systems=tuple(
            CorrectedSystem(
                system=system.name,
                kind=system.kind,
                position=system.position,
                raw=before,
                corrected=after,
                raw_place=place_before,
                corrected_place=place_after,
            )
            for system, before, after, place_before, place_after in zip(
                systems, raw, means, _places(raw), _places(means), strict=True
            )
        ),
        steps=steps,
        raters=tuple(_raters(version, aspect, items, corrected, nothing.level, steps)),
    )


def _places(means: Sequence[Estimate]) -> list[int | None]:
    """1 + the number of greater means; to 9 decimals, so that rounding makes no order."""
    known = [None if one.value is None else round(one.value, 9) for one in means]
    return [
        None if own is None else 1 + sum(other is not None and other > own for other in known)
        for own in known
    ]


def _steps(matrix: RatingMatrix) -> tuple[float, ...] | None:
    """The scores that there are, of the scale where it is known; None where they are too many to
    stand one by one."""
    given = np.unique(matrix.scores[np.isfinite(matrix.scores)])
    steps = tuple(float(one) for one in (matrix.levels or given))
    return steps if 0 < len(steps) <= MOST_STEPS and set(given.tolist()) <= set(steps) else None


def _raters(
    version: CorpusVersion,
    aspect: str,
    items: RatedItems,
    corrected: SeverityCorrected | None,
    level: str,
    steps: tuple[float, ...] | None,
) -> Iterator[RaterEffect]:
    matrix = items.matrix
    if matrix.rater_kind != "identified":
        return
    positions = dict(version.raters.values_list("name", "position"))
    agreement = _agreement(version, aspect, level)
    bounds = bounds_of_difference(scale_of(version, aspect))
    for number, (name, row) in enumerate(zip(matrix.raters, matrix.scores, strict=True)):
        given = np.isfinite(row)
        yield RaterEffect(
            rater=f"rater {positions[name] + 1}",
            position=positions[name],
            ratings=int(given.sum()),
            systems=len(np.unique(items.system[given])),
            mean=float(np.nanmean(row)),
            spread=float(np.nanstd(row, ddof=1)) if given.sum() > 1 else None,
            severity=cut_to(corrected.severity[number], bounds)
            if corrected
            else Estimate.undefined("severity cannot be told here"),
            agreement=agreement.get(name, NOBODY_ELSE),
            shares=_shares(row, steps),
        )


def _agreement(version: CorpusVersion, aspect: str, level: str) -> dict[str, WithOthers]:
    """Each rater's correlation with the mean of the others: the agreement page's answer has it
    already."""
    report = answer_of(version, agreement, aspect=aspect, level=level)
    return {
        one.rater: WithOthers(one.correlation, one.items)
        for one in report.leave_one_out["pearson"].raters
    }


def _shares(row: FloatArray, steps: tuple[float, ...] | None) -> tuple[float, ...] | None:
    if steps is None:
        return None
    given = row[np.isfinite(row)]
    return tuple(float(np.mean(given == step)) for step in steps)


WIDEST_SHOWN = 20


def agreement_data_version(_version: CorpusVersion, campaign: int, **_parameters: Any) -> str:
    """A campaign's ratings change while its corpus version does not. Raises
    ``Campaign.DoesNotExist``."""
    found = Campaign.objects.get(pk=campaign)
    return f"{ratings_data_version(found)}.{found.changes}"


@registered(
    "campaign-agreement", version=3, stamp=agreement_data_version, refreshed_for=timedelta(hours=1)
)
def stored_agreement(
    _version: CorpusVersion, campaign: int, aspect: str, system: str, excluded: bool
) -> CampaignAgreement:
    """By the campaign's key: a new one may have a deleted one's name. Raises
    ``Campaign.DoesNotExist``."""
    found = Campaign.objects.select_related("version__corpus").get(pk=campaign)
    systems = [system] if system else None
    items = campaign_matrix(found, aspect, systems=systems, excluded=excluded)
    return CampaignAgreement(
        **vars(agreement_report(items.matrix, resamples=RESAMPLES)),
        campaign=found.slug,
        corpus=found.version.corpus.slug,
        corpus_version=found.version.label,
        aspect=resolve_campaign_aspect(found, aspect),
        level=items.level,
        systems=items.systems,
        excluded_raters=excluded,
        ci=METHOD_OF_AGREEMENT,
        resamples=RESAMPLES,
        seed=SEED,
        questions=tuple(question_agreement(found, systems, excluded)),
        distribution=tuple(
            ScoreCount(level=level, ratings=int((items.matrix.scores == level).sum()))
            for level in items.matrix.levels or ()
        ),
        score_use=score_use(items.matrix),
        by_system=tuple(_of_system(items, number) for number in range(len(items.systems))),
        widest=_widest(items),
    )


def _of_system(items: CampaignItems, number: int) -> SystemAgreement:
    own = items.system == number
    matrix = replace(
        items.matrix,
        scores=items.matrix.scores[:, own],
        dialogue_of_item=items.matrix.dialogue_of_item[own],
    )
    table = tabulate(matrix)
    ordinal = krippendorff_alphas(table, Jackknife.over(table.dialogues))["ordinal"]
    return SystemAgreement(
        system=items.systems[number],
        items=int(own.sum()),
        rated=table.items,
        ratings=table.ratings,
        mean=float(np.nanmean(matrix.scores)) if table.ratings else None,
        alpha=ordinal,
    )


def _widest(items: CampaignItems) -> tuple[WidestDisagreement, ...]:
    raters = items.matrix.raters
    return tuple(
        WidestDisagreement(
            dialogue=items.dialogue_ids[items.dialogue[one.item]],
            position=items.dialogue_positions[items.dialogue[one.item]],
            turn=None if items.turn[one.item] < 0 else int(items.turn[one.item]),
            system=items.systems[items.system[one.item]],
            spread=one.spread,
            scores=tuple((raters[row], score) for row, score in one.scores),
        )
        for one in widest_disagreements(items.matrix.scores, WIDEST_SHOWN)
    )
