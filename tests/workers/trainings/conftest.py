from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings

from workers.training import execution


@pytest.fixture(autouse=True)
def own_folders(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a DIALEVAL_HOME without models, and rows say every step."""
    settings.HOME = tmp_path / "home"
    monkeypatch.setattr(execution, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(execution, "CURVES_SECONDS", 0.0)
