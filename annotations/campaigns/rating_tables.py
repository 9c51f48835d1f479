"""The tables of the pages about raters and ratings, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from annotations.campaigns.flag_text import flag_text
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Item,
    Participation,
    RatingRevision,
)
from annotations.campaigns.queries.quality import RaterQuality
from annotations.campaigns.queries.ratings import OVERALL, form_of_campaign, systems_of
from annotations.campaigns.question_view import answers_in_words
from annotations.campaigns.rater_statistics.own_ratings import ChecksPassed
from annotations.questions.schema import Form
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import written

_COUNT = {"kind": "number", "decimals": 0}
QUESTIONS_SHOWN = 6
"""Of a form; the columns of the others are details."""


def raters_table(campaign: Campaign, raters: Iterable[RaterQuality]) -> Table:
    columns = (
        Column("rater", _("Rater"), "link"),
        Column("state", _("State")),
        Column(
            "flags",
            _("Flags"),
            help=_("Signs of careless rating; the rater's entry has the figures."),
        ),
        Column(
            "done",
            _("Rated"),
            **_COUNT,
            help=_("Items rated, without training and attention items."),
        ),
        Column(
            "counted",
            _("Count"),
            **_COUNT,
            help=_("Ratings that hold one of their item's places and so count."),
            detail=True,
        ),
        Column(
            "pace",
            _("Seconds an item"),
            "number",
            decimals=1,
            help=_("Median active time, pauses left out."),
        ),
        Column(
            "per_hour",
            _("Items an hour"),
            **_COUNT,
            help=_("At that pace, without a pause."),
            detail=True,
        ),
        Column(
            "use",
            _("Scores 1 to 5") if campaign.form is None else _("Scores"),
            help=_("Share of each score."),
        ),
        Column(
            "entropy",
            _("Entropy, bits"),
            "number",
            decimals=2,
            help=_(
                "Of the shares: 0 where one score is given throughout, 2.32 where all five "
                "equally often."
            ),
            detail=True,
        ),
        Column(
            "run",
            _("Longest run"),
            **_COUNT,
            help=_("Most ratings in a row with one and the same score."),
        ),
        Column(
            "severity",
            _("Severity"),
            "estimate",
            decimals=2,
            help=_(
                "Mean difference to the mean of the item's other raters. Below 0: gives lower "
                "scores. 95 % interval over dialogues."
            ),
        ),
        Column(
            "agreement",
            _("r with the others"),
            "estimate",
            decimals=2,
            help=_(
                "Pearson's r with the mean of the item's other raters. 95 % interval over "
                "dialogues."
            ),
        ),
        Column(
            "alpha",
            _("α with the others"),
            "estimate",
            decimals=2,
            help=_(
                "Krippendorff's ordinal α of all pairs of ratings that the rater is part of; 0 is "
                "chance. 95 % interval over dialogues."
            ),
            detail=True,
        ),
        Column(
            "training",
            _("Training"),
            help=_("Training items within their range, of those judged."),
            detail=True,
        ),
        Column(
            "attention",
            _("Attention"),
            help=_("Attention items within their range, of those judged."),
        ),
        Column("skipped", _("Skipped"), **_COUNT, detail=True),
        Column("flagged", _("Flagged"), **_COUNT, detail=True),
        Column(
            "changed",
            _("Changed"),
            **_COUNT,
            help=_("Ratings whose score the rater changed later."),
            detail=True,
        ),
        Column("seen", _("Last seen"), detail=True),
    )
    return Table(
        "raters",
        _("Raters of %(campaign)s") % {"campaign": campaign.name},
        columns,
        tuple(_rater_row(rater) for rater in raters),
        notes=(
            _(
                "Excluded raters are compared with the others but not used as a reference. "
                "Intervals: 95 %, one dialogue left out at a time."
            ),
        ),
    )


def shown_columns(raters: Sequence[RaterQuality]) -> str:
    """The columns that show until the reader chooses: as many as a page is wide. Of checks only
    kinds that somebody judged."""
    checks = {
        "training": any(one.training.judged for one in raters),
        "attention": any(one.attention.judged for one in raters),
    }
    shown = ["rater", "state", "flags", "done", "counted", "pace", "use", "severity", "agreement"]
    return ",".join([*shown, *(key for key, holds in checks.items() if holds), "seen"])


def _rater_row(rater: RaterQuality) -> Row:
    person = rater.participation
    pace, use = rater.pace, rater.use
    excluded = person.state == Participation.State.EXCLUDED
    cells = {
        "rater": Cell(person.pseudonym, href=f"?rater={rater.number}#rater"),
        "state": Cell(state_of(person), note=person.exclusion_reason if excluded else ""),
        "flags": Cell(", ".join(flag_text(flag).name for flag in rater.flags))
        if rater.flags
        else Cell(reason=_("no flag")),
        "done": Cell(rater.done),
        "counted": Cell(rater.counted),
        "pace": Cell(reason=pace.reason) if pace.seconds is None else Cell(pace.seconds),
        "per_hour": Cell(reason=pace.reason) if pace.per_hour is None else Cell(pace.per_hour),
        "use": Cell(_shares(rater), bars=use.shares)
        if rater.done and rater.levels
        else Cell(reason=_("not of few values") if rater.done else _("nothing rated yet")),
        "entropy": Cell(reason=_("nothing rated yet"))
        if use.entropy is None
        else Cell(use.entropy),
        "run": Cell(rater.longest_run),
        "severity": estimate_cell(rater.beside.severity),
        "agreement": estimate_cell(rater.beside.agreement),
        "alpha": estimate_cell(rater.alpha),
        "training": _checks(rater.training),
        "attention": _checks(rater.attention),
        "skipped": Cell(rater.skipped),
        "flagged": Cell(rater.flagged),
        "changed": Cell(rater.thoughts.changed),
        "seen": Cell(f"{person.seen_at:%Y-%m-%d %H:%M} UTC")
        if person.seen_at
        else Cell(reason=_("not yet")),
    }
    return Row(f"rater-{rater.number}", cells, badges=badges_of(person))


def badges_of(person: Participation) -> tuple[str, ...]:
    excluded = (_("excluded"),) if person.state == Participation.State.EXCLUDED else ()
    return excluded if person.removed_at is None else (*excluded, _("removed"))


def state_of(person: Participation) -> str:
    if person.removed_at is not None:
        return _("removed")
    if person.state == Participation.State.EXCLUDED:
        return _("excluded")
    if person.qualification == Participation.Qualification.FAILED:
        return _("failed the training")
    return (
        _("active")
        if person.qualification == Participation.Qualification.PASSED
        else _("not yet qualified")
    )


def _shares(rater: RaterQuality) -> str:
    return ", ".join(
        f"{score:g}: {written(100 * share, 0)} %"
        for score, share in zip(rater.levels, rater.use.shares, strict=True)
    )


def _checks(checks: ChecksPassed) -> Cell:
    if not checks.judged:
        return Cell(reason=_("none judged"))
    return Cell(_("%(passed)s of %(judged)s") % {"passed": checks.passed, "judged": checks.judged})


def ratings_table(campaign: Campaign, ratings: Iterable[Assignment]) -> Table:
    """Newest first, as ``ratings`` are."""
    form = form_of_campaign(campaign)
    answer_columns = (
        (Column("score", _("Score"), **_COUNT), Column("low", _("Marked low")))
        if form is None
        else tuple(
            Column(
                f"q-{question.key}",
                question.name,
                detail=place >= QUESTIONS_SHOWN and question.key != OVERALL,
            )
            for place, question in enumerate(form.questions)
        )
    )
    columns = (
        Column("item", _("Item"), "link"),
        Column("system", _("First | second"))
        if campaign.is_of_pairs
        else Column("system", _("Systems, as shown"))
        if campaign.compares
        else Column("system", _("System")),
        Column("rater", _("Rater"), "link"),
        *answer_columns,
        Column(
            "counts",
            _("Counts"),
            help=_("Whether it is one of the item's ratings that statistics read."),
            detail=True,
        ),
        Column("comment", _("Comment")),
        Column(
            "revision",
            _("Revision"),
            **_COUNT,
            help=_("1: given once. More: changed."),
            detail=True,
        ),
        Column(
            "seconds",
            _("Seconds"),
            "number",
            decimals=1,
            help=_("Active time, pauses left out."),
            detail=True,
        ),
        Column(
            "guidelines",
            _("Guidelines"),
            **_COUNT,
            help=_("Version it was made under."),
            detail=True,
        ),
        Column("at", _("Rated, UTC"), detail=True),
    )
    listed = list(ratings)
    names = systems_of(key for rating in listed for key in rating.shown or ())
    rows = tuple(_rating_row(campaign, rating, form, names) for rating in listed)
    return Table("ratings", _("Ratings, newest first"), columns, rows)


def _judgement_cells(
    campaign: Campaign, revision: RatingRevision, form: Form | None
) -> dict[str, Cell]:
    if form is not None:
        words = answers_in_words(form, revision.answers or {})
        return {
            f"q-{question.key}": Cell(words[question.key])
            if question.key in words
            else Cell(reason=_("not answered"))
            for question in form.questions
        }
    axes = {axis["key"]: axis["name"] for axis in campaign.axes}
    low = revision.low_axes
    marked = (
        Cell(reason=_("not asked"))
        if low is None
        else Cell(", ".join(axes.get(key, key) for key in low) or _("none"))
    )
    return {"score": Cell(revision.score), "low": marked}


def _rating_row(
    campaign: Campaign, rating: Assignment, form: Form | None, names: Mapping[int, str]
) -> Row:
    """``names``: of the systems, by response of a list."""
    revision, item, person = rating.current, rating.item, rating.participation
    systems = [one.name for one in (item.chat_system or item.system, item.system_b) if one]
    if rating.is_swapped:
        systems.reverse()
    systems += [names[key] for key in rating.shown or ()]
    raters = reverse("campaign-raters", args=[campaign.slug])
    cells = {
        "item": Cell(place_of(item), href=_address_of(campaign, item)),
        "system": Cell(" | ".join(systems) or None, reason=_("a text of the organiser's")),
        "rater": Cell(person.pseudonym, href=f"{raters}?rater={person.position + 1}#rater"),
        **_judgement_cells(campaign, revision, form),
        "counts": Cell(_why_counts(rating)),
        "comment": Cell(revision.comment) if revision.comment else Cell(reason=_("none")),
        "revision": Cell(revision.number),
        "seconds": Cell(reason=_("the browser sent no time"))
        if revision.active_ms is None
        else Cell(revision.active_ms / 1000),
        "guidelines": Cell(reason=_("none"))
        if revision.guidelines is None
        else Cell(revision.guidelines.number),
        "at": Cell(f"{revision.created_at:%Y-%m-%d %H:%M}"),
    }
    return Row(f"rating-{rating.pk}", cells, badges=(_("flagged"),) if revision.flagged else ())


def _address_of(campaign: Campaign, item: Item) -> str:
    query = {"version": campaign.version.number} | (
        {} if item.turn is None else {"turn": item.turn.number}
    )
    return (
        reverse("dialogue", args=[campaign.version.corpus.slug, item.dialogue.position])
        + "?"
        + urlencode(query)
    )


def place_of(item: Item) -> str:
    if item.turn is None:
        return _("dialogue %(dialogue)s") % {"dialogue": item.dialogue.external_id}
    return _("dialogue %(dialogue)s, turn %(turn)s") % {
        "dialogue": item.dialogue.external_id,
        "turn": item.turn.number,
    }


def _why_counts(rating: Assignment) -> str:
    if rating.item.role != Item.Role.REGULAR:
        return _("no, %(role)s item") % {"role": rating.item.get_role_display()}
    if hasattr(rating, "slot"):
        return _("yes")
    if rating.participation.state == Participation.State.EXCLUDED:
        return _("no, rater excluded")
    return _("no, holds no place")
