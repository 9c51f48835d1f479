"""Writing down what a campaign asks, and its course from draft to closed. Opening it is in
``opening``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.opening import (
    NotReady,
    abandon,
    is_being_opened,
    open_campaign,
)
from annotations.campaigns.models import (
    Adjudication,
    Assignment,
    Campaign,
    ChatSystem,
    Conversation,
    Guidelines,
    Participation,
    RatingRevision,
)
from annotations.campaigns.models.campaign import random_seed
from annotations.campaigns.scale import default_axes, default_labels
from annotations.corpora import staging
from annotations.models import CorpusVersion, System
from common.text import text_fault

RESERVED_SLUGS = frozenset({"new"})
"""Addresses below /campaigns/ that are not campaigns."""
NOTED = (
    *(
        "name",
        "slug",
        "kind",
        "version",
        "systems",
        "chat_systems",
        "scale_labels",
        "axes",
        "axes_below",
    ),
    *(
        "raters_per_item",
        "dialogues_per_system",
        "pairs",
        "budget",
        "utterances",
        "seed",
        "groups",
        "opens_at",
        "closes_at",
    ),
    *("pass_mark", "attention_every", "allocation", "target", "target_value"),
)
"""What the audit log keeps of a changed campaign."""

__all__ = [
    "CampaignParams",
    "CannotDelete",
    "NotReady",
    "SlugTaken",
    "WrongState",
    "close",
    "create",
    "delete",
    "edit",
    "open_campaign",
    "pause",
    "resume",
    "write_guidelines",
]


class SlugTaken(Exception):
    pass


class WrongState(Exception):
    """The campaign is no longer in the state that the step begins from; the message says where it
    is."""


class CannotDelete(Exception):
    """The message says why in the organiser's language."""


@dataclass(frozen=True, slots=True)
class CampaignParams:
    """All that the form asks, checked by it. ``slug`` may be empty: it is then made from the
    name."""

    name: str
    kind: str
    slug: str = ""
    version: CorpusVersion | None = None
    systems: Sequence[System] = ()
    chat_systems: Sequence[ChatSystem] = ()
    scale_labels: Sequence[str] = field(default_factory=default_labels)
    axes: Sequence[dict[str, Any]] = field(default_factory=default_axes)
    axes_below: int | None = None
    raters_per_item: int = 2
    dialogues_per_system: int | None = None
    pairs: int | None = None
    budget: int | None = None
    utterances: int = 14
    seed: int | None = None
    groups: Sequence[Group] = ()
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    pass_mark: float | None = None
    attention_every: int | None = None
    allocation: str = Campaign.Allocation.UNIFORM
    target: str = Campaign.Target.NONE
    target_value: float | None = None
    simulated: bool = False


def create(params: CampaignParams, by: Any = None) -> Campaign:
    """A draft. Raises ``SlugTaken`` where a slug was asked for that another campaign has."""
    with _one_slug_each(), transaction.atomic():
        campaign = Campaign(
            slug=_free_slug(params),
            created_by=by,
            seed=random_seed() if params.seed is None else params.seed,
            simulated=params.simulated,
        )
        _write(campaign, params)
        audit.record(
            by,
            "campaign.created",
            campaign,
            campaign=campaign.slug,
            settings=audit.noted(campaign, NOTED),
        )
    return campaign


@contextmanager
def _one_slug_each() -> Iterator[None]:
    """Of two who ask for one address in the same moment, the database refuses the second."""
    try:
        yield
    except IntegrityError as refused:
        if "slug" not in str(refused):
            raise
        raise SlugTaken from None


def edit(campaign: Campaign, params: CampaignParams, by: Any = None) -> Campaign:
    """Change a draft wholly; of a campaign that was opened its name, dates and groups: what is
    asked stays.

    Raises ``SlugTaken``, and ``WrongState`` while it is being opened.
    """
    with _one_slug_each(), transaction.atomic():
        stored = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if is_being_opened(stored):
            raise WrongState(_("The campaign is being opened; nothing was changed."))
        before = audit.noted(stored, NOTED)
        if stored.state == Campaign.State.DRAFT:
            if params.slug and params.slug != stored.slug:
                stored.slug = _free_slug(params)
            if params.seed is not None:
                stored.seed = params.seed
            version_id = params.version.pk if params.version else None
            if (stored.kind, stored.version_id) != (params.kind, version_id):
                # Training and attention items of another corpus or level
                stored.items.all().delete()
            _write(stored, params)
        else:
            stored.name, stored.opens_at, stored.closes_at = (
                params.name,
                params.opens_at,
                params.closes_at,
            )
            stored.save(update_fields=["name", "opens_at", "closes_at"])
            stored.groups.set(params.groups)
        if what := audit.changes(before, audit.noted(stored, NOTED)):
            audit.record(by, "campaign.changed", stored, campaign=stored.slug, changes=what)
    return stored


def _write(campaign: Campaign, params: CampaignParams) -> None:
    if any(
        system.version_id != (params.version.pk if params.version else None)
        for system in params.systems
    ):
        raise ValueError("a campaign's systems are of its corpus version")
    if params.version:  # the lock keeps out a deletion that has not seen this campaign
        CorpusVersion.objects.select_for_update(no_key=True).get(pk=params.version.pk)
    for name in (
        "name",
        "kind",
        "version",
        "axes_below",
        "raters_per_item",
        "dialogues_per_system",
        "pairs",
        "budget",
        "utterances",
        "opens_at",
        "closes_at",
        "pass_mark",
        "attention_every",
        "allocation",
        "target",
        "target_value",
    ):
        setattr(campaign, name, getattr(params, name))
    campaign.scale_labels, campaign.axes = list(params.scale_labels), list(params.axes)
    campaign.save()
    campaign.systems.set(params.systems)
    campaign.chat_systems.set(params.chat_systems)
    campaign.groups.set(params.groups)


def _free_slug(params: CampaignParams) -> str:
    if params.slug:
        if params.slug in RESERVED_SLUGS or _taken_slugs().filter(slug=params.slug).exists():
            raise SlugTaken(params.slug)
        return params.slug
    base = slugify(params.name)[:70] or "campaign"
    taken = {*_taken_slugs().filter(slug__startswith=base), *RESERVED_SLUGS}
    return next(
        slug
        for slug in (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
        if slug not in taken
    )


def _taken_slugs() -> QuerySet[Campaign, str]:
    """Those of campaigns that are being removed, too."""
    return Campaign._base_manager.values_list("slug", flat=True)


def write_guidelines(campaign: Campaign, text: str, by: Any = None) -> tuple[Guidelines, bool]:
    """A new version, and True; where the text is that of the newest version, that one, and
    False."""
    text = text.replace("\r\n", "\n").strip()
    if fault := text_fault(text, 50_000):
        raise ValueError(f"the text {fault}")
    with transaction.atomic():
        Campaign.objects.select_for_update().get(pk=campaign.pk)  # one version at a time
        newest = campaign.guidelines.order_by("-number").first()
        if newest is not None and newest.text == text:
            return newest, False
        number = (campaign.guidelines.aggregate(last=Max("number"))["last"] or 0) + 1
        stored = Guidelines.objects.create(campaign=campaign, number=number, text=text)
        audit.record(by, "guidelines.written", campaign, campaign=campaign.slug, version=number)
    return stored, True


def pause(campaign: Campaign, by: Any = None) -> None:
    """Raters get no more items; what they have in hand they may finish."""
    _step(campaign, by, "paused", (Campaign.State.OPEN,), state=Campaign.State.PAUSED)


def resume(campaign: Campaign, by: Any = None) -> None:
    """Open again after a pause, or after closing as long as the ratings are not published."""
    if campaign.published_at is not None:
        raise WrongState(
            _(
                "The ratings are published. Remove them from the corpus first, then the campaign "
                "can be opened again."
            )
        )
    _step(
        campaign,
        by,
        "resumed",
        (Campaign.State.PAUSED, Campaign.State.CLOSED),
        unless_published=True,
        state=Campaign.State.OPEN,
        closed_at=None,
    )


def close(campaign: Campaign, by: Any = None) -> None:
    _step(
        campaign,
        by,
        "closed",
        (Campaign.State.OPEN, Campaign.State.PAUSED),
        state=Campaign.State.CLOSED,
        closed_at=timezone.now(),
    )


def _step(
    campaign: Campaign,
    by: Any,
    done: str,
    before: Sequence[str],
    unless_published: bool = False,
    **after: Any,
) -> None:
    """One conditional update: of two who press at once, one does it and the other is told."""
    found = Campaign.objects.filter(pk=campaign.pk, state__in=before)
    if unless_published:
        found = found.filter(published_at__isnull=True)
    with transaction.atomic():
        stepped = found.update(**after)
        if stepped:
            audit.record(by, f"campaign.{done}", campaign, campaign=campaign.slug)
    if not stepped:
        state = Campaign.objects.filter(pk=campaign.pk).values_list("state", flat=True).first()
        raise WrongState(
            _("The campaign is %(state)s now; nothing was changed.")
            % {"state": state or _("deleted")}
        )
    campaign.refresh_from_db()


def _wait_for_those_at_work(campaign: Campaign) -> None:
    """What raters rate, say and write is under these locks. A word said in between would hold the
    deletion up."""
    at_work = (
        Participation.objects.filter(campaign=campaign),
        Conversation.objects.filter(assignment__participation__campaign=campaign),
        campaign.rooms.all(),
    )
    for rows in at_work:
        list(rows.select_for_update(no_key=True, of=("self",)).order_by("pk").values_list("pk"))


def delete(campaign: Campaign, typed_slug: str = "", by: Any = None) -> None:
    """All of it. With ratings only where its slug was typed; published, not at all. Raises
    ``CannotDelete``.

    1. Waits for what raters are doing at this moment. Then the campaign is gone for everybody; who
       comes later finds none.
    2. Its rows go in short transactions, and its address is free after that. What a killed process
       leaves, the hourly sweep removes.
    """
    with transaction.atomic():
        stored = Campaign.objects.select_for_update().filter(pk=campaign.pk).first()
        if stored is None:
            return
        if stored.published_at is not None:
            raise CannotDelete(_("Its ratings are published. Remove them from the corpus first."))
        answers = RatingRevision.objects.filter(assignment__participation__campaign=stored)
        if (answers.exists() or stored.rooms.exists()) and typed_slug != stored.slug:
            raise CannotDelete(
                _(
                    "Raters have answered. Type the campaign's address to delete what they said, "
                    "too."
                )
            )
        _wait_for_those_at_work(stored)
        audit.record(
            by,
            "campaign.deleted",
            stored,
            campaign=stored.slug,
            settings=audit.noted(stored, NOTED),
            ratings=answers.count(),
            dialogues=stored.rooms.count(),
        )
        stored.is_removed = True
        for name, value in staging.new_lease().items():
            setattr(stored, name, value)
        stored.save(update_fields=["is_removed", "lease_token", "lease_expires_at"])
        stored.invitations.all().delete()
        Conversation.objects.filter(assignment__participation__campaign=stored).delete()
        stored.rooms.all().delete()
        # Whoever has read a row of these before waits for it, and then takes no part any more.
        stored.participations.update(user=None, removed_at=timezone.now())
    _remove_rows(stored)


def _remove_rows(campaign: Campaign) -> None:
    """From the leaves up: a rated assignment must have its rating, and guidelines stay while a
    rating names them. Nothing else hangs on the rows of the large tables."""
    assignments = Assignment.objects.filter(participation__campaign=campaign)
    try:
        for rows, delete_some in (
            (campaign.slots.all(), _delete_unseen),
            (Adjudication.objects.filter(item__campaign=campaign), _delete_unseen),
            (assignments, _delete_with_ratings),
            (campaign.items.all(), _delete_unseen),
        ):
            staging.delete_in_steps(rows, lambda: staging.renew(campaign), delete_some)
        with transaction.atomic():
            staging.renew(campaign)
            campaign.participations.all().delete()
            campaign.delete()
    except staging.LeaseLost:
        return


def _delete_unseen(rows: QuerySet[Any]) -> None:
    """Django would read each to see what hangs on it."""
    rows._raw_delete(rows.db)


def _delete_with_ratings(assignments: QuerySet[Assignment]) -> None:
    assignments.update(state=Assignment.State.RETURNED, current=None)
    _delete_unseen(RatingRevision.objects.filter(assignment__in=assignments))
    _delete_unseen(assignments)


def remove_left_behind() -> None:
    """What killed processes left: the rest of a deleted campaign goes, and a campaign that was
    being opened is a draft again."""
    for campaign in staging.left_behind(Campaign):
        if campaign.is_removed:
            _remove_rows(campaign)
        else:
            abandon(campaign)
