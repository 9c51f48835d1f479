from datetime import UTC, datetime

from leaderboard.pages.raters.agreement_tables import agreement_tables
from leaderboard.queries.agreement_pairs import with_all_pairs, with_pairs_apart

UNDEFINED = {"value": None, "reason": "not asked here"}


def document(items: list[int]):
    pairs = [
        {"raters": [f"r{n}", f"r{n + 1}"], "items": count, "value": 0.5}
        for n, count in enumerate(items)
    ]
    return {
        "corpus": "made",
        "corpus_version": "v1",
        "aspect": "overall",
        "level": "turn",
        "resamples": 10,
        "seed": 0,
        "krippendorff_alpha": dict.fromkeys(("ordinal", "interval", "nominal", "ratio"), UNDEFINED),
        "cohen_kappa": {"unweighted": {"mean": 0.5, "pairs": pairs}},
        "fleiss_kappa": UNDEFINED,
        "icc": {"icc2_1": UNDEFINED, "icc2_k": UNDEFINED},
        "leave_one_out": {},
    }


def pair_table(items: list[int], shown: int | None):
    return agreement_tables(document(items), datetime(2026, 1, 1, tzinfo=UTC), {}, shown)[1]


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
    whole = document(list(range(101)))
    stored = with_pairs_apart(whole)
    kappa = stored["cohen_kappa"]["unweighted"]
    assert [pair["items"] for pair in kappa["pairs"]] == list(range(1, 101))
    assert kappa["pairs_in_all"] == 101
    assert with_all_pairs(stored) == whole


def test_the_page_counts_the_pairs_that_its_answer_leaves_out():
    stored = with_pairs_apart(document(list(range(101))))
    del stored["all_pairs"]
    (note,) = agreement_tables(stored, datetime(2026, 1, 1, tzinfo=UTC), {})[1].notes
    assert note == "The 100 pairs with most items in common; all 101 are in the download."
