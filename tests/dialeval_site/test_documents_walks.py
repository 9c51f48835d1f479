"""docs/design.md draws three walks through the code; these are the modules that they enter."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.challenges import execution
from leaderboard.challenges.models import Submission
from tests.campaigns.rating_browser import a_rater, in_hand, send
from tests.campaigns.sets import made_campaign, made_user
from tests.challenges.pages import address, hand_in
from tests.challenges.sets import open_round, small_version, team_with_member
from tests.dialeval_site.documents import sections, text_of
from tests.site import PROJECT
from workers.models import MetricRun
from workers.runs import execution as metric_execution

pytestmark = pytest.mark.django_db

PACKAGES = tuple(
    f"{PROJECT / name}/"
    for name in ("annotations", "common", "dialeval_site", "leaderboard", "workers")
)


@contextmanager
def entered() -> Iterator[list[str]]:
    """The project's modules of which a function was called, in the order of their first call."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGES) and frame.f_code.co_name != "<module>":
            found.setdefault(file.removeprefix(f"{PROJECT}/"))

    modules: list[str] = []
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield modules
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        modules.extend(found)


def a_rating() -> list[str]:
    rater, browser = a_rater(made_campaign())
    campaign, (item, *_) = rater.campaign, in_hand(rater)
    browser.get(reverse("rating-work", args=[campaign.slug]))  # what a process loads once
    with entered() as modules:
        assert send(browser, campaign, item).status_code == 200
    return modules


def a_submission() -> list[str]:
    round = open_round()
    _, user = team_with_member(round.challenge)
    member = Client()
    member.force_login(user)
    member.get(address("round", round))
    with entered() as modules:
        hand_in(member, round)
        execution.process(Submission.objects.get().pk)
    return modules


def a_metric_run() -> list[str]:
    version = small_version(systems=("alpha",))
    organiser = Client()
    organiser.force_login(made_user("olga", "organiser"))
    page = reverse("corpus-runs", args=[version.corpus.slug])
    organiser.get(page)
    with entered() as modules:
        organiser.post(
            reverse("score", args=[version.corpus.slug]),
            {"metrics": ["word_f1"], "systems": ["alpha"]},
        )
        metric_execution.compute(MetricRun.objects.get().pk)
    return modules


DRAWN = dict(
    re.findall(
        r"\*\*(A [a-z ]+)\*\*:.*?```\n(.*?)```",
        sections(text_of("design.md"))["Three walks"],
        flags=re.DOTALL,
    )
)
WALKS = {
    "A rating": (a_rating, "annotations/campaigns/"),
    "A submission": (a_submission, "leaderboard/challenges/"),
    "A metric run": (a_metric_run, None),
}


def test_each_walk_is_drawn() -> None:
    assert DRAWN.keys() == WALKS.keys()


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_enters_what_is_drawn_in_this_order(name: str) -> None:
    drawn = [line.split()[0] for line in DRAWN[name].splitlines()]
    walk, package = WALKS[name]
    modules = walk()
    assert [module for module in modules if module in drawn] == drawn
    if package:
        others = [module for module in modules if module.startswith(package)]
        assert [module for module in others if module not in drawn] == []
