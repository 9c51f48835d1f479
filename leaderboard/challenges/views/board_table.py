"""A round's leaderboard as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.tables import Cell, Column, Row, Table, mark_best
from common.tables.lane import Lane, Mark
from common.tables.numerals import bracketed, letter, written
from leaderboard.challenges.board.history import TeamHistory, history_figure
from leaderboard.challenges.models import Track
from leaderboard.figures import Figure

RANKING = "ranking"
TEAMS_NAMED = 3


def shown_entries(document: dict[str, Any], search: str, track: str) -> list[dict[str, Any]]:
    """The entries whose team or system has the search in its name, of the track (of all, where none
    is named); baselines are of no track and stay."""
    return [
        entry
        for entry in document["entries"]
        if search.casefold() in f"{entry['team'] or ''} {entry['name']}".casefold()
        and (not track or entry["track"] == track or entry["is_baseline"])
    ]


def board_table(
    document: dict[str, Any], may_open_submissions: bool, entries: Sequence[dict[str, Any]]
) -> Table:
    """``document``: of ``round_board``, released to the viewer; ``entries``: those that are shown.
    Submissions are linked for the viewer's own team, or all are."""
    # Each with its place in the entries' scores; the one that decides the rank comes first
    metrics = sorted(enumerate(document["metrics"]), key=lambda pair: not pair[1]["ranks"])
    rows = tuple(_row(entry, metrics, may_open_submissions) for entry in entries)
    higher = next(
        (metric["higher_is_better"] for _number, metric in metrics if metric["ranks"]), True
    )
    if not document["has_private_board"]:
        caption = _("Leaderboard, %(round)s")
    elif document["part"] == "private":
        caption = _("Private leaderboard, %(round)s")
    else:
        caption = _("Public leaderboard, %(round)s")
    table = Table(
        id=f"{document['part']}-board",
        caption=caption % {"round": document["name"]},
        columns=_columns(metrics),
        rows=rows,
        sort=(RANKING, higher) if any(metric["ranks"] for _number, metric in metrics) else None,
        notes=_notes(document),
        signature=_signature(document),
        updated=datetime.fromisoformat(document["updated"]),
    )
    unranked = [
        row.id
        for row, entry in zip(rows, entries, strict=True)
        if entry["is_baseline"] or entry["disqualified"]
    ]
    return mark_best(table, exclude=unranked)


def board_lane(document: dict[str, Any], entries: Sequence[dict[str, Any]]) -> Lane | None:
    """The means that rank, baselines apart, with the best baseline as a line through all rows."""
    ranking = _ranking(document)
    if ranking is None:
        return None
    scores = [entry["scores"][ranking] for entry in entries]
    ends = [
        end
        for score in scores
        if score["value"] is not None
        for end in (score["value"], *(score.get("ci") or ()))
    ]
    if not ends:
        return None
    best = best_baseline(document)
    label = _("best baseline")
    return Lane(
        RANKING,
        (min(ends), max(ends)),
        marks=() if best is None else (Mark(f"{label} {written(best, 3)}", best, "baseline"),),
        kinds={
            _row_id(entry): "own" if entry["own"] else "baseline"
            for entry in entries
            if entry["own"] or entry["is_baseline"]
        },
    )


def best_baseline(document: dict[str, Any]) -> float | None:
    """Of the metric that ranks; None where no baseline has a score."""
    ranking = _ranking(document)
    if ranking is None:
        return None
    values = [
        value
        for entry in document["entries"]
        if entry["is_baseline"] and (value := entry["scores"][ranking]["value"]) is not None
    ]
    better = max if document["metrics"][ranking]["higher_is_better"] else min
    return better(values) if values else None


def board_finding(document: dict[str, Any]) -> str:
    """Who leads, with what, and who is not significantly behind; "" where nobody is ranked."""
    ranking = _ranking(document)
    placed = sorted(
        (entry for entry in document["entries"] if entry["rank"] is not None),
        key=lambda entry: entry["order"],
    )
    if ranking is None or not placed:
        return ""
    first, *others = placed
    score = first["scores"][ranking]
    ci = f" {bracketed(tuple(score['ci']), 3)}" if score.get("ci") else ""
    finding = _("%(team)s leads with “%(name)s”, %(metric)s %(value)s") % {
        "team": first["team"],
        "name": first["name"],
        "metric": document["ranking_metric"],
        "value": f"{written(score['value'], 3)}{ci}",
    }
    tied = [entry["team"] for entry in others if entry["rank"] == first["rank"]]
    if not tied:
        return (
            f"{finding}." if not others else _("%s, significantly ahead of all others.") % finding
        )
    named = ", ".join(tied[:TEAMS_NAMED])
    if len(tied) > TEAMS_NAMED:
        named = _("%(named)s and %(count)s more") % {
            "named": named,
            "count": len(tied) - TEAMS_NAMED,
        }
    return _("%(finding)s, not significantly ahead of %(named)s.") % {
        "finding": finding,
        "named": named,
    }


def board_history(document: dict[str, Any]) -> Figure | None:
    """Of the teams that stand on the board, the best first; None where the board has none."""
    ranking = _ranking(document)
    points = {one["team_id"]: one["points"] for one in document.get("history", ())}
    if ranking is None or not points:
        return None
    teams = [
        TeamHistory(
            entry["team"],
            entry["system"],
            tuple((datetime.fromisoformat(one["at"]), one["value"]) for one in points[team]),
        )
        for entry in document["entries"]
        if not entry["is_baseline"] and (team := entry["team_id"]) in points
    ]
    return history_figure(
        teams,
        metric=document["ranking_metric"],
        until=datetime.fromisoformat(document["updated"]),
        baseline=best_baseline(document),
        signature=_signature(document),
    )


def _ranking(document: dict[str, Any]) -> int | None:
    """The place of the metric that ranks among the document's metrics."""
    return next(
        (number for number, metric in enumerate(document["metrics"]) if metric["ranks"]), None
    )


def _key(number: int, metric: dict[str, Any]) -> str:
    return RANKING if metric["ranks"] else f"metric-{number}"


def _columns(metrics: list[tuple[int, dict[str, Any]]]) -> tuple[Column, ...]:
    return (
        Column("team", _("Team"), "link"),
        Column(
            "rank",
            _("Rank"),
            "rank",
            decimals=0,
            help=_(
                "1 + entries whose interval lies wholly on the better side; then the worst place "
                "possible."
            ),
        ),
        *(_metric_column(number, metric) for number, metric in metrics if metric["ranks"]),
        Column(
            "order",
            _("By mean"),
            "number",
            decimals=0,
            help=_("The place by the plain mean, without its doubt. Equal means share a place."),
            detail=True,
        ),
        *(_metric_column(number, metric) for number, metric in metrics if not metric["ranks"]),
        Column("name", _("System"), "link"),
        Column("track", _("Track"), detail=True),
        Column(
            "submissions",
            _("Submissions"),
            "number",
            decimals=0,
            help=_("How many of the team's submissions were scored."),
            detail=True,
        ),
        Column("received", _("Submitted"), detail=True, help=_("In UTC.")),
    )


def _metric_column(number: int, metric: dict[str, Any]) -> Column:
    direction = _("Higher is better.") if metric["higher_is_better"] else _("Lower is better.")
    ranks = _("This metric decides the rank.") + " " if metric["ranks"] else ""
    return Column(
        _key(number, metric),
        metric["metric"],
        "estimate",
        help=" ".join([f"{ranks}{direction}", *reading_notes([metric]), metric["signature"]]),
        higher_is_better=metric["higher_is_better"],
        detail=not metric["ranks"],
    )


def _row(entry: dict[str, Any], metrics: list[tuple[int, dict[str, Any]]], may_open: bool) -> Row:
    tracks = {Track.GPU: _("GPU"), Track.PROMPT: _("prompt")}
    letters = "" if entry["band"] is None else letter(entry["band"] - 1)
    cells = {
        "team": Cell(
            entry["team"] or entry["name"],
            href=_address_of(entry) if may_open or entry["own"] else "",
        ),
        "rank": Cell(reason=entry["reason"])
        if entry["rank"] is None
        else Cell(entry["rank"], ci=(entry["rank"], entry["worst_rank"]), letters=letters),
        "order": Cell(entry["order"], reason=entry["reason"]),
        "name": Cell(entry["name"], href=_address_of(entry) if may_open or entry["own"] else ""),
        "track": Cell(tracks.get(entry["track"]), reason=_("comes with the corpus")),
        "submissions": Cell(entry["submissions"], reason=_("comes with the corpus")),
        "received": Cell(_moment(entry["received_at"]), reason=_("comes with the corpus")),
        **{_key(number, metric): _score(entry["scores"][number]) for number, metric in metrics},
    }
    return Row(_row_id(entry), cells, badges=_badges(entry), swatch=entry["system"])


def _row_id(entry: dict[str, Any]) -> str:
    name = entry["submission"] or f"baseline-{entry['system']}"
    return f"entry-{name}"


def _score(score: dict[str, Any]) -> Cell:
    if score["value"] is None:
        return Cell(reason=score["reason"])
    remarks = []
    if score.get("scored", 0) < score.get("turns", 0):
        words = _("%(scored)s of %(turns)s turns have a score")
        if score.get("unit") == "dialogues":
            words = _("%(scored)s of %(turns)s dialogues have a score")
        remarks.append(words % {"scored": score["scored"], "turns": score["turns"]})
    if score.get("ci_reason"):
        remarks.append(_("no interval: %(reason)s") % {"reason": score["ci_reason"]})
    interval = score.get("ci")
    return Cell(
        score["value"], ci=(interval[0], interval[1]) if interval else None, note="; ".join(remarks)
    )


def _badges(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        word
        for word, holds in (
            (_("your team"), entry["own"]),
            (_("baseline"), entry["is_baseline"]),
            (_("disqualified"), entry["disqualified"]),
        )
        if holds
    )


def _moment(written: str | None) -> str | None:
    return (
        datetime.fromisoformat(written).astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        if written
        else None
    )


def _address_of(entry: dict[str, Any]) -> str:
    try:
        return reverse("submission", args=[entry["submission"]]) if entry["submission"] else ""
    except NoReverseMatch:
        return ""


def _notes(document: dict[str, Any]) -> tuple[str, ...]:
    return (
        _(
            "Rank: 1 + the number of entries whose interval lies wholly on the better side of "
            "this one's; then the worst place that the intervals allow. Entries in one group are "
            "not significantly different. Baselines, disqualified entries and those without a "
            "score are not ranked."
        ),
        _what_stands_for_a_team(document),
        _(
            "Intervals: 95 %, one dialogue left out at a time, Student's t. Undefined values say "
            "why."
        ),
        *reading_notes(document["metrics"]),
    )


def reading_notes(metrics: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Which metrics can read little of the texts, and why; ``metrics`` as a board's document has
    them."""
    return tuple(
        _("%(metric)s: %(warning)s.") % {"metric": metric["metric"], "warning": metric["warning"]}
        for metric in metrics
        if metric.get("warning")
    )


def _what_stands_for_a_team(document: dict[str, Any]) -> str:
    if document["entry"] != "best":
        return _("Each team appears with its latest submission.")
    if document["split"]["public_dialogues"]:
        return _(
            "Each team appears with its best submission, chosen by the public leaderboard's "
            "dialogues; of equal ones the first."
        )
    if document["part"] == "public":
        return _(
            "Each team appears with its latest submission: this board counts nothing by which one "
            "is the best."
        )
    return _(
        "Each team appears with its best submission, chosen by this board's dialogues; of equal "
        "ones the first."
    )


def _signature(document: dict[str, Any]) -> str:
    split = document["split"]
    seed = f"|split_seed:{split['seed']}" if split["seed"] is not None else ""
    return (
        f"corpus:{document['corpus']}|corpus_version:{document['corpus_version']}|"
        f"board:{document['part']}|dialogues:{document['dialogues']}|turns:{document['turns']}|"
        f"public_share:{document['public_share']:g}{seed}|ranked_by:{document['ranking_metric']}|"
        f"entry:{document['entry']}|ci:{document['ci']}"
    )


def counted_text(document: dict[str, Any]) -> str:
    """Such as "9 of 15 dialogues, 63 turns"."""
    every = document["dialogues"] == document["dialogues_in_corpus"]
    words = (
        _("all %(dialogues)s, %(turns)s") if every else _("%(count)s of %(dialogues)s, %(turns)s")
    )
    return words % {
        "count": document["dialogues"],
        "dialogues": ngettext("%(n)s dialogue", "%(n)s dialogues", document["dialogues_in_corpus"])
        % {"n": document["dialogues_in_corpus"]},
        "turns": ngettext("%(n)s turn", "%(n)s turns", document["turns"])
        % {"n": document["turns"]},
    }
