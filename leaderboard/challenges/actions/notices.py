"""Writes of notices but for a worker's: who is told of an ending; and which webhooks there are.

A notice is written in the transaction that ends its submission. Its delivery may happen twice (a
worker that dies after the receiver answered); its ``public_id`` is the same both times, so a
receiver can tell.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotations import rates
from annotations.accounts import accounts_that_may_act
from common import clock
from common.text import text_fault
from leaderboard.challenges.models import MailChoice, Notice, Submission, Webhook
from leaderboard.challenges.models.challenge import public_id
from leaderboard.challenges.models.notice import signing_secret

EVENTS = ("scored", "failed", "invalid")
TEST_EVENT = "test"
MOST_WEBHOOKS = 10
"""Of one person."""
TESTS_AN_HOUR, AN_HOUR = 10, 3600
"""Of one person, whatever the webhook."""
Channel = Notice.Channel


class NotAccepted(Exception):
    """The address cannot be a webhook's; the message says why."""


# --- telling --------------------------------------------------------------------------------------


def tell(submission: Submission) -> int:
    """Tell all who hear of this submission that it was scored, failed or is invalid: the members of
    its team, or who sent it. Call it in the transaction that ends the submission; what is told once
    is not told again."""
    if submission.state not in EVENTS:
        return 0
    may_act = accounts_that_may_act()
    hearers = (
        may_act.filter(pk=submission.user_id)
        if submission.team_id is None
        else may_act.filter(memberships__team=submission.team_id)
    )
    hearer_ids = list(hearers.values_list("pk", flat=True))
    common = {"submission": submission, "event": submission.state, "ending": submission.ended_at}
    notices = [
        _notice(user_id=webhook.user_id, channel=Channel.WEBHOOK, webhook=webhook, **common)
        for webhook in Webhook.objects.filter(user__in=hearer_ids, is_active=True)
    ]
    if settings.SENDS_EMAIL:
        readers = (
            get_user_model()
            .objects.filter(pk__in=hearer_ids)
            .exclude(email="")
            .exclude(mail_choice__is_wanted=False)
        )
        notices += [_notice(user_id=user.pk, channel=Channel.EMAIL, **common) for user in readers]
    with transaction.atomic():
        Notice.objects.bulk_create(notices, ignore_conflicts=True)
        written = Notice.objects.filter(public_id__in=[notice.public_id for notice in notices])
        transaction.on_commit(lambda: written.notify(written.values_list("pk", flat=True)))
    return len(notices)


def _notice(**fields: Any) -> Notice:
    return Notice(public_id=public_id(), due_at=clock.now(), **fields)


def try_webhook(webhook: Webhook) -> Notice:
    """Send it a test, the way notices come. Raises NotAccepted after several within an hour: what
    is at the address may not be the owner's."""
    with transaction.atomic():
        # Two at once must not pass together
        get_user_model().objects.select_for_update().get(pk=webhook.user_id)
        an_hour_ago = clock.now() - timedelta(seconds=AN_HOUR)
        tests = Notice.objects.filter(user=webhook.user_id, event=TEST_EVENT, submission=None)
        sent = tests.filter(created_at__gte=an_hour_ago).count()
        # The rows go with their webhook, which can be made again: what was counted stays, if not so
        # exactly.
        counted = rates.counted("webhook-tests", str(webhook.user_id), AN_HOUR)
        if sent >= TESTS_AN_HOUR or counted > TESTS_AN_HOUR:
            raise NotAccepted(
                _("You sent %(most)d tests within an hour. Wait a while.") % {"most": TESTS_AN_HOUR}
            )
        notice = _notice(
            user_id=webhook.user_id,
            channel=Channel.WEBHOOK,
            webhook=webhook,
            event=TEST_EVENT,
            ending=clock.now(),
        )
        notice.save()
        Notice.objects.notify_on_commit(notice.pk)
    return notice


# --- who hears ------------------------------------------------------------------------------------


def add_webhook(user: Any, url: str) -> Webhook:
    """Raises NotAccepted with the reason. Where the address leads is looked at again whenever
    something is sent."""
    url = checked_address(url)
    with transaction.atomic():
        # Two at once must not pass the count together
        get_user_model().objects.select_for_update().get(pk=user.pk)
        if user.webhooks.count() >= MOST_WEBHOOKS:
            raise NotAccepted(
                _("You have %(most)d webhooks, and that is the most.") % {"most": MOST_WEBHOOKS}
            )
        if user.webhooks.filter(url=url).exists():
            raise NotAccepted(_("This address is among your webhooks already."))
        try:
            with transaction.atomic():
                return Webhook.objects.create(user=user, url=url, secret=signing_secret())
        except IntegrityError:
            raise NotAccepted(_("This address is among your webhooks already.")) from None


def checked_address(url: str) -> str:
    """The address without its fragment. Raises NotAccepted where nothing could be sent to it."""
    url = url.strip()
    if text_fault(url, 300) or any(letter.isspace() or not letter.isprintable() for letter in url):
        raise NotAccepted(_("Enter an address of at most 300 characters, without spaces."))
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise NotAccepted(_("This is no web address.")) from None
    schemes = ("https", "http") if settings.WEBHOOK_PRIVATE else ("https",)
    if parts.scheme not in schemes:
        raise NotAccepted(_("The address must begin with https://."))
    if not host:
        raise NotAccepted(_("The address names no host."))
    if parts.username is not None or parts.password is not None:
        raise NotAccepted(
            _("The address must not hold a name or a password; check the signature instead.")
        )
    return parts._replace(fragment="").geturl()


def delete_webhook(webhook: Webhook) -> None:
    """What waits to be sent to it goes with it."""
    webhook.delete()


def choose_mail(user: Any, is_wanted: bool) -> None:
    MailChoice.objects.update_or_create(user=user, defaults={"is_wanted": is_wanted})
