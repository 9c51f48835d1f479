"""Delivering notices: a signed request, or an e-mail. ``actions.notices`` keeps the rows."""

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
from annotations.outgoing import AddressNotAllowed
from leaderboard.challenges.actions import notices
from leaderboard.challenges.actions.notices import Claim
from leaderboard.challenges.models import Member, Notice, Submission
from leaderboard.challenges.pinned_http import Answer, NotReached, post
from leaderboard.challenges.queries import submissions
from workers.jobs import renewing_lease

log = logging.getLogger(__name__)
GONE = 410
"""A receiver that answers so wants nothing any more."""
NEVER = 500
"""From here on a mail server's codes say that trying again does not help."""


def deliver(notice_id: int) -> bool:
    """Deliver a notice that is due. False where somebody else has it, or it was not delivered."""
    claim = notices.claim(notice_id)
    if claim is None:
        return False
    notice = (
        Notice.objects.select_related(
            "submission__round__challenge", "submission__team", "webhook", "user"
        )
        .filter(pk=notice_id)
        .first()
    )
    if notice is None:
        return False
    try:
        with renewing_lease(lambda: notices.keep(claim), f"notice {notice_id}"):
            return _deliver(claim, notice)
    except (SoftTimeLimitExceeded, SystemExit, KeyboardInterrupt):
        notices.give_back(claim)
        raise
    except Exception:
        log.exception("notice %s could not be delivered", notice_id)
        notices.not_delivered(claim, "something went wrong on this side; it was noted")
        return False


def _deliver(claim: Claim, notice: Notice) -> bool:
    if not may_act(notice.user):
        notices.give_up(claim, "the account is disabled")
        return False
    if not _still_concerns(notice):
        notices.give_up(claim, "the account is no longer a member of the team")
        return False
    if notice.channel == Notice.Channel.EMAIL:
        return _mail(claim, notice)
    return _call(claim, notice)


def _still_concerns(notice: Notice) -> bool:
    """Members may have been removed since the submission ended."""
    if notice.submission is None or notice.submission.team_id is None:
        return True
    return Member.objects.filter(team=notice.submission.team_id, user=notice.user_id).exists()


# --- webhooks -------------------------------------------------------------------------------------


def _call(claim: Claim, notice: Notice) -> bool:
    webhook = notice.webhook
    assert webhook is not None
    if not webhook.is_active:
        notices.give_up(claim, "the webhook is switched off")
        return False
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
        notices.give_up(claim, str(problem))
        return False
    except NotReached as problem:
        notices.not_delivered(claim, str(problem))
        return False
    return _heard(claim, answer)


def _heard(claim: Claim, answer: Answer) -> bool:
    said = f"{answer.status} {answer.text}".strip()
    if 200 <= answer.status < 300:
        return notices.delivered(claim, said)
    if answer.status == GONE:
        notices.give_up(claim, said)
    elif 300 <= answer.status < 400:
        notices.not_delivered(claim, f"{answer.status}: redirects are not followed")
    else:
        notices.not_delivered(claim, said)
    return False


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
        {"metric": line.metric, "part": part.name, "value": line.value, "reason": line.reason}
        for part in submissions.parts_of(notice.submission, notice.user)
        for line in part.lines
    ]


# --- e-mail ---------------------------------------------------------------------------------------


def _mail(claim: Claim, notice: Notice) -> bool:
    if not settings.SENDS_EMAIL:
        notices.give_up(claim, "this site sends no e-mail")
        return False
    if not notice.user.email or notice.submission is None:
        notices.give_up(claim, "there is no address to write to")
        return False
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
        return _not_taken(claim, refusal)
    except (OSError, smtplib.SMTPException) as problem:
        code = getattr(problem, "smtp_code", "")
        notices.not_delivered(
            claim, f"the mail server did not take it: {code} {type(problem).__name__}"
        )
        return False
    return notices.delivered(claim, "taken by the mail server")


def _not_taken(claim: Claim, refusal: smtplib.SMTPRecipientsRefused) -> bool:
    """A code of 400 and more means later: the mailbox is full, or a server that does not know the
    sender waits for the second try (greylisting). 500 and more means never."""
    codes = [code for code, _said in refusal.recipients.values()]
    if all(code >= NEVER for code in codes):
        notices.give_up(claim, "the mail server does not take this address")
    else:
        notices.not_delivered(
            claim, f"the mail server does not take this address now: {min(codes)}"
        )
    return False


def letter_of(notice: Notice) -> tuple[str, str]:
    """Subject and text of the e-mail."""
    submission = notice.submission
    assert submission is not None
    name = " ".join(submission.name.split())
    where = (
        f"{submission.round.challenge.name}, {submission.round.name}" if submission.round else ""
    )
    lines = [_subject_line(notice, name), where, ""]
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
        _("You get this because you asked for notices. Switch them off here:"),
    ]
    lines += [settings.SITE_URL + reverse("webhooks")]
    subject = f"[dialeval] {name}: {notice.event}"
    return subject, "\n".join(line for line in lines if line is not None) + "\n"


def _subject_line(notice: Notice, name: str) -> str:
    words = {
        "scored": _("%(name)s was scored."),
        "failed": _("%(name)s failed. It is not counted as an attempt."),
        "invalid": _("%(name)s is invalid. It is not counted as an attempt."),
    }
    return words[notice.event] % {"name": name}
