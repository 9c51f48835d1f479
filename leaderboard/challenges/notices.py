"""Delivering notices: a request with a webhook signature, or an e-mail. ``actions.notices`` writes
them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import smtplib
import time
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.accounts import may_act
from common.jobs.models import Claim
from common.outgoing import AddressNotAllowed
from leaderboard.challenges.models import Member, Notice, Submission
from leaderboard.challenges.pinned_http import NotReached, post
from leaderboard.challenges.queries import submissions
from workers.jobs import FailJob, JobEnded, ReleaseJob, RetryJob, works_on

log = logging.getLogger(__name__)
GONE = 410
"""A receiver that answers so wants nothing any more."""
NEVER = 500
"""From here on a mail server's codes say that trying again does not help."""


@works_on(
    Notice.objects.select_related(
        "submission__round__challenge", "submission__team", "webhook", "user"
    )
)
def deliver(notice: Notice, claim: Claim) -> bool:
    """Deliver a notice that is due."""
    try:
        if not may_act(notice.user):
            raise FailJob("the account is disabled")
        team_id = notice.submission.team_id if notice.submission is not None else None
        # Members may have been removed since the submission ended
        if (
            team_id is not None
            and not Member.objects.filter(team=team_id, user=notice.user_id).exists()
        ):
            raise FailJob("the account is no longer a member of the team")
        answer = _mail(notice) if notice.channel == Notice.Channel.EMAIL else _call(notice)
    except JobEnded:
        raise
    except SoftTimeLimitExceeded as problem:
        raise ReleaseJob from problem
    except Exception as problem:
        log.exception("notice %s could not be delivered", notice.pk)
        raise RetryJob("something went wrong on this side; it was noted") from problem
    return bool(Notice.objects.owned(claim).finish(answer=Notice.reason(answer)))


# --- webhooks -------------------------------------------------------------------------------------


def _call(notice: Notice) -> str:
    """What the receiver answered. Raises ``FailJob`` where trying again would not help, else
    ``RetryJob``."""
    webhook = notice.webhook
    assert webhook is not None
    if not webhook.is_active:
        raise FailJob("the webhook is switched off")
    body = json.dumps(document_of(notice), ensure_ascii=False, allow_nan=False).encode()
    timestamp = str(int(time.time()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"dialeval/{settings.VERSION}",
        "X-Dialeval-Delivery": notice.public_id,
        "X-Dialeval-Event": event_of(notice),
        "X-Dialeval-Timestamp": timestamp,
        "X-Dialeval-Signature": signature(webhook.secret, timestamp, body),
    }
    try:
        answer = post(webhook.url, body, headers, private_allowed=settings.WEBHOOK_PRIVATE)
    except AddressNotAllowed as problem:
        raise FailJob(str(problem)) from problem
    except NotReached as problem:
        raise RetryJob(str(problem)) from problem
    answered = f"{answer.status} {answer.text}".strip()
    if 200 <= answer.status < 300:
        return answered
    if answer.status == GONE:
        raise FailJob(answered)
    if 300 <= answer.status < 400:
        raise RetryJob(f"{answer.status}: redirects are not followed")
    raise RetryJob(answered)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """``sha256=`` and the HMAC of the timestamp, a dot and the body, in hexadecimal digits."""
    signed = timestamp.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def event_of(notice: Notice) -> str:
    return "test" if notice.submission is None else f"submission.{notice.event}"


# --- what is said ---------------------------------------------------------------------------------


def document_of(notice: Notice) -> dict[str, Any]:
    """What a webhook is sent: state and the scores that the team may see now; of a hidden round
    nothing that its pages hide."""
    document: dict[str, Any] = {
        "event": event_of(notice),
        "delivery": notice.public_id,
        "sent_at": timezone.now().isoformat(),
    }
    if notice.submission is None:
        return {**document, "submission": None}
    submission = notice.submission
    return {
        **document,
        "submission": {
            "id": submission.public_id,
            "kind": submission.kind,
            "name": submission.name,
            "challenge": submission.round.challenge.slug if submission.round else None,
            "round": submission.round.slug if submission.round else None,
            "team": submission.team.name if submission.team else None,
            "state": notice.event,
            "ended_at": notice.ending.isoformat(),
            "error": submission.error if notice.event == Submission.State.FAILED else "",
            "problems": len(submission.problems) if notice.event == Submission.State.INVALID else 0,
            "scores": _scores(notice),
            "url": submissions.address_of(submission),
        },
    }


def _scores(notice: Notice) -> list[dict[str, Any]]:
    if notice.event != Submission.State.SCORED or notice.submission is None:
        return []
    return [
        {
            "metric": column.metric,
            "part": part.name,
            "value": score.mean.value,
            "reason": "" if score.mean.is_defined else score.mean.reason,
        }
        for part in submissions.parts_of(notice.submission, notice.user)
        for column, score in part.by_metric()
    ]


# --- e-mail ---------------------------------------------------------------------------------------


def _mail(notice: Notice) -> str:
    if not settings.SENDS_EMAIL:
        raise FailJob("this site sends no e-mail")
    if not notice.user.email or notice.submission is None:
        raise FailJob("there is no address to write to")
    subject, text = letter_of(notice)
    message = EmailMessage(
        subject,
        text,
        settings.DEFAULT_FROM_EMAIL,
        [notice.user.email],
        headers={
            "Message-ID": f"<{notice.public_id}@dialeval>",
            "Auto-Submitted": "auto-generated",
        },
        connection=get_connection(fail_silently=False),
    )
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as refusal:
        raise _not_taken(refusal) from refusal
    except (OSError, smtplib.SMTPException) as problem:
        code = getattr(problem, "smtp_code", "")
        raise RetryJob(
            f"the mail server did not take it: {code} {type(problem).__name__}"
        ) from problem
    return "taken by the mail server"


def _not_taken(refusal: smtplib.SMTPRecipientsRefused) -> FailJob | RetryJob:
    """A code of 400 and more means later: the mailbox is full, or a server that does not know the
    sender waits for the second try (greylisting). 500 and more means never."""
    codes = [code for code, _message in refusal.recipients.values()]
    if all(code >= NEVER for code in codes):
        return FailJob("the mail server does not take this address")
    return RetryJob(f"the mail server does not take this address now: {min(codes)}")


def letter_of(notice: Notice) -> tuple[str, str]:
    """Subject and text of the e-mail."""
    submission = notice.submission
    assert submission is not None
    name = " ".join(submission.name.split())
    where = (
        f"{submission.round.challenge.name}, {submission.round.name}" if submission.round else ""
    )
    outcome = {
        "scored": _("%(name)s was scored."),
        "failed": _("%(name)s failed. It is not counted as an attempt."),
        "invalid": _("%(name)s is invalid. It is not counted as an attempt."),
    }[notice.event]
    lines = [outcome % {"name": name}, where, ""]
    if notice.event == Submission.State.SCORED:
        lines += [
            f"{score['metric']} ({score['part']}): "
            + (f"{score['value']:.4f}" if score["value"] is not None else f"– ({score['reason']})")
            for score in _scores(notice)
        ]
    elif notice.event == Submission.State.FAILED:
        lines += [submission.error]
    else:
        lines += [_("The report names each problem with its line or path.")]
    lines += [
        "",
        submissions.address_of(submission),
        "",
        _("E-mail notices are on for your account. Switch them off here:"),
    ]
    lines += [settings.SITE_URL + reverse("webhooks")]
    subject = f"[dialeval] {name}: {notice.event}"
    return subject, "\n".join(line for line in lines if line is not None) + "\n"
