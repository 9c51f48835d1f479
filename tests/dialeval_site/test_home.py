"""The home page: findings from stored answers, open rounds, what a visitor reads, and a bounded
number of queries."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.text import slugify

from annotations.corpora.queries import Counts
from annotations.models import Corpus, CorpusVersion
from common.roles import ORGANISER
from dialeval_site.home import CARDS, ROUNDS
from leaderboard.models import Analysis
from leaderboard.pages.metrics.finding import corpora_with_findings
from leaderboard.results import all_kinds, answer_cache
from tests.campaigns.arenas import made_arena
from tests.campaigns.sets import made_user, made_version
from tests.challenges.sets import open_challenge, open_round, team_with_member

pytestmark = pytest.mark.django_db
ANSWERS = json.loads(
    (Path(__file__).parents[1] / "leaderboard" / "kind_answers.json").read_text(encoding="utf-8")
)
"""Of three metrics at turn level: length .661, word_f1 .150, a judge .096; of length's comparisons
with the two others both are significant (Holm's p .031 and .048)."""


COUNTED = dict.fromkeys((one.name for one in fields(Counts)), 0)


def corpus(name: str, **fields: Any) -> CorpusVersion:
    version = made_version(slug=slugify(name))
    Corpus.objects.filter(pk=version.corpus_id).update(is_public=True, name=name)
    version.main_aspect = "overall"
    for field, value in fields.items():
        setattr(version, field, value)
    version.save()
    return version


def store(version: CorpusVersion, kind: str, made_by: str = "", **params: str) -> None:
    answer = dict(ANSWERS[kind]["answer"])
    if "leave_one_out_agreement" in answer:  # the file's keys are sorted, those of answers are not
        levels = answer["leave_one_out_agreement"]
        answer["leave_one_out_agreement"] = {
            level: levels[level] for level in ("turn", "dialogue", "system")
        }
    Analysis.objects.create(
        version=version,
        kind=kind,
        question=json.dumps(params, sort_keys=True),
        parameters=params,
        state=Analysis.State.DONE,
        answer=answer,
        stamp="0",
        made_by=made_by or f"dialeval {settings.VERSION} {all_kinds()[kind].version}",
        computed_at=timezone.now(),
    )


def scored(version: CorpusVersion, systems: str = "without-gold", made_by: str = "") -> None:
    store(version, "correlations", made_by, aspect="overall", systems=systems)


def store_tests(version: CorpusVersion) -> None:
    store(version, "comparisons", aspect="overall", level="turn", systems="without-gold")


def text_of(client: Client, address: str = "/") -> str:
    page = client.get(address).content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page).split()).replace(" ,", ",")


def queries(client: Client) -> int:
    cache.clear()
    answer_cache.forget()
    with CaptureQueriesContext(connection) as asked:
        assert client.get("/").status_code == 200
    return len(asked)


# --- findings -------------------------------------------------------------------------------------


def test_a_corpus_says_which_metric_correlates_best() -> None:
    """r = .661 of length; its dot is filled, those of the two that are significantly behind are
    hollow."""
    version = corpus("Tea talks")
    scored(version)
    store_tests(version)
    ((_, finding, _),) = corpora_with_findings([version], CARDS)
    assert finding is not None
    assert (finding.metric, finding.coefficient, finding.tied) == ("length", "r = 0.66", 0)
    assert [one.name for one in finding.drawn][:2] == ["length", "word_f1"]
    assert ["hollow" in one.svg for one in finding.drawn] == [False, True, True]
    assert ["of-judge" in one.svg for one in finding.drawn] == [False, False, True]
    assert "length correlates best with human ratings: r = 0.66" in text_of(Client())


def test_a_corpus_opens_with_its_finding_or_says_that_there_is_none() -> None:
    version = corpus("Tea talks", counted={**COUNTED, "ratings": 48})
    none = "No metric has been compared with the human ratings yet."
    assert none in text_of(Client(), "/corpora/tea-talks/")
    scored(version)
    text = text_of(Client(), "/corpora/tea-talks/")
    assert "length correlates best with human ratings: r = 0.66" in text
    assert none not in text


def test_open_arenas_of_everybody_are_listed_and_say_nothing_of_their_systems() -> None:
    """Others are closed, by invitation, or not opened yet."""
    arena = made_arena(name="Which is kinder")
    made_arena(name="Closed already", is_open=False)
    made_arena(name="By link", is_public=False)
    text = text_of(Client())
    assert "Open arenas All arenas Which is kinder open" in text
    assert "Votes 0" in text
    assert "Closed already" not in text
    assert "By link" not in text
    assert not [one.name for one in arena.systems.all() if one.name in text]


def test_a_corpus_without_ratings_has_no_finding() -> None:
    corpus("Tea talks", counted=COUNTED)
    assert "human ratings yet." not in text_of(Client(), "/corpora/tea-talks/")


def test_what_was_not_tested_is_not_said_to_be_tied_or_behind() -> None:
    version = corpus("Tea talks")
    scored(version)
    ((_, finding, _),) = corpora_with_findings([version], CARDS)
    assert finding is not None
    assert finding.tied is None
    assert not any("hollow" in one.svg for one in finding.drawn)


@pytest.mark.parametrize("made_by", ["dialeval 0.0.1 1", ""])
def test_only_answers_of_this_release_are_read(made_by: str) -> None:
    version = corpus("Tea talks")
    scored(version, made_by=made_by)
    ((_, finding, _),) = corpora_with_findings([version], CARDS)
    assert (finding is None) == bool(made_by)


def test_the_finding_leaves_the_references_out_where_the_leaderboard_does() -> None:
    version = corpus("Tea talks")
    scored(version, systems="without-gold")
    without = corpora_with_findings([version], CARDS)
    scored(version, systems="all")
    assert corpora_with_findings([version], CARDS) == without


def test_rated_corpora_with_a_finding_come_before_simulated_ones_and_those_without() -> None:
    first, second, third = (
        corpus("A nothing"),
        corpus("B simulated", simulated=True),
        corpus("C rated"),
    )
    scored(second)
    scored(third)
    found = corpora_with_findings([first, second, third], 2)
    assert [card.version.corpus_id for card in found] == [third.corpus_id, second.corpus_id]


@pytest.mark.by_workers
def test_a_rated_corpus_without_numbers_is_computed_and_its_card_asks_for_them() -> None:
    version = corpus("Tea talks", aspects=["overall"])
    page = Client().get("/").content.decode()
    row = Analysis.objects.get(version=version, kind="correlations")
    assert row.state == Analysis.State.PENDING
    assert "Computing how metrics correlate with the human ratings." in page
    assert f'hx-select="#corpus-{version.corpus_id}"' in page


def test_a_corpus_whose_numbers_could_not_be_computed_asks_for_nothing() -> None:
    version = corpus("Tea talks", aspects=["overall"])
    failed = Analysis.State.FAILED
    Analysis.objects.create(version=version, kind="correlations", question="", state=failed)
    page = Client().get("/").content.decode()
    assert "Computing" not in page
    assert "hx-select" not in page


def test_a_corpus_without_ratings_says_so() -> None:
    corpus("Tea talks")
    assert "No human ratings yet, so metrics are not compared with them." in text_of(Client())


# --- challenges -----------------------------------------------------------------------------------


def test_open_rounds_have_their_deadline_and_drafts_are_not_shown() -> None:
    closes_at = timezone.now() + timedelta(days=3)
    round = open_round(challenge=open_challenge(name="Spring task"), closes_at=closes_at)
    team_with_member(round.challenge)
    open_round(challenge=open_challenge(name="Secret task", state="draft"))
    page = text_of(Client())
    assert "Spring task" in page
    assert f"{closes_at:%Y-%m-%d %H:%M} UTC" in page
    assert "nobody is ranked yet" in page
    assert "Secret task" not in page


# --- who reads, and what it costs -----------------------------------------------------------------


def test_the_page_says_nothing_twice_above_its_parts() -> None:
    corpus("Tea talks")
    page = Client().get("/").content.decode()
    above = [one for one in re.findall(r"<(?:h\d|figcaption)\b[^>]*>([^<]+)<", page) if one.strip()]
    assert above[0].startswith("Which dialogue system is better")
    assert len(above) == len(set(above)), above


def test_visitors_are_led_to_no_page_of_organisers() -> None:
    corpus("Tea talks")
    assert "/corpora/new/" not in Client().get("/").content.decode()
    organiser = Client()
    organiser.force_login(made_user("grace", ORGANISER))
    assert "/corpora/new/" in organiser.get("/").content.decode()


def test_many_corpora_and_rounds_take_no_more_queries_than_a_pageful() -> None:
    """Of corpora beyond the cards the counts alone are read, once after a change."""
    organiser = Client()
    organiser.force_login(made_user("grace", ORGANISER))
    version = corpus("Tea talks")
    for _ in range(ROUNDS):
        open_round(version)
    for number in range(CARDS):
        one = corpus(f"Corpus {number}")
        scored(one)
        store_tests(one)
    few = queries(organiser)
    counted = few + 4 * 6  # six queries count what a corpus holds
    for number in range(4):
        one = corpus(f"More {number}")
        scored(one)
        store_tests(one)
        open_round(version)
    assert queries(organiser) <= counted


def test_more_cards_take_no_more_queries_though_no_answer_was_read_yet() -> None:
    one = corpus("Corpus 1")
    scored(one)
    store_tests(one)
    Client().get("/")  # what the corpus holds is counted once
    alone = queries(Client())
    for number in range(2, CARDS):
        another = corpus(f"Corpus {number}")
        scored(another)
        store_tests(another)
    Client().get("/")
    assert queries(Client()) == alone
