"""PersonaChat and ConvAI2 (Zhang et al. 2018, ACL) as ParlAI writes them: numbered lines, with or
without candidates.

The number begins again at 1 with each dialogue. ``your persona:`` is of the speaker who answers,
here B, and ``partner's persona:`` of the other one, A. A line of conversation holds what A says, a
tab and B's answer, then perhaps a reward and candidates, which are not kept. There are no systems
and no ratings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import MAX_UTTERANCES, count_fault, human_dialogue
from annotations.formats.importers.json_source import decode_line, file_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import CorpusRecord, DialogueRecord
from common.text import MAX_TEXT, text_fault

SILENCE = "__SILENCE__"
"""Stands in place of A's first words where B begins: each conversation of ConvAI2 is told once from
each side."""
PERSONA = "your persona:"
PARTNER_PERSONA = "partner's persona:"
MAX_SENTENCES = 100
"""Of one persona."""
_NUMBERED = re.compile(r"([0-9]{1,6}) (.*)", re.DOTALL)


@dataclass
class _Episode:
    """The dialogue that the reader is in."""

    first_line: int
    number: int = 0
    lines: list[str] = field(default_factory=list)
    persona: list[str] = field(default_factory=list)
    partner_persona: list[str] = field(default_factory=list)
    broken: bool = False
    """A fault has been noted; the rest of the dialogue is passed over."""


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read PersonaChat or ConvAI2 (Zhang et al. 2018, ACL) as ParlAI writes them.

    Args:
        path: text file of numbered lines; the number begins again at 1 with each dialogue.
        _part: ignored, the file holds one corpus.
        problems: collects faults. A dialogue with a fault is left out.

    Returns:
        Iterator over the corpus record and one dialogue record per dialogue, each with the number
        of its first line. A dialogue's id counts the dialogues of the file, from 0.

    Raises:
        ImportFailed: as in ``file_lines``, and at the first fault after 100.
    """
    yield CorpusRecord(), "", ""
    for index, episode in enumerate(_episodes(path, problems)):
        record = _record(str(index), episode, problems)
        if record is not None:
            yield record, episode.first_line, ""


def _episodes(path: Path, problems: Problems) -> Iterator[_Episode]:
    episode: _Episode | None = None
    for place, line in file_lines(path, problems):
        text, fault = decode_line(line)
        match = _NUMBERED.fullmatch(text.rstrip("\r\n"))
        if match is None:
            problems.add(place, "", fault or "does not begin with a number and a space")
            if episode is not None:
                episode.broken = True
            continue
        number = int(match[1])
        if episode is None or number == 1:
            if episode is not None:
                yield episode
            episode = _Episode(place)
        if not episode.broken:
            where, fault = _number_fault(episode, number)
            if not fault:
                where, fault = _take(episode, match[2])
            if fault:
                problems.add(place, where, fault)
                episode.broken = True
        episode.number = number
    if episode is not None:
        yield episode


def _number_fault(episode: _Episode, number: int) -> tuple[str, str]:
    if number == episode.number + 1:
        return "", ""
    if episode.number == 0:
        return "", f"is numbered {number}; a dialogue begins with 1"
    return "", f"is numbered {number}, and the line before it {episode.number}: a line is missing"


def _take(episode: _Episode, text: str) -> tuple[str, str]:
    """Adds the line to the dialogue. Returns the field and what is wrong with it, or twice ""."""
    for mark, sentences in ((PERSONA, episode.persona), (PARTNER_PERSONA, episode.partner_persona)):
        if text.startswith(mark):
            sentence = text.removeprefix(mark).strip()
            if len(sentences) >= MAX_SENTENCES:
                return mark.rstrip(":"), f"more than {MAX_SENTENCES} sentences"
            sentences.append(sentence)
            return mark.rstrip(":"), text_fault(sentence, MAX_TEXT)
    columns = text.split("\t")
    if len(columns) == 1:
        return "", "has no answer: a tab and the answer follow what the partner says"
    if len(columns) > 4:
        return (
            "",
            f"has {len(columns)} columns; at most 4 are known: text, answer, reward, candidates",
        )
    question, answer = columns[0].strip(), columns[1].strip()
    silent = question == SILENCE
    if silent and episode.lines:
        return "text", f"{SILENCE} is in the middle of the dialogue"
    for name, value in (("text", question), ("answer", answer)):
        if fault := text_fault(value, MAX_TEXT):
            return name, fault
    if len(episode.lines) + 2 > MAX_UTTERANCES:
        return "", count_fault(len(episode.lines) + 2)
    episode.lines += [answer] if silent else [question, answer]
    return "", ""


def _record(dialogue_id: str, episode: _Episode, problems: Problems) -> DialogueRecord | None:
    if episode.broken:
        return None
    if fault := count_fault(len(episode.lines)):
        problems.add(episode.first_line, "", f"{fault}; this one has {len(episode.lines)}")
        return None
    return human_dialogue(
        dialogue_id, episode.lines, tuple(episode.persona), tuple(episode.partner_persona)
    )


_DESCRIPTION = """\
PersonaChat and ConvAI2 as ParlAI writes them (`train_both_original.txt`,
`train_self_original_no_cands.txt`): numbered lines, a dialogue begins where the number is 1
again, and its id counts the dialogues from 0. `your persona:` is of the speaker who answers, here
B, `partner's persona:` of A; either may be missing. A line of conversation holds what A says, a
tab and B's answer, then perhaps two more columns, a reward and candidates, which are passed over.
`__SILENCE__` in place of A's first words means that B begins. Turns are as in dailydialog; there
are no systems and no ratings.

ConvAI2 tells each conversation twice, once from each side. The corpus holds both, as the file
does; training takes the conversation once, with the personas of both."""
_EXAMPLE = """\
1 your persona: i fly kites .
2 partner's persona: i am a baker .
3 good morning ! fresh rolls ?\ttwo , please . is it windy outside ?
4 very . why ?\tthen i know what i will do today .
"""


_FIRST_LINE = re.compile(r"\A1 (your persona:|partner's persona:|[^\n]*\t)")


def _detect(sample: FileSample) -> float:
    return 0.9 if _FIRST_LINE.search(sample.text) else 0.0


IMPORTER = Importer(
    name="personachat",
    summary="PersonaChat and ConvAI2: human dialogues with personas (numbered lines)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
