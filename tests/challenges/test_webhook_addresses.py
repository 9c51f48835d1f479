"""Where a webhook may lead: nowhere but to the public internet, and to what was checked."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from common.outgoing import AddressNotAllowed
from leaderboard.challenges import notices as delivery
from leaderboard.challenges.actions import notices
from leaderboard.challenges.models import Notice, Webhook
from leaderboard.challenges.pinned_http import NotReached, post
from tests.campaigns.sets import made_user
from tests.challenges.receivers import closed_port, http_receiver
from tests.challenges.sets import scored, team_with_member

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings) -> None:
    settings.WEBHOOK_PRIVATE = True
    settings.SITE_URL = "https://dialeval.example.org"


@pytest.fixture
def team(round):
    return team_with_member(round.challenge, "ada")[0]


@pytest.fixture
def ada(team) -> Any:
    return team.members.get().user


def hook(user: Any, url: str = "http://127.0.0.1:9/hook") -> Webhook:
    return notices.add_webhook(user, url)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "168.63.129.16",
        "192.0.0.192",
        "[fd00:ec2::254]",
        "[64:ff9b::a9fe:a9fe]",
        "[fec0::1]",
    ],
)
@pytest.mark.parametrize("private_allowed", [False, True])
def test_a_webhook_leads_to_no_credentials_even_where_private_addresses_are_allowed(
    host: str, private_allowed: bool
) -> None:
    with pytest.raises(AddressNotAllowed):
        post(f"https://{host}/latest/", b"{}", {}, private_allowed)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "10.0.0.1", "100.64.0.1", "[::1]", "[fd00::1]", "192.0.2.1"]
)
def test_an_address_that_is_not_of_the_internet_at_large(host: str) -> None:
    with pytest.raises(AddressNotAllowed, match="public internet"):
        post(f"https://{host}/hook", b"{}", {}, private_allowed=False)


def test_a_private_address_is_not_called_whatever_its_name(round, team, ada, settings) -> None:
    with http_receiver() as receiver:
        hook(ada, receiver.url)
        scored(round, team)
        settings.WEBHOOK_PRIVATE = False
        Webhook.objects.update(url=receiver.url.replace("http://127.0.0.1", "https://localhost"))
        assert delivery.deliver(Notice.objects.get().pk) is False
    notice = Notice.objects.get()
    assert (notice.state, notice.attempts) == ("failed", 1)
    assert "public internet" in notice.answer
    assert receiver.got == []


def test_a_name_is_looked_up_once_and_what_was_checked_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name server that says a public address first and a private one then."""
    asked: list[str] = []
    called: list[tuple[str, int]] = []
    answers = iter(["93.184.216.34", "127.0.0.1"])

    def lookup(host: str, port: int, **_: object) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(address: tuple[str, int], _timeout: object = None) -> Any:
        called.append(address)
        raise OSError("this test goes nowhere")

    monkeypatch.setattr("socket.getaddrinfo", lookup)
    monkeypatch.setattr("socket.create_connection", connect)
    with pytest.raises(NotReached):
        post("https://rebinding.example/hook", b"{}", {}, private_allowed=False)
    assert asked == ["rebinding.example"]
    assert called == [("93.184.216.34", 443)]


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lookup(_host: str, port: int, **_: object) -> list[Any]:
        found = ("93.184.216.34", "10.0.0.1")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr("socket.getaddrinfo", lookup)
    with pytest.raises(AddressNotAllowed):
        post("https://two.example/hook", b"{}", {}, private_allowed=False)


@pytest.mark.slow
def test_a_receiver_that_drips_is_hung_up_on() -> None:
    with http_receiver(drip=True) as receiver:
        started = time.monotonic()
        with pytest.raises(NotReached, match="no answer within 1 s"):
            post(receiver.url, b"{}", {}, private_allowed=True, seconds=1)
        assert time.monotonic() - started < 20  # it drips for a minute


def test_nobody_there() -> None:
    with pytest.raises(NotReached):
        post(f"http://127.0.0.1:{closed_port()}/", b"{}", {}, private_allowed=True)


@pytest.mark.parametrize(
    "url",
    [
        "", "ftp://example.org/", "file:///etc/passwd", "http://example.org/", "https://",
        "https://user:pw@example.org/", "https://example.org:99999/", "https://[::1/",
        "https://example.org/\r\nX: y", "https://example.org/a b", "javascript:alert(1)",
        "https://example.org/" + "a" * 300, "https://example.org/\0",
    ],
)  # fmt: skip
def test_what_cannot_be_a_webhook(ada, settings, url: str) -> None:
    settings.WEBHOOK_PRIVATE = False
    with pytest.raises(notices.NotAccepted):
        notices.add_webhook(ada, url)
    assert not Webhook.objects.exists()


def test_no_second_line_in_the_request() -> None:
    with http_receiver() as receiver:
        post(receiver.url + "?a=\u00e9\u2028b", b"{}", {}, private_allowed=True)
    assert len(receiver.got) == 1


def test_nobody_has_endless_webhooks(ada) -> None:
    for number in range(notices.MOST_WEBHOOKS):
        hook(ada, f"http://127.0.0.1/{number}")
    with pytest.raises(notices.NotAccepted):
        hook(ada, "http://127.0.0.1/more")


def test_tests_are_few(ada) -> None:
    webhook = hook(ada)
    for _ in range(notices.TESTS_AN_HOUR):
        notices.try_webhook(webhook)
    with pytest.raises(notices.NotAccepted):
        notices.try_webhook(webhook)
    notices.delete_webhook(webhook)
    with pytest.raises(notices.NotAccepted):
        notices.try_webhook(hook(ada))
    notices.try_webhook(hook(made_user("eve")))
