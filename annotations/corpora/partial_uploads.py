"""Files that organisers send in parts, so that a broken upload goes on where it stopped. What is
complete is a pending upload like any other (``pending_uploads``)."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from annotations.corpora import pending_uploads
from annotations.corpora.pending_uploads import MAX_AGE, PendingUpload
from annotations.models import PartialUpload
from common import storage
from common.storage import StorageAway

log = logging.getLogger(__name__)

MOST_UPLOADS = 5
"""That one account may have at a time, until each is imported or forgotten."""


class TooManyUploads(Exception):
    """The account has ``MOST_UPLOADS`` already."""


class TooLarge(Exception):
    """The file is larger than an import may be."""


class WrongOffset(Exception):
    """The part does not begin where the last one ended, at ``received``."""

    def __init__(self, received: int) -> None:
        self.received = received


class WrongLength(Exception):
    """Of a part that is neither ``settings.UPLOAD_PART_BYTES`` long nor the file's last."""


class Gone(Exception):
    """The file is no longer here: it has been imported, removed or forgotten."""


def begin(user: Any, file_name: str, size: int, sha256: str) -> tuple[PartialUpload, bool]:
    """The upload of this file, and whether it is new: the same file of the same sender goes on
    where it stopped. Raises ``TooLarge``, ``TooManyUploads``, ``StorageAway``."""
    if size > settings.MAX_CORPUS_UPLOAD_BYTES:
        raise TooLarge
    with transaction.atomic():
        get_user_model().objects.select_for_update().get(pk=user.pk)  # one at a time
        own = PartialUpload.objects.filter(owner=user)
        known = own.filter(size=size, sha256=sha256).first()
        if known is not None:
            is_here = not known.is_complete or storage.is_there(stored_name(known))
            if is_here and known.expires_at > timezone.now():
                return known, False
            remove(known)
        if own.count() >= MOST_UPLOADS:
            raise TooManyUploads
        upload = PartialUpload(
            public_id=token_hex(16),
            owner=user,
            file_name=file_name[:255],
            size=size,
            sha256=sha256,
            expires_at=_expiry(),
        )
        upload.storage_id = storage.begin_parts(stored_name(upload))
        upload.save()
    return upload, True


def add_part(upload: PartialUpload, offset: int, data: bytes) -> PartialUpload:
    """Store the part that begins at ``offset``; the upload as it is then. Of two who send it at
    once the second is refused, with nothing written.

    Raises:
        WrongLength, WrongOffset, Gone, StorageAway: nothing of the part is stored.
    """
    end, length = offset + len(data), settings.UPLOAD_PART_BYTES
    if not data or end > upload.size or offset % length:
        raise WrongLength
    if len(data) != length and end != upload.size:
        raise WrongLength
    name = stored_name(upload)
    with transaction.atomic():
        # First the row: its lock keeps out whoever sends the same part
        rows = PartialUpload.objects.filter(pk=upload.pk)
        if not rows.filter(received=offset).update(received=end, expires_at=_expiry()):
            known = rows.first()
            if known is None:
                raise Gone
            raise WrongOffset(known.received)
        try:
            storage.append_part(name, upload.storage_id, offset // length, offset, data)
            if end == upload.size:
                storage.complete_parts(name, upload.storage_id)
        except (FileNotFoundError, StorageAway) as problem:
            # Or S3 has all of it, and the row was not stored when the last part came before
            if end != upload.size or not storage.is_there(name):
                raise (problem if isinstance(problem, StorageAway) else Gone) from None
        return rows.get()


def pending(upload: PartialUpload, user: Any) -> PendingUpload:
    """Of a complete upload: the file, to be imported. Raises ``Gone``."""
    if not storage.is_there(stored_name(upload)):
        raise Gone
    return pending_uploads.offered(stored_name(upload), upload.file_name, user)


def remove(upload: PartialUpload) -> None:
    """With what came of it; a file that is complete is left to the sweep, as an import may have
    to read it. Raises ``StorageAway``."""
    if not upload.is_complete:
        storage.abandon_parts(stored_name(upload), upload.storage_id)
    upload.delete()


def forget_expired(now: datetime) -> None:
    """Those to which nothing was added for a day."""
    for upload in PartialUpload.objects.filter(expires_at__lt=now):
        with transaction.atomic():
            # As it is now: a part may have come
            locked = PartialUpload.objects.select_for_update()
            expired = locked.filter(pk=upload.pk, expires_at__lt=now).first()
            if expired is None:
                continue
            log.info("%s is forgotten: %d bytes had come", expired, expired.received)
            remove(expired)


def stored_name(upload: PartialUpload) -> str:
    return f"{pending_uploads.FOLDER}/{upload.public_id}"


def _expiry() -> datetime:
    return timezone.now() + timedelta(seconds=MAX_AGE)
