"""Backups and restores of one site at the same time: who comes second waits for the first."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread, Timer
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection, transaction

from annotations.models import AuditEntry
from dialeval_site.operations.backups import apart, making, restoring
from tests.dialeval_site.test_backup_in_use import read
from tests.stored_uploads import files_below

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path) -> Path:
    files_below(settings, tmp_path / "files")
    settings.HOME = tmp_path / "home"
    settings.HOME.mkdir()
    return settings.HOME


class Beside(Thread):
    """Does it as another process would, with a connection of its own."""

    def __init__(self, deed: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._deed = deed
        self._problem: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._deed()
        except BaseException as problem:
            self._problem = problem
        finally:
            connection.close()

    def has_ended_well(self) -> bool:
        self.join(60)
        if self._problem is not None:
            raise self._problem
        return not self.is_alive()


def names_in(backup: Path) -> set[str]:
    manifest, rows, _ = read(backup)
    place = manifest["tables"]["auth_user"]["columns"].index("username")
    return {row[place] for row in rows["auth_user"]}


def checkpoint_in(backup: Path) -> bytes:
    with tarfile.open(backup) as tar:
        return tar.extractfile("models/training/daily/config.json").read()


def test_a_backup_that_is_begun_while_a_restore_runs_is_of_the_restored_site_with_its_models(
    home: Path, tmp_path: Path
) -> None:
    get_user_model().objects.create(username="ada")
    checkpoint = home / "training" / "daily" / "config.json"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("of then")
    making.make(tmp_path / "then", with_models=True)
    get_user_model().objects.create(username="bob")
    checkpoint.write_text("of now")
    backups: list[Beside] = []

    def told(table: str, done: int, total: int) -> None:
        if table == "auth_user" and not backups:
            backups.append(Beside(lambda: making.make(tmp_path / "meanwhile", with_models=True)))
            backups[0].join(0.3)  # who waits for nobody has ended by then

    restoring.restore(tmp_path / "then", replace=True, progress=told)
    assert backups[0].has_ended_well()
    assert names_in(tmp_path / "meanwhile") == {"ada"}
    assert checkpoint_in(tmp_path / "meanwhile") == b"of then"


def test_a_restore_that_is_begun_while_a_backup_is_written_leaves_it_as_the_site_was(
    tmp_path: Path,
) -> None:
    get_user_model().objects.create(username="ada")
    making.make(tmp_path / "then")
    get_user_model().objects.create(username="bob")
    restores: list[Beside] = []

    def told(table: str, done: int, total: int) -> None:
        if not restores:
            restores.append(Beside(lambda: restoring.restore(tmp_path / "then", replace=True)))
            restores[0].join(0.3)

    making.make(tmp_path / "meanwhile", progress=told)
    assert restores[0].has_ended_well()
    assert names_in(tmp_path / "meanwhile") == {"ada", "bob"}
    assert set(get_user_model().objects.values_list("username", flat=True)) == {"ada"}


def test_two_backups_are_written_at_once(tmp_path: Path) -> None:
    get_user_model().objects.create(username="ada")
    begun: list[str] = []

    def told(table: str, done: int, total: int) -> None:
        if not begun:
            begun.append(table)
            assert Beside(lambda: making.make(tmp_path / "two")).has_ended_well()

    making.make(tmp_path / "one", progress=told)
    assert names_in(tmp_path / "one") == names_in(tmp_path / "two") == {"ada"}


# --- and says so ----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "PATIENCE_SECONDS", 0.1)


class Command(Beside):
    """A command, whose standard error is read while it runs."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._said = io.StringIO()
        super().__init__(
            lambda: call_command(*arguments, stdout=io.StringIO(), stderr=self._said, **options)
        )

    @property
    def waits(self) -> list[str]:
        return [
            line for line in self._said.getvalue().splitlines() if line.startswith("Waiting for")
        ]

    def says_that_it_waits(self) -> list[str]:
        deadline = time.monotonic() + 60
        while not self.waits and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.waits


def test_a_backup_says_once_that_it_waits_for_a_restore(tmp_path: Path) -> None:
    making.make(tmp_path / "then")
    backups: list[Command] = []

    def told(table: str, done: int, total: int) -> None:
        if table and not backups:
            backups.append(Command("backup", to=tmp_path / "meanwhile"))
            assert backups[0].says_that_it_waits()

    restoring.restore(tmp_path / "then", replace=True, progress=told)
    assert backups[0].has_ended_well()
    assert backups[0].waits == ["Waiting for a restore on this machine to end."]


def test_a_restore_says_once_that_it_waits_for_a_backup(tmp_path: Path) -> None:
    making.make(tmp_path / "then")
    restores: list[Command] = []

    def told(table: str, done: int, total: int) -> None:
        if not restores:
            restores.append(Command("restore", tmp_path / "then", replace=True))
            assert restores[0].says_that_it_waits()

    making.make(tmp_path / "meanwhile", progress=told)
    assert restores[0].has_ended_well()
    assert restores[0].waits == [
        "Waiting for a backup, or another restore, on this machine to end."
    ]


def test_who_waits_for_nobody_says_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "PATIENCE_SECONDS", 3600)
    backup = Command("backup", to=tmp_path / "one")
    assert backup.has_ended_well()
    restore = Command("restore", tmp_path / "one", replace=True)
    assert restore.has_ended_well()
    deadline = time.monotonic() + 60
    while (
        left := [one for one in enumerate_threads() if isinstance(one, Timer)]
    ) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == [], "it would still be said later"
    assert backup.waits + restore.waits == []


# --- beside other machines ------------------------------------------------------------------------


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="a table of SQLite is emptied for those who come later",
)
def test_a_table_that_another_machine_empties_and_fills_again_is_waited_for(tmp_path: Path) -> None:
    """As a restore there does it, whose lock of the folder this machine does not see."""
    AuditEntry.objects.create(actor="ada", action="x.y", subject="s", details={})
    emptied = Event()

    def restore() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM annotations_auditentry"
            )
            cursor.execute("TRUNCATE annotations_auditentry")
            emptied.set()
            deadline = time.monotonic() + 60
            while not _somebody_waits(cursor) and time.monotonic() < deadline:
                time.sleep(0.01)
            cursor.execute("INSERT INTO annotations_auditentry SELECT * FROM kept")

    other = Beside(restore)
    assert emptied.wait(60)
    making.make(tmp_path / "b")
    assert other.has_ended_well()
    assert len(read(tmp_path / "b")[1]["annotations_auditentry"]) == 1


def _somebody_waits(cursor: Any) -> bool:
    cursor.execute(
        "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = "
        "'annotations_auditentry'::regclass LIMIT 1"
    )
    return cursor.fetchone() is not None


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="a database of SQLite is one machine's"
)
def test_a_backup_says_that_it_waits_for_another_machine(tmp_path: Path) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE annotations_auditentry IN ACCESS EXCLUSIVE MODE")
        backup = Command("backup", to=tmp_path / "b")
        said = backup.says_that_it_waits()
    assert backup.has_ended_well()
    assert (
        said == backup.waits == ["Waiting for a restore or a migration by another machine to end."]
    )


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="a database of SQLite is one machine's"
)
def test_a_restore_says_that_it_waits_for_another_machine(tmp_path: Path) -> None:
    making.make(tmp_path / "b")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM annotations_auditentry")
        restore = Command("restore", tmp_path / "b", replace=True)
        said = restore.says_that_it_waits()
    assert restore.has_ended_well()
    assert said == restore.waits
    assert [line.partition(":")[0] for line in said] == [
        "Waiting for who is reading or writing this database"
    ]
