"""A file that an organiser sends in parts over the API: it goes on where it stopped, nothing of it
is lost, doubled or mixed, nobody else reaches it, and it does not stay for ever."""

from __future__ import annotations

import base64
import hashlib
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from annotations import orphans
from annotations.corpora import partial_uploads
from annotations.models import Corpus, CorpusImport, PartialUpload
from common import storage
from common.roles import ORGANISER
from tests.api_client import Program, program_of
from tests.campaigns.sets import made_user
from tests.stored_uploads import files_below
from workers.imports import store

pytestmark = pytest.mark.django_db

PART = 100
CONTENT = (
    b'{"type": "corpus", "name": "Cooks"}\n'
    b'{"type": "dialogue", "id": "stew", "persona": ["i cook."], "partner_persona": [], "turns": '
    b'[{"number": 0, "context": [{"speaker": "A", "text": "Soup?"}], "references": ["No."]}]}\n'
)
"""Of 215 bytes: two whole parts and a last one of 15."""


@pytest.fixture(autouse=True)
def files(settings: Any, tmp_path: Path) -> Path:
    settings.UPLOAD_PART_BYTES = PART
    files_below(settings, tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def program() -> Program:
    return program_of(made_user("mara", "organiser"), "organise")


def declared(content: bytes = CONTENT, **other: Any) -> dict[str, Any]:
    sha256 = hashlib.sha256(content).hexdigest()
    return {"file_name": "cooks.jsonl", "size": len(content), "sha256": sha256, **other}


def begun(program: Program, content: bytes = CONTENT) -> str:
    answer = program.post("/uploads", declared(content))
    assert answer.status_code == 201
    return answer.json()["id"]


def digest_of(data: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def send(program: Program, id: str, offset: int, data: bytes, **headers: str) -> Any:
    said = {"Upload-Offset": str(offset), "Content-Digest": digest_of(data), **headers}
    return program.patch(f"/uploads/{id}", data, **said)


def sent(program: Program, content: bytes = CONTENT) -> str:
    id = begun(program, content)
    for offset in range(0, len(content), PART):
        assert send(program, id, offset, content[offset : offset + PART]).status_code == 200
    return id


def stored_bytes(id: str) -> bytes:
    with storage.opened(f"imports/{id}") as file:
        return file.read()


# --- parts ----------------------------------------------------------------------------------------


def test_parts_become_the_file(program: Program) -> None:
    assert len(CONTENT) == 2 * PART + 15
    id = sent(program)
    assert stored_bytes(id) == CONTENT
    assert program.get(f"/uploads/{id}").json()["received"] == len(CONTENT)


def test_head_says_how_far_it_is(program: Program) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    answer = program.client.head(f"/api/v1/uploads/{id}", headers=program.headers)
    assert (answer["Upload-Offset"], answer["Upload-Length"]) == ("100", "215")


def test_the_same_file_goes_on_where_it_stopped(program: Program) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    again = program.post("/uploads", declared())
    assert (again.status_code, again.json()["id"], again.json()["received"]) == (200, id, PART)


@pytest.mark.parametrize("offset", [0, 200])
def test_a_part_out_of_order_is_refused_with_the_right_place(program: Program, offset: int) -> None:
    """The first part is here: not it again, nor the third."""
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    answer = send(program, id, offset, CONTENT[offset : offset + PART])
    assert (answer.status_code, answer.json()["code"], answer.json()["received"]) == (
        409,
        "offset",
        100,
    )
    assert stored_bytes(id) == CONTENT[:PART]


def test_of_two_who_send_a_part_at_once_one_is_refused_and_changes_nothing(
    program: Program,
) -> None:
    """Both have read the row before either wrote."""
    id = begun(program)
    row = PartialUpload.objects.get()
    partial_uploads.add_part(row, 0, b"a" * PART)
    with pytest.raises(partial_uploads.WrongOffset):
        partial_uploads.add_part(row, 0, b"b" * PART)
    assert stored_bytes(id) == b"a" * PART


def test_what_a_killed_process_left_of_a_part_is_overwritten(program: Program, files: Path) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    with (files / "imports" / id).open("ab") as file:
        file.write(b"half a part whose row was not stored")
    for offset in (100, 200):
        send(program, id, offset, CONTENT[offset : offset + PART])
    assert stored_bytes(id) == CONTENT


def test_an_upload_whose_file_was_lost_is_begun_anew(program: Program, files: Path) -> None:
    """As after a restore, which brings back the row alone."""
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    (files / "imports" / id).unlink()
    assert send(program, id, 100, CONTENT[100:200]).status_code == 404
    assert begun(program) != id


@pytest.mark.parametrize(
    ("offset", "length"), [(0, 99), (0, 101), (1, 100), (200, 14), (200, 16), (300, 1)]
)
def test_a_part_of_another_length_or_place_is_refused(
    program: Program, offset: int, length: int
) -> None:
    id = begun(program)
    if offset == 200:
        for start in (0, 100):
            send(program, id, start, CONTENT[start : start + PART])
    before = stored_bytes(id)
    answer = send(program, id, offset, b"x" * length)
    assert (answer.status_code, answer.json()["code"]) == (422, "part")
    assert stored_bytes(id) == before


def test_a_part_that_was_changed_on_its_way_is_refused(program: Program) -> None:
    id = begun(program)
    answer = send(program, id, 0, CONTENT[:PART], **{"Content-Digest": digest_of(b"other")})
    assert (answer.status_code, answer.json()["code"]) == (422, "digest")
    assert stored_bytes(id) == b""


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Upload-Offset", ""),
        ("Upload-Offset", "-1"),
        ("Upload-Offset", "1e3"),
        ("Upload-Offset", "9" * 5_000),
        ("Content-Digest", ""),
        ("Content-Digest", "md5=:AAAA:"),
    ],
)
def test_a_header_that_says_nothing_is_named(program: Program, header: str, value: str) -> None:
    answer = send(program, begun(program), 0, CONTENT[:PART], **{header: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == f"header.{header}"


def test_a_part_that_says_to_be_something_else_is_refused(program: Program) -> None:
    answer = program.client.patch(
        f"/api/v1/uploads/{begun(program)}", {}, "application/json", headers=program.headers
    )
    assert (answer.status_code, answer.json()["code"]) == (415, "media_type")


def test_a_body_above_a_part_is_refused_before_it_is_read(program: Program) -> None:
    """A million bytes beside the part are a form's, which this is not; so much is read."""
    answer = send(program, begun(program), 0, b"x" * (PART + 1_000_001))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


# --- limits ---------------------------------------------------------------------------------------


def test_a_file_above_the_limit_is_refused_at_once(program: Program, settings: Any) -> None:
    settings.MAX_CORPUS_UPLOAD_BYTES = 214
    answer = program.post("/uploads", declared())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not PartialUpload.objects.exists()


def test_an_account_has_five_uploads_at_most(program: Program) -> None:
    for number in range(5):
        begun(program, CONTENT + b"\n" * number)
    answer = program.post("/uploads", declared(b"a sixth"))
    assert (answer.status_code, answer.json()["code"]) == (409, "uploads")
    first = PartialUpload.objects.earliest("pk").public_id
    assert program.delete(f"/uploads/{first}").status_code == 204
    assert program.post("/uploads", declared(b"a sixth")).status_code == 201


@pytest.mark.parametrize(
    "other",
    [
        {"size": 0},
        {"size": -1},
        {"size": 2**63},
        {"size": "many"},
        {"sha256": "A" * 64},
        {"sha256": "0" * 63},
        {"file_name": ""},
        {"file_name": "a" * 256},
        {"file_name": "nul\x00"},
        {"path": "/etc/passwd"},
    ],
)
def test_an_upload_that_cannot_be_is_refused(program: Program, other: dict[str, Any]) -> None:
    assert program.post("/uploads", declared(**other)).status_code == 422
    assert not PartialUpload.objects.exists()


def test_a_path_in_a_name_leads_nowhere(program: Program, files: Path) -> None:
    """The file lies under a name of the site's own; the sender's is for reading."""
    answer = program.post("/uploads", declared(file_name="../../site-identity"))
    assert [one.name for one in (files / "imports").iterdir()] == [answer.json()["id"]]


def test_an_upload_that_is_removed_leaves_nothing(program: Program, files: Path) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    assert program.delete(f"/uploads/{id}").status_code == 204
    assert list((files / "imports").iterdir()) == []
    assert send(program, id, 100, CONTENT[100:200]).status_code == 404


# --- others ---------------------------------------------------------------------------------------


def test_another_organiser_s_upload_does_not_exist(program: Program) -> None:
    id = sent(program)
    other = program_of(made_user("noor", "organiser"), "organise")
    answers = [
        other.get(f"/uploads/{id}"),
        send(other, id, 0, CONTENT[:PART]),
        other.delete(f"/uploads/{id}"),
        other.post("/imports", {"upload": id}),
    ]
    assert [one.status_code for one in answers] == [404] * 4
    assert other.get("/uploads").json()["items"] == []
    assert other.post("/uploads", declared()).json()["received"] == 0
    assert stored_bytes(id) == CONTENT


def test_who_is_no_organiser_any_more_sends_no_further_part(program: Program) -> None:
    id = begun(program)
    Group.objects.get(name=ORGANISER).user_set.clear()
    assert send(program, id, 0, CONTENT[:PART]).status_code == 403
    assert stored_bytes(id) == b""


# --- time -----------------------------------------------------------------------------------------


def test_an_upload_stays_for_a_day_after_its_last_part(program: Program) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    orphans.collect(time.time() + 23 * 3600)
    assert stored_bytes(id) == CONTENT[:PART]
    orphans.collect(time.time() + 25 * 3600)
    assert not storage.is_there(f"imports/{id}")
    assert program.get(f"/uploads/{id}").status_code == 404


def test_each_part_moves_the_end(program: Program) -> None:
    id = begun(program)
    almost = timezone.now() + timedelta(minutes=1)
    PartialUpload.objects.update(expires_at=almost)
    send(program, id, 0, CONTENT[:PART])
    assert PartialUpload.objects.get().expires_at > almost + timedelta(hours=23)


def test_a_file_whose_upload_was_forgotten_is_sent_anew(program: Program) -> None:
    id = begun(program)
    PartialUpload.objects.update(expires_at=timezone.now())
    again = program.post("/uploads", declared())
    assert again.status_code == 201
    assert not storage.is_there(f"imports/{id}")


# --- imports --------------------------------------------------------------------------------------


def started(program: Program, id: str, **said: Any) -> int:
    answer = program.post("/imports", {"upload": id, **said})
    assert answer.status_code == 202
    return answer.json()["id"]


def test_a_worker_stores_the_file_and_the_upload_goes(program: Program) -> None:
    id = sent(program)
    number = started(program, id, slug="soups", name="Soups", seen_by="everybody")
    assert store(number)
    job = program.get(f"/imports/{number}").json()
    assert (job["state"], job["corpora"][0]["slug"], job["corpora"][0]["dialogues"]) == (
        "done",
        "soups",
        1,
    )
    assert Corpus.objects.get().is_public
    assert not PartialUpload.objects.exists()
    assert not storage.is_there(f"imports/{id}")


def test_an_import_that_is_asked_for_twice_is_one(program: Program) -> None:
    id = sent(program)
    assert started(program, id) == started(program, id)


def test_a_file_that_is_not_all_here_is_not_imported(program: Program) -> None:
    id = begun(program)
    send(program, id, 0, CONTENT[:PART])
    answer = program.post("/imports", {"upload": id})
    assert (answer.status_code, answer.json()["code"]) == (409, "incomplete")
    assert not CorpusImport.objects.exists()


def test_a_file_that_is_not_the_one_that_was_announced_is_not_stored(program: Program) -> None:
    """It changed while it was sent: each part arrived, and they do not fit together."""
    id = begun(program)
    for offset in range(0, len(CONTENT), PART):
        send(program, id, offset, CONTENT[offset : offset + PART].replace(b"Soup", b"Stew"))
    number = started(program, id)
    store(number)
    job = program.get(f"/imports/{number}").json()
    assert (job["state"], Corpus.objects.count()) == ("failed", 0)
    assert "SHA-256" in job["error"]


def test_a_format_that_nobody_knows_is_told(program: Program) -> None:
    number = started(program, sent(program, b"\x01\x02 nothing"))
    store(number)
    job = program.get(f"/imports/{number}").json()
    assert job["state"] == "failed"
    assert "the format was not detected" in job["error"]


def test_after_a_failure_the_same_file_is_imported_again_without_sending_it(
    program: Program,
) -> None:
    id = sent(program)
    store(started(program, id, format="usr"))
    assert CorpusImport.objects.get().state == "failed"
    assert program.post("/uploads", declared()).json()["received"] == len(CONTENT)
    assert store(started(program, id, format="jsonl"))


@pytest.mark.parametrize(
    "said",
    [{"format": "exe"}, {"slug": "../x"}, {"language": "?"}, {"is_new_version": True}, {"x": 1}],
)
def test_an_import_that_cannot_be_is_refused(program: Program, said: dict[str, Any]) -> None:
    assert program.post("/imports", {"upload": sent(program), **said}).status_code == 422
    assert not CorpusImport.objects.exists()


def test_an_import_is_cancelled_once(program: Program) -> None:
    number = started(program, sent(program))
    assert program.post(f"/imports/{number}/cancel").json()["state"] == "cancelled"
    answer = program.post(f"/imports/{number}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "state")


# --- on the page ----------------------------------------------------------------------------------


def on_page(client: Client, path: str, data: Any, kind: str, **headers: str) -> Any:
    said = {"Accept": "application/json", **headers}
    return client.post(f"/corpora/new/upload/{path}", data, content_type=kind, headers=said)


def part_on_page(client: Client, id: str, offset: int, data: bytes) -> Any:
    said = {"Upload-Offset": str(offset), "Content-Digest": digest_of(data)}
    return on_page(client, f"{id}/", data, "application/partial-upload", **said)


def test_the_page_sends_a_file_in_parts_and_then_the_form_in_its_place() -> None:
    client = Client()
    client.force_login(made_user("mara", "organiser"))
    upload = on_page(client, "", declared(), "application/json").json()
    for offset in range(0, len(CONTENT), PART):
        assert upload["received"] == offset
        upload = part_on_page(client, upload["id"], offset, CONTENT[offset : offset + PART]).json()
    form = {"uploaded": upload["uploaded"], "seen_by": "organisers"}
    answer = client.post("/corpora/new/", form, headers={"Accept": "application/json"})
    assert "What becomes of the file" in client.get(answer.json()["location"]).content.decode()
    again = on_page(client, "", declared(), "application/json").json()
    assert again["uploaded"]


def test_the_page_is_told_where_a_part_that_is_refused_begins() -> None:
    client = Client()
    client.force_login(made_user("mara", "organiser"))
    id = on_page(client, "", declared(), "application/json").json()["id"]
    answer = part_on_page(client, id, PART, CONTENT[PART : 2 * PART])
    assert (answer.status_code, answer.json()["code"], answer.json()["received"]) == (
        409,
        "offset",
        0,
    )
    assert "begins at byte 0" in answer.json()["errors"][0]["message"]


def test_another_s_upload_does_not_exist_on_the_page(program: Program) -> None:
    id = begun(program)
    client = Client()
    client.force_login(made_user("noor", "organiser"))
    assert part_on_page(client, id, 0, CONTENT[:PART]).status_code == 404
    assert stored_bytes(id) == b""
