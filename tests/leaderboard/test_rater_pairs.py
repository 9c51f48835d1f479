from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from annotations.agreement.cohen import PairKappa, PairwiseKappa
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.report import agreement_report
from annotations.agreement.score_use import ScoreUse
from common.estimates import Estimate
from leaderboard.answers.agreement import CorpusAgreement
from leaderboard.pages.raters.agreement_tables import agreement_tables
from leaderboard.queries.agreement_pairs import with_all_pairs, with_fewer_pairs


def agreement(items: list[int]) -> CorpusAgreement:
    """With a pair of raters for each number of items that both judged."""
    nobody = agreement_report(RatingMatrix(np.empty((0, 0)), np.empty(0, dtype=np.int64), ()))
    pairs = tuple(
        PairKappa((f"r{n}", f"r{n + 1}"), count, Estimate(0.5)) for n, count in enumerate(items)
    )
    return CorpusAgreement(
        **vars(replace(nobody, cohen_kappa={"unweighted": PairwiseKappa(Estimate(0.5), pairs)})),
        corpus="made",
        corpus_version="v1",
        aspect="overall",
        level="turn",
        ci="",
        resamples=10,
        seed=0,
        score_use=ScoreUse(None, ()),
        all_pairs={"unweighted": pairs},
    )


def stored(items: list[int]) -> CorpusAgreement:
    whole = agreement(items)
    return replace(whole, cohen_kappa=with_fewer_pairs(whole.cohen_kappa))


def pair_table(items: list[int], shown: int | None):
    return agreement_tables(agreement(items), datetime(2026, 1, 1, tzinfo=UTC), {}, shown)[1]


def test_the_pairs_shown_are_those_with_most_items_in_their_own_order():
    table = pair_table([5, 9, 1, 7], shown=2)
    assert [row.cell("items").value for row in table.rows] == [9, 7]
    assert table.notes == ("The 2 pairs with most items in common; all 4 are in the download.",)


def test_a_download_has_every_pair_and_a_row_keeps_its_name():
    everything, some = pair_table([5, 9, 1, 7], shown=None), pair_table([5, 9, 1, 7], shown=2)
    assert len(everything.rows) == 4
    assert everything.notes == ()
    assert [row.id for row in some.rows] == [everything.rows[1].id, everything.rows[3].id]


def test_of_many_pairs_a_stored_answer_shows_a_hundred_and_has_all_apart():
    """101 pairs with 0 to 100 items: the one with none is left out."""
    items = list(range(101))
    kappa = stored(items).cohen_kappa["unweighted"]
    assert [pair.items for pair in kappa.pairs] == list(range(1, 101))
    assert kappa.pairs_in_all == 101
    assert with_all_pairs(stored(items)) == agreement(items)


def test_the_page_counts_the_pairs_that_its_answer_leaves_out():
    shown = replace(stored(list(range(101))), all_pairs={})
    (note,) = agreement_tables(shown, datetime(2026, 1, 1, tzinfo=UTC), {})[1].notes
    assert note == "The 100 pairs with most items in common; all 101 are in the download."
