"""``challenges``, ``join``, ``team``, ``dialogues``, ``template`` and ``leaderboard``."""

from __future__ import annotations

import argparse
from typing import Any

from leaderboard.client import boards, terminal
from leaderboard.client.commands.arguments import (
    Subparsers,
    add_format,
    add_round,
    add_to,
    command,
    connected,
    part,
    round_path,
)
from leaderboard.client.texts import lines_of, one_line


def add(parsers: Subparsers) -> None:
    challenges = command(
        parsers,
        "challenges",
        "list the challenges, or show one with its rules and rounds",
        _challenges,
    )
    challenges.add_argument("challenge", metavar="CHALLENGE", nargs="?", help="show this one")
    add_format(challenges, "table", "json")

    join = command(parsers, "join", "make a team, or join one", _join)
    join.add_argument("challenge", metavar="CHALLENGE", help="the challenge's short name")
    how = join.add_mutually_exclusive_group(required=True)
    how.add_argument("--team", metavar="NAME", help="make a team of this name")
    how.add_argument(
        "--invitation", metavar="TOKEN", help="join the team whose link (or its last part) this is"
    )

    team = command(
        parsers, "team", "show your team, remove a member, renew or revoke its invitation", _team
    )
    team.add_argument("challenge", metavar="CHALLENGE", help="the challenge's short name")
    change = team.add_mutually_exclusive_group()
    change.add_argument("--remove", metavar="NAME", help="remove this member; for the team leader")
    change.add_argument(
        "--new-invitation",
        action="store_true",
        help="make a new link, good for 14 days; the old one becomes void",
    )
    change.add_argument(
        "--revoke-invitation", action="store_true", help="let nobody in until there is a new link"
    )
    add_format(team, "table", "json")

    dialogues = command(parsers, "dialogues", "download a round's dialogues", _dialogues)
    add_round(dialogues)
    add_to(dialogues, "where to write them")

    template = command(parsers, "template", "download a file to fill in with responses", _template)
    add_round(template)
    template.add_argument(
        "--format", choices=("json", "jsonl", "csv"), default="json", help="default: json"
    )
    add_to(template, "where to write it")

    leaderboard = command(parsers, "leaderboard", "show a round's leaderboard", _leaderboard)
    add_round(leaderboard)
    leaderboard.add_argument(
        "--part", choices=("public", "private"), default="public", help="default: public"
    )
    add_format(leaderboard, "table", "json", "csv")


def _challenges(options: argparse.Namespace) -> int:
    with connected() as server:
        if options.challenge:
            return _one_challenge(
                server.get(f"challenges/{part(options.challenge)}"), options.format
            )
        found = list(server.items("challenges"))
    if options.format == "json":
        terminal.show_json(found)
    elif not found:
        terminal.note("There is no challenge yet.")
    else:
        terminal.show_table(
            ("challenge", "name", "state"),
            [(one.get("slug"), one.get("name"), one.get("state")) for one in found],
        )
    return 0


def _one_challenge(challenge: dict[str, Any], format: str) -> int:
    if format == "json":
        terminal.show_json(challenge)
        return 0
    terminal.say(f"{one_line(challenge.get('name'))} ({one_line(challenge.get('state'))})")
    if challenge.get("summary"):
        terminal.say(one_line(challenge["summary"]))
    terminal.say()
    rounds = [one for one in challenge.get("rounds") or [] if isinstance(one, dict)]
    terminal.show_table(
        (
            "round",
            "phase",
            "opens",
            "closes",
            "tracks",
            "references",
            "a day",
            "in all",
            "ranked by",
        ),
        [
            (
                one.get("slug"),
                one.get("phase"),
                one.get("opens_at") or "–",
                one.get("closes_at") or "–",
                ", ".join(map(str, one.get("tracks") or [])),
                one.get("references"),
                one.get("daily_limit"),
                one.get("total_limit"),
                one.get("ranking_metric"),
            )
            for one in rounds
        ],
        right=("a day", "in all"),
    )
    team = challenge.get("team")
    if isinstance(team, dict):
        terminal.say(f"your team: {one_line(team.get('name'), 100)}; {_invitation_text(team)}")
    if challenge.get("rules"):
        terminal.say()
        for line in lines_of(challenge["rules"]):
            terminal.say(line)
    return 0


def _invitation_text(team: dict[str, Any]) -> str:
    if not team.get("invitation_url"):
        return "no invitation holds now"
    expiry = team.get("invitation_expires_at")
    until = f", until {one_line(expiry)}" if expiry else ""
    return f"to invite: {one_line(team['invitation_url'])}{until}"


def _team(options: argparse.Namespace) -> int:
    path = f"challenges/{part(options.challenge)}/team"
    with connected() as server:
        if options.remove is not None:
            team = server.post(f"{path}/remove", {"member": options.remove})
        elif options.new_invitation:
            team = server.post(f"{path}/invitation", {})
        elif options.revoke_invitation:
            server.delete(f"{path}/invitation")
            team = server.get(path)
        else:
            team = server.get(path)
    if options.format == "json":
        terminal.show_json(team)
        return 0
    terminal.say(f"{one_line(team.get('name'), 100)}; {_invitation_text(team)}")
    for member in team.get("members") or []:
        leads = ", team leader" if member == team.get("leader") else ""
        terminal.say(f"  {one_line(member, 200)}{leads}")
    return 0


def _join(options: argparse.Namespace) -> int:
    path = f"challenges/{part(options.challenge)}/teams"
    with connected() as server:
        if options.team is not None:
            team = server.post(path, {"name": options.team})
        else:
            token = options.invitation.rstrip("/").rsplit("/", 1)[-1]
            team = server.post(f"{path}/join", {"invitation": token})
    terminal.say(f"in team {one_line(team.get('name'), 100)} of {one_line(options.challenge, 100)}")
    return 0


def _dialogues(options: argparse.Namespace) -> int:
    return _download(f"{round_path(options)}/dialogues", options, {})


def _template(options: argparse.Namespace) -> int:
    return _download(f"{round_path(options)}/template", options, {"format": options.format})


def _download(path: str, options: argparse.Namespace, query: dict[str, str]) -> int:
    with connected() as server, terminal.bytes_moved("download") as moved:
        size = server.download(path, options.to, moved, **query)
    terminal.note(f"wrote {size:,} bytes to {options.to}")
    return 0


def _leaderboard(options: argparse.Namespace) -> int:
    with connected() as server:
        board = server.get(f"{round_path(options)}/leaderboard", part=options.part)
    if options.format == "json":
        terminal.show_json(board)
    elif options.format == "csv":
        terminal.say(boards.as_csv(board).rstrip("\n"))
        if why := boards.why_empty(board):
            terminal.note(why)
    else:
        boards.show(board)
    return 0
