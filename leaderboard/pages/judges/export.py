"""A judge's rows as files, with the raw answers: JSON lines with everything, CSV for
spreadsheets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from common.tables.csv_text import csv_heading, csv_line, json_cell
from leaderboard.pages.judges.answers import JudgeAnswerText
from leaderboard.pages.judges.rows import AnsweredRow

FOR_ORGANISERS = ("input_tokens", "output_tokens", "cost", "endpoint")
"""What judging costs, and where it is done, is the organisers' affair."""
COLUMNS = (
    "metric", "system", "dialogue", "turn", "response", "score", "reason", "human_mean", "human_sd",
    "raters", "difference", "samples", "sample_sd", "asks", "aspects", "mass", "chances",
    "injections", "score_kept", "score_removed", "remark", "request", "answers", "signature",
)  # fmt: skip


def as_documents(
    metric: str, rows: Iterable[AnsweredRow], with_costs: bool
) -> Iterator[dict[str, Any]]:
    """One a row; ``turn`` is null of a dialogue, and ``turns`` holds the first step's scores."""
    for one in rows:
        row, trace = one.row, one.trace
        document = {
            "metric": metric,
            "system": row.system,
            "dialogue": row.dialogue_id,
            "turn": row.turn,
            "response": row.response,
            "score": row.score,
            "reason": row.reason,
            "human_mean": row.human,
            "human_sd": row.human_sd,
            "raters": row.raters,
            "difference": row.difference,
            "samples": list(trace.samples),
            "sample_sd": row.sample_sd,
            "asks": list(trace.asks),
            "aspects": dict(trace.aspects),
            "mass": trace.mass,
            "chances": dict(trace.chances),
            "injections": list(row.injections),
            "score_kept": trace.kept,
            "score_removed": trace.removed,
            "remark": row.remark,
            "request": trace.request,
            "answers": [_answer(answer, with_costs) for answer in one.answers],
            "signature": one.signature,
        }
        if trace.other_request:
            document["other_request"] = trace.other_request
            document["other_answers"] = [
                _answer(answer, with_costs) for answer in one.other_answers
            ]
        if trace.turns:
            document["turns"] = [dict(turn) for turn in trace.turns]
        yield document


def _answer(answer: JudgeAnswerText, with_costs: bool) -> dict[str, Any]:
    document = {
        name: value
        for name, value in asdict(answer).items()
        if with_costs or name not in FOR_ORGANISERS
    }
    if document.get("cost") is not None:
        document["cost"] = str(document["cost"])
    return document


def json_lines(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    for document in documents:
        yield json.dumps(document, ensure_ascii=False) + "\n"


def csv_lines(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Lists stand in their cell as JSON, the raw answers among them."""
    yield csv_heading(COLUMNS)
    for document in documents:
        yield csv_line(_field(document[name]) for name in COLUMNS)


def _field(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json_cell(value) if value else None
    return value


FILES: dict[str, tuple[str, Callable[[Iterable[dict[str, Any]]], Iterator[str]]]] = {
    "judged.csv": ("text/csv; charset=utf-8", csv_lines),
    "judged.jsonl": ("application/jsonl; charset=utf-8", json_lines),
}
