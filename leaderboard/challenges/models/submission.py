"""What was handed in, what became of it, and what a team may read of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotations.models import CorpusVersion, System, Turn
from common.jobs.models import Claim, Job, JobQuerySet, Reaped
from common.text import storable
from leaderboard.challenges.models.challenge import Round, Track, public_id
from leaderboard.challenges.models.team import Team
from leaderboard.models import SubmittedMetric

COUNTED = ("received", "validating", "generating", "scoring", "scored")
"""States of a submission that takes one of its team's attempts."""
AT_WORK = ("received", "validating", "generating", "scoring")
LONGEST_LINE = 1000
ENDED_WITHOUT_A_SCORE = ("invalid", "failed", "cancelled")


class SubmissionQuerySet(JobQuerySet):
    """Whose team reads in the log what becomes of them. What ends one (``actions.ending``) frees
    the attempt's slots and tells who wants to hear of it; ``finish`` is not for them."""

    def claim(self, pk: int) -> Claim | None:
        with transaction.atomic():
            claim = super().claim(pk)
            if claim is not None and claim.attempt > 1:
                LogLine.write(pk, f"Reading the file, attempt {claim.attempt}.")
            elif (
                claim is not None and self.model.objects.filter(pk=pk, generating_at=None).exists()
            ):
                # Else a prompt's run that was paused goes on, which its log says
                LogLine.write(pk, "Reading the file.")
        return claim

    def fail(self, error: str) -> int:
        """``error`` is for the team to read: it names no path, no machine and nothing of a hidden
        round."""
        from leaderboard.challenges.actions.ending import end

        reason, failed = self.model.reason(error), 0
        line = f"Failed: {reason}. It is not counted as an attempt."
        for pk in list(self.values_list("pk", flat=True)):
            with transaction.atomic():
                failed += end(self.filter(pk=pk), self.model.FAILED, line, error=reason)
        return failed

    def retry(self, error: str, /) -> int:
        most = self.model.max_attempts()
        with transaction.atomic():
            attempts = dict(self.select_for_update().values_list("pk", "attempts"))
            retried = super().retry(error)
            again = {pk: attempt for pk, attempt in attempts.items() if attempt < most}
            for pk, attempt in again.items():
                LogLine.write(
                    pk, f"Attempt {attempt} of {most} failed: {storable(error)}", "warning"
                )
            self.model.objects.notify_on_commit(*again)
        return retried

    def reap(self) -> Reaped:
        """Gives up those that wait with no attempt left, too, as when MAX_ATTEMPTS was lowered: no
        worker would ever claim them."""
        most = self.model.max_attempts()
        waiting = self.filter(state=self.model.WAITING, attempts__gte=most)
        failed = waiting.fail(f"it was tried {most} times")
        reaped = super().reap()
        return replace(reaped, failed=reaped.failed + failed)


class Submission(Job):
    """One upload: a file of responses or a prompt, to a round; or a file of a metric's scores, for
    a corpus version.

    A worker has it while it validates or generates. ``scoring`` needs no owner: the metric runs of
    ``system`` are jobs of their own, and the last one to end settles the submission.

    ``day_place`` and ``total_place`` are the attempt's place among its team's of that day and of
    the round, from 1 to the limit; a submission that ended without a score gives them back. That
    they are unique is the limit.
    """

    NAME = "submission"
    TASK = "leaderboard.challenges.tasks.process"
    QUEUE_COLUMN = "kind"
    QUEUES: ClassVar = {"responses": "cpu", "prompt": "llm", "scores": "cpu"}
    """Prompts are run by a model; files are checked by whoever computes the plain metrics."""
    WAITING = "received"
    RUNNING = ("validating", "generating")
    DONE = "scored"
    REQUESTED_AT = "received_at"
    BEGUN_AT = "validating_at"
    ENDED_AT = "ended_at"
    AT_WORK = ("scoring",)
    LOST = f"{Job.LOST}; the file may need more memory or time"

    class Kind(models.TextChoices):
        RESPONSES = "responses", _("responses")
        PROMPT = "prompt", _("prompt")
        SCORES = "scores", _("metric scores")

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        VALIDATING = "validating", _("validating")
        GENERATING = "generating", _("generating")
        SCORING = "scoring", _("scoring")
        SCORED = "scored", _("scored")
        INVALID = "invalid", _("invalid")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    public_id = models.CharField(max_length=24, unique=True, default=public_id)
    kind = models.CharField(max_length=9, choices=Kind)
    track = models.CharField(max_length=6, choices=Track, blank=True)
    round = models.ForeignKey(
        Round, null=True, blank=True, on_delete=models.PROTECT, related_name="submissions"
    )
    team = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.PROTECT, related_name="submissions"
    )
    version = models.ForeignKey(CorpusVersion, on_delete=models.PROTECT, related_name="submissions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="submissions",
    )
    name = models.CharField(
        max_length=80, help_text="The system's or the metric's, as the team calls it."
    )
    description = models.TextField(blank=True, max_length=2000)
    declared = models.JSONField(
        default=dict,
        blank=True,
        help_text="Of metric scores, what their sender says of them: level, direction, link.",
    )

    file_name = models.CharField(
        max_length=200, help_text="As the sender called it; for reading only."
    )
    stored_as = models.CharField(
        max_length=100, unique=True, help_text="Its name below the folder of uploads."
    )
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    twin = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The first submission of another team to this round with the same bytes; "
        "organisers see it.",
    )

    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    received_at = models.DateTimeField(auto_now_add=True)
    validating_at = models.DateTimeField(null=True, blank=True)
    generating_at = models.DateTimeField(null=True, blank=True)
    scoring_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    day = models.DateField(null=True, blank=True, help_text="In UTC.")
    day_place = models.PositiveIntegerField(null=True, blank=True)
    day_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="The limit when it came."
    )
    total_place = models.PositiveIntegerField(null=True, blank=True)
    total_limit = models.PositiveIntegerField(null=True, blank=True)

    attempts = models.PositiveSmallIntegerField(default=0)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)

    problems = models.JSONField(
        default=list, blank=True, help_text="Of an invalid one: [{where, field, message}, …]."
    )
    more_problems = models.BooleanField(
        default=False, help_text="There are more than the report holds."
    )
    error = models.TextField(blank=True, help_text="Of a failed one: why, for the team to read.")
    system = models.OneToOneField(
        System,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="submission",
        help_text="What it became.",
    )
    metric = models.OneToOneField(
        SubmittedMetric, null=True, blank=True, on_delete=models.PROTECT, related_name="submission"
    )
    is_baseline = models.BooleanField(
        default=False, help_text="Stands on the board, flagged and without a rank."
    )
    disqualified_at = models.DateTimeField(null=True, blank=True)
    disqualification = models.CharField(max_length=500, blank=True)

    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    unsettled_calls = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="Calls that were sent and not answered: the endpoint may charge for them.",
    )
    unsettled_input_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of these, at most."
    )
    unsettled_output_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="In USD."
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-received_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["responses", "prompt", "scores"]), name="submission_kind"
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "received",
                        "validating",
                        "generating",
                        "scoring",
                        "scored",
                        "invalid",
                        "failed",
                        "cancelled",
                    ]
                ),
                name="submission_state",
            ),
            models.CheckConstraint(
                condition=Q(kind="scores", round__isnull=True, team__isnull=True)
                | (~Q(kind="scores") & Q(round__isnull=False, team__isnull=False)),
                name="submission_is_to_a_round_or_of_scores",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["validating", "generating"])
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="submission_at_work_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["scored", "invalid", "failed", "cancelled"])
                | Q(ended_at__isnull=False),
                name="ended_submission_has_its_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_submission_says_why"
            ),
            models.CheckConstraint(
                condition=~Q(state="scored") | Q(system__isnull=False) | Q(metric__isnull=False),
                name="scored_submission_became_something",
            ),
            models.CheckConstraint(
                condition=Q(disqualified_at__isnull=True) | ~Q(disqualification=""),
                name="submission_disqualified_with_reason",
            ),
            # The limits: a counted submission holds a place, no two the same one, none above the
            # limit.
            models.CheckConstraint(
                condition=Q(round__isnull=True)
                | ~Q(state__in=COUNTED)
                | Q(day__isnull=False, day_place__isnull=False, total_place__isnull=False),
                name="counted_submission_holds_a_place",
            ),
            models.UniqueConstraint(
                fields=["round", "team", "day", "day_place"], name="place_of_the_day_once"
            ),
            models.UniqueConstraint(
                fields=["round", "team", "total_place"], name="place_of_the_round_once"
            ),
            # Metric scores have no round and no team: their sender's places of the day.
            models.CheckConstraint(
                condition=~Q(kind="scores", state__in=COUNTED)
                | Q(day__isnull=False, day_place__isnull=False),
                name="counted_scores_hold_a_place",
            ),
            models.UniqueConstraint(
                fields=["user", "day", "day_place"],
                condition=Q(kind="scores"),
                name="scores_place_of_the_day_once",
            ),
            models.CheckConstraint(
                condition=Q(day_place__isnull=True)
                | Q(day_place__gte=1, day_place__lte=F("day_limit")),
                name="place_of_the_day_within_the_limit",
            ),
            models.CheckConstraint(
                condition=Q(total_place__isnull=True)
                | Q(total_place__gte=1, total_place__lte=F("total_limit")),
                name="place_of_the_round_within_the_limit",
            ),
            models.UniqueConstraint(
                fields=["round", "team", "track", "sha256"],
                condition=Q(state__in=COUNTED, round__isnull=False),
                name="same_bytes_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_expires_at"],
                condition=Q(state__in=AT_WORK),
                name="submission_work",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.public_id})"

    @classmethod
    def begun(cls) -> dict[str, Any]:
        progress = {"progress_done": 0, "progress_total": 0}
        return {**super().begun(), "validating_at": timezone.now(), **progress}

    @classmethod
    def queues_of(cls, keys: Collection[int]) -> dict[int, str]:
        prompts = cls.objects.filter(pk__in=keys, kind=cls.Kind.PROMPT)
        return {
            **super().queues_of(keys),
            **dict.fromkeys(prompts.values_list("pk", flat=True), "llm"),
        }

    @classmethod
    def reason(cls, error: str) -> str:
        return super().reason(error).strip().rstrip(".") or "no reason was given"

    @classmethod
    def on_lost(cls, keys: Collection[int]) -> None:
        for pk in keys:
            LogLine.write(
                pk, "The worker stopped without a word; another one starts over.", "warning"
            )


class LogLine(models.Model):
    """What happened to a submission, in words for its team; or, where ``for_organisers``, for them
    alone."""

    class Level(models.TextChoices):
        INFO = "info", _("info")
        WARNING = "warning", _("warning")
        ERROR = "error", _("error")

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="log")
    at = models.DateTimeField(auto_now_add=True)
    level = models.CharField(max_length=7, choices=Level, default=Level.INFO)
    text = models.CharField(max_length=LONGEST_LINE)
    for_organisers = models.BooleanField(default=False)

    class Meta:
        ordering = ["submission", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(level__in=["info", "warning", "error"]), name="log_level"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="log_line_says_something"),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    @classmethod
    def write(
        cls, submission_id: int, text: str, level: str = "info", for_organisers: bool = False
    ) -> None:
        """A line for the submission's team, or for organisers alone. ``level``: info, warning,
        error."""
        line = text.replace("\0", "").encode("utf-8", "replace").decode().strip()
        cls.objects.create(
            submission_id=submission_id,
            level=level,
            text=line[:LONGEST_LINE] or "(nothing was said)",
            for_organisers=for_organisers,
        )


class GeneratedResponse(models.Model):
    """What a prompt's model said at one turn, kept when it was said: a worker that dies loses one
    turn, not a run."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="generated")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+")
    text = models.TextField(
        blank=True, help_text="Empty where the dialogue had ended before this turn."
    )
    calls = models.PositiveSmallIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    ended = models.CharField(
        max_length=300, blank=True, help_text="Which limit ended the dialogue here."
    )
    model = models.CharField(
        max_length=200, blank=True, help_text="Asked for; answers of two models never mix."
    )
    reported_model = models.CharField(
        max_length=200, blank=True, help_text="What the endpoint says it was."
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "turn"], name="generated_once")
        ]

    def __str__(self) -> str:
        return self.text[:80]
