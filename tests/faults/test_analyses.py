"""Statistics with real workers, which die, meet changing data, and are not there."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from tests.faults.test_workers import METADATA, small_corpus
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

SLOW_KIND = """
from leaderboard.analyses import Kind, register
from workers.metrics.base import Metric


def compute(version):
    import time

    before = version.revision
    time.sleep(3)
    return {"revision": before}


register(Kind("slow", compute))
slow = Metric(
    name="carries_a_kind", version="1", summary="Carries a slow statistic.", citation="for tests", build=lambda _: None
)
"""
LOOK = (
    "from workers.metrics.registry import all_metrics; all_metrics()\n"
    "from annotations.queries import version_of; from leaderboard.analyses import look\n"
    "found = look(version_of('small'), 'slow'); print(found.state, (found.answer or {}).get('revision'))"
)
STATE = "from leaderboard.models import Analysis\nrow = Analysis.objects.get()\nprint(f'{row.state}:{row.attempts}')"
CHANGE = "from annotations.actions import data_changed; from annotations.queries import version_of\n"
CHANGE += "data_changed([version_of('small').pk])"


@pytest.fixture
def slow_site(site: Site, tmp_path: Path) -> Site:
    plug_in = tmp_path / "plug-in"
    information = plug_in / "slow_kind-1.dist-info"
    information.mkdir(parents=True)
    (plug_in / "slow_kind.py").write_text(SLOW_KIND)
    (information / "entry_points.txt").write_text("[dialeval.metrics]\ncarries_a_kind = slow_kind:slow\n")
    (information / "METADATA").write_text(METADATA.replace("slow-metric", "slow-kind"))
    site.settings["PYTHONPATH"] = str(plug_in)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(small_corpus(dialogues=3))
    site.manage("import_corpus", "jsonl", corpus, "--slug", "small")
    return site


def test_a_worker_that_is_killed_at_it_leaves_it_to_another(slow_site: Site) -> None:
    first = slow_site.start_worker()
    assert slow_site.python(LOOK) == "waiting None"
    wait_until(lambda: slow_site.python(STATE) == "running:1", 60, "the first worker has it")
    kill(first)
    slow_site.start_worker()
    wait_until(lambda: slow_site.python(STATE) == "done:2", 60, "the second worker computed it")
    assert slow_site.python(LOOK) == "present 0"


def test_data_that_change_while_it_is_computed_make_it_anew_without_a_look(slow_site: Site) -> None:
    slow_site.start_worker()
    slow_site.python(LOOK)
    wait_until(lambda: slow_site.python(STATE) == "running:1", 60, "it is under way")
    slow_site.python(CHANGE)
    wait_until(lambda: slow_site.python(STATE) == "done:1", 60, "it is done")
    assert slow_site.python(LOOK) == "stale 0"  # shown, and said to be older
    answer = "from leaderboard.models import Analysis\nprint(Analysis.objects.get().answer)"
    wait_until(lambda: slow_site.python(answer) == "{'revision': 1}", 60, "the sweep had it made anew")


def test_the_first_look_at_a_page_waits_and_then_it_is_there(slow_site: Site) -> None:
    address = f"{slow_site.start_web()}/corpora/small/metrics/"

    def shown() -> str:
        with urllib.request.urlopen(address) as response:
            return response.read().decode()

    first = shown()
    assert "wait for a worker" in first
    assert '<noscript><meta http-equiv="refresh"' in first
    slow_site.start_worker()
    wait_until(lambda: "wait for a worker" not in shown() and "being computed" not in shown(), 60, "the board")


def test_the_command_computes_what_waits_where_there_is_no_worker(site: Site, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(small_corpus(dialogues=3))
    site.manage("import_corpus", "jsonl", corpus, "--slug", "small")
    site.manage("score", "--corpus", "small", "--metrics", "word_f1", "--inline")
    spread = LOOK.replace("'slow')", "'score-spread', text='word_f1')")
    assert site.python(spread) == "waiting None"
    assert site.manage("analyse", "--corpus", "small").stdout.strip() == "computed 1 statistics, 0 failed"
    assert site.python(spread) == "present None"
