"""A campaign's ratings as the matrices that agreement reads."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.campaigns.actions.quality import exclude
from annotations.campaigns.models import Item
from annotations.campaigns.queries.ratings import (
    campaign_agreement,
    campaign_matrix,
    ratings_data_version,
)
from annotations.corpora.queries import NotFound
from tests.campaigns.judged import items_of, judge, table
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db
NAN = float("nan")


def test_raters_by_items_in_the_order_of_joining_with_nan_where_not_judged() -> None:
    campaign = made_campaign(systems=["one"], dialogues=2, turns=2)
    raters = made_raters(campaign, 3)
    table(campaign, raters, {0: [1, None, 3, None], 2: [2, 5, None, None]})
    found = campaign_matrix(campaign)
    order = np.argsort(
        [[item.pk for item in items_of(campaign)].index(pk) for pk in found.item_pks]
    )
    np.testing.assert_array_equal(
        found.matrix.scores[:, order], [[1, NAN, 3, NAN], [2, 5, NAN, NAN]]
    )
    assert found.matrix.raters == ("rater 1", "rater 3")
    assert (found.level, found.matrix.levels) == ("turn", (1, 2, 3, 4, 5))
    assert found.dialogue[order].tolist() == [0, 0, 1, 1]
    assert found.turn[order].tolist() == [0, 1, 0, 1]


def test_only_the_last_revision_is_read() -> None:
    campaign = made_campaign(systems=["one"], dialogues=1, turns=1)
    (rater,) = made_raters(campaign, 1)
    (item,) = items_of(campaign)
    judge(rater, item, 1)
    judge(rater, item, 4)
    assert campaign_matrix(campaign).matrix.scores.tolist() == [[4.0]]
    assert ratings_data_version(campaign) == 2


def test_an_axis_is_1_marked_low_0_asked_and_nan_not_asked() -> None:
    campaign = made_campaign(systems=["one"], dialogues=3, turns=1, axes_below=3)
    (rater,) = made_raters(campaign, 1)
    for item, (score, low) in zip(
        items_of(campaign), [(1, ["fluency"]), (2, []), (5, None)], strict=True
    ):
        judge(rater, item, score, low_axes=low)
    found = campaign_matrix(campaign, "fluency")
    by_item = dict(zip(found.item_pks.tolist(), found.matrix.scores[0].tolist(), strict=True))
    marked, not_marked, not_asked = (by_item[item.pk] for item in items_of(campaign))
    assert (marked, not_marked, np.isnan(not_asked)) == (1.0, 0.0, True)
    assert found.matrix.levels == (0.0, 1.0)


def test_an_unknown_aspect_names_those_that_are_known() -> None:
    with pytest.raises(NotFound, match="Aspects: overall, fluency"):
        campaign_matrix(made_campaign(axes_below=3), "charm")


def test_a_campaign_that_never_asks_axes_has_none() -> None:
    with pytest.raises(NotFound):
        campaign_matrix(made_campaign(), "fluency")


def test_excluded_raters_are_read_only_when_asked_for() -> None:
    campaign = made_campaign(systems=["one"], dialogues=2, turns=1)
    raters = made_raters(campaign, 2)
    table(campaign, raters, {0: [1, 2], 1: [5, 5]})
    exclude(raters[1], "answers without reading")
    assert campaign_matrix(campaign).matrix.raters == ("rater 1",)
    assert campaign_matrix(campaign, excluded=True).matrix.raters == ("rater 1", "rater 2")


def test_training_and_attention_items_are_not_in_it() -> None:
    campaign = made_campaign(
        systems=["one"], dialogues=1, turns=1, training=[(1, 2)], attention=[(5, 5)]
    )
    (rater,) = made_raters(campaign, 1)
    for role in Item.Role.values:
        for item in items_of(campaign, role):
            judge(rater, item, 2)
    assert campaign_matrix(campaign, excluded=True).matrix.scores.tolist() == [[2.0]]


def test_one_system_alone() -> None:
    campaign = made_campaign(systems=["one", "two"], dialogues=1, turns=2)
    (rater,) = made_raters(campaign, 1)
    table(campaign, [rater], {0: [1, 2, 3, 4]})
    found = campaign_matrix(campaign, systems=["two"])
    assert (found.systems, sorted(found.matrix.scores[0].tolist())) == (("two",), [3.0, 4.0])


@pytest.mark.parametrize("kind", ["dialogue", "interactive"])
def test_dialogues_and_chats_are_of_dialogue_level(kind: str) -> None:
    campaign = made_campaign(kind, systems=["one", "two"], dialogues=2)
    raters = made_raters(campaign, 2)
    table(campaign, raters, {0: [1, 2, 4, 5], 1: [1, 2, 4, 5]})
    report = campaign_agreement(campaign, resamples=50)
    assert (report["level"], report["items"], report["systems"]) == ("dialogue", 4, ["one", "two"])
    assert report["krippendorff_alpha"]["ordinal"]["value"] == 1.0


def test_without_ratings_agreement_says_so() -> None:
    report = campaign_agreement(made_campaign(), resamples=10)
    assert report["krippendorff_alpha"]["ordinal"] == {"value": None, "reason": "nobody rated"}


def test_one_rater_twice_as_severe_shows_in_kappa() -> None:
    """Scores 1, 1, 2, 2 and 1, 2, 2, 2 agree on 3 of 4: p_o = 3/4. Chance: ½·¼ + ½·¾ = ½. κ = (¾ −
    ½) / ½ = ½."""
    campaign = made_campaign(systems=["one"], dialogues=2, turns=2)
    table(campaign, made_raters(campaign, 2), {0: [1, 1, 2, 2], 1: [1, 2, 2, 2]})
    report = campaign_agreement(campaign, resamples=0)
    assert report["cohen_kappa"]["unweighted"]["mean"] == pytest.approx(0.5)


def test_two_hundred_items_are_read_with_few_queries(django_assert_max_num_queries) -> None:
    campaign = made_campaign(systems=["one"], dialogues=20, turns=10)
    with django_assert_max_num_queries(6):
        campaign_matrix(campaign)
