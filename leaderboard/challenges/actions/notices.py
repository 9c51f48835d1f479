"""Every write of notices: who is told of an ending, claimed, delivered, tried again, given up. As
in ``workers.runs``.

A notice is written in the transaction that ends its submission. Its delivery may happen twice (a
worker that dies after the receiver answered); its ``public_id`` is the same both times, so a
receiver can tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from annotations import clock, rates
from annotations.accounts import accounts_that_may_act
from annotations.importers.texts import text_fault
from annotations.jobs.leases import has_ended
from annotations.jobs.notifications import notify_workers
from leaderboard.challenges.models import MailChoice, Notice, Submission, Webhook
from leaderboard.challenges.models.challenge import public_id
from leaderboard.challenges.models.notice import signing_secret
from workers import claims
from workers.claims import NO_OWNER, WAITS_ANEW, Claim

DELIVER_TASK = "leaderboard.challenges.tasks.deliver"
QUEUE = "cpu"
EVENTS = ("scored", "failed", "invalid")
TEST_EVENT = "test"
PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (30, 2 * 60, 10 * 60, 30 * 60, 2 * 3600, 6 * 3600, 14 * 3600)
)
"""Between tries. With the first at once these are eight tries in not quite a day."""
TRIES = len(PAUSES) + 1
MOST_WEBHOOKS = 10
"""Of one person."""
LONGEST_ANSWER = 300
TESTS_AN_HOUR, AN_HOUR = 10, 3600
"""Of one person, whatever the webhook."""
State = Notice.State
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
    hearers = _hearers_of(submission)
    common = {"submission": submission, "event": submission.state, "ending": submission.ended_at}
    notices = [
        _notice(user_id=webhook.user_id, channel=Channel.WEBHOOK, webhook=webhook, **common)
        for webhook in Webhook.objects.filter(user__in=hearers, is_active=True)
    ]
    if settings.SENDS_EMAIL:
        readers = (
            get_user_model()
            .objects.filter(pk__in=hearers)
            .exclude(email="")
            .exclude(mail_choice__is_wanted=False)
        )
        notices += [_notice(user_id=user.pk, channel=Channel.EMAIL, **common) for user in readers]
    with transaction.atomic():
        Notice.objects.bulk_create(notices, ignore_conflicts=True)
        written = [notice.public_id for notice in notices]
        transaction.on_commit(lambda: _send_hints_for(written))
    return len(notices)


def _hearers_of(submission: Submission) -> list[int]:
    """Keys of accounts that may act, and so hear of it."""
    hearers = accounts_that_may_act()
    if submission.team_id is None:
        hearers = hearers.filter(pk=submission.user_id)
    else:
        hearers = hearers.filter(memberships__team=submission.team_id)
    return list(hearers.values_list("pk", flat=True))


def _notice(**fields: Any) -> Notice:
    return Notice(public_id=public_id(), due_at=clock.now(), **fields)


def _send_hints_for(public_ids: list[str]) -> None:
    send_hints(Notice.objects.filter(public_id__in=public_ids).values_list("pk", flat=True))


def send_hints(notice_ids: Iterable[int]) -> int:
    """Tell workers of notices. Where the broker cannot be reached they wait for the sweeper."""
    sent = notify_workers(DELIVER_TASK, ((pk, QUEUE) for pk in notice_ids))
    Notice.objects.filter(pk__in=sent).update(hinted_at=clock.now(), hints=F("hints") + 1)
    return len(sent)


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
        transaction.on_commit(lambda: send_hints([notice.pk]))
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


# --- delivering -----------------------------------------------------------------------------------


def claim(notice_id: int) -> Claim | None:
    """Take a notice that is due, or whose worker fell silent. None when somebody else has it or it
    is not yet due."""
    due = Q(state=State.PENDING, due_at__lte=clock.now())
    notices = Notice.objects.filter(attempts__lt=TRIES)
    return claims.take(notices, notice_id, due, [State.RUNNING], state=State.RUNNING)


def keep(claim: Claim) -> bool:
    return claims.keep(_owned(claim))


def delivered(claim: Claim, answer: str) -> bool:
    return _end(claim, State.DONE, answer)


def give_up(claim: Claim, answer: str) -> bool:
    """Trying again would not help."""
    return _end(claim, State.FAILED, answer)


def not_delivered(claim: Claim, answer: str) -> bool:
    """Try again after a pause that grows; after the last try, give up."""
    if claim.attempt >= TRIES:
        return give_up(claim, answer)
    due_at = clock.now() + PAUSES[claim.attempt - 1]
    return bool(
        _owned(claim).update(state=State.PENDING, due_at=due_at, answer=_cut(answer), **WAITS_ANEW)
    )


def give_back(claim: Claim) -> bool:
    """Leave a notice to whoever takes it next, as if it had not been begun."""
    return claims.give_back(_owned(claim), State.PENDING)


def _end(claim: Claim, state: str, answer: str) -> bool:
    return bool(
        _owned(claim).update(state=state, answer=_cut(answer), ended_at=clock.now(), **NO_OWNER)
    )


def _owned(claim: Claim):
    return Notice.objects.filter(pk=claim.row_id, state=State.RUNNING, lease_token=claim.token)


def _cut(answer: str) -> str:
    """One printable line: it comes from outside."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in answer).split())
    return line[:LONGEST_ANSWER]


def sweep() -> int:
    """Give back the notices of silent workers, and tell workers of those that are due. How many it
    told of."""
    now = clock.now()
    silent = Notice.objects.filter(has_ended(now), state=State.RUNNING)
    silent.filter(attempts__gte=TRIES).update(
        state=State.FAILED,
        ended_at=now,
        **NO_OWNER,
        answer="the worker stopped without a word",
    )
    silent.update(state=State.PENDING, **WAITS_ANEW)
    waiting = Notice.objects.filter(state=State.PENDING, due_at__lte=now)
    return send_hints(pk for (pk,) in claims.to_enqueue(waiting, now, "pk"))
