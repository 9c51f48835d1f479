"""Preference sets of Hugging Face (DPO, reward models): ``chosen`` and ``rejected``, with or
without ``prompt``, as texts, messages or transcripts (HH-RLHF)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import (
    SYSTEM,
    USER,
    name_or,
    parsed_json,
    read_messages,
    rest_of,
    system_prompt,
)
from annotations.formats.importers.column_mapping import plain_name
from annotations.formats.importers.crossed import Answers, CrossedDialogue, same_words
from annotations.formats.importers.fields import JsonObject, kind_of
from annotations.formats.importers.heads import DATASET, with_head
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import transcript
from annotations.formats.importers.table_source import holds_json, number_in, numbered_rows
from annotations.formats.records import ASSISTANT, Message, PreferenceRecord, RatingRecord

Messages = tuple[Message, ...]

CHOSEN, REJECTED = "chosen", "rejected"
_PAIRS = (
    *((CHOSEN, REJECTED), ("preferred", "rejected"), ("accepted", "rejected")),
    *(("preferred", "dispreferred"), ("preferred", "nonpreferred"), ("preferred", "unpreferred")),
    *(("better", "worse"), ("winner", "loser"), ("winning", "losing"), ("win", "lose")),
    *(("best", "worst"), ("good", "bad"), ("positive", "negative"), ("pos", "neg")),
    *(("w", "l"), ("j", "k")),
)
"""Words for the preferred response and the other one. ``w`` and ``l`` are those of Rafailov et al.
(2023, NeurIPS); of ``j`` and ``k`` (StackExchange Paired) ``j`` was rated better."""
_FROM_BARE = 10
"""Pairs before this place are names of fields by themselves."""
_STEMS = (
    *("response", "answer", "output", "completion", "reply", "text", "summary", "generation"),
    *("candidate", "message", "messages", "conversation", "y"),
)
_SCORE_KEYS = ("score_{}", "{}_score", "{}-score", "rating_{}", "{}_rating", "{}-rating")
_PROMPT_KEYS = ("prompt", "instruction", "question", "query", "input")
_MODEL_KEYS = ("{}_model", "{}-model", "model_{}")


def preferred_fields(keys: Collection[str]) -> tuple[str, str] | None:
    """The fields of a preferred response and of the one that it is preferred to.

    Args:
        keys: of a record.

    Returns:
        Their names, which say which is which (``chosen`` and ``rejected``, ``better_response`` and
        ``worse_response``, ``response_j`` and ``response_k``); None where there are none.
    """
    plain = {plain_name(key): key for key in sorted(keys, reverse=True)}
    for number, pair in enumerate(_PAIRS):
        bare = (pair,) if number < _FROM_BARE else ()
        stemmed = [
            names
            for stem in _STEMS
            for names in (
                (f"{stem}{pair[0]}", f"{stem}{pair[1]}"),
                (f"{pair[0]}{stem}", f"{pair[1]}{stem}"),
            )
        ]
        for better, worse in (*bare, *stemmed):
            if better in plain and worse in plain:
                return plain[better], plain[worse]
    return None


def messages_in_field(row: JsonObject, key: str, role: str) -> Messages | None:
    """Read what is said in a field: a text, a transcript, or messages.

    Args:
        row: the object that has it.
        key: name of the field.
        role: who says it, where it is a plain text.

    Returns:
        The messages; None, with a problem noted, where the field is missing or bad.
    """
    value = row.value.get(key)
    if isinstance(value, list):
        return read_messages(row, key)
    if not isinstance(value, str):
        fault = f"must be a string or a list of messages, not {kind_of(value)}"
        row.complain(key, fault if row.has(key) else "is missing")
        return None
    return transcript(value) or (Message(role, value),)


def add_pair(
    dialogue: CrossedDialogue,
    chosen: Messages,
    rejected: Messages,
    systems: tuple[str, str],
    where: Where,
    fields: tuple[str, str],
) -> tuple[int, int]:
    """Add two continuations of a dialogue's messages, and that the first is preferred.

    Args:
        dialogue: its messages are what stands before both.
        chosen: what the first system said.
        rejected: what the second one said. Messages of others must be the same in both.
        systems: their names.
        where: place of the record.
        fields: names of the two fields.

    Returns:
        Which sample of its system each one is. Where the continuations answer the same messages,
        each of their answers is a response at a turn of its own and the preference is of whole
        conversations; else the last answer is the response, and what leads to it its metadata.
    """
    answers = Answers.of(chosen), Answers.of(rejected)
    leads: tuple[Messages, Messages] = ((), ())
    if same_words(answers[0].shared, answers[1].shared):
        texts = tuple([(at, one) for at, one in answer.answers] for answer in answers)
    else:
        leads = chosen[:-1], rejected[:-1]
        texts = tuple([(0, one[-1])] for one in (chosen, rejected))
    before = len(dialogue.messages)
    if not leads[0] and not leads[1]:
        dialogue.messages += answers[0].shared
    samples = []
    for system, own_messages, lead, field in zip(systems, texts, leads, fields, strict=True):
        sample = 0
        for turn, (at, message) in enumerate(own_messages):
            dialogue.add_turn(turn, before + at)
            sample = dialogue.add_response(
                turn,
                system,
                message.text,
                where,
                field=field,
                parts=message.parts,
                metadata={**message.metadata, **_as_metadata(lead)},
            )
        samples.append(sample)
    is_single = len(texts[0]) == len(texts[1]) == 1
    vote = PreferenceRecord(
        dialogue.id,
        0 if is_single else None,
        *systems,
        "a",
        DATASET,
        sample_a=samples[0],
        sample_b=samples[1],
    )
    dialogue.judgements.append((vote, where, ""))
    return samples[0], samples[1]


def records_of_row(row: JsonObject, number: int, fields: tuple[str, str]) -> Iterator[Placed]:
    """Read one preference.

    Args:
        row: an object with the two fields, perhaps ``prompt``, the systems' ``chosen_model`` and
            ``rejected_model``, and scores ``score_chosen`` and ``score_rejected``.
        number: of the record, from 1; the dialogue's id.
        fields: of the preferred response and of the other one, as in ``preferred_fields``.

    Returns:
        Iterator over the dialogue, two responses, the scores and the preference.
    """
    chosen, rejected = (messages_in_field(row, field, ASSISTANT) for field in fields)
    prompt_key = next((key for key in _PROMPT_KEYS if row.value.get(key)), "")
    prompt = messages_in_field(row, prompt_key, USER) if prompt_key else ()
    system_key, system_message = system_prompt(row)
    model_keys = [_key_in(row, _MODEL_KEYS, arm) for arm in (CHOSEN, REJECTED)]
    systems = [
        name_or(row, key, arm) for key, arm in zip(model_keys, (CHOSEN, REJECTED), strict=True)
    ]
    if chosen is None or rejected is None or prompt is None or None in systems:
        return
    if not chosen or not rejected:
        row.complain(fields[bool(chosen)], "is empty: no answer")
        return
    chosen, rejected, prompt = _apart(chosen, rejected, prompt)
    score_keys = [_key_in(row, _SCORE_KEYS, arm) for arm in (CHOSEN, REJECTED)]
    if system_message and not any(one.role == SYSTEM for one in prompt):
        prompt = (system_message, *prompt)
    known = ("prompt", prompt_key, system_key, *fields, *model_keys, *score_keys)
    dialogue = CrossedDialogue(str(number), row.where, prompt, rest_of(row, known))
    names = (systems[0] or CHOSEN, systems[1] or REJECTED)
    samples = add_pair(dialogue, chosen, rejected, names, row.where, fields)
    for key, arm, system, sample in zip(
        score_keys, (CHOSEN, REJECTED), names, samples, strict=True
    ):
        if row.value.get(key) is None:
            continue
        score = row.number(key)
        if score is None:
            continue
        if sample:
            # A rating names a system, not one of its samples.
            dialogue.metadata[key] = score
            continue
        aspect = key.replace(arm, "").strip("_-")
        turn = dialogue.judgements[0][0]
        at = turn.turn if isinstance(turn, PreferenceRecord) else 0
        rating = RatingRecord(dialogue.id, at, system, DATASET, aspect, score)
        dialogue.judgements.append((rating, row.where, key))
    yield from dialogue.records()


def _apart(
    chosen: Messages, rejected: Messages, prompt: Messages
) -> tuple[Messages, Messages, Messages]:
    """The two answers without the prompt, which they may repeat or, where there is none, share."""
    if prompt:
        repeated = len(prompt)
        if all(
            len(one) > repeated and same_words(one[:repeated], prompt) for one in (chosen, rejected)
        ):
            return chosen[repeated:], rejected[repeated:], prompt
        return chosen, rejected, prompt
    common = 0
    while common < min(len(chosen), len(rejected)) - 1 and same_words(
        chosen[common : common + 1], rejected[common : common + 1]
    ):
        common += 1
    return chosen[common:], rejected[common:], chosen[:common]


def _as_metadata(lead: Messages) -> dict[str, Any]:
    if not lead:
        return {}
    return {"before": [{"role": one.role, "content": one.text} for one in lead]}


def _key_in(row: JsonObject, patterns: tuple[str, ...], arm: str) -> str:
    keys = [pattern.format(arm) for pattern in patterns]
    return next((key for key in keys if row.has(key)), keys[0])


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    is_table = not holds_json(path)
    fields: tuple[str, str] | None = None
    for number, row in numbered_rows(path, problems):
        if is_table:
            row = replace(row, value={key: _of_cell(key, one) for key, one in row.value.items()})
        fields = fields or preferred_fields(row.value)
        yield from records_of_row(row, number, fields or (CHOSEN, REJECTED))


def _of_cell(key: str, cell: str) -> Any:
    """A number where the column is one of scores; messages as JSON; else the text."""
    is_score = key in [one.format(arm) for one in _SCORE_KEYS for arm in (CHOSEN, REJECTED)]
    return number_in(cell) if is_score else parsed_json(cell)


def _detect(sample: FileSample) -> float:
    if sample.keys >= {CHOSEN, REJECTED}:
        return 0.8
    fields = preferred_fields(sample.keys) if sample.is_of_rows else None
    values = [row.get(field) for row in sample.rows for field in fields or ()]
    # Numbers are counts of won and lost
    is_text = any(isinstance(one, str | list) and one for one in values)
    return 0.65 if is_text and not any(number_in(str(one)) for one in values) else 0.0


_DESCRIPTION = """\
A JSON array, JSON lines or a table: one preference a record, `chosen` over `rejected`, each a text,
a list of messages, or a transcript (`Human:` and `Assistant:`, as in HH-RLHF). The two may have
other names that say which is preferred: `better_response` and `worse_response`, `winner` and
`loser`, `response_j` and `response_k` (StackExchange Paired: `j` was rated better). `prompt` is
what stands before both; where it is missing, their common beginning is. A prompt that they repeat
is not repeated. Each record is a dialogue with two responses, of the systems `chosen_model` and
`rejected_model`, else `chosen` and `rejected`, and one preference by the rater `dataset`.
`score_chosen` and `score_rejected` are scores of the aspect `score`, on an open scale. All other
fields are metadata."""
_EXAMPLE = (
    '{"prompt": "Is the oven hot?", "chosen": "Not yet.", "rejected": "Ovens are hot.", '
    '"score_chosen": 4, "score_rejected": 1}\n'
)

IMPORTER = Importer(
    name="preferences",
    summary="preference sets of Hugging Face: chosen and rejected",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
