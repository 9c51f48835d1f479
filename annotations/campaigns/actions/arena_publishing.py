"""Publishing an arena's votes as preferences: of stored responses in the corpus that they are of,
of chats in a corpus of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.arena import ArenaRefused
from annotations.campaigns.actions.harvest import imported
from annotations.campaigns.actions.preferences import PREFERENCE_COLUMNS
from annotations.campaigns.models import Arena
from annotations.campaigns.queries.arena import battle_chat, counted_battles, names_of
from annotations.corpora import staging
from annotations.corpora.actions import ImportOutcome, data_changed
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    PreferenceRecord,
    RaterRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import Corpus, CorpusVersion, Preference, Rater

CHATS = "Chats of visitors with two models at once, with the visitors' votes."
LONGEST_SLUG = 80
_AFTER_SLUG = "-votes"


def publish(arena: Arena, by: Any = None) -> int:
    """Copy the votes that count into the corpus version as preferences; returns how many there are.
    Publishing again replaces. Raises ``ArenaRefused``.

    The copies belong to raters of a staged version, which nobody sees, until one short transaction
    gives these raters to the corpus version.
    """
    _refuse_unless_final(Arena.objects.get(pk=arena.pk))
    copies, former = staging.empty_version(), staging.empty_version()
    try:
        count = _copy(arena, copies)
        with transaction.atomic():
            staging.renew(copies)
            stored, version = _locked(arena)
            _refuse_unless_final(stored)
            _take_out(stored, version, former)
            last = version.raters.aggregate(last=Max("position"))["last"]
            raters = list(copies.raters.order_by("position"))
            for number, rater in enumerate(raters, 0 if last is None else last + 1):
                rater.version, rater.position = version, number
            Rater.objects.bulk_update(raters, ["version", "position"])
            stored.published_aspect = _aspect_of(stored)
            stored.save(update_fields=["published_aspect"])
            data_changed([version.pk])
            audit.record(by, "arena.published", stored, corpus=str(version), votes=count)
    finally:
        for staged in (copies, former):
            staging.remove(staged)
    return count


def unpublish(arena: Arena, by: Any = None) -> None:
    """Take them out of the corpus version again."""
    former = staging.empty_version()
    try:
        with transaction.atomic():
            stored, version = _locked(arena)
            if stored.published_aspect:
                _take_out(stored, version, former)
                stored.published_aspect = ""
                stored.save(update_fields=["published_aspect"])
                data_changed([version.pk])
                audit.record(by, "arena.unpublished", stored, corpus=str(version))
    finally:
        staging.remove(former)


def make_corpus(arena: Arena, by: Any = None) -> ImportOutcome:
    """Store the chats whose votes count, with these, as a private corpus, or as its next version.
    Raises ``ArenaRefused``."""
    slug = corpus_slug(arena)
    with transaction.atomic():
        # One at a time
        stored = Arena.objects.select_for_update(of=("self",), no_key=True).get(pk=arena.pk)
        _refuse_unless_final(stored)
        if stored.collected_id is None and Corpus.objects.filter(slug=slug).exists():
            raise ArenaRefused(_("There is another corpus called %(slug)s.") % {"slug": slug})
        to = stored.collected.slug if stored.collected else slug
        outcome = imported(chat_records(stored), to, stored.name, False, by)
        stored.collected = outcome.version.corpus
        stored.save(update_fields=["collected"])
    return outcome


def corpus_slug(arena: Arena) -> str:
    """Of the corpus that its chats become."""
    return f"{arena.slug[: LONGEST_SLUG - len(_AFTER_SLUG)]}{_AFTER_SLUG}"


def chat_records(arena: Arena) -> Iterator[Record]:
    """Each chat is a dialogue with one turn for each message, at which both models answer. What
    stands before a turn are the visitor's messages alone: of the answers each model knows its own.
    """
    battles = (
        counted_battles(arena)
        .select_related("arena", "visitor", "dialogue", "chat_system_a", "chat_system_b")
        .order_by("number")
    )
    yield CorpusRecord(name=arena.name, description=CHATS, language=arena.version.language or "")
    yield from (SystemRecord(one.name) for one in arena.chat_systems.order_by("name"))
    numbers = battles.order_by("visitor__number").values_list("visitor__number", flat=True)
    yield from (RaterRecord(f"visitor {number}") for number in numbers.distinct())
    for battle in battles.iterator(chunk_size=500):
        rounds, dialogue = battle_chat(battle).rounds, f"battle-{battle.public_id}"
        prompts = tuple(Utterance("A", one.text) for one in rounds)
        yield DialogueRecord(
            id=dialogue,
            persona=tuple(battle.dialogue.persona),
            partner_persona=(),
            turns=tuple(TurnRecord(number, prompts[: number + 1]) for number in range(len(rounds))),
            metadata={"personas of": battle.dialogue.external_id},
        )
        a, b = names_of(battle)
        for number, one in enumerate(rounds):
            yield ResponseRecord(dialogue, number, a, one.a)
            yield ResponseRecord(dialogue, number, b, one.b)
        seconds = {"seconds": (battle.decision_ms or 0) / 1000}
        yield PreferenceRecord(
            dialogue, None, a, b, battle.vote, battle.visitor.pseudonym, metadata=seconds
        )


def _refuse_unless_final(arena: Arena) -> None:
    if arena.is_open:
        raise ArenaRefused(_("Close the arena first, so that its votes no longer change."))
    if not counted_battles(arena).exists():
        raise ArenaRefused(_("No vote counts yet."))


def _locked(arena: Arena) -> tuple[Arena, CorpusVersion]:
    stored = Arena.objects.select_for_update(of=("self",)).get(pk=arena.pk)
    version = CorpusVersion.objects.select_for_update(of=("self",)).get(pk=stored.version_id)
    return stored, version


def _aspect_of(arena: Arena) -> str:
    return f"arena {arena.slug}"


def _prefix_of(arena: Arena) -> str:
    return f"arena {arena.slug}/"


def _copy(arena: Arena, copies: CorpusVersion) -> int:
    counted = counted_battles(arena)
    visitors = arena.visitors.filter(pk__in=counted.values("visitor")).order_by("number")
    raters = {
        visitor.pk: Rater(
            version=copies, position=number, name=f"{_prefix_of(arena)}{visitor.pseudonym}"
        )
        for number, visitor in enumerate(visitors)
    }
    Rater.objects.bulk_create(raters.values())
    shown = counted.order_by("number").values_list("visitor", "vote", "response_a", "response_b")
    rows = (
        (raters[visitor].pk, _aspect_of(arena), vote, "", "{}", a, b, None, None, None)
        for visitor, vote, a, b in list(shown)
    )
    return staging.insert(copies, Preference, PREFERENCE_COLUMNS, rows)


def _take_out(arena: Arena, version: CorpusVersion, former: CorpusVersion) -> None:
    if arena.published_aspect:
        version.raters.filter(name__startswith=_prefix_of(arena)).update(version=former)
