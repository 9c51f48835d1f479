"""A campaign's ratings as statistics read them: rater × item matrices, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from annotations.agreement.intervals import METHOD
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    ChatSystem,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.plan.check_items import RIGHT
from annotations.campaigns.scale import SCORES
from annotations.corpora.queries import NotFound
from annotations.formats.records import Level
from annotations.models import Preference, Rating, Response
from annotations.questions.answers import has_right_ends, numeric
from annotations.questions.schema import Form, Question

OVERALL = "overall"
"""The aspect that every campaign on the scale asks. The others are its axes, by key: 1 where marked
low, 0 where asked and not. A campaign with a form has an aspect for each question that scores."""
MOST_OF_A_CHECK = 32_767
"""What a database's column of expected scores holds."""
MOST_LEVELS = 21
"""A scale of more points is read as one without steps."""


@dataclass(frozen=True)
class CampaignItems:
    """The regular items of a campaign, and the raters × items matrix of one aspect.

    ``system`` and ``dialogue`` are indices into ``systems`` and ``dialogue_ids``; ``turn`` is the
    turn's number, −1 at dialogue level. Every item of the chosen systems is there, rated or not;
    raters without a rating of them are not.
    """

    level: Level
    systems: tuple[str, ...]
    dialogue_ids: tuple[str, ...]
    dialogue_positions: tuple[int, ...]
    item_pks: NDArray[np.int64]
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    matrix: RatingMatrix


def systems_of(responses: Iterable[int]) -> dict[int, str]:
    """The names of the systems that gave these responses, by key of the response; "" of one that is
    no longer there."""
    keys = set(responses)
    if not keys:
        return {}
    found = Response.objects.filter(pk__in=keys).values_list("pk", "system__name")
    return dict.fromkeys(keys, "") | dict(found)


def level_of(campaign: Campaign) -> Level:
    """A chat is judged as a whole, as a dialogue is."""
    return "turn" if campaign.kind == Campaign.Kind.TURN else "dialogue"


def form_of_campaign(campaign: Campaign) -> Form | None:
    """What it asks now; None where it asks the scale from 1 to 5."""
    return None if campaign.form is None else campaign.form.parsed()


def question_keys(campaign: Campaign) -> list[str] | None:
    """Of every version of its form, those of the newest first; None where it has none."""
    if campaign.form is None:
        return None
    schemas = campaign.form_versions.order_by("-number").values_list("schema", flat=True)
    return list(dict.fromkeys(one["key"] for schema in schemas for one in schema["questions"]))


def main_aspect(campaign: Campaign) -> str:
    """What stands for the whole rating: the overall score, or the form's question of that key, else
    its first that scores; "" where none does."""
    keys = [key for key, _ in aspects_of(campaign)]
    return OVERALL if OVERALL in keys else next(iter(keys), "")


def aspects_of(campaign: Campaign) -> list[tuple[str, str]]:
    """(key, name): the overall score, then the axes where the campaign asks for them; or the
    questions of its form that score."""
    if (form := form_of_campaign(campaign)) is not None:
        return [(question.key, question.name) for question in form.scored]
    axes = campaign.axes if campaign.axes_below is not None else []
    return [(OVERALL, OVERALL), *((axis["key"], axis["name"]) for axis in axes)]


def aspects_to_publish(campaign: Campaign) -> list[tuple[str, str]]:
    """(key, name) of what becomes human scores of the corpus, or of pairs its preferences; the main
    one first."""
    form = form_of_campaign(campaign)
    if campaign.compares:
        questions = form.questions if form else ()
        found = [
            (one.key, one.name)
            for one in questions
            if one.type == "preference"
            or (one.type in ("ranking", "best_worst") and not one.options)
        ]
    else:
        found = aspects_of(campaign) if form else [(OVERALL, OVERALL)]
        if form and found:
            found += [(one.key, one.name) for one in form.questions if one.scores_utterances]
    return sorted(found, key=lambda one: one[0] != OVERALL)


def resolve_campaign_aspect(campaign: Campaign, requested: str | None) -> str:
    """The aspect by its key or name; the main one where none is asked for, "" where no question
    scores. Raises ``NotFound``."""
    known = aspects_of(campaign)
    requested = requested or main_aspect(campaign)
    if not requested and campaign.form is not None:
        return ""
    for key, name in known:
        if requested.casefold() in (key.casefold(), name.casefold()):
            return key
    keys = ", ".join(key for key, _ in known)
    raise NotFound(f"{campaign.slug} has no aspect {requested!r}. Aspects: {keys}")


def campaign_by_slug(slug: str) -> Campaign:
    campaign = Campaign.objects.select_related("version__corpus").filter(slug=slug).first()
    if campaign is None:
        known = ", ".join(Campaign.objects.values_list("slug", flat=True)[:20]) or "none yet"
        raise NotFound(f"there is no campaign {slug}. Campaigns: {known}")
    return campaign


def rated_systems(campaign: Campaign) -> list[str]:
    """Names of the systems whose items the campaign holds, in the corpus's order."""
    regular = Item.objects.filter(campaign=campaign, role=Item.Role.REGULAR)
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        named = regular.filter(chat_system__isnull=False).order_by("chat_system__name")
        return list(named.values_list("chat_system__name", flat=True).distinct())
    if campaign.kind == Campaign.Kind.SYSTEMS:
        return list(campaign.systems.order_by("position").values_list("name", flat=True))
    first, second = (regular.values(field) for field in ("system", "system_b"))
    named = campaign.version.systems.filter(Q(pk__in=first) | Q(pk__in=second))
    return list(named.order_by("position").values_list("name", flat=True))


def select_rated_systems(
    campaign: Campaign, only: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[str] | None:
    """The names asked for, checked; None where all are meant. Raises ``NotFound``."""
    if not only and not exclude:
        return None
    known = rated_systems(campaign)
    for name in [*(only or ()), *(exclude or ())]:
        if name not in known:
            raise NotFound(f"{campaign.slug} has no system {name!r}. Systems: {', '.join(known)}")
    return [name for name in known if (not only or name in only) and name not in (exclude or ())]


def qualified(campaign: Campaign) -> QuerySet[Participation]:
    """Raters who take part and reached the pass mark; none where there is none to reach."""
    passed = campaign.participations.filter(
        qualification=Participation.Qualification.PASSED,
        state=Participation.State.ACTIVE,
        removed_at=None,
    )
    training = campaign.items.filter(role=Item.Role.TRAINING)
    has_test = campaign.pass_mark is not None and training.exists()
    return passed if has_test else passed.none()


def counted_ratings(campaign: Campaign) -> QuerySet[Assignment]:
    """The ratings that count: of regular items, holding one of the item's k places. An excluded
    rater holds none."""
    return given_ratings(campaign).filter(slot__isnull=False)


def given_ratings(campaign: Campaign) -> QuerySet[Assignment]:
    """All ratings of regular items, also those of excluded raters and those whose place went to
    somebody else. An adjudicated value is none."""
    return Assignment.objects.filter(
        participation__campaign=campaign,
        state=Assignment.State.DONE,
        item__role=Item.Role.REGULAR,
        adjudicates=False,
    )


def ratings_data_version(campaign: Campaign) -> int:
    """Grows with every rating and every second thought: two equal stamps mean that nobody rated in
    between.

    Counted, not the newest row's number: on PostgreSQL a row with a lower number may be seen later.
    """
    return RatingRevision.objects.filter(assignment__participation__campaign=campaign).count()


def campaign_matrix(
    campaign: Campaign,
    aspect: str = "",
    *,
    systems: Collection[str] | None = None,
    excluded: bool = False,
) -> CampaignItems:
    """The matrix of an aspect, the main one unless named, of all systems or of those named.

    ``excluded=False`` reads the ratings that count, True also those of excluded raters. Training
    and attention items are never in it. Raises ``NotFound`` where the campaign has no such aspect.
    """
    aspect = resolve_campaign_aspect(campaign, aspect)
    items = _items(campaign, systems)
    ratings = given_ratings(campaign) if excluded else counted_ratings(campaign)
    scored = scored_aspect(campaign, aspect)
    rows = [
        (item, rater, score)
        for item, rater, value in ratings.values_list(
            "item_id", "participation_id", f"current__{scored.column}"
        )
        if (score := scored.score(value)) is not None
    ]
    raters, scores = _scores(items.pks, rows)
    matrix = RatingMatrix(
        scores=scores,
        dialogue_of_item=items.dialogue,
        raters=raters,
        levels=scored.levels,
    )
    return CampaignItems(
        level_of(campaign),
        items.systems,
        items.dialogue_ids,
        items.dialogue_positions,
        items.pks,
        items.system,
        items.dialogue,
        items.turn,
        matrix,
    )


@dataclass(frozen=True, slots=True)
class ScoredAspect:
    """Where ratings have an aspect, and its score there. ``levels``: the possible scores; None
    where they are not few. ``scale``: the lowest and the highest, None where unbounded."""

    column: str
    score: Callable[[Any], float | None]
    levels: tuple[float, ...] | None
    scale: tuple[float | None, float | None]


def scored_aspect(campaign: Campaign, aspect: str) -> ScoredAspect:
    """Of an aspect that the campaign has, or "" where it has none."""
    form = form_of_campaign(campaign)
    if form is not None:
        return _scored_question(form.question(aspect)) if aspect else _NO_SCORE
    if aspect == OVERALL:
        levels = tuple(map(float, SCORES))
        return ScoredAspect("score", float, levels, (levels[0], levels[-1]))

    def is_low(marked: list[str] | None) -> float | None:
        """None where it was not asked."""
        return None if marked is None else float(aspect in marked)

    return ScoredAspect("low_axes", is_low, (0.0, 1.0), (0.0, 1.0))


def scale_of_checks(campaign: Campaign) -> tuple[int, int] | None:
    """The lowest and highest score that training and attention items can expect: of the scale from
    1 to 5, or of the form's main question; ``RIGHT`` where systems are compared. None where that
    has no scale from 0 or more."""
    if campaign.compares:
        return None if question_of_checks(campaign) is None else (RIGHT, RIGHT)
    lowest, highest = scored_aspect(campaign, main_aspect(campaign)).scale
    if lowest is None or highest is None or lowest < 0 or highest > MOST_OF_A_CHECK:
        return None
    return math.ceil(lowest), math.floor(highest)


def question_of_checks(campaign: Campaign) -> Question | None:
    """Where systems are compared: by which training and attention items are checked, the form's
    main question that compares what is shown."""
    form = form_of_campaign(campaign)
    keys = [key for key, _ in aspects_to_publish(campaign)] if campaign.compares and form else []
    return form.question(keys[0]) if form is not None and keys else None


CheckScore = Callable[[Any, bool | None, Sequence[int] | None], float | None]
"""Of what a rating holds, in the order in which its assignment shows the item's texts
(``is_swapped``, ``shown``)."""


def score_of_checks(campaign: Campaign) -> tuple[str, CheckScore]:
    """In which column ratings hold what training and attention items expect, and its score, to be
    within the item's range."""
    question = question_of_checks(campaign)
    if question is None:
        scored = scored_aspect(campaign, main_aspect(campaign))
        return scored.column, lambda value, _is_swapped, _shown: scored.score(value)

    def score(
        answers: dict[str, Any] | None, is_swapped: bool | None, shown: Sequence[int] | None
    ) -> float | None:
        order = shown or ((1, 0) if is_swapped else (0, 1))
        is_right = has_right_ends(question, (answers or {}).get(question.key), order)
        return None if is_right is None else float(is_right)

    return "answers", score


def _scored_question(question: Question) -> ScoredAspect:
    def score(answers: dict[str, Any]) -> float | None:
        return numeric(question, answers.get(question.key))

    if question.type == "choices":
        return ScoredAspect("answers", score, None, (None, 1.0))
    if question.type == "span":
        return ScoredAspect("answers", score, None, (None, 0.0))
    values = [numeric(question, value) for value in question.values]
    points = sorted({value for value in values if value is not None})
    levels = tuple(points) if len(points) <= MOST_LEVELS else None
    return ScoredAspect("answers", score, levels, (points[0], points[-1]))


_NO_SCORE = ScoredAspect("answers", lambda _answers: None, (), (None, None))


@dataclass(frozen=True)
class _Items:
    """Sorted by primary key, so that ratings find their item by bisection."""

    pks: NDArray[np.int64]
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    systems: tuple[str, ...]
    dialogue_ids: tuple[str, ...]
    dialogue_positions: tuple[int, ...]


def _items(campaign: Campaign, chosen: Collection[str] | None) -> _Items:
    of_system = "chat_system" if campaign.kind == Campaign.Kind.INTERACTIVE else "system"
    regular = Item.objects.filter(
        campaign=campaign, role=Item.Role.REGULAR, **{f"{of_system}__isnull": False}
    )
    if chosen is not None:
        regular = regular.filter(**{f"{of_system}__name__in": list(chosen)})
    table = [
        (pk, system, dialogue, -1 if turn is None else turn)
        for pk, system, dialogue, turn in regular.order_by("pk").values_list(
            "pk", f"{of_system}_id", "dialogue_id", "turn__number"
        )
    ]
    pks, system, dialogue, turn = np.array(table, dtype=np.int64).reshape(-1, 4).T
    system_pks, system_names = _named_systems(campaign, set(system.tolist()))
    used = set(dialogue.tolist())
    dialogues = [
        row
        for row in campaign.version.dialogues.order_by("position").values_list(
            "pk", "external_id", "position"
        )
        if row[0] in used
    ]
    return _Items(
        pks,
        _places(system, system_pks),
        _places(dialogue, [pk for pk, _, _ in dialogues]),
        turn,
        system_names,
        tuple(name for _, name, _ in dialogues),
        tuple(position for _, _, position in dialogues),
    )


def _named_systems(campaign: Campaign, used: set[int]) -> tuple[list[int], tuple[str, ...]]:
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        rows = list(
            ChatSystem.objects.filter(pk__in=used).order_by("name").values_list("pk", "name")
        )
    else:
        everyone = campaign.version.systems.order_by("position").values_list("pk", "name")
        rows = [row for row in everyone if row[0] in used]
    return [pk for pk, _ in rows], tuple(name for _, name in rows)


def _places(values: NDArray[np.int64], known: Sequence[int]) -> NDArray[np.int64]:
    place = {pk: number for number, pk in enumerate(known)}
    return np.array([place[value] for value in values.tolist()], dtype=np.int64)


def _scores(
    item_pks: NDArray[np.int64], rows: list[tuple[int, int, float]]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    item, rater = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    place = np.searchsorted(item_pks, item)
    of_chosen = place < len(item_pks)
    of_chosen[of_chosen] = item_pks[place[of_chosen]] == item[of_chosen]
    people = Participation.objects.filter(pk__in=np.unique(rater[of_chosen]).tolist()).order_by(
        "position"
    )
    rows_of = {person.pk: number for number, person in enumerate(people)}
    scores = np.full((len(rows_of), len(item_pks)), np.nan)
    if rows_of:
        row = np.array([rows_of[pk] for pk in rater[of_chosen].tolist()], dtype=np.int64)
        scores[row, place[of_chosen]] = table[of_chosen, 2]
    return tuple(person.pseudonym for person in people), scores


def campaign_agreement(
    campaign: Campaign,
    aspect: str = "",
    systems: Sequence[str] | None = None,
    *,
    excluded: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The report of ``rating_queries.agreement_of``, of a campaign."""
    aspect = resolve_campaign_aspect(campaign, aspect)
    items = campaign_matrix(campaign, aspect, systems=systems, excluded=excluded)
    report = agreement_report(items.matrix, resamples=resamples)
    return {
        "campaign": campaign.slug,
        "corpus": campaign.version.corpus.slug,
        "corpus_version": campaign.version.label,
        "aspect": aspect,
        "level": items.level,
        "systems": list(items.systems),
        "excluded_raters": excluded,
        **report.as_json(),
        "ci": METHOD,
        "resamples": resamples,
        "seed": seed,
    }


@dataclass(frozen=True, slots=True)
class Publication:
    """``published``: ratings that stand in the corpus; ``counted``: those that count now;
    ``changed_since``: whether they may differ."""

    aspect: str
    published: int
    counted: int
    changed_since: bool


def publication_of(campaign: Campaign) -> Publication:
    counted = counted_ratings(campaign).count()
    if not campaign.published_aspect:
        return Publication("", 0, counted, False)
    of_campaign = (Preference if campaign.compares else Rating).objects.filter(
        rater__version=campaign.version_id,
        rater__name__startswith=f"{campaign.publication['raters']}/rater ",
        aspect=campaign.published_aspect,
    )
    published = of_campaign.count()
    newer = counted_ratings(campaign).filter(current__created_at__gt=campaign.published_at).exists()
    others_count = campaign.changes != campaign.publication.get("changes")
    then = campaign.publication.get("counted", published)
    return Publication(
        campaign.published_aspect, published, counted, then != counted or newer or others_count
    )
