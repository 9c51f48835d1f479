"""Which of a judge's rows somebody wants to see, and in what order; and rows of a judge's document
with what was said there, for a page of them and for a file of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, Response
from leaderboard.answers.judges import Judged, JudgedColumns
from leaderboard.pages.judges.answers import JudgeAnswerText, answers_of
from leaderboard.pages.judges.items import sample_sd
from leaderboard.queries.metric_runs import finished_runs_of
from leaderboard.statistics.correlation.placed_scores import FloatArray, IntArray
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.judge_samples import JudgeTrace

SIDES = ("", "above", "below", "apart")
"""Any; the judge above people by more than ``by``, below by more than ``by``, either."""
ONLY = ("", "disagree", "undefined", "unrated", "injections", "remarks")
SORTS = (
    "",
    "difference",
    "-difference",
    "apart",
    "disagreement",
    "score",
    "-score",
    "human",
    "-human",
)
"""The corpus's order; the judge lowest under people first, highest above them first, farthest apart
first; samples farthest apart first; by score. What has no value comes last."""
STEP = 0.5


@dataclass(frozen=True, slots=True)
class Params:
    side: str = ""
    by: float = 1.0
    only: str = ""
    system: int | None = None
    """The system's position."""
    dialogue: int | None = None
    turn: int | None = None
    sort: str = ""

    @property
    def is_empty(self) -> bool:
        return self == Params(by=self.by, sort=self.sort)


@dataclass(frozen=True)
class JudgedRows:
    """A document of ``judged`` made ready to be chosen from."""

    document: Judged
    score: FloatArray
    human: FloatArray
    difference: FloatArray
    spread: FloatArray
    """Standard deviation over samples."""
    system: IntArray
    dialogue: IntArray
    turn: IntArray

    @classmethod
    def of(cls, document: Judged) -> JudgedRows:
        rows = document.rows
        return cls(
            document,
            score=np.array(rows.score, dtype=np.float64),
            human=np.array(rows.human, dtype=np.float64),
            difference=np.array(rows.difference, dtype=np.float64),
            spread=np.array([sample_sd(samples) for samples in rows.samples], dtype=np.float64),
            system=np.array(rows.system, dtype=np.int64),
            dialogue=np.array(rows.dialogue, dtype=np.int64),
            turn=np.array(rows.turn, dtype=np.int64),
        )

    @property
    def n(self) -> int:
        return len(self.score)

    def marked(self, name: str) -> np.ndarray:
        """(n,) whether a row has an entry under ``undefined``, ``remarks`` or ``injections``."""
        found = np.zeros(self.n, dtype=bool)
        found[[int(row) for row in getattr(self.document, name)]] = True
        return found

    def chosen(self, params: Params) -> IntArray:
        """The rows that the wish wants, in its order."""
        retained = np.ones(self.n, dtype=bool)
        for name, value in (
            ("system", params.system),
            ("dialogue", params.dialogue),
            ("turn", params.turn),
        ):
            if value is not None:
                retained &= getattr(self, name) == value
        retained &= self._of_kind(params.only)
        if params.side:
            retained &= self._by_speaker(params.side, params.by)
        rows = np.flatnonzero(retained)
        key = self._sort_key(params.sort)
        if key is None:
            return rows
        order = np.argsort(np.where(np.isnan(key[rows]), np.inf, key[rows]), kind="stable")
        return np.asarray(rows[order])

    def _by_speaker(self, side: str, by: float) -> np.ndarray:
        """A difference that is not there lies on no side: comparisons with NaN are false."""
        if side == "above":
            return np.asarray(self.difference > by)
        return np.asarray(
            self.difference < -by if side == "below" else np.abs(self.difference) > by
        )

    def _of_kind(self, only: str) -> np.ndarray:
        if only == "disagree":
            return np.asarray(self.spread > 0)
        if only == "undefined":
            return np.isnan(self.score)
        if only == "unrated":
            return np.isnan(self.human)
        return (
            self.marked(only) if only in ("injections", "remarks") else np.ones(self.n, dtype=bool)
        )

    def _sort_key(self, sort: str) -> FloatArray | None:
        """Ascending in it is the order wished for."""
        name = sort.lstrip("-")
        if name == "apart":
            return -np.abs(self.difference)
        if name == "disagreement":
            return -self.spread
        if name not in ("difference", "score", "human"):
            return None
        values: FloatArray = getattr(self, name)
        return -values if sort.startswith("-") else values


ROWS_AT_A_TIME = 200


@dataclass(frozen=True)
class JudgedRow:
    system: str
    swatch: int
    dialogue: int
    """Its position."""
    dialogue_id: str
    turn: int | None
    context: tuple[tuple[str, str], ...]
    response: str
    """"" of a dialogue: its responses stand on the row's own page."""
    place: int
    """Index in the runs' lists."""
    score: float | None
    reason: str
    remark: str
    human: float | None
    human_sd: float | None
    raters: int
    difference: float | None
    samples: tuple[float | None, ...]
    """Empty where one was drawn."""
    injections: tuple[str, ...]

    @property
    def sample_sd(self) -> float | None:
        return sample_sd(self.samples)

    @property
    def disagrees(self) -> bool:
        return bool(self.sample_sd)

    @property
    def last(self) -> tuple[str, str] | None:
        """What was said just before."""
        return self.context[-1] if self.context else None

    @property
    def written_samples(self) -> str:
        return ", ".join("–" if one is None else f"{one:.3g}" for one in self.samples)


def judged_rows(version: CorpusVersion, rows: JudgedRows, chosen: Sequence[int]) -> list[JudgedRow]:
    """The rows of these numbers, in this order, without what is not shown any more."""
    systems = {system.position: system for system in select_systems(version)}
    columns = rows.document.rows
    numbers = [int(row) for row in chosen if columns.system[int(row)] in systems]
    dialogues = {
        position: (pk, name)
        for pk, position, name in version.dialogues.filter(
            position__in={columns.dialogue[row] for row in numbers}
        ).values_list("pk", "position", "external_id")
    }
    answers = (
        _responses_of(numbers, columns, systems, dialogues) if rows.document.level == "turn" else {}
    )
    return [_row(rows, number, systems, dialogues, answers) for number in numbers]


def _responses_of(
    numbers: Sequence[int], columns: JudgedColumns, systems: Any, dialogues: Any
) -> dict[tuple[int, int, int], Response]:
    """(system's position, dialogue's position, turn) → the response, with its turn."""
    wanted = {(columns.system[row], columns.dialogue[row], columns.turn[row]) for row in numbers}
    found = Response.objects.filter(
        system__in={systems[system].pk for system, _, _ in wanted},
        turn__dialogue__in={dialogues[dialogue][0] for _, dialogue, _ in wanted},
        turn__number__in={turn for _, _, turn in wanted},
    ).select_related("turn__dialogue")
    position_of = {system.pk: position for position, system in systems.items()}
    dialogue_of = {pk: position for position, (pk, _) in dialogues.items()}
    return {
        (position_of[one.system_id], dialogue_of[one.turn.dialogue_id], one.turn.number): one
        for one in found
    }


def _row(rows: JudgedRows, number: int, systems: Any, dialogues: Any, answer: Any) -> JudgedRow:
    columns, key = rows.document.rows, str(number)
    system, dialogue, turn = (
        columns.system[number],
        columns.dialogue[number],
        columns.turn[number],
    )
    response = answer.get((system, dialogue, turn))
    return JudgedRow(
        system=systems[system].name,
        swatch=system,
        dialogue=dialogue,
        dialogue_id=dialogues[dialogue][1],
        turn=turn if turn >= 0 else None,
        context=tuple((speaker, text) for speaker, text in response.turn.context)
        if response
        else (),
        response=response.text if response else "",
        place=columns.place[number],
        reason=rows.document.undefined.get(key, ""),
        remark=rows.document.remarks.get(key, ""),
        samples=tuple(columns.samples[number] or ()),
        injections=tuple(rows.document.injections.get(key, ())),
        **{
            name: getattr(columns, name)[number]
            for name in ("score", "human", "human_sd", "raters", "difference")
        },
    )


@dataclass(frozen=True)
class AnsweredRow:
    """A row with its trace and the raw answers to its requests."""

    row: JudgedRow
    signature: str
    trace: JudgeTrace
    answers: tuple[JudgeAnswerText, ...]
    other_answers: tuple[JudgeAnswerText, ...]


def answered_rows(
    version: CorpusVersion, configuration: Configuration, rows: JudgedRows, chosen: Sequence[int]
) -> Iterator[AnsweredRow]:
    """All of them, a few at a time: a file of ten thousand is never held."""
    runs = {
        position: (signature, details.get("traces") or {})
        for position, signature, details in finished_runs_of(configuration, [version]).values_list(
            "system__position", "signature", "details"
        )
    }
    for start in range(0, len(chosen), ROWS_AT_A_TIME):
        part = judged_rows(
            version, rows, np.asarray(chosen)[start : start + ROWS_AT_A_TIME].tolist()
        )
        traces = [JudgeTrace.from_json(_trace(runs, row)) for row in part]
        samples = {
            key: trace.samples
            for trace in traces
            for key in (trace.request, trace.other_request)
            if key
        }
        answers = answers_of(samples, samples)
        for row, trace in zip(part, traces, strict=True):
            signature = runs[row.swatch][0] if row.swatch in runs else ""
            inputs = answers.get(trace.request, ()), answers.get(trace.other_request, ())
            yield AnsweredRow(row, signature, trace, *inputs)


def _trace(runs: Any, row: JudgedRow) -> dict[str, Any]:
    _, traces = runs.get(row.swatch, ("", {}))
    found: dict[str, Any] = traces.get(str(row.place)) or {}
    return found
