"""From an empty site to a paper's table, as people walk it: an organiser, three teams, four raters,
a reader.

Nobody types an address but the site's own (and the invitation that raters are sent): everything
else is a link or a button, so a way that is missing fails here. Web server, worker, database and
Chromium are real; the language model that answers the prompt is a small server of the test's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.stage import SELDOM_SWEPT
from tests.browser.visit import visitors
from tests.browser.walk import material, organiser, raters, results, teams
from tests.browser.walk.people import PASSWORD, Person
from tests.conftest import made_site
from tests.site import PROJECT, Site
from tests.workers.endpoint import stub_endpoint

METRIC = "words_of_wilma"


@pytest.fixture(scope="module")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Nothing in it, not even a log-in; a worker, and a language model to ask."""
    with made_site(tmp_path_factory.mktemp("walk")) as site, stub_endpoint(material.model) as model:
        model.usage = material.tokens
        site.settings |= SELDOM_SWEPT | {
            "DIALEVAL_LLM_URL": model.base_url,
            "DIALEVAL_LLM_MODEL": "stub",
            "DIALEVAL_LLM_KEY": "none",
        }
        site.start_worker()
        yield site


@pytest.fixture
def arrive(chromium: Browser, empty_site: Site) -> Iterator[Callable[..., Person]]:
    with visitors(chromium, empty_site.start_web()) as begin:

        def arrive(name: str, **window: object) -> Person:
            return Person(begin(**window), name)

        yield arrive


@pytest.mark.slow
def test_the_walk(empty_site: Site, arrive: Callable[..., Person], tmp_path: Path) -> None:
    make_the_first_organiser(empty_site, "mara")
    mara = arrive("mara")
    mara.sees("Nothing public yet")
    mara.logs_in()
    organiser.add_a_corpus(mara, "warm-up", material.corpus(material.WARM_UP, material.IN_WARM_UP))
    mara.sees("Dialogues: 2, turns: 6")
    organiser.add_a_corpus(mara, "final", material.corpus(material.FINAL))
    mara.sees("Dialogues: 4, turns: 12")
    organiser.open_a_challenge(mara)

    lena, otis, wilma = arrive("lena"), arrive("otis", width=390), arrive("wilma", scheme="dark")
    teams.join(lena, "Larks")
    teams.practise_with_a_mistake(lena)
    teams.hand_in_to_the_finals(lena, "Early bird", material.nearly_gold)
    teams.join(otis, "Owls")
    teams.hand_in_to_the_finals(otis, "Night bird", material.vague)
    teams.join(wilma, "Wrens")
    teams.hand_in_a_prompt(wilma, "Small bird")

    link = organiser.open_a_campaign(mara)
    rosa, ravi, rina, rolf = (arrive(name, width=width) for name, width in RATERS.items())
    for rater in (rosa, ravi, rina):
        raters.take_part(rater, link)
        raters.practise(rater, raters.UNDERSTOOD)
    raters.take_part(rolf, link)
    raters.practise(rolf, raters.MISUNDERSTOOD)
    rolf.sees("Too many practice items were outside the expected range")
    raters.rate(rosa, 7, opinion=0)
    raters.pause_and_come_back(rosa)
    raters.rate(rosa, 11, opinion=1)
    raters.rate(ravi, 18, opinion=1)
    raters.rate(rina, 18, opinion=0)
    for rater in (rosa, ravi, rina):
        raters.has_rated_all(rater)

    organiser.close_and_publish_the_ratings(mara)
    organiser.release_and_open_everything(mara)
    teams.see_the_private_board(otis)
    teams.hand_in_metric_scores(wilma, METRIC)

    reader = arrive("a reader")
    latex = results.metrics_held_against_people(reader, METRIC)
    assert r"\toprule" in latex
    assert METRIC.replace("_", r"\_") in latex
    results.systems_ranked(reader)
    results.raters_agree(reader)
    # 2 dialogues × 3 turns × 3 systems × 3 raters
    assert len(results.ratings_in_a_file(mara)) == 54
    results.print_the_report(mara, empty_site, tmp_path)


RATERS = {"rosa": 390, "ravi": 1440, "rina": 1440, "rolf": 390}


def make_the_first_organiser(site: Site, name: str) -> None:
    """In a terminal, as the report at the end: nothing else is."""
    subprocess.run(
        [sys.executable, "manage.py", "create_organiser", name],
        cwd=PROJECT,
        env=site.environment,
        input=f"{PASSWORD}\n",
        text=True,
        check=True,
        timeout=120,
    )
