"""Restoring a backup: first all of it is checked, then its rows are loaded in one transaction, with
the files that they name. Where anything is wrong, the site is as it was; what was restored halfway
is restored again.

A backup of an older dialeval is loaded into tables as they were then, and migrated from there, in
the same transaction; so is a database of an older dialeval migrated before: one that is refused, or
whose restore fails, stays as it was. Models take their places after that transaction; where one
cannot, the rows stay, and it is said.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.executor import MigrationExecutor

from annotations import audit, site_identity
from annotations.console import one_migrates
from annotations.site_identity import ForeignFiles
from common import storage
from common.storage import StorageAway
from common.temporary import temporary_folder
from dialeval_site.operations.backups import apart, archive, loading, portable
from dialeval_site.operations.backups.archive import ArchiveError, Member
from leaderboard.challenges.uploads import incoming_folder, stored_name
from workers.training import remote

RESTORED = "site.restored"
_BEFORE = ".before-restore-"
"""Begins the name of a model's folder for the moment in which that of the backup takes its
place."""
ProgressCallback = Callable[[str, int, int], None]
"""Hears a table's or a folder's name, how many rows were loaded, and how many there are. While the
file is checked: "", and bytes."""


class Refused(Exception):
    """Nothing was changed; the message is for people."""


@dataclass
class Restored:
    made_at: str = ""
    dialeval: str = ""
    rows: int = 0
    tables: int = 0
    files: int = 0
    models: int = 0
    existing: list[str] = field(default_factory=list)
    """Models that were here already under such a name, and stayed."""
    missing: list[str] = field(default_factory=list)
    """Files that were not there when the backup was made."""
    undone: list[str] = field(default_factory=list)
    """What failed when the rows were already there to stay, in words for people: models are not
    where they belong."""


def restore(
    path: Path,
    replace: bool = False,
    progress: ProgressCallback = lambda *_: None,
    waits: apart.Say = lambda _: None,
) -> Restored:
    """``waits`` hears whom it waits for. Raises ``Refused``, ``ArchiveError`` and ``OSError``, and
    then the database is as it was."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        manifest = archive.checked(file, lambda done: progress("", done, size))
        with apart.nobody_backs_up(waits), one_migrates():
            state = _State(manifest["migrations"], str(manifest["dialeval"]))
            _refuse_unfit(manifest, state)
            if not replace:
                _refuse_unless_empty()
            return _restored(path.name, file, manifest, state, replace, progress, waits)


def _restored(
    name: str,
    file: IO[bytes],
    manifest: dict[str, Any],
    state: _State,
    replace: bool,
    progress: ProgressCallback,
    waits: apart.Say,
) -> Restored:
    done = Restored(
        str(manifest["made_at"]), str(manifest["dialeval"]), missing=list(manifest["missing"])
    )
    with _models_aside() as aside:
        try:
            with loading.one_transaction():
                state.make_tables()
                identity = site_identity.identity()
                with suppress(StorageAway):  # a site without uploads is restored all the same
                    _refuse_foreign_files(identity)
                apart.wait_for_everybody(waits)
                with loading.without_triggers():
                    loading.empty(portable.all_tables())
                    state.go_back()
                    _load(file, manifest, state, aside, done, progress, identity)
                    loading.check_keys()
                    state.go_on()
                # Kinds and permissions that came after it
                call_command("migrate", interactive=False, verbosity=0)
                site_identity.set_identity(identity)
                words = {
                    "made_at": done.made_at,
                    "dialeval": done.dialeval,
                    "rows": done.rows,
                    "replaced": replace,
                }
                audit.record(None, RESTORED, name, **words)
        except DatabaseError as fault:
            why = str(fault).strip().splitlines()[0]
            raise Refused(f"the database does not take these rows: {why}") from fault
        _install_models(aside, replace, done)
    with suppress(OSError):  # what is wrong is said where the site starts
        site_identity.check()
    if manifest["with_models"]:
        _send_models(done)
    return done


class _State:
    """The tables as the backup's dialeval had them, and the way there and on."""

    def __init__(self, applied: dict[str, list[str]], dialeval: str) -> None:
        graph = MigrationExecutor(connection).loader.graph
        self._then = {(app, name) for app, names in applied.items() for name in names}
        known = set(graph.nodes)
        if unknown := sorted(self._then - known):
            app, name = unknown[0]
            raise Refused(
                "the backup is of a newer dialeval, or of another one: it has the migration "
                f"{app}.{name}"
            )
        _refuse_gaps(graph, self._then, dialeval)
        self.is_older = bool(known - self._then)
        self._now = graph.leaf_nodes()
        self._targets = [
            node for node in graph.nodes if node in self._then and self._is_last(graph, node)
        ]
        self._gone: list[tuple[str, None]] = [
            (app, None) for app in sorted({app for app, _ in known} - set(applied))
        ]
        self.registry: Any = apps
        if self.is_older:
            self.registry = MigrationExecutor(connection).loader.project_state(self._targets).apps

    def _is_last(self, graph: Any, node: tuple[str, str]) -> bool:
        children = {child.key for child in graph.node_map[node].children}
        return not any(child in self._then and child[0] == node[0] for child in children)

    def make_tables(self) -> None:
        """An empty database gets its tables; one whose migrations are incomplete gets the rest."""
        if MigrationExecutor(connection).migration_plan(self._now):
            self._migrate(self._now)

    def go_back(self) -> None:
        """Empty tables of today become empty tables of then."""
        if not self.is_older:
            return
        try:
            self._migrate([*self._targets, *self._gone])
        except IrreversibleError as fault:
            raise Refused(
                "the backup is too old: restore it with its own dialeval, then update that"
            ) from fault
        loading.empty(portable.all_tables(self.registry))  # of what migrations write

    def go_on(self) -> None:
        if self.is_older:
            self._migrate(self._now)

    def _migrate(self, targets: Sequence[tuple[str, str | None]]) -> None:
        MigrationExecutor(connection, loading.settle_keys).migrate(targets)


def _refuse_gaps(graph: Any, then: set[tuple[str, str]], dialeval: str) -> None:
    """Where one is missing that another is built on, the way back to it would take the other's
    tables away too."""
    lacks: dict[str, list[str]] = {}
    for node in sorted(then):
        for parent in graph.node_map[node].parents:
            if parent.key not in then:
                lacks.setdefault(".".join(parent.key), []).append(".".join(node))
    if lacks:
        gaps = "; ".join(
            f"{name}, on which {', '.join(built)} is built" for name, built in sorted(lacks.items())
        )
        raise Refused(
            f"the backup has other migrations than this dialeval: it lacks {gaps}. Restore it "
            f"with the dialeval that made it ({dialeval}), run `migrate` of this one there, and "
            "make a new backup"
        )


def _refuse_unfit(manifest: dict[str, Any], state: _State) -> None:
    ours = {
        model._meta.db_table: set(portable.columns(model))
        for model in portable.tables(state.registry)
    }
    theirs = {table: set(listed["columns"]) for table, listed in manifest["tables"].items()}
    for table in sorted(set(ours) | set(theirs)):
        if ours.get(table) != theirs.get(table):
            raise Refused(
                f"the backup's table {table} is not that of these migrations: nothing was changed"
            )


def _refuse_unless_empty() -> None:
    """Also of one of an older dialeval, which lacks tables of today."""
    there = set(connection.introspection.table_names()).difference(portable.MADE_BY_MIGRATIONS)
    used = [table for table in portable.all_tables() if table in there and loading.rows_in(table)]
    if used:
        names = ", ".join(used[:3]) + (", …" if len(used) > 3 else "")
        raise Refused(
            f"the database is not empty ({names}): --replace takes away all that it holds"
        )


def _refuse_foreign_files(own: str) -> None:
    """A site keeps its identity: one that is restored on another machine is another site than the
    one that was backed up, and is refused at that one's files."""
    try:
        site_identity.unclaimed_places(own)
    except ForeignFiles as refusal:
        raise Refused(f"nothing was changed: {refusal}") from None


def _load(
    file: IO[bytes],
    manifest: dict[str, Any],
    state: _State,
    aside: Path,
    done: Restored,
    progress: ProgressCallback,
    identity: str,
) -> None:
    models = {model._meta.db_table: model for model in portable.tables(state.registry)}
    total = sum(listed["rows"] for listed in manifest["tables"].values())
    loaded = dict.fromkeys(models, 0)
    for member in archive.members(file, manifest):
        kind, name = member.parts[0], member.parts[1]
        if kind == "tables":
            if name not in models:
                raise ArchiveError(
                    f"the backup holds rows of {name}, which its manifest does not know"
                )
            rows = _Rows(
                member, manifest["tables"][name]["columns"], portable.columns(models[name])
            )
            loading.insert(models[name], rows)
            loaded[name] += rows.count
            done.rows += rows.count
            progress(name, done.rows, total)
        elif kind == "files":
            if not done.files:  # the storage may have been away before
                _refuse_foreign_files(identity)
            _take_in(member)
            done.files += 1
        else:
            _write(member, aside.joinpath(*member.parts[1:]))
    for table, listed in manifest["tables"].items():
        if loaded[table] != listed["rows"]:
            raise ArchiveError(
                f"the backup says {listed['rows']} rows of {table}, and has {loaded[table]}"
            )
        loading.give_next_id_after(models[table], listed["last_id"] or 0)
    done.tables = len(models)


class _Rows:
    """Of one member, in the order of the columns as they are here; counted as they are read."""

    def __init__(self, member: Member, theirs: list[str], ours: list[str]) -> None:
        self._member, self.count = member, 0
        self._order = None if theirs == ours else [theirs.index(name) for name in ours]

    def __iter__(self) -> Iterator[list[Any]]:
        while line := self._member.content.readline(archive.MAX_LINE_BYTES):
            try:
                rows = json.loads(line)
            except ValueError:
                raise ArchiveError(f"the backup's {self._member.name} cannot be read") from None
            self.count += len(rows)
            if self._order is None:
                yield from rows
            else:
                yield from ([row[place] for place in self._order] for row in rows)


def _take_in(member: Member) -> None:
    unfinished = incoming_folder() / token_hex(16)
    try:
        _write(member, unfinished)
        storage.take_in(unfinished, stored_name(member.parts[2]))
    finally:
        unfinished.unlink(missing_ok=True)


def _write(member: Member, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as target:
        while chunk := member.content.read(1 << 20):
            target.write(chunk)


@contextmanager
def _models_aside() -> Iterator[Path]:
    """A folder beside those of the models, gone in the end. Only one restores at a time
    (``one_migrates``)."""
    home = Path(settings.HOME)
    _put_back(home)
    with temporary_folder(beside=home / "trained") as aside:
        yield aside


def _install_models(aside: Path, replace: bool, done: Restored) -> None:
    """Each that can be: the rows are there to stay, whatever fails here."""
    for folder in sorted(aside.glob("*/*")):
        name = f"{folder.parent.name}/{folder.name}"
        place = Path(settings.HOME) / name
        try:
            if place.exists() and not replace:
                done.existing.append(name)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            _replace_folder(place, folder)
            done.models += 1
        except OSError as fault:
            done.undone.append(f"the model {name} is not in its place: {fault}")


def _replace_folder(place: Path, folder: Path) -> None:
    """What is at ``place`` is removed when ``folder`` is there, and comes back where that fails."""
    before = place.with_name(f"{_BEFORE}{place.name}")
    if place.exists() or place.is_symlink():
        place.rename(before)
    try:
        folder.rename(place)
    except BaseException:
        if before.exists() or before.is_symlink():
            before.rename(place)
        raise
    _remove(before)


def _put_back(home: Path) -> None:
    """What had given way when a restore was killed."""
    for before in (
        left for kind in ("trained", "training") for left in (home / kind).glob(f"{_BEFORE}*")
    ):
        place = before.with_name(before.name.removeprefix(_BEFORE))
        if place.exists():
            _remove(before)
        else:
            before.rename(place)


def _remove(folder: Path) -> None:
    """A link is taken away, not what it leads to."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _send_models(done: Restored) -> None:
    try:
        remote.send_all()
    except (OSError, DatabaseError) as fault:
        done.undone.append(
            "the storage of files, where other machines fetch models, does not have them all: "
            f"{fault}"
        )
