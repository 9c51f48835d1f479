"""The processes of a test's site: its code is loaded once for each set of settings, and each process
of the site is a fork of what is loaded. That process is itself a fork, of one that has loaded the
libraries that no setting changes, once for all sites of a test process.

So each is, as on a site, a process of its own that has run nothing else, without the seconds of a
processor that loading takes: a test that starts a worker, a web server and three commands spent
most of its time on that. That they start from nothing as well, as an operator starts them, is
tested in ``tests/faults/test_run.py`` and ``tests/faults/test_deployment.py``.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
SECONDS_BETWEEN_LOOKS = 0.02
LIBRARIES = (
    "numpy", "scipy.stats", "scipy.optimize", "regex", "markdown_it", "pydantic", "psycopg",
    "redis", "celery.apps.worker", "celery.bin.celery", "celery.concurrency.prefork",
    "kombu.transport.redis", "kombu.transport.filesystem", "gunicorn.app.wsgiapp",
    "gunicorn.workers.gthread", "django.core.management", "django.core.servers.basehttp",
    "django.db.models", "django.db.migrations.executor", "django.forms", "django.template",
    "django.test", "django.views.generic", "sqlparse", "nltk",
    "openai.resources.chat.completions",
)  # fmt: skip
"""What every site loads, and what asks neither settings nor environment as it is loaded."""
PURE = (
    "annotations.agreement", "annotations.formats", "common.correlation", "common.tables",
    "leaderboard.answers", "leaderboard.figures", "leaderboard.statistics", "workers.judges.core",
)  # fmt: skip
"""Packages of the site's own that import no Django (pyproject.toml), so nothing of a site's
settings: half of what loading a site takes."""
READ_AT_THE_START = ("LD_", "PYTHON", "MALLOC", "OPENBLAS", "OMP_", "LANG", "LC_", "NLTK_")
"""Variables of these names are read as a process starts: a fork is too late for them."""


class Libraries:
    """A process that has loaded ``LIBRARIES``, and forks when it is asked."""

    def __init__(self, environment: Mapping[str, str], interpreter: str = sys.executable) -> None:
        # Tests tell a site's own processes by the home that they were started with
        others = {name: value for name, value in environment.items() if name != "DIALEVAL_HOME"}
        self._one_at_a_time = threading.Lock()
        self._asked, heard = socket.socketpair()
        self._process = subprocess.Popen(
            [interpreter, "-m", "tests.loaded"],
            cwd=PROJECT,
            env=others,
            stdin=heard,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        heard.close()

    def fork(self, environment: Mapping[str, str], stdin: int, stdout: int) -> int:
        """The process that does what ``main`` does, with this environment."""
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump(dict(environment), file)
            file.flush()
            return self._ask(f"fork {file.name}", [stdin, stdout])

    def kill(self, pid: int) -> None:
        """One that was forked: its parent knows that the number is still its own."""
        self._ask(f"kill {pid}", [])

    def _ask(self, question: str, streams: list[int]) -> int:
        with self._one_at_a_time:
            socket.send_fds(self._asked, [question.encode()], streams)
            return int(self._asked.recv(100))

    def end(self) -> None:
        self._asked.close()
        self._process.wait()


@cache
def _libraries(interpreter: str, read_at_the_start: frozenset[tuple[str, str]]) -> Libraries:
    """One for all sites of the test process that have the same interpreter and read the same as it
    starts: a library or a package of their own."""
    others = {
        name: value for name, value in os.environ.items() if not name.startswith(READ_AT_THE_START)
    }
    libraries = Libraries({**others, **dict(read_at_the_start)}, interpreter)
    atexit.register(libraries.end)
    return libraries


def _read_at_the_start(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(one for one in environment.items() if one[0].startswith(READ_AT_THE_START))


class Loaded:
    """A process that has loaded a site's code with these settings, and forks when it is asked."""

    def __init__(self, environment: Mapping[str, str], interpreter: str = sys.executable) -> None:
        self._one_at_a_time = threading.Lock()
        self._libraries = _libraries(interpreter, _read_at_the_start(environment))
        stdin, asked = os.pipe()
        answered, stdout = os.pipe()
        self._pid = self._libraries.fork(environment, stdin, stdout)
        os.close(stdin)
        os.close(stdout)
        self._asked, self._answered = os.fdopen(asked, "wb"), os.fdopen(answered, "rb")

    def start(self, command: Sequence[str], out: Path, error: Path) -> Forked:
        """A process that does what ``python`` with these arguments does."""
        return Forked(self, self.ask("start", [*command], str(out), str(error)))

    def run(self, command: Sequence[str], seconds: float = 600) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            out, error = Path(folder, "out"), Path(folder, "error")
            process = self.start(command, out, error)
            try:
                status = process.wait(seconds)
            finally:
                process.kill()
            return subprocess.CompletedProcess(
                [*command], status, out.read_text(), error.read_text()
            )

    def ask(self, *question: Any) -> Any:
        """One line of JSON asks, one line answers.

        Raises:
            EOFError: these settings cannot be loaded.
        """
        with self._one_at_a_time:
            with suppress(BrokenPipeError):
                self._asked.write(json.dumps(question).encode() + b"\n")
                self._asked.flush()
            answer = self._answered.readline()
        if not answer:
            raise EOFError
        return json.loads(answer)

    def end(self) -> None:
        """What it started has been ended before."""
        self._libraries.kill(self._pid)
        self._answered.close()
        with suppress(BrokenPipeError):
            self._asked.close()


@dataclass
class Forked:
    """Of a process that another one started, what ``Popen`` says of one's own."""

    parent: Loaded
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.parent.ask("status", self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        begun = time.monotonic()
        while (status := self.poll()) is None:
            if timeout is not None and time.monotonic() - begun > timeout:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_for_each() -> None:
    """The process of ``Libraries``: ends with the process that asks."""
    for name in LIBRARIES:
        with suppress(ImportError):  # what is not installed a site does not load
            importlib.import_module(name)
    for name in PURE:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    gc.freeze()  # what is loaded stays: no collection in a fork looks through it, and copies it
    asked = socket.socket(fileno=0)
    while True:
        question, streams, _, _ = socket.recv_fds(asked, 4096, 2)
        if not question:
            return
        verb, what = question.decode().split(" ", 1)
        if verb == "kill":
            os.kill(int(what), signal.SIGKILL)
            os.waitpid(int(what), 0)
            asked.send(b"0")
            continue
        environment = json.loads(Path(what).read_text())
        child = os.fork()
        if not child:
            os.setsid()
            for place, stream in enumerate(streams):
                os.dup2(stream, place)
                os.close(stream)
            os.environ.clear()
            os.environ.update(environment)
            try:
                main()
            finally:
                os._exit(0)  # a parent's ``finally`` is not this one's
        for stream in streams:
            os.close(stream)
        asked.send(str(child).encode())


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    import django

    gc.disable()
    django.setup()
    gc.freeze()
    gc.enable()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        verb, *question = json.loads(line)
        answer = {"start": _start, "status": _status}[verb](*question)
        print(json.dumps(answer), file=answers, flush=True)


def _load_what_stays(command: list[str]) -> None:
    """What web servers, workers and the checks of most commands load beyond a site's code, for this
    process and those that follow."""
    if command[:2] == ["manage.py", "shell"]:
        return
    import gunicorn.app.wsgiapp
    import gunicorn.workers.gthread  # noqa: F401
    from django.urls import get_resolver

    with suppress(Exception):  # whoever looks will say so
        _ = get_resolver().url_patterns
    if command[1] == "celery":
        import celery.apps.worker
        import celery.bin.celery  # noqa: F401

        from dialeval_site.celery import app
        from workers.runs.execution import warm_up

        app.loader.import_default_modules()
        warm_up({"cpu", "gpu"})  # as a worker before it forks


def _start(command: list[str], out: str, error: str) -> int:
    """Returns when the process leads a group of its own, and can be killed with what it starts."""
    _load_what_stays(command)
    is_leader, leads = os.pipe()
    child = os.fork()
    if child:
        os.close(leads)
        os.read(is_leader, 1)
        os.close(is_leader)
        return child
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for place, name in enumerate((out, error), start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), place)
    os.closerange(3, 256)  # and with them the pipe
    # A test suite in a shell's background is deaf to it, and so would be what it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os._exit(_run(command))


def _run(command: list[str]) -> int:
    """As the interpreter does what its command line says, to the end."""
    try:
        if command[0] == "-m":
            sys.argv = command[1:]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = command
            runpy.run_path(command[0], run_name="__main__")
        status: object = 0
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if status and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return int(status or 0)  # type: ignore[call-overload,no-any-return]


def _status(child: int) -> int | None:
    """None: it runs."""
    ended, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


if __name__ == "__main__":
    fork_for_each()
