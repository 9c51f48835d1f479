"""From conversations to a corpus: the dialogues that pairs wrote, or the rated chats with systems,
become a version, through the importers' own way in."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

from django.db import transaction

from annotations import audit
from annotations.campaigns.actions.publishing import refuse_unless_final
from annotations.campaigns.models import Campaign, CollectedCorpus, Room
from annotations.campaigns.queries.rating_stream import chat_records
from annotations.campaigns.queries.ratings import counted_ratings, main_aspect, scored_aspect
from annotations.corpora.actions import ImportOutcome, import_corpus
from annotations.formats.exporters import jsonl
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    TARGET_SPEAKER,
    CorpusRecord,
    DialogueRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import Corpus
from common.temporary import temporary_folder

DESCRIPTION = "Dialogues written by pairs of raters. Each knew only the own persona."
PEOPLE = SystemRecord("people", "human", "What the raters wrote as B.")
"""So that a campaign can ask other raters about the dialogues."""


class NothingToCollect(Exception):
    """No finished dialogue is left in."""


class SlugTaken(Exception):
    """Another corpus has this slug; its versions stay its own."""


def leave_out(campaign: Campaign, public_id: str, left_out: bool, by: Any = None) -> bool:
    """Keep a finished dialogue out of the corpus, or take it back. False where there is no such
    dialogue."""
    finished = campaign.rooms.filter(public_id=public_id, state=Room.State.FINISHED)
    with transaction.atomic():
        found = finished.update(left_out=left_out) == 1
        if found:
            done = "dialogue.left_out" if left_out else "dialogue.taken_back"
            audit.record(by, done, campaign, campaign=campaign.slug, dialogue=public_id)
    return found


def leave_out_objected(campaign: Campaign, check: Campaign, by: Any = None) -> int:
    """Keep the dialogues out of the corpus to which a rater of ``check`` objected, by a rating that
    counts: one yes to its main question is enough. Returns how many were not left out before."""
    question = scored_aspect(check, main_aspect(check))
    objected = {
        dialogue
        for dialogue, answers in counted_ratings(check).values_list(
            "item__dialogue__external_id", f"current__{question.column}"
        )
        if question.score(answers) == 1.0
    }
    rooms = campaign.rooms.filter(state=Room.State.FINISHED, left_out=False)
    public_ids = [room.public_id for room in rooms if dialogue_id_of(room) in objected]
    with transaction.atomic():
        return sum(leave_out(campaign, public_id, True, by) for public_id in public_ids)


def make_corpus(
    campaign: Campaign, slug: str = "", name: str = "", is_public: bool = False, by: Any = None
) -> ImportOutcome:
    """Store the finished dialogues, or the chats whose ratings count, as a corpus version: of the
    corpus that was made from this campaign before, else of a new one.

    Where nothing has been added since, the version that holds them is returned. Raises
    ``NothingToCollect``, ``CannotPublish`` (of chats), ``SlugTaken``, ``ImportFailed`` (a slug that
    cannot stand in an address).
    """
    with transaction.atomic():
        # One harvest at a time
        campaign = Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
        records = _records(campaign, name)
        known = CollectedCorpus.objects.select_related("corpus").filter(campaign=campaign).first()
        if known is None and Corpus.objects.filter(slug=slug).exists():
            raise SlugTaken(slug)
        outcome = imported(records, known.corpus.slug if known else slug, name, is_public, by)
        if known is None:
            CollectedCorpus.objects.create(campaign=campaign, corpus=outcome.version.corpus)
    return outcome


def collected_chats(campaign: Campaign) -> Iterable[Room]:
    """The dialogues that the corpus is made of, in the order of their numbers, with their lines."""
    return (
        campaign.rooms.filter(state=Room.State.FINISHED, left_out=False)
        .order_by("number")
        .prefetch_related("lines")
    )


def imported(
    records: Iterable[Record], slug: str, name: str, is_public: bool, by: Any
) -> ImportOutcome:
    """The records as a version of the corpus."""
    with temporary_folder() as folder:
        jsonl.write(records, (), folder)
        [outcome] = import_corpus(
            importers()["jsonl"], folder / "corpus.jsonl", slug, name, is_public, by
        )
    return outcome


def _records(campaign: Campaign, name: str) -> Iterable[Record]:
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        refuse_unless_final(campaign)
        return chat_records(campaign, name)
    rooms = list(collected_chats(campaign))
    if not rooms:
        raise NothingToCollect
    return chain(
        [CorpusRecord(name=name, description=DESCRIPTION), PEOPLE],
        *(_with_responses(dialogue_of(one)) for one in rooms),
    )


def _with_responses(dialogue: DialogueRecord) -> Iterable[Record]:
    yield dialogue
    for turn in dialogue.turns:
        for text in turn.references:
            yield ResponseRecord(dialogue.id, turn.number, PEOPLE.name, text)


def dialogue_id_of(chat: Room) -> str:
    """What the corpus calls the dialogue."""
    return f"dialogue-{chat.number}"


def dialogue_of(chat: Room) -> DialogueRecord:
    """B's lines are the turns: the lines before are the context, the line itself the gold answer.

    Of a dialogue with an odd number of lines, the last one of A's answers nothing and stands in no
    turn.
    """
    utterances = [Utterance(line.speaker, line.text) for line in chat.lines.all()]
    answers = [
        place for place, utterance in enumerate(utterances) if utterance.speaker == TARGET_SPEAKER
    ]
    return DialogueRecord(
        id=dialogue_id_of(chat),
        persona=tuple(chat.persona_b),
        partner_persona=tuple(chat.persona_a),
        turns=tuple(
            TurnRecord(
                number, context=tuple(utterances[:place]), references=(utterances[place].text,)
            )
            for number, place in enumerate(answers)
        ),
    )
