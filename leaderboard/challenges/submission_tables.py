"""Submissions as a table; what is wrong with one; what one got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from common.tables import Cell, Column, Row, Table
from leaderboard.challenges.board.answer import BoardColumn, SystemScores
from leaderboard.challenges.board.standing import Score
from leaderboard.challenges.models import ENDED_WITHOUT_A_SCORE, Submission


def submissions_table(
    submissions: Sequence[Submission], caption: str, with_round: bool = False
) -> Table:
    """Newest first. ``submissions`` carry round, team and user."""
    columns = (
        Column("submission", _("Submission"), "link"),
        Column("state", _("State")),
        *((Column("round", _("Round")),) if with_round else ()),
        Column("track", _("Track")),
        Column("received", _("Received (UTC)")),
        Column("by", _("By")),
        Column(
            "attempt",
            _("Attempt"),
            "number",
            decimals=0,
            help=_("Its place among the counted ones of the round."),
        ),
    )
    return Table(
        "submissions", caption, columns, tuple(_row(one, with_round) for one in submissions)
    )


def _row(one: Submission, with_round: bool) -> Row:
    cells = {
        "submission": Cell(one.name, href=reverse("submission", args=[one.public_id])),
        "state": Cell(str(one.get_state_display())),
        "track": Cell(one.track) if one.track else Cell(reason=_("metric scores have no track")),
        "received": Cell(one.received_at.strftime("%Y-%m-%d %H:%M")),
        "by": Cell(one.user.get_username()) if one.user else Cell(reason=_("this account is gone")),
        "attempt": _attempt(one),
    }
    if with_round:
        cells["round"] = (
            Cell(f"{one.round.challenge.name} · {one.round.name}")
            if one.round
            else Cell(reason=_("metric scores go to a corpus"))
        )
    badges = (_("disqualified"),) if one.disqualified_at else ()
    return Row(one.public_id, cells, badges)


def _attempt(one: Submission) -> Cell:
    if one.total_place is not None:
        return Cell(one.total_place)
    if one.state in ENDED_WITHOUT_A_SCORE:
        return Cell(reason=_("not counted: it ended without a score"))
    return Cell(reason=_("metric scores take no attempt of a team"))


def problems_table(submission: Submission) -> Table:
    """The report on an invalid file, in the file's order."""
    columns = (
        Column("where", _("Where"), help=_("The line, counted from 1, or the JSON path.")),
        Column("field", _("Field")),
        Column("message", _("What is wrong")),
    )
    rows = tuple(
        Row(
            str(number),
            {
                "where": Cell(_where(problem.get("where", ""))),
                "field": Cell(str(problem.get("field", ""))),
                "message": Cell(str(problem.get("message", ""))),
            },
        )
        for number, problem in enumerate(submission.problems)
    )
    notes = (
        (_("There are more problems; the check stopped here."),) if submission.more_problems else ()
    )
    return Table("problems", _("Problems in the file"), columns, rows, notes=notes)


def _where(where: str | int) -> str:
    if isinstance(where, int):
        return _("line %(number)d") % {"number": where}
    return where or _("the file")


def score_table(part: SystemScores) -> Table:
    """What a submission got on a part of the dialogues, a metric a row."""
    columns = (
        Column("metric", _("Metric")),
        Column(
            "score", _("Score"), "estimate", help=_("The mean over the turns of these dialogues.")
        ),
        Column("scored", _("Scored turns")),
    )
    caption = (
        _("Scores on the private leaderboard")
        if part.name == "private"
        else _("Scores on the public leaderboard")
    )
    rows = tuple(_score_row(column, score) for column, score in part.by_metric())
    notes = reading_notes(part.metrics)
    return Table(f"{part.name}-scores", caption, columns, rows, notes=notes)


def reading_notes(metrics: Iterable[BoardColumn]) -> tuple[str, ...]:
    """Which metrics can read little of the texts, and why."""
    return tuple(
        _("%(metric)s: %(warning)s.") % {"metric": one.metric, "warning": one.warning}
        for one in metrics
        if one.warning
    )


def _score_row(column: BoardColumn, score: Score) -> Row:
    mean = score.mean
    scored = (
        Cell(
            f"{score.scored:,} / {score.turns:,}", note=_("dialogues") if score.of_dialogues else ""
        )
        if score.turns
        else Cell(reason=_("it scores whole systems, not turns"))
    )
    return Row(
        column.metric,
        {
            "metric": Cell(column.metric),
            "score": Cell(mean.value, ci=mean.ci) if mean.is_defined else Cell(reason=mean.reason),
            "scored": scored,
        },
        (_("ranks"),) * column.ranks,
    )
