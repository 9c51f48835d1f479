"""A worker of the released 0.2.0 goes on beside today's web server and worker, on the migrated
database: what docs/operators.md promises of updates without a break."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from tests.annotations.stored import two_systems, written
from tests.site import PROJECT, Site, wait_until

pytestmark = pytest.mark.slow

RELEASED = "31b96b7"
"""The last commit of 0.2.0."""
WORKER = """
import sys
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in str(one).lower()]
sys.path.insert(0, "")
sys.argv = ["celery", *sys.argv[1:]]
from celery.__main__ import main
main()
"""
"""Without today's code, which is installed in this environment."""
REQUEST = """
from annotations.corpora.queries import select_systems, version_of
from workers.runs import actions as runs
from workers.metrics.common.configuration import parse
runs.request([parse(one) for one in {metrics!r}], select_systems(version_of("small")))
"""
UNKNOWN_QUESTION = "metric_correlations() got an unexpected keyword argument 'systems'"
"""Statistics are requested as soon as the last run has ended: either worker may be first."""
READ = """
import json
from workers.models import MetricRun
print(json.dumps([[run.metric, run.system.name, run.state, run.attempts, run.turn_scores, run.error]
    for run in MetricRun.objects.select_related("system").order_by("pk")]))
"""


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A folder with the code of 0.2.0."""
    packed = subprocess.run(
        ["git", "archive", RELEASED], cwd=PROJECT, capture_output=True, check=False
    )
    if packed.returncode:
        pytest.skip("the history of this checkout does not reach back to 0.2.0")
    folder = tmp_path / "released"
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as tar:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(folder)
    return folder


def start_old_worker(site: Site, released: Path) -> subprocess.Popen[bytes]:
    options = ["-A", "dialeval_site", "worker", "--queues", "cpu,gpu,llm", "--concurrency", "1"]
    with (site.home / "old-worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *options, "--loglevel", "INFO", "--without-mingle"],
            cwd=released,
            env=site.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    site.processes.append(process)
    return process


def runs_of(site: Site) -> list[list[object]]:
    found: list[list[object]] = json.loads(site.python(READ))
    return found


def request(site: Site, *metrics: str) -> None:
    site.python(REQUEST.format(metrics=metrics))


def all_ended(site: Site, count: int, *states: str) -> bool:
    found = [state for (state,) in site.rows("SELECT state FROM workers_metricrun")]
    return len(found) == count and {*found} <= {*states}


def test_an_old_worker_beside_new_code(site: Site, released: Path, tmp_path: Path) -> None:
    """Nothing is lost, nothing computed twice or by an old rule, nobody crashes: a metric whose
    version changed fails on the old worker, which says so, and is done when asked for again; so is
    a statistic whose question it does not know. The statistics come to rest once the old worker has
    ended."""
    path = written(two_systems(), tmp_path / "small.jsonl")
    site.manage("import_corpus", "jsonl", path, "--slug", "small")
    old = start_old_worker(site, released)
    request(site, "word_f1")
    wait_until(
        lambda: all_ended(site, 2, "failed"), 240, "the old worker refuses what it does not know"
    )
    assert all("this worker has version 1" in str(one[5]) for one in runs_of(site))
    site.start_web()
    new = site.start_worker()
    metrics = ("word_f1", "rouge_1", "rouge_2", "rouge_l", "bleu_1", "bleu_2", "bleu_3")
    request(site, *metrics)
    assert "stored v1" in site.manage("import_corpus", "jsonl", path, "--slug", "other").stdout
    assert "deleted" in site.manage("delete_corpus", "other").stdout
    wait_until(lambda: all_ended(site, 14, "done", "failed"), 240, "both end the rest")
    assert (old.poll(), new.poll()) == (None, None)
    assert {one[3] for one in runs_of(site)} == {1}  # nobody had a run that another had
    assert all(
        "this worker has version 1" in str(one[5]) for one in runs_of(site) if one[2] == "failed"
    )
    old.send_signal(signal.SIGTERM)
    assert old.wait(timeout=120) == 0
    log = (site.home / "old-worker.log").read_text()
    refused = log.count("ValueError: the run asks for") + log.count(UNKNOWN_QUESTION)
    assert log.count("Traceback") == refused, log
    assert log.count("Connected to") == 1  # it was not begun again and again
    request(site, *metrics)
    wait_until(
        lambda: all_ended(site, 14, "done"), 240, "the new worker does what the old one refused"
    )
    found = runs_of(site)
    assert all(one[4] for one in found)

    site.python(
        "from django.test import Client\n"
        "[Client().get(f'/corpora/small/{page}', headers={'host': 'localhost'})"
        " for page in ('metrics/', 'systems/')]"
    )
    wait_until(
        lambda: site.rows("SELECT DISTINCT state FROM leaderboard_analysis") == [("done",)],
        240,
        "statistics",
    )
    site.python(
        "from workers.models import MetricRun\nMetricRun.objects.filter(metric='word_f1').delete()"
    )
    request(site, "word_f1")
    wait_until(lambda: all_ended(site, 14, "done"), 240, "what was deleted is recomputed")
    before = {(one[0], one[1]): one[4] for one in found}
    assert {(one[0], one[1]): one[4] for one in runs_of(site)} == before
