"""What the raters' page says of each rater, from rows."""

from __future__ import annotations

import pytest

from annotations.campaigns.actions.quality import declare_conflict, exclude
from annotations.campaigns.models import Item
from annotations.campaigns.queries.quality import raters_of
from tests.campaigns.judged import items_of, judge
from tests.campaigns.sets import made_campaign, made_raters

pytestmark = pytest.mark.django_db


def test_a_training_item_is_judged_by_its_first_score() -> None:
    """The range is 4 to 5. First 1, then, after the answer was shown, 5: 0 of 1, as for passing the
    training."""
    campaign = made_campaign(training=[(4, 5)])
    rater = made_raters(campaign, 1)[0]
    [item] = items_of(campaign, Item.Role.TRAINING)
    judge(rater, item, 1)
    judge(rater, item, 5)
    assert str(raters_of(campaign, intervals=False)[0].training) == "0 / 1"


def test_an_attention_item_is_judged_by_what_the_rater_says_in_the_end() -> None:
    campaign = made_campaign(attention=[(4, 5)])
    rater = made_raters(campaign, 1)[0]
    [item] = items_of(campaign, Item.Role.ATTENTION)
    judge(rater, item, 1)
    judge(rater, item, 5)
    assert str(raters_of(campaign, intervals=False)[0].attention) == "1 / 1"


def test_ratings_of_ones_own_team_are_no_part_of_the_others_mean() -> None:
    """Two systems, one dialogue, one turn: items N and S. Rater 1 says 3 and 3, rater 2 says 5 and
    4 and has a stake in the system of N. Rater 1 is held against S only: 3 − 4 = −1, not (3 − 5 + 3
    − 4) / 2 = −1.5."""
    campaign = made_campaign(dialogues=1, turns=1, k=2)
    first, second = made_raters(campaign, 2)
    own, other = items_of(campaign)
    for rater, scores in ((first, (3, 3)), (second, (5, 4))):
        judge(rater, own, scores[0])
        judge(rater, other, scores[1])
    declare_conflict(second.user, own.system)
    beside = [one.beside for one in raters_of(campaign, intervals=False)]
    assert (beside[0].items, beside[0].severity.value) == (1, -1.0)
    assert (beside[1].items, beside[1].severity.value) == (2, 1.5)


def test_an_excluded_rater_is_nobodys_other() -> None:
    """Rater 2 is excluded: nobody is left beside rater 1, and rater 2 is still held against rater
    1: 5 − 3 = 2."""
    campaign = made_campaign(dialogues=1, turns=1, k=2)
    first, second = made_raters(campaign, 2)
    item = items_of(campaign)[0]
    judge(first, item, 3)
    judge(second, item, 5)
    exclude(second, "always 5")
    beside = [one.beside for one in raters_of(campaign, intervals=False)]
    assert beside[0].severity.reason == "nobody else judged this rater's items"
    assert beside[1].severity.value == 2.0
