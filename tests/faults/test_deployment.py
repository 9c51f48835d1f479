"""The processes of deploy/Procfile, as processes: they come up, do work, restart without losing a
request, and end."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ON_SERVICES, made_site
from tests.deploy.test_files import procfile
from tests.faults.test_models_on_workers import corpus
from tests.own_home import HOME
from tests.services import free_port
from tests.site import PROJECT, Process, Site, wait_until
from workers.metrics.wordnet import dictionary_folder, verify

pytestmark = pytest.mark.slow

TOKEN = "quiet-river-monitoring"
BIN = Path(sys.executable).parent
DIALOGUES = 6
"""Of a corpus of which workers compute every statistic as soon as it is there."""


class Deployed:
    """A site in production mode, started by the Procfile's own lines as a shell would start
    them."""

    web: subprocess.Popen[bytes]

    def __init__(self, site: Site) -> None:
        self.site = site
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        site.settings |= {
            "DIALEVAL_MODE": "production",
            "SECRET_KEY": "QWx0IGluIGRpZSBKYWhyZSBnZWtvbW1lbiwgYWJlciBub2NoIG11bnRlcg",
            "ALLOWED_HOSTS": "127.0.0.1",
            "DIALEVAL_PROXIES": "1",
            "DIALEVAL_LOG_FORMAT": "json",
            "DIALEVAL_MONITORING_TOKEN": TOKEN,
            "PORT": str(self.port),
            "WEB_CONCURRENCY": "2",
            "CPU_PROCESSES": "1",
            "LLM_PROCESSES": "1",
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }

    def release(self) -> str:
        """What it printed."""
        done = subprocess.run(
            ["/bin/sh", "-c", procfile()["release"]], cwd=PROJECT, check=True, timeout=240,
            env={**self.site.environment, "NLTK_DATA": str(HOME / "nltk_data")},
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout

    def install(self) -> None:
        """What a release leaves: the test's database is migrated as it comes, and the assets are
        those that one process collected for all its tests."""
        collected = HOME / "collected" / "static"
        if not collected.exists():
            environment = {**self.site.environment, "DIALEVAL_HOME": str(collected.parent)}
            command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
            subprocess.run(command, cwd=PROJECT, env=environment, check=True, timeout=240)
        (self.site.home / "static").symlink_to(collected)

    def start(self, name: str, listening: socket.socket | None = None) -> subprocess.Popen[bytes]:
        """With a socket that listens, as systemd hands it over: file 3 of the process whose number
        is named."""
        log = (self.site.home / f"{name}.log").open("ab")
        handed_over = (
            f"LISTEN_FDS=1 LISTEN_PID=$$ exec {procfile()[name]} 3<&{listening.fileno()}"
            if listening
            else ""
        )
        process = subprocess.Popen(
            ["/bin/bash", "-c", handed_over or f"exec {procfile()[name]}"],
            cwd=PROJECT,
            env=self.site.environment,
            stdout=subprocess.DEVNULL,  # Celery's greeting, for people
            stderr=log,
            pass_fds=[listening.fileno()] if listening else [],
            start_new_session=True,
        )
        log.close()
        self.site.processes.append(process)
        return process

    def start_loaded_web(self) -> Process:
        """The Procfile's web server as a fork of a process that has loaded the site, for tests of
        what it answers (``tests/loaded.py``)."""
        return self.site.start("web", "-m", *shlex.split(procfile()["web"]))

    def ask(self, path: str, seconds: float = 30, **headers: str) -> tuple[int, bytes, Any]:
        sent = {
            "X-Forwarded-Proto": "https",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.address + path, headers=sent), timeout=seconds
            ) as answer:
                return answer.status, answer.read(), answer.headers
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read(), refusal.headers
        except (OSError, http.client.HTTPException):  # the latter where an answer was cut off
            return 0, b"", {}

    def ready(self) -> dict[str, Any]:
        status, body, _ = self.ask("/ready/")
        return {"http": status, **(json.loads(body) if status in (200, 503) else {})}

    def figures(self) -> dict[str, float]:
        status, body, _ = self.ask("/monitoring/", Authorization=f"Bearer {TOKEN}")
        assert status == 200, body
        lines = [
            line.rsplit(" ", 1) for line in body.decode().splitlines() if not line.startswith("#")
        ]
        return {name: float(value) for name, value in lines}

    def log(self, name: str) -> list[dict[str, Any]]:
        """Its lines as documents; one that is none fails the test."""
        return [
            json.loads(line) for line in (self.site.home / f"{name}.log").read_text().splitlines()
        ]


@pytest.fixture
def deployed(site: Site) -> Deployed:
    return Deployed(site)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployed, str]]:
    """Where the Procfile's release has run, and what it printed."""
    with made_site(tmp_path_factory.mktemp("released")) as site:
        (site.home / "nltk_data").unlink(missing_ok=True)
        deployed = Deployed(site)
        yield deployed, deployed.release()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Its web server runs for the tests that leave it as it was and the last one, which ends it."""
    with made_site(tmp_path_factory.mktemp("served")) as site:
        served = Deployed(site)
        served.install()
        served.web = served.start("web")
        wait_until(lambda: served.ready()["http"] == 200, 120, "the site is ready")
        yield served


def test_the_procfile_s_processes_come_up_do_work_and_end(
    released: tuple[Deployed, str],
) -> None:
    """One request's id is in the web server's log and in that of the worker that did what it asked
    for."""
    deployed, _ = released
    names = ["web", "worker-cpu", "worker-llm"]
    processes = {name: deployed.start(name) for name in names}
    wait_until(lambda: deployed.ready()["http"] == 200, 120, "the site is ready")
    wait_until(
        lambda: all(deployed.ready()["workers"][queue]["reason"] == "" for queue in ("cpu", "llm")),
        120, "both workers were seen",
    )  # fmt: skip
    assert deployed.ready()["workers"]["gpu"]["reason"] == "no worker was ever seen"

    file = deployed.site.home / "usual.jsonl"
    file.write_text(corpus(DIALOGUES, raters=("ann", "bob")))
    deployed.site.manage("import_corpus", "jsonl", file, "--slug", "usual")
    deployed.site.manage("score", "--corpus", "usual", "--metrics", "word_f1")
    done = (
        "from workers.models import MetricRun as M; "
        "print(M.objects.exclude(state='done').count(), M.objects.count())"
    )
    left, all_of_them = deployed.site.python(done).split()
    assert left == "0"
    assert int(all_of_them) >= 1
    status, _, headers = deployed.ask("/corpora/usual/", X_Request_ID="the-proxy-s-own-1")
    assert (status, headers["X-Request-ID"]) == (200, "the-proxy-s-own-1")
    asked = [line for line in deployed.log("web") if line.get("request_id") == "the-proxy-s-own-1"]
    assert [(line["route"], line["status"]) for line in asked] == [("corpus", 200)]

    # Nobody computes this page before somebody looks.
    deployed.ask("/metrics/word_f1/", X_Request_ID="looks-at-a-metric")
    followed = lambda: [  # noqa: E731
        line
        for line in deployed.log("worker-cpu")
        if line.get("request_id") == "looks-at-a-metric" and "row" in line
    ]
    wait_until(followed, 60, "the worker's line has the request's id")
    assert followed()[0]["row"].startswith("analysis ")

    for name in reversed(names):
        processes[name].send_signal(signal.SIGTERM)
    assert {name: processes[name].wait(timeout=60) for name in names} == dict.fromkeys(names, 0)
    for name in names:
        assert [line for line in deployed.log(name) if line["level"] == "ERROR"] == []


def test_processes_add_up_what_they_count(served: Deployed) -> None:
    """Each counts in its own file, and the sum is what was asked."""
    for _ in range(20):
        assert served.ask("/metrics/")[0] == 200
    assert len(children(served.web.pid)) == 2
    counted = 'dialeval_requests_total{method="GET",status="2xx",view="metrics"}'
    assert served.figures()[counted] == 20


def test_asking_from_within_says_it_by_the_exit_status(
    deployed: Deployed, served: Deployed
) -> None:
    """What the containers' health checks run, where nothing serves and where it does."""
    for where, status in ((deployed, 1), (served, 0)):
        asked = subprocess.run(
            [sys.executable, "deploy/answers.py", "health"], cwd=PROJECT, check=False,
            env=where.site.environment, capture_output=True, timeout=60,
        )  # fmt: skip
        assert asked.returncode == status


def test_a_request_under_way_is_answered_before_the_server_ends(served: Deployed) -> None:
    """Half of a form is sent when SIGTERM comes; the other half once the server says that it
    ends."""
    form = b"username=ann&password=quiet-river"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(
            b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n"
            b"Content-Length: " + str(len(form)).encode() + b"\r\n\r\n" + form[:10]
        )
        time.sleep(1)  # until a thread has begun to read it
        served.web.send_signal(signal.SIGTERM)
        wait_until(
            lambda: "Handling signal: term" in (served.site.home / "web.log").read_text(),
            30,
            "it ends",
        )
        time.sleep(1)  # in which a server that waits for nobody would be gone
        assert served.web.poll() is None
        connection.sendall(form[10:])
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    # A form without a token: read, and refused
    assert answer.startswith(b"HTTP/1.1 403 "), answer[:200]
    assert b"</html>" in answer
    assert served.web.wait(timeout=60) == 0


def test_a_restart_behind_systemd_s_socket_loses_no_request(deployed: Deployed) -> None:
    """While eight visitors look at pages the web server ends and another begins, as ``systemctl
    restart`` has it: the socket stays, who comes meanwhile waits in its queue. Both servers
    answered some of them."""
    deployed.install()
    with socket.create_server(("127.0.0.1", deployed.port), backlog=128) as listening:
        first = deployed.start("web", listening)
        wait_until(lambda: deployed.ready()["http"] == 200, 120, "the site is ready")
        stopping, outcomes = threading.Event(), []
        crowd = [
            threading.Thread(target=visit, args=(deployed, stopping, outcomes)) for _ in range(8)
        ]
        for visitor in crowd:
            visitor.start()
        wait_until(lambda: len(outcomes) >= 20, 60, "visitors are under way")
        first.send_signal(signal.SIGTERM)
        assert first.wait(timeout=90) == 0
        answered_by_the_first = len(outcomes)
        second = deployed.start("web", listening)
        wait_until(lambda: len(outcomes) >= answered_by_the_first + 20, 120, "the second answers")
        stopping.set()
        for visitor in crowd:
            visitor.join()
        second.send_signal(signal.SIGTERM)
        assert second.wait(timeout=90) == 0
    assert set(outcomes) == {200}


def visit(deployed: Deployed, stopping: threading.Event, outcomes: list[int]) -> None:
    """0 where a request had no answer. It waits while a new server loads: on a machine that does
    much else for long."""
    while not stopping.is_set():
        outcomes.append(deployed.ask("/metrics/", seconds=240)[0])


def children(pid: int) -> set[int]:
    return {int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def test_a_schema_that_waits_for_migrations_is_not_ready(deployed: Deployed) -> None:
    """As between steps 2 and 3 of an update without a break: no visitor is sent to the new code too
    early."""
    deployed.install()
    deployed.site.python(
        "from django.db.migrations.recorder import MigrationRecorder as R; from django.db import "
        "connection\nR(connection).migration_qs.filter(app='workers', "
        "name='0006_chunks_of_stored_scores').delete()"
    )
    deployed.start_loaded_web()
    wait_until(lambda: deployed.ask("/health/")[0] == 200, 120, "the process lives")
    found = deployed.ready()
    assert found["http"] == 503
    assert (
        found["checks"]["migrations"]["reason"]
        == "1 migrations are to be applied, first workers.0006_chunks_of_stored_scores"
    )
    assert deployed.site.manage("migrate", "--check", check=False).returncode == 1
    deployed.site.manage("migrate", "workers", "0006", "--fake")
    assert deployed.ready()["http"] == 200


@pytest.mark.skipif(not ON_SERVICES, reason="a database that can be away")
def test_a_process_without_its_database_lives_and_is_not_ready(deployed: Deployed) -> None:
    """Liveness answers at once, readiness within its two seconds, neither names the database's
    password."""
    url = deployed.site.settings["DATABASE_URL"]
    deployed.install()
    deployed.site.settings["DATABASE_URL"] = (
        f"postgres://ann:quiet-river@127.0.0.1:{free_port()}/nothing"
    )
    deployed.start_loaded_web()
    wait_until(lambda: deployed.ask("/health/")[0] == 200, 120, "the process lives")
    begun = time.monotonic()
    found = deployed.ready()
    assert time.monotonic() - begun < 25  # the question itself is given thirty
    assert found["http"] == 503
    assert not found["checks"]["database"]["ok"]
    assert found["checks"]["uploads"]["ok"]
    assert "quiet-river" not in json.dumps(found)
    begun = time.monotonic()
    assert deployed.ask("/health/")[0] == 200
    assert time.monotonic() - begun < 25
    logs = [log.read_text() for log in deployed.site.home.glob("web-*.log")]
    assert logs
    assert not any("quiet-river" in log for log in logs)
    deployed.site.settings["DATABASE_URL"] = url


@pytest.mark.skipif(
    not dictionary_folder(HOME / "nltk_data").is_dir(),
    reason="METEOR's word list is not on this machine",
)
def test_release_puts_meteor_s_word_list_where_workers_look(
    released: tuple[Deployed, str],
) -> None:
    """From the folder NLTK_DATA, as the image has it, into an empty DIALEVAL_HOME."""
    deployed, printed = released
    copied = printed.splitlines()[-1]
    assert copied.endswith(f" from {dictionary_folder(HOME / 'nltk_data')}")
    verify(dictionary_folder(deployed.site.home / "nltk_data"))


def test_commands_of_the_procfile_are_programs_of_the_environment() -> None:
    for command in procfile().values():
        program = shlex.split(re.sub(r"\$\{\w+:-(\d+)\}", r"\1", command))[0]
        assert shutil.which(program, path=str(BIN)), program
