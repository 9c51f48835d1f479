"""Of which conversations a page is: all, or a slice that an address names."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from annotations.corpora.queries import NotFound
from annotations.corpora.slices import NO_SLICE, resolve_slice, slice_size, slices_of
from annotations.models import CorpusVersion

MAX_OFFERED, MAX_OPTIONS = 20, 100
"""Values of one key, and of all keys, that the page offers; an address may name any that is
counted."""
FEWEST = 2
"""Conversations of a value that is offered: one alone says nothing of others."""


@dataclass(frozen=True, slots=True)
class SliceNote:
    """The slice that is shown, as ``KEY: VALUE``, how many conversations are in it, and its part of
    an address."""

    label: str
    conversations: int
    query: str


def slice_or_404(request: HttpRequest, version: CorpusVersion) -> str:
    """``KEY:VALUE`` of the address; "" for all conversations."""
    try:
        return resolve_slice(version, request.GET.get("slice", NO_SLICE))
    except NotFound as unknown:
        raise Http404(str(unknown)) from None


def slice_options(version: CorpusVersion, chosen: str) -> list[tuple[str, str]]:
    """(what stands in the address, label) of all conversations and of each slice; nothing where
    there are no slices. The chosen one is among them."""
    offered = [
        (f"{key}:{value}", f"{key}: {value} ({count:,})")
        for key, values in slices_of(version).items()
        if len(values) <= MAX_OFFERED
        for value, count in values.items()
        if count >= FEWEST
    ][:MAX_OPTIONS]
    if chosen and chosen not in dict(offered):
        offered.append((chosen, _label(version, chosen)))
    return [(NO_SLICE, _("All")), *offered] if offered else []


def slice_note(version: CorpusVersion, chosen: str) -> SliceNote | None:
    """None where all conversations are shown."""
    if not chosen:
        return None
    query = urlencode({"slice": chosen})
    return SliceNote(_label(version, chosen), slice_size(version, chosen), query)


def _label(version: CorpusVersion, chosen: str) -> str:
    key = next(key for key in slices_of(version) if chosen.startswith(f"{key}:"))
    return f"{key}: {chosen[len(key) + 1 :]}"
