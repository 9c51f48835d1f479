"""The anonymised export: a campaign's ratings as files, CSV of what counts now, CSV of every
revision, JSON lines with all of it.

One line at a time: a million ratings pass through without being held. Raters stand under
pseudonyms; the column (key) ``account`` is there only where account names were asked for, and so
tells which kind of file it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotations.formats.exporters.csv_tables import Cell
from common.tables.csv_text import csv_heading, csv_line

LOW_AXIS = "low_"
"""What an axis's column begins with: 1 where marked low, 0 where asked and not, empty where not
asked."""


COLUMNS = {
    "campaign": "its slug",
    "corpus": "its slug",
    "corpus_version": "its label",
    "item": "the item's public id",
    "role": "`regular`, `training` or `attention`",
    "dialogue": "its id in the corpus",
    "turn": "its number; empty at dialogue level",
    "system": "its name in the corpus, of a chat the chat system's; empty for a check with a "
    "text of "
    "its own",
    "system_b": "of campaigns of pairs only: the system that was shown second; `system` is the "
    "first, and A in the answers",
    "systems": "of campaigns of lists only: the names as JSON, in the order shown, by which the "
    "answers name them 1, 2, …",
    "rater": "the pseudonym, `rater 3`",
    "account": "only where names were asked for: the log-in name; empty where it was deleted",
    "rater_state": "`active` or `excluded`",
    "counts": "1 where it is one of the item's k ratings",
    "position": "the place of the item in the rater's order of work",
    "propensity": "the probability with which the item was drawn: docs/campaigns.md",
    "system_propensity": "the probability with which the item's system was drawn, where ratings "
    "are "
    "spread adaptively (docs/statistics_allocation.md); else empty",
    "current": "of revisions only: 1 for the one that holds",
    "revision": "its number, from 1",
    "score": "1 to 5",
    "low_<axis>": "one column an axis: 1 marked low, 0 asked and not marked, empty where not asked",
    "form": "of a campaign with a form, in place of score and axes: the number of the version that "
    "was answered",
    "answer_<question>": "one column a question, as JSON; a text as it is; empty where it was not "
    "answered",
    "flagged": "0 or 1",
    "comment": "text",
    "guidelines": "number of the version that the rater had",
    "first_key_ms": "milliseconds from when the item could first be seen, by the browser; empty "
    "where it sent none: docs/campaigns.md",
    "submit_ms": "the same, when it was sent",
    "active_ms": "the same, without the time in which nothing was done",
    "shown_at": "when it could first be seen, by the browser's clock",
    "created_at": "when it was stored",
}
"""Of the CSV files, in their order, with what is in each: for the reference pages."""


Compared = Literal["", "system_b", "systems"]
"""The column of the other systems: of pairs, of lists."""


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """One revision of a rating.

    Attributes:
        number: revision number, from 1.
        score: rating value.
        low_axes: keys of the axes marked low; None where axes were not asked.
        flagged: whether the rater flagged the item.
        comment: text, "" for none.
        guidelines: number of the version that the rater had; None for none.
        first_key_ms: milliseconds from showing the item, by the browser; None where it sent none.
        submit_ms: likewise.
        active_ms: likewise, without the time in which nothing was done.
        shown_at: when the item could first be seen, by the browser; ISO 8601 in UTC.
        created_at: when the revision was stored; ISO 8601 in UTC.
        form: number of the version of the campaign's form; None where it has none.
        answers: to the form, by question; None where there is none.
        question_ms: when each question was answered last, in milliseconds from showing the item.
    """

    number: int
    score: int | None
    low_axes: tuple[str, ...] | None
    flagged: bool
    comment: str
    guidelines: int | None
    first_key_ms: int | None
    submit_ms: int | None
    active_ms: int | None
    shown_at: str | None
    created_at: str
    form: int | None = None
    answers: Mapping[str, Any] | None = None
    question_ms: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RatedItem:
    """One rater's rating of one item, with every revision; the last one holds.

    Attributes:
        campaign: short name of the campaign.
        corpus: short name of the corpus.
        corpus_version: label of the version.
        item: public id of the item.
        role: regular, training or attention.
        dialogue: id of the dialogue in the corpus.
        turn: number of the turn; None at dialogue level.
        system: name of the system; None for a check written by the organiser.
        rater: pseudonym.
        account: log-in name, "" where the account was deleted; None unless asked for.
        rater_state: active or excluded.
        counts: whether it is one of the item's k ratings.
        position: index of the item in the rater's order of work.
        propensity: probability with which the item was sampled, in (0, 1]; None where unknown.
        revisions: oldest first, at least one.
        system_propensity: probability with which the item's system was sampled, in (0, 1]; None
            unless ratings are allocated adaptively.
        conversation: of a chat, (speaker, text), oldest first; else None.
        system_b: of a pair, name of the system that was shown second, ``system`` being the first;
            else None.
        systems: of a list, the systems' names in the order shown; else ().
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
    system_b: str | None = None
    systems: tuple[str, ...] = ()

    @property
    def current(self) -> RevisionRecord:
        return self.revisions[-1]


@dataclass(frozen=True, slots=True)
class AdjudicatedItem:
    """What was decided of an item whose raters differ: a value of its own, no rating.

    Attributes:
        campaign: short name of the campaign; ``corpus``, ``corpus_version``, ``item``,
            ``dialogue``, ``turn`` and ``system`` as of ``RatedItem``.
        system_b: the second system of a pair; None elsewhere. Answers are as if the first system
            were shown first.
        decided_by: "organiser", or the pseudonym of the further rater.
        points: of the rule: scores so far apart are adjudicated.
        score: the value; None where the campaign has a form.
        form: number of the form's version; None where it has none.
        answers: to the form, by question; None where it has none.
        comment: text, "" for none.
        decided_at: ISO 8601 in UTC.
    """

    campaign: str
    corpus: str
    corpus_version: str
    item: str
    dialogue: str
    turn: int | None
    system: str | None
    points: float
    score: int | None
    form: int | None
    answers: Mapping[str, Any] | None
    comment: str
    decided_at: str
    system_b: str | None = None
    decided_by: str = "organiser"


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
    ratings: Iterable[RatedItem],
    axes: Sequence[str],
    accounts: bool = False,
    questions: Sequence[str] | None = None,
    compared: Compared = "",
) -> Iterator[str]:
    """CSV of the current ratings, one row per rating.

    Args:
        ratings: in the order of the rows.
        axes: keys of the axes, each of which gets a column ``low_KEY``: 1 where marked low, 0 where
            asked and not marked, empty where not asked.
        accounts: include the column ``account``.
        questions: keys of the form's questions, each of which gets a column ``answer_KEY`` in place
            of the score; None where the campaign has no form.
        compared: include the column ``system_b`` of pairs, or ``systems`` of lists.

    Returns:
        Iterator over lines that end in CR LF, first the heading line behind a byte order mark. The
        column ``revision`` is the number of the current revision.
    """
    head = [*_position_columns(accounts, compared), *_RATER_COLUMNS]
    yield csv_heading([*head, "revision", *_judgement_columns(axes, questions), *_RATING_FIELDS])
    for rating in ratings:
        place = [
            _answer(list(one)) if isinstance(one, tuple) else one
            for one in _place(rating, accounts, compared)
        ]
        cells = [*place, *_standing(rating)]
        yield csv_line([*cells, *_judgement_cells(rating.current, axes, questions)])


def csv_of_revisions(
    ratings: Iterable[RatedItem],
    axes: Sequence[str],
    accounts: bool = False,
    questions: Sequence[str] | None = None,
    compared: Compared = "",
) -> Iterator[str]:
    """CSV of ratings with their history, one row per revision.

    Args:
        ratings: in the order of the rows.
        axes: keys of the axes, as in ``csv_of_ratings``.
        accounts: include the column ``account``.
        questions: keys of the form's questions, each of which gets a column ``answer_KEY`` in place
            of the score; None where the campaign has no form.
        compared: include the column ``system_b`` of pairs, or ``systems`` of lists.

    Returns:
        Iterator over lines that end in CR LF, first the heading line behind a byte order mark. The
        column ``current`` is 1 for the revision that holds, else 0.
    """
    head = [*_position_columns(accounts, compared), *_RATER_COLUMNS]
    yield csv_heading(
        [*head, "current", "revision", *_judgement_columns(axes, questions), *_RATING_FIELDS]
    )
    for rating in ratings:
        place = [
            _answer(list(one)) if isinstance(one, tuple) else one
            for one in _place(rating, accounts, compared)
        ]
        cells = [*place, *_standing(rating)]
        for revision in rating.revisions:
            yield csv_line(
                [
                    *cells,
                    int(revision is rating.current),
                    *_judgement_cells(revision, axes, questions),
                ]
            )


def csv_of_adjudications(
    items: Iterable[AdjudicatedItem],
    questions: Sequence[str] | None = None,
    pairs: bool = False,
) -> Iterator[str]:
    """CSV of adjudicated values, one row per item.

    Args:
        items: in the order of the rows.
        questions: as in ``csv_of_ratings``.
        pairs: include the column ``system_b``.

    Returns:
        Iterator over lines, as of ``csv_of_ratings``.
    """
    place = ["campaign", "corpus", "corpus_version", "item", "dialogue", "turn", "system"]
    place += [*(["system_b"] if pairs else []), "points"]
    value = ["score"] if questions is None else ["form", *(f"answer_{key}" for key in questions)]
    yield csv_heading([*place, *value, "comment", "decided_at", "decided_by"])
    for one in items:
        cells: list[Cell] = [getattr(one, name) for name in place]
        if questions is None:
            cells.append(one.score)
        else:
            given = one.answers or {}
            answers = [_answer(given[key]) if key in given else None for key in questions]
            cells += [one.form, *answers]
        yield csv_line([*cells, one.comment, one.decided_at, one.decided_by])


def json_lines(ratings: Iterable[RatedItem], accounts: bool = False) -> Iterator[str]:
    """JSON lines of ratings with their revisions, one object per rating.

    Args:
        ratings: in the order of the lines.
        accounts: include the key ``account``.

    Returns:
        Iterator over lines that end in LF. Undefined values are null; the object of a chat also
        holds its ``conversation``.
    """
    for rating in ratings:
        document = rating_as_json(rating, accounts)
        yield json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def rating_as_json(rating: RatedItem, accounts: bool = False) -> dict[str, Any]:
    """A rating with its revisions as data: a line of the exported JSON lines.

    Args:
        rating: one rater's rating of one item.
        accounts: include the key ``account``.

    Returns:
        JSON-compatible data, as ``json_lines`` describes it.
    """
    compared: Compared = "systems" if rating.systems else "system_b" if rating.system_b else ""
    document: dict[str, Any] = dict(
        zip(_position_columns(accounts, compared), _place(rating, accounts, compared), strict=True)
    )
    document |= {name: getattr(rating, name) for name in _RATER_COLUMNS}
    document |= _judgement_as_json(rating.current)
    document["revisions"] = [
        {
            "revision": one.number,
            **_judgement_as_json(one),
            **{name: getattr(one, name) for name in _RATING_FIELDS},
        }
        for one in rating.revisions
    ]
    if rating.conversation is not None:
        document["conversation"] = [
            {"speaker": speaker, "text": text} for speaker, text in rating.conversation
        ]
    return document


def _judgement_as_json(revision: RevisionRecord) -> dict[str, Any]:
    if revision.answers is None:
        return {"score": revision.score, "low_axes": _listed(revision.low_axes)}
    return {
        "form": revision.form,
        "answers": revision.answers,
        "question_ms": revision.question_ms,
    }


def _listed(axes: tuple[str, ...] | None) -> list[str] | None:
    return None if axes is None else list(axes)


def _position_columns(accounts: bool, compared: Compared) -> list[str]:
    *place, rater = _KEY_FIELDS
    return [*place, *([compared] if compared else []), rater, *(["account"] if accounts else [])]


def _place(rating: RatedItem, accounts: bool, compared: Compared) -> list[Any]:
    return [getattr(rating, name) for name in _position_columns(accounts, compared)]


def _standing(rating: RatedItem) -> list[Cell]:
    return [
        rating.rater_state,
        int(rating.counts),
        rating.position,
        rating.propensity,
        rating.system_propensity,
    ]


def _judgement_columns(axes: Sequence[str], questions: Sequence[str] | None) -> list[str]:
    if questions is not None:
        return ["form", *(f"answer_{key}" for key in questions)]
    return ["score", *(f"{LOW_AXIS}{axis}" for axis in axes)]


def _judgement_cells(
    revision: RevisionRecord, axes: Sequence[str], questions: Sequence[str] | None
) -> list[Cell]:
    values = [getattr(revision, name) for name in _RATING_FIELDS]
    values[0] = int(revision.flagged)
    if questions is not None:
        given = revision.answers or {}
        answers = [_answer(given[key]) if key in given else None for key in questions]
        return [revision.number, revision.form, *answers, *values]
    low = revision.low_axes
    marks: list[Cell] = [None if low is None else int(axis in low) for axis in axes]
    return [revision.number, revision.score, *marks, *values]


def _answer(answer: Any) -> Cell:
    if isinstance(answer, str | int | float) and not isinstance(answer, bool):
        return answer
    return json.dumps(answer, ensure_ascii=False, allow_nan=False)
