"""The tables of the corpus pages, as data."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from annotations.corpora.queries import shown_systems
from annotations.formats.importers.left_out import LeftOut
from annotations.formats.records import UNSPOKEN_ROLES
from annotations.models import CorpusVersion, Dialogue, LeftOutRecords, Response
from common.tables import Cell, Column, Row, Table

_COUNT = {"kind": "number", "decimals": 0}


def corpora_table(versions: Iterable[CorpusVersion]) -> Table:
    """``versions`` carry ``counts`` (``queries.corpora_with_counts``)."""
    columns = (
        Column("corpus", "Corpus", "link"),
        Column("dialogues", "Dialogues", **_COUNT),
        Column("turns", "Turns", **_COUNT, help="Places where speaker B must answer.", detail=True),
        Column("systems", "Systems", **_COUNT),
        Column("responses", "Responses", **_COUNT, detail=True),
        Column("raters", "Raters", **_COUNT, detail=True),
        Column("ratings", "Ratings", **_COUNT),
        Column("version", "Version", help="Number and start of the content's digest.", detail=True),
    )
    rows = tuple(
        Row(
            version.corpus.slug,
            {
                "corpus": Cell(
                    version.corpus.name, href=reverse("corpus", args=[version.corpus.slug])
                ),
                **{
                    name: Cell(getattr(version.counts, name))
                    for name in ("dialogues", "turns", "systems", "responses", "raters", "ratings")
                },
                "version": Cell(version.label),
            },
            badges=badges_of(version),
        )
        for version in versions
    )
    return Table("corpora", "What each corpus holds", columns, rows)


def badges_of(version: CorpusVersion) -> tuple[str, ...]:
    return (("simulated",) if version.simulated else ()) + (
        () if version.corpus.is_public else ("private",)
    )


def systems_table(version: CorpusVersion) -> Table:
    # Counted in the index, for each system: to join and group 50,000 rows takes ten times as long
    own = Response.objects.filter(system=OuterRef("pk")).order_by().values("system")
    count = Coalesce(Subquery(own.annotate(count=Count("*")).values("count")), 0)
    systems = list(shown_systems(version).annotate(response_count=count).order_by("position"))
    columns = (
        Column("system", "System"),
        Column(
            "kind",
            "Kind",
            help="Who answered: an agent, a human, the gold answer itself, a baseline.",
        ),
        Column("responses", "Responses", **_COUNT),
        *(
            [Column("description", "Description")]
            if any(one.description for one in systems)
            else []
        ),
    )
    rows = tuple(
        Row(
            f"system-{system.position}",
            {
                "system": Cell(system.name),
                "kind": Cell(system.kind),
                "responses": Cell(system.response_count),
                "description": Cell(system.description)
                if system.description
                else Cell(reason="the file says nothing"),
            },
            swatch=system.position,
        )
        for system in systems
    )
    return Table("systems", f"Systems of {version.corpus.name}", columns, rows)


def dialogues_table(version: CorpusVersion, dialogues: Iterable[Dialogue]) -> Table:
    columns = (
        Column("dialogue", "Dialogue", "link"),
        Column("turns", "Turns", **_COUNT, detail=True),
        Column("opening", "Begins with"),
    )
    rows = tuple(
        Row(
            f"dialogue-{dialogue.position}",
            {
                "dialogue": Cell(
                    dialogue.external_id,
                    href=reverse("dialogue", args=[version.corpus.slug, dialogue.position]),
                ),
                "turns": Cell(dialogue.turn_count),
                "opening": _opening(dialogue),
            },
        )
        for dialogue in dialogues
    )
    return Table("dialogues", f"Dialogues of {version.corpus.name}", columns, rows)


def _opening(dialogue: Dialogue) -> Cell:
    for message in (dialogue.first_message, dialogue.second_message):
        if message and message["text"] and message["role"] not in UNSPOKEN_ROLES:
            return Cell(message["text"])
    if not dialogue.first_context:
        return Cell(reason="no utterance comes before the answer")
    return Cell(dialogue.first_context[0][1])


def left_out_table(version: CorpusVersion) -> Table | None:
    """What the version's file held and it does not; None where it has everything."""
    stored = LeftOutRecords.objects.filter(version=version).first()
    if stored is None:
        return None
    columns = (
        Column("place", "Place", help="Line, or JSON path."),
        Column("field", "Field"),
        Column("problem", "Problem"),
        Column("record", "Record"),
    )
    found = LeftOut.of_json(stored.left_out)
    rows = tuple(
        Row(
            f"left-out-{number}",
            {
                "place": Cell(one.place),
                "field": Cell(one.field) if one.field else Cell(reason="the whole record"),
                "problem": Cell(one.problem),
                "record": Cell(one.record) if one.record else Cell(reason="not kept"),
            },
        )
        for number, one in enumerate(found.records)
    )
    caption = (
        f"Left out of {version.label}: {found.bad:,} faults, {found.skipped:,} skipped records"
    )
    return Table("left-out", caption, columns, rows)
