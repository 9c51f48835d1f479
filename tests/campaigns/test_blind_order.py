"""The order in which a rater meets items tells no system, and neither do the items' names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from annotations.campaigns.models import Assignment, Item
from annotations.campaigns.plan.draw import RECENT_ITEMS
from tests.campaigns.rating_all import rate_all
from tests.campaigns.secret_corpus import campaign_on, imported
from tests.campaigns.sets import made_campaign, made_raters
from tests.rows import shared

pytestmark = pytest.mark.django_db

SYSTEMS = tuple(f"machine-{letter}" for letter in "abcd")
RATERS, DIALOGUES = 16, 5
SHUFFLES = 2000
LEAST_P = 0.01
"""Seeds are fixed, so the tests pass always or never: a fair order fails one choice of seeds in a
hundred. The orders below that do tell systems have the smallest p that there is, 1 / (SHUFFLES +
1)."""


@pytest.fixture(scope="module")
def met(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> NDArray[np.int64]:
    """The orders of one campaign, for all that is asked of them; its rows are gone again."""
    with shared(django_db_blocker, lambda: orders(tmp_path_factory.mktemp("corpus"))) as found:
        return found


def orders(folder: Path) -> NDArray[np.int64]:
    """Rater × place → the system of the item met there, as its place in the corpus. 4 systems × 5
    dialogues = 20 items, each for every rater: all of them meet all."""
    version = imported(folder, dialogues=DIALOGUES, turns=1, systems=SYSTEMS)
    campaign = campaign_on(version, "turn", attention_every=None, raters_per_item=RATERS)
    campaign.items.exclude(role=Item.Role.REGULAR).delete()
    for rater in made_raters(campaign, RATERS):
        rate_all(rater)
    met = Assignment.objects.filter(participation__campaign=campaign).order_by(
        "participation", "position"
    )
    systems = np.array(met.values_list("item__system__position", flat=True))
    return systems.reshape(RATERS, DIALOGUES * len(SYSTEMS))


def p_of_places(systems: NDArray[np.int64]) -> float:
    """Of the sum over systems of the squared distance of its mean place from the middle: how often
    is it so large where every rater's order is shuffled? Seen when a system tends to come early or
    late."""

    def spread(orders: NDArray[np.int64]) -> float:
        places = np.arange(orders.shape[1]) - (orders.shape[1] - 1) / 2
        return sum(
            float(((orders == system) * places).sum()) ** 2 for system in range(len(SYSTEMS))
        )

    return p_value(spread, systems)


def p_of_neighbours(systems: NDArray[np.int64]) -> float:
    """The same for how far the counts of (system, next system) are from equal. Seen when one
    follows another, or comes in rounds."""

    def unevenness(orders: NDArray[np.int64]) -> float:
        counts = np.zeros((len(SYSTEMS), len(SYSTEMS)))
        np.add.at(counts, (orders[:, :-1].ravel(), orders[:, 1:].ravel()), 1)
        return float(((counts - counts.mean()) ** 2).sum())

    return p_value(unevenness, systems)


def p_value(statistic, systems: NDArray[np.int64]) -> float:
    random = np.random.default_rng(5)
    seen = statistic(systems)
    as_large = sum(statistic(random.permuted(systems, axis=1)) >= seen for _ in range(SHUFFLES))
    return (as_large + 1) / (SHUFFLES + 1)


@pytest.mark.slow
def test_no_system_comes_early_or_late_or_after_another(met: NDArray[np.int64]) -> None:
    """Over 16 raters × 20 items, by permutation of each rater's order."""
    assert (np.sort(met, axis=1) == np.repeat(np.arange(4), DIALOGUES)).all(), (
        "everyone meets every item once"
    )
    assert p_of_places(met) > LEAST_P
    assert p_of_neighbours(met) > LEAST_P


def test_two_raters_hardly_ever_meet_items_in_one_order(met: NDArray[np.int64]) -> None:
    """Else what two colleagues remember together would be more than what each remembers."""
    assert len({tuple(row) for row in met}) == RATERS


@pytest.mark.parametrize(
    ("order", "measure"),
    [
        ([0] * 5 + [1] * 5 + [2] * 5 + [3] * 5, p_of_places),
        ([0, 1, 2, 3] * 5, p_of_neighbours),
        ([0, 1, 2, 3, 1, 0, 3, 2, 0, 1, 2, 3, 3, 2, 0, 1, 2, 3, 0, 1], p_of_neighbours),
    ],
    ids=["in blocks", "in rounds", "in pairs"],
)
def test_orders_that_tell_systems_are_noticed(order: list[int], measure) -> None:
    """The measures can fail: each such order has the smallest p that these shuffles can give."""
    assert measure(np.tile(order, (RATERS, 1))) == 1 / (SHUFFLES + 1)


def test_orders_that_begin_with_one_system_are_noticed() -> None:
    """Random but for one thing: each rater's last item of the third system was put first."""
    random = np.random.default_rng(11)
    met = random.permuted(np.tile(np.repeat(np.arange(4), DIALOGUES), (RATERS, 1)), axis=1)
    assert p_of_places(met) > LEAST_P
    for row in met:
        last = np.flatnonzero(row == 2)[-1]
        row[[0, last]] = row[[last, 0]]
    assert p_of_places(met) <= LEAST_P


@pytest.mark.slow
def test_an_attention_item_is_as_far_from_its_dialogue_as_any_other() -> None:
    """Dialogues of the latest 8 items are avoided while there are others: a dialogue that came back
    sooner would be a check, or the one that came before. 24 dialogues, so there are always others;
    12 attention items on 12 of them."""
    campaign = made_campaign(
        systems=("one",), dialogues=24, turns=3, k=6, attention=[(1, 2)] * 12, attention_every=3
    )  # fmt: skip
    met = 0
    for rater in made_raters(campaign, 6):
        assert len(rate_all(rater, most=40)) == 40
        order = rater.assignments.order_by("position").values_list(
            "item__dialogue__position", "item__role"
        )
        met += sum(role == "attention" for _, role in order)
        dialogues = [dialogue for dialogue, _ in order]
        for place, dialogue in enumerate(dialogues):
            assert dialogue not in dialogues[max(0, place - RECENT_ITEMS) : place], (
                place,
                order[place][1],
            )
    assert met > 6 * 8, "of 40 items a third would be checks, but there are only 12"


@pytest.mark.slow
def test_of_few_dialogues_a_check_comes_back_no_sooner_either() -> None:
    """Of 5 dialogues the latest 4 are avoided as long as regular items of the fifth are left, and
    no check is of them: the first 20 of 60 regular items and 15 checks never show one dialogue
    twice within 4."""
    campaign = made_campaign(
        systems=("one", "two"),
        dialogues=5,
        turns=6,
        k=6,
        attention=[(1, 2)] * 15,
        attention_every=2,
    )
    checks = 0
    for rater in made_raters(campaign, 6):
        assert len(rate_all(rater, most=20)) == 20
        order = list(
            rater.assignments.order_by("position").values_list(
                "item__dialogue__position", "item__role"
            )
        )
        checks += sum(role == "attention" for _, role in order)
        for place, (dialogue, role) in enumerate(order):
            assert dialogue not in [earlier for earlier, _ in order[max(0, place - 4) : place]], (
                place,
                role,
            )
    assert checks > 6 * 2


def test_names_of_items_are_in_no_order(tmp_path: Path) -> None:
    """Items are stored system by system. The rank correlation of 400 random names with that order
    has standard deviation 1 / √399 ≈ 0.05, so beyond ± 0.3 it comes once in 10⁹ runs."""
    version = imported(tmp_path, dialogues=100, turns=1, systems=SYSTEMS)
    campaign = campaign_on(version, "turn", attention_every=None)
    names = list(
        campaign.items.filter(role="regular").order_by("pk").values_list("public_id", flat=True)
    )
    assert len(set(names)) == 400
    assert {len(name) for name in names} == {16}, "12 random bytes; a check item's name is as long"
    assert {len(item.public_id) for item in campaign.items.all()} == {16}
    ranks = np.argsort(np.argsort(np.array(names)))
    assert abs(np.corrcoef(ranks, np.arange(400))[0, 1]) < 0.3
