"""What the views of every app share: answering downloads, who gets in, what an organiser does
next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from common.roles import is_organiser
from common.tables import Table
from common.tables.download import download


def page(
    request: HttpRequest, template: str, context: dict[str, Any], tables: Iterable[Table] = ()
) -> HttpResponse:
    """The page, or, where ``?download=`` names one of its tables, that table as a file."""
    requested = request.GET.get("download")
    if requested is None:
        return render(request, template, context)
    file = download(
        tables, requested, request.GET.get("file-columns", ""), request.GET.get("file-sort", "")
    )
    if file is None:
        raise Http404("this page has no such table")
    response = HttpResponse(file.body, content_type=file.content_type)
    response["Content-Disposition"] = f'attachment; filename="{_file_name(request, file.filename)}"'
    return response


def _file_name(request: HttpRequest, name: str) -> str:
    """A file says which corpus it is of, also in a folder of many."""
    slug = str(request.resolver_match.kwargs.get("slug", "")) if request.resolver_match else ""
    return f"{slug}-{name}" if slug and not name.startswith(f"{slug}-") else name


def is_head_request(request: HttpRequest) -> bool:
    """Whether what would be sent is thrown away (HEAD). The API's operations are called as for GET,
    so that ``request.method`` does not tell."""
    return bool(request.META["REQUEST_METHOD"] == "HEAD")


def stream_as_file(lines: Iterable[str], name: str, content_type: str) -> StreamingHttpResponse:
    """A file that is written while it is sent, however long it is."""
    response = StreamingHttpResponse(_in_pieces(lines), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _in_pieces(lines: Iterable[str], size: int = 64_000) -> Iterator[str]:
    """A line at a time would be a write to the network each."""
    piece: list[str] = []
    length = 0
    for line in lines:
        piece.append(line)
        length += len(line)
        if length >= size:
            yield "".join(piece)
            piece, length = [], 0
    yield "".join(piece)


def wants_json(request: HttpRequest) -> bool:
    return "application/json" in request.headers.get("Accept", "")


def login_needed() -> HttpResponse:
    """For the page's own requests: a redirect would be followed and look like success."""
    return JsonResponse({"stored": False, "login": reverse("login")}, status=401)


def organisers_alone(home: str, refusal: Any) -> Callable[..., HttpResponse | None]:
    """What stops others: who is not logged in is led to the log-in page and back, from a form to
    the page that the URL name ``home`` stands for; who is no organiser is told 403 and
    ``refusal``."""

    def stopped(request: HttpRequest, **_named: Any) -> HttpResponse | None:
        if not request.user.is_authenticated:
            if wants_json(request):
                return login_needed()
            back = request.get_full_path() if request.method in ("GET", "HEAD") else reverse(home)
            return redirect_to_login(back)
        if not is_organiser(request.user):
            raise PermissionDenied(refusal)
        return None

    return stopped


def organisers_page(
    home: str, refusal: Any
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Decorates a view of organisers; others are stopped (``organisers_alone``). No browser keeps
    the page: who sits down at it after the organiser has logged out does not get it by going
    back."""
    stopped = organisers_alone(home, refusal)

    def decorated(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @never_cache
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            return stopped(request) or view(request, *arguments, **named)

        return guarded

    return decorated


def own_form(home: str) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Decorates a view that takes a person's form and has no page of its own. Who is not logged in
    comes back, after the log-in, to the page that the URL name ``home`` stands for."""

    def decorated(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @require_POST
        @wraps(view)
        def guarded(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(reverse(home))
            return view(request, *arguments, **named)

        return guarded

    return decorated


@dataclass(frozen=True, slots=True)
class Step:
    """What an organiser does, in order, from setting something up to its end."""

    key: str
    title: str
    remark: str
    is_done: bool
    is_next: bool = False
    is_optional: bool = False


def with_the_next(steps: Iterable[Step]) -> list[Step]:
    """The first that is not done, and cannot be left out, is next."""
    found = list(steps)
    for place, step in enumerate(found):
        if not step.is_done and not step.is_optional:
            found[place] = replace(step, is_next=True)
            break
    return found
