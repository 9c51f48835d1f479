"""ParlAI's text format: a line an exchange, its fields ``name:value`` between tabs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import PARTNER
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_source import decode_line, file_lines
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import TARGET_SPEAKER, Message, TurnRecord

PERSONA = "your persona:"
MAX_EXCHANGES = 50_000
"""In one episode."""
_LABELS = ("labels", "eval_labels")
_END = "episode_done"
_LISTS = (*_LABELS, "label_candidates")


@dataclass
class _Episode:
    """The dialogue that the reader is in."""

    where: int
    messages: list[Message] = field(default_factory=list)
    turns: list[TurnRecord] = field(default_factory=list)
    persona: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def add(self, fields: dict[str, str]) -> None:
        lines = _plain(fields.get("text", "")).split("\n")
        if not self.messages:
            self.persona = [
                line.strip().removeprefix(PERSONA).strip()
                for line in lines
                if line.strip().startswith(PERSONA)
            ]
            lines = [line for line in lines if not line.strip().startswith(PERSONA)]
        labels = next((fields[key] for key in _LABELS if fields.get(key)), None)
        rest = {
            key: [_plain(one) for one in value.split("|")] if key in _LISTS else _plain(value)
            for key, value in fields.items()
            if key not in ("text", _END, *_LABELS)
        }
        if not self.messages and "id" in rest:
            self.metadata["id"] = rest.pop("id")
        text = "\n".join(lines)
        self.messages.append(spoken(PARTNER, text, rest))
        if labels is not None:
            answers = tuple(_plain(one) for one in labels.split("|"))
            references = tuple(one for one in answers if one.strip())
            self.turns.append(
                TurnRecord(len(self.turns), references=references, after=len(self.messages))
            )
            self.messages.append(spoken(TARGET_SPEAKER, answers[0]))


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, episode in enumerate(_episodes(path, problems), 1):
        yield from people_talking(
            str(number),
            tuple(episode.messages),
            episode.where,
            turns=tuple(episode.turns),
            persona=tuple(one for one in episode.persona if one),
            metadata=episode.metadata,
        )


def _episodes(path: Path, problems: Problems) -> Iterator[_Episode]:
    episode: _Episode | None = None
    for where, line in file_lines(path, problems, "a text file"):
        text, fault = decode_line(line)
        fields = {} if fault else _fields(text.rstrip("\r\n"))
        if "text" not in fields and not any(key in fields for key in _LABELS):
            problems.add(where, "", fault or "holds no text: and no labels: between tabs")
            continue
        episode = episode or _Episode(where)
        if len(episode.messages) >= 2 * MAX_EXCHANGES:
            problems.stop(
                where, "", f"more than {MAX_EXCHANGES:,} lines before {_END}:True in one episode"
            )
        episode.add(fields)
        if fields.get(_END, "").strip().lower() == "true":
            yield episode
            episode = None
    if episode is not None:
        yield episode


def _fields(line: str) -> dict[str, str]:
    pieces = (piece.partition(":") for piece in line.split("\t"))
    return {name: value for name, colon, value in pieces if colon and name}


def _plain(value: str) -> str:
    return value.replace("\\n", "\n").replace("__PIPE__", "|")


def _detect(sample: FileSample) -> float:
    first = sample.text.lstrip().partition("\n")[0]
    is_exchange = first.startswith("text:") and ("labels:" in first or f"{_END}:" in first)
    return 0.9 if is_exchange else 0.0


_DESCRIPTION = r"""
A text file: one exchange a line, with fields `text:`, `labels:` or `eval_labels:` between tabs;
`episode_done:True` ends a dialogue. In values `\n` is a line break and `__PIPE__` is `|`. `text` is
what A says, the labels are B's answer: the first one is the message, and each is a reference of
that turn. Lines `your persona:` before the first text are B's persona. Other fields are metadata of
their message. Dialogues are numbered from 1; there are no systems."""
_EXAMPLE = (
    "text:your persona: i bake.\\nIs the oven hot?\tlabels:Not yet.|No.\n"
    "text:And now?\tlabels:Now it is.\tepisode_done:True\n"
)

IMPORTER = Importer(
    name="parlai",
    summary="ParlAI's text format: text and labels between tabs",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION.strip(),
    example=_EXAMPLE,
)
