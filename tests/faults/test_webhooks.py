"""Notices on a real site: a worker that dies while a receiver thinks, and hints that were never
sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.challenges.receivers import http_receiver
from tests.conftest import made_site
from tests.site import Site, kill, wait_until

MADE = """
from django.contrib.auth import get_user_model
from leaderboard.challenges.actions import notices
from leaderboard.challenges.models import Notice
user = get_user_model().objects.create_user("ada")
webhook = notices.add_webhook(user, {url!r})
{tell}
"""
STATE = """
import json
from leaderboard.challenges.models import Notice
print(json.dumps(list(Notice.objects.values("state", "attempts", "answer", "public_id"))))
"""


@pytest.fixture
def site(tmp_path: Path):
    with made_site(tmp_path) as site:
        site.settings["DIALEVAL_WEBHOOK_PRIVATE"] = "true"
        yield site


def notices_of(site: Site) -> list[dict[str, object]]:
    return json.loads(site.python(STATE))


def test_a_worker_that_is_killed_while_the_receiver_thinks_is_replaced(site: Site) -> None:
    with http_receiver(seconds=4) as receiver:
        worker = site.start_worker()
        site.python(MADE.format(url=receiver.url, tell="notices.try_webhook(webhook)"))
        wait_until(lambda: receiver.got, 60, "the receiver is asked")
        kill(worker)
        receiver.seconds = 0
        site.start_worker()
        wait_until(lambda: len(receiver.got) == 2, 60, "the receiver is asked again")
        wait_until(lambda: notices_of(site)[0]["state"] == "done", 60, "the notice is done")
    (notice,) = notices_of(site)
    assert notice["attempts"] == 2
    assert {headers["X-Dialeval-Delivery"] for headers, _ in receiver.got} == {notice["public_id"]}


def test_a_notice_that_no_worker_was_told_of_is_found(site: Site) -> None:
    unheard = (
        "from django.utils import timezone\nNotice.objects.create(user=user, webhook=webhook, "
        "channel='webhook', event='test', ending=timezone.now(), due_at=timezone.now(), "
        "public_id='unheard')"
    )
    with http_receiver() as receiver:
        site.python(MADE.format(url=receiver.url, tell=unheard))
        assert notices_of(site)[0]["state"] == "pending"
        site.start_worker()
        wait_until(lambda: receiver.got, 60, "the receiver is asked")
        wait_until(lambda: notices_of(site)[0]["state"] == "done", 60, "the notice is done")
    assert len(receiver.got) == 1
