"""People answer given contexts in a campaign, and their answers become systems of the corpus."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from django.core.management import call_command

from annotations.campaigns.models import Item
from annotations.corpora.queries import version_of
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.campaigns.forms import asking
from tests.campaigns.rating_browser import JSON, a_rater, address, in_hand

MAPPING = """columns:
  dialogue: conversation
  turn: turn
  rater: system
  answer_response: response
"""


@pytest.mark.django_db
def test_two_people_s_answers_are_two_systems(tmp_path: Path) -> None:
    """As ComperDial's two humans: a system without words holds the places that they fill."""
    empty = {("d", turn, "blank"): "" for turn in range(2)}
    version = stored(rated_corpus([dialogue("d", turns=2)], empty, {}), tmp_path)
    campaign = asking("written-response", version=version)
    for name in ("ann", "bob"):
        rater, browser = a_rater(campaign)
        page = browser.get(address("rating-work", campaign)).content.decode()
        assert "(an empty response)" in page
        for item in in_hand(rater):
            turn = Item.objects.get(public_id=item).turn.number
            given = {"item": item, "key": uuid.uuid4().hex, "guidelines": 1, "form": 1}
            answer = {"q.response": f"{name} says {turn}, and so on."}
            stored_answer = browser.post(
                address("rating-submit", campaign), {**given, **answer}, **JSON
            )
            assert stored_answer.json()["stored"]
    call_command("export_ratings", campaign.slug, to=tmp_path / "answers")
    (tmp_path / "columns.yaml").write_text(MAPPING)
    call_command(
        *("add_to_corpus", version.corpus.slug, str(tmp_path / "answers" / "ratings.csv")),
        *("--mapping", str(tmp_path / "columns.yaml")),
    )
    systems = version_of(version.corpus.slug).systems.exclude(name="blank").order_by("name")
    assert {
        one.name: list(one.responses.order_by("turn__number").values_list("text", flat=True))
        for one in systems
    } == {
        "rater 1": ["ann says 0, and so on.", "ann says 1, and so on."],
        "rater 2": ["bob says 0, and so on.", "bob says 1, and so on."],
    }
