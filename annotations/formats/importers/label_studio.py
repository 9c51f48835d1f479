"""Label Studio's JSON export: chats, paragraphs and pairs, with ratings, choices and texts; also of
tasks that this project exported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from annotations.formats.importers.annotated_items import KEY, AnnotatedItems
from annotations.formats.importers.annotated_text import dialogue_of, system_of
from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    Collection,
    add_log,
    clean_name,
    score_of,
)
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import chat_messages, conversation
from annotations.formats.records import Message, PreferenceRecord

KINDS = ("responses", "conversations", "pairs")
"""Files of a folder, in the order in which they are read."""
_RESPONSES = ("response", "answer", "reply", "output", "completion")
_CONTEXTS = ("prompt", "context", "question", "text", "instruction")
_REFERENCES = ("reference", "references", "gold")
_SIDES = (("text1", "model1"), ("text2", "model2"))
_MINIMAL = {"annotator", "annotation_id"}
_ABOUT = {*_MINIMAL, "id", "created_at", "updated_at", "lead_time", "agreement"}
_RESULTS = {"rating", "number", "choices", "selected"}
_USED = (*_RESPONSES, *_CONTEXTS, *_REFERENCES, "text1", "text2", "model1", "model2")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read an export.

    Args:
        path: JSON of tasks with ``data`` and ``annotations``, or the folder that the exporter
            ``label-studio`` writes.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records: a task is a dialogue. A rating of a message is about that response,
        of a chat about the whole, of a task with a response about it. Choices are labels, text
        areas comments, pairwise choices preferences. Cancelled annotations are skipped. Predictions
        are a model's and stay metadata. Raters are numbers, never addresses.

    Raises:
        ImportFailed: as in ``json_rows``.
    """
    collection, items = Collection(problems), AnnotatedItems(problems)
    files = [path]
    if path.is_dir():
        files = [file for kind in KINDS if (file := path / f"{kind}.json").is_file()]
    for file in files:
        for where, task in json_rows(file, problems_of(problems, path, file)):
            place = where if file == path else f"{file.name}:{where}"
            if isinstance(task, dict) and task.keys() >= _MINIMAL:
                task = _of_minimal(task)
            if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                problems.add(place, "data", "is missing: it is no task")
            elif KEY in task["data"]:
                _take_back(task, place, items)
            else:
                _Task(task, place, collection).take()
    if items and collection.conversations:
        problems.add(
            "", "", f"holds tasks with data.{KEY} beside others: import them by themselves"
        )
    yield from items.records() if items else collection.records()


def _of_minimal(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the export *JSON-MIN* as the task with one annotation that it is."""
    results = {name: _minimal_results(value) for name, value in row.items() if name not in _ABOUT}
    data = {name: row[name] for name, found in results.items() if not found}
    result = [{"from_name": name, "value": one} for name, found in results.items() for one in found]
    annotation = {"completed_by": row["annotator"], "result": result}
    return {"id": row.get("id"), "data": data, "annotations": [annotation]}


def _minimal_results(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    if values and all(isinstance(one, dict) and one.keys() & _RESULTS for one in values):
        return values
    return [{"rating": value}] if score_of(value) is not None else []


def _take_back(task: Mapping[str, Any], where: Where, items: AnnotatedItems) -> None:
    """A task of this project's export."""
    data = task["data"]
    item = items.item(data[KEY], f"data.{KEY}", data.get("context"), where)
    if item is None:
        return
    for place, annotation in enumerate(_annotations(task)):
        if annotation.get("was_cancelled"):
            items.problems.skip(where, f"annotations[{place}]", "was cancelled")
            continue
        rater = _rater_of(annotation)
        for result in _results(annotation):
            value = result.get("value")
            keys = ("rating", "number", "choices", "text")
            values = [value[key] for key in keys if key in value] if isinstance(value, dict) else []
            if values:
                name = clean_name(result.get("from_name"))
                items.judge(item, name, rater, values[0], result.get("meta"), where)
    items.finish(item)


class _Task:
    def __init__(self, task: Mapping[str, Any], where: Where, collection: Collection) -> None:
        self.task = task
        self.data: Mapping[str, Any] = task["data"]
        self.where = where
        self.problems = collection.problems
        self.one = collection.conversation(
            dialogue_of(self.data) or clean_name(task.get("id")), where
        )
        self.system = system_of(self.data)
        self.numbers: dict[str, int] = {}
        self.whole: int | None = None
        """What a result without a message is about: a turn, or None for the whole conversation."""
        self.pair: tuple[str, str] | None = None
        self.others: list[dict[str, Any]] = []
        """Results that are no score, label, comment or preference."""

    def take(self) -> None:
        listed = _annotations(self.task)
        self._texts(listed)
        self._metadata()
        for place, annotation in enumerate(listed):
            if annotation.get("was_cancelled"):
                self.problems.skip(self.where, f"annotations[{place}]", "was cancelled")
                continue
            self._judge(annotation)
        if self.others:
            self.one.metadata["results"] = self.others

    def _texts(self, annotations: list[dict[str, Any]]) -> None:
        chats = [value for value in self.data.values() if isinstance(value, list)]
        chat = next((found for value in chats if value and (found := chat_messages(value))), ())
        reply = next((self.data[k] for k in _RESPONSES if isinstance(self.data.get(k), str)), None)
        written = next((self.data[k] for k in _CONTEXTS if isinstance(self.data.get(k), str)), "")
        context = chat or (conversation(written) if written.strip() else ())
        references = [self.data[k] for k in _REFERENCES if isinstance(self.data.get(k), str)]
        one, where = self.one, self.where
        if all(isinstance(self.data.get(text), str) for text, _ in _SIDES):
            one.turn(0, where, context)
            names = [clean_name(self.data.get(model)) for _, model in _SIDES]
            self.pair = (names[0] or "text1", names[1] or "text2")
            for place, (text, _) in enumerate(_SIDES):
                sample = int(place == 1 and self.pair[0] == self.pair[1])
                one.response(0, self.pair[place], self.data[text], where, sample)
        elif reply is not None:
            one.turn(0, where, context)
            one.response(0, self.system, reply, where)
            self.whole = 0
        else:
            entered = self._entered_messages(annotations)
            one.messages = context or tuple(message for _, message in entered)
            numbers = add_log(one, self.system, where)
            if not context:
                self.numbers = {
                    name: numbers[place]
                    for place, (name, _) in enumerate(entered)
                    if place in numbers
                }
        for reference in references:
            if reference.strip():
                last = max(one.turns)
                one.turn(last, where, one.turns[last].context, reference)

    def _entered_messages(self, annotations: list[dict[str, Any]]) -> list[tuple[str, Message]]:
        """Messages that were written while annotating, of the first annotation that has any."""
        for annotation in annotations:
            found = []
            for result in _results(annotation):
                value = result.get("value")
                message = value.get("chatmessage") if isinstance(value, dict) else None
                if isinstance(message, dict) and (made := chat_messages([message])):
                    found.append((str(result.get("id", "")), made[0]))
            if found:
                return found
        return []

    def _metadata(self) -> None:
        known = {*_USED, "system", "model"}
        self.one.metadata.update(
            {
                key: value
                for key, value in self.data.items()
                if key not in known and not isinstance(value, list)
            }
        )
        for key in ("meta", "predictions"):
            if self.task.get(key):
                self.one.metadata[key] = self.task[key]

    def _judge(self, annotation: Mapping[str, Any]) -> None:
        rater = _rater_of(annotation)
        comments = []
        for result in _results(annotation):
            value, question = result.get("value"), clean_name(result.get("from_name"))
            if not isinstance(value, dict) or "chatmessage" in value:
                continue
            number = self.numbers.get(str(result.get("id", "")), self.whole)
            score = score_of(next((value[k] for k in ("rating", "number") if k in value), None))
            if score is not None:
                if self.one.responses:
                    self._rate(number, rater, question, score)
            elif isinstance(value.get("choices"), list):
                chosen = tuple(str(choice) for choice in value["choices"])
                label = chosen[0] if len(chosen) == 1 else chosen
                self.one.label(number, self.system, rater, question, label, self.where)
            elif "text" in value and result.get("type") == "textarea":
                texts = value["text"] if isinstance(value["text"], list) else [value["text"]]
                comments.append((number, "\n".join(map(str, texts))))
            elif self.pair and value.get("selected") in ("left", "right"):
                self._prefer(rater, "a" if value["selected"] == "left" else "b")
            else:
                self.others.append({"rater": rater, **result})
        for number, text in comments:
            self.one.comment(number, self.system, rater, text, self.where)

    def _rate(self, number: int | None, rater: str, question: str, score: float) -> None:
        self.one.rate(number, self.system, rater, question or "overall", score, self.where)

    def _prefer(self, rater: str, preferred: Literal["a", "b"]) -> None:
        assert self.pair is not None
        a, b = self.pair
        record = PreferenceRecord(self.one.id, 0, a, b, preferred, rater, sample_b=int(a == b))
        self.one.prefer(record, self.where)


def _annotations(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = task.get("annotations")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _rater_of(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    return clean_name(by.get("id") if isinstance(by, dict) else by) or "annotator"


def _results(annotation: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = annotation.get("result")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        both = any({f"{kind}.json", f"{kind}.xml"} <= set(sample.members) for kind in KINDS)
        return 0.95 if both else 0.0
    keys = sample.keys
    is_task = keys >= {"id", "data", "annotations"} or keys >= _MINIMAL
    return 0.95 if sample.kind not in ("table", "rows") and is_task else 0.0


_DESCRIPTION = """\
The export *JSON*: tasks whose `data` have a chat (a list of messages), or a context and a response,
or `text1` and `text2` with `model1` and `model2`; `model` or `system` names the system. Or the
export *JSON-MIN*, whose texts are metadata."""
_EXAMPLE = """\
[{"id": 1,
  "data": {"model": "north-1", "chat": [
    {"role": "user", "content": "Is it raining?"}, {"role": "assistant", "content": "Not yet."}]},
  "annotations": [{"id": 2, "completed_by": 3, "was_cancelled": false, "result": [
    {"type": "rating", "from_name": "quality", "value": {"rating": 4}}]}]}]
"""

IMPORTER = Importer(
    name="label-studio",
    summary="Label Studio's JSON export: chats, paragraphs, pairs",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
