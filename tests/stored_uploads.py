"""Where the files of submissions lie on disk, for tests that look at them or take them away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files.storage import storages
from django.utils import timezone

from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import UPLOADS, move_in, upload_from_bytes


def uploads_folder() -> Path:
    folder = Path(storages["default"].path(UPLOADS))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stored_path(submission: Submission) -> Path:
    return uploads_folder() / submission.stored_as


def files_below(settings: Any, folder: Path) -> None:
    """Uploads of this test come to ``folder`` and stay there. ``settings``: the fixture of
    pytest-django."""
    settings.UPLOAD_FOLDER = folder
    default = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": folder},
    }
    settings.STORAGES = {**settings.STORAGES, "default": default}


def copies_of(first: Submission, count: int) -> None:
    """As many submissions with files of their own, past all that a team goes through: they have
    failed."""
    rows = []
    for number in range(count):
        upload = upload_from_bytes(b"what a team sent %d\n" % number, "responses.jsonl")
        move_in(upload)
        row = Submission.objects.get(pk=first.pk)
        row.pk, row.public_id, row.stored_as, row.sha256 = (
            None,
            f"copy-{number}",
            upload.path.name,
            upload.sha256,
        )
        row.state, row.error, row.ended_at = (
            Submission.State.FAILED,
            "as a test wants it",
            timezone.now(),
        )
        row.day_place = row.total_place = None
        rows.append(row)
    Submission.objects.bulk_create(rows)
