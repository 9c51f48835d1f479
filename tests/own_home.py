"""A folder of their own for the tests' state. A plug-in (``-p tests.own_home``), because
pytest-django reads the site's settings before any conftest.py: set there, DIALEVAL_HOME came too
late and tests wrote into ``var/``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_FOLDER = tempfile.TemporaryDirectory(prefix="dialeval-test-")
HOME = Path(_FOLDER.name)
(HOME / "static").mkdir()  # where collected assets would lie; without it every page warns

_given = Path(os.environ.get("DIALEVAL_HOME") or Path(__file__).parent.parent / "var")
if (_given / "nltk_data").is_dir():
    (HOME / "nltk_data").symlink_to((_given / "nltk_data").resolve())
os.environ["DIALEVAL_HOME"] = str(HOME)
os.environ["DIALEVAL_MODE"] = "development"
