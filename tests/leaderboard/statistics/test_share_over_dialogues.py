"""A share's interval over dialogues: Wilson's where items are alone, wider where a dialogue's items
go together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leaderboard.statistics.share_over_dialogues import NOTHING, share_over_dialogues, wilson


@pytest.mark.parametrize(("hits", "items"), [(8, 10), (0, 7), (20, 20), (1, 300)])
def test_wilsons_interval_is_scipys(hits: int, items: int) -> None:
    expected = stats.binomtest(hits, items).proportion_ci(method="wilson")
    assert wilson(hits / items, items, float(stats.norm.ppf(0.975))) == pytest.approx(
        (expected.low, expected.high)
    )


def test_alone_in_their_dialogues_items_count_as_one_less() -> None:
    # The jackknife's variance of a mean of 10 items is p(1 − p)/9: nine independent items, t of 9
    # degrees of freedom.
    found = share_over_dialogues([True] * 8 + [False] * 2, range(10))
    assert found.value == 0.8
    assert found.ci == pytest.approx(wilson(0.8, 9, 2.262157162740992))


def test_ten_items_of_a_dialogue_that_agree_count_as_one() -> None:
    hits = [place < 3 for place in range(5) for _ in range(10)]
    dialogues = [place for place in range(5) for _ in range(10)]
    assert (
        share_over_dialogues(hits, dialogues).ci
        == share_over_dialogues([True] * 3 + [False] * 2, range(5)).ci
    )


@pytest.mark.parametrize("dialogues", [6, 9, 11, 30])
@pytest.mark.parametrize("items", [2, 3, 5])
def test_dialogues_split_alike_make_no_certainty(dialogues: int, items: int) -> None:
    """Whether or not their shares, left out in turn, are equal to the last bit: thirds of 11
    dialogues are not."""
    found = share_over_dialogues(
        ([True] + [False] * (items - 1)) * dialogues,
        [place // items for place in range(items * dialogues)],
    )
    reach = float(stats.t.ppf(0.975, dialogues - 1))
    assert found.ci == pytest.approx(wilson(1 / items, dialogues, reach))


@pytest.mark.parametrize("all_of_them", [True, False])
def test_where_all_agree_a_dialogue_counts_as_one_item(all_of_them: bool) -> None:
    found = share_over_dialogues([all_of_them] * 40, [place // 2 for place in range(40)])
    assert found.ci == pytest.approx(wilson(float(all_of_them), 20, float(stats.t.ppf(0.975, 19))))
    assert found.ci is not None
    assert found.ci[1] - found.ci[0] > 0.1


def test_without_items_there_is_no_share_and_in_one_dialogue_no_interval() -> None:
    assert share_over_dialogues([], []).reason == NOTHING
    assert share_over_dialogues([True, False], [3, 3]).as_json() == {
        "value": 0.5,
        "ci": None,
        "ci_reason": "an interval over dialogues needs at least 2 dialogues",
    }


@pytest.mark.parametrize(("true", "together"), [(0.9, 2.0), (0.5, 2.0), (0.97, 8.0)])
def test_the_interval_holds_what_it_promises(true: float, together: float) -> None:
    """Of 30 dialogues of 7 items each, whose own shares are drawn from Beta(p·k, (1 − p)·k)."""
    random = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        shares = random.beta(true * together, (1 - true) * together, 30)
        hits = (random.random((30, 7)) < shares[:, None]).ravel().tolist()
        low, high = share_over_dialogues(hits, np.repeat(np.arange(30), 7).tolist()).ci or (1, 0)
        held += low <= true <= high
    assert held / 400 > 0.92
