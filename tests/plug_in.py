"""A package that brings a metric, found as one that somebody installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.own_home import HOME


@cache
def plug_in(name: str, code: str, metric: str) -> Path:
    """The folder, for a site's PYTHONPATH, of the module ``name`` with its entry point. It is the
    same for all sites of a test process: they share what is loaded (``tests/loaded.py``)."""
    (HOME / "plug-ins").mkdir(exist_ok=True)
    folder = Path(mkdtemp(dir=HOME / "plug-ins"))
    information = folder / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (folder / f"{name}.py").write_text(code)
    (information / "entry_points.txt").write_text(f"[dialeval.metrics]\n{metric}\n")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    return folder
