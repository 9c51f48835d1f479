"""What a rater's pages show: the campaigns one rates in, how far one is, and each item without a
word of its system."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, reduce
from operator import or_
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Guidelines,
    Item,
    Message,
    Participation,
    Slot,
)
from annotations.corpora.shown_messages import SHOWN_AT_ONCE, ShownText, shown_message, shown_text
from annotations.formats.records import ASSISTANT, TARGET_SPEAKER
from annotations.models import Dialogue, Response, Turn

TOTAL_IS_TRUE_FOR_SECONDS = 30


# --- items ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance. ``judged`` is what the rater rates; ``given`` is the original dialogue's own
    answer, which the history goes on with whatever the system said."""

    speaker: str
    text: str
    judged: bool = False
    given: bool = False
    place: int = 0
    """Of a judged line: which of the judged lines it is, from 1."""
    content: ShownText | None = None
    """Of a conversation of roles: the text with its Markdown and tool calls."""
    is_target: bool = False
    is_folded: bool = False
    tags: tuple[Any, ...] = ()
    """Of a judged line: the labels that a form's questions give it (``question_view.Row``)."""

    @property
    def side(self) -> str:
        """At which side of the page it stands."""
        if self.content is None:
            return self.speaker.lower()
        return "b" if self.is_target else "a"


@dataclass(frozen=True, slots=True)
class Part:
    """What was said since the part before, and then the judged answer."""

    number: int
    lines: tuple[Line, ...]
    is_pair: bool = False
    """The last two lines are two systems' answers, one beside the other."""
    listed: int = 0
    """So many of the last lines are systems' answers, which are compared with each other."""

    @property
    def arms(self) -> int:
        return 2 if self.is_pair else self.listed

    @property
    def pair(self) -> tuple[Line, ...]:
        """What is compared: two answers, or a list of them."""
        return self.lines[len(self.lines) - self.arms :]

    @property
    def stacked(self) -> tuple[Line, ...]:
        """One below the other."""
        return self.lines[: len(self.lines) - self.arms]

    @property
    def earlier(self) -> tuple[Line, ...]:
        """Shown folded."""
        return self.stacked[:-SHOWN_AT_ONCE]

    @property
    def shown(self) -> tuple[Line, ...]:
        return self.stacked[-SHOWN_AT_ONCE:]


@dataclass(frozen=True, slots=True)
class ItemView:
    """All that a browser may know of an item. Attention items have nothing that regular ones have
    not."""

    public_id: str
    shape: str
    """"turn" | "dialogue" | "chat" """
    persona: tuple[str, ...]
    partner_persona: tuple[str, ...]
    parts: tuple[Part, ...]
    judged: int
    """How many answers are judged together; of a pair, those of each system."""
    practice: bool = False
    """Training items say so: feedback follows."""
    of_roles: bool = False
    """A conversation of messages with roles, not of A and B."""

    @property
    def is_pair(self) -> bool:
        return any(part.is_pair for part in self.parts)

    @property
    def listed(self) -> int:
        """How many answers are compared with each other, where it is a list of them."""
        return self.parts[0].listed if self.parts else 0


def item_view(item: Item, *, markdown: bool = True) -> ItemView:
    """As a rater sees it. An item of an interactive campaign has no answers before its chat: its
    parts are empty."""
    return item_views([item], markdown=markdown)[0]


def item_views(items: Sequence[Item], *, markdown: bool = True) -> list[ItemView]:
    """In the order given, with at most three queries for all of them together."""
    whole = [item for item in items if item.turn_id is None and item.chat_system_id is None]
    turns = _turns_of({item.dialogue_id: item.dialogue for item in whole})
    answers = _answers_of(whole)
    return [_view(item, turns, answers, markdown) for item in items]


def assignment_views(assignments: Sequence[Assignment], *, markdown: bool = True) -> list[ItemView]:
    """Of what raters have in hand; a finished chat is shown with the system's utterances as the
    judged ones.

    What is shown of an item is read here, unless it came with the item, as it does when one is
    claimed.
    """
    bare = [one.item_id for one in assignments if not Item.dialogue.is_cached(one.item)]
    shown = Item.objects.select_related("dialogue", "turn", "response", "response_b")
    read = shown.in_bulk(bare) if bare else {}
    items = [read.get(one.item_id, one.item) for one in assignments]
    views = item_views(items, markdown=markdown)
    listed = [
        pk
        for item, one in zip(items, assignments, strict=True)
        if not item.texts
        for pk in one.shown or ()
    ]
    answers = Response.objects.in_bulk(listed)
    return [
        _chat_view(view, one)
        if one.item.chat_system_id is not None
        else _swapped(view)
        if one.is_swapped
        else listed_view(
            view,
            item,
            [Response(text=item.texts[place]) for place in one.shown]
            if item.texts
            else [answers[pk] for pk in one.shown if pk in answers],
            markdown=markdown,
        )
        if one.shown
        else view
        for view, item, one in zip(views, items, assignments, strict=True)
    ]


def responses_of_list(item: Item) -> list[Response]:
    """Of a list that no rater holds: the systems' responses in the order of the systems."""
    responses = Response.objects.filter(turn=item.turn_id, system__campaigns=item.campaign)
    return list(responses.order_by("system__position"))


def listed_view(
    view: ItemView, item: Item, responses: Sequence[Response], *, markdown: bool = True
) -> ItemView:
    """An item of a list, with these responses in this order."""
    (part,) = view.parts
    history = tuple(line for line in part.lines if not line.judged)
    judged = tuple(
        _judged_line(item.dialogue, (one.text, one.parts), place, markdown)
        for place, one in enumerate(responses, start=1)
    )
    listed = replace(part, lines=(*history, *judged), is_pair=False, listed=len(judged))
    return replace(view, parts=(listed,))


def _swapped(view: ItemView) -> ItemView:
    """A pair in the other order. Places are those on the page."""
    parts = []
    for part in view.parts:
        first, second = part.pair
        shown = replace(second, place=first.place), replace(first, place=second.place)
        parts.append(replace(part, lines=(*part.stacked, *shown)))
    return replace(view, parts=tuple(parts))


def _turns_of(dialogues: Mapping[int, Dialogue]) -> dict[int, list[Turn]]:
    found: dict[int, list[Turn]] = defaultdict(list)
    if dialogues:
        for turn in Turn.objects.filter(dialogue__in=dialogues).order_by("dialogue", "number"):
            turn.dialogue = dialogues[turn.dialogue_id]
            found[turn.dialogue_id].append(turn)
    return found


Answer = tuple[str, Sequence[Mapping[str, Any]]]
"""What a system answered: text and parts."""


def _answers_of(items: Iterable[Item]) -> dict[tuple[int, int], Answer]:
    """(system, turn) → answer, of the items that have no text of the organiser's own."""
    wanted = [
        Q(system=system, turn__dialogue=item.dialogue_id)
        for item in items
        for system in (item.system_id, item.system_b_id)
        if not item.texts and system is not None
    ]
    if not wanted:
        return {}
    rows = Response.objects.filter(reduce(or_, wanted)).values_list(
        "system_id", "turn_id", "text", "parts"
    )
    return {(system, turn): (text, parts) for system, turn, text, parts in rows}


def _view(
    item: Item,
    turns: dict[int, list[Turn]],
    answers: dict[tuple[int, int], Answer],
    markdown: bool,
) -> ItemView:
    if item.chat_system_id is not None:
        shape, parts = "chat", ()
    elif item.turn_id is not None:
        item.turn.dialogue = item.dialogue
        shown: list[Answer] = [(str(text), ()) for text in item.texts] or [
            (one.text, one.parts) for one in (item.response, item.response_b) if one is not None
        ]
        judged = [
            _judged_line(item.dialogue, answer, place, markdown)
            for place, answer in enumerate(shown or [("", ())], start=1)
        ]
        lines = (*_history(item.turn, 0, markdown), *judged)
        shape, parts = "turn", (Part(1, lines, len(judged) == 2),)
    else:
        shape = "dialogue"
        parts = _dialogue_parts(item, turns[item.dialogue_id], answers, markdown)
    return ItemView(
        public_id=item.public_id,
        shape=shape,
        persona=tuple(item.dialogue.persona),
        partner_persona=tuple(item.dialogue.partner_persona),
        parts=parts,
        judged=len(parts),
        practice=item.role == Item.Role.TRAINING,
        of_roles=bool(item.dialogue.messages),
    )


def _history(turn: Turn, start: int, markdown: bool) -> tuple[Line, ...]:
    """What stands before the answer, from this utterance on. Of messages nothing after the turn's
    point is read: it may be the gold answer."""
    if turn.after is None:
        return tuple(Line(speaker, text) for speaker, text in turn.own_context[start:])
    shown = [
        shown_message(message, markdown=markdown, blind=True)
        for message in turn.dialogue.messages[start : turn.after]
    ]
    return tuple(
        Line(
            one.speaker,
            one.content.text,
            content=one.content,
            is_target=one.is_target,
            is_folded=one.is_folded,
        )
        for one in shown
    )


def _judged_line(dialogue: Dialogue, answer: Answer, place: int, markdown: bool) -> Line:
    text, parts = answer
    if not dialogue.messages and not parts:
        return Line("B", text, judged=True, place=place)
    content = shown_text(text, parts, markdown=markdown and bool(dialogue.messages))
    speaker = ASSISTANT if dialogue.messages else TARGET_SPEAKER
    return Line(speaker, text, judged=True, place=place, content=content, is_target=True)


def _dialogue_parts(
    item: Item,
    turns: Sequence[Turn],
    answers: dict[tuple[int, int], Answer],
    markdown: bool,
) -> tuple[Part, ...]:
    """Each turn adds to the history what was really said since the turn before: B's original answer
    and A's next."""
    parts = []
    shown: list[list[str]] = []
    for place, turn in enumerate(turns):
        context = list(turn.context)
        is_longer = context[: len(shown)] == shown
        own: list[Answer] = [(str(text), ()) for text in item.texts[place :: len(turns)]]
        if not own:
            systems = [item.system_id or 0, *filter(None, [item.system_b_id])]
            own = [answers.get((system, turn.pk), ("", ())) for system in systems]
        lines = [
            replace(line, given=place > 0 and (line.is_target or line.speaker == TARGET_SPEAKER))
            for line in _history(turn, len(shown) if is_longer else 0, markdown)
        ]
        judged = (
            _judged_line(item.dialogue, answer, place * len(own) + number, markdown)
            for number, answer in enumerate(own, 1)
        )
        parts.append(Part(place + 1, (*lines, *judged), len(own) == 2))
        shown = context
    return tuple(parts)


def _chat_view(view: ItemView, assignment: Assignment) -> ItemView:
    messages = Message.objects.filter(
        conversation__assignment=assignment, state=Message.State.DONE
    ).order_by("number")
    lines: list[Line] = []
    judged = 0
    for message in messages:
        judged += message.speaker == "B"
        lines.append(Line(message.speaker, message.text, message.speaker == "B", place=judged))
    return replace(view, shape="chat", parts=(Part(1, tuple(lines)),), judged=judged)


def chat_is_to_come(assignment: Assignment) -> bool:
    """An item of an interactive campaign whose chat the rater has not finished."""
    if assignment.item.chat_system_id is None:
        return False
    conversation = getattr(assignment, "conversation", None)
    return conversation is None or conversation.finished_at is None


# --- one's own ratings ----------------------------------------------------------------------------


def own_assignment(participation: Participation, public_id: str) -> Assignment | None:
    """What was given to this rater under this id and is rated or in hand."""
    if "\0" in public_id:  # of an address that somebody made up; PostgreSQL takes no such text
        return None
    return (
        Assignment.objects.select_related("item", "current")
        .filter(participation=participation, item__public_id=public_id)
        .filter(state__in=[Assignment.State.DONE, Assignment.State.LEASED])
        .first()
    )


def rated_before(participation: Participation, position: int | None = None) -> str | None:
    """The public id of the item rated last (or last before that ``position``). Training is over
    once rated."""
    rated = Assignment.objects.filter(
        participation=participation, state=Assignment.State.DONE
    ).exclude(item__role=Item.Role.TRAINING)
    if position is not None:
        rated = rated.filter(position__lt=position)
    return rated.order_by("-position").values_list("item__public_id", flat=True).first()


def own_ratings(participation: Participation) -> QuerySet[Assignment]:
    """What this rater rated, newest first; attention items are among them as any other, training
    is over once rated."""
    return (
        Assignment.objects.filter(participation=participation, state=Assignment.State.DONE)
        .exclude(item__role=Item.Role.TRAINING)
        .select_related("item__dialogue", "item__turn", "current__form")
        .select_related("item__response", "item__response_b")
        .order_by("-position")
    )


# --- how far --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one rater. ``total`` is this rater's share of the work while all active raters do alike;
    who goes on after that, because others do less, has more."""

    done: int
    total: int

    @property
    def number(self) -> int:
        """Of the item that comes now, from 1."""
        return self.done + 1

    def as_json(self) -> dict[str, int]:
        return {"done": self.done, "total": self.total}


def progress_of(participation: Participation, in_hand: int = 0) -> Progress:
    done, campaign = participation.rated, participation.campaign
    # Changes when the cached total is to be counted again
    period = int(time.monotonic() / TOTAL_IS_TRUE_FOR_SECONDS)
    share = _share(campaign.pk, campaign.opened_at, campaign.raters_per_item, period)
    return Progress(done, max(share, done + in_hand))


@lru_cache(maxsize=256)
def _share(
    campaign: int,
    opened_at: datetime | None,  # noqa: ARG001  only for the cache
    raters_per_item: int,
    at: int,  # noqa: ARG001  only for the cache
) -> int:
    """Items of one rater, if all do alike: the slots divided by the active raters, at most every
    item once.

    Asked at every rating and the same for all raters of a campaign, so it is kept while ``at`` is
    the same. Slots are numbered from 0 without gaps: the greatest number says how many there are,
    however many there are.
    """
    last = Slot.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"]
    slots = 0 if last is None else last + 1
    active = Participation.objects.filter(campaign=campaign, state=Participation.State.ACTIVE)
    raters = active.filter(removed_at=None).count()
    checks = Item.objects.filter(campaign=campaign).exclude(role=Item.Role.REGULAR).count()
    items = -(-slots // max(1, raters_per_item))
    return min(items, -(-slots // max(1, raters))) + checks


# --- campaigns of a rater -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OwnCampaign:
    campaign: Campaign
    progress: Progress | None
    """None where one has not joined yet, and for collections of dialogues."""
    joined: bool
    state: str
    """"open" | "soon" | "over" | "paused" | "closed" | "excluded" | "failed" """


def own_campaigns(user: Any, now: datetime) -> list[OwnCampaign]:
    """Those that one takes part in, and open ones that one's groups may join; open ones first."""
    taking_part = list(
        Participation.objects.filter(user=user, removed_at=None)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .select_related("campaign")
        .order_by("-joined_at")
    )
    own = [
        OwnCampaign(
            one.campaign,
            None if one.campaign.kind == Campaign.Kind.COLLECTION else progress_of(one),
            True,
            state_for(one, now),
        )
        for one in taking_part
    ]
    own += [
        OwnCampaign(campaign, None, False, _state_of(campaign, now)) for campaign in _may_join(user)
    ]
    return sorted(own, key=lambda one: one.state != "open")


def waiting_for(
    user: Any, now: datetime, most: int, *, joined_only: bool = False
) -> list[OwnCampaign]:
    """The open campaigns in which one has something left to do, the ones joined last before the
    others, then those that one may join, unless ``joined_only``. For an overview: at most ``most``,
    and nothing is counted for more."""
    taking_part = (
        Participation.objects.filter(
            user=user,
            campaign__state=Campaign.State.OPEN,
            state=Participation.State.ACTIVE,
            removed_at=None,
        )
        .exclude(qualification=Participation.Qualification.FAILED)
        .select_related("campaign")
        .order_by("-joined_at", "-pk")
    )
    open_now = [one for one in taking_part if _state_of(one.campaign, now) == "open"][:most]
    found = [
        OwnCampaign(
            one.campaign,
            None if one.campaign.kind == Campaign.Kind.COLLECTION else progress_of(one),
            True,
            "open",
        )
        for one in open_now
    ]
    found = [one for one in found if one.progress is None or one.progress.done < one.progress.total]
    if len(found) < most and not joined_only:
        may_join = [
            one for one in _may_join(user).order_by("-pk")[:most] if _state_of(one, now) == "open"
        ]
        found += [OwnCampaign(one, None, False, "open") for one in may_join]
    return found[:most]


def takes_part_in_any(user: Any) -> bool:
    """Whether the user rates, or has rated, in a campaign that was opened."""
    own = Participation.objects.filter(user=user, removed_at=None)
    return own.exclude(campaign__state=Campaign.State.DRAFT).exists()


def _may_join(user: Any) -> QuerySet[Campaign]:
    """Open ones of one's groups in which one does not take part."""
    return (
        Campaign.objects.filter(state=Campaign.State.OPEN, groups__user=user)
        .exclude(Exists(Participation.objects.filter(campaign=OuterRef("pk"), user=user)))
        .distinct()
    )


def state_for(participation: Participation, now: datetime) -> str:
    if participation.state == Participation.State.EXCLUDED:
        return "excluded"
    if participation.qualification == Participation.Qualification.FAILED:
        return "failed"
    return _state_of(participation.campaign, now)


def _state_of(campaign: Campaign, now: datetime) -> str:
    if campaign.state != Campaign.State.OPEN:
        return campaign.state
    if campaign.opens_at is not None and now < campaign.opens_at:
        return "soon"
    if campaign.closes_at is not None and now >= campaign.closes_at:
        return "over"
    return "open"


def participation_in(user: Any, slug: str) -> Participation | None:
    return (
        Participation.objects.select_related("campaign__version__corpus", "guidelines_read")
        .filter(campaign__slug=slug, user=user, removed_at=None)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .first()
    )


def current_guidelines(campaign: Campaign) -> Guidelines | None:
    return Guidelines.objects.filter(campaign=campaign).order_by("-number").first()
