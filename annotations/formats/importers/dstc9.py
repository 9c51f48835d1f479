"""DSTC9's interactive evaluation (Mehri et al. 2022): whole conversations of a system with people,
and their scores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, logged_conversation, rest_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import position_rater, with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.spoken_lines import spoken_lines
from annotations.formats.records import ASSISTANT, Message, RatingRecord
from common.text import MAX_TEXT

MAIN_ASPECT = "human (overall)"
CHATBOT = "chatbot"
"""The system of a single file: an upload has no name of its own."""
SCALES = {
    "consistent": (0.0, 1.0),
    **dict.fromkeys(
        (
            "likeable",
            "diverse",
            "informative",
            "coherent",
            "understanding",
            "flexible",
            "topic depth",
            "error recovery",
            "inquisitive",
        ),
        (1.0, 3.0),
    ),
    MAIN_ASPECT: (1.0, 5.0),
}
"""Of the questionnaire of DSTC9's interactive track, which ConTurE kept."""
ROLES = {"User": USER, "System": ASSISTANT}


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    count = 0
    files = files_of(path, ".json")
    if not files:
        problems.stop("", "", "holds no file *.json")
    for file in files:
        own = problems_of(problems, path, file)
        held: dict[str, list[JsonObject]] = {}
        for where, value in json_rows(file, own):
            place = where if file == path else f"{own.file}:{where}"
            row = JsonObject.of(value, place, problems)
            context = row.text("context", MAX_TEXT) if row else None
            if row is not None and context is not None:
                held.setdefault(context.strip(), []).append(row)
        for context, rows in held.items():
            messages = spoken_lines(rows[0], "context", context, ROLES)
            if messages is None:
                continue
            count += 1
            system = CHATBOT if file == path else file.stem
            yield from _dialogue(str(count), messages, system, rows)


def _dialogue(
    dialogue_id: str, messages: tuple[Message, ...], system: str, rows: list[JsonObject]
) -> Iterator[Placed]:
    metadata = rest_of(rows[0], ("context", *SCALES))
    yield from logged_conversation(
        dialogue_id, messages, system, rows[0].where, field="context", metadata=metadata
    )
    if not any(message.role == ASSISTANT for message in messages):
        rows[0].problems.skip(rows[0].where, "", "is about a conversation without an answer")
        return
    for index, row in enumerate(rows):
        for aspect in SCALES:
            score = row.number(aspect) if row.value.get(aspect) is not None else None
            if score is not None:
                rating = RatingRecord(
                    dialogue_id, None, system, position_rater(index), aspect, score
                )
                yield rating, row.where, aspect


def _detect(sample: FileSample) -> float:
    names = [name for name in sample.members if name.endswith(".json")]
    seen = (sample, *(sample.member(name) for name in names[:3]))
    fits = any(one.keys >= {"context", "consistent", MAIN_ASPECT} for one in seen)
    return 0.9 if fits else 0.0


_DESCRIPTION = """\
A JSON array for each system (or a folder of them): `context` is a whole conversation, its lines
begin with `User: ` or `System: `; beside it stand scores of eleven aspects. In a folder the system
is the file's name without its ending, in a single file `chatbot`. Records with one context are one
dialogue, rated by `rater 1`, `rater 2`, …, who are anonymous. Each line of the system is a
response. `consistent` is 0 to 1, `human (overall)` 1 to 5, the others are 1 to 3."""
_EXAMPLE = (
    '[{"context": "User: Is the oven hot?\\nSystem: Not yet.\\n", "consistent": 1, "likeable": 2, '
    '"human (overall)": 4}]\n'
)

IMPORTER = Importer(
    name="dstc9",
    summary="DSTC9's interactive evaluation: conversations with scores (JSON array, a folder)",
    stream=with_head(_body, scales=SCALES, main_aspect=MAIN_ASPECT),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
