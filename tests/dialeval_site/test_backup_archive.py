"""The file of a backup, from the side of whoever is handed one: nothing in it is taken on trust."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from common import temporary
from dialeval_site.operations.backups import archive
from dialeval_site.operations.backups.archive import ArchiveError
from tests.own_home import HOME
from tests.site import PROJECT

ABOUT = {"kind": archive.KIND, "format": archive.FORMAT, "dialeval": "0.2.0"}


def made(path: Path, **members: bytes) -> Path:
    with archive.written(path) as file:
        file.add_document(archive.ABOUT, ABOUT)
        file.add("tables/auth_user/000001.jsonl", b'[[1,"ada"]]\n')
        for name, content in members.items():
            file.add(f"files/uploads/{name}", content)
        file.add_document(
            archive.MANIFEST, {**ABOUT, "tables": {}, "migrations": {}, "digests": file.digests}
        )
    return path


def packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """A tar as anybody can make one."""
    with gzip.open(path, "wb") as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def document(name: str, content: dict) -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), json.dumps(content).encode()


def fault_of(path: Path) -> str:
    with path.open("rb") as file, pytest.raises(ArchiveError) as told:
        archive.checked(file)
    return str(told.value)


def test_what_was_written_is_read_in_its_order_with_its_digests(tmp_path: Path) -> None:
    with made(tmp_path / "b", one=b"x" * 3_000_000, two=b"").open("rb") as file:
        manifest = archive.checked(file)
        found = [(member.name, member.content.read()) for member in archive.members(file, manifest)]
    assert found == [
        ("tables/auth_user/000001.jsonl", b'[[1,"ada"]]\n'),
        ("files/uploads/one", b"x" * 3_000_000),
        ("files/uploads/two", b""),
    ]


def test_only_its_owner_may_read_it_and_the_one_before_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "b"
    path.write_bytes(b"the one before")
    path.chmod(0o644)
    made(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["b"]


def test_one_that_cannot_be_finished_leaves_nothing_and_the_one_before_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "b"
    path.write_bytes(b"the one before")

    def write_until_the_disk_is_full() -> None:
        with archive.written(path) as file:
            file.add_document(archive.ABOUT, ABOUT)
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_until_the_disk_is_full()
    assert os.listdir(tmp_path) == ["b"]
    assert path.read_bytes() == b"the one before"


HALF_WRITTEN = """
import sys, time
from pathlib import Path
from common import temporary
from dialeval_site.operations.backups import archive
temporary.use(Path(sys.argv[2]))
with archive.written(Path(sys.argv[1])) as file:
    print("writes", flush=True)
    time.sleep(600)
"""


@contextmanager
def half_written(path: Path) -> Iterator[None]:
    """By another process, which is killed in the end."""
    command = [sys.executable, "-c", HALF_WRITTEN, path, HOME / "tmp"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writes\n"
        yield
    finally:
        process.kill()
        process.communicate()


def test_what_a_killed_one_left_is_removed_by_a_sweep_and_what_is_being_written_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "b"
    (tmp_path / ".b.notes").touch()
    with half_written(path):
        with half_written(path):
            assert len(os.listdir(tmp_path)) == 3  # the second one took nothing from the first
        made(path)
        temporary.remove_abandoned()
        assert len(os.listdir(tmp_path)) == 3  # "b", the notes, and what the first one writes
    assert len(os.listdir(tmp_path)) == 3
    temporary.remove_abandoned()
    assert sorted(os.listdir(tmp_path)) == [".b.notes", "b"]


@pytest.mark.parametrize("kept", [0, 1, 20, 0.5, 0.9, -1])
def test_a_file_that_is_cut_off_is_not_whole(tmp_path: Path, kept: float) -> None:
    data = made(tmp_path / "b", one=os.urandom(50_000)).read_bytes()
    cut = data[: int(len(data) * kept)] if 0 < kept < 1 else data[: int(kept)]
    (tmp_path / "cut").write_bytes(cut)
    assert (
        "no whole backup" in fault_of(tmp_path / "cut")
        or "no backup" in fault_of(tmp_path / "cut")
        or "not whole" in (fault_of(tmp_path / "cut"))
    )


def test_one_without_its_last_member_is_not_whole(tmp_path: Path) -> None:
    path = packed(tmp_path / "b", document("about.json", ABOUT))
    assert fault_of(path) == "the backup is not whole: its end is missing"


def test_a_changed_byte_is_seen(tmp_path: Path) -> None:
    rows = (tarfile.TarInfo("tables/auth_user/000001.jsonl"), b'[[1,"eve"]]\n')
    with made(tmp_path / "b").open("rb") as file:
        digests = archive.checked(file)["digests"]
    manifest = {**ABOUT, "tables": {}, "migrations": {}, "digests": digests}
    path = packed(
        tmp_path / "c", document("about.json", ABOUT), rows, document("manifest.json", manifest)
    )
    assert fault_of(path).startswith("the backup is damaged: ")


def test_a_member_that_the_manifest_does_not_name_or_that_is_missing_is_seen(
    tmp_path: Path,
) -> None:
    manifest = {**ABOUT, "tables": {}, "migrations": {}, "digests": {"files/uploads/one": "0" * 64}}
    path = packed(
        tmp_path / "c", document("about.json", ABOUT), document("manifest.json", manifest)
    )
    assert "about.json is not what was written" in fault_of(path)
    with archive.written(tmp_path / "d") as file:
        file.add_document(archive.ABOUT, ABOUT)
        file.add_document(
            archive.MANIFEST,
            {
                **ABOUT,
                "tables": {},
                "migrations": {},
                "digests": {**file.digests, "files/uploads/one": "0" * 64},
            },
        )
    assert fault_of(tmp_path / "d") == "the backup is not whole: files/uploads/one is missing"


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "files/uploads/../../../x",
        "files/uploads/a/b",
        "files/uploads/.hidden",
        "files/other/x",
        "models/trained/../x",
        "models/elsewhere/x",
        "tables/auth_user/000001.jsonl/../x",
        "tables/Auth User/000001.jsonl",
        "tables/auth_user/1.pickle",
        "files/uploads/x\n",
    ],
)
def test_a_name_for_which_there_is_no_place_is_refused(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / "b", document("about.json", ABOUT), (tarfile.TarInfo(name), b"x"))
    assert "for which there is no place" in fault_of(path)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_what_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("files/uploads/one")
    member.type, member.linkname = kind, "/etc/passwd"
    path = packed(tmp_path / "b", document("about.json", ABOUT), (member, b""))
    assert "which is no file" in fault_of(path)


def test_a_member_that_comes_twice_is_refused(tmp_path: Path) -> None:
    one = (tarfile.TarInfo("files/uploads/one"), b"x")
    again = (tarfile.TarInfo("files/uploads/one"), b"y")
    assert "twice" in fault_of(packed(tmp_path / "b", document("about.json", ABOUT), one, again))


def test_another_format_names_its_writer(tmp_path: Path) -> None:
    newer = {**ABOUT, "format": 2, "dialeval": "9.1.0"}
    told = fault_of(packed(tmp_path / "b", document("about.json", newer)))
    assert "format 2" in told
    assert "9.1.0" in told


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\x1f\x8b\x08", gzip.compress(b"hello"), gzip.compress(b"\0" * 10240)],
    ids=["nothing", "text", "the start of gzip", "text in gzip", "zeros in gzip"],
)
def test_something_else_is_no_backup(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    assert "backup" in fault_of(tmp_path / "b")


def test_a_tar_of_something_else_is_no_backup(tmp_path: Path) -> None:
    assert (
        fault_of(packed(tmp_path / "b", document("files/uploads/one", {})))
        == "this is no backup of dialeval"
    )
    assert (
        fault_of(packed(tmp_path / "c", document("about.json", {"kind": "photos"})))
        == "this is no backup of dialeval"
    )


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b"\xff", b"[" * 100_000], ids=["half", "list", "no text", "deep"]
)
def test_a_document_that_cannot_be_read_is_said(tmp_path: Path, content: bytes) -> None:
    assert "cannot be read" in fault_of(
        packed(tmp_path / "b", (tarfile.TarInfo("about.json"), content))
    )


def test_one_that_changes_between_the_check_and_the_reading_is_seen(tmp_path: Path) -> None:
    path = made(tmp_path / "b", one=b"mine")
    with path.open("rb") as file:
        manifest = archive.checked(file)
        with (
            made(tmp_path / "other", one=b"evil").open("rb") as other,
            pytest.raises(ArchiveError, match="has changed"),
        ):
            sum(len(member.content.read()) for member in archive.members(other, manifest))
