"""A round's leaderboard as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.tables import Cell, Column, Row, Table, mark_best
from common.tables.numerals import letter
from leaderboard.challenges.models import Track

RANKING = "ranking"


def board_table(document: dict[str, Any], may_open_submissions: bool) -> Table:
    """``document``: of ``round_board``, not veiled. Submissions are linked for the viewer's own
    team, or all are."""
    # Each with its place in the entries' scores; the one that decides the rank comes first
    metrics = sorted(enumerate(document["metrics"]), key=lambda pair: not pair[1]["ranks"])
    rows = tuple(_row(entry, metrics, may_open_submissions) for entry in document["entries"])
    higher = next(
        (metric["higher_is_better"] for _number, metric in metrics if metric["ranks"]), True
    )
    if not document["has_private_board"]:
        caption = _("Leaderboard, %(round)s")
    elif document["part"] == "private":
        caption = _("Private board, %(round)s")
    else:
        caption = _("Public board, %(round)s")
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
        for row, entry in zip(rows, document["entries"], strict=True)
        if entry["is_baseline"] or entry["disqualified"]
    ]
    return mark_best(table, exclude=unranked)


def _key(number: int, metric: dict[str, Any]) -> str:
    return RANKING if metric["ranks"] else f"metric-{number}"


def _columns(metrics: list[tuple[int, dict[str, Any]]]) -> tuple[Column, ...]:
    return (
        Column("team", _("Team")),
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
        "team": Cell(entry["team"] or entry["name"]),
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
    name = entry["submission"] or f"baseline-{entry['system']}"
    return Row(f"entry-{name}", cells, badges=_badges(entry), swatch=entry["system"])


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
            "Each team appears with its best submission, chosen by the public board's dialogues; "
            "of equal ones the first."
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
