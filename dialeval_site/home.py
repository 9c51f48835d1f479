"""The first page: the corpora, and above them what is next for who reads it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.views import corpora_page
from dialeval_site.next_actions import next_actions


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The corpora that one may see."""
    return corpora_page(request, next_actions)
