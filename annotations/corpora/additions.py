"""Adding ratings, labels and responses to a corpus: a new version, made of an older one and a
table. What the older one shows does not change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotations import audit
from annotations.corpora import staging
from annotations.corpora.actions import STOOD_STILL, refuse_large, stage_part
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.addition import AddedCounts, Addition
from annotations.formats.importers.base import ImportFailed, PartSurvey, Problem, survey
from annotations.formats.importers.column_mapping import TableMapping
from annotations.models import Corpus, CorpusVersion


@dataclass(frozen=True, slots=True)
class AdditionOutcome:
    """``version``: the new one; the one that has this content already; or the old one, where the
    file adds nothing."""

    version: CorpusVersion
    created: bool
    added: AddedCounts


def addition_to(version: CorpusVersion, mapping: TableMapping | None = None) -> Addition:
    """A reader of a table that adds to the version. Withheld systems are none of it."""
    return Addition(lambda: records_of(version), mapping)


def add_to_version(
    version: CorpusVersion,
    path: Path,
    mapping: TableMapping | None = None,
    by: Any = None,
    progress: Callable[[str, int], object] = lambda _what, _records: None,
    stored: Callable[[AdditionOutcome], object] = lambda _outcome: None,
) -> AdditionOutcome:
    """Store a version that holds what ``version`` does and what the table at ``path`` adds.

    The table is checked against the version before anything is stored. A table that says nothing
    new makes no version. Rows are stored as an import's are (``actions.import_corpus``); the
    version that they make names the one that it was made of, and the file with its digest.
    ``progress`` and ``stored``: as of ``actions.import_corpus``.

    Raises:
        ImportFailed: up to 100 problems, each with its line: nothing is stored.
    """
    refuse_large(path)
    addition = addition_to(version, mapping)
    (found,) = survey(addition.importer.watched(partial(progress, "checked")), path)
    added = addition.counts
    if added.is_empty:
        outcome = AdditionOutcome(version, created=False, added=added)
        stored(outcome)
        return outcome
    assert version.corpus is not None
    staging.remove_left_behind()
    staged = None
    try:
        known = version.corpus.versions.filter(digest=found.digest).first()
        if known is None:
            staged = _staged(version, addition, path, found, progress)
        with transaction.atomic():
            if staged is not None:
                known = _attached(version, staged, found, by)
            assert known is not None
            created = known.pk == (staged and staged.pk)
            outcome = AdditionOutcome(known, created=created, added=added)
            stored(outcome)
        return outcome
    except staging.Paused:
        if staged is not None:
            staging.leave(staged)
            staged = None
        raise
    except staging.LeaseLost:
        raise ImportFailed([Problem(path.name, "", "", STOOD_STILL)]) from None
    finally:
        if staged is not None:
            staging.remove(staged)


def _staged(
    version: CorpusVersion,
    addition: Addition,
    path: Path,
    found: PartSurvey,
    progress: Callable[[str, int], object],
) -> CorpusVersion:
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return stage_part(
        addition.importer.watched(partial(progress, "stored")),
        path,
        found,
        None,  # the version's own records may change, too
        derived_from=version,
        addition={"file": path.name, "sha256": sha256, **addition.counts.as_json()},
    )


def _attached(
    version: CorpusVersion, staged: CorpusVersion, found: PartSurvey, by: Any
) -> CorpusVersion:
    """In the caller's transaction."""
    # One import of a corpus at a time
    corpus = Corpus.objects.select_for_update().filter(pk=version.corpus_id).first()
    if corpus is None:
        raise ImportFailed([Problem("", "", "", "the corpus was deleted meanwhile")])
    known = corpus.versions.filter(digest=found.digest).first()
    if known is not None:
        return known
    last = corpus.versions.aggregate(last=Max("number"))["last"] or 0
    made = staging.attach(staged, corpus, last + 1)
    audit.record(
        by,
        "corpus.extended",
        corpus,
        version=made.label,
        derived_from=version.label,
        **(made.addition or {}),
    )
    return made
