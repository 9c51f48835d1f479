"""A stored corpus version as the stream of records that it was imported from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter

from django.db.models import QuerySet

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

DIALOGUES_A_READ = 50


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
    shown = frozenset(system.name for system in announced)
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
    for rater in raters.order_by("position"):
        yield RaterRecord(rater.name if raters_named else rater.pseudonym, rater.kind)
    dialogues = list(version.dialogues.order_by("position").values_list("pk", flat=True))
    for start in range(0, len(dialogues), DIALOGUES_A_READ):
        some = dialogues[start : start + DIALOGUES_A_READ]
        yield from _records_of_dialogues(some, shown, left_out, raters_named)


def _records_of_dialogues(
    pks: Sequence[int], shown: Set[str], left_out: Set[int], raters_named: bool
) -> Iterator[Record]:
    """``left_out`` saves reading what will not be ``shown``. To ask for those that are would not
    do: SQLite then reads all responses of each system for every part."""
    turns = _by_dialogue(
        Turn.objects.filter(dialogue__in=pks).order_by("dialogue__position", "pk"),
        attrgetter("dialogue_id"),
    )
    responses = _by_dialogue(
        Response.objects.filter(turn__dialogue__in=pks)
        .exclude(system__in=left_out)
        .order_by("turn__dialogue__position", "pk")
        .values_list(
            "turn__dialogue_id", "turn__number", "system__name", "text", "parts", "metadata"
        ),
        itemgetter(0),
    )
    samples = _by_dialogue(
        Sample.objects.filter(response__turn__dialogue__in=pks)
        .exclude(response__system__in=left_out)
        .order_by("response__turn__dialogue__position", "pk")
        .values_list(
            "response__turn__dialogue_id",
            "response__turn__number",
            "response__system__name",
            "text",
            "parts",
            "metadata",
            "number",
        ),
        itemgetter(0),
    )
    ratings = _by_dialogue(_ratings_in(pks, left_out), itemgetter(0))
    labels = _by_dialogue(_labels_in(pks, left_out), itemgetter(0))
    preferences = _by_dialogue(_preferences_in(pks, left_out), itemgetter(0))
    for dialogue in Dialogue.objects.filter(pk__in=pks).order_by("position"):
        name = dialogue.external_id
        yield dialogue_record(dialogue, turns.get(dialogue.pk, ()))
        for _, turn, system, text, parts, metadata, *number in (
            *responses.get(dialogue.pk, ()),
            *samples.get(dialogue.pk, ()),
        ):
            if system in shown:
                sample = number[0] if number else 0
                yield ResponseRecord(name, turn, system, text, sample, tuple(parts), metadata)
        for _, turn, system, rater, position, aspect, score, comment in ratings.get(
            dialogue.pk, ()
        ):
            if system in shown and raters_named:
                yield RatingRecord(name, turn, system, rater, aspect, score, comment)
            elif system in shown:
                yield RatingRecord(name, turn, system, pseudonym_of(position), aspect, score)
        for _, turn, system, rater, position, question, value, message in labels.get(
            dialogue.pk, ()
        ):
            if not system or system in shown:
                yield LabelRecord(
                    name,
                    turn,
                    system or "",
                    rater if raters_named else pseudonym_of(position),
                    question,
                    value if isinstance(value, str) else tuple(value),
                    message,
                )
        for one in preferences.get(dialogue.pk, ()):
            _, turn, system_a, system_b, sample_a, sample_b, preferred, rater, position, *more = one
            aspect, comment, metadata = more
            if system_a in shown and system_b in shown:
                yield PreferenceRecord(
                    name,
                    turn,
                    system_a,
                    system_b,
                    preferred,
                    rater if raters_named else pseudonym_of(position),
                    aspect,
                    sample_a or 0,
                    sample_b or 0,
                    comment if raters_named else "",
                    metadata if raters_named else {},
                )


def _by_dialogue(rows, dialogue_of) -> dict[int, list]:
    return {dialogue: list(group) for dialogue, group in groupby(rows, dialogue_of)}


def dialogue_record(dialogue: Dialogue, turns: Iterable[Turn]) -> DialogueRecord:
    """A stored dialogue with these turns of it, as it was imported."""
    return DialogueRecord(
        dialogue.external_id,
        tuple(dialogue.persona),
        tuple(dialogue.partner_persona),
        tuple(
            TurnRecord(
                turn.number,
                tuple(Utterance(speaker, text) for speaker, text in turn.own_context),
                tuple(turn.references),
                turn.after,
            )
            for turn in turns
        ),
        tuple(message_of(message) for message in dialogue.messages),
        dialogue.interactive,
        tuple(dialogue.knowledge),
        dialogue.metadata,
    )


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
