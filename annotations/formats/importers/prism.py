"""PRISM (Kirk et al. 2024, NeurIPS): conversations in which a person scores several models'
answers and goes on with one; also its utterances, an answer a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, rest_of
from annotations.formats.importers.collected import clean_name, score_of
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import DATASET, OVERALL, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import ASSISTANT, Message, PreferenceRecord, RatingRecord
from common.text import MAX_NAME

_HISTORY = "conversation_history"
_ATTRIBUTES = "performance_attributes"
_KNOWN = (_HISTORY, "conversation_id", "user_id", "opening_prompt", "conversation_turns")
_UTTERANCE = ("utterance_id", "interaction_id", "conversation_id", "user_id", "user_prompt")
_ANSWER = ("turn", "role", "content", "model_name", "score", "if_chosen")
_SCALES = {OVERALL: (1.0, 100.0)}


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    rows = (row for _, row in numbered_objects(path, problems))
    # Rows of one conversation follow each other
    for _, group in groupby(rows, key=_conversation_of):
        first, *others = group
        if not first.has(_HISTORY):
            first = _from_utterances([first, *others])
            others = []
        for row in (first, *others):
            yield from _records_of(row)


def _conversation_of(row: JsonObject) -> Any:
    name = row.value.get("conversation_id")
    return row.where if row.has(_HISTORY) else name if isinstance(name, str) else row.where


def _from_utterances(rows: list[JsonObject]) -> JsonObject:
    """A conversation as ``conversations.jsonl`` has it, from its answers."""
    history: list[dict[str, Any]] = []
    for row in rows:
        turn = row.value.get("turn")
        if not any(one["turn"] == turn for one in history):
            prompt = {"turn": turn, "role": USER, "content": row.value.get("user_prompt")}
            history.append(prompt)
        rest = {key: one for key, one in row.value.items() if key not in _UTTERANCE}
        history.append({**rest, "role": "model", "content": rest.pop("model_response", None)})
    first = rows[0]
    names = {key: first.value.get(key) for key in ("conversation_id", "user_id")}
    return replace(first, value={**names, _HISTORY: history})


def _records_of(row: JsonObject) -> Iterator[Placed]:
    history = row.children(_HISTORY)
    name = row.name("conversation_id")
    if history is None or name is None:
        return
    rater = clean_name(row.value.get("user_id")) or DATASET
    dialogue = CrossedDialogue(name, row.where, (), rest_of(row, _KNOWN))
    turns: dict[int, list[JsonObject]] = {}
    prompts: dict[int, str] = {}
    for one in history:
        turn, text = one.parse_integer("turn"), one.value.get("content")
        if turn is None:
            return
        if one.value.get("role") == USER:
            prompts[turn] = text if isinstance(text, str) else ""
        else:
            turns.setdefault(turn, []).append(one)
    chosen_model = ""
    for turn in sorted(prompts.keys() | turns.keys()):
        if turn in prompts:
            dialogue.messages += (Message(USER, prompts[turn]),)
        answers = sorted(turns.get(turn, ()), key=lambda one: not one.value.get("if_chosen"))
        if not answers:
            continue
        dialogue.add_turn(turn)
        _add_answers(dialogue, turn, answers, rater)
        if answers[0].value.get("if_chosen"):
            chosen_model = _model(answers[0])
            dialogue.messages += (
                Message(ASSISTANT, _text(answers[0]), metadata={"model": chosen_model}),
            )
    judged = row.value.get(_ATTRIBUTES)
    if chosen_model and isinstance(judged, dict):
        dialogue.metadata.pop(_ATTRIBUTES)
        for aspect, value in judged.items():
            if (score := score_of(value)) is not None:
                rating = RatingRecord(name, None, chosen_model, rater, aspect, score)
                dialogue.judgements.append((rating, row.where, f"{_ATTRIBUTES}.{aspect}"))
    yield from dialogue.records()


def _add_answers(
    dialogue: CrossedDialogue, turn: int, answers: list[JsonObject], rater: str
) -> None:
    """The one that was chosen comes first, and is preferred to each other one."""
    placed: list[tuple[str, int]] = []
    for answer in answers:
        system, score = _model(answer), score_of(answer.value.get("score"))
        metadata = rest_of(answer, _ANSWER)
        is_further = any(one[0] == system for one in placed)
        if is_further and score is not None:
            # A rating names a system, not one of its samples
            metadata["score"] = score
        sample = dialogue.add_response(
            turn, system, _text(answer), answer.where, field=answer.path, metadata=metadata
        )
        placed.append((system, sample))
        if not is_further and score is not None:
            rating = RatingRecord(dialogue.id, turn, system, rater, OVERALL, score)
            dialogue.judgements.append((rating, answer.where, f"{answer.path}.score"))
    if answers[0].value.get("if_chosen"):
        (chosen, first), *others = placed
        for other, sample in others:
            vote = PreferenceRecord(
                *(dialogue.id, turn, chosen, other, "a", rater),
                sample_a=first,
                sample_b=sample,
            )
            dialogue.judgements.append((vote, answers[0].where, answers[0].path))


def _model(answer: JsonObject) -> str:
    return clean_name(answer.value.get("model_name"))[:MAX_NAME] or ASSISTANT


def _text(answer: JsonObject) -> str:
    text = answer.value.get("content")
    return text if isinstance(text, str) else ""


def _detect(sample: FileSample) -> float:
    if sample.kind == "table":
        return 0.0
    is_conversation = sample.keys >= {_HISTORY, "conversation_id"}
    is_utterance = sample.keys >= {"interaction_id", "user_prompt", "model_response", "if_chosen"}
    return 0.9 if is_conversation or is_utterance else 0.0


_DESCRIPTION = """\
`conversations.jsonl` or `utterances.jsonl` of PRISM. A conversation is a dialogue: what the person
says and the answers that were chosen are its messages, and at each turn all models' answers are
responses. `score` is a score by the person (`user_id`) on the aspect `overall`, 1 to 100; the
chosen answer is preferred to each other one of its turn. A model's further answer at a turn is a
further sample, whose score is metadata. `performance_attributes` are scores of the whole
conversation of the model that was chosen. All other fields are metadata."""
_EXAMPLE = (
    '{"conversation_id": "c1", "user_id": "user1", "conversation_history": [{"turn": 0, "role": '
    '"user", "content": "Is the oven hot?"}, {"turn": 0, "role": "model", "content": "Not yet.", '
    '"model_name": "baker", "score": 90, "if_chosen": true}, {"turn": 0, "role": "model", '
    '"content": "Hot!", "model_name": "cook", "score": 20, "if_chosen": false}]}\n'
)

IMPORTER = Importer(
    name="prism",
    summary="PRISM: conversations with several models' scored answers",
    stream=with_head(_body, scales=_SCALES),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
