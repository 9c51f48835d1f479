"""Making a backup while the site is in use: rows as they were in one moment, then the files that
those rows name. No restore runs meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from common import storage
from common.database import read_snapshot
from common.version import VERSION
from dialeval_site.operations.backups import apart, archive, portable
from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import stored_name
from workers.inference.model_files import ModelError
from workers.training.core import trained_models
from workers.training.core.checkpoint import CONFIG

PART_BYTES, LINE_BYTES, MOST_ROWS = 4_000_000, 500_000, 5_000
NOT_IN_IT = (
    "SECRET_KEY and every other setting of the environment, log-ins (sessions), caches of "
    "features, word lists, logs, and what waits in the broker"
)

ProgressCallback = Callable[[str, int, int], None]
"""Hears a table's or a folder's name, how many rows or files were written of all, and how many
there are."""


@dataclass
class Made:
    rows: int = 0
    tables: int = 0
    files: int = 0
    model_files: int = 0
    missing: list[str] = field(default_factory=list)
    """Files that a row names and that are not there: deleted meanwhile, or lost before."""
    lost: int = 0
    """Uploads among them whose rows were still there afterwards: nobody deleted those."""


def make(
    to: Path,
    with_models: bool = False,
    progress: ProgressCallback = lambda *_: None,
    waits: apart.Say = lambda _: None,
) -> Made:
    """Writes the backup ``to`` and says what it holds; ``waits`` hears whom it waits for. Raises
    ``OSError``, and leaves nothing then."""
    made = Made()
    with apart.nobody_restores(waits), archive.written(to) as file:
        with read_snapshot():
            apart.wait_for_a_restore(waits)
            about = {
                "kind": archive.KIND,
                "format": archive.FORMAT,
                "dialeval": VERSION,
                "made_at": datetime.now(UTC).isoformat(),
                "database": connection.vendor,
            }
            file.add_document(archive.ABOUT, about)
            tables, migrations, uploads = _rows(file, made, progress), _migrations(), _uploads()
        _add_uploads(file, uploads, made, progress)
        if with_models:
            _add_models(file, made, progress)
        file.add_document(
            archive.MANIFEST,
            {
                **about,
                "migrations": migrations,
                "tables": tables,
                "files": made.files,
                "with_models": with_models,
                "missing": made.missing,
                "not_in_it": NOT_IN_IT,
                "digests": file.digests,
            },
        )
    if made.missing:
        made.lost = len({f"uploads/{name}" for name in _uploads()}.intersection(made.missing))
    return made


def _migrations() -> dict[str, list[str]]:
    applied: dict[str, list[str]] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        applied.setdefault(app, []).append(name)
    return applied


def _uploads() -> list[str]:
    return list(Submission.objects.order_by("pk").values_list("stored_as", flat=True))


def _rows(file: archive.Writer, made: Made, progress: ProgressCallback) -> dict[str, Any]:
    models = portable.tables()
    counts = {model._meta.db_table: _count(model) for model in models}
    total = sum(counts.values())
    described: dict[str, Any] = {}
    for model in models:
        table, before = model._meta.db_table, made.rows
        for part, (content, rows) in enumerate(_parts(model), start=1):
            file.add(f"tables/{table}/{part:06d}.jsonl", content)
            made.rows += rows
            progress(table, made.rows, total)
        described[table] = {
            "columns": portable.columns(model),
            "rows": made.rows - before,
            "last_id": last_id(model),
        }
    made.tables = len(models)
    return described


def _count(model: type[Model]) -> int:
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(model._meta.db_table)
        cursor.execute(f"SELECT COUNT(*) FROM {table}")  # noqa: S608
        return int(cursor.fetchone()[0])


def last_id(model: type[Model]) -> int | None:
    """The last key that the database gave, whose row may be gone: none is ever given twice. None
    where keys are not given by the database."""
    if model._meta.auto_field is None:
        return None
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = %s", [model._meta.db_table]
            )
        else:
            cursor.execute(
                "SELECT pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass)",
                [connection.ops.quote_name(model._meta.db_table), model._meta.auto_field.column],
            )
        row = cursor.fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def _parts(model: type[Model]) -> Iterator[tuple[bytes, int]]:
    """Parts of some megabytes, however large a row is: a few lines, each a list of as many rows as
    fit."""
    lines: list[bytes] = []
    size = rows = 0
    for block in _blocks(model):
        lines.append(block[0])
        size += len(block[0])
        rows += block[1]
        if size >= PART_BYTES:
            yield b"".join(lines), rows
            lines, size, rows = [], 0, 0
    if lines:
        yield b"".join(lines), rows


def _blocks(model: type[Model]) -> Iterator[tuple[bytes, int]]:
    """Fewer rows at a time where rows are large: memory holds about a line."""
    most = 50
    with connection.chunked_cursor() as cursor:
        cursor.execute(portable.selection(model))
        while rows := cursor.fetchmany(most):
            line = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            yield line, len(rows)
            most = max(1, min(MOST_ROWS, LINE_BYTES * len(rows) // len(line)))


def _add_uploads(
    file: archive.Writer, names: list[str], made: Made, progress: ProgressCallback
) -> None:
    for name in names:
        try:
            with storage.opened(stored_name(name)) as source:
                _add(file, f"files/uploads/{name}", source)
        except FileNotFoundError:
            made.missing.append(f"uploads/{name}")
            continue
        made.files += 1
        progress("uploads", made.files, len(names))


def _add_models(file: archive.Writer, made: Made, progress: ProgressCallback) -> None:
    for model in trained_models.models_here():
        try:
            folder = trained_models.files_of(model).folder  # fetched, where another machine made it
        except ModelError:
            made.missing.append(f"trained/{model.name}")
            continue
        _add_folder(file, f"trained/{model.name}", folder, made, progress)
    _add_folder(file, "training", Path(settings.HOME) / "training", made, progress)


def _add_folder(
    file: archive.Writer, place: str, folder: Path, made: Made, progress: ProgressCallback
) -> None:
    """``config.json`` comes last of each folder: whoever reads half of one sees no model."""
    for path in sorted(
        folder.rglob("*"), key=lambda path: (path.parent, path.name == CONFIG, path.name)
    ):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_symlink()
            or not path.is_file()
            or any(part.startswith(".") for part in name.split("/"))
        ):
            continue  # what is being written, or being removed
        try:
            with path.open("rb") as source:
                _add(file, f"models/{place}/{name}", source)
        except FileNotFoundError:
            made.missing.append(f"{place}/{name}")
            continue
        made.model_files += 1
        progress("models", made.model_files, made.model_files)


def _add(file: archive.Writer, name: str, source: IO[bytes]) -> None:
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    file.add_file(name, source, size)
