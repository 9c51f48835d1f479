"""Rows of a judge's document with what was said there: for a page of them, and for a file of
all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, Response
from leaderboard.queries.judge_answers import JudgeAnswerText, answers_of
from leaderboard.queries.judge_choice import JudgedRows
from leaderboard.queries.judge_items import sample_sd
from leaderboard.queries.metric_runs import finished_runs_of
from workers.metrics.configuration import Configuration
from workers.metrics.judge_trace import JudgeTrace

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
    columns = rows.document["rows"]
    numbers = [int(row) for row in chosen if columns["system"][int(row)] in systems]
    dialogues = {
        position: (pk, name)
        for pk, position, name in version.dialogues.filter(
            position__in={columns["dialogue"][row] for row in numbers}
        ).values_list("pk", "position", "external_id")
    }
    answers = (
        _said(numbers, columns, systems, dialogues) if rows.document["level"] == "turn" else {}
    )
    return [_row(rows, number, systems, dialogues, answers) for number in numbers]


def _said(
    numbers: Sequence[int], columns: Any, systems: Any, dialogues: Any
) -> dict[tuple[int, int, int], Response]:
    """(system's position, dialogue's position, turn) → the response, with its turn."""
    wanted = {
        (columns["system"][row], columns["dialogue"][row], columns["turn"][row]) for row in numbers
    }
    found = Response.objects.filter(
        system__in={systems[system].pk for system, _, _ in wanted},
        turn__dialogue__in={dialogues[dialogue][0] for _, dialogue, _ in wanted},
        turn__number__in={turn for _, _, turn in wanted},
    ).select_related("turn")
    position_of = {system.pk: position for position, system in systems.items()}
    dialogue_of = {pk: position for position, (pk, _) in dialogues.items()}
    return {
        (position_of[one.system_id], dialogue_of[one.turn.dialogue_id], one.turn.number): one
        for one in found
    }


def _row(rows: JudgedRows, number: int, systems: Any, dialogues: Any, answer: Any) -> JudgedRow:
    columns, key = rows.document["rows"], str(number)
    system, dialogue, turn = (columns[name][number] for name in ("system", "dialogue", "turn"))
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
        place=columns["place"][number],
        reason=rows.document["undefined"].get(key, ""),
        remark=rows.document["remarks"].get(key, ""),
        samples=tuple(columns["samples"][number] or ()),
        injections=tuple(rows.document["injections"].get(key, ())),
        **{
            name: columns[name][number]
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
