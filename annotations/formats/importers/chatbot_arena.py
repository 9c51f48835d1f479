"""Battles of Chatbot Arena (Zheng et al. 2023, NeurIPS): two models' conversations and a vote.

MT-bench's human judgments have the same fields; there a vote is about one turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import name_or, read_messages, rest_of
from annotations.formats.importers.crossed import (
    Answers,
    CrossedDialogue,
    VotesOfOne,
    refuse_large,
    same_words,
    split_metadata,
)
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import DATASET, OVERALL, Body, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message, PreferenceRecord
from common.text import MAX_NAME

Preferred = Literal["a", "b", "tie", "both_bad"]

WINNERS: dict[str, Preferred] = {
    "model_a": "a",
    "model_b": "b",
    "a": "a",
    "b": "b",
    "tie": "tie",
    "tie (bothbad)": "both_bad",
    "bothbad": "both_bad",
    "both_bad": "both_bad",
}
FIELDS = (
    "question_id",
    "id",
    "model_a",
    "model_b",
    "winner",
    "judge",
    "conversation_a",
    "conversation_b",
)


@dataclass
class _Question:
    """A question, what each system said to it, and the votes."""

    dialogue: CrossedDialogue
    by_system: dict[str, list[tuple[Message, ...]]] = field(default_factory=dict)
    votes: list[tuple[PreferenceRecord, Where]] = field(default_factory=list)
    votes_of: VotesOfOne = field(default_factory=VotesOfOne)
    metadata: list[dict[str, Any]] = field(default_factory=list)

    def sample_of(self, system: str, messages: tuple[Message, ...], other: int | None) -> int:
        """Which of the system's conversations this is; not ``other``, which it is compared with."""
        known = self.by_system.setdefault(system, [])
        for sample, conversation in enumerate(known):
            if sample != other and same_words(conversation, messages):
                return sample
        known.append(messages)
        return len(known) - 1


def battles(turn_key: str) -> Body:
    """Make the reader of a file of battles.

    Args:
        turn_key: the field with the number of the turn, from 1, that a vote is about; "" where
            votes are about whole conversations.

    Returns:
        A reader; records with one ``question_id`` are one dialogue.
    """

    def body(path: Path, problems: Problems) -> Iterator[Placed]:
        refuse_large(data_size(path), problems)
        questions: dict[str, _Question] = {}
        for number, row in numbered_objects(path, problems):
            id_key = next((key for key in ("question_id", "id") if row.has(key)), "")
            question_id = row.name(id_key) if id_key else str(number)
            if question_id is not None:
                _add_battle(row, question_id, turn_key, questions)
        for question in questions.values():
            yield from _records(question)

    return body


def _add_battle(
    row: JsonObject, question_id: str, turn_key: str, questions: dict[str, _Question]
) -> None:
    systems = row.name("model_a"), row.name("model_b")
    winner = row.text("winner", MAX_NAME)
    judge = name_or(row, "judge", DATASET)
    of_a, of_b = read_messages(row, "conversation_a"), read_messages(row, "conversation_b")
    turn = row.parse_integer(turn_key) if turn_key else None
    if systems[0] is None or systems[1] is None or judge is None:
        return
    if winner is None or of_a is None or of_b is None or (turn_key and turn is None):
        return
    both = of_a, of_b
    winner = winner.strip().lower()
    if winner not in WINNERS:
        row.complain("winner", f"{winner!r} is none of {', '.join(WINNERS)}")
        return
    if turn == 0:
        row.complain(turn_key, "must be 1 or more: turns are counted from 1")
        return
    shared = [Answers.of(messages).shared for messages in both]
    question = questions.get(question_id)
    if question is None:
        question = _Question(CrossedDialogue(question_id, row.where, shared[0]))
    for key, messages in zip(("conversation_a", "conversation_b"), shared, strict=True):
        if not same_words(messages, question.dialogue.messages):
            row.complain(
                key,
                f"asks something else than another conversation of question {question_id!r}: all "
                "have the same messages beside the models' answers",
            )
            return
    questions[question_id] = question
    first = question.sample_of(systems[0], both[0], None)
    second = question.sample_of(systems[1], both[1], first if systems[0] == systems[1] else None)
    about = None if turn is None else turn - 1
    if turn is None and (first or second):
        # Further samples are no conversation of their own: the vote is about their last answers.
        about = min(len(Answers.of(messages).answers) for messages in both) - 1
        if about < 0:
            row.problems.skip(row.where, "winner", "compares with a conversation without answer")
            return
    vote = PreferenceRecord(
        question_id,
        about,
        systems[0],
        systems[1],
        WINNERS[winner],
        judge,
        question.votes_of.name(OVERALL, (about, *systems, first, second, judge)),
        first,
        second,
    )
    question.votes.append((vote, row.where))
    question.metadata.append(rest_of(row, (*FIELDS, turn_key)))


def _records(question: _Question) -> Iterator[Placed]:
    dialogue = question.dialogue
    dialogue.metadata, rest = split_metadata(question.metadata)
    for system, conversations in question.by_system.items():
        for messages in conversations:
            for turn, (after, answer) in enumerate(Answers.of(messages).answers):
                dialogue.add_turn(turn, after)
                dialogue.add_response(
                    turn,
                    system,
                    answer.text,
                    dialogue.where,
                    parts=answer.parts,
                    metadata=answer.metadata,
                )
    for (vote, where), metadata in zip(question.votes, rest, strict=True):
        dialogue.judgements.append((replace(vote, metadata=metadata), where, "winner"))
    yield from dialogue.records()


def _detect(sample: FileSample) -> float:
    is_battle = sample.keys >= {"conversation_a", "conversation_b", "winner"}
    if not is_battle:
        return 0.0
    return (
        0.9 if sample.keys & {"anony", "tstamp", "language"} or "turn" not in sample.keys else 0.0
    )


_DESCRIPTION = """\
A JSON array or JSON lines: one battle a record, `conversation_a` of `model_a` against
`conversation_b` of `model_b`, with the vote `winner` (`model_a`, `model_b`, `tie`, `tie (bothbad)`)
of `judge`. Records with one `question_id` (or `id`) are one dialogue: its messages are what both
conversations have in common, each answer is a response, and the vote is a preference about the
whole conversations. A model against itself has two samples, and the vote is about their last
answers. A judge's second vote on the same two has the aspect `overall (vote 2)`.
`language`, `anony`, `tstamp` and all other fields are metadata."""
_EXAMPLE = (
    '[{"question_id": "q1", "model_a": "baker", "model_b": "cook", "winner": "model_a", "judge": '
    '"ann", "conversation_a": [{"role": "user", "content": "Is it hot?"}, {"role": "assistant", '
    '"content": "Not yet."}], "conversation_b": [{"role": "user", "content": "Is it hot?"}, '
    '{"role": "assistant", "content": "Hot!"}], "turn": 1, "anony": true}]\n'
)

IMPORTER = Importer(
    name="chatbot-arena",
    summary="battles of Chatbot Arena: two conversations and a vote",
    stream=with_head(battles("")),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
