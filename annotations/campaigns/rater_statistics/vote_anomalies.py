"""Vote anomalies: votes of an arena's visitors that look careless or made to manipulate. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Literal

FAST_SECONDS, FEWEST_TIMED = 2.0, 5
FEWEST_DECISIVE, SIDE_P = 10, 0.001
BURST_VOTES, BURST_SECONDS = 20, 600.0

Anomaly = Literal["fast", "side", "burst"]


@dataclass(frozen=True, slots=True)
class ArenaVote:
    """``seconds``: from when both could be read to the vote. ``at``: seconds since any moment."""

    visitor: int
    address: str
    vote: str
    seconds: float
    at: float


def vote_anomalies(votes: Iterable[ArenaVote]) -> dict[int, list[Anomaly]]:
    """What is conspicuous in each visitor's votes.

    * fast: half of 5 or more votes came within 2 seconds.
    * side: of 10 or more votes for A or B, so many are for one side that a fair coin would do so
      with p < .001 (exact binomial test, two-sided).
    * burst: one of 20 or more votes that came within 10 minutes from one address.

    Args:
        votes: of one arena, in any order.

    Returns:
        Visitor → anomalies, only where there are some.
    """
    by_visitor, by_address = defaultdict(list), defaultdict(list)
    for one in votes:
        by_visitor[one.visitor].append(one)
        by_address[one.address].append(one)
    in_bursts = {visitor for own in by_address.values() for visitor in _visitors_of_bursts(own)}
    found = {}
    for visitor, own in by_visitor.items():
        anomalies: list[Anomaly] = []
        if len(own) >= FEWEST_TIMED and median(one.seconds for one in own) < FAST_SECONDS:
            anomalies.append("fast")
        for_a = sum(one.vote == "a" for one in own)
        decisive = for_a + sum(one.vote == "b" for one in own)
        if decisive >= FEWEST_DECISIVE and fair_coin_p(for_a, decisive) < SIDE_P:
            anomalies.append("side")
        if visitor in in_bursts:
            anomalies.append("burst")
        if anomalies:
            found[visitor] = anomalies
    return found


def fair_coin_p(heads: int, tosses: int) -> float:
    """The exact two-sided p of the binomial test with probability 1/2.

    Args:
        heads: between 0 and ``tosses``.
        tosses: at least 1.

    Returns:
        min(1, 2 · Σ_{i ≤ min(heads, tosses − heads)} C(tosses, i) / 2^tosses).
    """
    fewer = min(heads, tosses - heads)
    return min(1.0, 2 * sum(comb(tosses, i) for i in range(fewer + 1)) / (1 << tosses))


def _visitors_of_bursts(votes: Sequence[ArenaVote]) -> set[int]:
    ordered = sorted(votes, key=lambda one: one.at)
    last = BURST_VOTES - 1
    return {
        one.visitor
        for begin in range(len(ordered) - last)
        if ordered[begin + last].at - ordered[begin].at <= BURST_SECONDS
        for one in ordered[begin : begin + BURST_VOTES]
    }
