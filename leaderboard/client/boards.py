"""A round's leaderboard as a table or as CSV."""

from __future__ import annotations

from typing import Any

from common.tables.csv_text import csv_line
from leaderboard.client import terminal
from leaderboard.client.texts import WHOLE, one_line

UNDEFINED = "–"
LARGEST = 1e300
WIDEST_NAME = 60
"""Characters, in a terminal; CSV cuts nothing."""


def show(board: dict[str, Any]) -> None:
    """Print a leaderboard as a table, with the rows as the page has them.

    Undefined is –, and an entry that is not ranked has a note with the reason.

    Args:
        board: the API's document of a round's leaderboard.
    """
    title = " · ".join(
        one_line(board.get(key), 80) for key in ("name", "part", "phase") if board.get(key)
    )
    terminal.say(title or "leaderboard")
    if board.get("unreleased") or board.get("reason"):
        terminal.say(one_line(board.get("reason")))
    if board.get("no_ranking"):
        terminal.say(f"No ranking: {one_line(board['no_ranking'])}")
    entries, metrics = _entries(board), _metrics(board, 80)
    if not entries:
        if not board.get("unreleased"):
            terminal.say("No submission is scored yet.")
        return
    rows, notes = [], []
    for entry in entries:
        why = one_line(entry.get("reason"))
        mark = ""
        if why and entry.get("rank") is None:
            if why not in notes:
                notes.append(why)
            mark = f" [{notes.index(why) + 1}]"
        rank = UNDEFINED if entry.get("rank") is None else str(entry["rank"])
        team, name = _names(entry, WIDEST_NAME)
        own = " (yours)" if entry.get("own") else ""
        rows.append(
            (
                f"{rank}{mark}",
                team + own,
                name,
                *(value_of(score) for score in _scores(entry, len(metrics))),
            )
        )
    terminal.show_table(("rank", "team", "system", *metrics), rows, right=("rank", *metrics))
    for number, why in enumerate(notes, 1):
        terminal.say(f"[{number}] {why}")
    for metric in filter(lambda one: isinstance(one, dict), board.get("metrics") or []):
        if warning := one_line(metric.get("warning")):
            terminal.say(f"{one_line(metric.get('metric'), 80)}: {warning}")


def as_csv(board: dict[str, Any]) -> str:
    """A leaderboard as CSV.

    Args:
        board: the API's document of a round's leaderboard.

    Returns:
        A heading line, then one row per entry, each ending in LF: rank, team, system, track,
        baseline (1 or 0), reason and a column per metric. An undefined score is an empty cell.
    """
    metrics = _metrics(board, WHOLE)
    lines = [csv_line(["rank", "team", "system", "track", "baseline", "reason", *metrics], "\n")]
    for entry in _entries(board):
        values = [score.get("value") for score in _scores(entry, len(metrics))]
        cells = [
            entry.get("rank"),
            *_names(entry, WHOLE),
            one_line(entry.get("track"), WHOLE),
            1 if entry.get("is_baseline") else 0,
            one_line(entry.get("reason"), WHOLE),
            *(value if _is_number(value) else None for value in values),
        ]
        lines.append(csv_line(cells, "\n"))
    return "".join(lines)


def why_empty(board: dict[str, Any]) -> str:
    """Why a leaderboard has no entries, such as that it is not published yet.

    Args:
        board: the API's document of a round's leaderboard.

    Returns:
        The reason on one line; "" where the board has entries, or gives no reason.
    """
    return "" if _entries(board) else one_line(board.get("reason"))


def _metrics(board: dict[str, Any], most: int) -> list[str]:
    return [
        one_line(metric.get("metric"), most)
        for metric in board.get("metrics") or []
        if isinstance(metric, dict)
    ]


def _entries(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in board.get("entries") or [] if isinstance(entry, dict)]


def _names(entry: dict[str, Any], most: int) -> tuple[str, str]:
    team = (
        one_line(entry.get("team"), most)
        if entry.get("team")
        else "baseline"
        if entry.get("is_baseline")
        else ""
    )
    return team, one_line(entry.get("name"), most)


def _scores(entry: dict[str, Any], count: int) -> list[dict[str, Any]]:
    scores = [score if isinstance(score, dict) else {} for score in entry.get("scores") or []]
    return (scores + [{}] * count)[:count]


def value_of(score: dict[str, Any]) -> str:
    """Format a score with its interval.

    Args:
        score: the API's object, with ``value`` and perhaps ``ci``, (low, high).

    Returns:
        Four decimals, "0.1234 [0.1000, 0.2000]", without the brackets where there is no interval; –
        where the value is undefined.
    """
    value = score.get("value")
    if not _is_number(value):
        return UNDEFINED
    ends = score.get("ci")
    if isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends)):
        return f"{value:.4f} [{ends[0]:.4f}, {ends[1]:.4f}]"
    return f"{value:.4f}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
