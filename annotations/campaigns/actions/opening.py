"""Opening a campaign: from now on its items and slots exist, and what is asked stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.models import Campaign, Item, Slot
from annotations.campaigns.plan.layout import interleave
from annotations.campaigns.queries.planning import Question, items_to_make, question_of

BATCH = 10_000
MOST_SLOTS = 2_000_000
"""More than a research group will ever have rated; a slip in a field must not fill the disk."""
MOST_LOOKED_AT = 100_000
"""Where ratings are spread adaptively or a target ends them: a rater's request looks at all of them
now and then."""

Thing = TypeVar("Thing")


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
    return missing


def open_campaign(campaign: Campaign, by: Any = None) -> Opened:
    """Make items and slots and open, or do nothing of it. Raises ``NotReady``.

    Twice at once makes one set: the second waits for the campaign's row and then finds it open.
    """
    with transaction.atomic():
        stored = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if stored.state != Campaign.State.DRAFT:
            raise NotReady([_("The campaign was opened already.")])
        if missing := what_is_missing(stored):
            raise NotReady(missing)
        opened = (
            Opened(0, 0)
            if stored.kind == Campaign.Kind.COLLECTION
            else _lay_out(stored, question_of(stored))
        )
        stored.state, stored.opened_at = Campaign.State.OPEN, timezone.now()
        stored.save(update_fields=["state", "opened_at"])
        audit.record(
            by,
            "campaign.opened",
            stored,
            campaign=stored.slug,
            items=opened.items,
            slots=opened.slots,
            seed=stored.seed,
        )
    campaign.refresh_from_db()
    return opened


def _lay_out(campaign: Campaign, question: Question) -> Opened:
    items = _store_items(campaign, items_to_make(question))
    if not items:
        raise NotReady(
            [_("These settings make no items: no chosen system answered the chosen dialogues.")]
        )
    slots = len(items) * campaign.raters_per_item
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
    order = interleave([dialogue for _, dialogue in items], campaign.raters_per_item, campaign.seed)
    _store_slots(campaign, [item for item, _ in items], order.tolist())
    return Opened(len(items), slots)


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
    ),
    *("texts", "feedback"),
)
SLOT_COLUMNS = ("campaign", "item", "place", "ordinal")


def _store_items(campaign: Campaign, planned: Iterable[Item]) -> list[tuple[int, int]]:
    """(item, dialogue) pairs as stored."""
    most = MOST_SLOTS // campaign.raters_per_item + 1  # one too many is enough to refuse them all
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
            "[]",
            "",
        )
        for item in islice(planned, most)
    )
    _insert(Item, ITEM_COLUMNS, rows)
    return list(
        campaign.items.filter(role=Item.Role.REGULAR)
        .order_by("pk")
        .values_list("pk", "dialogue_id")
    )


def _store_slots(campaign: Campaign, items: Sequence[int], order: Iterable[int]) -> None:
    given = [0] * len(items)

    def rows() -> Iterator[tuple[int, int, int, int]]:
        for ordinal, item in enumerate(order):
            given[item] += 1
            yield campaign.pk, items[item], given[item], ordinal

    _insert(Slot, SLOT_COLUMNS, rows())


def _insert(model: type[Model], fields: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Plain values go to the database as they are: with a model object for each of a million rows
    it takes five times as long."""
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    columns = ", ".join(quote(model._meta.get_field(field).column) for field in fields)
    with connection.cursor() as cursor:
        # Our names.
        insert = f"INSERT INTO {table} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"  # noqa: S608
        for batch in _batches(
            rows
        ):  # read before COPY begins: the rows may come from the same connection
            if connection.vendor != "postgresql":
                cursor.executemany(insert, batch)
                continue
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in batch:
                    copy.write_row(row)


def _batches(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    stream = iter(things)
    while batch := list(islice(stream, BATCH)):
        yield batch
