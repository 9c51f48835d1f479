"""The connection that a sub-command works with, under its former name."""

from __future__ import annotations

from leaderboard.client.commands.arguments import connected

__all__ = ["connected"]
