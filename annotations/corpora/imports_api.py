"""Files in parts and their imports over the API, for organisers."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Path, Query, Router, Schema, Status
from pydantic import Field

from annotations.corpora import imports, partial_uploads
from annotations.corpora.forms import ORGANISERS, CorpusForm
from annotations.corpora.partial_uploads import (
    Gone,
    TooLarge,
    TooManyUploads,
    WrongLength,
    WrongOffset,
)
from annotations.models import CorpusImport, PartialUpload
from common.api.access import Token
from common.api.problems import Refused, refusals
from common.api.schemas import Given, Page, Paging, Text, page_of
from common.file_bodies import takes_file
from common.storage import StorageAway
from common.text import DIGITS_OF_A_KEY, parse_integer

router = Router(tags=["imports"])
UPLOAD, IMPORT = "/uploads/{slug:id}", "/imports/{int:id}"
PART_TYPE = "application/partial-upload"
_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")

State = Literal["pending", "running", "done", "failed", "cancelled"]


class UploadPath(Schema):
    id: str = Field(description="The upload's id.")


class ImportPath(Schema):
    id: int = Field(ge=1, lt=2**63, description="The import's number.")


class UploadCommand(Given):
    file_name: Text = Field(
        min_length=1, max_length=255, description="Some formats are known by it."
    )
    size: int = Field(ge=1, lt=2**63, description="Bytes.")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="Of the whole file, in hexadecimal.")


class UploadOut(Schema):
    """A file that comes in parts."""

    id: str = Field(description="Names it in addresses, and to `POST /imports`.")
    file_name: str = Field(description="What its sender calls it.")
    size: int = Field(description="Bytes.")
    sha256: str = Field(description="Of the whole file.")
    received: int = Field(description="Bytes that are here: where the next part begins.")
    part_bytes: int = Field(description="Length of each part but the last, which may be shorter.")
    expires_at: datetime = Field(description="When it is removed, unless a part comes before.")


class ImportCommand(Given):
    upload: Text = Field(max_length=64, description="Id of a complete upload.")
    format: Text = Field("", max_length=40, description="Its name; detected without it.")
    slug: Text = Field("", max_length=80, description="Default: made from the name or the file's.")
    name: Text = Field("", max_length=200, description="Default: what the file says.")
    language: Text = Field("", max_length=3, description="Code; default: said or guessed.")
    seen_by: Literal["everybody", "organisers"] = Field(ORGANISERS, description="Who sees it.")
    good_only: bool = Field(False, description="Leave out bad records.")
    is_new_version: bool = Field(False, description="Of a corpus that is here.")


class StoredCorpus(Schema):
    slug: str = Field(description="The corpus's name in addresses.")
    version: str = Field(description="The version that holds the content.")
    is_new: bool = Field(description="False where a version held it before.")
    dialogues: int = Field(description="How many.")
    responses: int = Field(description="How many.")
    ratings: int = Field(description="How many.")
    left_out: int = Field(description="Records that are not in it.")


class ImportProgress(Schema):
    step: str = Field("", description="checked or stored.")
    records: int = Field(0, description="To how many records that was done.")
    bytes: int | None = Field(None, description="Of the file, where that is known.")


class ImportOut(Schema):
    """A file that a worker stores as a corpus, or as several."""

    id: int = Field(description="Its number.")
    state: State = Field(description="How far it is.")
    file_name: str = Field(description="What its sender calls it.")
    size: int = Field(description="Bytes.")
    progress: ImportProgress = Field(description="Of a running import.")
    error: str = Field(description="Why it failed or was cancelled.")
    problems: list[str] = Field(description="Of the file, up to 100: nothing was stored.")
    corpora: list[StoredCorpus] = Field(description="What was stored.")
    created_at: datetime = Field(description="When it was asked for.")
    finished_at: datetime | None = Field(description="When it ended.")


# --- uploads --------------------------------------------------------------------------------------


def _sender(request: HttpRequest, id: str) -> PartialUpload:
    """The upload that the caller may add to. Raises ``Refused``."""
    Token("organise")(request)
    return own_upload(request, id)


def own_upload(request: HttpRequest, id: str) -> PartialUpload:
    """Raises ``Refused``: another's does not exist."""
    upload = PartialUpload.objects.filter(public_id=id[:32], owner=request.user).first()
    if upload is None:
        raise _gone()
    return upload


def _gone() -> Refused:
    return Refused(404, _("There is no such upload (any more)."), code="upload")


def _storage_away() -> Refused:
    words = _("The site cannot keep files at the moment. Nothing was stored; try again later.")
    return Refused(503, words, code="storage", retry=30)


def upload_document(upload: PartialUpload) -> dict[str, Any]:
    columns = ("file_name", "size", "sha256", "received", "expires_at")
    values = {name: getattr(upload, name) for name in columns}
    return {"id": upload.public_id, "part_bytes": settings.UPLOAD_PART_BYTES, **values}


def _with_offset(response: HttpResponse, upload: PartialUpload) -> dict[str, Any]:
    response["Upload-Offset"] = str(upload.received)
    response["Upload-Length"] = str(upload.size)
    response["Cache-Control"] = "no-store"
    return upload_document(upload)


@router.post(
    "/uploads",
    auth=Token("organise"),
    response={201: UploadOut, 200: UploadOut},
    operation_id="begin_upload",
    summary="Begin to send a file in parts",
    openapi_extra=refusals(409, 413),
)
def begin_upload(
    request: HttpRequest, response: HttpResponse, params: UploadCommand
) -> Status[Any]:
    """200: this file of yours was begun before; go on at `received`. An upload to which no part
    comes for a day is removed."""
    upload, is_new = begin(request.user, params)
    return Status(201 if is_new else 200, _with_offset(response, upload))


def begin(user: Any, command: UploadCommand) -> tuple[PartialUpload, bool]:
    """As ``partial_uploads.begin``; what is refused as ``Refused``."""
    try:
        return partial_uploads.begin(user, command.file_name, command.size, command.sha256)
    except TooLarge:
        most = settings.MAX_CORPUS_UPLOAD_BYTES // 1_000_000
        words = _("The file is larger than %(limit)s MB.") % {"limit": most}
        raise Refused(413, words, code="too_large") from None
    except TooManyUploads:
        words = _("You have %(most)d uploads already: import or remove one of them first.")
        most = partial_uploads.MOST_UPLOADS
        raise Refused(409, words % {"most": most}, code="uploads") from None
    except StorageAway:
        raise _storage_away() from None


@router.get(
    "/uploads",
    auth=Token("organise"),
    response=Page[UploadOut],
    operation_id="list_uploads",
    summary="Your files that are not imported yet",
)
def list_uploads(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """Newest first."""
    return page_of(PartialUpload.objects.filter(owner=request.user), "-pk", paging, upload_document)


@router.get(
    UPLOAD,
    auth=Token("organise"),
    response=UploadOut,
    operation_id="get_upload",
    summary="How much of a file has come",
)
def get_upload(
    request: HttpRequest, response: HttpResponse, place: Path[UploadPath]
) -> dict[str, Any]:
    """Also in the header `Upload-Offset`, which HEAD gives alone."""
    return _with_offset(response, _sender(request, place.id))


@router.patch(
    UPLOAD,
    auth=Token("organise"),
    response=UploadOut,
    operation_id="add_part",
    summary="Send the next part of a file",
    openapi_extra={
        **refusals(409, 413, 415),
        "parameters": [
            {
                "in": "header",
                "name": "Upload-Offset",
                "required": True,
                "schema": {"type": "integer", "minimum": 0},
                "description": "Where the part begins.",
            },
            {
                "in": "header",
                "name": "Content-Digest",
                "required": True,
                "schema": {"type": "string"},
                "description": "Of the part: `sha-256=:…:`, in base64 (RFC 9530).",
            },
        ],
        "requestBody": {
            "required": True,
            "content": {PART_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        },
    },
)
@takes_file(_sender, limit="UPLOAD_PART_BYTES")
def add_part(
    request: HttpRequest, response: HttpResponse, place: Path[UploadPath]
) -> dict[str, Any]:
    """Parts come in order. 409 with the code offset: the next part begins elsewhere; `received`
    says where. Of a part that is sent twice at once, one is refused so. 422 with the code digest:
    the part did not arrive as it was sent."""
    return _with_offset(response, taken_part(request, _sender(request, place.id)))


def taken_part(request: HttpRequest, upload: PartialUpload) -> PartialUpload:
    """The upload with the part that the request brings. Raises ``Refused``."""
    if request.content_type != PART_TYPE:
        words = _("Send the part as %(type)s.") % {"type": PART_TYPE}
        raise Refused(415, words, code="media_type")
    offset = parse_integer(request.headers.get("Upload-Offset", ""), DIGITS_OF_A_KEY)
    if offset is None:
        raise _wrong_header("Upload-Offset", _("Say at which byte of the file the part begins."))
    declared = _DIGEST.fullmatch(request.headers.get("Content-Digest", ""))
    if declared is None:
        raise _wrong_header("Content-Digest", _("Send sha-256=:…: with the digest in base64."))
    data = request.read()
    if base64.b64encode(hashlib.sha256(data).digest()).decode() != declared[1]:
        words = _("The part does not have this digest. Nothing of it was stored; send it again.")
        raise Refused(422, words, code="digest")
    try:
        return partial_uploads.add_part(upload, offset, data)
    except WrongOffset as known:
        words = _("The next part begins at byte %(received)d. Nothing of this one was stored.")
        received = {"received": known.received}
        raise Refused(409, words % received, code="offset", **received) from None
    except WrongLength:
        words = _(
            "Parts have %(bytes)d bytes, beginning at multiples of that; only the file's last part "
            "is shorter."
        )
        raise Refused(422, words % {"bytes": settings.UPLOAD_PART_BYTES}, code="part") from None
    except Gone:
        upload.delete()  # else the file would go on at a place that is not there
        raise _gone() from None
    except OSError:  # the storage is away, or the disk is full
        raise _storage_away() from None


def _wrong_header(name: str, message: str) -> Refused:
    errors = [{"field": f"header.{name}", "message": message}]
    return Refused(422, f"{name}: {message}", errors=errors)


@router.delete(
    UPLOAD,
    auth=Token("organise"),
    response={204: None},
    operation_id="remove_upload",
    summary="Remove a file that is not imported yet",
)
def remove_upload(request: HttpRequest, place: Path[UploadPath]) -> Status[None]:
    try:
        partial_uploads.remove(_sender(request, place.id))
    except StorageAway:
        raise _storage_away() from None
    return Status(204, None)


# --- imports --------------------------------------------------------------------------------------


@router.post(
    "/imports",
    auth=Token("organise"),
    response={202: ImportOut},
    operation_id="import_corpus",
    summary="Store a file that was sent as a corpus",
    openapi_extra=refusals(404, 409),
)
def import_corpus(request: HttpRequest, params: ImportCommand) -> Status[Any]:
    """A worker does it: follow it at `GET /imports/{id}`. 409 with the code incomplete: parts of
    the file are missing."""
    upload = _sender(request, params.upload)
    if not upload.is_complete:
        words = _("Only %(received)d of %(size)d bytes are here. Send the other parts first.")
        sizes = {"received": upload.received, "size": upload.size}
        raise Refused(409, words % sizes, code="incomplete", received=upload.received)
    try:
        file = partial_uploads.pending(upload, request.user)
    except Gone:
        raise _gone() from None
    except StorageAway:
        raise _storage_away() from None
    data = params.dict(exclude={"upload", "good_only", "is_new_version"})
    for name in ("good_only", "is_new_version"):
        if getattr(params, name):
            data[name] = "on"
    form = CorpusForm({**data, "uploaded": file.token}, user=request.user)
    if not form.is_valid():
        errors = [
            {"field": f"body.{field}", "message": message}
            for field, messages in form.errors.items()
            for message in messages
        ]
        words = "; ".join(f"{one['field']}: {one['message']}" for one in errors)
        raise Refused(422, words[:1000], errors=errors)
    job = imports.start(file, upload.size, form.choices(), request.user, upload.sha256)
    return Status(202, _import_document(job))


@router.get(
    "/imports",
    auth=Token("organise"),
    response=Page[ImportOut],
    operation_id="list_imports",
    summary="Imports by workers",
)
def list_imports(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:  # noqa: ARG001
    """Newest first."""
    return page_of(CorpusImport.objects.all(), "-pk", paging, _import_document)


@router.get(
    IMPORT,
    auth=Token("organise"),
    response=ImportOut,
    operation_id="get_import",
    summary="An import: state, progress, what was stored",
)
def get_import(request: HttpRequest, place: Path[ImportPath]) -> dict[str, Any]:  # noqa: ARG001
    return _import_document(_import_at(place))


@router.post(
    f"{IMPORT}/cancel",
    auth=Token("organise"),
    response=ImportOut,
    operation_id="cancel_import",
    summary="Cancel an import",
    openapi_extra=refusals(409),
)
def cancel_import(request: HttpRequest, place: Path[ImportPath]) -> dict[str, Any]:
    """Nothing is stored, and the file stays for a day."""
    if not imports.cancel(_import_at(place), request.user):
        raise Refused(409, _("The import had ended."), code="state")
    return _import_document(_import_at(place))


def _import_at(place: ImportPath) -> CorpusImport:
    job = CorpusImport.objects.filter(pk=place.id).first()
    if job is None:
        raise Refused(404, _("There is no such import."))
    return job


def _import_document(job: CorpusImport) -> dict[str, Any]:
    columns = ("state", "file_name", "size", "progress", "error", "created_at", "finished_at")
    return {
        "id": job.pk,
        "problems": job.outcome.get("problems", []),
        "corpora": job.outcome.get("corpora", []),
        **{name: getattr(job, name) for name in columns},
    }
