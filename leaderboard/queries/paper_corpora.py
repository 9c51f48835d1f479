"""Corpora of papers' tables as far as they are here: by which name, and why there is nothing to
compute on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from annotations.corpora.rating_queries import has_dialogue_ratings, has_turn_ratings
from annotations.models import Corpus, CorpusVersion, System


def first_that_is_here(slugs: Sequence[str]) -> str:
    """Of the names that a paper's corpus may have; the first where none is here."""
    here = set(Corpus.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    return next((slug for slug in slugs if slug in here), slugs[0])


def why_nothing(
    slug: str,
    version: CorpusVersion | None,
    systems: Sequence[System],
    rated: Literal["turn", "dialogue"],
) -> str:
    """Why metrics cannot be held against people's ratings of turns or of dialogues there; "" where
    they can."""
    if version is None:
        return f"there is no corpus {slug}"
    if not systems:
        return f"{slug} has no systems"
    has_any = has_dialogue_ratings if rated == "dialogue" else has_turn_ratings
    return "" if has_any(version, version.main_aspect) else f"nobody rated {rated}s of {slug}"
