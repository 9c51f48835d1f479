"""Where the files of submissions lie on disk, for tests that look at them or take them away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files.storage import storages

from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import UPLOADS


def uploads_folder() -> Path:
    folder = Path(storages["default"].path(UPLOADS))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stored_path(submission: Submission) -> Path:
    return uploads_folder() / submission.stored_as


def files_below(settings: Any, folder: Path) -> None:
    """Uploads of this test come to ``folder`` and stay there. ``settings``: the fixture of pytest-django."""
    settings.UPLOAD_FOLDER = folder
    default = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
