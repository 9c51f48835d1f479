"""A stored corpus version as the stream of records that it was imported from."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast

from annotations.corpora.queries import shown_raters, shown_systems
from annotations.formats.importers.canonical import message_of
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import (
    CorpusVersion,
    Dialogue,
    Label,
    Preference,
    Rating,
    Response,
    Sample,
    Turn,
    pseudonym_of,
)

FIRST_READ, LARGEST_READ = 50, 500
"""Dialogues."""
ROWS_A_READ = 20_000
"""About so many are held at a time: fewer dialogues are read at once where they have many ratings,
more where they are short, for Django takes milliseconds to put the queries of a read together."""


@dataclass(frozen=True)
class _Shown:
    """What is read of a version.

    ``left_out`` saves reading systems that are not among ``systems`` (names by key). To ask for
    those that are would not do: SQLite then reads all responses of each system for every part."""

    systems: Mapping[int, str]
    left_out: Set[int]
    raters_named: bool
    is_judged: bool
    has_samples: bool


def records_of(
    version: CorpusVersion, include_withheld: bool = False, raters_named: bool = True
) -> Iterator[Record]:
    """The records in the order of ``formats.records``, read some dialogues at a time. Withheld
    systems, and what was said of them, are left out unless asked for. Without ``raters_named``
    raters stand under the pseudonyms of the pages, and their comments, in which they may name
    themselves, are left out, as is the metadata of their preferences.

    Rows come in the order in which they were stored, which is the file's: so an export that names
    raters has the digest of the version.
    """
    systems, raters = (
        (version.systems.all(), version.raters.all())
        if include_withheld
        else (shown_systems(version), shown_raters(version))
    )
    # Who is shown is decided once: a system that comes while the records are read, withheld or not,
    # was not announced.
    announced = list(systems.order_by("position"))
    left_out = (
        frozenset()
        if include_withheld
        else frozenset(version.systems.filter(withheld=True).values_list("pk", flat=True))
    )
    yield CorpusRecord(
        name=version.corpus.name,
        simulated=version.simulated,
        description=version.description,
        aspects=tuple(version.aspects),
        main_aspect=version.main_aspect,
        scales=tuple((aspect, *version.scales[aspect]) for aspect in version.aspects),
        language="" if version.language_is_guess else version.language or "",
    )
    for system in announced:
        yield SystemRecord(system.name, system.kind, system.description)
    rater = None
    for rater in raters.order_by("position"):
        yield RaterRecord(rater.name if raters_named else rater.pseudonym, rater.kind)
    shown = _Shown(
        {system.pk: system.name for system in announced},
        left_out,
        raters_named,
        is_judged=rater is not None,
        has_samples=Sample.objects.filter(response__turn__dialogue__version=version).exists(),
    )
    dialogues = list(version.dialogues.order_by("position").values_list("pk", flat=True))
    start, count = 0, FIRST_READ
    while some := dialogues[start : start + count]:
        rows = yield from _records_of_dialogues(some, shown)
        start += count
        count = max(1, min(LARGEST_READ, 2 * count, count * ROWS_A_READ // max(1, rows)))


def _records_of_dialogues(pks: Sequence[int], shown: _Shown) -> Generator[Record, None, int]:
    """Returns how many rows were held."""
    responses = _responses_in(pks, shown)
    ratings: dict[int, list] = {}
    labels: dict[int, list] = {}
    preferences: dict[int, list] = {}
    if shown.is_judged:
        ratings = _by_dialogue(_ratings_in(pks, shown.left_out))
        labels = _by_dialogue(_labels_in(pks, shown.left_out))
        preferences = _by_dialogue(_preferences_in(pks, shown.left_out))
    names = frozenset(shown.systems.values())
    rows = 0
    for key, dialogue in dialogues_in(pks):
        name = dialogue.id
        yield dialogue
        rows += 1 + len(dialogue.turns) + len(dialogue.messages)
        rows += sum(len(of.get(key, ())) for of in (responses, ratings, labels, preferences))
        for _, _, turn, key_of_system, text, parts, metadata, sample in responses.get(key, ()):
            if system := shown.systems.get(key_of_system):
                yield ResponseRecord(
                    name, turn, system, text, sample, _tuple(parts), _mapping(metadata)
                )
        for _, turn, system, rater, position, aspect, score, comment in ratings.get(key, ()):
            if system in names and shown.raters_named:
                yield RatingRecord(name, turn, system, rater, aspect, score, comment)
            elif system in names:
                yield RatingRecord(name, turn, system, pseudonym_of(position), aspect, score)
        for _, turn, system, rater, position, question, value, message in labels.get(key, ()):
            if not system or system in names:
                yield LabelRecord(
                    name,
                    turn,
                    system or "",
                    rater if shown.raters_named else pseudonym_of(position),
                    question,
                    value if isinstance(value, str) else tuple(value),
                    message,
                )
        for one in preferences.get(key, ()):
            _, turn, system_a, system_b, sample_a, sample_b, preferred, rater, position, *more = one
            aspect, comment, metadata = more
            if system_a in names and system_b in names:
                yield PreferenceRecord(
                    name,
                    turn,
                    system_a,
                    system_b,
                    preferred,
                    rater if shown.raters_named else pseudonym_of(position),
                    aspect,
                    sample_a or 0,
                    sample_b or 0,
                    comment if shown.raters_named else "",
                    metadata if shown.raters_named else {},
                )
    return rows


def dialogues_in(pks: Sequence[int]) -> Iterator[tuple[int, DialogueRecord]]:
    """(key, the dialogue as it was imported), in the order of the version."""
    turns = defaultdict(list)
    for _, dialogue, number, context, references, after in sorted(
        Turn.objects.filter(dialogue__in=pks)
        .order_by()
        .values_list(
            "pk", "dialogue_id", "number", _raw("own_context"), _raw("references"), "after"
        )
    ):
        utterances = tuple(Utterance(speaker, text) for speaker, text in _tuple(context))
        turns[dialogue].append(TurnRecord(number, utterances, _tuple(references), after))
    lists = map(_raw, ("persona", "partner_persona", "messages", "knowledge"))
    for key, name, interactive, metadata, *texts in (
        Dialogue.objects.filter(pk__in=pks)
        .order_by("position")
        .values_list("pk", "external_id", "interactive", _raw("metadata"), *lists)
    ):
        persona, partner_persona, messages, knowledge = map(_tuple, texts)
        yield (
            key,
            DialogueRecord(
                name,
                persona,
                partner_persona,
                tuple(turns[key]),
                tuple(map(message_of, messages)),
                interactive,
                knowledge,
                _mapping(metadata),
            ),
        )


def _responses_in(pks: Sequence[int], shown: _Shown) -> dict[int, list[tuple[Any, ...]]]:
    """By dialogue: (key, dialogue, turn number, system, text, parts, metadata, number of the
    sample), first the responses, then further samples, as they were stored.

    They are sorted here: where SQLite is asked for an order it may read the whole table in it."""
    columns = ("text", _raw("parts"), _raw("metadata"))
    found = defaultdict(list)
    responses = Response.objects.filter(turn__dialogue__in=pks).exclude(system__in=shown.left_out)
    for row in sorted(
        responses.values_list(
            "pk", "turn__dialogue_id", "turn__number", "system_id", *columns, Value(0)
        ),
        key=itemgetter(0),
    ):
        found[row[1]].append(row)
    if shown.has_samples:
        samples = Sample.objects.filter(response__turn__dialogue__in=pks)
        turn = "response__turn"
        for row in sorted(
            samples.exclude(response__system__in=shown.left_out).values_list(
                *("pk", f"{turn}__dialogue_id", f"{turn}__number", "response__system_id"),
                *columns,
                "number",
            ),
            key=itemgetter(0),
        ):
            found[row[1]].append(row)
    return found


def _by_dialogue(rows: Iterable[tuple]) -> dict[int, list]:
    return {dialogue: list(group) for dialogue, group in groupby(rows, itemgetter(0))}


def _raw(column: str) -> Cast:
    """JSON as its text: most of it is empty and needs no decoder. A field calls one for each of
    millions of values."""
    return Cast(column, TextField())


_decoded = json.JSONDecoder().raw_decode


def _tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(_decoded(text)[0])


def _mapping(text: str) -> dict[str, Any]:
    return {} if text == "{}" else _decoded(text)[0]


def _ratings_in(dialogues: Sequence[int], left_out: Set[int]) -> Iterator[tuple]:
    """(dialogue pk, turn number or None, system, rater, rater's position, aspect, score, comment)
    as they were stored."""
    ratings = Rating.objects.of_corpora()
    columns = ("rater__name", "rater__position", "aspect", "score", "comment")
    yield from _as_stored(
        ratings.filter(response__turn__dialogue__in=dialogues).exclude(
            response__system__in=left_out
        ),
        "response__turn",
        ("response__system__name", *columns),
        ratings.filter(dialogue__in=dialogues).exclude(system__in=left_out),
        ("system__name", *columns),
    )


def _labels_in(dialogues: Sequence[int], left_out: Set[int]) -> Iterator[tuple]:
    """(dialogue pk, turn number or None, system or None, rater, rater's position, question, value,
    message or None) as they were stored."""
    columns = ("rater__name", "rater__position", "question", "value", "message")
    yield from _as_stored(
        Label.objects.filter(response__turn__dialogue__in=dialogues).exclude(
            response__system__in=left_out
        ),
        "response__turn",
        ("response__system__name", *columns),
        Label.objects.filter(dialogue__in=dialogues).exclude(
            system__in=left_out, system__isnull=False
        ),
        ("system__name", *columns),
    )


def _preferences_in(dialogues: Sequence[int], left_out: Set[int]) -> Iterator[tuple]:
    """(dialogue pk, turn number or None, both systems, both samples' numbers or None, preferred,
    rater, rater's position, aspect, comment, metadata) as they were stored."""
    columns = (
        "sample_a__number",
        "sample_b__number",
        "preferred",
        "rater__name",
        "rater__position",
        "aspect",
        "comment",
        "metadata",
    )
    yield from _as_stored(
        Preference.objects.filter(response_a__turn__dialogue__in=dialogues)
        .exclude(response_a__system__in=left_out)
        .exclude(response_b__system__in=left_out),
        "response_a__turn",
        ("response_a__system__name", "response_b__system__name", *columns),
        Preference.objects.filter(dialogue__in=dialogues)
        .exclude(system_a__in=left_out)
        .exclude(system_b__in=left_out),
        ("system_a__name", "system_b__name", *columns),
    )


def _as_stored(
    of_turns: QuerySet,
    turn: str,
    turn_columns: Sequence[str],
    of_dialogues: QuerySet,
    dialogue_columns: Sequence[str],
) -> Iterator[tuple]:
    """(dialogue pk, turn number or None, then the columns): judgements of single turns, to which
    ``turn`` leads, and of whole dialogues, by dialogue in the order in which they were stored."""
    by_turn = of_turns.order_by(f"{turn}__dialogue__position", "pk").values_list(
        f"{turn}__dialogue__position",
        "pk",
        f"{turn}__dialogue_id",
        f"{turn}__number",
        *turn_columns,
    )
    whole = of_dialogues.order_by("dialogue__position", "pk").values_list(
        "dialogue__position", "pk", "dialogue_id", *dialogue_columns
    )
    without_turn = ((*row[:3], None, *row[3:]) for row in whole)
    for row in merge(by_turn, without_turn, key=itemgetter(0, 1)):
        yield row[2:]
