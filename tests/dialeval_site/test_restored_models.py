"""Models of a backup take their places when the rows are there to stay: what fails then is said,
and loses none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.utils import timezone

from dialeval_site.config.storage import file_storage
from dialeval_site.operations.backups import making
from tests.object_storage import KEYS, storage_url
from tests.services import free_port
from tests.stored_uploads import files_below
from workers.inference import resources
from workers.training.models import Training

pytestmark = pytest.mark.django_db(transaction=True)

THEN = '{"recipe": "density", "sha256": "0123456789ab"}'
NOW = '{"recipe": "density", "sha256": "ba9876543210"}'


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Iterator[Path]:
    files_below(settings, tmp_path / "files")
    settings.HOME = home = tmp_path / "home"
    before = resources.at_hand()
    resources.use(replace(before, trained_folder=home / "trained"))
    yield home
    resources.use(before)


@pytest.fixture
def backed_up(home: Path, tmp_path: Path) -> Path:
    """Of ``ada`` and of the models ``daily`` and ``weekly`` as they were then; now there is
    ``bob``, too."""
    get_user_model().objects.create(username="ada")
    Training.objects.create(
        name="daily",
        work="daily-1",
        recipe="density",
        data={},
        data_signature="0" * 64,
        state=Training.State.DONE,
        revision="0123456789ab",
        finished_at=timezone.now(),
    )
    for name in ("daily", "weekly"):
        write(home, name, THEN)
    making.make(tmp_path / "b", with_models=True)
    for name in ("daily", "weekly"):
        write(home, name, NOW)
    get_user_model().objects.create(username="bob")
    return tmp_path / "b"


def write(home: Path, name: str, config: str) -> None:
    folder = home / "trained" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(config)


def models(home: Path) -> dict[str, str]:
    return {path.parent.name: path.read_text() for path in (home / "trained").glob("*/config.json")}


def failed(backup: Path) -> tuple[str, str]:
    """What a restore says that cannot do all: line by line, and in the end."""
    said = StringIO()
    with pytest.raises(CommandError) as told:
        call_command("restore", backup, replace=True, stderr=said, stdout=StringIO())
    return said.getvalue(), str(told.value)


def assert_rows_are_restored(told: str) -> None:
    assert set(get_user_model().objects.values_list("username", flat=True)) == {"ada"}
    assert "its rows and uploads are restored, its models not all, as said above." in told
    assert "restore the file again, with --replace, before the site starts" in told


def test_a_model_that_cannot_take_its_place_leaves_the_one_before_there_and_others_take_theirs(
    home: Path, backed_up: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if Path(target) == home / "trained" / "daily" and ".dialeval-" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", full)
    said, told = failed(backed_up)
    assert "the model trained/daily is not in its place: [Errno 28] No space left on device" in said
    assert_rows_are_restored(told)
    assert models(home) == {"daily": NOW, "weekly": THEN}
    assert sorted(path.name for path in (home / "trained").iterdir()) == ["daily", "weekly"]

    monkeypatch.undo()
    call_command("restore", backed_up, replace=True, stdout=StringIO())
    assert models(home) == {"daily": THEN, "weekly": THEN}


def test_where_no_model_can_be_placed_the_rows_are_said_to_be_restored(
    home: Path, backed_up: Path
) -> None:
    (home / "trained").rename(home / "elsewhere")
    (home / "trained").write_text("no folder")
    said, told = failed(backed_up)
    assert "the model trained/daily is not in its place: [Errno 17] File exists" in said
    assert "the model trained/weekly is not in its place" in said
    assert_rows_are_restored(told)


@pytest.mark.slow
def test_a_storage_that_does_not_take_the_models_is_told(
    home: Path, backed_up: Path, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    away = file_storage(storage_url(f"http://127.0.0.1:{free_port()}"), tmp_path)
    settings.STORAGES = {**settings.STORAGES, "default": away}
    said, told = failed(backed_up)
    assert (
        "the storage of files, where other machines fetch models, does not have them all: " in said
    )
    assert_rows_are_restored(told)
    assert models(home) == {"daily": THEN, "weekly": THEN}


def test_a_model_that_had_given_way_when_a_restore_was_killed_comes_back_with_the_next(
    home: Path, backed_up: Path, tmp_path: Path
) -> None:
    making.make(tmp_path / "rows")
    trained = home / "trained"
    (trained / "daily").rename(trained / ".before-restore-daily")
    (trained / ".before-restore-weekly").mkdir()
    call_command("restore", tmp_path / "rows", replace=True, stdout=StringIO())
    assert models(home) == {"daily": NOW, "weekly": NOW}
    assert sorted(path.name for path in trained.iterdir()) == ["daily", "weekly"]


def test_a_model_that_is_a_link_gives_way_and_what_it_leads_to_stays(
    home: Path, backed_up: Path
) -> None:
    daily = home / "trained" / "daily"
    daily.rename(home / "large-disk")
    daily.symlink_to(home / "large-disk")
    call_command("restore", backed_up, replace=True, stdout=StringIO())
    assert models(home) == {"daily": THEN, "weekly": THEN}
    assert (home / "large-disk" / "config.json").read_text() == NOW


def test_what_fails_before_the_rows_are_there_names_its_place_and_says_that_nothing_has_changed(
    home: Path, backed_up: Path
) -> None:
    (home / "backup.lock").unlink()
    (home / "backup.lock").mkdir()
    _, told = failed(backed_up)
    assert told == f"{backed_up}: {home / 'backup.lock'}: Is a directory; the database is as it was"
    assert get_user_model().objects.filter(username="bob").exists()
    _, told = failed(home / "nowhere")
    assert told == f"{home / 'nowhere'}: No such file or directory; the database is as it was"
