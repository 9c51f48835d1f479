"""Taking in a file of a metric's scores, and taking the metric back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.corpora.queries import corpora_with_hidden_references
from annotations.models import CorpusVersion
from common.roles import is_organiser
from leaderboard import actions as meta_evaluation
from leaderboard.actions import LONGEST_NAME, METRIC_NAME
from leaderboard.challenges import uploads
from leaderboard.challenges.actions.receiving import NotTaken, Received, refuse_unreadable, store
from leaderboard.challenges.actions.slots import QuotaExceeded, free_score_slot, lock_submitter
from leaderboard.challenges.models import COUNTED, Submission
from leaderboard.challenges.models.submission import AT_WORK
from leaderboard.challenges.queries.attempts import day_of
from leaderboard.challenges.uploads import Upload
from leaderboard.models import SubmittedMetric
from workers.metrics.registry import all_metrics

LONGEST_LINK = 300
_is_address = URLValidator(schemes=["http", "https"])


class NotYours(Exception):
    """Only its owner and organisers may take a metric back."""


def receive_scores(
    version: CorpusVersion,
    user: Any,
    *,
    name: str,
    level: str,
    higher_is_better: bool,
    link: str,
    upload: Upload,
) -> Received:
    """Store a file of scores as a submission and tell a worker of it. Raises ``NotTaken`` with
    nothing stored.

    The caller has made sure that the user may see the corpus. The same bytes of the same user for
    the same version are not taken twice, unless the metric that they became was withdrawn: the
    known submission comes back, so that a client which lost the answer may ask again. With another
    name, level, direction or link they are refused: nothing of the known metric changes, and an
    answer as if it had would be believed. Codes of ``NotTaken``: too_large, empty, not_text, name,
    level, link, known, limit_day, hidden, storage.
    """
    try:
        refuse_unreadable(upload)
        name, link = name.strip(), link.strip()
        _refuse_unusable(name, level, link)
        with transaction.atomic():
            received = _receive(version, user, name, level, higher_is_better, link, upload)
    except BaseException:
        uploads.discard(upload)
        raise
    if not received.is_new:
        uploads.discard(upload)
    return received


def _receive(
    version: CorpusVersion,
    user: Any,
    name: str,
    level: str,
    higher_is_better: bool,
    link: str,
    upload: Upload,
) -> Received:
    lock_submitter(user.pk)
    if corpora_with_hidden_references().filter(pk=version.corpus_id).exists():
        raise NotTaken(
            "hidden",
            _(
                "A round hides the references of this corpus; it takes no scores until they are "
                "open."
            ),
        )
    declared = {"level": level, "higher_is_better": higher_is_better, "link": link}
    if known := _known(version, user, upload.sha256):
        if (known.name, {"link": "", **known.declared}) != (name, declared):
            raise NotTaken("known", duplicate_file_message() % {"name": known.name})
        return Received(known, is_new=False)
    _refuse_taken_name(version, name)
    try:
        place = free_score_slot(user, day_of(timezone.now()))
    except QuotaExceeded:
        raise _limit_reached() from None
    submission = store(
        upload,
        kind=Submission.Kind.SCORES,
        version=version,
        user=user,
        name=name,
        declared=declared,
        **place.as_fields(),
    )
    audit.record(
        user,
        "submission.received",
        name,
        submission=submission.public_id,
        kind="scores",
        corpus=version.corpus.slug,
        corpus_version=version.label,
        level=level,
        sha256=upload.sha256,
    )
    return Received(submission, is_new=True)


def _known(version: CorpusVersion, user: Any, sha256: str) -> Submission | None:
    tied = Submission.objects.filter(
        kind=Submission.Kind.SCORES, version=version, user=user, sha256=sha256, state__in=COUNTED
    )
    return (
        tied.filter(Q(metric__isnull=True) | Q(metric__withdrawn_at__isnull=True))
        .order_by("pk")
        .first()
    )


def duplicate_file_message() -> str:
    """To whom sends a file that counts already; they hold ``%(name)s``."""
    return _(
        "You have submitted the same file before, as %(name)s. "
        "Withdraw that metric, once it is there, to submit it again."
    )


def _refuse_unusable(name: str, level: str, link: str) -> None:
    if not METRIC_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise NotTaken(
            "name",
            _(
                "A metric's name has letters, figures, _ . and - only, begins with a letter or a "
                "figure, and has at most %(most)s characters."
            )
            % {"most": LONGEST_NAME},
        )
    if name.casefold() in {known.casefold() for known in all_metrics()}:
        raise NotTaken(
            "name", _("%(name)s is a built-in metric. Choose another name.") % {"name": name}
        )
    if level not in SubmittedMetric.Level.values:
        raise NotTaken("level", _("Scores are of turns, of dialogues or of systems."))
    if link:
        wrong = NotTaken(
            "link", _("The link must be an address that begins with http:// or https://.")
        )
        if len(link) > LONGEST_LINK:
            raise wrong
        try:
            _is_address(link)
        except ValidationError:
            raise wrong from None


def _refuse_taken_name(version: CorpusVersion, name: str) -> None:
    """The database has the last word, when the scores are stored; this spares a sender the wait."""
    waiting = Submission.objects.filter(
        kind=Submission.Kind.SCORES, version=version, name__iexact=name, state__in=AT_WORK
    )
    shown = version.submitted_metrics.filter(withdrawn_at__isnull=True, name__iexact=name)
    if shown.exists() or waiting.exists():
        raise NotTaken(
            "name",
            _("Scores of a metric named %(name)s have been submitted already. Choose another name.")
            % {"name": name},
        )


def _limit_reached() -> NotTaken:
    return NotTaken(
        "limit_day",
        _("You have submitted today's %(limit)s files of scores. The count resets at midnight UTC.")
        % {"limit": settings.SCORE_FILES_PER_DAY},
    )


def may_withdraw(metric: SubmittedMetric, user: Any) -> bool:
    if not user.is_authenticated or metric.withdrawn_at is not None:
        return False
    return metric.owner_id == user.pk or is_organiser(user)


def withdraw(metric: SubmittedMetric, by: Any, reason: str) -> bool:
    """The metric stands on no leaderboard any more. False where it was withdrawn before. Raises
    ``NotYours``, and ``ValueError`` for a reason that cannot be stored."""
    if metric.owner_id != by.pk and not is_organiser(by):
        raise NotYours
    with transaction.atomic():
        withdrawn = meta_evaluation.withdraw_submitted_metric(metric, reason)
        if withdrawn:
            audit.record(
                by,
                "metric.withdrawn",
                metric.name,
                corpus=metric.version.corpus.slug,
                corpus_version=metric.version.label,
                reason=reason.strip(),
            )
    return withdrawn
