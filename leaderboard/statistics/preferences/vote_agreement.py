"""How far people who voted on the same pair agree: what metrics can be held to.

Zheng et al. (2023), Judging LLM-as-a-judge with MT-bench and Chatbot Arena, NeurIPS: the share of
pairs of votes that agree, pooled over everything that was voted on. Setup 1 counts all votes, ties
as a verdict of their own (chance 1/3); setup 2 only pairs of which neither is a tie (chance 1/2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from common.estimates import Estimate
from leaderboard.statistics.share_over_dialogues import share_of_dialogues


@dataclass(frozen=True)
class VoteAgreement:
    """``with_ties``, ``without_ties``: setups 1 and 2. ``accuracy``: how far one person's vote
    says another's decisive one, a tie as half right, which is what a metric's accuracy is held
    against. ``pairs``: of votes on the same two responses by two people; ``decisive_pairs``: of
    these, pairs without a tie."""

    pairs: int
    decisive_pairs: int
    with_ties: Estimate
    without_ties: Estimate
    accuracy: Estimate


def vote_agreement(
    pair: ArrayLike, won: ArrayLike, conversation: ArrayLike, level: float = 0.95
) -> VoteAgreement:
    """Agreement of people with people.

    Args:
        pair: (n,) number of the two responses that were compared, the same in either order.
        won: (n,) the share of the vote that the first of the two won: 1, 0, 0.5 for a tie.
        conversation: (n,) number of each vote's conversation.
        level: confidence level, in (0, 1).

    Returns:
        Shares with intervals over conversations; undefined where no two people voted on the same
        two responses.
    """
    _, unit, where = np.unique(np.asarray(pair), return_index=True, return_inverse=True)
    verdict = np.sign(np.asarray(won, dtype=np.float64) - 0.5)
    first, second, tied = (
        np.bincount(where, verdict == sign, len(unit)) for sign in (1.0, -1.0, 0.0)
    )
    votes, decisive = first + second + tied, first + second
    together = (first * (first - 1) + second * (second - 1)) / 2
    _, cluster = np.unique(np.asarray(conversation)[unit], return_inverse=True)

    def share(hits: ArrayLike, items: ArrayLike) -> Estimate:
        return share_of_dialogues(np.bincount(cluster, hits), np.bincount(cluster, items), level)

    every, without = votes * (votes - 1) / 2, decisive * (decisive - 1) / 2
    return VoteAgreement(
        pairs=round(float(every.sum())),
        decisive_pairs=round(float(without.sum())),
        with_ties=share(together + tied * (tied - 1) / 2, every),
        without_ties=share(together, without),
        accuracy=share(2 * together + tied * decisive / 2, decisive * (votes - 1)),
    )
