"""The first page's links for visitors, and a bounded number of queries."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotations.models import Corpus
from common.roles import ORGANISER
from dialeval_site.next_actions import next_actions
from tests.campaigns.sets import made_user, made_version
from tests.challenges.sets import open_challenge

pytestmark = pytest.mark.django_db


def test_a_visitor_is_led_to_the_open_challenge_and_to_no_draft() -> None:
    challenge = open_challenge(name="Spring task")
    open_challenge(name="Secret task", state="draft")
    steps = list(next_actions(AnonymousUser(), []))
    assert {step.words: step.remark for step in steps} == {
        "Take part in a challenge": "Spring task.",
        "Log in": "To rate, to submit, or to organise.",
    }
    assert steps[0].href == f"/challenges/{challenge.slug}/"


def test_the_first_page_says_nothing_twice_above_its_parts() -> None:
    made_version(slug="tea")
    Corpus.objects.update(is_public=True)
    page = Client().get("/").content.decode()
    above = re.findall(r"<(?:h\d|figcaption)\b[^>]*>([^<]*)<", page)
    assert above[0] == "Corpora"
    assert len(above) == len(set(above)) == 3, above


def test_an_organisers_first_page_takes_few_queries() -> None:
    client = Client()
    client.force_login(made_user("grace", ORGANISER))
    made_version(slug="tea")
    cache.clear()
    with CaptureQueriesContext(connection) as asked:
        assert client.get("/").status_code == 200
    assert len(asked) <= 20
