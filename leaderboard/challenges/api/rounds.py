"""Rounds: what is asked, what is fetched, how it stands, and submitting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import File, Form, Path, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from common.api.access import Token
from common.api.problems import Refused, refusals
from common.api.schemas import Page, Paging, Text
from common.file_bodies import takes_file
from leaderboard.challenges import access, uploads
from leaderboard.challenges.actions.receiving import NotTaken, receive
from leaderboard.challenges.api import documents
from leaderboard.challenges.api.finding import round_at
from leaderboard.challenges.api.schemas import (
    Board,
    Part,
    RoundOut,
    RoundPath,
    SubmissionOut,
    SubmissionRow,
    TrackName,
)
from leaderboard.challenges.models import Round, Team
from leaderboard.challenges.phase import phase_of
from leaderboard.challenges.queries.board import round_board
from leaderboard.challenges.queries.downloads import dialogues_file, template_file, why_no_download
from leaderboard.challenges.queries.submissions import submissions_seen_by
from leaderboard.challenges.upload_answers import field_of, status_of
from leaderboard.results.rest import NotYet, not_yet

router = Router(tags=["rounds"])
ROUND = "/challenges/{slug:slug}/rounds/{slug:round}"


@router.get(
    ROUND,
    auth=Token("read", anybody=True),
    response=RoundOut,
    operation_id="get_round",
    summary="A round with your attempts",
)
def get_round(request: HttpRequest, place: Path[RoundPath]) -> dict[str, Any]:
    round = round_at(request, place.slug, place.round)
    return documents.round_document(
        round, request.user, access.team_of(request.user, round.challenge)
    )


class BoardParams(Schema):
    part: Part = Field("public", description="Which board.")


@router.get(
    f"{ROUND}/leaderboard",
    auth=Token("read", anybody=True),
    response={200: Board, 202: NotYet},
    operation_id="get_leaderboard",
    summary="The round's leaderboard",
)
def get_leaderboard(
    request: HttpRequest, response: HttpResponse, place: Path[RoundPath], params: Query[BoardParams]
) -> Any:
    """The public leaderboard counts a part of the dialogues, the private one the others: for all
    once it is released. Where it is not computed yet the answer is 202: ask again."""
    board = round_board(round_at(request, place.slug, place.round), request.user, params.part)
    if board.look is not None and board.answer is None:
        return not_yet(board.look, response)
    return documents.board_document(board)


def _file(description: str, media_type: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"} if media_type.startswith("text/") else {}
    return {
        "responses": {
            200: {"description": description, "content": {media_type: {"schema": schema}}}
        }
    }


@router.get(
    f"{ROUND}/dialogues",
    auth=Token("read", anybody=True),
    operation_id="get_round_dialogues",
    summary="The dialogues that are to be answered",
    openapi_extra={
        "responses": {
            **refusals(409)["responses"],
            200: {
                "description": (
                    "A list of dialogues as in the CPD challenge. Where references are hidden, "
                    "without what speaker B said."
                ),
                "content": {
                    "application/json": {"schema": {"type": "array", "items": {"type": "object"}}}
                },
            },
        }
    },
)
def get_round_dialogues(request: HttpRequest, place: Path[RoundPath]) -> StreamingHttpResponse:
    round = _downloadable(request, place)
    return _sent(
        dialogues_file(round), "application/json", f"{place.slug}-{round.slug}-dialogues.json"
    )


class TemplateParams(Schema):
    format: Literal["json", "jsonl", "csv"] = Field("json", description="The form of the file.")


MEDIA_TYPES = {
    "json": "application/json",
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
}


@router.get(
    f"{ROUND}/template",
    auth=Token("read", anybody=True),
    operation_id="get_round_template",
    summary="An empty file of responses to fill in",
    openapi_extra={
        "responses": {
            **refusals(409)["responses"],
            200: {
                "description": "The file, in the form that was asked for.",
                "content": {
                    "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
                    "application/x-ndjson": {"schema": {"type": "string"}},
                    "text/csv": {"schema": {"type": "string"}},
                },
            },
        }
    },
)
def get_round_template(
    request: HttpRequest, place: Path[RoundPath], params: Query[TemplateParams]
) -> StreamingHttpResponse:
    round = _downloadable(request, place)
    name = f"{place.slug}-{round.slug}-template.{params.format}"
    return _sent(template_file(round, params.format), MEDIA_TYPES[params.format], name)


def _downloadable(request: HttpRequest, place: RoundPath) -> Round:
    round = round_at(request, place.slug, place.round)
    phase = phase_of(round.opens_at, round.closes_at, round.challenge.state, timezone.now())
    obstacle = why_no_download(
        round, phase, request.user, access.team_of(request.user, round.challenge)
    )
    if obstacle == "log_in":
        raise Refused(
            401, _("Teams of the challenge have these files. Send your token."), code="token"
        )
    if obstacle == "no_team":
        raise Refused(
            403, _("Teams of the challenge have these files. Found or join one."), code="no_team"
        )
    if obstacle:
        raise Refused(409, _("These files are there when the round opens."), code=obstacle)
    return round


def _sent(pieces: Iterator[str], media_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse((piece.encode() for piece in pieces), content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


# --- handing in -----------------------------------------------------------------------------------


@router.get(
    f"{ROUND}/submissions",
    auth=Token("read"),
    response=Page[SubmissionRow],
    operation_id="list_round_submissions",
    summary="Your team's submissions to a round",
    tags=["submissions"],
)
def list_round_submissions(
    request: HttpRequest, place: Path[RoundPath], paging: Query[Paging]
) -> dict[str, Any]:
    """Newest first. Organisers get those of all teams."""
    round = round_at(request, place.slug, place.round)
    rows = submissions_seen_by(request.user).filter(round=round)
    return documents.submission_page(rows, paging)


class SubmitCommand(Schema):
    name: Text = Field(
        min_length=1, max_length=80, description="The system's name, as boards will show it."
    )
    description: Text = Field(
        "",
        max_length=2000,
        description="What it is; for organisers and your team, and for everybody once organisers "
        "publish the system.",
    )
    track: TrackName = Field(
        "gpu", description="gpu: a file of responses. prompt: a prompt that is run here."
    )


def not_taken(refusal: NotTaken) -> Refused:
    """``NotTaken`` as a problem; where a field is wrong, with an error of it."""
    field = field_of(refusal)
    errors = [{"field": f"form.{field}", "message": refusal.message}] if field else []
    return Refused(status_of(refusal), refusal.message, code=refusal.code, errors=errors)


def _place(request: HttpRequest, slug: str, round: str) -> tuple[Round, Team]:
    """Where the sender may submit. Raises ``Refused``."""
    Token("submit")(request)
    one = round_at(request, slug, round)
    team = access.team_of(request.user, one.challenge)
    if team is None:
        raise Refused(403, _("Found or join a team first."), code="not_member")
    return one, team


@router.post(
    f"{ROUND}/submissions",
    auth=Token("submit"),
    response={201: SubmissionOut, 200: SubmissionOut},
    operation_id="submit",
    summary="Submit a file",
    tags=["submissions"],
    openapi_extra=refusals(409, 413),
)
@takes_file(_place)
def submit(
    request: HttpRequest,
    place: Path[RoundPath],
    params: Form[SubmitCommand],
    file: Annotated[
        UploadedFile, File(description="Responses in one of the formats, or a prompt.")
    ],
) -> Status[Any]:
    """201: it was received and a worker will read it; follow it at `GET /submissions/{id}`. 200:
    these bytes count already, and nothing was counted anew. 409 with a `code`: closed, upcoming,
    track, limit_day, limit_total."""
    round, team = _place(request, place.slug, place.round)
    try:
        received = receive(
            round,
            team,
            request.user,
            track=params.track,
            name=params.name,
            description=params.description,
            upload=uploads.uploaded(file),
        )
    except NotTaken as refusal:
        raise not_taken(refusal) from None
    submission = access.submission_or_404(request.user, received.submission.public_id)
    return Status(
        201 if received.is_new else 200, documents.submission_document(submission, request.user)
    )
