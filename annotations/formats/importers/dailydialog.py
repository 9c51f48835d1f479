"""DailyDialog (Li et al. 2017, IJCNLP): conversations between people, one a line.

Two layouts, told by the first character of the file: JSON lines (``{"fold", "topic", "dialogue":
[{"text", …}]}``), and the text files of the original release, in which every utterance ends in
``__eou__``. There are no systems and no ratings.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import count_fault, human_dialogue
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.json_source import decode_line, file_lines, json_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import CorpusRecord
from common.text import MAX_NAME, MAX_TEXT, text_fault

END = "__eou__"
"""The end of an utterance."""


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read DailyDialog, as JSON lines or as the text files of the original release.

    Args:
        path: file with one dialogue per line.
        _part: ignored, the file holds one corpus.
        problems: collects faults. A line with a fault is left out.

    Returns:
        Iterator over the corpus record and one dialogue record per line, each with its line number.
        A dialogue's id counts the lines that are not blank, from 0.

    Raises:
        ImportFailed: as in ``file_lines``, and at the first fault after 100.
    """
    yield CorpusRecord(), "", ""
    _, first = next(file_lines(path, problems), (0, b""))
    is_json = first.lstrip().startswith(b"{")
    conversations = _json_conversations if is_json else _text_conversations
    for index, (number, lines) in enumerate(conversations(path, problems)):
        if lines is not None:
            yield human_dialogue(str(index), lines), number, ""


def _json_conversations(
    path: Path, problems: Problems
) -> Iterator[tuple[int, tuple[str, ...] | None]]:
    """Each line's number with its utterances, or with None where it has a fault, which is noted."""
    fold: str | None = None
    for number, value in json_lines(path, problems):
        line = JsonObject.of(value, number, problems)
        if line is None:
            yield number, None
            continue
        if line.has("fold"):
            own = line.text("fold", MAX_NAME)
            fold = own if fold is None else fold
            if own is not None and own != fold:
                # One corpus of both would train on what it is then evaluated on.
                line.complain(
                    "fold",
                    f"is {own!r} where the first dialogue's is {fold!r}; import each fold by "
                    "itself",
                )
        yield number, _utterances(line)


def _utterances(line: JsonObject) -> tuple[str, ...] | None:
    rows = line.items("dialogue")
    if rows is None:
        return None
    if fault := count_fault(len(rows)):
        line.complain("dialogue", fault)
        return None
    objects = line.children("dialogue")
    texts = (
        None if objects is None else all_or_none([row.text("text", MAX_TEXT) for row in objects])
    )
    return None if texts is None else tuple(text.strip() for text in texts)


def _text_conversations(
    path: Path, problems: Problems
) -> Iterator[tuple[int, tuple[str, ...] | None]]:
    """As ``_json_conversations``, for the original text files."""
    for number, line in file_lines(path, problems):
        text, fault = decode_line(line)
        *utterances, rest = text.split(END)
        if not fault and rest.strip():
            fault = f"does not end in {END}: the line is cut off, or the file is not DailyDialog's"
        fault = fault or count_fault(len(utterances))
        if fault:
            problems.add(number, "", fault)
            yield number, None
            continue
        texts = tuple(utterance.strip() for utterance in utterances)
        faults = {
            place: wrong
            for place, utterance in enumerate(texts, 1)
            if (wrong := text_fault(utterance, MAX_TEXT))
        }
        for place, wrong in faults.items():
            problems.add(number, f"utterance {place}", wrong)
        yield number, None if faults else texts


_DESCRIPTION = """\
Conversations between people, without systems and ratings: what learned metrics are trained on.
One a line, in either of two layouts, told by the first character of the file; ids count the lines
that hold something from 0.

* **JSON lines:** `dialogue` is a list of objects with a `text`. Acts, emotions and topics are
  passed over. All lines of a file have the same `fold`, where they have one: a corpus of two
  folds would train on what it is evaluated on.
* **Text**, as in the original release (`dialogues_train.txt`): every utterance ends in `__eou__`,
  the last one, too.

The speakers take turns, and **B speaks last**. Every answer of B is a turn, from 0, with all that
was said before it as its context and the answer as its reference. So the last turn holds the
whole conversation; with an odd number of utterances B begins, and that first utterance answers
nothing. Training takes the answers of both speakers.

The example as text: `Is the kiln hot ? __eou__ Not yet . __eou__`"""
_EXAMPLE = (
    '{"fold": "train", "topic": "work", "dialogue": [{"text": "Is the kiln hot ?", "act":'
    ' "question"}, {"text": "Not yet ."}]}\n'
)


def _detect(sample: FileSample) -> float:
    if sample.kind == "json lines":
        lines = sample.record.get("dialogue")
        first = lines[0] if isinstance(lines, list) and lines else None
        is_act = isinstance(first, dict) and "text" in first and "speaker" not in first
        return 0.8 if is_act else 0.0
    is_text = sample.kind in ("text", "table")
    return 0.9 if is_text and "__eou__" in sample.text.partition("\n")[0] else 0.0


IMPORTER = Importer(
    name="dailydialog",
    summary="DailyDialog: human dialogues (JSON lines, or text with __eou__)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
