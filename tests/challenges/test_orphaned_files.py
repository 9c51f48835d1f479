"""Files that no row names: into quarantine, back, away in the end; too many at once are a mistake
of ours."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations import orphans, site_identity
from annotations.corpora import imports, pending_uploads
from annotations.models import CorpusImport, OrphanCount, SiteIdentity
from annotations.site_identity import ForeignFiles
from leaderboard.challenges import uploads
from leaderboard.challenges.actions.receiving import NotTaken
from leaderboard.challenges.models import Round, Submission
from tests.campaigns.sets import made_user
from tests.challenges.sets import submit, team_with_member, upload_of
from tests.own_home import HOME
from tests.stored_uploads import copies_of, files_below, stored_path, uploads_folder

pytestmark = pytest.mark.django_db

DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def own_files(tmp_path: Path, settings: Any) -> None:
    files_below(settings, tmp_path / "files")


@pytest.fixture
def stored(round: Round) -> list[Submission]:
    """Twenty submissions with their files."""
    copies_of(submit(round, team_with_member(round.challenge)[0]), 19)
    return list(Submission.objects.order_by("pk"))


def orphans_of(count: int) -> list[Path]:
    """Files that no row names."""
    uploaded = [upload_of(b"nobody's %d" % number) for number in range(count)]
    for upload in uploaded:
        uploads.move_in(upload)
    return [uploads_folder() / upload.path.name for upload in uploaded]


def quarantined() -> list[Path]:
    folder = uploads_folder().parent / "quarantine"
    return sorted(path for path in folder.rglob("*") if path.is_file())


def later(days: float) -> float:
    return time.time() + days * DAY


def counts() -> dict[str, int]:
    return (
        OrphanCount.objects.filter(kind="uploads")
        .values("quarantined", "returned", "removed", "refused")
        .get()
    )


def test_a_file_without_a_row_lies_in_quarantine_for_a_week_before_it_is_removed(
    stored: list[Submission], caplog: pytest.LogCaptureFixture
) -> None:
    (orphan,) = orphans_of(1)
    data = orphan.read_bytes()
    orphans.collect()
    assert orphan.exists()  # its row may be about to be committed
    now = later(1)
    orphans.collect(now)
    day = datetime.fromtimestamp(now, UTC).date()
    (there,) = quarantined()
    assert there == uploads_folder().parent / "quarantine" / str(day) / "uploads" / orphan.name
    assert there.read_bytes() == data
    assert f"uploads/{orphan.name} is in quarantine for 7 days: no row names it" in caplog.text
    orphans.collect(later(8))
    assert quarantined() == [there]
    orphans.collect(later(9.1))
    assert quarantined() == []
    assert (
        f"removed uploads/{orphan.name}: no row named it for 7 days ({len(data)} bytes"
        in caplog.text
    )
    assert counts() == {"quarantined": 1, "returned": 0, "removed": 1, "refused": 0}
    assert all(stored_path(submission).exists() for submission in stored)


def test_a_file_in_quarantine_comes_back_by_itself_when_a_row_names_it(
    stored: list[Submission],
) -> None:
    """As when a database is restored to a later moment."""
    lost = stored[3]
    kept = stored_path(lost).read_bytes()
    Submission.objects.filter(pk=lost.pk).update(stored_as="of-another-moment")
    orphans.collect(later(1))
    assert not stored_path(lost).exists()
    Submission.objects.filter(pk=lost.pk).update(stored_as=lost.stored_as)
    orphans.collect(later(6))
    assert stored_path(lost).read_bytes() == kept
    assert quarantined() == []
    assert counts() == {"quarantined": 1, "returned": 1, "removed": 0, "refused": 0}


def test_what_came_back_is_not_overwritten(stored: list[Submission]) -> None:
    lost = stored[3]
    Submission.objects.filter(pk=lost.pk).update(stored_as="of-another-moment")
    orphans.collect(later(1))
    Submission.objects.filter(pk=lost.pk).update(stored_as=lost.stored_as)
    stored_path(lost).write_bytes(b"restored from a backup")
    orphans.collect(later(2))
    assert stored_path(lost).read_bytes() == b"restored from a backup"
    assert len(quarantined()) == 1


@pytest.mark.parametrize(("count", "stay"), [(10, 0), (11, 11)])
def test_where_more_than_a_small_share_has_no_row_nothing_is_moved_and_it_is_said(
    stored: list[Submission], count: int, stay: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Twenty with a row, and ten or eleven without."""
    lost = orphans_of(count)
    for _ in range(3):  # nor bit by bit
        orphans.collect(later(1))
    assert sum(path.exists() for path in lost) == stay
    assert len(quarantined()) == count - stay
    assert (
        "11 of 31 files of uploads have no row in this database: too many" in caplog.text
    ) == bool(stay)
    assert counts()["refused"] == stay


def test_a_share_is_of_a_day_however_often_somebody_looks(stored: list[Submission]) -> None:
    orphans_of(8)
    orphans.collect(later(1))
    orphans_of(8)
    orphans.collect(later(1))
    assert (len(quarantined()), counts()["refused"]) == (8, 8)
    orphans.collect(later(2))
    assert (len(quarantined()), counts()["refused"]) == (16, 0)


def test_an_operator_who_has_looked_moves_them_all_the_same(
    stored: list[Submission], capsys: pytest.CaptureFixture[str]
) -> None:
    for path in orphans_of(15):
        os.utime(path, (0, 0))
    with pytest.raises(
        CommandError, match="15 files without a row stay where they are: too many to be right"
    ):
        call_command("quarantine_orphans")
    call_command("quarantine_orphans", force=True)
    assert "uploads: 15 into quarantine, 0 back, 0 removed" in capsys.readouterr().out
    assert len(quarantined()) == 15


def test_readiness_and_monitoring_say_that_files_have_no_row(
    client: Client, stored: list[Submission], settings: Any
) -> None:
    from dialeval_site.operations import readiness

    orphans_of(15)
    orphans.collect(later(1))
    assert readiness._files() == "15 files of uploads have no row, too many to be right"
    settings.MONITORING_TOKEN = "let-me-read"
    told = client.get(
        reverse("monitoring"), headers={"Authorization": "Bearer let-me-read"}
    ).content.decode()
    assert 'dialeval_orphaned_files_refused{kind="uploads"} 15.0' in told
    OrphanCount.objects.filter(kind="uploads").update(quarantined=3, removed=2, removed_bytes=2048)
    told = client.get(
        reverse("monitoring"), headers={"Authorization": "Bearer let-me-read"}
    ).content.decode()
    assert 'dialeval_orphaned_files_total{kind="uploads",outcome="quarantined"} 3.0' in told
    assert 'dialeval_removed_bytes_total{kind="uploads"} 2048.0' in told


def test_half_sent_bytes_of_a_sender_who_vanished_go_and_are_counted(settings: Any) -> None:
    half = upload_of(b"half of it").path
    orphans.collect(time.time() + 3500)
    assert half.exists()
    orphans.collect(time.time() + 3700)
    assert not half.exists()
    assert OrphanCount.objects.get(kind="incoming").removed_bytes == 10


def test_an_upload_that_nobody_imported_goes_after_a_day(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("ten bytes.")
    user = made_user("mara")
    sent = pending_uploads.store(tmp_path / "corpus.jsonl", "corpus.jsonl", user)
    orphans.collect(time.time() + 23 * 3600)
    assert pending_uploads.find(sent.token, user) == sent
    orphans.collect(time.time() + 25 * 3600)
    assert pending_uploads.find(sent.token, user) is None
    assert OrphanCount.objects.get(kind="temporary").removed_bytes == 10


def test_an_upload_stays_until_a_worker_has_imported_it_and_a_day_after_a_failure(
    tmp_path: Path,
) -> None:
    (tmp_path / "corpus.jsonl").write_text("ten bytes.")
    user = made_user("mara")
    sent = pending_uploads.store(tmp_path / "corpus.jsonl", "corpus.jsonl", user)
    job = imports.start(sent, 10, {}, user)
    orphans.collect(time.time() + 25 * 3600)
    assert pending_uploads.find(sent.token, user) == sent
    CorpusImport.objects.filter(pk=job.pk).fail("it broke")
    orphans.collect(time.time() + 25 * 3600)
    assert pending_uploads.find(sent.token, user) == sent
    CorpusImport.objects.filter(pk=job.pk).update(finished_at=timezone.now() - timedelta(hours=25))
    orphans.collect(time.time() + 25 * 3600)
    assert pending_uploads.find(sent.token, user) is None


def test_exports_with_raters_names_that_an_older_dialeval_left_go_after_a_day() -> None:
    left = HOME / "exports" / "tmpabc" / "usr"
    left.mkdir(parents=True)
    (left / "ratings.csv").write_text("Zoe Quill, 5")
    orphans.collect(time.time() + 23 * 3600)
    assert left.exists()
    orphans.collect(time.time() + 25 * 3600)
    assert list((HOME / "exports").iterdir()) == []


# --- files of another database --------------------------------------------------------------------


@pytest.fixture
def another_database(stored: list[Submission]) -> Iterator[None]:
    """The files are there, and belong to another database than the one that is asked now."""
    own = site_identity.identity()
    orphans.collect()
    site_identity.renew()
    Submission.objects.update(stored_as=F("public_id"))
    yield
    SiteIdentity.objects.update(identity=own)


def all_files() -> set[str]:
    return {path.name for path in uploads_folder().iterdir()}


def test_a_stranger_s_database_removes_nothing_and_takes_nothing_in(
    another_database: None, stored: list[Submission], caplog: pytest.LogCaptureFixture
) -> None:
    half = upload_of(b"half of it").path
    os.utime(half, (0, 0))
    before = all_files()
    with pytest.raises(ForeignFiles, match="DIALEVAL_HOME belongs to another database"):
        orphans.collect(later(30), force=True)
    orphans._looked_at = float("-inf")
    orphans.collect_if_due()
    assert "nothing is removed: DIALEVAL_HOME belongs to another database" in caplog.text
    with pytest.raises(ForeignFiles):
        uploads.move_in(upload_of(b"new"))
    assert (all_files(), half.exists(), quarantined()) == (before, True, [])


def test_a_team_is_told_to_come_again_and_the_log_says_why(
    another_database: None, stored: list[Submission], round: Round, caplog: pytest.LogCaptureFixture
) -> None:
    team = stored[0].team
    with pytest.raises((NotTaken, ForeignFiles)):
        submit(round, team, data=b"new\n")
    assert "an upload is refused: DIALEVAL_HOME belongs to another database" in caplog.text


def test_an_operator_says_that_the_files_belong_to_this_database_now(
    another_database: None, stored: list[Submission], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="belongs to another database"):
        call_command("site_identity")
    call_command("site_identity", claim=True)
    assert "the files of DIALEVAL_HOME and of the storage belong to it" in capsys.readouterr().out
    orphans.collect()
    (HOME / site_identity.MARKER).unlink()  # that of the next tests' database


def test_a_copy_of_a_database_becomes_a_site_of_its_own(stored: list[Submission]) -> None:
    """As one that was made by pg_dump and pg_restore, and would take itself for the site that it is
    a copy of."""
    own = site_identity.identity()
    site_identity.check()
    with pytest.raises(CommandError, match="belongs to another database"):
        call_command("site_identity", new=True)
    assert site_identity.identity() != own


@pytest.mark.parametrize(("unknown", "is_claimed"), [(0, True), (2, True), (3, False)])
def test_files_of_an_older_dialeval_are_claimed_by_the_database_that_knows_nearly_all_of_them(
    stored: list[Submission], unknown: int, is_claimed: bool
) -> None:
    orphans_of(unknown)
    marker = uploads_folder().parent / site_identity.MARKER
    marker.unlink()
    if is_claimed:
        site_identity.check()
        assert marker.read_text().startswith(site_identity.identity())
        return
    with pytest.raises(
        ForeignFiles, match="the storage of files holds 23 files, of which this database knows 20"
    ):
        site_identity.check()
    assert not marker.exists()


def test_a_place_that_is_refused_leaves_the_other_one_unclaimed(stored: list[Submission]) -> None:
    """Else the site itself, coming later, would be refused there."""
    home, storage = HOME / site_identity.MARKER, uploads_folder().parent / site_identity.MARKER
    home.unlink()
    storage.unlink()
    Submission.objects.update(stored_as=F("public_id"))
    with pytest.raises(ForeignFiles, match="knows 0"):
        site_identity.check()
    assert not home.exists()
    assert not storage.exists()


def test_a_damaged_identity_is_nobody_s(stored: list[Submission]) -> None:
    marker = uploads_folder().parent / site_identity.MARKER
    marker.write_bytes(b"\xff\xfe")
    with pytest.raises(ForeignFiles):
        site_identity.check()


def test_a_database_has_one_identity() -> None:
    from django.db import IntegrityError, transaction

    with pytest.raises(IntegrityError), transaction.atomic():
        SiteIdentity.objects.create(id=2, identity="another")
    with pytest.raises(IntegrityError), transaction.atomic():
        SiteIdentity.objects.update(identity="")


def test_two_who_claim_a_place_at_once_do_not_both_have_it(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from common import storage as stored_files

    for number in range(20):
        names = [b"%032d\n" % claim for claim in range(8)]
        place = f"claim-{number}"
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda content, place=place: stored_files.create(place, content), names))
        assert stored_files.read(place) in names
    shutil.rmtree(uploads_folder().parent)
