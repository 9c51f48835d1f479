from datetime import UTC, datetime

from leaderboard.raters.agreement_tables import agreement_tables

UNDEFINED = {"value": None, "reason": "not asked here"}


def document(items: list[int]):
    pairs = [{"raters": [f"r{n}", f"r{n + 1}"], "items": count, "value": 0.5} for n, count in enumerate(items)]
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
