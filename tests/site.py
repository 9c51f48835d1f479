"""A whole site for a test: its own folder and database, its commands, its worker and its web server
as processes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loaded import Forked, Loaded
from tests.services import free_port

PROJECT = Path(__file__).resolve().parent.parent
ONE_AFTER_THE_OTHER = """
import io, json
from django.core.management import call_command

printed = []
for command in {commands!r}:
    out = io.StringIO()
    call_command(*command, stdout=out)
    printed.append(out.getvalue())
print(json.dumps(printed))
"""

Process = subprocess.Popen[bytes] | Forked


@dataclass
class Site:
    """Quick leases and sweeps, so that a test sees in seconds what takes a minute elsewhere. Each
    sweep takes a worker a twenty-fifth of a second of a processor."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    interpreter: str = sys.executable
    from_nothing: bool = False
    """Whether each process loads the code itself, as an operator's do."""
    loaded: dict[frozenset[tuple[str, str]], Loaded] = field(default_factory=dict)
    """By settings."""
    connection: Any = None
    """With which the state of a site on PostgreSQL is asked: to connect takes both sides longer than
    the answer."""

    @property
    def environment(self) -> dict[str, str]:
        """Without the name of the test that pytest is at, which is another each time: what is loaded
        for one test of a module would not do for the next."""
        inherited = {
            name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"
        }
        return {
            **inherited,
            "DIALEVAL_HOME": str(self.home),
            "DIALEVAL_LEASE_SECONDS": "2",
            "DIALEVAL_SWEEP_SECONDS": "1",
            "DIALEVAL_LOG_LEVEL": "INFO",
            "OMP_NUM_THREADS": "1",
            **self.settings,
        }

    def manage(
        self, *arguments: str | Path, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """One ``manage.py`` command in a process of its own."""
        finished = self._run("manage.py", *map(str, arguments))
        if check and finished.returncode:
            raise AssertionError(
                f"{arguments} ended with "
                f"{finished.returncode}:\n{finished.stdout}\n{finished.stderr}"
            )
        return finished

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        if not self.from_nothing:
            with suppress(EOFError):  # what is wrong with settings a process from nothing says
                return self._loaded(self.environment).run(command)
        return subprocess.run(
            [self.interpreter, *command],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    def _loaded(self, environment: dict[str, str]) -> Loaded:
        key = frozenset(environment.items())
        if key not in self.loaded:
            self.loaded[key] = Loaded(environment, self.interpreter)
        return self.loaded[key]

    def document(self, *arguments: str | Path) -> Any:
        """What a command with ``--format json`` prints: one JSON document and nothing else."""
        return json.loads(self.manage(*arguments, "--format", "json").stdout)

    def manage_all(self, *commands: Sequence[str | Path]) -> list[str]:
        """Several commands, one after the other in one process, and what each prints: to load the
        site takes longer than most of them. That each works as a process is tested in
        ``leaderboard/test_commands_as_processes.py``."""
        words = [[str(word) for word in command] for command in commands]
        printed: list[str] = json.loads(self.python(ONE_AFTER_THE_OTHER.format(commands=words)))
        return printed

    def documents(self, *commands: Sequence[str | Path]) -> list[Any]:
        """As ``document``, of several commands."""
        return [
            json.loads(printed)
            for printed in self.manage_all(*([*one, "--format", "json"] for one in commands))
        ]

    def python(self, code: str) -> str:
        """Run code inside the site, as ``manage.py shell`` does, and return what it prints."""
        return self.manage("shell", "--verbosity", "0", "-c", code).stdout.strip()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Of an SQL query, read past the site: who waits for a state asks again and again, and a
        process of the site's own takes a quarter of a second of a processor, and comes late."""
        if (url := self.settings.get("DATABASE_URL", "")).startswith("postgres"):
            import psycopg

            if self.connection is None or self.connection.closed:
                self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=None)
            found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
            return found
        with closing(sqlite3.connect(self.home / "dialeval.sqlite3")) as database:
            return database.execute(query).fetchall()

    def start(self, name: str, *command: str, **settings: str) -> Process:
        log = self.home / f"{name}-{len(self.processes)}.log"
        environment = {**self.environment, **settings}
        process: Process | None = None
        if not self.from_nothing:
            with suppress(EOFError):  # as in ``_run``
                process = self._loaded(environment).start(command, log, log)
        if process is None:
            with log.open("wb") as out:
                process = subprocess.Popen(
                    [self.interpreter, *command],
                    cwd=PROJECT,
                    env=environment,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        self.processes.append(process)
        return process

    def start_worker(self, concurrency: int = 1, **settings: str) -> Process:
        options = [
            "--queues",
            "cpu,gpu,llm",
            "--concurrency",
            str(concurrency),
            "--loglevel",
            "INFO",
            "--without-mingle",
        ]
        return self.start(
            "worker", "-m", "celery", "-A", "dialeval_site", "worker", *options, **settings
        )

    def start_web(self) -> str:
        """Returns the address once it answers."""
        address = f"http://127.0.0.1:{free_port()}"
        self.start(
            "web", "-m", "gunicorn", "dialeval_site.wsgi", "--bind",
            address.removeprefix("http://"), "--threads", "4", "--worker-class",
            "dialeval_site.operations.web_worker.Worker",
        )  # fmt: skip
        wait_until(lambda: answers(f"{address}/health/"), 60, "the web server answers")
        return address

    def stop(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        for process in self.processes:
            kill(process)
        self.processes.clear()
        for one in self.loaded.values():
            one.end()
        self.loaded.clear()

    def logs(self) -> str:
        return "\n".join(
            f"== {log.name}\n{log.read_text(errors='replace')[-3000:]}"
            for log in self.home.glob("*.log")
        )


def kill(process: Process) -> None:
    """SIGKILL to the process and all its children: nothing gets to say goodbye."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(address, timeout=2) as response:
        return response.status == 200
    return False


SLOWER_MACHINES = 4
"""How much longer than it says a test waits for others: where it succeeds that costs nothing."""


def home_made_once(folder: Path, load: Callable[[Path], object]) -> Path:
    """The home in ``folder``, which the first process that comes loads for all of a run."""
    folder.mkdir(exist_ok=True)
    home, complete = folder / "home", folder / "complete"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            load(home)
            complete.touch()
    return home


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + SLOWER_MACHINES * seconds
    while (asked := time.monotonic()) < deadline:
        if condition():
            return
        # To ask takes time of the processors, too, which those who are waited for want to have.
        time.sleep(max(0.1, 2 * (time.monotonic() - asked)))
    raise AssertionError(f"not within {SLOWER_MACHINES * seconds} s: {what}")
