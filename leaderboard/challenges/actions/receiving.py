"""Taking in an upload: who may hand in what, when, and how often. What is refused leaves nothing
behind."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.formats.importers.problems import ImportFailed
from common.storage import StorageAway
from common.text import text_fault
from leaderboard.challenges import uploads
from leaderboard.challenges.actions.slots import QuotaExceeded, free_slots, lock_team
from leaderboard.challenges.models import COUNTED, LogLine, Member, Round, Submission, Team, Track
from leaderboard.challenges.phase import phase_of
from leaderboard.challenges.prompts.spec import LARGEST_FILE, canonical, read_prompt
from leaderboard.challenges.queries.attempts import day_of
from leaderboard.challenges.queries.challenges import rates_hidden_corpus_of
from leaderboard.challenges.uploads import Upload

LONGEST_NAME, LONGEST_DESCRIPTION = 80, 2_000
FILES_FOR_AN_ATTEMPT = 10
"""So many files a day for each attempt a day, whatever becomes of them. Who looks for a fault in a
file needs a few."""
KIND_OF_TRACK = {Track.GPU: Submission.Kind.RESPONSES, Track.PROMPT: Submission.Kind.PROMPT}


@dataclass(frozen=True, slots=True)
class Received:
    """``is_new`` is False where the same bytes count already: then it is the submission that is
    known."""

    submission: Submission
    is_new: bool


class NotTaken(Exception):
    """``code``: closed, upcoming, track, limit_day, limit_total, disqualified, not_member, rater,
    round, too_large, empty, not_text, name, description or storage; of metric scores also level,
    link, hidden or known. ``message`` is for the person who sent it."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


def receive(
    round: Round, team: Team, user: Any, *, track: str, name: str, description: str, upload: Upload
) -> Received:
    """Store an upload as a submission and tell a worker of it. Raises ``NotTaken`` with nothing
    stored.

    The same bytes, or the same prompt, of the same team in the same track are not counted twice:
    the known submission comes back, even where the round closed meanwhile, so that a client which
    lost the answer may ask again.
    """
    try:
        refuse_unreadable(upload)
        name, description = tidy(name, description)
        if track == Track.PROMPT:
            upload = _written_canonically(upload)
        with transaction.atomic():
            received = _receive(round, team, user, track, name, description, upload)
    except BaseException:
        uploads.discard(upload)
        raise
    if not received.is_new:
        uploads.discard(upload)
    return received


def _written_canonically(upload: Upload) -> Upload:
    """A prompt in its one form, so that the same prompt is known again however its file was laid
    out. One that cannot be read stays as it came, for a worker to say what is wrong with it."""
    if upload.size > LARGEST_FILE:
        return upload
    data = upload.path.read_bytes()
    try:
        written = canonical(read_prompt(data))
    except ImportFailed:
        return upload
    if written == data:
        return upload
    uploads.discard(upload)
    return uploads.upload_from_bytes(written, upload.file_name)


def _receive(
    round: Round, team: Team, user: Any, track: str, name: str, description: str, upload: Upload
) -> Received:
    team, round = _held(team, round)
    now = timezone.now()
    if (
        team.challenge_id != round.challenge_id
        or not Member.objects.filter(team=team, user=user).exists()
    ):
        raise NotTaken(
            "not_member", _("Only members of a team of this challenge can submit for it.")
        )
    if track not in Track.values:
        raise NotTaken("track", _("There is no such track."))
    known = Submission.objects.filter(
        round=round, team=team, track=track, sha256=upload.sha256, state__in=COUNTED
    ).first()
    if known is not None:
        return Received(known, is_new=False)
    _refuse_unless_open(round, team, track, now)
    _refuse_raters(round, user)
    try:
        places = free_slots(round, team, day_of(now))
    except QuotaExceeded as full:
        raise _limit_reached(round, full.of) from None
    _refuse_a_flood(round, team, places.day)
    submission = store(
        upload,
        kind=KIND_OF_TRACK[Track(track)],
        track=track,
        round=round,
        team=team,
        version=round.version,
        user=user,
        name=name,
        description=description,
        twin=Submission.objects.filter(round=round, sha256=upload.sha256)
        .exclude(team=team)
        .order_by("pk")
        .first(),
        **places.as_fields(),
    )
    audit.record(
        user,
        "submission.received",
        submission.name,
        challenge=round.challenge.slug,
        submission=submission.public_id,
        round=round.slug,
        team=team.name,
        track=track,
        sha256=upload.sha256,
    )
    return Received(submission, is_new=True)


def _held(team: Team, round: Round) -> tuple[Team, Round]:
    """As they are now. While a file is on its way a team may go with its last member, and a round
    to which nothing was handed in be deleted."""
    try:
        team = lock_team(team.pk)
    except Team.DoesNotExist:
        raise NotTaken(
            "not_member", _("Only members of a team of this challenge can submit for it.")
        ) from None
    present = Round.objects.select_related("challenge", "version").filter(pk=round.pk).first()
    if present is None:
        raise NotTaken("round", _("This round has been deleted."))
    return team, present


def store(upload: Upload, **fields: Any) -> Submission:
    """The submission's row with its file in its place, and a worker told of it on commit. Inside a
    transaction. Raises ``NotTaken`` where the storage of files is away."""
    submission = Submission.objects.create(
        file_name=upload.file_name,
        stored_as=upload.path.name,
        size=upload.size,
        sha256=upload.sha256,
        **fields,
    )
    LogLine.write(
        submission.pk,
        f"Received {upload.file_name} ({upload.size:,} bytes, SHA-256 {upload.sha256}).",
    )
    Submission.objects.notify_on_commit(submission.pk)
    try:
        uploads.move_in(upload)
    except StorageAway:
        why = _(
            "The site cannot keep files at the moment. Nothing was counted; Submit it again in "
            "some minutes."
        )
        raise NotTaken("storage", why) from None
    return submission


def refuse_unreadable(upload: Upload) -> None:
    """Raises ``NotTaken`` for what can be told from size and first bytes; the rest is a worker's to
    say."""
    if upload.size > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // 1_000_000
        raise NotTaken("too_large", _("The file is larger than %(limit)s MB.") % {"limit": limit})
    if upload.size == 0:
        raise NotTaken("empty", _("The file is empty."))
    if what := uploads.why_not_text(upload.path):
        raise NotTaken("not_text", _("The file %(what)s.") % {"what": what})


def tidy(name: str, description: str) -> tuple[str, str]:
    """Both without blanks around them, the name in Unicode's composed form, as imported ones are:
    two that look alike are one. Raises ``NotTaken`` for a name or description that cannot be stored
    or shown."""
    name, description = unicodedata.normalize("NFC", name.strip()), description.strip()
    fault = text_fault(name, LONGEST_NAME)
    if not fault and uploads.without_control_signs(name) != name:
        fault = _("holds characters that cannot be seen")
    if fault:
        raise NotTaken("name", _("The name %(fault)s.") % {"fault": fault})
    if fault := text_fault(description, LONGEST_DESCRIPTION, may_be_empty=True):
        raise NotTaken("description", _("The description %(fault)s.") % {"fault": fault})
    return name, description


def _refuse_unless_open(round: Round, team: Team, track: str, now: datetime) -> None:
    if team.disqualified_at is not None:
        raise NotTaken(
            "disqualified",
            _("The team is disqualified: %(reason)s") % {"reason": team.disqualification},
        )
    phase = phase_of(round.opens_at, round.closes_at, round.challenge.state, now)
    if phase == "upcoming":
        raise NotTaken("upcoming", _("This round is not open yet."))
    if phase == "closed":
        raise NotTaken("closed", _("This round is closed."))
    if track not in round.tracks:
        raise NotTaken("track", _("This track is not open in this round."))


def _refuse_raters(round: Round, user: Any) -> None:
    """Nobody who rates joins a team of such a challenge; but a round may come later, and so may the
    rating."""
    if rates_hidden_corpus_of(round.challenge, user):
        raise NotTaken(
            "rater",
            _(
                "You rate in a campaign on a corpus whose references this challenge hides. You "
                "have seen them, and cannot submit. Your team's other members can."
            ),
        )


def _refuse_a_flood(round: Round, team: Team, day: date) -> None:
    """What ends without a score gives its attempt back, but it was kept, looked through and told of
    by a letter."""
    most = FILES_FOR_AN_ATTEMPT * round.daily_limit
    if Submission.objects.filter(round=round, team=team, day=day).count() >= most:
        raise NotTaken(
            "limit_day",
            _(
                "Your team has submitted %(most)s files today, with those that were invalid or "
                "cancelled. Check the next one before you send it; the count resets at "
                "midnight UTC."
            )
            % {"most": most},
        )


def _limit_reached(round: Round, of: str) -> NotTaken:
    if of == "day":
        return NotTaken(
            "limit_day",
            _(
                "Your team has used its %(limit)s submissions of today. The count resets at "
                "midnight UTC."
            )
            % {"limit": round.daily_limit},
        )
    return NotTaken(
        "limit_total",
        _("Your team has used its %(limit)s submissions of this round.")
        % {"limit": round.total_limit},
    )
