"""Submissions: how far they are, what came of them, and what may be done with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Path, Query, Router, Schema
from pydantic import Field

from common.api.access import Token, caller_of
from common.api.problems import Refused, refusals
from common.api.schemas import Page, Paging, page_of
from common.roles import is_organiser
from leaderboard.challenges.actions import work
from leaderboard.challenges.api import documents
from leaderboard.challenges.api.finding import submission_at
from leaderboard.challenges.api.schemas import (
    LogEntryOut,
    State,
    SubmissionOut,
    SubmissionPath,
    SubmissionRow,
)
from leaderboard.challenges.models import Submission
from leaderboard.challenges.queries.submissions import is_own, submissions_seen_by

router = Router(tags=["submissions"])
SUBMISSION = "/submissions/{slug:id}"


class ListParams(Schema):
    state: State | None = Field(None, description="Those in this state only.")


@router.get(
    "/submissions",
    auth=Token("read"),
    response=Page[SubmissionRow],
    operation_id="list_submissions",
    summary="Your submissions and your teams'",
)
def list_submissions(
    request: HttpRequest, params: Query[ListParams], paging: Query[Paging]
) -> dict[str, Any]:
    """Newest first. Organisers get all."""
    rows = submissions_seen_by(request.user)
    if params.state is not None:
        rows = rows.filter(state=params.state)
    return documents.submission_page(rows, paging)


@router.get(
    SUBMISSION,
    auth=Token("read"),
    response=SubmissionOut,
    operation_id="get_submission",
    summary="A submission: state, problems, scores, rank",
)
def get_submission(request: HttpRequest, place: Path[SubmissionPath]) -> dict[str, Any]:
    """Scores are means over the dialogues of a board that you may see; there are none for single
    turns."""
    return documents.submission_document(submission_at(request, place.id), request.user)


@router.get(
    f"{SUBMISSION}/log",
    auth=Token("read"),
    response=Page[LogEntryOut],
    operation_id="get_submission_log",
    summary="What happened to a submission",
)
def get_submission_log(
    request: HttpRequest, place: Path[SubmissionPath], paging: Query[Paging]
) -> dict[str, Any]:
    """Oldest first."""
    submission = submission_at(request, place.id)
    lines = (
        submission.log.all()
        if is_organiser(request.user)
        else submission.log.filter(for_organisers=False)
    )
    return page_of(lines, "pk", paging, documents.log_document)


@router.post(
    f"{SUBMISSION}/cancel",
    auth=Token("submit"),
    response=SubmissionOut,
    operation_id="cancel_submission",
    summary="Cancel a submission",
    openapi_extra=refusals(409),
)
def cancel_submission(request: HttpRequest, place: Path[SubmissionPath]) -> dict[str, Any]:
    """The attempt is given back. Your team may do so while nothing can be learned from it;
    organisers until it ends, with the scope `organise` where it is not their own."""
    others = not Submission.objects.filter(is_own(request.user), public_id=place.id).exists()
    if others and "organise" not in caller_of(request).scopes:
        submission_at(request, place.id)  # what one may not see is not there
        raise Refused(
            403, _("Cancelling what others submitted needs the scope organise."), code="scope"
        )
    return _done(request, place, work.cancel)


@router.post(
    f"{SUBMISSION}/retry",
    auth=Token("organise"),
    response=SubmissionOut,
    operation_id="retry_submission",
    summary="Try a failed, invalid or cancelled submission again",
    openapi_extra=refusals(409),
)
def retry_submission(request: HttpRequest, place: Path[SubmissionPath]) -> dict[str, Any]:
    return _done(request, place, work.retry)


@router.post(
    f"{SUBMISSION}/re-evaluate",
    auth=Token("organise"),
    response=SubmissionOut,
    operation_id="re_evaluate_submission",
    summary="Compute what the round asks for now",
    openapi_extra=refusals(409),
)
def re_evaluate_submission(request: HttpRequest, place: Path[SubmissionPath]) -> dict[str, Any]:
    return _done(request, place, work.re_evaluate)


def _done(
    request: HttpRequest, place: SubmissionPath, action: Callable[[Submission, Any], None]
) -> dict[str, Any]:
    submission = submission_at(request, place.id)
    try:
        action(submission, request.user)
    except work.CannotDo as refusal:
        raise Refused(409, refusal.message, code="state") from None
    return documents.submission_document(submission_at(request, place.id), request.user)
