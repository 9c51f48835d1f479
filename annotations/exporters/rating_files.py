"""The anonymised export: a campaign's ratings as files, CSV of what counts now, CSV of every
revision, JSON lines with all of it.

One line at a time: a million ratings pass through without being held. Raters stand under
pseudonyms; the column (key) ``account`` is there only where account names were asked for, and so
tells which kind of file it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exporters.csv_tables import Cell
from annotations.tables.csv_text import csv_heading, csv_line

LOW_AXIS = "low_"
"""What an axis's column begins with: 1 where marked low, 0 where asked and not, empty where not
asked."""


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """What a rater said, once. Times are ISO 8601 in UTC; ``…_ms`` are the browser's, from showing
    the item."""

    number: int
    score: int
    low_axes: tuple[str, ...] | None
    flagged: bool
    comment: str
    guidelines: int | None
    first_key_ms: int | None
    submit_ms: int | None
    active_ms: int | None
    shown_at: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One rater's rating of one item, with every revision; the last one holds.

    ``role``: regular, training or attention. ``counts``: whether it is one of the item's k ratings.
    ``turn`` is None at dialogue level, ``system`` None for a check written by the organiser.
    ``account`` is None unless asked for.
    """

    campaign: str
    corpus: str
    corpus_version: str
    item: str
    role: str
    dialogue: str
    turn: int | None
    system: str | None
    rater: str
    account: str | None
    rater_state: str
    counts: bool
    position: int
    propensity: float | None
    revisions: tuple[RevisionRecord, ...]
    system_propensity: float | None = None
    """Where ratings are spread adaptively: with which probability the item's system was drawn."""
    conversation: tuple[tuple[str, str], ...] | None = None
    """Of a chat: (speaker, text), oldest first."""

    @property
    def current(self) -> RevisionRecord:
        return self.revisions[-1]


_KEY_FIELDS = (
    "campaign",
    "corpus",
    "corpus_version",
    "item",
    "role",
    "dialogue",
    "turn",
    "system",
    "rater",
)
_RATER_COLUMNS = ("rater_state", "counts", "position", "propensity", "system_propensity")
_RATING_FIELDS = (
    "flagged",
    "comment",
    "guidelines",
    "first_key_ms",
    "submit_ms",
    "active_ms",
    "shown_at",
    "created_at",
)


def csv_of_ratings(
    ratings: Iterable[RatedItem], axes: Sequence[str], accounts: bool = False
) -> Iterator[str]:
    """A heading line, then a line a rating as it stands now. ``revision`` says how often it was
    given."""
    head = [*_position_columns(accounts), *_RATER_COLUMNS]
    yield csv_heading([*head, "revision", "score", *_axis_columns(axes), *_RATING_FIELDS])
    for rating in ratings:
        cells = [*_place(rating, accounts), *_standing(rating)]
        yield csv_line([*cells, *_said(rating.current, axes)])


def csv_of_revisions(
    ratings: Iterable[RatedItem], axes: Sequence[str], accounts: bool = False
) -> Iterator[str]:
    """A heading line, then a line a revision; ``current`` is 1 for the one that holds."""
    head = [*_position_columns(accounts), *_RATER_COLUMNS]
    yield csv_heading(
        [*head, "current", "revision", "score", *_axis_columns(axes), *_RATING_FIELDS]
    )
    for rating in ratings:
        cells = [*_place(rating, accounts), *_standing(rating)]
        for revision in rating.revisions:
            yield csv_line([*cells, int(revision is rating.current), *_said(revision, axes)])


def json_lines(ratings: Iterable[RatedItem], accounts: bool = False) -> Iterator[str]:
    """One object a rating, with its revisions and, of a chat, the conversation."""
    for rating in ratings:
        yield json.dumps(_document(rating, accounts), ensure_ascii=False, allow_nan=False) + "\n"


def _document(rating: RatedItem, accounts: bool) -> dict[str, Any]:
    document: dict[str, Any] = dict(
        zip(_position_columns(accounts), _place(rating, accounts), strict=True)
    )
    document |= {name: getattr(rating, name) for name in _RATER_COLUMNS}
    document["score"] = rating.current.score
    document["low_axes"] = _listed(rating.current.low_axes)
    document["revisions"] = [
        {
            "revision": one.number,
            "score": one.score,
            "low_axes": _listed(one.low_axes),
            **{name: getattr(one, name) for name in _RATING_FIELDS},
        }
        for one in rating.revisions
    ]
    if rating.conversation is not None:
        document["conversation"] = [
            {"speaker": speaker, "text": text} for speaker, text in rating.conversation
        ]
    return document


def _listed(axes: tuple[str, ...] | None) -> list[str] | None:
    return None if axes is None else list(axes)


def _position_columns(accounts: bool) -> list[str]:
    return [*_KEY_FIELDS, "account"] if accounts else list(_KEY_FIELDS)


def _place(rating: RatedItem, accounts: bool) -> list[Cell]:
    place = [getattr(rating, name) for name in _KEY_FIELDS]
    return [*place, rating.account] if accounts else place


def _standing(rating: RatedItem) -> list[Cell]:
    return [
        rating.rater_state,
        int(rating.counts),
        rating.position,
        rating.propensity,
        rating.system_propensity,
    ]


def _axis_columns(axes: Sequence[str]) -> list[str]:
    return [f"{LOW_AXIS}{axis}" for axis in axes]


def _said(revision: RevisionRecord, axes: Sequence[str]) -> list[Cell]:
    low = revision.low_axes
    marks: list[Cell] = [None if low is None else int(axis in low) for axis in axes]
    values = [getattr(revision, name) for name in _RATING_FIELDS]
    values[0] = int(revision.flagged)
    return [revision.number, revision.score, *marks, *values]
