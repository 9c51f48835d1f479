"""``campaigns`` and ``ratings``, for organisers."""

from __future__ import annotations

import argparse

from leaderboard.client import terminal
from leaderboard.client.commands.arguments import (
    Subparsers,
    add_format,
    add_to,
    command,
    connected,
    part,
)


def add(parsers: Subparsers) -> None:
    campaigns = command(
        parsers, "campaigns", "list the rating campaigns, or show what one asks", _campaigns
    )
    campaigns.add_argument(
        "campaign", metavar="CAMPAIGN", nargs="?", help="show this one, with its forms, as JSON"
    )
    add_format(campaigns, "table", "json")

    ratings = command(parsers, "ratings", "download a campaign's ratings as JSON lines", _ratings)
    ratings.add_argument("campaign", metavar="CAMPAIGN", help="the campaign's short name")
    ratings.add_argument(
        "--all",
        action="store_true",
        help="also what does not count: of excluded raters, training and attention items",
    )
    add_to(ratings, "where to write them")


def _campaigns(options: argparse.Namespace) -> int:
    with connected() as server:
        if options.campaign:
            terminal.show_json(server.get(f"campaigns/{part(options.campaign)}"))
            return 0
        found = list(server.items("campaigns"))
    if options.format == "json":
        terminal.show_json(found)
    elif not found:
        terminal.note("There is no campaign yet.")
    else:
        columns = ("campaign", "name", "kind", "state", "done", "wanted")
        rows = [tuple(one.get(name) for name in ("slug", *columns[1:])) for one in found]
        terminal.show_table(columns, rows, right=("done", "wanted"))
    return 0


def _ratings(options: argparse.Namespace) -> int:
    path = f"campaigns/{part(options.campaign)}/ratings"
    with connected() as server:
        count = server.download_items(path, options.to, all=str(options.all).lower(), limit=200)
    terminal.note(f"wrote {count:,} ratings to {options.to}")
    return 0
