"""The project's own format: one record of ``formats.records`` a line, named by ``type``. It
holds everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.json_source import json_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterKind,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemKind,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from common.text import MAX_ASPECT, MAX_NAME, MAX_TEXT

T = TypeVar("T")

CORPUS = "corpus.jsonl"

_SYSTEM_KINDS: tuple[SystemKind, ...] = get_args(SystemKind)
_RATER_KINDS: tuple[RaterKind, ...] = get_args(RaterKind)
_PREFERRED: tuple[Literal["a", "b", "tie", "both_bad"], ...] = ("a", "b", "tie", "both_bad")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a corpus in the project's own format.

    Args:
        path: JSON lines, one record of ``annotations.formats.records`` per line, named by ``type``;
            or the folder that the export writes, of which ``corpus.jsonl`` is read.
        _part: ignored, the file holds one corpus.
        problems: collects faults. A record with a fault is left out.

    Returns:
        Iterator over the records as they stand in the file, each with its line number.

    Raises:
        ImportFailed: as in ``json_lines``.
    """
    if (path / CORPUS).is_file():
        problems = problems_of(problems, path, path / CORPUS)
        path /= CORPUS
    for number, value in json_lines(path, problems):
        line = JsonObject.of(value, number, problems)
        record = record_of(line) if line else None
        if record is not None:
            yield record, number, ""


def record_of(line: JsonObject) -> Record | None:
    """Read one record of the project's own format.

    Args:
        line: an object of the file; its ``type`` names the kind of record.

    Returns:
        The record; None, with the problems noted, where a field is missing, unknown or bad.
    """
    type_name = line.text("type", MAX_NAME)
    if type_name is None:
        return None
    reader = _READERS.get(type_name)
    if reader is None:
        line.complain("type", f"{type_name!r} is none of {', '.join(_READERS)}")
        return None
    before = len(line.problems.found)
    record = reader(line)
    # A field with a fault has been read as its default: such a record says something that the file
    # does not.
    if len(line.problems.found) == before:
        return record
    line.problems.refused.add((type_name, str(line.value.get(_NAMED_BY.get(type_name, ""), ""))))
    return None


def _corpus(line: JsonObject) -> CorpusRecord | None:
    line.refuse_unknown(
        (
            "type",
            "name",
            "part",
            "simulated",
            "description",
            "aspects",
            "main_aspect",
            "scale",
            "scales",
            "language",
        )
    )
    default = CorpusRecord()
    return CorpusRecord(
        name=_optional(line, "name", lambda: line.text("name", MAX_NAME, True), default.name),
        part=_optional(line, "part", lambda: line.text("part", MAX_NAME, True), default.part),
        simulated=_optional(line, "simulated", lambda: line.flag("simulated"), default.simulated),
        description=_optional(
            line,
            "description",
            lambda: line.text("description", MAX_TEXT, True),
            default.description,
        ),
        aspects=_optional(
            line, "aspects", lambda: line.texts("aspects", MAX_ASPECT), default.aspects
        ),
        main_aspect=_optional(
            line, "main_aspect", lambda: line.text("main_aspect", MAX_ASPECT), default.main_aspect
        ),
        scale=_optional(line, "scale", lambda: _scale(line), default.scale),
        scales=_optional(line, "scales", lambda: _scales(line), default.scales),
        language=_optional(
            line, "language", lambda: line.text("language", MAX_NAME, True), default.language
        ),
    )


def _scale(line: JsonObject) -> tuple[float, float] | None:
    ends = line.numbers("scale")
    if ends is None:
        return None
    if len(ends) != 2:
        line.complain("scale", "must hold two numbers, the lowest and the highest score")
        return None
    return ends[0], ends[1]


def _scales(line: JsonObject) -> tuple[tuple[str, float | None, float | None], ...] | None:
    rows = line.items("scales")
    if rows is None:
        return None
    scales: list[tuple[str, float | None, float | None] | None] = []
    for index, row in enumerate(rows):
        field = f"scales[{index}]"
        if not isinstance(row, list) or len(row) != 3 or not isinstance(row[0], str):
            line.complain(field, "must be [aspect, lowest, highest]; null is an open end")
            scales.append(None)
            continue
        low, high = (
            None if end is None else line.as_number(end, f"{field}[{k}]")
            for k, end in enumerate(row[1:], 1)
        )
        scales.append((row[0], low, high))
    return all_or_none(scales)


def _system(line: JsonObject) -> SystemRecord | None:
    line.refuse_unknown(("type", "name", "kind", "description"))
    name = line.text("name", MAX_NAME)
    kind: SystemKind = _optional(
        line, "kind", lambda: _one_of(line, "kind", _SYSTEM_KINDS), SystemRecord("").kind
    )
    description = _optional(
        line, "description", lambda: line.text("description", MAX_TEXT, True), ""
    )
    return None if name is None else SystemRecord(name, kind, description)


def _rater(line: JsonObject) -> RaterRecord | None:
    line.refuse_unknown(("type", "name", "kind"))
    name = line.text("name", MAX_NAME)
    kind: RaterKind = _optional(
        line, "kind", lambda: _one_of(line, "kind", _RATER_KINDS), RaterRecord("").kind
    )
    return None if name is None else RaterRecord(name, kind)


def _dialogue(line: JsonObject) -> DialogueRecord | None:
    line.refuse_unknown(
        (
            "type",
            "id",
            "persona",
            "partner_persona",
            "turns",
            "messages",
            "interactive",
            "knowledge",
            "metadata",
        )
    )
    dialogue_id = line.text("id", MAX_NAME)
    messages: tuple[Message, ...] = _optional(line, "messages", lambda: _messages(line), ())
    is_conversation = line.has("messages")
    # Without messages it is the first version of the format, in which these are never left out.
    persona, partner_persona = (
        () if is_conversation and not line.has(key) else line.texts(key, MAX_TEXT)
        for key in ("persona", "partner_persona")
    )
    objects = () if is_conversation and not line.has("turns") else line.children("turns")
    turns = None if objects is None else all_or_none([_turn(turn) for turn in objects])
    interactive: bool = _optional(line, "interactive", lambda: line.flag("interactive"), False)
    knowledge: tuple[str, ...] = _optional(
        line, "knowledge", lambda: line.texts("knowledge", MAX_TEXT), ()
    )
    metadata = _metadata(line)
    if dialogue_id is None or persona is None or partner_persona is None or turns is None:
        return None
    return DialogueRecord(
        dialogue_id,
        persona,
        partner_persona,
        turns,
        messages,
        interactive,
        knowledge,
        metadata,
    )


def _messages(line: JsonObject) -> tuple[Message, ...] | None:
    objects = line.children("messages")
    return None if objects is None else all_or_none([_message(message) for message in objects])


def _message(message: JsonObject) -> Message | None:
    message.refuse_unknown(("role", "text", "name", "parts", "time", "metadata"))
    role = message.text("role", MAX_NAME)
    text = message.text("text", MAX_TEXT, may_be_empty=True)
    name: str = _optional(message, "name", lambda: message.text("name", MAX_NAME, True), "")
    time: str = _optional(message, "time", lambda: message.text("time", MAX_NAME, True), "")
    parts, metadata = _parts(message), _metadata(message)
    return (
        None if role is None or text is None else Message(role, text, name, parts, time, metadata)
    )


def _parts(line: JsonObject) -> tuple[dict[str, Any], ...]:
    objects: tuple[JsonObject, ...] = _optional(line, "parts", lambda: line.children("parts"), ())
    return tuple(part.value for part in objects)


def _metadata(line: JsonObject) -> dict[str, Any]:
    found: JsonObject | None = _optional(line, "metadata", lambda: line.child("metadata"), None)
    return {} if found is None else found.value


def _turn(turn: JsonObject) -> TurnRecord | None:
    turn.refuse_unknown(("number", "context", "references", "after"))
    number = turn.parse_integer("number")
    after: int | None = _optional(turn, "after", lambda: turn.parse_integer("after"), None)
    is_placed = turn.has("after") and not turn.has("context")
    objects = () if is_placed else turn.children("context")
    context = (
        None if objects is None else all_or_none([_utterance(utterance) for utterance in objects])
    )
    references: tuple[str, ...] = _optional(
        turn, "references", lambda: turn.texts("references", MAX_TEXT), ()
    )
    if number is None or context is None:
        return None
    return TurnRecord(number, context, references, after)


def _utterance(utterance: JsonObject) -> Utterance | None:
    utterance.refuse_unknown(("speaker", "text"))
    speaker = utterance.text("speaker", MAX_NAME)
    text = utterance.text("text", MAX_TEXT)
    return None if speaker is None or text is None else Utterance(speaker, text)


def _response(line: JsonObject) -> ResponseRecord | None:
    line.refuse_unknown(
        ("type", "dialogue_id", "turn", "system", "text", "sample", "parts", "metadata")
    )
    dialogue_id = line.text("dialogue_id", MAX_NAME)
    turn = line.parse_integer("turn")
    system = line.text("system", MAX_NAME)
    text = line.text("text", MAX_TEXT, may_be_empty=True)
    sample: int = _optional(line, "sample", lambda: line.parse_integer("sample"), 0)
    parts, metadata = _parts(line), _metadata(line)
    if dialogue_id is None or turn is None or system is None or text is None:
        return None
    return ResponseRecord(dialogue_id, turn, system, text, sample, parts, metadata)


def _rating(line: JsonObject) -> RatingRecord | None:
    line.refuse_unknown(
        ("type", "dialogue_id", "turn", "system", "rater", "aspect", "score", "comment")
    )
    dialogue_id = line.text("dialogue_id", MAX_NAME)
    turn = _turn_or_none(line)
    system = line.text("system", MAX_NAME)
    rater = line.text("rater", MAX_NAME)
    aspect = line.text("aspect", MAX_ASPECT)
    score = line.number("score")
    comment = _optional(line, "comment", lambda: line.text("comment", MAX_TEXT, True), "")
    if dialogue_id is None or system is None or rater is None or aspect is None or score is None:
        return None
    return RatingRecord(dialogue_id, turn, system, rater, aspect, score, comment)


def _turn_or_none(line: JsonObject) -> int | None:
    """The turn's number; None, too, for null: the whole dialogue."""
    of_dialogue = line.has("turn") and line.value["turn"] is None
    return None if of_dialogue else line.parse_integer("turn")


def _label(line: JsonObject) -> LabelRecord | None:
    line.refuse_unknown(
        ("type", "dialogue_id", "turn", "system", "rater", "question", "value", "message")
    )
    dialogue_id = line.text("dialogue_id", MAX_NAME)
    turn = _turn_or_none(line)
    system = line.text("system", MAX_NAME, may_be_empty=True)
    rater = line.text("rater", MAX_NAME)
    question = line.text("question", MAX_ASPECT)
    value = (
        line.texts("value", MAX_TEXT)
        if isinstance(line.value.get("value"), list)
        else line.text("value", MAX_TEXT)
    )
    message: int | None = _optional(line, "message", lambda: line.parse_integer("message"), None)
    if dialogue_id is None or system is None or rater is None or question is None or value is None:
        return None
    return LabelRecord(dialogue_id, turn, system, rater, question, value, message)


def _preference(line: JsonObject) -> PreferenceRecord | None:
    line.refuse_unknown(
        (
            "type",
            "dialogue_id",
            "turn",
            "system_a",
            "system_b",
            "preferred",
            "rater",
            "aspect",
            "sample_a",
            "sample_b",
            "comment",
            "metadata",
        )
    )
    dialogue_id = line.text("dialogue_id", MAX_NAME)
    turn = _turn_or_none(line)
    system_a, system_b = line.text("system_a", MAX_NAME), line.text("system_b", MAX_NAME)
    rater = line.text("rater", MAX_NAME)
    preferred = _one_of(line, "preferred", _PREFERRED) if line.text("preferred", MAX_NAME) else None
    aspect: str = _optional(line, "aspect", lambda: line.text("aspect", MAX_ASPECT), "overall")
    sample_a: int = _optional(line, "sample_a", lambda: line.parse_integer("sample_a"), 0)
    sample_b: int = _optional(line, "sample_b", lambda: line.parse_integer("sample_b"), 0)
    comment: str = _optional(line, "comment", lambda: line.text("comment", MAX_TEXT, True), "")
    metadata = _metadata(line)
    if (
        dialogue_id is None
        or system_a is None
        or system_b is None
        or rater is None
        or preferred is None
    ):
        return None
    return PreferenceRecord(
        dialogue_id,
        turn,
        system_a,
        system_b,
        preferred,
        rater,
        aspect,
        sample_a,
        sample_b,
        comment,
        metadata,
    )


def _optional(line: JsonObject, key: str, read: Callable[[], T | None], default: T) -> T:
    """The field, or ``default`` where the line does not have it or has a bad one (which ``read``
    has noted)."""
    value = read() if line.has(key) else None
    return default if value is None else value


def _one_of(line: JsonObject, key: str, choices: Collection[T]) -> T | None:
    value = line.value[key]
    for choice in choices:
        if choice == value:
            return choice
    line.complain(key, f"must be one of {', '.join(map(str, choices))}")
    return None


_NAMED_BY = {"system": "name", "rater": "name", "dialogue": "id", "response": "dialogue_id"}
_READERS: dict[str, Callable[[JsonObject], Record | None]] = {
    "corpus": _corpus,
    "system": _system,
    "rater": _rater,
    "dialogue": _dialogue,
    "response": _response,
    "rating": _rating,
    "label": _label,
    "preference": _preference,
}

_DESCRIPTION = """\
docs/formats.md has the fields of each record. Of the folder or zip file that the export writes,
`corpus.jsonl` is read; metric scores are not."""
_EXAMPLE = (
    '{"type": "corpus", "name": "Two cooks", "aspects": ["overall", "Natural"], "scales":'
    ' [["Natural", 1, 3]]}\n'
    '{"type": "system", "name": "parrot", "kind": "baseline"}\n'
    '{"type": "rater", "name": "ann"}\n'
    '{"type": "dialogue", "id": "soup", "persona": ["i cook."], "partner_persona": [], '
    '"turns": [{"number": 0, "context": [{"speaker": "A", "text": "What is in the '
    'pot?"}], "references": ["Leeks and potatoes."]}]}\n'
    '{"type": "response", "dialogue_id": "soup", "turn": 0, "system": "parrot", "text": '
    '"What is in the pot?"}\n'
    '{"type": "rating", "dialogue_id": "soup", "turn": 0, "system": "parrot", "rater": '
    '"ann", "aspect": "overall", "score": 1}\n'
)


def _detect(sample: FileSample) -> float:
    # The export's folder has metric scores beside the corpus.
    sample = sample.member(CORPUS) if CORPUS in sample.members else sample
    first = sample.record.get("type")
    return 1.0 if sample.kind == "json lines" and first in ("corpus", "dialogue") else 0.0


IMPORTER = Importer(
    name="jsonl",
    summary="this project's own format: one record a line (JSON lines)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
