"""Half an hour of mixed load on PostgreSQL and Redis: readers, raters, uploads, metric runs and
statistics at once (``bench.mixed_load``). What web server and workers hold does not grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site import PROJECT

MINUTES = os.environ.get("DIALEVAL_LOAD_MINUTES", "")
MOST_MB, MOST_SHARE_OF_BEGIN = 40, 0.10
"""Of growth in the second half of the time (``Memory.growth``): the site itself grows meanwhile, by
some 90 systems."""


@pytest.mark.slow
@pytest.mark.skipif(not MINUTES, reason="takes half an hour: DIALEVAL_LOAD_MINUTES=30 runs it")
def test_the_site_s_memory_does_not_grow_under_half_an_hour_of_mixed_load(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    seconds = 60 * float(MINUTES)
    options = ["--small", "--no-drain", "--seconds", str(seconds), "--json", str(figures)]
    ended = subprocess.run(
        [sys.executable, "-m", "bench.mixed_load", *options],
        cwd=PROJECT,
        env=os.environ | {"DIALEVAL_PAGE_CACHE_MB": "25"},  # full within minutes
        capture_output=True,
        text=True,
        check=False,
    )
    print(ended.stdout, ended.stderr[-5_000:])
    assert figures.exists(), "the load did not come to its end"
    found = json.loads(figures.read_text())
    assert not found["faults"]
    parts = {part: memory for part, memory in found["memory_mb"].items() if part != "PostgreSQL"}
    assert {part.split()[0] for part in parts} >= {"web", "worker"}
    for part, memory in parts.items():
        allowed = max(MOST_MB, MOST_SHARE_OF_BEGIN * memory["begin"])
        assert memory["growth"] <= allowed, f"{part} grew by {memory['growth']:.0f} MB"
