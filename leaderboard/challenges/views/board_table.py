"""A round's leaderboard as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.tables import Cell, Column, Row, Table, mark_best
from common.tables.lane import Lane, Mark
from common.tables.numerals import letter, with_interval, written
from leaderboard.challenges.board.answer import BoardAnswer, BoardColumn, BoardEntry
from leaderboard.challenges.board.history import TeamHistory, history_figure
from leaderboard.challenges.board.standing import Score
from leaderboard.challenges.models import Round, Track
from leaderboard.challenges.queries.board import RoundBoard, has_private_board
from leaderboard.challenges.submission_tables import reading_notes
from leaderboard.figures import Figure

RANKING = "ranking"
TEAMS_NAMED = 3
METRICS_SHOWN = 3
"""Beside the one that ranks: with more of them the table is wider than a page."""
NumberedColumns = Sequence[tuple[int, BoardColumn]]
"""Each with its index among the scores of an entry."""


def shown_entries(entries: Sequence[BoardEntry], search: str, track: str) -> list[BoardEntry]:
    """The entries whose team or system has the search in its name, of the track (of all, where none
    is named); baselines are of no track and stay."""
    return [
        entry
        for entry in entries
        if search.casefold() in f"{entry.team or ''} {entry.name}".casefold()
        and (not track or entry.track == track or entry.is_baseline)
    ]


def board_table(
    board: RoundBoard,
    answer: BoardAnswer,
    may_open_submissions: bool,
    entries: Sequence[BoardEntry],
) -> Table:
    """``answer``: the board's; ``entries``: those of it that are shown. Submissions are linked for
    the viewer's own team, or all are."""
    # The one that decides the rank comes first
    metrics = sorted(enumerate(answer.metrics), key=lambda pair: not pair[1].ranks)
    rows = tuple(
        _row(entry, metrics, board.is_own(entry), may_open_submissions) for entry in entries
    )
    if not has_private_board(board.round):
        caption = _("Leaderboard, %(round)s")
    elif board.part == "private":
        caption = _("Private leaderboard, %(round)s")
    else:
        caption = _("Public leaderboard, %(round)s")
    ranking = next((metric for _number, metric in metrics if metric.ranks), None)
    table = Table(
        id=f"{board.part}-board",
        caption=caption % {"round": board.round.name},
        columns=_columns(metrics),
        rows=rows,
        sort=(RANKING, ranking.higher_is_better) if ranking else None,
        notes=_notes(board, answer),
        signature=_signature(board, answer),
        updated=board.updated,
    )
    unranked = [
        row.id
        for row, entry in zip(rows, entries, strict=True)
        if entry.is_baseline or entry.disqualified
    ]
    return mark_best(table, exclude=unranked)


def shown_columns(table: Table, entries: Sequence[BoardEntry]) -> str:
    """The columns that show until the reader chooses; the track where teams took several."""
    keys = [column.key for column in table.columns]
    metrics = [key for key in keys if key.startswith("metric-")][:METRICS_SHOWN]
    shown = {"team", "rank", RANKING, *metrics, "name", "received"}
    if len({entry.track for entry in entries if not entry.is_baseline}) > 1:
        shown.add("track")
    return ",".join(key for key in keys if key in shown)


def board_lane(
    board: RoundBoard, answer: BoardAnswer, entries: Sequence[BoardEntry]
) -> Lane | None:
    """The means that rank, baselines apart, with the best baseline as a line through all rows."""
    if answer.ranking is None:
        return None
    means = [entry.scores[answer.ranking].mean for entry in entries]
    ends = [
        end for mean in means if mean.value is not None for end in (mean.value, *(mean.ci or ()))
    ]
    if not ends:
        return None
    best = best_baseline(answer)
    label = _("best baseline")
    return Lane(
        RANKING,
        (min(ends), max(ends)),
        marks=() if best is None else (Mark(f"{label} {written(best, 3)}", best, "baseline"),),
        kinds={
            _row_id(entry): "own" if board.is_own(entry) else "baseline"
            for entry in entries
            if board.is_own(entry) or entry.is_baseline
        },
    )


def best_baseline(answer: BoardAnswer) -> float | None:
    """Of the metric that ranks; None where no baseline has a score."""
    if answer.ranking is None:
        return None
    values = [
        value
        for entry in answer.entries
        if entry.is_baseline and (value := entry.scores[answer.ranking].mean.value) is not None
    ]
    better = max if answer.metrics[answer.ranking].higher_is_better else min
    return better(values) if values else None


def board_finding(answer: BoardAnswer) -> str:
    """Who leads, with what, who is not significantly behind, and whether a baseline does better; ""
    where nobody is ranked."""
    placed = sorted(
        (entry for entry in answer.entries if entry.rank is not None),
        key=lambda entry: entry.order or 0,
    )
    if answer.ranking is None or not placed:
        return ""
    first, *others = placed
    ranking = answer.metrics[answer.ranking]
    mean = first.scores[answer.ranking].mean
    finding = _("%(team)s leads with “%(name)s”, %(metric)s %(value)s") % {
        "team": first.team,
        "name": first.name,
        "metric": ranking.metric,
        "value": with_interval(mean.value, mean.ci, 3),
    }
    tied = [entry.team or "" for entry in others if entry.rank == first.rank]
    if tied:
        named = ", ".join(tied[:TEAMS_NAMED])
        if len(tied) > TEAMS_NAMED:
            named = _("%(named)s and %(count)s more") % {
                "named": named,
                "count": len(tied) - TEAMS_NAMED,
            }
        finding = _("%(finding)s, not significantly ahead of %(named)s.") % {
            "finding": finding,
            "named": named,
        }
    elif others:
        finding = _("%s, significantly ahead of all other teams.") % finding
    else:
        finding += "."
    baseline, value = best_baseline(answer), mean.value
    if baseline is None or value is None or baseline == value:
        return finding
    if (baseline > value) == ranking.higher_is_better:
        finding += " " + _("The best baseline scores %s.") % written(baseline, 3)
    return finding


def board_history(board: RoundBoard, answer: BoardAnswer) -> Figure | None:
    """Of the teams that stand on the board, the best first; None where the board has none."""
    points = {one.team_id: one.points for one in answer.history}
    if answer.ranking is None or board.updated is None or not points:
        return None
    teams = [
        TeamHistory(
            entry.team or "",
            entry.system,
            tuple((one.at, one.value) for one in points[entry.team_id]),
        )
        for entry in answer.entries
        if not entry.is_baseline and entry.team_id in points
    ]
    return history_figure(
        teams,
        metric=answer.metrics[answer.ranking].metric,
        until=board.updated,
        baseline=best_baseline(answer),
        signature=_signature(board, answer),
    )


def _key(number: int, metric: BoardColumn) -> str:
    return RANKING if metric.ranks else f"metric-{number}"


def _columns(metrics: NumberedColumns) -> tuple[Column, ...]:
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
        *(_metric_column(number, metric) for number, metric in metrics if metric.ranks),
        Column(
            "order",
            _("By mean"),
            "number",
            decimals=0,
            help=_("The place by the plain mean, without its doubt. Equal means share a place."),
            detail=True,
        ),
        *(_metric_column(number, metric) for number, metric in metrics if not metric.ranks),
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


def _metric_column(number: int, metric: BoardColumn) -> Column:
    direction = _("Higher is better.") if metric.higher_is_better else _("Lower is better.")
    ranks = _("This metric decides the rank.") + " " if metric.ranks else ""
    return Column(
        _key(number, metric),
        metric.metric,
        "estimate",
        help=" ".join([f"{ranks}{direction}", *reading_notes([metric]), metric.signature]),
        higher_is_better=metric.higher_is_better,
        detail=not metric.ranks,
    )


def _row(entry: BoardEntry, metrics: NumberedColumns, is_own: bool, may_open: bool) -> Row:
    tracks = {Track.GPU: _("GPU"), Track.PROMPT: _("prompt")}
    received_at = entry.received_at and entry.received_at.astimezone(UTC)
    address = _address_of(entry) if may_open or is_own else ""
    cells = {
        "team": Cell(entry.team or entry.name, href=address),
        "rank": Cell(reason=entry.reason)
        if entry.rank is None
        else Cell(
            entry.rank,
            ci=(entry.rank, entry.worst_rank),
            letters="" if entry.band is None else letter(entry.band - 1),
        ),
        "order": Cell(entry.order, reason=entry.reason),
        "name": Cell(entry.name, href=address),
        "track": Cell(tracks.get(entry.track), reason=_("comes with the corpus")),
        "submissions": Cell(entry.submissions, reason=_("comes with the corpus")),
        "received": Cell(
            received_at and f"{received_at:%Y-%m-%d %H:%M}", reason=_("comes with the corpus")
        ),
        **{_key(number, metric): _score(entry.scores[number]) for number, metric in metrics},
    }
    badges = (
        (_("your team"), is_own),
        (_("baseline"), entry.is_baseline),
        (_("disqualified"), entry.disqualified),
    )
    return Row(
        _row_id(entry),
        cells,
        badges=tuple(word for word, holds in badges if holds),
        swatch=entry.system,
    )


def _row_id(entry: BoardEntry) -> str:
    return f"entry-{entry.submission or f'baseline-{entry.system}'}"


def _score(score: Score) -> Cell:
    mean = score.mean
    if mean.value is None:
        return Cell(reason=mean.reason)
    remarks = []
    if score.scored < score.turns:
        words = _("%(scored)s of %(turns)s turns have a score")
        if score.of_dialogues:
            words = _("%(scored)s of %(turns)s dialogues have a score")
        remarks.append(words % {"scored": score.scored, "turns": score.turns})
    if mean.reason:
        remarks.append(_("no interval: %(reason)s") % {"reason": mean.reason})
    return Cell(mean.value, ci=mean.ci, note="; ".join(remarks))


def _address_of(entry: BoardEntry) -> str:
    try:
        return reverse("submission", args=[entry.submission]) if entry.submission else ""
    except NoReverseMatch:
        return ""


def _notes(board: RoundBoard, answer: BoardAnswer) -> tuple[str, ...]:
    return (
        _(
            "Rank: 1 + the number of entries whose interval lies wholly on the better side of "
            "this one's; then the worst place that the intervals allow. Entries in one group are "
            "not significantly different. Baselines, disqualified entries and those without a "
            "score are not ranked."
        ),
        _what_stands_for_a_team(board, answer),
        _(
            "Intervals: 95 %, one dialogue left out at a time, Student's t. Undefined values say "
            "why."
        ),
        *reading_notes(answer.metrics),
    )


def _what_stands_for_a_team(board: RoundBoard, answer: BoardAnswer) -> str:
    if board.round.entry != Round.Entry.BEST:
        return _("Each team appears with its latest submission.")
    if answer.split.public_dialogues:
        return _(
            "Each team appears with its best submission, chosen by the public leaderboard's "
            "dialogues; of equal ones the first."
        )
    if board.part == "public":
        return _(
            "Each team appears with its latest submission: this board counts nothing by which one "
            "is the best."
        )
    return _(
        "Each team appears with its best submission, chosen by this board's dialogues; of equal "
        "ones the first."
    )


def _signature(board: RoundBoard, answer: BoardAnswer) -> str:
    round, split = board.round, answer.split
    seed = f"|split_seed:{split.seed}" if split.seed is not None else ""
    return (
        f"corpus:{answer.corpus}|corpus_version:{answer.corpus_version}|"
        f"board:{board.part}|dialogues:{answer.dialogues}|turns:{answer.turns}|"
        f"public_share:{round.public_share:g}{seed}|ranked_by:{round.ranking_metric}|"
        f"entry:{round.entry}|ci:{answer.ci}"
    )


def counted_text(answer: BoardAnswer) -> str:
    """Such as "9 of 15 dialogues, 63 turns"."""
    every = answer.dialogues == answer.dialogues_in_corpus
    words = (
        _("all %(dialogues)s, %(turns)s") if every else _("%(count)s of %(dialogues)s, %(turns)s")
    )
    return words % {
        "count": answer.dialogues,
        "dialogues": ngettext("%(n)s dialogue", "%(n)s dialogues", answer.dialogues_in_corpus)
        % {"n": answer.dialogues_in_corpus},
        "turns": ngettext("%(n)s turn", "%(n)s turns", answer.turns) % {"n": answer.turns},
    }
