"""Arenas: set up, opened and closed by organisers; battles begun, talked in and voted on by
visitors.

Every step of a battle locks its row, so that two tabs or a repeated request take their turns one
after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.chat import add_message, spoken_text
from annotations.campaigns.models import Arena, Battle, ChatSystem, Conversation, Message, Visitor
from annotations.campaigns.models.campaign import random_seed
from annotations.campaigns.models.people import random_token
from annotations.campaigns.plan.pairs import draw_index, shuffled_pairs
from annotations.campaigns.queries.arena import battle_chat
from annotations.corpora.queries import corpora_with_hidden_references
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from annotations.rates import counted
from common import clock

DAY, MINUTE = 86_400, 60
LIMITS = (
    *("is_public", "battles_per_visitor", "battles_per_address"),
    *("answers_per_minute", "answers_budget"),
)
NOTED = ("name", "slug", "source", "version", "systems", "chat_systems", "exchanges", *LIMITS)
LONGEST_DECISION_MS = 2**31 - 1
ABANDONED_AFTER = timedelta(days=1)
ABANDONED_AT_ONCE = 1000


class ArenaRefused(Exception):
    """The message tells the visitor or the organiser why, in their language. Nothing was stored."""


class ArenaClosed(ArenaRefused):
    """No battle begins or goes on."""


class TooMany(ArenaRefused):
    """A limit of visitor, address, arena or budget is reached."""


class NothingToCompare(ArenaRefused):
    """This visitor has compared all there is."""


class BattleOver(ArenaRefused):
    """It has its vote, or is void."""


class NotReady(ArenaRefused):
    """An answer is still waited for, or nothing was said."""


@dataclass(frozen=True, slots=True)
class ArenaParams:
    """``limits``: values of ``LIMITS``."""

    name: str
    slug: str
    source: str
    version: CorpusVersion
    systems: Sequence[System | ChatSystem]
    exchanges: int
    limits: dict[str, Any]


# --- organisers -----------------------------------------------------------------------------------


def create(params: ArenaParams, by: Any = None) -> Arena:
    """A closed arena. Raises ``ArenaRefused`` where its address is taken."""
    try:
        with transaction.atomic():
            arena = Arena.objects.create(
                name=params.name,
                slug=params.slug,
                source=params.source,
                version=params.version,
                exchanges=params.exchanges,
                created_by=by,
                **params.limits,
            )
            competing = arena.chat_systems if arena.is_of_chats else arena.systems
            competing.set(params.systems)
            audit.record(by, "arena.created", arena, settings=audit.noted(arena, NOTED))
    except IntegrityError:
        raise ArenaRefused(_("There is an arena with this address. Choose another.")) from None
    return arena


def change_limits(arena: Arena, limits: dict[str, Any], by: Any = None) -> None:
    """Raises ``ArenaRefused`` where more answers were asked for than the budget would allow."""
    with transaction.atomic():
        stored = Arena.objects.select_for_update(of=("self",)).get(pk=arena.pk)
        if limits["answers_budget"] < stored.answers_requested:
            raise ArenaRefused(
                _("%(count)d answers were asked for already.") % {"count": stored.answers_requested}
            )
        before = audit.noted(stored, LIMITS)
        for name, value in limits.items():
            setattr(stored, name, value)
        stored.save(update_fields=list(limits))
        changes = audit.changes(before, audit.noted(stored, LIMITS))
        if changes:
            audit.record(by, "arena.changed", stored, changes=changes)


def open_arena(arena: Arena, by: Any = None) -> None:
    """Raises ``ArenaRefused`` where visitors would see what a round of a challenge hides."""
    with transaction.atomic():
        if corpora_with_hidden_references().filter(versions=arena.version_id).exists():
            raise ArenaRefused(_("A round of a challenge hides the references of this corpus."))
        closed = Arena.objects.filter(pk=arena.pk, is_open=False)
        if closed.update(is_open=True, opened_at=timezone.now(), closed_at=None):
            audit.record(by, "arena.opened", arena)


def close_arena(arena: Arena, by: Any = None) -> None:
    """Battles under way are void: their visitors are told."""
    with transaction.atomic():
        opened = Arena.objects.filter(pk=arena.pk, is_open=True)
        if opened.update(is_open=False, closed_at=timezone.now()):
            _void(arena.battles.filter(state=Battle.State.OPEN), "the arena was closed")
            audit.record(by, "arena.closed", arena)


def renew_link(arena: Arena, by: Any = None) -> None:
    """Who comes by the former link is not let in; who has come by it stays."""
    with transaction.atomic():
        Arena.objects.filter(pk=arena.pk).update(token=random_token())
        audit.record(by, "arena.link_renewed", arena)


def exclude(arena: Arena, number: int, reason: str, by: Any = None) -> bool:
    """The visitor's votes count no more; without a reason, they count again. False where there is
    no such visitor."""
    excluded_at = timezone.now() if reason else None
    with transaction.atomic():
        found = arena.visitors.filter(number=number).update(
            excluded_at=excluded_at, exclusion_reason=reason
        )
        if found:
            done = "arena.visitor_excluded" if reason else "arena.visitor_taken_back"
            audit.record(by, done, arena, visitor=number, reason=reason)
    return bool(found)


def delete(arena: Arena, typed_slug: str, by: Any = None) -> None:
    """With votes only where its slug was typed; open or published, not at all."""
    with transaction.atomic():
        stored = Arena.objects.select_for_update(of=("self",)).filter(pk=arena.pk).first()
        if stored is None:
            return
        if stored.is_open:
            raise ArenaRefused(_("Close the arena first."))
        if stored.published_aspect:
            raise ArenaRefused(_("Its votes are published. Remove them from the corpus first."))
        votes = stored.battles.filter(state=Battle.State.VOTED).count()
        if votes and typed_slug != stored.slug:
            raise ArenaRefused(_("Visitors have voted. Type the arena's address to delete it."))
        audit.record(by, "arena.deleted", stored, settings=audit.noted(stored, NOTED), votes=votes)
        stored.delete()


# --- visitors -------------------------------------------------------------------------------------


def hashed_address(address: str) -> str:
    """What is kept of an address: two votes from one are known, the address is not."""
    return salted_hmac("arena.address", address, algorithm="sha256").hexdigest()


def join(arena: Arena, address: str) -> Visitor:
    """A new visitor. Raises ``TooMany`` for more of one address than may vote in a day."""
    with transaction.atomic():
        Arena.objects.select_for_update(of=("self",), no_key=True).get(pk=arena.pk)
        if counted("arena visitors", f"{arena.pk} {address}", DAY) > arena.battles_per_address:
            raise TooMany(_enough_for_today())
        last = arena.visitors.order_by("-number").values_list("number", flat=True).first() or 0
        return Visitor.objects.create(arena=arena, number=last + 1, address=hashed_address(address))


def begin(arena: Arena, visitor: Visitor, address: str) -> Battle:
    """The visitor's battle: the open one, else one that is drawn now.

    Raises ``ArenaClosed``, ``TooMany``, ``NothingToCompare``.
    """
    with transaction.atomic():
        # Battles of one arena begin one after the other
        arena = Arena.objects.select_for_update(of=("self",), no_key=True).get(pk=arena.pk)
        if not arena.is_open:
            raise ArenaClosed(_("This arena is closed."))
        current = visitor.battles.filter(state=Battle.State.OPEN).first()
        if current is not None:
            return current
        if arena.is_of_chats and arena.answers_budget - arena.answers_requested < 2:
            raise TooMany(_("The budget of this arena is used up. No new chat can begin."))
        if (
            counted("arena battles", f"{arena.pk} visitor {visitor.pk}", DAY)
            > arena.battles_per_visitor
            or counted("arena battles", f"{arena.pk} {address}", DAY) > arena.battles_per_address
        ):
            raise TooMany(_enough_for_today())
        seed = random_seed()
        drawn = _chat(arena, seed) if arena.is_of_chats else _responses(arena, visitor, seed)
        battle = Battle.objects.create(
            arena=arena, visitor=visitor, number=arena.battle_count + 1, seed=seed, **drawn
        )
        if arena.is_of_chats:
            Conversation.objects.bulk_create(
                Conversation(battle=battle, arm=arm) for arm in ("a", "b")
            )
        Arena.objects.filter(pk=arena.pk).update(battle_count=F("battle_count") + 1)
        return battle


def _enough_for_today() -> str:
    return _("That is enough for today. Thank you; come back tomorrow.")


def _chat(arena: Arena, seed: int) -> dict[str, Any]:
    dialogues = Dialogue.objects.filter(version=arena.version_id).order_by("position")
    systems = {one.pk: one for one in arena.chat_systems.all()}
    pairs = shuffled_pairs(list(systems), seed)
    if not pairs or not (count := dialogues.count()):
        raise NothingToCompare(_("This arena has nothing to compare."))
    a, b = pairs[0]
    return {
        "dialogue": dialogues[draw_index(count, seed)],
        "chat_system_a": systems[a],
        "chat_system_b": systems[b],
    }


def _responses(arena: Arena, visitor: Visitor, seed: int) -> dict[str, Any]:
    """Two responses to one turn that this visitor has not compared yet."""
    for a, b in shuffled_pairs(arena.systems.values_list("pk", flat=True), seed):
        compared = visitor.battles.filter(
            response_a__system__in=(a, b), response_b__system__in=(a, b)
        )
        turns = (
            Turn.objects.filter(responses__system=a)
            .filter(responses__system=b)
            .exclude(pk__in=compared.values("turn"))
            .order_by("pk")
        )
        if count := turns.count():
            turn = turns.select_related("dialogue")[draw_index(count, seed)]
            response_of = {
                one.system_id: one for one in Response.objects.filter(turn=turn, system__in=(a, b))
            }
            return {
                "dialogue": turn.dialogue,
                "turn": turn,
                "response_a": response_of[a],
                "response_b": response_of[b],
            }
    raise NothingToCompare(_("You have compared everything in this arena. Thank you."))


def say(battle: Battle, text: str, key: str) -> None:
    """Send both systems what the visitor says. The same ``key`` again changes nothing.

    Raises ``ValueError`` for a text that cannot be stored, ``BattleOver``, ``NotReady`` while an
    answer is waited for, ``TooMany``.
    """
    text = spoken_text(text)
    with transaction.atomic():
        battle = _locked(battle)
        chats = list(battle.conversations.order_by("arm"))
        if key and Message.objects.filter(conversation__in=chats, key=key).exists():
            return
        _check_open(battle)
        chat = battle_chat(battle)
        if chat.is_waiting or chat.is_unanswered:
            raise NotReady(_("The models have not answered yet. What you wrote is kept."))
        if chat.is_full:
            raise NotReady(_("This chat has its full length. Please vote now."))
        arena = battle.arena
        if 2 * counted("arena answers", str(arena.pk), MINUTE) > arena.answers_per_minute:
            raise TooMany(_("Many people chat here now. Send it again in a minute."))
        within = Arena.objects.filter(pk=arena.pk, answers_requested__lte=F("answers_budget") - 2)
        if not within.update(answers_requested=F("answers_requested") + 2):
            raise TooMany(
                _("The budget of this arena is used up. Please vote on what was said.")
                if chat.rounds
                else _("The budget of this arena is used up. No new chat can begin.")
            )
        for one in chats:
            add_message(one, 2 * len(chat.rounds), text, key, is_answered=True)


def vote(battle: Battle, verdict: str) -> None:
    """Store the battle's only vote. The same vote again changes nothing.

    Raises ``BattleOver`` where it is void or has another vote, ``NotReady``.
    """
    with transaction.atomic():
        battle = _locked(battle)
        if battle.state == Battle.State.VOTED and battle.vote == verdict:
            return
        _check_open(battle)
        since = battle.created_at
        if battle.arena.is_of_chats:
            chat = battle_chat(battle)
            if not chat.may_vote:
                raise NotReady(_("You can vote as soon as both models have answered."))
            since = chat.answered_at or since
        now = timezone.now()
        took = int((now - since).total_seconds() * 1000)
        voted = Battle.objects.filter(pk=battle.pk, state=Battle.State.OPEN).update(
            state=Battle.State.VOTED,
            vote=verdict,
            ended_at=now,
            decision_ms=min(max(took, 0), LONGEST_DECISION_MS),
        )
        if not voted:
            raise BattleOver(_("This battle has ended."))
        battle.conversations.update(finished_at=now)


def leave(battle: Battle) -> None:
    """Without a vote: it does not count."""
    with transaction.atomic():
        _locked(battle)
        _void(Battle.objects.filter(pk=battle.pk, state=Battle.State.OPEN), "the visitor left")


def void_unanswered(battle: Battle) -> bool:
    """Where a model did not answer, the battle does not count. Returns whether that is so."""
    if battle.state != Battle.State.OPEN or not battle_chat(battle).is_unanswered:
        return False
    with transaction.atomic():
        _locked(battle)
        _void(
            Battle.objects.filter(pk=battle.pk, state=Battle.State.OPEN), "a model did not answer"
        )
    battle.refresh_from_db()
    return True


def end_abandoned() -> int:
    """Void the battles that nobody goes on with, a thousand of each kind at most; returns how many:
    a model did not answer and the visitor has not looked, or for a day nothing was said and there
    is no vote."""
    since = clock.now() - ABANDONED_AFTER
    messages = Message.objects.filter(conversation__battle=OuterRef("pk"))
    is_unanswered = Exists(messages.filter(state=Message.State.FAILED))
    is_silent = Q(created_at__lt=since) & ~Exists(messages.filter(created_at__gte=since))
    ended = 0
    with transaction.atomic():
        rows = Battle.objects.select_for_update(skip_locked=True, of=("self",))
        for given_up, reason in (
            (is_unanswered, "a model did not answer"),
            (is_silent, "the visitor did not come back"),
        ):
            found = rows.filter(given_up, state=Battle.State.OPEN)[:ABANDONED_AT_ONCE]
            keys = [one.pk for one in found]
            _void(Battle.objects.filter(pk__in=keys), reason)
            ended += len(keys)
    return ended


def _void(battles: Any, reason: str) -> None:
    """Answers on their way are not waited for."""
    keys, now = list(battles.values_list("pk", flat=True)), timezone.now()
    Battle.objects.filter(pk__in=keys).update(
        state=Battle.State.VOID, void_reason=reason, ended_at=now
    )
    Message.objects.filter(
        conversation__battle__in=keys, state__in=[Message.State.PENDING, Message.State.RUNNING]
    ).end(Message.State.FAILED, error=f"the battle is void: {reason}")
    Conversation.objects.filter(battle__in=keys).update(finished_at=now)


def _locked(battle: Battle) -> Battle:
    return Battle.objects.select_for_update(of=("self",)).select_related("arena").get(pk=battle.pk)


def _check_open(battle: Battle) -> None:
    if battle.state == Battle.State.VOTED:
        raise BattleOver(_("You have voted on this battle. Its vote stays."))
    if battle.state == Battle.State.VOID or not battle.arena.is_open:
        raise BattleOver(_("This battle has ended without a vote."))
