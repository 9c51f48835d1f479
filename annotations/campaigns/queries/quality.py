"""What each rater of a campaign did, and how it stands beside the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings

from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conflict,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.queries.ratings import (
    campaign_matrix,
    main_aspect,
    score_of_checks,
    scored_aspect,
)
from annotations.campaigns.rater_statistics.flags import (
    MostFrequentScore,
    QualityFlag,
    most_frequent_score,
    quality_flags,
)
from annotations.campaigns.rater_statistics.others import (
    NOBODY_ELSE,
    BesideOthers,
    alpha_with_others,
    beside_others,
)
from annotations.campaigns.rater_statistics.own_ratings import (
    ChecksPassed,
    Pace,
    ScaleUse,
    SecondThoughts,
    checks_passed,
    longest_run,
    pace,
    scale_use,
    second_thoughts,
)
from annotations.models import System
from common.estimates import Estimate


@dataclass(frozen=True, slots=True)
class _WithOthers:
    beside: BesideOthers
    alpha: Estimate
    frequent: MostFrequentScore | None


_NOBODY = Estimate.undefined(NOBODY_ELSE)
NOTHING_RATED = _WithOthers(BesideOthers(0, _NOBODY, _NOBODY), _NOBODY, None)


@dataclass(frozen=True)
class RaterQuality:
    """One rater. ``done``: regular items rated; ``counted``: how many of these count among their
    item's k; ``alpha``: Krippendorff's ordinal α with the others; ``flags``: rules of careful
    rating that this rater breaks."""

    participation: Participation
    done: int
    counted: int
    skipped: int
    flagged: int
    pace: Pace
    use: ScaleUse
    levels: tuple[float, ...]
    """The possible scores, along which ``use`` runs; none where they are not few."""
    longest_run: int
    beside: BesideOthers
    alpha: Estimate
    training: ChecksPassed
    attention: ChecksPassed
    thoughts: SecondThoughts
    flags: tuple[QualityFlag, ...]

    @property
    def number(self) -> int:
        """What addresses call the rater."""
        return self.participation.position + 1


@dataclass
class _Judged:
    """One rated item of one rater."""

    item: int
    role: str
    lowest: int | None
    highest: int | None
    counts: bool
    first: float | None = None
    last: float | None = None
    """Of the main aspect; None where a form's answers have no score."""
    active_ms: int | None = None
    flagged: bool = False


def raters_of(campaign: Campaign, *, intervals: bool = True) -> list[RaterQuality]:
    """Every rater in the order of joining, excluded ones too. Ratings that do not count are held
    against the others but are no part of their means: excluding a rater makes the statistics of the
    rest those of a campaign without that rater."""
    people = list(
        campaign.participations.select_related("user", "guidelines_read").order_by("position")
    )
    judged = _judged(campaign)
    skips = Assignment.objects.filter(
        participation__campaign=campaign, state=Assignment.State.SKIPPED
    )
    skipped = Counter(skips.values_list("participation_id", flat=True))
    beside = _beside(campaign, people, judged, intervals)
    levels = scored_aspect(campaign, main_aspect(campaign)).levels or ()
    return [
        _quality(
            person,
            judged[person.pk],
            skipped[person.pk],
            beside.get(person.pk, NOTHING_RATED),
            levels,
        )
        for person in people
    ]


def flagged_raters(campaign: Campaign) -> list[RaterQuality]:
    """Raters with a flag of whom some ratings count, in the order of joining."""
    return [one for one in raters_of(campaign, intervals=False) if one.flags and one.counted]


def rater_at(campaign: Campaign, number: int) -> Participation | None:
    """The rater whose pseudonym carries this number."""
    return campaign.participations.select_related("user").filter(position=number - 1).first()


def conflicts_of(participation: Participation) -> list[System]:
    """The systems of the campaign's corpus that this person has a stake in."""
    if participation.user_id is None:
        return []
    conflicts_of_interest = Conflict.objects.filter(
        user=participation.user_id, system__version=participation.campaign.version_id
    )
    return [
        conflict_of_interest.system
        for conflict_of_interest in conflicts_of_interest.select_related("system").order_by(
            "system__position"
        )
    ]


def system_of(campaign: Campaign, pk: int) -> System | None:
    """A system of the campaign's corpus version."""
    return System.objects.filter(version=campaign.version_id, pk=pk).first()


def _judged(campaign: Campaign) -> dict[int, list[_Judged]]:
    """participation → its rated items in the order of work."""
    rows = (
        Assignment.objects.filter(
            participation__campaign=campaign, state=Assignment.State.DONE, adjudicates=False
        )
        .order_by("participation_id", "position")
        .values_list(
            "pk",
            "participation_id",
            "item_id",
            "item__role",
            "item__lowest",
            "item__highest",
            "slot__pk",
        )
    )
    by_rater: dict[int, list[_Judged]] = defaultdict(list)
    by_assignment: dict[int, _Judged] = {}
    for pk, rater, item, role, lowest, highest, slot in rows:
        one = _Judged(item, role, lowest, highest, slot is not None)
        by_rater[rater].append(one)
        by_assignment[pk] = one
    scored = scored_aspect(campaign, main_aspect(campaign))
    column, score_of_check = score_of_checks(campaign)
    judged_rows = (
        RatingRevision.objects.filter(assignment__participation__campaign=campaign)
        .order_by("number")
        .values_list(
            *("assignment_id", "number", "active_ms", "flagged"),
            *(column, "assignment__is_swapped", "assignment__shown"),
        )
    )
    for assignment, number, active_ms, flagged, value, *order in judged_rows:
        one = by_assignment.get(assignment)
        if one is None:
            continue
        is_regular = one.role == Item.Role.REGULAR
        score = scored.score(value) if is_regular else score_of_check(value, *order)
        if number == 1:
            one.first = score
        one.last, one.flagged = score, flagged
        if active_ms is not None:
            one.active_ms = (one.active_ms or 0) + active_ms
    return by_rater


def _beside(
    campaign: Campaign,
    people: Iterable[Participation],
    judged: Mapping[int, Sequence[_Judged]],
    intervals: bool,
) -> dict[int, _WithOthers]:
    if campaign.version_id is None or not main_aspect(campaign):
        return {}
    items = campaign_matrix(campaign, excluded=True)
    matrix = items.matrix
    by_name = {person.pseudonym: person for person in people}
    rows = [by_name[name] for name in matrix.raters]
    counts = np.zeros(matrix.scores.shape, dtype=bool)
    for row, person in enumerate(rows):
        counted = [
            one.item for one in judged[person.pk] if one.counts and one.role == Item.Role.REGULAR
        ]
        counts[row, np.searchsorted(items.item_pks, counted)] = True
    found = beside_others(matrix.scores, matrix.dialogue_of_item, counts, intervals=intervals)
    return {
        person.pk: _WithOthers(
            beside,
            alpha_with_others(matrix.scores, matrix.dialogue_of_item, counts, row),
            most_frequent_score(matrix.scores, counts, row),
        )
        for row, (person, beside) in enumerate(zip(rows, found, strict=True))
    }


def _quality(
    person: Participation,
    judged: list[_Judged],
    skipped: int,
    others: _WithOthers,
    levels: Sequence[float],
) -> RaterQuality:
    regular = [one for one in judged if one.role == Item.Role.REGULAR]
    scores = [one.last for one in regular if one.last is not None]
    seconds = pace(one.active_ms for one in regular)
    attention = _checked(judged, Item.Role.ATTENTION, lambda one: one.last)
    return RaterQuality(
        participation=person,
        done=len(regular),
        counted=sum(one.counts for one in regular),
        skipped=skipped,
        flagged=sum(one.flagged for one in regular),
        pace=seconds,
        use=scale_use(scores if levels else (), levels),
        levels=tuple(levels),
        longest_run=longest_run(scores),
        beside=others.beside,
        alpha=others.alpha,
        training=_checked(judged, Item.Role.TRAINING, lambda one: one.first),
        attention=attention,
        thoughts=second_thoughts(
            (one.first, one.last)
            for one in regular
            if one.first is not None and one.last is not None
        ),
        flags=quality_flags(
            pace=seconds,
            frequent=others.frequent,
            alpha=others.alpha,
            alpha_items=others.beside.items,
            attention=attention,
            fast_seconds=settings.FAST_RATING_SECONDS,
        ),
    )


def _checked(
    judged: list[_Judged], role: str, score_of: Callable[[_Judged], float | None]
) -> ChecksPassed:
    """Of training the first scores, as for passing it: the second comes after the answer was
    shown."""
    return checks_passed(
        (score, one.lowest, one.highest)
        for one in judged
        if one.role == role
        and one.lowest is not None
        and one.highest is not None
        and (score := score_of(one)) is not None
    )
