"""Cutting an evaluation set from a corpus by a metric, or by what people gave."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotations.corpora.actions import ImportOutcome, import_corpus
from annotations.corpora.record_stream import records_of
from annotations.formats.importers import jsonl
from annotations.formats.importers.canonical import canonical_line
from annotations.formats.records import CorpusRecord
from annotations.formats.subset import Place, subset
from annotations.models import CorpusVersion
from common.database import read_snapshot
from common.temporary import temporary_folder
from leaderboard.queries.response_scores import HUMAN, response_scores
from leaderboard.reproduction.evaluation_sets import Cut, TooFewError


@dataclass(frozen=True, slots=True)
class CutSet:
    """``score``: what they were chosen by; ``of``: how many responses have it."""

    places: list[Place]
    score: str
    of: int
    mean: float
    by_system: dict[str, int]
    description: str


def cut_set(version: CorpusVersion, by: str, aspect: str, cut: Cut) -> CutSet:
    """``by``: as ``response_scores`` takes it.

    Raises:
        ConfigurationError, NotFound: no response has such a score.
        TooFewError: fewer responses than asked for, or none, fulfil the conditions.
    """
    scores = response_scores(version, by, aspect)
    places = cut.of(scores.by_place)
    if not places:
        raise TooFewError("no response fulfils the conditions")
    score = f"human score ({aspect})" if scores.of == HUMAN else scores.of
    return CutSet(
        places,
        score,
        len(scores.by_place),
        math.fsum(scores.by_place[place] for place in places) / len(places),
        dict(sorted(Counter(system for _, _, system in places).items())),
        f"{len(places)} responses of {version.corpus.slug} {version.label} by {score}: {cut.text}.",
    )


def write_set(version: CorpusVersion, chosen: CutSet, path: Path) -> None:
    """As a file of the format jsonl, whose description says how the set was cut."""
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        for record in subset(records_of(version), set(chosen.places)):
            if isinstance(record, CorpusRecord):
                parts = (record.description, chosen.description)
                record = replace(record, description="\n\n".join(filter(None, parts)))
            lines.write(canonical_line(record) + "\n")


def store_set(
    version: CorpusVersion,
    by: str,
    aspect: str,
    cut: Cut,
    *,
    slug: str,
    name: str,
    is_public: bool,
    user: Any,
) -> ImportOutcome:
    """As a corpus of its own. Raises what ``cut_set`` and ``import_corpus`` do."""
    with temporary_folder() as folder:
        path = folder / f"{slug}.jsonl"
        with read_snapshot():
            write_set(version, cut_set(version, by, aspect, cut), path)
        (outcome,) = import_corpus(
            jsonl.IMPORTER, path, slug, name, is_public=is_public, by=user, may_exist=False
        )
    return outcome
