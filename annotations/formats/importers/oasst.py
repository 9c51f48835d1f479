"""Message trees of OpenAssistant (Köpf et al. 2023, NeurIPS), whole or a message a record: several
people answer a prompt, and others rank the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import is_time, rest_of, role_named
from annotations.formats.importers.collected import clean_name, score_of
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import DATASET, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import ASSISTANT, Message, PreferenceRecord, RatingRecord
from common.text import MAX_NAME, MAX_TEXT

_QUALITY = "quality"
_USED = ("text", "role", "replies", "parent_id", "model_name", "user_id")


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    flat: dict[str, list[JsonObject]] = {}
    for _, row in numbered_objects(path, problems):
        if row.has("prompt"):
            root = row.child("prompt")
            about = rest_of(row, ("prompt",))
            if root is not None:
                yield from _of_tree(root, lambda one: one.children("replies") or (), about)
        else:
            if not flat:
                refuse_large(data_size(path), problems)
            flat.setdefault(clean_name(row.value.get("parent_id")), []).append(row)
    visited: set[str] = set()

    def replies_of(message: JsonObject) -> tuple[JsonObject, ...]:
        """Once for each id: one that occurs twice may stand below itself."""
        name = clean_name(message.value.get("message_id"))
        if not name or name in visited:
            return ()
        visited.add(name)
        return tuple(flat.get(name, ()))

    for root in flat.get("", ()):
        yield from _of_tree(root, replies_of, {})
    known = {clean_name(one.value.get("message_id")) for rows in flat.values() for one in rows}
    for parent, rows in flat.items():
        if parent and parent not in known:
            for row in rows:
                row.problems.skip(row.where, "parent_id", f"{parent[:50]!r} is not in the file")


def _of_tree(root: JsonObject, replies_of: Any, about: Mapping[str, Any]) -> Iterator[Placed]:
    """A dialogue for each prompt of the tree, with the path to it and all answers to it."""
    waiting: list[tuple[JsonObject, tuple[Message, ...]]] = [(root, ())]
    while waiting:
        prompt, before = waiting.pop()
        message = _message(prompt)
        name = prompt.name("message_id")
        if message is None or name is None:
            continue
        context = (*before, message)
        dialogue = CrossedDialogue(name, prompt.where, context, {**about, **message.metadata})
        dialogue.add_turn(0)
        answers = sorted(
            (one for one in replies_of(prompt) if not _is_left_out(one)), key=_place_of
        )
        taken: list[tuple[JsonObject, str, int]] = []
        further: list[tuple[JsonObject, tuple[Message, ...]]] = []
        for answer in answers:
            reply = _message(answer)
            if reply is None:
                continue
            system = clean_name(answer.value.get("model_name")) or ASSISTANT
            sample = dialogue.add_response(
                0, system, reply.text, answer.where, field=answer.path, metadata=reply.metadata
            )
            taken.append((answer, system, sample))
            quality = _quality(answer.value.get("labels"))
            if quality is not None and sample == 0:
                rating = RatingRecord(name, 0, system, DATASET, _QUALITY, quality)
                dialogue.judgements.append((rating, answer.where, f"{answer.path}.labels"))
            nexts = [one for one in replies_of(answer) if not _is_left_out(one)]
            further += [(one, (*context, reply)) for one in nexts]
        dialogue.judgements += _preferences(name, taken)
        yield from dialogue.records()
        waiting += reversed(further)


def _preferences(name: str, taken: list[tuple[JsonObject, str, int]]) -> list[Placed]:
    """One for each two answers that have a rank: 0 is the best."""
    ranked = [one for one in taken if isinstance(one[0].value.get("rank"), int | float)]
    found: list[Placed] = []
    for (better, system_a, sample_a), (worse, system_b, sample_b) in combinations(ranked, 2):
        vote = PreferenceRecord(
            *(name, 0, system_a, system_b),
            "tie" if better.value["rank"] == worse.value["rank"] else "a",
            DATASET,
            sample_a=sample_a,
            sample_b=sample_b,
        )
        found.append((vote, worse.where, f"{worse.path}.rank".lstrip(".")))
    return found


def _place_of(answer: JsonObject) -> float:
    """Ranked answers first, the best of them at the beginning."""
    rank = answer.value.get("rank")
    return float(rank) if isinstance(rank, int | float) else 1e9


def _is_left_out(row: JsonObject) -> bool:
    """Whether a message was deleted or did not pass its review; that is reported."""
    for key, is_out, why in (
        ("deleted", row.value.get("deleted") is True, "was deleted"),
        ("review_result", row.value.get("review_result") is False, "did not pass its review"),
    ):
        if is_out:
            row.problems.skip(row.where, row.field(key), f"{why}, and what follows it")
            return True
    return False


def _message(row: JsonObject) -> Message | None:
    text = row.text("text", MAX_TEXT, may_be_empty=True)
    role = row.text("role", MAX_NAME)
    if text is None or role is None:
        return None
    rest = {key: value for key, value in rest_of(row, _USED).items() if value is not None}
    time = rest.get("created_date")
    if isinstance(time, str) and is_time(time):
        del rest["created_date"]
    else:
        time = ""
    return Message(role_named(role), text, time=time, metadata=rest)


def _quality(labels: Any) -> float | None:
    """The mean of what reviewers said of a message: an object by label, or lists side by side."""
    if isinstance(labels, dict) and isinstance(names := labels.get("name"), list):
        values = labels.get("value")
        labels = dict(zip(names, values, strict=False)) if isinstance(values, list) else {}
    found = labels.get(_QUALITY) if isinstance(labels, dict) else None
    found = found.get("value") if isinstance(found, dict) else found
    return score_of(found)


def _detect(sample: FileSample) -> float:
    is_tree = sample.keys >= {"message_tree_id", "prompt"}
    return 0.95 if is_tree or sample.keys >= {"message_id", "parent_id", "text", "role"} else 0.0


_DESCRIPTION = """\
JSON lines (`.trees.jsonl.gz`, `.messages.jsonl.gz`) or Parquet: a tree of messages a record, or a
message a record with `parent_id`. Every prompt is a dialogue, with the path from the root to it as
its messages and `message_id` as its id; its answers are responses of the system `model_name`, else
samples of `assistant`, the best rank first. Each two of them with a `rank` are a preference of the
rater `dataset`; the reviewers' mean `quality` of the first is a score. Messages that were deleted
or did not pass their review are left out and reported, with what follows them. All other fields but
`user_id` are metadata."""
_EXAMPLE = (
    '{"message_id": "p", "parent_id": null, "text": "Is the oven hot?", "role": "prompter"}\n'
    '{"message_id": "a", "parent_id": "p", "text": "Not yet.", "role": "assistant", "rank": 0}\n'
    '{"message_id": "b", "parent_id": "p", "text": "Hot!", "role": "assistant", "rank": 1}\n'
)

IMPORTER = Importer(
    name="oasst",
    summary="message trees of OpenAssistant, whole or a message a record, with ranks",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
