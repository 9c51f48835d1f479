"""The documents as pages, their search, and the steps of the tour."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from common.text import parse_integer
from common.web import own_form
from dialeval_site.help import documents, tours
from dialeval_site.help.search import LONGEST_QUERY, find_sections


@require_safe
def help_index(request: HttpRequest) -> HttpResponse:
    """All documents; ``q`` finds paragraphs in them."""
    query = request.GET.get("q", "")[:LONGEST_QUERY].replace("\0", "").strip()
    context = {
        "section": "help",
        "query": query,
        "results": find_sections(query) if query else None,
        "groups": documents.grouped(),
    }
    return render(request, "help/index.html", context)


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """One document."""
    try:
        found = documents.document(name)
    except KeyError:
        raise Http404(f"there is no document {name}") from None
    return render(request, "help/page.html", {"section": "help", "document": found})


@own_form("home")
def tour(request: HttpRequest) -> HttpResponse:
    """``step`` (1 to 3): go to its page. Without it the tour ends, and ``next`` is the page to go
    back to."""
    step = parse_integer(request.POST.get("step", ""))
    if step is not None:
        return redirect(tours.go_to(request, step))
    tours.end(request)
    back = request.POST.get("next", "")
    is_here = url_has_allowed_host_and_scheme(
        back, {request.get_host()}, require_https=request.is_secure()
    )
    return redirect(back if is_here else "home")
