"""What the pages of a collection show: to its raters only their own side, to organisers
everything."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Min, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.campaigns.models import Campaign, CollectedCorpus, Line, Participation, Room
from annotations.campaigns.queries.ratings import form_of_campaign, main_aspect
from annotations.campaigns.rating_tables import badges_of
from annotations.corpora.queries import NotFound
from common.tables import Cell, Column, Row, Table

OPEN_STATES = (Room.State.WAITING, Room.State.TALKING)


@dataclass(frozen=True, slots=True)
class SentMessage:
    mine: bool
    text: str


@dataclass(frozen=True, slots=True)
class ChatView:
    """All that a browser of one of the two may know. The partner is nobody in particular."""

    public_id: str
    state: str
    persona: tuple[str, ...]
    lines: tuple[SentMessage, ...]
    wanted: int
    my_turn: bool
    partner_away: bool
    waited: timedelta

    @property
    def waited_words(self) -> str:
        minutes, seconds = divmod(int(self.waited.total_seconds()), 60)
        if minutes:
            return _("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": seconds}
        return _("%(seconds)d s") % {"seconds": seconds}

    @property
    def utterance_count(self) -> int:
        return len(self.lines)

    @property
    def signature(self) -> str:
        """Changes whenever something that the page shows has changed; while waiting, every ten
        seconds."""
        if self.state == Room.State.WAITING:
            return f"waiting-{int(self.waited.total_seconds()) // 10}"
        return f"{self.state}-{self.utterance_count}-{'away' if self.partner_away else 'here'}"


@dataclass(frozen=True, slots=True)
class Collected:
    finished: int
    talking: int
    waiting: int
    abandoned: int
    left_out: int
    wanted: int | None

    @property
    def included(self) -> int:
        return self.finished - self.left_out


def room_of(participation: Participation, public_id: str) -> Room:
    """Raises ``NotFound`` where the rater is not one of the room's two."""
    chat = Room.objects.filter(
        Q(rater_a=participation) | Q(rater_b=participation),
        public_id=public_id,
        campaign=participation.campaign_id,
    ).first()
    if chat is None:
        raise NotFound("there is no such room")
    return chat


def current_chat(participation: Participation) -> Room | None:
    """The room that the rater waits or writes in."""
    return Room.objects.filter(
        Q(rater_a=participation) | Q(rater_b=participation),
        campaign=participation.campaign_id,
        state__in=OPEN_STATES,
    ).first()


def chat_view(chat: Room, participation: Participation) -> ChatView:
    now = timezone.now()
    mine = "A" if chat.rater_a_id == participation.pk else "B"
    lines = tuple(SentMessage(line.speaker == mine, line.text) for line in chat.lines.all())
    partner_seen = chat.seen_b_at if mine == "A" else chat.seen_a_at
    silent = (now - partner_seen).total_seconds() if partner_seen else 0
    talking = chat.state == Room.State.TALKING
    return ChatView(
        public_id=chat.public_id,
        state=chat.state,
        persona=tuple(chat.persona_a if mine == "A" else chat.persona_b),
        lines=lines,
        wanted=participation.campaign.utterances,
        my_turn=talking and mine == ("A" if len(lines) % 2 == 0 else "B"),
        partner_away=talking and silent > settings.RATING_LEASE_SECONDS,
        waited=now - chat.created_at,
    )


def dialogues_by(participation: Participation) -> int:
    """How many dialogues this rater has finished."""
    return Room.objects.filter(
        Q(rater_a=participation) | Q(rater_b=participation),
        campaign=participation.campaign_id,
        state=Room.State.FINISHED,
    ).count()


def collected(campaign: Campaign) -> Collected:
    counts = campaign.rooms.aggregate(
        **{state.value: Count("pk", filter=Q(state=state)) for state in Room.State},
        left_out=Count("pk", filter=Q(state=Room.State.FINISHED, left_out=True)),
    )
    return Collected(**counts, wanted=campaign.dialogues_per_system)


def corpus_of(campaign: Campaign) -> CollectedCorpus | None:
    return CollectedCorpus.objects.select_related("corpus").filter(campaign=campaign).first()


def checks_of(campaign: Campaign) -> list[Campaign]:
    """Campaigns that ask raters of whole dialogues of the collected corpus a yes/no question, such
    as an ethics check."""
    asking = Campaign.objects.filter(
        version__corpus__collected_by__campaign=campaign, kind=Campaign.Kind.DIALOGUE
    )
    return [
        one
        for one in asking.order_by("pk")
        if (form := form_of_campaign(one))
        and (key := main_aspect(one))
        and form.question(key).type == "yes_no"
    ]


def finished_chat(campaign: Campaign, public_id: str) -> Room:
    """A room with lines, for the organiser to read. Raises ``NotFound``."""
    chats = campaign.rooms.select_related("rater_a", "rater_b").prefetch_related("lines")
    chat = None if "\0" in public_id else chats.filter(public_id=public_id).first()
    if chat is None:
        raise NotFound("there is no such dialogue")
    return chat


def chats_with_utterances(campaign: Campaign) -> Sequence[Room]:
    """All rooms but those in which nothing was said and nobody is any more."""
    chats = campaign.rooms.select_related("rater_a", "rater_b").annotate(
        utterance_count=Count("lines"), begun=Min("lines__created_at")
    )
    return list(chats.exclude(state=Room.State.ABANDONED, utterance_count=0).order_by("number"))


def chats_table(campaign: Campaign, address: str) -> Table:
    """One row a room; ``address`` is this page's, to which the name of a dialogue to read is
    added."""
    columns = (
        Column("dialogue", _("Dialogue"), "link"),
        Column("state", _("State")),
        Column("utterances", _("Utterances"), "number", decimals=0),
        Column("words", _("Words an utterance"), "number", decimals=1),
        Column(
            "minutes",
            _("Minutes"),
            "number",
            decimals=1,
            help=_("From the first utterance to the end."),
        ),
        Column("rater_a", _("A")),
        Column("rater_b", _("B")),
        Column("remark", _("Remark")),
    )
    chats = chats_with_utterances(campaign)
    words = _mean_words([chat.pk for chat in chats])
    rows = tuple(Row(chat.public_id, _cells(chat, address, words.get(chat.pk))) for chat in chats)
    return Table(
        "dialogues", _("Dialogues of %(campaign)s") % {"campaign": campaign.name}, columns, rows
    )


def writers_table(campaign: Campaign) -> Table:
    """One row for each who takes part. They rate nothing, so there is nothing of scores in it."""
    columns = (
        Column("rater", _("Rater"), "link"),
        Column("state", _("State")),
        Column(
            "finished",
            _("Finished"),
            "number",
            decimals=0,
            help=_("Dialogues, also those left out of the corpus."),
        ),
        Column(
            "abandoned",
            _("Ended early"),
            "number",
            decimals=0,
            help=_("Dialogues in which something was said."),
        ),
        Column("seen", _("Last seen")),
    )
    tally: dict[int, Counter[str]] = defaultdict(Counter)
    for chat in chats_with_utterances(campaign):
        for rater in {chat.rater_a_id, chat.rater_b_id} - {None}:
            tally[rater][chat.state] += 1
    people = campaign.participations.order_by("position")
    rows = tuple(_writer_row(person, tally[person.pk]) for person in people)
    return Table("raters", _("Raters of %(campaign)s") % {"campaign": campaign.name}, columns, rows)


def _writer_row(person: Participation, tally: Counter[str]) -> Row:
    excluded = person.state == Participation.State.EXCLUDED
    state = _("active") if person.takes_part else badges_of(person)[-1]
    cells = {
        "rater": Cell(person.pseudonym, href=f"?rater={person.position + 1}#rater"),
        "state": Cell(state, note=person.exclusion_reason if excluded else ""),
        "finished": Cell(tally[Room.State.FINISHED]),
        "abandoned": Cell(tally[Room.State.ABANDONED]),
        "seen": Cell(f"{person.seen_at:%Y-%m-%d %H:%M} UTC")
        if person.seen_at
        else Cell(reason=_("not yet")),
    }
    return Row(f"rater-{person.position + 1}", cells, badges=badges_of(person))


def _cells(chat: Room, address: str, words: float | None) -> dict[str, Cell]:
    minutes = (
        (chat.finished_at - chat.begun).total_seconds() / 60
        if chat.finished_at and chat.begun
        else None
    )
    return {
        "dialogue": Cell(f"dialogue-{chat.number}", href=f"{address}?room={chat.public_id}"),
        "state": Cell(_("finished, left out") if chat.left_out else str(chat.get_state_display())),
        "utterances": Cell(chat.utterance_count),
        "words": Cell(words, reason=_("nothing was said yet") if words is None else ""),
        "minutes": Cell(minutes, reason=_("not finished") if minutes is None else ""),
        "rater_a": Cell(chat.rater_a.pseudonym),
        "rater_b": Cell(chat.rater_b.pseudonym)
        if chat.rater_b
        else Cell(reason=_("nobody came yet")),
        "remark": Cell(chat.end_reason),
    }


def _mean_words(chat_ids: Sequence[int]) -> dict[int, float]:
    counts: dict[int, list[int]] = {}
    for chat_id, text in (
        Line.objects.filter(room__in=chat_ids).values_list("room_id", "text").iterator()
    ):
        counts.setdefault(chat_id, []).append(len(text.split()))
    return {chat_id: sum(words) / len(words) for chat_id, words in counts.items()}
