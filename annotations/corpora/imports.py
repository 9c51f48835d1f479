"""Storing a file that an organiser sent as a corpus: at once, or, where it is too large for a
request, by a worker (``workers.imports``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.corpora import actions, pending_uploads
from annotations.corpora.forms import EVERYBODY, mapping_in
from annotations.corpora.pending_uploads import PendingUpload
from annotations.formats.importers import table
from annotations.formats.importers.base import Importer
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers
from annotations.models import CorpusImport

IMMEDIATE_BYTES = 5_000_000
"""A larger file is stored by a worker: of this one the checking and storing take about 2 s."""
ADDS_TO = "adds_to"
"""The field of an import that adds a table to a corpus: the key of its version."""
DOWNLOAD = "download "
"""Begins ``stored`` of a job whose file is not here yet: no file has such a name."""
UNDER_WAY = (CorpusImport.State.PENDING, CorpusImport.State.RUNNING)

State = CorpusImport.State


def importer_of(fields: Mapping[str, str]) -> Importer:
    """Of the chosen format; of a table with what its columns are said to be."""
    importer, mapping = importers()[fields["format"]], mapping_in(fields)
    return table.with_mapping(mapping) if mapping and importer is table.IMPORTER else importer


def import_file(
    path: Path, fields: Mapping[str, str], by: Any, source: str, **watch: Callable[..., object]
) -> list[actions.ImportOutcome]:
    """Store the file at ``path`` as the form (``CorpusForm.choices``) says. ``watch``, and what is
    raised: as of ``actions.import_corpus``."""
    return actions.import_corpus(
        importer_of(fields),
        path,
        fields["slug"],
        fields["name"],
        is_public=fields["seen_by"] == EVERYBODY,
        by=by,
        may_exist="is_new_version" in fields,
        language=fields["language"],
        good_only="good_only" in fields,
        source=source,
        **watch,
    )


def start(
    upload: PendingUpload, size: int, fields: Mapping[str, str], by: Any, sha256: str = ""
) -> CorpusImport:
    """Let a worker store the file. Of two presses of a button the second gets the import of the
    first. ``sha256``: what the file must have."""
    values = {"file_name": upload.name, "size": size, "source": upload.source, "sha256": sha256}
    with transaction.atomic():
        job, is_new = CorpusImport.objects.exclude(
            state__in=[State.FAILED, State.CANCELLED]
        ).get_or_create(
            stored=upload.stored,
            defaults={**values, "fields": dict(fields), "created_by": by},
        )
        if is_new:
            CorpusImport.objects.notify_on_commit(job.pk)
    return job


def start_download(address: str, fields: Mapping[str, str], by: Any) -> CorpusImport:
    """Let a worker download what an address names; then it is shown as a file that was sent. Of two
    presses of a button the second gets the download of the first."""
    with transaction.atomic():
        under_way = CorpusImport.objects.filter(created_by=by, source=address, state__in=UNDER_WAY)
        job = under_way.filter(stored__startswith=DOWNLOAD).first()
        if job is None:
            job = CorpusImport.objects.create(
                stored=f"{DOWNLOAD}{token_hex(16)}",
                file_name=address[:255],
                size=0,
                source=address,
                fields={**fields, "address": address},
                created_by=by,
            )
            CorpusImport.objects.notify_on_commit(job.pk)
    return job


def cancel(job: CorpusImport, by: Any) -> bool:
    """Its worker notices within a second or two, and removes what it has stored; the file stays for
    a day. False where the import has ended."""
    error = _("cancelled by %(who)s") % {"who": by.get_username()}
    under_way = CorpusImport.objects.filter(pk=job.pk, state__in=UNDER_WAY)
    with transaction.atomic():
        is_cancelled = bool(under_way.end(State.CANCELLED, error=error))
        if is_cancelled:
            slug = job.fields.get("slug", "")
            audit.record(by, "corpus.import_cancelled", slug or job.file_name, file=job.file_name)
    return is_cancelled


def shown_imports() -> QuerySet[CorpusImport]:
    """Those under way, and those that failed within a day, whose files are still there."""
    lately = timezone.now() - timedelta(seconds=pending_uploads.MAX_AGE)
    failed = Q(state=State.FAILED, finished_at__gt=lately)
    return CorpusImport.objects.filter(Q(state__in=UNDER_WAY) | failed)


def failed_imports() -> QuerySet[CorpusImport]:
    """Those of ``shown_imports`` that failed, and whose file nobody has sent to a worker again."""
    again = CorpusImport.objects.exclude(state=State.FAILED).values("stored")
    return shown_imports().filter(state=State.FAILED).exclude(stored__in=again).order_by("-pk")


def latest_of(upload: PendingUpload) -> CorpusImport | None:
    return CorpusImport.objects.filter(stored=upload.stored).first()


def stored_corpora(outcomes: Sequence[actions.ImportOutcome]) -> list[dict[str, Any]]:
    """What a page tells of each corpus of a file."""
    counted = ("dialogues", "turns", "systems", "responses", "ratings")
    return [
        {
            "slug": one.version.corpus.slug,
            "version": one.version.label,
            "newest": one.newest.label,
            "is_new": one.created,
            "left_out": one.survey.skipped_count + len(one.survey.left_out),
            **{name: getattr(one.survey.counts, name) for name in counted},
        }
        for one in outcomes
        if one.version.corpus is not None
    ]


def problems_of(failure: ImportFailed, file_name: str) -> list[str]:
    """With the sender's name of the file, not with the one that it has here."""
    return [str(replace(problem, file=file_name)) for problem in failure.problems]
