"""Rooms in which two raters write a dialogue: met, spoken in, left. Every write of these pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from annotations.campaigns.models import Campaign, Line, Participation, Room
from annotations.personas import Knowledge, load_knowledge, make_pair

PRESENCE_SECONDS = 5
"""A page that asks every two seconds is not a write every two seconds."""
WAITING_SECONDS = 90
"""Who waits and has not been heard of for so long is not there. Browsers let a page in the
background ask once a minute."""
DESERTED_HOURS = 6
"""A pair may agree on a pause, and comes back the same day. What both have left for longer is
nobody's dialogue any more, and would keep others from writing one that is wanted."""

OPEN_STATES = (Room.State.WAITING, Room.State.TALKING)
LEFT_WHILE_WAITING = "left before a partner came"
LEFT_BY_BOTH = f"both stayed away for more than {DESERTED_HOURS} hours"


class NoFreeChat(Exception):
    """The rater cannot meet anybody now. ``why`` is "paused", "not_open", "closed", "excluded" or
    "enough"."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class NotYourChat(Exception):
    """There is no such room, or the rater is not one of its two."""


class OutOfTurn(Exception):
    """The partner must write first."""


class ChatClosed(Exception):
    """The dialogue is finished or abandoned, or has not begun; nothing can be said in it."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    line: Line
    room: Room
    is_new: bool
    """False where the same key had come before: nothing was written."""


def meet(participation: Participation) -> Room:
    """The rater's room: the one that is open, else one in which somebody waits, else a new one to
    wait in.

    One rater of a campaign meets at a time, so two who come together find each other. Raises
    ``NoFreeChat``.
    """
    with transaction.atomic():
        campaign = Campaign.objects.select_for_update(no_key=True).get(pk=participation.campaign_id)
        now = timezone.now()
        own = Q(rater_a=participation) | Q(rater_b=participation)
        if chat := Room.objects.filter(own, state__in=OPEN_STATES, campaign=campaign).first():
            note_presence(chat, participation, now)
            return chat
        if why := why_no_chat(campaign, participation, now):
            raise NoFreeChat(why)
        _close_forsaken(campaign, now)
        if chat := _taken(campaign, participation, now):
            return chat
        wanted = campaign.dialogues_per_system
        if wanted is not None and dialogues_under_way(campaign) >= wanted:
            raise NoFreeChat("enough")
        number = (campaign.rooms.aggregate(last=Max("number"))["last"] or 0) + 1
        persona_a, persona_b = make_pair(_knowledge(), f"{campaign.seed}/{number}")
        return Room.objects.create(
            campaign=campaign,
            number=number,
            persona_a=list(persona_a.sentences),
            persona_b=list(persona_b.sentences),
            rater_a=participation,
            seen_a_at=now,
        )


def why_no_chat(campaign: Campaign, participation: Participation, now: datetime) -> str:
    """Why this rater cannot be in any room; "" where the campaign and the rater allow it."""
    if not Participation.objects.get(pk=participation.pk).takes_part:
        return "excluded"
    if campaign.assigns_items(now):
        return ""
    if campaign.state == Campaign.State.PAUSED:
        return "paused"
    return "not_open" if campaign.opens_at and now < campaign.opens_at else "closed"


def _close_forsaken(campaign: Campaign, now: datetime) -> None:
    """Rooms in which nobody is any more must neither be joined nor count as dialogues under way."""
    silent, deserted = (
        now - timedelta(seconds=WAITING_SECONDS),
        now - timedelta(hours=DESERTED_HOURS),
    )
    waiting = campaign.rooms.filter(state=Room.State.WAITING, seen_a_at__lt=silent)
    talking = campaign.rooms.filter(
        state=Room.State.TALKING, seen_a_at__lt=deserted, seen_b_at__lt=deserted
    )
    for forsaken, reason in ((waiting, LEFT_WHILE_WAITING), (talking, LEFT_BY_BOTH)):
        forsaken.update(state=Room.State.ABANDONED, finished_at=now, end_reason=reason)


def _taken(campaign: Campaign, participation: Participation, now: datetime) -> Room | None:
    waiting = campaign.rooms.filter(
        state=Room.State.WAITING,
        rater_a__state=Participation.State.ACTIVE,
        rater_a__removed_at=None,
    )
    for chat in waiting.exclude(rater_a=participation).order_by("number"):
        taken = Room.objects.filter(pk=chat.pk, state=Room.State.WAITING).update(
            state=Room.State.TALKING, rater_b=participation, seen_b_at=now
        )
        if taken:
            chat.refresh_from_db()
            return chat
    return None


def dialogues_under_way(campaign: Campaign) -> int:
    """Those that count towards what is wanted: finished and kept, being written, or waiting for a
    partner."""
    return campaign.rooms.exclude(state=Room.State.ABANDONED).exclude(left_out=True).count()


@lru_cache(maxsize=1)
def _knowledge() -> Knowledge:
    return load_knowledge()


def role_in(chat: Room, participation: Participation) -> str:
    """ "A" or "B"."""
    return "A" if chat.rater_a_id == participation.pk else "B"


def note_presence(chat: Room, participation: Participation, now: datetime) -> None:
    """The rater's page is open. Written at most every few seconds."""
    field = "seen_a_at" if role_in(chat, participation) == "A" else "seen_b_at"
    seen = getattr(chat, field)
    if seen is not None and now - seen < timedelta(seconds=PRESENCE_SECONDS):
        return
    Room.objects.filter(pk=chat.pk, state__in=OPEN_STATES).update(**{field: now})
    Participation.objects.filter(pk=participation.pk).update(seen_at=now)
    setattr(chat, field, now)


def partner_is_away(chat: Room, participation: Participation, now: datetime) -> bool:
    """Not heard of for as long as a rater may be silent."""
    seen = chat.seen_b_at if role_in(chat, participation) == "A" else chat.seen_a_at
    return seen is None or now - seen > timedelta(seconds=settings.RATING_LEASE_SECONDS)


def say(participation: Participation, public_id: str, text: str, key: str) -> SentMessage:
    """Store the next line. Idempotent by key. Raises ``NotYourChat``, ``ChatClosed``,
    ``OutOfTurn``."""
    with transaction.atomic():
        chat = _locked(participation, public_id)
        role = role_in(chat, participation)
        known = chat.lines.filter(key=key).first()
        if known is not None and known.speaker == role:
            return SentMessage(known, chat, is_new=False)
        if chat.state != Room.State.TALKING:
            raise ChatClosed(chat.state)
        number = chat.lines.count()
        if known is not None or role != speaker_of(number):
            raise OutOfTurn
        line = chat.lines.create(number=number, speaker=role, text=text, key=key)
        now = timezone.now()
        note_presence(chat, participation, now)
        if number + 1 >= participation.campaign.utterances:
            chat.state, chat.finished_at = Room.State.FINISHED, now
            chat.save(update_fields=["state", "finished_at"])
    return SentMessage(line, chat, is_new=True)


def speaker_of(number: int) -> str:
    """Who writes the line of this number, counted from 0: A begins."""
    return "A" if number % 2 == 0 else "B"


def leave(participation: Participation, public_id: str) -> Room:
    """End the meeting; both may meet others then. A finished dialogue stays finished. Raises
    ``NotYourChat``."""
    with transaction.atomic():
        chat = _locked(participation, public_id)
        if chat.state not in OPEN_STATES:
            return chat
        now = timezone.now()
        chat.end_reason = _why_left(chat, participation, now)
        chat.state, chat.finished_at = Room.State.ABANDONED, now
        chat.save(update_fields=["state", "finished_at", "end_reason"])
    return chat


def _why_left(chat: Room, participation: Participation, now: datetime) -> str:
    if chat.state == Room.State.WAITING:
        return LEFT_WHILE_WAITING
    role = role_in(chat, participation)
    if not partner_is_away(chat, participation, now):
        return f"{role} left the dialogue"
    partner = "B" if role == "A" else "A"
    seen = chat.seen_b_at if partner == "B" else chat.seen_a_at
    if seen is None:
        return f"{partner} never came"
    return f"{partner} was silent for {int((now - seen).total_seconds() // 60)} minutes"


def _locked(participation: Participation, public_id: str) -> Room:
    """The room alone: rooms are in the order of their campaigns, and the campaign's row would be
    locked with it, which who meets holds while taking a room."""
    chat = (
        Room.objects.select_for_update(no_key=True, of=("self",))
        .filter(Q(rater_a=participation) | Q(rater_b=participation), public_id=public_id)
        .first()
    )
    if chat is None:
        raise NotYourChat(public_id)
    return chat
