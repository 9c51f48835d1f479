"""Statistics with real workers, which die, meet changing data, and are not there."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_workers import small_corpus
from tests.plug_in import plug_in
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

SLOW_KIND = """
import os
import time
from pathlib import Path

from leaderboard.results import registered
from workers.metrics.base import Metric


@registered("slow", version=1)
def compute(version):
    while not Path(os.environ["GATES"], str(version.revision)).exists():
        time.sleep(0.05)
    return {"revision": version.revision}


slow = Metric(
    name="carries_a_kind", version="1", summary="Carries a slow statistic.", citation="for tests", build=lambda _: None
)
"""
"""It takes until the test opens the gate of the data's revision: no longer, and no less on a quick
machine."""
LOOK = (
    "from workers.metrics.registry import all_metrics; all_metrics()\nfrom annotations.corpora.queries "
    "import version_of; from leaderboard.results import look\nfound = look(version_of('small'), "
    "'slow')\nprint(found.state, found.answer['revision'] if isinstance(found.answer, dict) else None)"
)
CHANGE = (
    "from annotations.corpora.actions import data_changed; from annotations.corpora.queries import version_of\n"
    "import os, time; from pathlib import Path\n"
    "while not Path(os.environ['GATES'], 'change').exists(): time.sleep(0.05)\n"
    "data_changed([version_of('small').pk])"
)
"""Started beforehand: a process needs seconds to load what it takes."""
PATIENCE = 120
"""Seconds until something happens that must happen: a worker's start takes a minute where ten
others start."""


def state(site: Site) -> str:
    """``running:1``: the slow analysis's state, and at which attempt. Others are computed before
    somebody looks."""
    return " ".join(
        f"{state}:{attempts}"
        for state, attempts in site.rows(
            "SELECT state, attempts FROM leaderboard_analysis WHERE kind = 'slow'"
        )
    )


def revision(site: Site) -> int:
    return int(site.rows("SELECT revision FROM annotations_corpusversion")[0][0])


def answer(site: Site) -> Any:
    """As PostgreSQL or as SQLite gives it: read, or as text."""
    found = site.rows("SELECT answer FROM leaderboard_analysis WHERE kind = 'slow'")[0][0]
    return json.loads(found) if isinstance(found, str) else found


def open_gate(site: Site, name: str | int) -> None:
    Path(site.settings["GATES"], str(name)).touch()


@pytest.fixture
def slow_site(site: Site, tmp_path: Path) -> Site:
    gates = tmp_path / "gates"
    gates.mkdir()
    brings_it = plug_in("slow_kind", SLOW_KIND, "carries_a_kind = slow_kind:slow")
    site.settings |= {"PYTHONPATH": str(brings_it), "GATES": str(gates)}
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(small_corpus(dialogues=3))
    site.manage("import_corpus", "jsonl", corpus, "--slug", "small")
    return site


def test_a_worker_that_is_killed_at_it_leaves_it_to_another(slow_site: Site) -> None:
    first = slow_site.start_worker()
    assert slow_site.python(LOOK) == "waiting None"
    wait_until(lambda: state(slow_site) == "running:1", PATIENCE, "the first worker has it")
    kill(first)
    open_gate(slow_site, 0)
    slow_site.start_worker()
    wait_until(lambda: state(slow_site) == "done:2", PATIENCE, "the second worker computed it")
    assert slow_site.python(LOOK) == "present 0"


def test_data_that_change_while_it_is_computed_make_it_anew_without_a_look(slow_site: Site) -> None:
    slow_site.start_worker()
    slow_site.start("change", "manage.py", "shell", "--verbosity", "0", "-c", CHANGE)
    slow_site.python(LOOK)
    wait_until(lambda: state(slow_site) == "running:1", PATIENCE, "it is under way")
    open_gate(slow_site, "change")
    wait_until(lambda: revision(slow_site) == 1, PATIENCE, "the data changed")
    open_gate(slow_site, 0)
    wait_until(lambda: answer(slow_site) == {"revision": 0}, PATIENCE, "it is stored")
    assert slow_site.python(LOOK) == "stale 0"  # shown, and said to be older
    open_gate(slow_site, 1)
    wait_until(
        lambda: answer(slow_site) == {"revision": 1}, PATIENCE, "the sweep had it recomputed"
    )


def test_the_first_look_at_a_page_waits_and_then_it_is_there(slow_site: Site) -> None:
    address = f"{slow_site.start_web()}/corpora/small/metrics/"

    def shown() -> str:
        with urllib.request.urlopen(address) as response:
            return response.read().decode()

    first = shown()
    assert "wait for a worker" in first
    assert '<noscript><meta http-equiv="refresh"' in first
    slow_site.start_worker()
    wait_until(
        lambda: "wait for a worker" not in shown() and "being computed" not in shown(),
        PATIENCE,
        "the board",
    )


def test_the_command_computes_what_waits_where_there_is_no_worker(
    site: Site, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(small_corpus(dialogues=3))
    site.manage("import_corpus", "jsonl", corpus, "--slug", "small")
    site.manage("score", "--corpus", "small", "--metrics", "word_f1", "--inline")
    spread = LOOK.replace("'slow')", "'score-spread', text='word_f1')")
    assert site.python(spread) == "waiting None"
    assert (
        site.manage("analyse", "--corpus", "small").stdout.strip()
        == "computed 1 statistics, 0 failed"
    )
    assert site.python(spread) == "present None"
