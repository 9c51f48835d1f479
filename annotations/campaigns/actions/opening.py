"""Opening a campaign: from now on its items and slots exist, and what is asked stays.

They are made in short transactions, in which raters of other campaigns may write. Meanwhile the
campaign is still a draft, which the process owns by a lease; the last transaction opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.models import Campaign, Item, Slot
from annotations.campaigns.plan.draw import interleave
from annotations.campaigns.plan.form_changes import is_about
from annotations.campaigns.plan.lists import MOST_SYSTEMS
from annotations.campaigns.plan.pairs import NotConnected, first_orders
from annotations.campaigns.queries.allocation import compared_question
from annotations.campaigns.queries.planning import (
    Question,
    is_of_turns,
    items_to_make,
    planned_items,
    question_of,
    responses_of_check,
)
from annotations.campaigns.queries.ratings import main_aspect, scale_of_checks
from annotations.corpora import staging

MOST_SLOTS = 2_000_000
"""More than a research group will ever have rated; a slip in a field must not fill the disk."""
MOST_LOOKED_AT = 100_000
"""Where ratings are spread adaptively or a target ends them: a rater's request looks at all of them
now and then."""


class NotReady(Exception):
    """What is missing, one sentence each, in the organiser's language."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(" ".join(missing))
        self.missing = list(missing)


@dataclass(frozen=True, slots=True)
class Opened:
    items: int
    slots: int


def what_is_missing(campaign: Campaign) -> list[str]:
    """What must be there before raters can begin."""
    missing = []
    if not campaign.guidelines.exists():
        missing.append(_("Write the guidelines first: raters read them before they begin."))
    if campaign.kind == Campaign.Kind.INTERACTIVE and not campaign.chat_systems.exists():
        missing.append(_("Choose at least one chat system."))
    if (
        campaign.kind in (Campaign.Kind.TURN, Campaign.Kind.DIALOGUE)
        and not campaign.systems.exists()
    ):
        missing.append(_("Choose at least one system."))
    if campaign.compares:
        missing += _what_comparing_needs(campaign)
    if (
        campaign.is_looked_at
        and 0 < campaign.systems.count() < 2
        and campaign.target != Campaign.Target.WIDTH
    ):
        missing.append(
            _("Choose a second system: ratings are to go where the order of systems is least sure.")
        )
    if campaign.kind == Campaign.Kind.COLLECTION and not campaign.dialogues_per_system:
        missing.append(_("Say how many dialogues are wanted."))
    if campaign.takes_checks and _has_other_checks(campaign):
        missing.append(
            _(
                "Training and attention items show something else than the campaign's other items: "
                "remove them and upload them again."
            )
        )
    return missing + (_what_a_form_rules_out(campaign) if campaign.form is not None else [])


def _has_other_checks(campaign: Campaign) -> bool:
    """They were uploaded for another kind, or another number of systems."""
    of_turns, responses = is_of_turns(campaign), responses_of_check(campaign)
    checks = campaign.items.exclude(role=Item.Role.REGULAR).annotate(turns=Count("dialogue__turns"))
    return any(
        (turn is not None) != of_turns or len(texts) != responses * (1 if of_turns else turns)
        for turn, turns, texts in checks.values_list("turn_id", "turns", "texts")
        if texts or responses > 1  # else a system's response is shown
    )


def _what_comparing_needs(campaign: Campaign) -> list[str]:
    missing, systems = [], campaign.systems.count()
    if systems < 2:
        missing.append(_("Choose at least two systems: raters compare them."))
    elif campaign.kind == Campaign.Kind.SYSTEMS and systems > MOST_SYSTEMS:
        missing.append(
            _("Choose at most %(most)s systems: raters see all of them at once.")
            % {"most": MOST_SYSTEMS}
        )
    elif campaign.pairs is not None and campaign.pairs < systems - 1:
        missing.append(
            _("Draw at least %(least)s pairs: fewer do not connect %(systems)s systems.")
            % {"least": systems - 1, "systems": systems}
        )
    if campaign.form is None:
        missing.append(_("Choose a template, or write the questions: raters compare by a form."))
    elif campaign.is_looked_at and compared_question(campaign) is None:
        missing.append(
            _(
                "Ask for a preference, by which systems are ranked while raters work, or "
                "change the settings."
            )
        )
    return missing


def _what_a_form_rules_out(campaign: Campaign) -> list[str]:
    """What does not go with the form."""
    missing = []
    if not is_about(campaign.form.parsed(), campaign.kind):
        missing.append(_("Choose another form: this one is not about what raters see here."))
    if campaign.is_looked_at and not campaign.compares and not main_aspect(campaign):
        missing.append(
            _(
                "Ask a question that gives scores, by which systems are ranked while raters work, "
                "or change the settings."
            )
        )
    checks = campaign.items.exclude(role=Item.Role.REGULAR)
    scale = scale_of_checks(campaign)
    if scale is not None:
        checks = checks.filter(Q(lowest__lt=scale[0]) | Q(highest__gt=scale[1]))
    if checks.exists():
        missing.append(
            _(
                "Training and attention items have a range that is not on the scale of the form's "
                "main question: remove them and upload them again."
            )
        )
    return missing


def open_campaign(campaign: Campaign, by: Any = None) -> Opened:
    """Make items and slots and open, or do nothing of it. Raises ``NotReady``.

    1. The draft gets a lease: it can be neither changed nor opened by anybody else.
    2. What a killed process had made of an opening is removed; items and slots are made.
    3. One transaction opens the campaign. Where something fails before, they are removed again.
    """
    draft = _leased(campaign)
    try:
        remove_items(draft)
        opened = Opened(0, 0) if draft.kind == Campaign.Kind.COLLECTION else _lay_out(draft)
        with transaction.atomic():
            staging.release(draft, state=Campaign.State.OPEN, opened_at=timezone.now())
            audit.record(
                by,
                "campaign.opened",
                draft,
                campaign=draft.slug,
                items=opened.items,
                slots=opened.slots,
                seed=draft.seed,
            )
    except staging.LeaseLost:
        message = _("The campaign was deleted, or took too long to open. Try again.")
        raise NotReady([message]) from None
    except BaseException:
        abandon(draft)
        raise
    campaign.refresh_from_db()
    return opened


def is_being_opened(campaign: Campaign) -> bool:
    """While the process that opens it lives, as far as one can tell."""
    return bool(campaign.lease_expires_at and campaign.lease_expires_at > timezone.now())


def abandon(draft: Campaign) -> None:
    """The draft is as it was before somebody began to open it. The caller owns it."""
    try:
        remove_items(draft)
        staging.release(draft)
    except staging.LeaseLost:
        return


def remove_items(campaign: Campaign) -> None:
    """Items of which nothing was rated, and their slots. Training and attention items stay. Raises
    ``LeaseLost``."""
    for rows in (campaign.slots.all(), campaign.items.filter(role=Item.Role.REGULAR)):
        staging.delete_in_steps(
            rows,
            lambda: staging.renew(campaign),
            lambda some: some._raw_delete(some.db),
        )


def _leased(campaign: Campaign) -> Campaign:
    with transaction.atomic():
        draft = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if draft.state != Campaign.State.DRAFT:
            raise NotReady([_("The campaign was opened already.")])
        if is_being_opened(draft):
            raise NotReady([_("The campaign is being opened. Wait until that is done.")])
        if missing := what_is_missing(draft):
            raise NotReady(missing)
        for name, value in staging.new_lease().items():
            setattr(draft, name, value)
        draft.save(update_fields=["lease_token", "lease_expires_at"])
    return draft


def _lay_out(campaign: Campaign) -> Opened:
    question = question_of(campaign)
    _refuse_unless_fits(campaign, planned_items(question).items)
    items = _store_items(campaign, question)
    order = interleave([item[1] for item in items], campaign.raters_per_item, campaign.seed)
    used = [0] * len(items)
    swapped: list[bool | None] = [None] * len(items)
    if campaign.is_of_pairs:
        swapped = list(first_orders([(one, other) for *_, one, other in items], campaign.seed))

    def slots() -> Iterator[tuple[int, int, int, int, bool | None]]:
        for ordinal, index in enumerate(order.tolist()):
            used[index] += 1
            yield campaign.pk, items[index][0], used[index], ordinal, swapped[index]
            if campaign.is_of_pairs:
                swapped[index] = not swapped[index]

    return Opened(len(items), staging.insert(campaign, Slot, SLOT_COLUMNS, slots()))


def _refuse_unless_fits(campaign: Campaign, items: int) -> None:
    slots = items * campaign.raters_per_item
    if not items:
        missing = _("These settings make no items: no chosen system answered the chosen dialogues.")
        raise NotReady([missing])
    if slots > MOST_SLOTS:
        raise NotReady(
            [
                _(
                    "%(slots)s ratings are more than a campaign takes (%(most)s). Draw fewer "
                    "dialogues."
                )
                % {"slots": f"{slots:,}", "most": f"{MOST_SLOTS:,}"}
            ]
        )
    if campaign.is_looked_at and slots > MOST_LOOKED_AT:
        raise NotReady(
            [
                _(
                    "%(slots)s ratings are too many to be looked at while raters work (at most "
                    "%(most)s). Draw fewer."
                )
                % {"slots": f"{slots:,}", "most": f"{MOST_LOOKED_AT:,}"}
            ]
        )


ITEM_COLUMNS = (
    *(
        "campaign",
        "public_id",
        "role",
        "position",
        "dialogue",
        "turn",
        "system",
        "response",
        "chat_system",
        "system_b",
        "response_b",
    ),
    *("texts", "feedback"),
)
SLOT_COLUMNS = ("campaign", "item", "place", "ordinal", "is_swapped")


def _store_items(campaign: Campaign, question: Question) -> list[tuple[int, int, int, int]]:
    """(item, dialogue, system, second system) as stored."""
    rows = (
        (
            campaign.pk,
            item.public_id,
            item.role,
            item.position,
            item.dialogue_id,
            item.turn_id,
            item.system_id,
            item.response_id,
            item.chat_system_id,
            item.system_b_id,
            item.response_b_id,
            "[]",
            "",
        )
        for item in items_to_make(question)
    )
    try:
        staging.insert(campaign, Item, ITEM_COLUMNS, rows)
    except NotConnected as fault:
        raise NotReady([_apart(question, fault)]) from None
    regular = campaign.items.filter(role=Item.Role.REGULAR)
    columns = ("pk", "dialogue_id", "system_id", "system_b_id")
    return list(regular.order_by("pk").values_list(*columns))


def _apart(question: Question, fault: NotConnected) -> str:
    names = {system.pk: system.name for system in question.systems}
    groups = "; ".join(", ".join(names[one] for one in group) for group in fault.groups)
    return _(
        "These groups of systems never answered at the same place, so no ranking could be made of "
        "all: %(groups)s. Leave some out, or draw other dialogues."
    ) % {"groups": groups}
