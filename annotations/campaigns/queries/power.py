"""Which differences of systems a campaign would find, question by question, before it begins."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce

from annotations.campaigns.models import Campaign
from annotations.campaigns.models.campaign import COMPARED, PAIRED
from annotations.campaigns.plan.pairs import count_pairs
from annotations.campaigns.plan.power import Design, Detectable, detectable_difference, scale_of
from annotations.campaigns.queries.planning import PlannedItems, Question
from annotations.campaigns.queries.ratings import OVERALL
from annotations.models import CorpusVersion, Rater, Rating
from annotations.questions import schema
from common.cache import memoize

FEWEST_RATINGS = 30
"""Below, a standard deviation says no more than a quarter of the scale does."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of single ratings of one system, pooled over systems."""

    aspect: str
    deviation: float
    ratings: int


@dataclass(frozen=True, slots=True)
class PowerLine:
    """``names``: of the questions that it holds for. ``spread``: None where it is assumed, or
    nothing is."""

    names: tuple[str, ...]
    found: Detectable
    spread: Spread | None

    @property
    def percent(self) -> float | None:
        """Of shares, the difference in percentage points; of preferences, the win rate."""
        if self.found.difference is None:
            return None
        at = 0.5 if self.found.comparison == "win rates" else 0.0
        return 100 * (at + self.found.difference)


@dataclass(frozen=True, slots=True)
class PlannedPower:
    design: Design
    lines: tuple[PowerLine, ...]

    @property
    def is_found(self) -> bool:
        return any(line.found.difference is not None for line in self.lines)

    @property
    def spreads(self) -> list[Spread]:
        return list(dict.fromkeys(line.spread for line in self.lines if line.spread is not None))

    @property
    def assumes_a_spread(self) -> bool:
        return any(line.found.scale and line.spread is None for line in self.lines)


def planned_power(
    question: Question, form: schema.Form | None, planned: PlannedItems
) -> PlannedPower | None:
    """Of the questions whose answers become scores, preferences or orders of systems; where none
    does, of all. None where nothing is rated, or not yet known what.

    ``form``: None for the scale from 1 to 5.
    """
    if question.kind == Campaign.Kind.COLLECTION or (form is None and question.kind in COMPARED):
        return None
    systems = len(question.systems) or len(question.chat_systems)
    items_of_a_dialogue = systems
    if question.kind in COMPARED:
        items_of_a_dialogue = count_pairs(systems) if question.kind in PAIRED else 1
    dialogues = min(planned.dialogues, planned.items // max(1, items_of_a_dialogue))
    design = Design(dialogues, question.raters_per_item, systems)
    names: dict[tuple[Detectable, Spread | None], list[str]] = defaultdict(list)
    for one in _compared(form):
        spread = _spread_of(one, question.version)
        found = detectable_difference(one, design, None if spread is None else spread.deviation)
        names[found, spread].append(one.name)
    return PlannedPower(design, tuple(PowerLine(tuple(of), *line) for line, of in names.items()))


def _compared(form: schema.Form | None) -> list[schema.Question]:
    if form is None:
        return [schema.Question(OVERALL, "scale", OVERALL)]
    if form.level in ("pair", "systems"):
        found = [one for one in form.questions if one.measurement in ("preference", "ranking")]
    else:
        found = [one for one in form.questions if one.exported == "rating"]
    return found or list(form.questions)


def _spread_of(question: schema.Question, version: CorpusVersion | None) -> Spread | None:
    """From ratings in the corpus on this scale: of the aspect that is named as the question is,
    else of the main aspect."""
    if version is None or schema.CONSEQUENCES[question.measurement].comparison != "means":
        return None
    scale = list(scale_of(question))
    of_scale = [aspect for aspect in version.aspects if version.scales.get(aspect) == scale]
    names = (question.key.casefold(), question.name.casefold())
    named = [aspect for aspect in of_scale if aspect.casefold() in names]
    main = [aspect for aspect in of_scale if aspect == version.main_aspect]
    aspect = next(iter(named + main), "")
    return _spreads(version).get(aspect) if aspect else None


def _spreads(version: CorpusVersion) -> dict[str, Spread]:
    """Read once after a change, not whenever a field of the form changes."""
    return memoize(
        ("spread of ratings", version.pk, version.revision), lambda: _read_spreads(version)
    )


def _read_spreads(version: CorpusVersion) -> dict[str, Spread]:
    rows = (
        Rating.objects.filter(
            Q(system__withheld=False) | Q(response__system__withheld=False), rater__version=version
        )
        .exclude(rater__kind=Rater.Kind.AGGREGATE)
        .values_list("aspect", Coalesce("system", "response__system"))
        .annotate(Count("pk"), Sum("score"), squares=Sum(F("score") * F("score")))
    )
    squares: dict[str, float] = defaultdict(float)
    freedom: dict[str, int] = defaultdict(int)
    ratings: dict[str, int] = defaultdict(int)
    for aspect, _system, count, total, of_squares in rows:
        squares[aspect] += of_squares - total * total / count
        freedom[aspect] += count - 1
        ratings[aspect] += count
    return {
        aspect: Spread(aspect, math.sqrt(squares[aspect] / freedom[aspect]), count)
        for aspect, count in ratings.items()
        if count >= FEWEST_RATINGS and freedom[aspect] and squares[aspect] > 1e-9 * count
    }
