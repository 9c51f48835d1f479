"""The challenge that comes with the demo: there once, whole, and handed in to through the door that
everybody uses."""

from __future__ import annotations

import pytest
from django.contrib.auth import authenticate

from dialeval_site.demo.challenge import BASELINES_ACCOUNT, SLUG, load_demo_challenge
from leaderboard.challenges.models import Challenge, Submission, Team
from tests.campaigns.sets import made_user
from tests.challenges.sets import computed, small_version, taken_in

pytestmark = pytest.mark.django_db


def test_it_is_open_with_baselines_that_are_scored_and_flagged() -> None:
    participant = made_user("participant", "participant")
    version = small_version()
    load_demo_challenge(version)
    challenge = Challenge.objects.get(slug=SLUG)
    assert challenge.state == "open"
    done = [computed(taken_in(one)) for one in Submission.objects.order_by("pk")]
    assert [(one.name, one.state, one.is_baseline) for one in done] == [
        ("echo", "scored", True),
        ("dull", "scored", True),
        ("verbose", "scored", True),
    ]
    assert Team.objects.get(members__user=participant).submissions.count() == 0


def test_loading_it_again_changes_nothing() -> None:
    version = small_version()
    load_demo_challenge(version)
    Challenge.objects.update(state="closed", name="Mine now")
    load_demo_challenge(version)
    assert list(Challenge.objects.values_list("state", "name")) == [("closed", "Mine now")]
    assert Submission.objects.count() == 3


def test_nobody_logs_in_as_the_baselines() -> None:
    load_demo_challenge(small_version())
    assert authenticate(username=BASELINES_ACCOUNT, password="") is None


def test_it_is_there_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from dialeval_site.demo import challenge as demo_challenge

    def broken(*_arguments: object) -> bytes:
        raise RuntimeError("the machine was switched off")

    version = small_version()
    with monkeypatch.context() as patch:
        patch.setattr(demo_challenge, "_responses", broken)
        with pytest.raises(RuntimeError):
            load_demo_challenge(version)
    assert not Challenge.objects.exists()
    load_demo_challenge(version)
    assert Submission.objects.count() == 3
