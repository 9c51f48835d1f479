"""The corpora of the FBD and PRD paper (Xiang et al. 2021, Findings of ACL): JSON lines, one
context a line.

The scores are means over raters that the file no longer holds, so one aggregate rater stands for
them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import PARTNER
from annotations.formats.importers.fields import USR_SCALES, JsonObject, all_or_none
from annotations.formats.importers.json_source import json_lines
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from common.text import MAX_TEXT

RATER = "mean of raters"
# The number of scores tells which questionnaire was used: the files name none.
_DAILYZ_ASPECTS = ("relevance", "grammar", "content", "overall")
_MAX_SYSTEMS = 10_000


@dataclass(frozen=True, slots=True)
class _Shape:
    """What every line must have as many of as the first good one."""

    systems: int
    scores: int


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a corpus of the FBD and PRD paper (Xiang et al. 2021, Findings of ACL).

    Args:
        path: JSON lines, one context per line with its responses (``hyps``), references (``refs``)
            and mean human scores.
        _part: ignored, the file holds one corpus.
        problems: collects faults. A line with a fault is left out.

    Returns:
        Iterator over records, each with its line number and field. Every line is a dialogue with
        one turn, 0; its id counts the lines that are not blank, from 0. The number of scores per
        response determines the aspects and their scales. One aggregate rater, ``RATER``, stands for
        all.

    Raises:
        ImportFailed: as in ``json_lines``.
    """
    shape: _Shape | None = None
    aspects: tuple[str, ...] = ()
    for index, (number, value) in enumerate(json_lines(path, problems)):
        line = JsonObject.of(value, number, problems)
        row = _row(line) if line else None
        if line is None or row is None:
            continue
        if shape is None:
            shape = row.shape
            corpus = _corpus(shape.scores)
            aspects = corpus.aspects
            yield from _head(corpus, shape, number)
        if _fits(row, shape, line):
            yield from _records(str(index), row, aspects, number)


@dataclass(frozen=True, slots=True)
class _Row:
    context: str
    references: tuple[str, ...]
    responses: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]

    @property
    def shape(self) -> _Shape:
        return _Shape(len(self.responses), len(self.scores[0]))


def _row(line: JsonObject) -> _Row | None:
    context = line.text("src", MAX_TEXT)
    references = line.texts("refs", MAX_TEXT)
    responses = line.texts("hyps", MAX_TEXT, may_be_empty=True)
    scores = _scores(line)
    if context is None or references is None or responses is None or scores is None:
        return None
    if not responses or not scores or not scores[0]:
        line.complain("human_scores" if responses else "hyps", "is empty")
        return None
    return _Row(
        context.strip(),
        tuple(reference.strip() for reference in references),
        tuple(response.strip() for response in responses),
        scores,
    )


def _scores(line: JsonObject) -> tuple[tuple[float, ...], ...] | None:
    rows = line.items("human_scores")
    if rows is None:
        return None
    scores: list[tuple[float, ...] | None] = []
    for index, row in enumerate(rows):
        field = f"human_scores[{index}]"
        if isinstance(row, list):
            scores.append(
                all_or_none([line.as_number(value, f"{field}[{k}]") for k, value in enumerate(row)])
            )
        else:
            line.complain(field, "must be a list of numbers")
            scores.append(None)
    return all_or_none(scores)


def _fits(row: _Row, shape: _Shape, line: JsonObject) -> bool:
    fits = True
    if len(row.responses) != shape.systems:
        line.complain(
            "hyps", f"has {len(row.responses)} responses where the first line has {shape.systems}"
        )
        fits = False
    if len(row.scores) != len(row.responses):
        line.complain(
            "human_scores", f"has {len(row.scores)} rows for {len(row.responses)} responses"
        )
        fits = False
    for index, scores in enumerate(row.scores):
        if len(scores) != shape.scores:
            line.complain(
                f"human_scores[{index}]",
                f"has {len(scores)} scores where the first has {shape.scores}",
            )
            fits = False
    return fits


def _corpus(scores: int) -> CorpusRecord:
    """The aspects that go with a number of scores. Known questionnaires have a scale; the others
    are left open."""
    if scores == len(_DAILYZ_ASPECTS):
        return CorpusRecord(aspects=_DAILYZ_ASPECTS, main_aspect="overall", scale=(1.0, 5.0))
    if scores == len(USR_SCALES):
        scales = tuple((aspect, *ends) for aspect, ends in USR_SCALES.items())
        return CorpusRecord(aspects=tuple(USR_SCALES), main_aspect="Overall", scales=scales)
    aspects = (
        ("overall",)
        if scores == 1
        else tuple(f"aspect_{number}" for number in range(1, scores + 1))
    )
    return CorpusRecord(
        aspects=aspects,
        main_aspect=aspects[-1],
        scales=tuple((aspect, None, None) for aspect in aspects),
    )


def _head(corpus: CorpusRecord, shape: _Shape, number: int) -> Iterator[Placed]:
    yield corpus, number, "human_scores"
    for index in range(min(shape.systems, _MAX_SYSTEMS)):
        yield SystemRecord(f"system_{index}"), number, f"hyps[{index}]"
    yield RaterRecord(RATER, "aggregate"), number, "human_scores"


def _records(
    dialogue_id: str, row: _Row, aspects: tuple[str, ...], number: int
) -> Iterator[Placed]:
    turn = TurnRecord(0, (Utterance(PARTNER, row.context),), row.references)
    yield DialogueRecord(dialogue_id, (), (), (turn,)), number, ""
    for index, (text, scores) in enumerate(zip(row.responses, row.scores, strict=True)):
        system = f"system_{index}"
        yield ResponseRecord(dialogue_id, 0, system, text), number, f"hyps[{index}]"
        for position, (aspect, score) in enumerate(zip(aspects, scores, strict=True)):
            rating = RatingRecord(dialogue_id, 0, system, RATER, aspect, score)
            yield rating, number, f"human_scores[{index}][{position}]"


_DESCRIPTION = """\
JSON lines, one context a line; ids count the lines from 0. `src` is the context in one piece: one
utterance by A. `hyps` holds one response for each system, named `system_0`, `system_1`, … in that
order, and `human_scores` one list of mean scores for each response. All lines have as many
systems and scores as the first. The file holds no raters, so one rater `mean of raters` of the
kind `aggregate` represents them, and agreement is undefined.

| scores a response | aspects | scale |
|---|---|---|
| 1 | `overall` | open |
| 4 | `relevance`, `grammar`, `content`, `overall` | 1 to 5 |
| 6 | USR's, in the order below | USR's |
| n | `aspect_1` … `aspect_n`; the last one is the main one | open |

USR's aspects are `Understandable`, `Natural`, `Maintains Context`, `Engaging`, `Uses Knowledge`,
`Overall`. An open scale is only checked for finite numbers: the file does not say what the raters
could choose."""
_EXAMPLE = (
    '{"src": "shall we go ? it is late .", "refs": ["yes , let us ."], "hyps": ["why ?", '
    '"yes ."], "human_scores": [[2.5], [4.25]]}\n'
)

IMPORTER = Importer(
    name="fbd",
    summary="FBD/PRD corpora: responses with mean human scores (JSON lines)",
    stream=stream,
    detect=has_keys("hyps", kinds=("json lines",)),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
