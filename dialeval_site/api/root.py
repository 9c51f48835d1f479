"""The API under /api/v1: routers of every app, and every error in one form."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.params.models import FileModel, FormModel, QueryModel
from ninja.parser import Parser

from annotations.campaigns.api import router as campaigns
from annotations.corpora.api import router as corpora
from annotations.corpora.imports_api import router as imports
from common.api.problems import Refused, problem_response
from common.read_only import refuses_writes
from dialeval_site.accounts.api import router as tokens
from dialeval_site.api.openapi import Document
from dialeval_site.operations.error_pages import RETRY_SECONDS
from leaderboard.api import router as meta_evaluation
from leaderboard.challenges.api.router import router as challenges
from workers.arenas.api import router as arenas
from workers.runs.api import router as metrics

log = logging.getLogger(__name__)

DESCRIPTION = """\
What the site's pages show and do, for programs.

**Tokens.** Send `Authorization: Bearer dial_…`. A token has scopes and an end; it is made on the
page *Tokens* or by `POST /api/v1/tokens`. What everybody may see needs none. Browser sessions count
for nothing here.

**Errors** are `application/problem+json`. **Lists** are `{"items": […], "next": …}`: send `next` as
`cursor` for the page that follows; rows that come meanwhile shift nothing. **Times** are ISO 8601
in UTC. **Undefined** is null with a reason.

**Rates.** Each answer carries `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`; 429
says in `Retry-After` when to go on.
"""


class StrictParser(Parser):
    """A body of another type than the one asked for is refused, not guessed at."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != "application/json":
            raise Refused(415, _("Send the body as application/json."), code="media_type")
        return json.loads(request.body, object_pairs_hook=_each_once)

    def parse_querydict(self, data: Any, list_fields: list[str], request: HttpRequest) -> Any:
        is_body = request.method == "POST" and data is not request.GET
        if is_body and request.content_type != "multipart/form-data":
            raise Refused(415, _("Send the body as multipart/form-data."), code="media_type")
        if is_body:
            _refuse_what_nobody_hears("form", data, request)
        return super().parse_querydict(data, list_fields, request)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Python keeps the last of several: what was sent may not be what is heard."""
    counts = Counter(name for name, _value in pairs)
    if twice := [name for name, count in counts.items() if count > 1]:
        _refuse("body", [(name, _("Sent more than once.")) for name in twice])
    return dict(pairs)


def _refuse_what_nobody_hears(source: str, data: Any, request: HttpRequest) -> None:
    """A field that is misspelt, or sent twice where one is meant: as in JSON bodies an error, not a
    params unheard."""
    match = request.resolver_match
    known = _fields_of()[match.route if match else "", request.method or ""]
    errors = [
        *((name, _("Nobody knows this field.")) for name in data if name not in known[source]),
        *((name, _("Sent more than once.")) for name in data if len(data.getlist(name)) > 1),
    ]
    if errors:
        _refuse(source, errors)


def _refuse(source: str, errors: list[tuple[str, str]]) -> None:
    problems = [
        {"field": f"{source}.{name}"[:200], "message": message} for name, message in errors[:20]
    ]
    raise Refused(
        422,
        "; ".join(f"{one['field']}: {one['message']}" for one in problems)[:1000],
        errors=problems,
    )


def operations() -> Iterator[tuple[str, Operation]]:
    """Each with its route, as Django's resolver names it."""
    waiting = list(api._routers)
    while waiting:
        prefix, router = waiting.pop()
        waiting += [(prefix + more, one) for more, one, *_rest in router._routers]
        for path, view in router.path_operations.items():
            route = f"api/v1/{(prefix + path).lstrip('/')}".replace("{", "<").replace("}", ">")
            yield from ((route, operation) for operation in view.operations)


@lru_cache(maxsize=1)
def _fields_of() -> dict[tuple[str, str], dict[str, set[str]]]:
    """(route, method) → the names of queries and of forms, files among them, that the operation
    takes."""
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for route, operation in operations():
        names: dict[str, set[str]] = {"query": set(), "form": set()}
        for model in operation.models:
            source = {FormModel: "form", FileModel: "form", QueryModel: "query"}.get(model.__base__)
            if source:
                names[source].update(
                    getattr(model, "__ninja_flatten_map__", None) or model.model_fields
                )
        found |= {(route, method): names for method in operation.methods}
    return found


class Api(NinjaAPI):
    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        """Called for every operation, also for one that takes no query."""
        _refuse_what_nobody_hears("query", request.GET, request)
        return super().create_temporal_response(request)

    def get_openapi_schema(self, **_options: Any) -> OpenAPISchema:
        return document()


api = Api(
    title="dialeval",
    version=settings.VERSION,
    description=DESCRIPTION,
    urls_namespace="api",
    docs_url=None,
    parser=StrictParser(),
)
for router in (tokens, challenges, corpora, imports, campaigns, meta_evaluation, arenas, metrics):
    api.add_router("", router)


@lru_cache(maxsize=1)
def document() -> OpenAPISchema:
    return Document(api, path_prefix="api/v1/")


# --- errors ---------------------------------------------------------------------------------------


@api.exception_handler(Refused)
def _refused(_request: HttpRequest, refusal: Refused) -> HttpResponse:
    more = dict(refusal.more)
    retry = more.pop("retry", None)
    response = problem_response(refusal.status, refusal.detail, refusal.code, **more)
    if retry is not None:
        response["Retry-After"] = str(retry)
    return response


@api.exception_handler(DatabaseError)
def _read_only(_request: HttpRequest, problem: DatabaseError) -> HttpResponse:
    """Other errors of the database stay what they are."""
    if not refuses_writes(problem):
        raise problem
    words = _("The site is read-only at the moment. Nothing was stored.")
    response = problem_response(503, words, code="read_only")
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


@api.exception_handler(ValidationError)
def _invalid(_request: HttpRequest, refusal: ValidationError) -> HttpResponse:
    errors = [{"field": _path(error["loc"]), "message": error["msg"]} for error in refusal.errors]
    return problem_response(
        422, "; ".join(f"{e['field']}: {e['message']}" for e in errors)[:1000], errors=errors
    )


def _path(loc: tuple[str | int, ...]) -> str:
    """``query.limit``, ``body.scopes.0``: without the name of the function's own parameter, which
    no client knows."""
    source, *rest = loc
    source = "form" if source == "file" else source  # a form's part, to who sends it
    if len(rest) > 1 and rest[0] in ("params", "paging", "place", "version_params"):
        rest = rest[1:]
    return ".".join(str(part) for part in (source, *rest))[:200]


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    cause = error.__cause__
    if isinstance(cause, Refused):
        return _refused(request, cause)
    if isinstance(cause, RequestDataTooBig):
        return _too_big(request, cause)
    words = {400: _("The body is no JSON that can be read.")}
    return problem_response(error.status_code, words.get(error.status_code, str(error)))


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, _error: Http404) -> HttpResponse:
    return problem_response(404, _("There is no such thing, or you may not see it."))


@api.exception_handler(PermissionDenied)
def _denied(_request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem_response(403, str(error) or _("You may not do this."))


@api.exception_handler(RequestDataTooBig)
def _too_big(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return problem_response(413, _("The body is too large."), code="too_large")


@api.exception_handler(TooManyFieldsSent)
@api.exception_handler(TooManyFilesSent)
@api.exception_handler(MultiPartParserError)
@api.exception_handler(BadRequest)
@api.exception_handler(SuspiciousOperation)
def _unreadable(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return problem_response(400, _("The body cannot be read."))


def no_such_address(_request: HttpRequest) -> HttpResponse:
    """Whatever else lies below /api/: a problem (404, JSON)."""
    return problem_response(
        404, _("There is nothing at this address. See /api/v1/docs/."), code="address"
    )
