"""The page that adds a corpus sends a large file in parts by itself, as programs do over the API
(``imports_api``)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from annotations.corpora import imports_api, partial_uploads
from annotations.corpora.views import ORGANISERS, organisers_only
from annotations.models import PartialUpload
from common.api.problems import Refused
from common.file_bodies import takes_file
from common.web import organisers_alone


@require_POST
@organisers_only
def upload_begin(request: HttpRequest) -> HttpResponse:
    """Begin an upload, or learn how much of it is here: JSON with ``file_name``, ``size``, and
    ``sha256`` of what the browser knows the file by."""
    try:
        command = imports_api.UploadCommand.model_validate_json(request.body)
        upload, _is_new = imports_api.begin(request.user, command)
    except ValidationError:
        return JsonResponse({"errors": [{"message": _("Choose the file again.")}]}, status=422)
    except Refused as refusal:
        return _refused(refusal)
    return _answer(upload, request)


@require_POST
@organisers_only
@takes_file(organisers_alone(*ORGANISERS), limit="UPLOAD_PART_BYTES")
def upload_part(request: HttpRequest, id: str) -> HttpResponse:
    """The next part, with the headers of the API's ``add_part``."""
    try:
        upload = imports_api.own_upload(request, id)
        return _answer(imports_api.taken_part(request, upload), request)
    except Refused as refusal:
        return _refused(refusal)


def _answer(upload: PartialUpload, request: HttpRequest) -> JsonResponse:
    """``uploaded``: of a complete file, what the form sends in its place."""
    answer = {**imports_api.upload_document(upload), "uploaded": ""}
    if upload.is_complete:
        try:
            answer["uploaded"] = partial_uploads.pending(upload, request.user).token
        except partial_uploads.Gone:
            upload.delete()
            return _refused(Refused(404, _("The file is no longer here. Choose it again.")))
    return JsonResponse(answer)


def _refused(refusal: Refused) -> JsonResponse:
    document = {"errors": [{"message": refusal.detail}], "code": refusal.code, **refusal.more}
    return JsonResponse(document, status=refusal.status)
