"""A campaign's ratings as human scores of its corpus, and their removal. Until published, no
leaderboard sees them."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, Max, When
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.actions import data_changed
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import OVERALL, counted_ratings
from annotations.campaigns.scale import HIGHEST, LOWEST
from annotations.importers.texts import text_fault
from annotations.models import CorpusVersion, Rater, Rating

LONGEST_ASPECT = 100


class CannotPublish(Exception):
    """The message says why, in the organiser's language. Nothing was written."""


def publish(campaign: Campaign, aspect: str = "", by: Any = None) -> int:
    """Copy the ratings that count into the corpus version under an aspect; returns how many there
    are.

    Without an aspect it is the one published under before, else ``overall``, or ``overall
    (<slug>)`` where the corpus has human scores of that name. Publishing again replaces. Axes and
    comments are not published. Raises ``CannotPublish``.
    """
    with transaction.atomic():
        campaign, version = _locked(campaign)
        _refuse_unless_ready(campaign, version)
        aspect = _aspect_for(campaign, version, aspect.strip())
        was_main = (
            bool(campaign.published_aspect) and version.main_aspect == campaign.published_aspect
        )
        if campaign.published_aspect:
            _remove(campaign, version)
        _refuse_taken(version, aspect)
        undo = _announce(version, aspect, was_main)
        undo["raters"] = _free_prefix(campaign, version)
        undo["changes"] = campaign.changes
        count = _copy(campaign, version, aspect, undo["raters"])
        campaign.published_aspect, campaign.published_at, campaign.publication = (
            aspect,
            timezone.now(),
            undo,
        )
        campaign.save(update_fields=["published_aspect", "published_at", "publication"])
        data_changed([version.pk])
        audit.record(
            by,
            "campaign.published",
            campaign,
            campaign=campaign.slug,
            corpus=str(version),
            aspect=aspect,
            ratings=count,
        )
        return count


def unpublish(campaign: Campaign, by: Any = None) -> int:
    """Take all of it out of the corpus version again, which is then as it was; returns how many
    ratings that were."""
    with transaction.atomic():
        campaign, version = _locked(campaign)
        if not campaign.published_aspect:
            return 0
        aspect, removed = campaign.published_aspect, _remove(campaign, version)
        campaign.published_aspect, campaign.published_at, campaign.publication = "", None, {}
        campaign.save(update_fields=["published_aspect", "published_at", "publication"])
        data_changed([version.pk])
        audit.record(
            by,
            "campaign.unpublished",
            campaign,
            campaign=campaign.slug,
            corpus=str(version),
            aspect=aspect,
            ratings=removed,
        )
        return removed


def default_aspect(campaign: Campaign) -> str:
    """What ``publish`` would call the ratings now."""
    if campaign.published_aspect:
        return campaign.published_aspect
    return (
        f"{OVERALL} ({campaign.slug})"[:LONGEST_ASPECT]
        if _is_taken(campaign.version, OVERALL)
        else OVERALL
    )


def _locked(campaign: Campaign) -> tuple[Campaign, CorpusVersion]:
    """The campaign, then the version: whoever else publishes on either waits here."""
    fresh = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    if fresh.version_id is None:
        raise CannotPublish(_("a campaign that collects dialogues has no ratings to publish"))
    return fresh, CorpusVersion.objects.select_for_update(of=("self",)).get(pk=fresh.version_id)


def _refuse_unless_ready(campaign: Campaign, version: CorpusVersion) -> None:
    if campaign.kind not in (Campaign.Kind.TURN, Campaign.Kind.DIALOGUE):
        raise CannotPublish(
            _(
                "chats are rated, not responses of the corpus: there is nothing they could stand "
                "under"
            )
        )
    if campaign.state not in (Campaign.State.PAUSED, Campaign.State.CLOSED):
        raise CannotPublish(
            _("pause or close the campaign first, so that what is published stands still")
        )
    if not counted_ratings(campaign).exists():
        raise CannotPublish(_("no rating counts yet"))
    if campaign.simulated and not version.simulated:
        raise CannotPublish(
            _("programs made these ratings: they may not stand among those of people")
        )


def _aspect_for(campaign: Campaign, version: CorpusVersion, params: str) -> str:
    if not params:
        campaign.version = version
        return default_aspect(campaign)
    if fault := text_fault(params, LONGEST_ASPECT):
        raise CannotPublish(_("the aspect's name %(fault)s") % {"fault": fault})
    return params


def _refuse_taken(version: CorpusVersion, aspect: str) -> None:
    if _is_taken(version, aspect):
        raise CannotPublish(
            _("the corpus has human scores named %(aspect)s already; choose another name")
            % {"aspect": aspect}
        )


def _is_taken(version: CorpusVersion, aspect: str) -> bool:
    """Whether human scores of that name are there. A name that differs in case only would be
    mistaken for it; a name that the file announces and gives no score for is free."""
    identical = [known for known in version.aspects if known.casefold() == aspect.casefold()]
    if [known for known in identical if known != aspect]:
        return True
    return bool(identical) and Rating.objects.filter(rater__version=version, aspect=aspect).exists()


def _announce(version: CorpusVersion, aspect: str, was_main: bool) -> dict[str, Any]:
    """Add the aspect to the version; the main one where nobody had rated it, or where it replaces
    the main one. Returns what undoes it."""
    undo: dict[str, Any] = {
        "announced": aspect in version.aspects,
        "scale": version.scales.get(aspect),
        "main_aspect": _main_of_the_file(version),
    }
    if not undo["announced"]:
        version.aspects = [*version.aspects, aspect]
    version.scales = {**version.scales, aspect: [LOWEST, HIGHEST]}
    if was_main or not Rating.objects.filter(rater__version=version).exists():
        version.main_aspect = aspect
    version.save(update_fields=["aspects", "scales", "main_aspect"])
    return undo


def _main_of_the_file(version: CorpusVersion) -> str:
    """The main aspect as it was before any campaign was published: that campaign may be taken out
    before this one."""
    published = (
        version.campaigns.filter(published_aspect=version.main_aspect)
        .exclude(published_aspect="")
        .first()
    )
    return version.main_aspect if published is None else published.publication["main_aspect"]


def _free_prefix(campaign: Campaign, version: CorpusVersion) -> str:
    """The campaign's slug, which a file with a former publication of another campaign of that name
    may have taken."""
    prefix, number = campaign.slug, 1
    while version.raters.filter(name__startswith=f"{prefix}/rater ").exists():
        number += 1
        prefix = f"{campaign.slug}-{number}"
    return prefix


def _copy(campaign: Campaign, version: CorpusVersion, aspect: str, prefix: str) -> int:
    ratings = counted_ratings(campaign)
    people = campaign.participations.filter(pk__in=ratings.values("participation")).order_by(
        "position"
    )
    next_position = (
        (version.raters.aggregate(last=Max("position"))["last"] or 0) + 1
        if version.raters.exists()
        else 0
    )
    raters = Rater.objects.bulk_create(
        Rater(
            version=version,
            position=next_position + number,
            name=f"{prefix}/{person.pseudonym}",
            user_id=person.user_id,
        )
        for number, person in enumerate(people)
    )
    return sum(
        _copy_of_rater(campaign, person.pk, rater, aspect)
        for person, rater in zip(people, raters, strict=True)
    )


def _copy_of_rater(campaign: Campaign, participation: int, rater: Rater, aspect: str) -> int:
    """The database copies them: with an object for each of 100,000 SQLite's writer was held for
    8 s, and raters of other campaigns waited."""
    own = counted_ratings(campaign).filter(participation=participation).order_by("position")
    of_turn = {"item__response__isnull": False}
    copied = own.values_list(
        "item__response_id",
        Case(When(**of_turn, then=None), default=F("item__system_id")),
        Case(When(**of_turn, then=None), default=F("item__dialogue_id")),
        "current__score",
    )
    which, which_values = copied.query.sql_with_params()
    identical = Rating(rater=rater, aspect=aspect)
    fields = [Rating._meta.get_field(name) for name in ("rater", "aspect", "comment", "created_at")]
    values = [
        field.get_db_prep_save(field.pre_save(identical, True), connection) for field in fields
    ]
    names = ", ".join(connection.ops.quote_name(field.column) for field in fields)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotations_rating (response_id, system_id, dialogue_id, score, "  # noqa: S608
            f"{names}) SELECT chosen.*, {', '.join(['%s'] * len(fields))} FROM ({which}) AS chosen",
            [*values, *which_values],
        )
        return cursor.rowcount


def _remove(campaign: Campaign, version: CorpusVersion) -> int:
    aspect, undo = campaign.published_aspect, campaign.publication
    raters = version.raters.filter(name__startswith=f"{undo['raters']}/rater ")
    removed, _kinds = Rating.objects.filter(rater__in=raters, aspect=aspect).delete()
    raters.delete()
    version.scales = {name: scale for name, scale in version.scales.items() if name != aspect}
    if undo["announced"]:
        version.scales |= {aspect: undo["scale"]} if undo["scale"] is not None else {}
    else:
        version.aspects = [name for name in version.aspects if name != aspect]
    if version.main_aspect == aspect:
        former = undo["main_aspect"]
        version.main_aspect = (
            former if former in version.aspects or not version.aspects else version.aspects[0]
        )
    version.save(update_fields=["aspects", "scales", "main_aspect"])
    return removed
