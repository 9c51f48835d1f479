"""Leaderboards of a slice: the conversations that share a value of their metadata.

Twelve dialogues of one turn, six about food and six about travel, answered by four systems. What is
said of the slice ``domain:food`` must be what is said of a corpus that holds these six alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.corpora.queries import NotFound
from annotations.corpora.slices import resolve_slice, slices_of
from annotations.formats.records import LabelRecord, RaterRecord, Record
from annotations.models import CorpusVersion
from leaderboard.pages.metrics.plots import scatter_documents
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.pages.systems.query import (
    misleading_metrics,
    separating,
    system_leaderboard,
    system_profile,
)
from leaderboard.queries.comparisons import comparisons
from leaderboard.results import json_form
from leaderboard.results.computing import compute_waiting
from tests.annotations.stored import Scores, dialogue, rated_corpus, stored

pytestmark = pytest.mark.django_db

SYSTEMS = ("dull", "echo", "keen", "odd")
FOOD = tuple(range(0, 12, 2))
KINDS_OF_SYSTEMS = {
    "systems": system_leaderboard,
    "misleading": misleading_metrics,
    "separating": separating,
}


def records(numbers: Sequence[int]) -> list[Record]:
    dialogues, responses = [], {}
    ratings: Scores = {}
    for number in numbers:
        drawn = random.Random(number)
        about = "food" if number in FOOD else "travel"
        one = replace(dialogue(f"d{number}"), metadata={"domain": about, "serial": number * 7})
        dialogues.append(one)
        for strength, system in enumerate(SYSTEMS):
            place = (one.id, 0, system)
            responses[place] = " ".join(["word"] * (1 + strength + drawn.randrange(4)))
            ratings[place] = {
                rater: float(min(5, max(1, 1 + strength + drawn.choice((-1, 0, 1)))))
                for rater in ("ann", "bob")
            }
    return rated_corpus(dialogues, responses, ratings, systems=SYSTEMS)


@pytest.fixture
def whole(tmp_path: Path) -> CorpusVersion:
    return scored(stored(records(range(12)), tmp_path, "whole"))


@pytest.fixture
def food(tmp_path: Path) -> CorpusVersion:
    return scored(stored(records(FOOD), tmp_path, "food"))


def scored(version: CorpusVersion) -> CorpusVersion:
    slug = version.corpus.slug
    call_command("score", corpus=slug, metrics="response_length,word_f1", inline=True, verbosity=0)
    version.refresh_from_db()
    return version


NAMED_BY_CORPUS = {"corpus", "corpus_version", "signature", "data_slice", "handed_in", "cost"}


def numbers_of(answer: Any) -> Any:
    """An answer without what names the corpus."""
    if isinstance(answer, dict):
        return {
            key: numbers_of(value) for key, value in answer.items() if key not in NAMED_BY_CORPUS
        }
    return [numbers_of(one) for one in answer] if isinstance(answer, list | tuple) else answer


class TestTheSliceIsTheCorpusOfItsConversations:
    def test_metrics(self, whole: CorpusVersion, food: CorpusVersion) -> None:
        of_slice = json_form(metric_leaderboard(whole, "overall", data_slice="domain:food"))
        assert numbers_of(of_slice) == numbers_of(json_form(metric_leaderboard(food, "overall")))
        assert of_slice != json_form(metric_leaderboard(whole, "overall"))

    def test_letters(self, whole: CorpusVersion, food: CorpusVersion) -> None:
        of_slice = comparisons(whole, "overall", "turn", data_slice="domain:food")
        assert numbers_of(json_form(of_slice)) == numbers_of(
            json_form(comparisons(food, "overall", "turn"))
        )

    @pytest.mark.parametrize("kind", KINDS_OF_SYSTEMS)
    def test_systems(self, kind: str, whole: CorpusVersion, food: CorpusVersion) -> None:
        compute = KINDS_OF_SYSTEMS[kind]
        of_slice = compute(whole, "overall", data_slice="domain:food")
        assert numbers_of(json_form(of_slice)) == numbers_of(json_form(compute(food, "overall")))

    def test_profiles(self, whole: CorpusVersion, food: CorpusVersion) -> None:
        of_slice = system_profile(whole, data_slice="domain:food")
        assert numbers_of(json_form(of_slice)) == numbers_of(json_form(system_profile(food)))


def test_every_number_of_a_slice_names_it_in_its_signature(whole: CorpusVersion) -> None:
    rows = metric_leaderboard(whole, "overall", data_slice="domain:food").rows
    assert rows
    assert all("|slice:domain:food|" in row.signature for row in rows)


def test_points_of_a_slice_lead_to_the_dialogues_of_the_corpus(whole: CorpusVersion) -> None:
    drawn = scatter_documents(whole, "overall", "response_length", data_slice="domain:food")
    of_turns = drawn.figures[0]
    linked = {place[0] for trace in of_turns["data"] for place in trace.get("customdata", ())}
    assert linked == set(FOOD)


def test_a_slice_of_one_conversation_has_no_interval_and_says_why(tmp_path: Path) -> None:
    version = scored(stored(records(range(3)), tmp_path, "few"))
    (row,) = [
        row
        for row in metric_leaderboard(version, "overall", data_slice="domain:travel").baseline
        if row.level == "turn"
    ]
    assert row.pearson.ci is None
    assert "dialogue" in row.pearson.reason


class TestWhichSlicesThereAre:
    def test_values_of_metadata_with_how_many_conversations_have_them(
        self, whole: CorpusVersion
    ) -> None:
        assert slices_of(whole)["domain"] == {"food": 6, "travel": 6}

    def test_those_of_a_version_stored_before_are_counted_when_asked_for(
        self, whole: CorpusVersion
    ) -> None:
        CorpusVersion.objects.update(slices=None)
        whole.refresh_from_db()
        assert slices_of(whole)["domain"] == {"food": 6, "travel": 6}
        whole.refresh_from_db()
        assert whole.slices["domain"] == {"food": 6, "travel": 6}

    def test_labels_of_whole_conversations_are_slices(self, tmp_path: Path) -> None:
        found = records(range(3))
        place = found.index(next(one for one in found if isinstance(one, RaterRecord)))
        found.insert(place, RaterRecord("cat"))
        found.append(LabelRecord("d2", None, "", "cat", "safe", "no"))
        version = scored(stored(found, tmp_path, "labelled"))
        assert slices_of(version)["safe"] == {"no": 1}
        standing = system_leaderboard(version, "overall", data_slice="safe:no")
        assert [one.dialogues for one in standing.systems] == [1, 1, 1, 1]

    def test_another_one_is_refused_with_those_that_exist(self, whole: CorpusVersion) -> None:
        with pytest.raises(NotFound, match=r"no slice 'domain:sport'.*domain:food"):
            resolve_slice(whole, "domain:sport")


class TestPages:
    @pytest.mark.parametrize("page", ["metrics", "systems"])
    def test_the_board_offers_slices_and_shows_the_chosen_one(
        self, page: str, whole: CorpusVersion, client: Client
    ) -> None:
        address = f"/corpora/whole/{page}/?slice=domain:food"
        client.get(address)
        compute_waiting()
        shown = client.get(address).content.decode()
        assert '<option value="domain:food" selected>domain: food (6)</option>' in shown
        assert "Of the 6 conversations with domain: food alone" in shown

    def test_the_dialogues_of_a_slice_are_listed(
        self, whole: CorpusVersion, client: Client
    ) -> None:
        page = client.get("/corpora/whole/dialogues/", {"slice": "domain:food"})
        listed = [row.cells["dialogue"].value for row in page.context["table"].rows]
        assert listed == [f"d{number}" for number in FOOD]
        assert client.get("/corpora/whole/dialogues/", {"slice": "domain:sea"}).status_code == 404

    def test_a_value_of_one_conversation_is_not_offered(
        self, whole: CorpusVersion, client: Client
    ) -> None:
        client.get("/corpora/whole/systems/")
        compute_waiting()
        shown = client.get("/corpora/whole/systems/").content.decode()
        assert 'value="domain:travel"' in shown
        assert 'value="serial:7"' not in shown

    def test_an_unknown_slice_is_not_found_and_asks_no_worker(
        self, whole: CorpusVersion, client: Client
    ) -> None:
        assert client.get("/corpora/whole/metrics/?slice=domain:sport").status_code == 404
        assert compute_waiting() == []

    def test_the_home_page_does_not_take_a_slice_for_the_corpus(
        self, whole: CorpusVersion, client: Client
    ) -> None:
        client.get("/corpora/whole/metrics/?slice=domain:food")
        compute_waiting()
        assert "response_length" not in client.get("/").content.decode()
