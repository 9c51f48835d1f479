"""The first page: the corpora, and above them what is next for who reads it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.views import corpora_page
from dialeval_site.what_is_next import what_is_next


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return corpora_page(request, what_is_next)
