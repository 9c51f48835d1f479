"""A prompt with several systems' completions and their scores a record, as UltraFeedback (Cui et
al. 2024, ICML) and studies of one's own have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import name_or, read_messages, rest_of
from annotations.formats.importers.collected import DATASET, clean_name
from annotations.formats.importers.column_mapping import NAMES, is_no_score, plain_name
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import position_rater, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import alternating, conversation, prompted
from annotations.formats.importers.table_source import number_in
from annotations.formats.importers.wrapped_records import is_message
from annotations.formats.records import ASSISTANT, Message, PreferenceRecord, RatingRecord
from common.text import MAX_TEXT

_LISTS = ("completions", "responses", "outputs", "answers", "generations", "candidates", "replies")
_BEST_FIRST = ("ranked_responses", "ranked_answers", "ranked_outputs", "responses_ranked")
"""Lists in the order of preference."""
_BY_SYSTEM = (*_LISTS, "model_answers", "model_outputs", "model_responses", "system_responses")
_RANK = "rank"
_SYSTEM_LISTS = ("models", "systems", "model_names", "generators")
_RANK_LISTS = ("ranks", "rank")
_ORDER_LISTS = ("ranking", "order", "rankings", "preference_order", "ranked_indices")
_CLEAR_ORDERS = ("order", "preference_order", "ranked_indices")
_SCORE_LISTS = ("scores", "ratings", "rewards")
_TEXTS = ("response", "text", "output", "completion", "content", "answer", "generation")
_SYSTEMS = ("model", "system", "generator", "model_name", "model_id", "name")
_COMMENTS = ("rationale", "comment", "justification", "explanation")
_MAX_COMMENT = 200_000

Score = tuple[str, str, float, str]
"""(aspect, rater, score, comment)"""


def _list_key(record: Mapping[str, Any]) -> str:
    """The list of completions, objects or texts beside which a list says something of each; ""
    where there is none."""
    for key in (*_LISTS, *_BEST_FIRST):
        values = record.get(key)
        first = values[0] if isinstance(values, list) and values else None
        if isinstance(first, dict) and _key(first, _TEXTS) and not is_message(first):
            return key
        if isinstance(first, str) and (key in _BEST_FIRST or _lists_beside(record, key)):
            return key
    return next((key for key in _BY_SYSTEM if _is_by_system(record.get(key))), "")


def _is_by_system(value: Any) -> bool:
    """Whether each of several systems has its completion under its name."""
    return (
        isinstance(value, dict)
        and len(value) > 1
        and all(
            isinstance(one, str) or (isinstance(one, dict) and _key(one, _TEXTS))
            for one in value.values()
        )
    )


def _objects_by_system(row: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """Completions under their systems' names, with the scores that stand so beside them."""
    beside = _scores_by_system(row.value, key)
    return tuple(
        replace(
            row,
            value={
                **(one if isinstance(one, dict) else {"response": one}),
                "model": system,
                **{name.removesuffix("s"): values[system] for name, values in beside.items()},
            },
            path=row.field(f"{key}.{system}"),
        )
        for system, one in row.value[key].items()
    )


def _scores_by_system(record: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    return {
        name: value
        for name, value in record.items()
        if name in (*_SCORE_LISTS, *_RANK_LISTS)
        and isinstance(value, dict)
        and value.keys() == record[key].keys()
    }


def _lists_beside(record: Mapping[str, Any], key: str) -> dict[str, list[Any]]:
    """Lists that have a score, rank or system for each text of one list; ``ranking`` becomes the
    ranks, where it cannot be taken for an order."""
    size = len(record[key])
    known = (*_SYSTEM_LISTS, *_RANK_LISTS, *_ORDER_LISTS, *_SCORE_LISTS)
    return {
        name: value
        for name, value in record.items()
        if name in known and isinstance(value, list) and len(value) == size and size > 1
    }


def _objects_of_texts(row: JsonObject, key: str) -> tuple[JsonObject, ...] | None:
    """A list of texts, and the lists beside it, as the objects that other files have."""
    texts = row.texts(key, MAX_TEXT, may_be_empty=True)
    if texts is None:
        return None
    objects: list[dict[str, Any]] = [{"response": text} for text in texts]
    if key in _BEST_FIRST:
        for place, one in enumerate(objects):
            one["rank"] = place + 1
    for name, values in _lists_beside(row.value, key).items():
        if name in _ORDER_LISTS:
            if not _is_order(values):
                row.complain(name, "must number the responses, each once")
                return None
            low = min(values)
            ranks = [values.index(at + low) + low for at in range(len(values))]
            if name not in _CLEAR_ORDERS and ranks != values:
                row.complain(
                    name,
                    "may be the rank of each response, or the responses in their order: name it "
                    "`ranks` or `order`",
                )
                return None
            values, name = ranks, "rank"
        name = "rank" if name in _RANK_LISTS else "model" if name in _SYSTEM_LISTS else name
        for one, value in zip(objects, values, strict=True):
            one[name.removesuffix("s") if name in _SCORE_LISTS else name] = value
    return tuple(
        replace(row, value=one, path=row.field(f"{key}[{place}]"))
        for place, one in enumerate(objects)
    )


def _is_order(values: list[Any]) -> bool:
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in values):
        return False
    return sorted(values) in ([*range(len(values))], [*range(1, len(values) + 1)])


def _key(record: Mapping[str, Any], known: tuple[str, ...]) -> str:
    return next((key for key in known if isinstance(record.get(key), str)), "")


def _scores(key: str, value: Any) -> list[Score]:
    """What a field says of a completion: a number, one a rater, or either by aspect."""
    if is_no_score(key):
        return []
    if (number := _number(value)) is not None:
        return [(key, DATASET, number, "")]
    if isinstance(value, list):
        numbers = [_number(one) for one in value]
        if None not in numbers:
            return [
                (key, position_rater(place), number, "")
                for place, number in enumerate(numbers)
                if number is not None
            ]
    if isinstance(value, dict):
        by_name = {plain_name(name): one for name, one in value.items()}
        named = by_name.get("rating", by_name.get("score"))
        number = number_in(named) if isinstance(named, str) else _number(named)
        if number is not None:
            comment = next((by_name[one] for one in _COMMENTS if one in by_name), "")
            return [(key, DATASET, number, comment if isinstance(comment, str) else "")]
        return [one for name, inner in value.items() for one in _scores(name, inner)]
    return []


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e100 else None


def _before(row: JsonObject) -> tuple[str, tuple[Message, ...] | None]:
    """(field, messages) of what the completions answer."""
    names = {plain_name(key): key for key in reversed(list(row.value))}
    if row.value.get("messages"):
        return "messages", read_messages(row, "messages")
    for use in ("context", "prompt"):
        for known in NAMES[use]:
            value = row.value.get(key := names.get(known, ""))
            if isinstance(value, str) and value.strip():
                return key, (conversation if use == "context" else prompted)(value)
            if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
                return key, alternating(value)
            if isinstance(value, list) and value and is_message(value[0]):
                return key, read_messages(row, key)
    return "", ()


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        yield from _records_of_row(row, number)


def _records_of_row(row: JsonObject, number: int) -> Iterator[Placed]:
    key = _list_key(row.value) or "completions"
    values = row.value.get(key)
    is_of_texts = isinstance(values, list) and bool(values) and isinstance(values[0], str)
    objects: tuple[JsonObject, ...] | None
    if is_of_texts:
        objects = _objects_of_texts(row, key)
    elif isinstance(values, dict):
        objects = _objects_by_system(row, key)
    else:
        objects = row.children(key)
    field, messages = _before(row)
    dialogue_id = name_or(row, "id", str(number))
    if objects is None or messages is None or dialogue_id is None:
        return
    beside: Mapping[str, Any] = {}
    if is_of_texts:
        beside = _lists_beside(row.value, key)
    elif isinstance(values, dict):
        beside = _scores_by_system(row.value, key)
    dialogue = CrossedDialogue(
        dialogue_id, row.where, messages, rest_of(row, (key, field, "id", "models", *beside))
    )
    ranked: list[tuple[float, str, int, JsonObject]] = []
    for place, one in enumerate(objects):
        text_key, system_key = _key(one.value, _TEXTS), _key(one.value, _SYSTEMS)
        if not text_key:
            one.complain("response", "is missing")
            continue
        system = clean_name(one.value[system_key]) if system_key else f"{ASSISTANT} {place + 1}"
        rest = rest_of(one, (text_key, system_key))
        rank = number_in(str(rest.pop(_RANK, "")))
        scores = {name: _scores(name, value) for name, value in rest.items()}
        metadata = {name: value for name, value in rest.items() if not scores[name]}
        where = f"{key}[{place}]"
        sample = dialogue.add_response(
            0, system, one.value[text_key], row.where, field=where, metadata=metadata
        )
        if rank is not None:
            ranked.append((rank, system, sample, one))
        for aspect, rater, score, comment in (each for of in scores.values() for each in of):
            if sample == 0:
                rating = RatingRecord(
                    dialogue_id, 0, system, rater, aspect, score, comment[:_MAX_COMMENT]
                )
                dialogue.judgements.append((rating, row.where, where))
    for better, worse in combinations(sorted(ranked, key=itemgetter(0)), 2):
        vote = PreferenceRecord(
            *(dialogue_id, 0, better[1], worse[1], "tie" if better[0] == worse[0] else "a"),
            DATASET,
            sample_a=better[2],
            sample_b=worse[2],
        )
        dialogue.judgements.append((vote, row.where, worse[3].path))
    yield from dialogue.records()


def _detect(sample: FileSample) -> float:
    key = _list_key(sample.record)
    is_by_system = isinstance(sample.record.get(key), dict)
    plain = {plain_name(one) for one in sample.keys}
    has_prompt = bool(plain & {*NAMES["prompt"], *NAMES["context"], "messages"})
    return 0.5 if key and (has_prompt or not is_by_system) else 0.0


_DESCRIPTION = """\
A JSON array or JSON lines: one prompt a record (`instruction`, `prompt`, `context`, `messages`)
with a list of `completions` (or `responses`, `outputs`, `answers`), each with its text, the `model`
and scores: a number a field, a list of one number a rater, or objects of these, such as
`annotations`, by aspect (`{"Rating": "4", "Rationale": "…"}`). A `rank` (Nectar; the lowest is the
best) prefers each completion to those behind it. A list of texts may have lists of `models`,
`scores`, `ranks` or an `order` (numbers of the texts, the best first) beside it;
`ranked_responses` are in that order. The completions may stand under the names of their systems
(`{"baker": "Not yet.", …}`), and so their `scores`. All other fields are metadata."""
_EXAMPLE = (
    '{"instruction": "Is the oven hot?", "completions": [{"model": "baker", "response": "Not yet."'
    ', "annotations": {"honesty": {"Rating": "4", "Rationale": "It is cold."}}, "overall_score": '
    '7.5}, {"model": "cook", "response": "Hot!", "overall_score": 3}]}\n'
)

IMPORTER = Importer(
    name="completions",
    summary="a prompt with several systems' completions and scores a record (UltraFeedback)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
