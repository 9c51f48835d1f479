"""Metric scores that were computed elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import File, Form, Path, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from annotations.corpora.api import CorpusPath, VersionParams, version_of
from common.api.access import Token
from common.api.problems import refusals
from common.api.schemas import Text
from common.file_bodies import takes_file
from leaderboard.challenges import uploads
from leaderboard.challenges.access import submission_or_404
from leaderboard.challenges.actions.receiving import NotTaken
from leaderboard.challenges.api import documents
from leaderboard.challenges.api.rounds import not_taken
from leaderboard.challenges.api.schemas import SubmissionOut

router = Router(tags=["metrics"])


class ScoresIn(Schema):
    name: Text = Field(
        min_length=1, max_length=80, description="The metric's name; not that of a built-in one."
    )
    level: Literal["turn", "dialogue", "system"] = Field(description="What each score is of.")
    higher_is_better: bool = Field(True, description="The direction.")
    link: Text = Field("", max_length=300, description="Where the metric is described.")


# Whose token it is says all.
def _needs_token(request: HttpRequest, slug: str) -> None:  # noqa: ARG001
    Token("submit")(request)


@router.post(
    "/corpora/{slug:slug}/metric-scores",
    auth=Token("submit"),
    response={201: SubmissionOut, 200: SubmissionOut},
    operation_id="submit_metric_scores",
    summary="Submit a metric's scores of a corpus",
    openapi_extra=refusals(409, 413),
)
@takes_file(_needs_token)
def submit_metric_scores(
    request: HttpRequest,
    place: Path[CorpusPath],
    version_params: Query[VersionParams],
    params: Form[ScoresIn],
    file: Annotated[
        UploadedFile, File(description="JSON lines or CSV with `dialog_id, turn, system, score`.")
    ],
) -> Status[Any]:
    """It stands beside the built-in metrics when a worker has read it. Missing scores are shown as
    coverage."""
    from leaderboard.challenges.actions.scores import receive_scores

    version = version_of(request, place.slug, version_params)
    try:
        received = receive_scores(
            version,
            request.user,
            name=params.name,
            level=params.level,
            higher_is_better=params.higher_is_better,
            link=params.link,
            upload=uploads.uploaded(file),
        )
    except NotTaken as refusal:
        raise not_taken(refusal) from None
    submission = submission_or_404(request.user, received.submission.public_id)
    return Status(
        201 if received.is_new else 200, documents.submission_document(submission, request.user)
    )
