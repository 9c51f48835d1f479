"""The one thing that a reader does next in a challenge, or in a round of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from leaderboard.challenges.models import Challenge, Team
from leaderboard.challenges.queries.attempts import Attempts
from leaderboard.challenges.queries.challenges import RoundAt, next_round, rates_hidden_corpus_of

Kind = Literal[
    "draft",
    "closed",
    "log_in",
    "rater",
    "no_team",
    "disqualified",
    "open",
    "upcoming",
    "over",
    "no_rounds",
]
Standing = Literal[
    "open",
    "upcoming",
    "closed",
    "log_in",
    "rater",
    "no_team",
    "disqualified",
    "limit_day",
    "limit_total",
    "prompt_only",
]


@dataclass(frozen=True, slots=True)
class Step:
    """``kind`` is the situation, for which the page has words; ``at`` the round that they are
    about, if any."""

    kind: Kind
    at: RoundAt | None = None


def next_step(
    user: Any, challenge: Challenge, team: Team | None, rounds: Sequence[RoundAt]
) -> Step:
    at = next_round(rounds)
    if challenge.state == Challenge.State.DRAFT:
        return Step("draft", at)
    if challenge.state == Challenge.State.CLOSED:
        return Step("closed", rounds[-1] if rounds else None)
    if not user.is_authenticated:
        return Step("log_in", at)
    if team is None:
        return Step("rater" if rates_hidden_corpus_of(challenge, user) else "no_team", at)
    if team.disqualified_at is not None:
        return Step("disqualified", at)
    if at is None:
        return Step("over", rounds[-1]) if rounds else Step("no_rounds")
    return Step("open" if at.phase == "open" else "upcoming", at)


def standing_in(user: Any, at: RoundAt, team: Team | None, attempts: Attempts | None) -> Standing:
    """Whether the reader may hand in a file to the round now, and if not, why: the first thing that
    stands in the way. ``attempts`` are the team's. ``actions.receiving.receive`` holds the same
    rules."""
    if at.phase != "open":
        return at.phase
    if not user.is_authenticated:
        return "log_in"
    if team is None:
        return "rater" if rates_hidden_corpus_of(at.round.challenge, user) else "no_team"
    if team.disqualified_at is not None:
        return "disqualified"
    if rates_hidden_corpus_of(at.round.challenge, user):
        return "rater"
    if attempts is not None and attempts.total_left == 0:
        return "limit_total"
    if attempts is not None and attempts.day_left == 0:
        return "limit_day"
    return "open" if "gpu" in at.round.tracks else "prompt_only"
