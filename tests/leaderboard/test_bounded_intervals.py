"""On pages, in the API and on boards: no interval of a bounded score reaches beyond its scale."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotations.models import CorpusVersion
from leaderboard.pages.fewer_ratings.query import prediction_powered
from leaderboard.pages.raters.query import rater_effects
from leaderboard.pages.system_pair.query import system_pair
from leaderboard.pages.systems.query import system_profile
from leaderboard.queries.standing import system_standing
from leaderboard.results import json_form
from tests.annotations.stored import dialogue, rated_corpus, stored

pytestmark = pytest.mark.django_db
SYSTEMS = ("best", "worst", "other")


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    """Twelve dialogues, three raters, from 1 to 5: one system is given fives but for two, another
    ones but for two."""
    places = [(f"d{number}", 0, system) for number in range(12) for system in SYSTEMS]
    scores, texts = {}, {}
    for name, turn, system in places:
        number = int(name[1:])
        usual = {"best": 5, "worst": 1, "other": 2 + number % 3}[system]
        odd = {"best": 2, "worst": 4, "other": usual}[system]
        given = (odd, odd, usual) if number in (3, 8) else (usual, usual, usual)
        if number < 11:
            scores[name, turn, system] = dict(
                zip(("ann", "bob", "cem"), map(float, given), strict=True)
            )
        texts[name, turn, system] = " ".join(["word"] * (1 + number % 4 + SYSTEMS.index(system)))
    made = stored(
        rated_corpus([dialogue(f"d{number}") for number in range(12)], texts, scores), tmp_path
    )
    call_command("score", "--corpus", "small", "--metrics", "response_length", "--inline")
    return made


def intervals(document: Any) -> Iterator[tuple[float, float, float]]:
    if isinstance(document, dict):
        if document.get("ci") and document.get("value") is not None:
            yield (document["ci"][0], document["value"], document["ci"][1])
        for inner in document.values():
            yield from intervals(inner)
    elif isinstance(document, list | tuple):
        for inner in document:
            yield from intervals(inner)


def test_no_interval_of_ratings_leaves_the_scale(version: CorpusVersion) -> None:
    means = [
        json_form(system_standing(version, "overall")),
        json_form(system_profile(version)),
        [
            {"raw": one.raw.as_json(), "corrected": one.corrected.as_json()}
            for one in rater_effects(version, "overall").systems
        ],
        json_form(prediction_powered(version, "overall", "response_length")),
    ]
    for of_page in means:
        found = list(intervals(of_page))
        assert found
        for low, value, high in found:
            assert 1 <= low <= value <= high <= 5


def test_two_systems_differ_by_no_more_than_the_scale_is_wide(version: CorpusVersion) -> None:
    difference = system_pair(version, "overall", "best", "worst").human.difference
    assert difference.value is not None
    low, high = difference.ci
    assert -4 <= low <= difference.value <= high <= 4
