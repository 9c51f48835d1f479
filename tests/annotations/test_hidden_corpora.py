"""Who rates a corpus does not see its pages, which name the systems."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.models import Campaign, Participation
from annotations.models import Corpus, CorpusVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> CorpusVersion:
    corpus = Corpus.objects.create(slug="tea", name="Tea talks")
    return CorpusVersion.objects.create(
        corpus=corpus, number=1, digest="d" * 64, format="jsonl", main_aspect="overall"
    )


def rater_of(version: CorpusVersion, state: str, role: str = "rater") -> Client:
    user = get_user_model().objects.create_user("robin")
    user.groups.add(Group.objects.get(name=role))
    campaign = Campaign.objects.create(
        slug="spring",
        name="Spring",
        kind="turn",
        version=version,
        state=state,
        opened_at=timezone.now(),
    )
    Participation.objects.create(campaign=campaign, user=user, position=0)
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(("state", "status"), [("open", 404), ("paused", 404), ("closed", 200)])
def test_the_corpus_does_not_exist_for_its_raters_until_the_campaign_is_closed(
    version, state, status
) -> None:
    client = rater_of(version, state)
    assert client.get(reverse("corpus", args=["tea"])).status_code == status
    assert (b"Tea talks" in client.get(reverse("home")).content) is (status == 200)


def test_the_list_says_that_something_is_left_out(version) -> None:
    page = rater_of(version, "open").get(reverse("home")).content
    assert b"A corpus that you are rating is not listed" in page
    assert b"import_corpus" not in page


def test_an_organiser_who_rates_sees_it_all_the_same(version) -> None:
    assert (
        rater_of(version, "open", role="organiser").get(reverse("corpus", args=["tea"])).status_code
        == 200
    )


def test_others_see_a_public_corpus_that_is_being_rated(version) -> None:
    rater_of(version, "open")
    assert Client().get(reverse("corpus", args=["tea"])).status_code == 200
