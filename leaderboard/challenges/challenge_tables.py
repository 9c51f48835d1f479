"""The tables of an organiser's pages of a challenge, as data: page, CSV and JSON are made from
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qsl, urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from common.tables import Cell, Column, Row, Table
from leaderboard.challenges.models import ENDED_WITHOUT_A_SCORE, Challenge, Round, Submission
from leaderboard.challenges.queries.organising import TeamRow


def teams_table(challenge: Challenge, lines: Iterable[TeamRow], rounds: Sequence[Round]) -> Table:
    columns = (
        Column("team", _("Team"), "link"),
        Column("state", _("State")),
        Column("members", _("Members"), "number", decimals=0),
        Column("names", _("Who"), detail=True),
        Column(
            "handed_in",
            _("Submitted"),
            "number",
            decimals=0,
            help=_("All submissions, counted or not."),
        ),
        Column(
            "today",
            _("Counted today"),
            "number",
            decimals=0,
            help=_("Since 00:00 UTC, in all rounds."),
        ),
        *(
            Column(
                f"round_{one.slug}",
                one.name,
                "number",
                decimals=0,
                group=_("Attempts taken"),
                detail=True,
            )
            for one in rounds
        ),
        Column("last", _("Last")),
        Column("made", _("Made"), detail=True),
        Column("reason", _("Reason"), detail=True, help=_("Of the disqualification.")),
    )
    address = reverse("challenge-teams", args=[challenge.slug])
    rows = tuple(_team_row(line, rounds, f"{address}?team={line.team.public_id}") for line in lines)
    return Table("teams", _("Teams of %(name)s") % {"name": challenge.name}, columns, rows)


def _team_row(line: TeamRow, rounds: Sequence[Round], href: str) -> Row:
    team = line.team
    is_out = team.disqualified_at is not None
    return Row(
        team.public_id,
        {
            "team": Cell(team.name, href=href),
            "state": Cell(_("disqualified") if is_out else _("takes part")),
            "members": Cell(len(line.members)),
            "names": Cell(", ".join(member.user.get_username() for member in line.members)),
            "handed_in": Cell(line.handed_in),
            "today": Cell(line.counted_today),
            **{f"round_{one.slug}": Cell(line.counted.get(one.pk, 0)) for one in rounds},
            "last": _moment(line.last_at, _("nothing submitted yet")),
            "made": _moment(team.created_at, ""),
            "reason": Cell(team.disqualification) if is_out else Cell(reason=_("takes part")),
        },
    )


def submissions_table(
    challenge: Challenge,
    submissions: Iterable[Submission],
    scores: Mapping[int, tuple[float | None, str]],
    requested: str,
) -> Table:
    """``requested`` is the query string that chose them: a row's link keeps it."""
    preserved = urlencode(
        [
            (name, value)
            for name, value in parse_qsl(requested)
            if name not in ("chosen", "download")
        ]
    )
    columns = (
        Column("submission", _("Submission"), "link"),
        Column("team", _("Team")),
        Column("round", _("Round")),
        Column("track", _("Track")),
        Column("state", _("State")),
        Column(
            "remark",
            _("Remark"),
            help=_("Baseline, disqualified, the same bytes as another team's, an error."),
        ),
        Column(
            "score",
            _("Score"),
            "number",
            help=_("On the round's ranking metric, over all dialogues."),
        ),
        Column("received", _("Received")),
        Column("ended", _("Ended"), detail=True),
        Column("by", _("Sent by"), detail=True),
        Column("file", _("File"), detail=True),
        Column("size", _("Bytes"), "number", decimals=0, detail=True),
        Column("twin", _("Same bytes as"), detail=True),
        Column("calls", _("Calls"), "number", decimals=0, detail=True),
        Column("input_tokens", _("Input tokens"), "number", decimals=0, detail=True),
        Column("output_tokens", _("Output tokens"), "number", decimals=0, detail=True),
        Column("cost", _("Cost, USD"), "number", decimals=4, detail=True),
        Column("id", _("Id"), detail=True),
    )
    rows = tuple(
        _submission_row(
            one,
            scores.get(one.pk),
            f"?{preserved}{'&' if preserved else ''}chosen={one.public_id}#chosen",
        )
        for one in submissions
    )
    return Table(
        "submissions", _("Submissions to %(name)s") % {"name": challenge.name}, columns, rows
    )


SHOWN = "submission,team,round,track,state,remark,score,received"
"""Columns of the page before the reader chooses."""


def _submission_row(one: Submission, score: tuple[float | None, str] | None, href: str) -> Row:
    is_prompt = one.kind == Submission.Kind.PROMPT
    no_tokens = _("a file of responses costs none")
    return Row(
        one.public_id,
        {
            "submission": Cell(one.name, href=href),
            "team": Cell(one.team.name if one.team is not None else None),
            "round": Cell(one.round.name if one.round is not None else None),
            "track": Cell(one.track),
            "state": Cell(str(one.get_state_display())),
            "remark": _remark(one),
            "score": _score(one, score),
            "received": _moment(one.received_at, ""),
            "ended": _moment(one.ended_at, _("under way")),
            "by": Cell(one.user.get_username())
            if one.user is not None
            else Cell(reason=_("the account is deleted")),
            "file": Cell(one.file_name),
            "size": Cell(one.size),
            "twin": Cell(twin_text(one))
            if one.twin is not None
            else Cell(reason=_("no other team sent these bytes")),
            "calls": Cell(one.calls) if is_prompt else Cell(reason=no_tokens),
            "input_tokens": Cell(one.input_tokens) if is_prompt else Cell(reason=no_tokens),
            "output_tokens": Cell(one.output_tokens) if is_prompt else Cell(reason=no_tokens),
            "cost": Cell(float(one.cost))
            if one.cost is not None
            else Cell(reason=_("the round has no prices") if is_prompt else no_tokens),
            "id": Cell(one.public_id),
        },
    )


def twin_text(one: Submission) -> str:
    twin = one.twin
    if twin is None or twin.team is None:
        return ""
    return _("%(name)s of %(team)s") % {"name": twin.name, "team": twin.team.name}


def _remark(one: Submission) -> Cell:
    remarks = []
    if one.is_baseline:
        remarks.append(_("baseline"))
    if one.disqualified_at is not None:
        remarks.append(_("disqualified: %(reason)s") % {"reason": one.disqualification})
    elif one.team is not None and one.team.disqualified_at is not None:
        remarks.append(_("its team is disqualified"))
    if one.twin is not None:
        remarks.append(_("same bytes as %(other)s") % {"other": twin_text(one)})
    if one.error:
        remarks.append(one.error.splitlines()[0][:120])
    if one.problems:
        more = "+" if one.more_problems else ""
        remarks.append(
            _("%(count)s problems in the file") % {"count": f"{len(one.problems)}{more}"}
        )
    return Cell("; ".join(remarks)) if remarks else Cell(reason=_("nothing to remark"))


def _score(one: Submission, score: tuple[float | None, str] | None) -> Cell:
    if score is None:
        ended = one.state in ENDED_WITHOUT_A_SCORE
        return Cell(reason=_("ended without a score") if ended else _("not scored yet"))
    value, reason = score
    return Cell(reason=reason) if value is None else Cell(value)


def _moment(at: datetime | None, otherwise: str) -> Cell:
    return Cell(reason=otherwise) if at is None else Cell(at.strftime("%Y-%m-%d %H:%M UTC"))
