"""Files that come in parts to a storage elsewhere: a real server that speaks S3."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from annotations.corpora import partial_uploads, pending_uploads
from annotations.models import PartialUpload
from common import storage
from common.storage import StorageAway
from dialeval_site.config.storage import file_storage
from tests.campaigns.sets import made_user
from tests.object_storage import BUCKET, KEYS, ObjectStorage, object_storage, storage_url

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PART = 5 * 1024 * 1024
"""The least that S3 takes."""
CONTENT = bytes(range(256)) * (PART // 256) + b"the last part"


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStorage]:
    with object_storage() as storage:
        yield storage


@pytest.fixture
def bucket(
    server: ObjectStorage, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ObjectStorage:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    server.empty()
    default = file_storage(storage_url(server.endpoint), tmp_path)
    settings.STORAGES = {**settings.STORAGES, "default": default}
    settings.UPLOAD_PART_BYTES = PART
    return server


def begun() -> PartialUpload:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    user = made_user("mara", "organiser")
    return partial_uploads.begin(user, "cooks.jsonl", len(CONTENT), sha256)[0]


def unfinished(bucket: ObjectStorage) -> int:
    return len(bucket.client().list_multipart_uploads(Bucket=BUCKET).get("Uploads", []))


def test_parts_become_an_object_that_an_import_reads(bucket: ObjectStorage) -> None:
    upload = begun()
    upload = partial_uploads.add_part(upload, 0, CONTENT[:PART])
    assert (bucket.objects("imports/"), unfinished(bucket)) == ({}, 1)
    upload = partial_uploads.add_part(upload, PART, CONTENT[PART:])
    assert unfinished(bucket) == 0
    file = partial_uploads.pending(upload, upload.owner)
    with pending_uploads.readable(file) as path:
        assert path.read_bytes() == CONTENT


def test_the_last_part_may_come_again_where_its_row_was_not_stored(bucket: ObjectStorage) -> None:
    upload = partial_uploads.add_part(begun(), 0, CONTENT[:PART])
    partial_uploads.add_part(upload, PART, CONTENT[PART:])
    PartialUpload.objects.update(received=PART)
    again = partial_uploads.add_part(upload, PART, CONTENT[PART:])
    assert again.is_complete


def test_an_upload_that_is_removed_leaves_no_parts(bucket: ObjectStorage) -> None:
    upload = partial_uploads.add_part(begun(), 0, CONTENT[:PART])
    partial_uploads.remove(upload)
    assert (unfinished(bucket), bucket.objects("imports/")) == (0, {})


def test_an_upload_that_the_storage_has_forgotten_is_gone(
    bucket: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As S3 says it; the server here has another answer."""
    upload = begun()

    class Forgetful:
        def upload_part(self, **_named: Any) -> None:
            raise ClientError({"Error": {"Code": "NoSuchUpload"}}, "UploadPart")

    monkeypatch.setattr(storage, "_client", Forgetful)
    with pytest.raises(partial_uploads.Gone):
        partial_uploads.add_part(upload, 0, CONTENT[:PART])
    assert PartialUpload.objects.get().received == 0


def test_while_the_storage_is_away_a_part_is_not_counted(
    bucket: ObjectStorage, settings: Any, tmp_path: Path
) -> None:
    upload = begun()
    away = file_storage(storage_url("http://127.0.0.1:9"), tmp_path)
    settings.STORAGES = {**settings.STORAGES, "default": away}
    with pytest.raises(StorageAway):
        partial_uploads.add_part(upload, 0, CONTENT[:PART])
    assert PartialUpload.objects.get().received == 0
