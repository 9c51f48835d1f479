"""A backup while people and workers write: it is of one moment, and nobody waits for it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Rater,
    Rating,
    Response,
    System,
    Turn,
)
from dialeval_site.operations.backups import making, portable
from leaderboard.challenges.actions.receiving import store
from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import upload_from_bytes
from tests.stored_uploads import files_below, stored_path

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def version(settings: Any, tmp_path: Path) -> CorpusVersion:
    files_below(settings, tmp_path / "files")
    corpus = Corpus.objects.create(slug="small", name="Small")
    version = CorpusVersion.objects.create(
        corpus=corpus,
        number=1,
        digest="0" * 64,
        format="jsonl",
        aspects=["overall"],
        main_aspect="overall",
        scales={},
    )
    turn = Turn.objects.create(
        dialogue=Dialogue.objects.create(
            version=version, position=0, external_id="d", persona=[], partner_persona=[]
        ),
        number=0,
        context=[["A", "Hello."]],
        references=["Hi."],
    )
    Response.objects.create(
        system=System.objects.create(version=version, position=0, name="s"), turn=turn, text="Ho."
    )
    rate(version, 0)
    return version


def rate(version: CorpusVersion, number: int) -> None:
    """Each rater has one rating: where one is in a backup, both are."""
    rater = Rater.objects.create(version=version, position=number, name=f"worker {number}")
    Rating.objects.create(rater=rater, aspect="overall", score=3.0, response=Response.objects.get())


def hand_in(version: CorpusVersion, content: bytes) -> Submission:
    upload = upload_from_bytes(content, "scores.csv")
    # So it holds no place of the day
    ended = {"state": Submission.State.CANCELLED, "ended_at": timezone.now()}
    return store(
        upload, kind=Submission.Kind.SCORES, version=version, name="mine", declared={}, **ended
    )


def in_another_connection(deed: Callable[[], object]) -> None:
    """As another process would; it must not wait for the backup, which waits for it here."""
    problems: list[Exception] = []

    def do() -> None:
        try:
            deed()
        except Exception as problem:
            problems.append(problem)
        finally:
            connection.close()

    thread = Thread(target=do)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "a writer waits for the backup"
    assert not problems, problems


def read(path: Path) -> tuple[dict[str, Any], dict[str, list[list[Any]]], dict[str, bytes]]:
    """The manifest, rows by table, files by name."""
    rows: dict[str, list[list[Any]]] = {}
    files: dict[str, bytes] = {}
    manifest: dict[str, Any] = {}
    with tarfile.open(path) as tar:
        for member in tar:
            data = tar.extractfile(member).read()
            if member.name.startswith("tables/"):
                found = [row for line in data.splitlines() for row in json.loads(line)]
                rows.setdefault(member.name.split("/")[1], []).extend(found)
            elif member.name == "manifest.json":
                manifest = json.loads(data)
            elif member.name.startswith("files/"):
                files[member.name.removeprefix("files/uploads/")] = data
    return manifest, rows, files


def test_ratings_that_come_while_rows_are_read_are_in_all_tables_or_in_none(
    version: CorpusVersion, tmp_path: Path
) -> None:
    """One comes after the raters were read and before the ratings are: in two moments it would have
    no rater."""
    seen: list[str] = []

    def told(table: str, done: int, total: int) -> None:
        if table == "annotations_rater" and table not in seen:
            in_another_connection(lambda: rate(version, 1))
        seen.append(table)

    making.make(tmp_path / "b", progress=told)
    manifest, rows, _ = read(tmp_path / "b")
    assert seen.index("annotations_rater") < seen.index("annotations_rating")
    assert Rating.objects.count() == 2
    assert len(rows["annotations_rater"]) == len(rows["annotations_rating"]) == 1
    assert manifest["tables"]["annotations_rating"]["rows"] == 1


def test_a_submission_that_comes_meanwhile_is_left_to_the_next_backup_with_its_file(
    version: CorpusVersion, tmp_path: Path
) -> None:
    first = hand_in(version, b"dialog_id,turn\n")

    def told(table: str, done: int, total: int) -> None:
        if table == "annotations_rating":
            in_another_connection(lambda: hand_in(version, b"later,1\n"))

    made = making.make(tmp_path / "b", progress=told)
    _, rows, files = read(tmp_path / "b")
    assert Submission.objects.count() == 2
    assert len(rows["challenges_submission"]) == made.files == 1
    assert files == {first.stored_as: b"dialog_id,turn\n"}


def test_a_file_that_was_deleted_meanwhile_with_its_row_is_told_and_not_lost(
    version: CorpusVersion, tmp_path: Path
) -> None:
    gone, stays = hand_in(version, b"gone\n"), hand_in(version, b"stays\n")

    def told(table: str, done: int, total: int) -> None:
        if done == total:
            in_another_connection(lambda: Submission.objects.filter(pk=gone.pk).delete())
            stored_path(gone).unlink(missing_ok=True)

    made = making.make(tmp_path / "b", progress=told)
    manifest, rows, files = read(tmp_path / "b")
    assert made.missing == manifest["missing"] == [f"uploads/{gone.stored_as}"]
    assert made.lost == 0
    assert len(rows["challenges_submission"]) == 2
    assert files == {stays.stored_as: b"stays\n"}


def test_a_backup_without_a_file_whose_row_is_still_there_is_kept_and_ends_with_a_fault(
    version: CorpusVersion, tmp_path: Path
) -> None:
    """A folder that is not mounted must not pass for a whole backup, night after night."""
    lost, stays = hand_in(version, b"lost\n"), hand_in(version, b"stays\n")
    stored_path(lost).unlink()
    with pytest.raises(CommandError, match=r"^1 upload of this site is not there, and not in "):
        call_command("backup", to=tmp_path / "b")
    manifest, rows, files = read(tmp_path / "b")
    assert manifest["missing"] == [f"uploads/{lost.stored_as}"]
    assert len(rows["challenges_submission"]) == 2
    assert files == {stays.stored_as: b"stays\n"}


def test_large_rows_are_read_a_few_at_a_time(version: CorpusVersion, tmp_path: Path) -> None:
    """120 rows of 100 kB: after the first lot of 50 a line holds about half a megabyte, four or
    five rows."""
    for number in range(1, 121):
        Dialogue.objects.create(
            version=version,
            position=number,
            external_id=f"d{number}",
            persona=["x" * 100_000],
            partner_persona=[],
        )
    making.make(tmp_path / "b")
    with tarfile.open(tmp_path / "b") as tar:
        lines = [
            line
            for member in tar
            if member.name.startswith("tables/annotations_dialogue/")
            for line in tar.extractfile(member).read().splitlines()
        ]
    assert all(len(line) < 600_000 for line in lines[1:])
    assert len(lines) > 14
    assert sum(len(json.loads(line)) for line in lines) == 121


@pytest.mark.parametrize(
    "model", apps.get_models(include_auto_created=True), ids=lambda model: model._meta.label
)
def test_every_column_of_every_table_can_be_written(model: type[Model]) -> None:
    """Whoever adds a kind of field that no backup can hold learns it here."""
    assert portable.selection(model).startswith("SELECT ")


def test_log_ins_are_left_out_and_everything_else_is_in(
    version: CorpusVersion, tmp_path: Path
) -> None:
    making.make(tmp_path / "b")
    manifest, _, _ = read(tmp_path / "b")
    assert set(connection.introspection.table_names()) - set(manifest["tables"]) <= {
        "django_session",
        "annotations_attemptcount",
        "annotations_siteidentity",
        "django_migrations",
        "workers_scorechunk",
    }
