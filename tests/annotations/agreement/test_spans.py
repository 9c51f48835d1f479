"""Agreement of spans: worked arithmetic, and the krippendorff package over characters."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.agreement.intervals import Jackknife
from annotations.agreement.spans import MarkedItem, Span, SpanAgreement, span_agreement


def agreement(*items: MarkedItem) -> SpanAgreement:
    number = len(items)
    return span_agreement(items, np.arange(number), Jackknife.none(number))


def item(*raters: list[Span], length: int = 10) -> MarkedItem:
    return MarkedItem(tuple(tuple(spans) for spans in raters), {0: length})


def span(start: int, end: int, label: str = "x") -> Span:
    return Span(0, start, end, label)


# One marks characters 0–3 as x, the other 2–5; one also marks 8–9 as y, the other as x.
TWO = item([span(0, 4), span(8, 10, "y")], [span(2, 6), span(8, 10)])


def test_f1_of_characters_is_their_overlap() -> None:
    # Shared 2 of 6 + 6 labelled characters
    assert agreement(TWO).f1_characters.value == pytest.approx(2 * 2 / 12)


def test_f1_of_equal_spans_needs_both_ends_and_the_label() -> None:
    same = item([span(0, 4), span(5, 6)], [span(0, 4), span(5, 6, "y"), span(7, 8)])
    assert agreement(same).f1_exact.value == pytest.approx(2 * 1 / 5)


def test_f1_is_pooled_over_items_and_pairs_of_raters() -> None:
    nothing = item([], [])
    three = item([span(0, 2)], [span(0, 2)], [])
    # Pairs: shared 1 of 2, 0 of 1, 0 of 1; in the other item nothing of nothing
    assert agreement(nothing, three).f1_exact.value == pytest.approx(2 * 1 / 4)


def test_alpha_of_marking_is_the_nominal_alpha_of_characters() -> None:
    package = pytest.importorskip("krippendorff")
    marks = [[1, 1, 1, 1, 0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1, 0, 0, 1, 1]]
    expected = package.alpha(reliability_data=marks, level_of_measurement="nominal")
    assert agreement(TWO).alpha_marked.value == pytest.approx(expected, abs=1e-12)


def test_alpha_of_labels_is_of_characters_that_two_mark() -> None:
    # Characters 2, 3: x x; 8, 9: y x. o_xx = 4, o_xy = o_yx = 2, n = 8, n_x = 6, n_y = 2:
    # α = 1 − 7 · 4 / (2 · 6 · 2)
    assert agreement(TWO).alpha_label.value == pytest.approx(1 - 7 * 4 / 24)


def test_three_raters_weigh_each_character_by_its_raters() -> None:
    package = pytest.importorskip("krippendorff")
    random = np.random.default_rng(7)
    bounds = np.sort(random.integers(0, 31, (3, 2)), axis=1)
    marks = [[int(low <= at < high) for at in range(30)] for low, high in bounds]
    three = item(*([span(int(low), int(high))] for low, high in bounds), length=30)
    expected = package.alpha(reliability_data=marks, level_of_measurement="nominal")
    assert agreement(three).alpha_marked.value == pytest.approx(expected, abs=1e-12)


def test_spans_of_other_utterances_are_not_the_same() -> None:
    other = MarkedItem(((Span(0, 0, 2, "x"),), (Span(1, 0, 2, "x"),)), {0: 4, 1: 4})
    assert agreement(other).f1_exact.value == 0.0


def test_intervals_leave_out_dialogues() -> None:
    items = [TWO, item([span(0, 4)], [span(0, 4)]), item([span(0, 9)], [span(1, 9)])]
    found = span_agreement(items, np.arange(3), Jackknife.over(3))
    for one in (found.f1_characters, found.alpha_marked):
        assert one.ci is not None
        assert one.ci[0] <= one.value <= one.ci[1]


def test_undefined() -> None:
    found = agreement(item([span(0, 4)]), item([], []))
    assert found.f1_exact.reason == (
        "two raters judged no item in which one of them marked something"
    )
    assert found.alpha_marked.reason.startswith("no or all characters are marked")
    assert found.alpha_label.reason.startswith("no character is marked by two raters")
