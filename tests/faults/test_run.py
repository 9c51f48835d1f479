"""``manage.py run``: one command starts everything, Ctrl-C leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import made_site
from tests.faults.test_chat import MESSAGES, answer, ask, needs_packaged_model
from tests.services import free_port
from tests.site import PROJECT, Site, answers, wait_until

pytestmark = pytest.mark.slow


Running = tuple[subprocess.Popen[str], str, Site]


@pytest.fixture
def with_demo(site: Site) -> Running:
    return run(site)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Without the demo, whose scores take its workers what others wait for; one for the tests that
    leave it as it was and the last one, which kills it."""
    with made_site(tmp_path_factory.mktemp("running")) as site:
        (site.home / "nltk_data").unlink(missing_ok=True)  # as in ``conftest.py``
        yield run(site, "--no-demo")


def run(site: Site, *options: str) -> Running:
    # As on a site: on a busy machine to sweep twice a second takes what the workers need
    site.settings["DIALEVAL_SWEEP_SECONDS"] = "10"
    port = free_port()
    process = start(site, port, *options)
    address = f"http://127.0.0.1:{port}"
    wait_until(
        lambda: answers(f"{address}/health/") or process.poll() is not None, 300, "the site answers"
    )
    assert process.poll() is None, process.communicate()
    return process, address, site


def start(site: Site, port: int, *options: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "run", "--port", str(port), *options],
        cwd=PROJECT,
        env=site.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN
        ),  # as a shell starts a background job
    )
    site.processes.append(process)  # type: ignore[arg-type]
    return process


def processes_of(home: Path) -> list[str]:
    """Every process that was started with this DIALEVAL_HOME, whoever its parent is now."""
    wanted = f"DIALEVAL_HOME={home}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it ended while we looked, or is not ours to see
    return found


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"
)


@needs_proc
def test_it_scores_the_demo_says_how_to_log_in_and_leaves_no_process_behind(with_demo) -> None:
    """All lexical metrics, and of the first in the queue of models a system; the others and the
    judge take minutes: they are stopped at work."""
    process, address, site = with_demo
    runs = "from workers.models import MetricRun as M; print(M.objects.{}.count())"
    later = ["bertscore_f1", "simcse", "context_similarity", "fbd", "pmi", "cpdscore_detail"]
    left = (
        f"(M.objects.exclude(state='done').exclude(metric__in={later}).exists() or not "
        "M.objects.filter(state='done', metric='bertscore_f1').exists())"
    )
    # Asked by one process, not by a new one each time: those would take the processor from the
    # workers.
    waits = (
        "import time\nfrom workers.models import MetricRun as M\ndeadline = time.monotonic() + "
        f"200\nwhile {left} and time.monotonic() < deadline:\n    time.sleep(0.5)\nprint({left})"
    )
    wait_until(lambda: site.python(waits) == "False", 900, "the workers scored the demo")
    assert site.python(runs.format("filter(metric='fbd')")) != "0"
    assert any("celery" in command for command in processes_of(site.home))
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert f"dialeval is at {address}/" in output
    assert "demo-organiser" in output
    assert processes_of(site.home) == []


def test_starting_it_twice_is_harmless(running) -> None:
    _, address, site = running
    second = start(site, free_port())
    output, _ = second.communicate(timeout=240)
    assert second.returncode == 0
    assert output.strip() == f"dialeval runs already at {address}/"
    assert answers(f"{address}/health/")


@needs_packaged_model
@needs_proc
def test_it_brings_a_model_that_answers_and_shows_its_key_to_nobody(running) -> None:
    _, _, site = running
    ask(site)
    wait_until(
        lambda: answer(site).startswith(("done", "failed")), 240, "the packaged model answered"
    )
    told = site.python(
        f"{MESSAGES}m = Message.objects.get(speaker='B'); print(m.state, m.signature, m.error)"
    )
    assert told.startswith("done model:smollm2-135m-instruct|")
    key = key_of_the_server(site.home)
    assert len(key) > 30
    assert not any(key in command for command in processes_of(site.home))
    logs = [log for log in (site.home / "logs").iterdir() if log.is_file()]
    assert {"model.log", "worker.log", "web.log"} <= {log.name for log in logs}
    assert not any(key in log.read_text(errors="replace") for log in logs)


def key_of_the_server(home: Path) -> str:
    for entry in Path("/proc").iterdir():
        try:
            variables = (
                (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
            )
        except OSError:
            continue
        if f"DIALEVAL_HOME={home}".encode() not in variables:
            continue
        for variable in variables:
            if variable.startswith(b"DIALEVAL_LOCAL_SERVER_KEY="):
                return variable.partition(b"=")[2].decode()
    return ""


def test_assets_come_compressed_and_are_cached_for_ever(running) -> None:
    _, address, _ = running
    page = urllib.request.urlopen(f"{address}/", timeout=30).read().decode()
    (sheet,) = re.findall(r"/static/dialeval/site-home\.[0-9a-f]{12}\.css", page)
    asked = urllib.request.Request(f"{address}{sheet}", headers={"Accept-Encoding": "gzip"})
    headers = urllib.request.urlopen(asked, timeout=30).headers
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Cache-Control"] == "max-age=315360000, public, immutable"


@needs_proc
def test_when_it_is_killed_its_children_end_too(running) -> None:
    """Nor had it said the key of its model."""
    process, _, site = running
    key = key_of_the_server(site.home)
    os.kill(process.pid, signal.SIGKILL)
    output, errors = process.communicate()
    assert not key or key not in output + errors
    wait_until(
        lambda: processes_of(site.home) == [], 120, "worker and web server ended with their parent"
    )


def test_a_taken_port_is_named(site: Site) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        finished = site.manage("run", "--port", str(taken.getsockname()[1]), check=False)
    assert finished.returncode == 1
    assert "choose another with --port" in finished.stderr
