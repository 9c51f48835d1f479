"""Processes that are killed while they open, publish, take back or delete a campaign: it is as it
was, or as it was to be, for everybody and in the next moment. No rating is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from tests.conftest import made_site
from tests.faults.chance import draw, few
from tests.faults.killed_writes import RATINGS, STEPS
from tests.site import Site

pytestmark = pytest.mark.slow

KILLS = few(6, of=60)
"""Of each step."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """With what each step prepares."""
    with made_site(tmp_path_factory.mktemp("killed-writes")) as site:
        yield site


def do(site: Site, what: str) -> str:
    return site.python(f"from tests.faults.killed_writes import *\n{what}")


def told(site: Site, what: str) -> list[str]:
    found: list[str] = json.loads(do(site, what))
    return found


def is_killed(site: Site, what: str) -> bool:
    """Not where it did a little less than the first of its kind, and was at its end before."""
    try:
        do(site, what)
    except AssertionError as ended:
        if "ended with -9" not in str(ended):
            raise
        return True
    return False


def places(chance: random.Random, met: list[str]) -> list[int]:
    """Each kind of statement is as likely as another: what decides is done once, the rows of a
    large table go in many steps."""
    kinds = sorted({*met})
    drawn = [kind for _ in range(KILLS) for kind in chance.sample(kinds, len(kinds))][:KILLS]
    return [
        chance.choice([place for place, one in enumerate(met) if one == kind]) for kind in drawn
    ]


ON_ONE_DATABASE = ("published again", "taken back")
"""They write by the same means as the other steps."""


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(step, marks=pytest.mark.one_database if step in ON_ONE_DATABASE else ())
        for step in STEPS
    ],
)
def test_a_campaign_whose_process_is_killed_is_as_before_or_as_after(
    filled: Site, step: str
) -> None:
    """Each at another statement or commit, just before or just after it."""
    chance, name = draw(), step.replace(" ", "-")
    do(filled, f"prepare({step!r}, {KILLS + 1})")
    look = f"tell(visible('{name}-0'), everything('{name}-0'))"
    visible_before, before = told(filled, look)
    met = told(filled, f"tell(*take({step!r}, '{name}-0'))")
    visible_after, after = told(filled, look)
    assert visible_before != visible_after
    assert step == "opened" or f", {RATINGS}]" in visible_before
    assert len(met) > 20
    ends, kills = {before: 0, after: 0}, 0
    for number, at in enumerate(places(chance, met), 1):
        slug, is_before = f"{name}-{number}", chance.random() < 0.5
        kills += is_killed(filled, f"take({step!r}, '{slug}', {at}, {is_before})")
        where = f"{'before' if is_before else 'after'} {at} of {len(met)}: {met[at]}"
        seen, later, all_of_it = told(filled, f"afterwards('{slug}')")
        assert seen in (visible_before, visible_after), where
        assert later == seen, f"another state than at the kill, {where}"
        assert all_of_it in ends, f"{where}: {all_of_it}"
        ends[all_of_it] += 1
        if all_of_it == before:
            again = told(filled, f"take({step!r}, '{slug}'); tell(everything('{slug}'))")
            assert again == [after], f"again, {where}"
    print(f"{step}: {len(met)} moments; as before {ends[before]}, as after {ends[after]}")
    assert kills > KILLS / 2
