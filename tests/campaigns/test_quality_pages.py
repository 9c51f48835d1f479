"""Pages of raters, ratings and agreement: who may open them, what they say, what their forms do."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import Campaign, Conflict, Participation
from annotations.models import CorpusVersion, Rating
from common.roles import ORGANISER, RATER
from leaderboard.models import Analysis
from leaderboard.results.computing import compute_waiting
from tests.campaigns.judged import items_of, judge, table
from tests.campaigns.sets import made_campaign, made_raters, made_user

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def campaign() -> Campaign:
    campaign = made_campaign(
        systems=["one", "two"], dialogues=2, turns=1, slug="pilot", axes_below=3
    )
    raters = made_raters(campaign, 3)
    table(campaign, raters, {0: [1, 2, 4, 5], 1: [1, 2, 4, None], 2: [None, None, None, 1]})
    return campaign


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", ORGANISER))
    return client


PAGES = ("campaign-raters", "campaign-ratings", "campaign-export", "campaign-agreement")
FORMS = (
    "rater-exclude",
    "rater-restore",
    "rater-conflict",
    "campaign-publish",
    "campaign-unpublish",
)


def address(name: str, slug: str = "pilot") -> str:
    return reverse(name, args=[slug, 1] if name.startswith("rater-") else [slug])


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_for_organisers_only(campaign: Campaign, client: Client, name: str) -> None:
    assert client.get(address(name))["Location"].startswith("/accounts/login/")
    client.force_login(made_user("", RATER))
    assert client.get(address(name)).status_code == 403


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_for_organisers_only(campaign: Campaign, client: Client, name: str) -> None:
    client.force_login(made_user("", RATER))
    assert client.post(address(name), {"reason": "x", "aspect": "x"}).status_code == 403
    assert Participation.objects.filter(state="excluded").count() == 0


@pytest.mark.parametrize("name", FORMS)
def test_forms_do_nothing_on_a_get(campaign: Campaign, organiser: Client, name: str) -> None:
    assert organiser.get(address(name)).status_code == 405


@pytest.mark.parametrize("name", PAGES)
def test_an_unknown_campaign_is_not_found(organiser: Client, name: str) -> None:
    assert organiser.get(address(name, "nowhere")).status_code == 404


@pytest.mark.parametrize("name", ["campaign-ratings", "campaign-export", "campaign-agreement"])
def test_a_collection_has_no_ratings(organiser: Client, name: str) -> None:
    made_campaign("collection", slug="talks")
    assert organiser.get(address(name, "talks")).status_code == 404


def test_raters_stand_under_pseudonyms_and_one_names_the_account(
    campaign: Campaign, organiser: Client
) -> None:
    name = campaign.participations.get(position=0).user.get_username()
    assert name not in organiser.get(address("campaign-raters")).content.decode()
    assert name in organiser.get(address("campaign-raters"), {"rater": "1"}).content.decode()


@pytest.mark.parametrize("rater", ["9", "0", "x", "²", "-1", "1 OR 1"])
def test_a_rater_that_is_not_there(campaign: Campaign, organiser: Client, rater: str) -> None:
    assert organiser.get(address("campaign-raters"), {"rater": rater}).status_code == 404


def test_excluding_and_taking_back(campaign: Campaign, organiser: Client) -> None:
    page = organiser.post(address("rater-exclude"), {"reason": f"careless {HOSTILE}"}, follow=True)
    assert "4 ratings no longer count" in page.content.decode()
    assert HOSTILE not in page.content.decode()
    page = organiser.post(address("rater-restore"), follow=True)
    assert "count again: 4" in page.content.decode()


@pytest.mark.parametrize("reason", ["", "x" * 501, "nul \0"])
def test_an_exclusion_needs_a_reason(campaign: Campaign, organiser: Client, reason: str) -> None:
    response = organiser.post(address("rater-exclude"), {"reason": reason})
    assert (response.status_code, Participation.objects.filter(state="excluded").count()) == (
        422,
        0,
    )


def test_a_stake_is_noted_and_withdrawn(campaign: Campaign, organiser: Client) -> None:
    system = campaign.version.systems.get(name="one")
    organiser.post(address("rater-conflict"), {"system": system.pk})
    assert Conflict.objects.get().system == system
    assert (
        "No stake after all"
        in organiser.get(address("campaign-raters"), {"rater": "1"}).content.decode()
    )
    organiser.post(address("rater-conflict"), {"system": system.pk, "withdraw": "1"})
    assert not Conflict.objects.exists()


@pytest.mark.parametrize("system", ["", "x", "999999999999999999999"])
def test_a_stake_in_no_system_is_refused(
    campaign: Campaign, organiser: Client, system: str
) -> None:
    assert organiser.post(address("rater-conflict"), {"system": system}).status_code == 422


def test_a_system_of_another_corpus_is_no_choice(campaign: Campaign, organiser: Client) -> None:
    other = made_campaign().version.systems.first()
    assert organiser.post(address("rater-conflict"), {"system": other.pk}).status_code == 422


def test_the_raters_table_can_be_downloaded(campaign: Campaign, organiser: Client) -> None:
    rows = json.loads(
        organiser.get(address("campaign-raters"), {"download": "raters.json"}).content
    )["rows"]
    assert [row["cells"]["done"]["value"] for row in rows] == [4, 3, 1]
    assert rows[0]["cells"]["use"]["value"] == "1: 25 %, 2: 25 %, 3: 0 %, 4: 25 %, 5: 25 %"


def test_a_comment_is_shown_as_text(campaign: Campaign, organiser: Client) -> None:
    judge(campaign.participations.get(position=2), items_of(campaign)[3], 2, comment=HOSTILE)
    body = organiser.get(address("campaign-ratings")).content.decode()
    assert (HOSTILE in body, "&lt;script&gt;" in body) == (False, True)


@pytest.mark.parametrize(
    ("form", "content_type"),
    [
        ("csv", "text/csv; charset=utf-8"),
        ("revisions-csv", "text/csv; charset=utf-8"),
        ("jsonl", "application/jsonl; charset=utf-8"),
        ("mt-metrics-eval", "application/zip"),
    ],
)
def test_files_are_streamed(
    campaign: Campaign, organiser: Client, form: str, content_type: str
) -> None:
    response = organiser.get(address("campaign-export"), {"format": form})
    assert (response.streaming, response["Content-Type"]) == (True, content_type)
    assert len(b"".join(response.streaming_content)) > 100


def test_account_names_are_in_the_file_only_when_asked_for(
    campaign: Campaign, organiser: Client
) -> None:
    name = campaign.participations.get(position=0).user.get_username().encode()
    plain = organiser.get(address("campaign-export"), {"format": "jsonl"})
    named = organiser.get(address("campaign-export"), {"format": "jsonl", "names": "1"})
    assert [name in b"".join(one.streaming_content) for one in (plain, named)] == [False, True]
    assert "with-names" in named["Content-Disposition"]


def test_an_unknown_format_is_not_found(campaign: Campaign, organiser: Client) -> None:
    assert organiser.get(address("campaign-export"), {"format": "xlsx"}).status_code == 404


def test_publishing_from_the_page(campaign: Campaign, organiser: Client) -> None:
    refused = organiser.post(address("campaign-publish"), {"aspect": "overall"})
    assert (refused.status_code, Rating.objects.count()) == (422, 0)
    Campaign.objects.update(state="closed")
    page = organiser.post(
        address("campaign-publish"), {"aspect": "overall"}, follow=True
    ).content.decode()
    assert ("8 ratings are published" in page, "Publish again" in page) == (True, True)
    assert CorpusVersion.objects.get(pk=campaign.version_id).main_aspect == "overall"
    organiser.post(address("campaign-unpublish"))
    assert Rating.objects.count() == 0


def test_the_page_says_that_a_publication_is_out_of_date(
    campaign: Campaign, organiser: Client
) -> None:
    Campaign.objects.update(state="closed")
    organiser.post(address("campaign-publish"), {"aspect": "overall"})
    assert "have changed since" not in organiser.get(address("campaign-ratings")).content.decode()
    organiser.post(address("rater-exclude"), {"reason": "late finding"})
    assert "have changed since" in organiser.get(address("campaign-ratings")).content.decode()


# --- agreement ------------------------------------------------------------------------------------


def test_the_agreement_page_shows_coefficients_matrix_and_widest_items(
    campaign: Campaign, organiser: Client
) -> None:
    body = organiser.get(address("campaign-agreement")).content.decode()
    for words in (
        "Krippendorff",
        "Each rater with each other",
        "rater 1: 5, rater 3: 1",
        "Agreement on each system",
    ):
        assert words in body


def test_the_matrix_is_a_table_with_headers_and_reasons(
    campaign: Campaign, organiser: Client
) -> None:
    body = organiser.get(address("campaign-agreement")).content.decode()
    assert body.count('<th scope="col">rater') == 3
    assert "the two raters judged no item in common" in body


def test_the_answer_is_computed_once_and_again_after_a_rating(
    campaign: Campaign, organiser: Client
) -> None:
    answers = []
    for score in (None, None, 3):
        if score:
            judge(campaign.participations.get(position=2), items_of(campaign)[3], score)
        organiser.get(address("campaign-agreement"))
        answers.append(Analysis.objects.get(kind="campaign-agreement"))
    assert answers[0].computed_at == answers[1].computed_at < answers[2].computed_at
    assert [answer.stamp.partition(".")[0] for answer in answers] == ["8", "8", "9"]


def test_an_exclusion_shows_at_once_and_can_be_looked_behind(
    campaign: Campaign, organiser: Client
) -> None:
    def ratings(**choice: str) -> int:
        body = organiser.get(
            address("campaign-agreement"), {"download": "distribution.json", **choice}
        ).content
        return sum(row["cells"]["ratings"]["value"] for row in json.loads(body)["rows"])

    before = ratings()
    organiser.post(address("rater-exclude"), {"reason": "careless"})
    assert (before, ratings(), ratings(raters="all")) == (8, 4, 8)


def test_who_asks_again_gets_nothing_where_nobody_rated(
    campaign: Campaign, organiser: Client
) -> None:
    body = organiser.get(address("campaign-agreement")).content.decode()
    (seen,) = re.findall(r'"X-Seen": "([^"]+)"', body)
    again = organiser.get(
        address("campaign-agreement"), headers={"HX-Request": "true", "X-Seen": seen}
    )
    assert again.status_code == 204
    judge(campaign.participations.get(position=2), items_of(campaign)[3], 3)
    changed = organiser.get(
        address("campaign-agreement"), headers={"HX-Request": "true", "X-Seen": seen}
    )
    assert (
        changed.status_code,
        b"<html" in changed.content,
        b"live-agreement" in changed.content,
    ) == (
        200,
        False,
        True,
    )


@pytest.mark.by_workers
def test_a_page_that_follows_does_not_have_long_work_done_all_the_time(
    campaign: Campaign, organiser: Client
) -> None:
    """An answer that took 60 s is left to stand for five minutes, and the page says that it is
    older."""
    organiser.get(address("campaign-agreement"))
    compute_waiting()
    Analysis.objects.update(seconds=60)
    judge(campaign.participations.get(position=2), items_of(campaign)[3], 3)
    body = organiser.get(address("campaign-agreement")).content.decode()
    assert "from older data" in body
    assert compute_waiting() == []
    Analysis.objects.update(finished_at=timezone.now() - timedelta(minutes=6))
    organiser.get(address("campaign-agreement"))
    assert len(compute_waiting()) == 1


@pytest.mark.parametrize(
    "choice",
    [
        {"aspect": "charm"},
        {"system": "three"},
        {"raters": "some"},
        {"weighting": "cubic"},
        {"download": "nothing.csv"},
    ],
)
def test_a_choice_that_does_not_exist_is_not_found(
    campaign: Campaign, organiser: Client, choice: dict[str, str]
) -> None:
    assert organiser.get(address("campaign-agreement"), choice).status_code == 404


@pytest.mark.parametrize(
    "choice", [{"aspect": "fluency"}, {"system": "two"}, {"raters": "all", "weighting": "linear"}]
)
def test_choices_that_exist(campaign: Campaign, organiser: Client, choice: dict[str, str]) -> None:
    assert organiser.get(address("campaign-agreement"), choice).status_code == 200


def test_every_pair_is_in_the_download(campaign: Campaign, organiser: Client) -> None:
    body = organiser.get(
        address("campaign-agreement"), {"download": "rater-pairs.csv"}
    ).content.decode()
    assert len(io.StringIO(body).readlines()) == 1 + 3


def test_before_the_first_rating_the_pages_say_what_comes(organiser: Client) -> None:
    made_campaign(slug="fresh")
    for name, words in (
        ("campaign-raters", "Nobody takes part yet"),
        ("campaign-ratings", "No ratings yet"),
        ("campaign-agreement", "No ratings yet"),
    ):
        assert words in organiser.get(address(name, "fresh")).content.decode()
