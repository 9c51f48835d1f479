"""Every write of a prompt's run: what was said, what it used, what it cost. Only who holds the
lease writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from annotations.models import System
from common.jobs.models import Claim
from leaderboard.challenges.actions import work
from leaderboard.challenges.models import GeneratedResponse, LogLine, Round, Submission
from leaderboard.challenges.prompts.budget import cost_of
from leaderboard.challenges.prompts.prompt_calls import TurnResponse
from leaderboard.challenges.queries import prompting
from workers import charges
from workers.inference.language_models.usage import Usage

GENERATING = Submission.State.GENERATING


@dataclass(frozen=True, slots=True)
class SavedResponse:
    """Which turn was answered, by which model, and which turns of its dialogue are left empty when
    a limit ended it."""

    turn_pk: int
    model: str
    rest: Sequence[int] = ()


def store_response(
    claim: Claim, saved: SavedResponse, response: TurnResponse, line: str = ""
) -> bool:
    """Store what was said at one turn. ``line`` goes to the log with it. What it used is counted
    with each call.

    False, and nothing stored, when the submission is no longer ours.
    """
    with transaction.atomic():
        # Ours until the end: two workers cannot store a turn
        if not _owned(claim).update(lease_token=claim.token):
            return False
        GeneratedResponse.objects.create(
            submission_id=claim.row_id,
            turn_id=saved.turn_pk,
            text=response.text,
            calls=response.usage.calls,
            input_tokens=response.usage.input_tokens,
            output_tokens=response.usage.output_tokens,
            ended=response.ended[:300],
            model=saved.model[:200],
            reported_model=response.reported_model[:200],
        )
        GeneratedResponse.objects.bulk_create(
            GeneratedResponse(submission_id=claim.row_id, turn_id=turn_pk, model=saved.model[:200])
            for turn_pk in saved.rest
        )
        if line:
            LogLine.write(claim.row_id, line, level="warning")
    return True


def reserve(claim: Claim, most: Usage) -> bool:
    """Charge a call the most that it may use, before it is sent. False when the submission is no
    longer ours."""
    return charges.reserve(_owned(claim), most)


def settle(claim: Claim, most: Usage, used: Usage) -> None:
    """Charge an answered call what it used, and make the cost anew. Whoever has the submission by
    now: it was sent."""
    submission = Submission.objects.filter(pk=claim.row_id)
    with transaction.atomic():
        charges.settle(submission, most, used)
        total = submission.values_list("calls", "input_tokens", "output_tokens", "round_id").first()
        if total is not None:
            prices = Round.objects.values_list("input_price", "output_price").get(pk=total[3])
            submission.update(cost=cost_of(Usage(*total[:3]), *prices))


def release(claim: Claim, most: Usage) -> None:
    """The endpoint charges nothing for a call that was reserved."""
    charges.release(Submission.objects.filter(pk=claim.row_id), most)


def _owned(claim: Claim) -> QuerySet[Submission]:
    return Submission.objects.owned(claim).filter(state=GENERATING)


def forget_other_models(claim: Claim, model: str) -> int:
    """Take away what another model said of this prompt: the round's endpoint was changed before it
    was tried again."""
    with transaction.atomic():
        if not _owned(claim).update(lease_token=claim.token):
            return 0
        others = GeneratedResponse.objects.filter(submission_id=claim.row_id).exclude(
            model=model[:200]
        )
        count = others.count()
        if count:
            others.delete()
            LogLine.write(
                claim.row_id,
                f"The round's model is now {model}: every turn is asked again.",
                "warning",
            )
    return count


def accept(claim: Claim, signature: str, line: str) -> bool:
    """What was said becomes the submission's system, whose description names what wrote it."""
    with transaction.atomic():
        LogLine.write(claim.row_id, line)
        if not work.accept(claim, prompting.messages_in_order(claim.row_id)):
            transaction.set_rollback(True)
            return False
        system = System.objects.get(submission=claim.row_id)
        system.description = f"{system.description}\n\n{signature}".strip()
        system.save(update_fields=["description"])
    return True
