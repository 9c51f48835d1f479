"""Who is told of an ending, what they are told, and how often it is tried."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.challenges import notices as delivery
from leaderboard.challenges.actions import notices
from leaderboard.challenges.models import Member, Notice, Submission, Webhook
from leaderboard.challenges.models.notice import LONGEST_ANSWER
from tests.campaigns.sets import made_user
from tests.challenges.receivers import closed_port, http_receiver, mail_receiver
from tests.challenges.sets import scored, submit, taken_in, team_with_member

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


def due_now(notice: Notice) -> None:
    Notice.objects.filter(pk=notice.pk).update(due_at=timezone.now() - timedelta(seconds=1))


# --- who is told ----------------------------------------------------------------------------------


def test_members_of_the_team_are_told_and_nobody_else(round, team, ada) -> None:
    bo, eve = made_user("bo"), made_user("eve")
    Member.objects.create(team=team, challenge=round.challenge, user=bo)
    for user in (ada, bo, eve):
        hook(user)
    scored(round, team)
    assert sorted(Notice.objects.values_list("user__username", "event")) == [
        ("ada", "scored"),
        ("bo", "scored"),
    ]


def test_one_ending_is_told_once_and_a_second_one_again(round, team, ada) -> None:
    hook(ada)
    submission = scored(round, team)
    notices.tell(submission)
    assert Notice.objects.count() == 1
    submission.ended_at += timedelta(minutes=1)
    notices.tell(submission)
    assert Notice.objects.count() == 2


def test_what_is_rolled_back_is_not_told(round, team, ada) -> None:
    hook(ada)
    submission = scored(round, team)
    Notice.objects.all().delete()

    def told_and_undone() -> None:
        with transaction.atomic():
            notices.tell(submission)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        told_and_undone()
    assert not Notice.objects.exists()


def test_invalid_is_told_and_cancelled_is_not(round, team, ada) -> None:
    from leaderboard.challenges.actions.work import cancel

    hook(ada)
    taken_in(submit(round, team, data=b"{}"))
    assert list(Notice.objects.values_list("event", flat=True)) == ["invalid"]
    cancel(submit(round, team), ada)
    assert Notice.objects.count() == 1


def test_e_mail_goes_to_who_has_an_address_and_did_not_switch_it_off(
    round, team, ada, settings
) -> None:
    people = [ada, *(made_user(name) for name in ("bo", "cy", "di"))]
    for user in people[1:]:
        Member.objects.create(team=team, challenge=round.challenge, user=user)
    for user in people[:3]:
        user.email = f"{user.username}@example.org"
        user.save()
    notices.choose_mail(people[1], False)
    notices.choose_mail(people[2], False)
    notices.choose_mail(people[2], True)
    scored(round, team)
    assert not Notice.objects.exists(), "this site sends no e-mail"
    settings.SENDS_EMAIL = True
    scored(round, team)
    assert sorted(Notice.objects.values_list("user__username", "channel")) == [
        ("ada", "email"),
        ("cy", "email"),
    ]


def test_a_disabled_account_hears_nothing(round, team, ada) -> None:
    hook(ada)
    submission = scored(round, team)
    notice = Notice.objects.get()
    ada.is_active = False
    ada.save()
    assert delivery.deliver(notice.pk) is False
    notice.refresh_from_db()
    assert (notice.state, notice.answer) == ("failed", "the account is disabled")
    submission.ended_at += timedelta(minutes=1)
    assert notices.tell(submission) == 0


# --- a webhook hears ------------------------------------------------------------------------------


def test_a_delivery_is_signed_and_says_what_the_team_may_know(round, team, ada) -> None:
    round.public_share, round.private_metrics = 0.5, ["rouge_l"]
    round.release_at = timezone.now() + timedelta(days=1)
    round.save()
    with http_receiver() as receiver:
        webhook = hook(ada, receiver.url)
        submission = scored(round, team)
        notice = Notice.objects.get()
        assert delivery.deliver(notice.pk) is True
        assert delivery.deliver(notice.pk) is False, "a second hint changes nothing"
    ((headers, body),) = receiver.got
    timestamp = headers["X-Dialeval-Timestamp"]
    expected = hmac.new(
        webhook.secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256
    ).hexdigest()
    assert headers["X-Dialeval-Signature"] == f"sha256={expected}"
    assert abs(int(timestamp) - time.time()) < 60
    assert headers["X-Dialeval-Event"] == "submission.scored"
    assert headers["X-Dialeval-Delivery"] == notice.public_id
    told = json.loads(body)["submission"]
    assert (told["id"], told["state"]) == (submission.public_id, "scored")
    assert {(score["metric"], score["part"]) for score in told["scores"]} == {
        ("word_f1", "public"),
        ("bleu_4", "public"),
    }
    assert told["url"] == f"https://dialeval.example.org/submissions/{submission.public_id}/"
    notice.refresh_from_db()
    assert (notice.state, notice.attempts, notice.answer) == ("done", 1, "200 thank you")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "attempts", "state"), [(500, 8, "failed"), (302, 8, "failed"), (410, 1, "failed")]
)
def test_what_is_not_taken_is_tried_again_with_growing_pauses(
    round, team, ada, status, attempts, state
) -> None:
    pauses = []
    with http_receiver() as other, http_receiver(status=status, location=other.url) as receiver:
        hook(ada, receiver.url)
        scored(round, team)
        notice = Notice.objects.get()
        while notice.state == "pending":
            assert delivery.deliver(notice.pk) is False
            notice.refresh_from_db()
            assert delivery.deliver(notice.pk) is False, "not before it is due"
            if notice.state == "pending":
                pauses.append(notice.due_at - timezone.now())
            due_now(notice)
    assert other.got == [], "redirects are not followed"
    assert (notice.state, notice.attempts, len(receiver.got)) == (state, attempts, attempts)
    assert str(status) in notice.answer
    assert pauses == sorted(pauses)
    if attempts == 8:
        assert timedelta(hours=20) < sum(pauses, timedelta()) < timedelta(hours=24)
    assert len({headers["X-Dialeval-Delivery"] for headers, _ in receiver.got}) == 1


def test_a_receiver_that_comes_back_hears_of_it(round, team, ada) -> None:
    with http_receiver(status=503) as receiver:
        hook(ada, receiver.url)
        scored(round, team)
        notice = Notice.objects.get()
        delivery.deliver(notice.pk)
        receiver.status = 204
        due_now(notice)
        assert delivery.deliver(notice.pk) is True
    assert len(receiver.got) == 2


def test_an_answer_is_kept_as_one_short_line(round, team, ada) -> None:
    with http_receiver(said="<b>\r\n\x1b[31m" + "a" * 5000) as receiver:
        hook(ada, receiver.url)
        scored(round, team)
        delivery.deliver(Notice.objects.get().pk)
    answer = Notice.objects.get().answer
    assert len(answer) == LONGEST_ANSWER
    assert answer.isprintable()


def test_a_webhook_that_is_gone_is_not_called(round, team, ada) -> None:
    webhook = hook(ada)
    scored(round, team)
    pk = Notice.objects.get().pk
    notices.delete_webhook(webhook)
    assert delivery.deliver(pk) is False
    assert not Notice.objects.exists()


# --- e-mail ---------------------------------------------------------------------------------------


@pytest.fixture
def letter_to_ada(round, team, ada, settings) -> Notice:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.SENDS_EMAIL, settings.EMAIL_HOST, settings.EMAIL_TIMEOUT = True, "127.0.0.1", 5
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    ada.email = "ada@example.org"
    ada.save()
    submission = scored(round, team, name="retrieval 3")
    notices.tell(submission)
    return Notice.objects.get()


def test_an_e_mail_says_what_became_of_it(letter_to_ada: Notice, settings) -> None:
    with mail_receiver() as receiver:
        settings.EMAIL_PORT = receiver.port
        assert delivery.deliver(letter_to_ada.pk) is True
    (letter,) = receiver.letters
    assert "Subject: [dialeval] retrieval 3: scored" in letter
    assert "To: ada@example.org" in letter
    assert "word_f1 (public): " in letter
    submission = Submission.objects.get()
    assert f"https://dialeval.example.org/submissions/{submission.public_id}/" in letter


def test_a_mail_server_that_is_away_is_tried_again(letter_to_ada: Notice, settings) -> None:
    settings.EMAIL_PORT = closed_port()
    assert delivery.deliver(letter_to_ada.pk) is False
    letter_to_ada.refresh_from_db()
    assert (letter_to_ada.state, letter_to_ada.attempts) == ("pending", 1)
    assert letter_to_ada.due_at > timezone.now()


def test_an_address_that_is_refused_is_given_up(letter_to_ada: Notice, settings) -> None:
    with mail_receiver(refuses="550") as receiver:
        settings.EMAIL_PORT = receiver.port
        assert delivery.deliver(letter_to_ada.pk) is False
    letter_to_ada.refresh_from_db()
    assert (letter_to_ada.state, letter_to_ada.attempts) == ("failed", 1)


def test_an_address_that_is_refused_for_now_is_tried_again(letter_to_ada: Notice, settings) -> None:
    """Greylisting: a server that does not know the sender takes the second try."""
    with mail_receiver(refuses="450") as receiver:
        settings.EMAIL_PORT = receiver.port
        assert delivery.deliver(letter_to_ada.pk) is False
    letter_to_ada.refresh_from_db()
    assert (letter_to_ada.state, letter_to_ada.attempts) == ("pending", 1)
    assert "450" in letter_to_ada.answer
    assert letter_to_ada.due_at > timezone.now()


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture
def browser(ada) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def test_the_page_adds_tries_and_deletes(ada, browser: Client) -> None:
    with http_receiver() as receiver:
        assert browser.post(reverse("webhooks"), {"url": receiver.url}).status_code == 302
        webhook = Webhook.objects.get()
        browser.post(reverse("webhook-try", args=[webhook.pk]))
        assert delivery.deliver(Notice.objects.get().pk) is True
    ((headers, body),) = receiver.got
    assert headers["X-Dialeval-Event"] == json.loads(body)["event"] == "test"
    page = browser.get(reverse("webhooks")).content.decode()
    assert "200 thank you" in page
    assert webhook.secret in page
    browser.post(reverse("webhook-delete", args=[webhook.pk]))
    assert not Webhook.objects.exists()


def test_a_wrong_address_is_an_error_on_the_form(browser: Client) -> None:
    answer = browser.post(reverse("webhooks"), {"url": "gopher://example.org"})
    assert answer.status_code == 422
    assert answer.context["form"].errors["url"]


def test_ones_webhooks_are_ones_own(browser: Client) -> None:
    other = hook(made_user("eve"))
    for name in ("webhook-try", "webhook-delete"):
        assert browser.post(reverse(name, args=[other.pk])).status_code == 404
    page = browser.get(reverse("webhooks")).content.decode()
    assert other.secret not in page
    assert Webhook.objects.exists()


def test_the_page_says_where_no_e_mail_is_sent(browser: Client, settings, ada) -> None:
    assert "This site sends no e-mail." in browser.get(reverse("webhooks")).content.decode()
    settings.SENDS_EMAIL = True
    ada.email = "ada@example.org"
    ada.save()
    assert "You get e-mail at ada@example.org." in browser.get(reverse("webhooks")).content.decode()
    browser.post(reverse("mail-choice"), {"wanted": "no"})
    assert "You get no e-mail." in browser.get(reverse("webhooks")).content.decode()


def test_hostile_names_are_text(round, team, ada, browser: Client) -> None:
    with http_receiver(said="<script>alert(1)</script>") as receiver:
        hook(ada, receiver.url)
        scored(round, team, name="<img src=x onerror=alert(1)>")
        delivery.deliver(Notice.objects.get().pk)
    page = browser.get(reverse("webhooks")).content.decode()
    assert "<script>alert" not in page
    assert "<img src" not in page


def test_the_database_keeps_a_notice_about_something() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Notice.objects.create(
            user=made_user("x"),
            channel="email",
            event="scored",
            ending=timezone.now(),
            due_at=timezone.now(),
        )
    assert connection.is_usable()
