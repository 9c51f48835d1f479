"""A clock that is wrong by a day: nothing is lost, computed twice, or kept from everybody for a
day."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ON_SERVICES
from tests.faults.test_workers import (
    request,
    slow_site,  # noqa: F401  a fixture
    state_of_runs,
)
from tests.site import Site, kill, wait_until

SOURCE = Path(__file__).with_name("other_clock.c")
COMPILER = shutil.which("cc")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMPILER, reason="there is no C compiler to make another clock with"),
    pytest.mark.skipif(sys.platform != "linux", reason="the other clock is made for Linux"),
]
ON_ONE_MACHINE = pytest.mark.skipif(ON_SERVICES, reason="PostgreSQL's clock is the machine's")
ON_MANY_MACHINES = pytest.mark.skipif(not ON_SERVICES, reason="a site on SQLite has one clock")
A_DAY = 86_400
WRONG = pytest.mark.parametrize(
    "difference",
    [A_DAY, pytest.param(-A_DAY, marks=pytest.mark.long)],
    ids=["fast", "slow"],
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libfaketime would do, but for ``time.sleep``, which ends with an error under it."""
    made = tmp_path_factory.mktemp("clock") / "other_clock.so"
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", str(made), str(SOURCE)], check=True)
    return made


def set_by(library: Path, seconds: int) -> dict[str, str]:
    """The environment of a process whose clock differs by so much."""
    return {"LD_PRELOAD": str(library), "CLOCK_DIFFERENCE": str(seconds)}


def wait_for_run(site: Site, *states: str) -> None:
    wait_until(lambda: state_of_runs(site) in states, 120, f"the run is {' or '.join(states)}")


UNFINISHED = {f"{state}:{n}" for state in ("pending", "running") for n in range(9)}


@ON_MANY_MACHINES
@WRONG
def test_a_worker_with_a_wrong_clock_takes_no_run_from_another(
    slow_site: Site,  # noqa: F811
    library: Path,
    difference: int,
) -> None:
    """Of another queue, it computes no such run; it sweeps once a second, and the run takes
    four."""
    celery = ["-m", "celery", "-A", "dialeval_site", "worker", "--concurrency", "1"]
    options = [
        "--loglevel",
        "INFO",
        "--without-mingle",
        "--queues",
        "gpu",
        "--hostname",
        "wrong@%h",
    ]
    wrong = slow_site.start("wrong", *celery, *options, **set_by(library, difference))
    seen = "SELECT queue FROM workers_queueseen WHERE queue = 'gpu'"
    wait_until(lambda: slow_site.rows(seen), 120, "it sweeps")
    slow_site.start_worker()
    request(slow_site)
    wait_until(lambda: state_of_runs(slow_site) not in UNFINISHED, 120, "the run ended")
    assert state_of_runs(slow_site) == "done:1"
    assert wrong.poll() is None


@ON_MANY_MACHINES
@WRONG
def test_the_run_of_a_worker_with_a_wrong_clock_is_completed_after_its_death(
    slow_site: Site,  # noqa: F811
    library: Path,
    difference: int,
) -> None:
    wrong = slow_site.start_worker(**set_by(library, difference))
    request(slow_site)
    wait_for_run(slow_site, "running:1")
    kill(wrong)
    slow_site.start_worker()
    wait_for_run(slow_site, "done:2")


@pytest.mark.sqlite
@ON_ONE_MACHINE
def test_a_clock_that_was_set_back_by_a_day_holds_nothing_up(
    slow_site: Site,  # noqa: F811
    library: Path,
) -> None:
    """Lease and hint of the run are of tomorrow, and the message itself was lost."""
    slow_site.settings |= set_by(library, A_DAY)
    worker = slow_site.start_worker()
    request(slow_site)
    wait_for_run(slow_site, "running:1")
    kill(worker)
    for file in (slow_site.home / "broker" / "queue").iterdir():
        file.unlink()
    for name in set_by(library, A_DAY):
        del slow_site.settings[name]
    slow_site.start_worker()
    wait_for_run(slow_site, "done:2")


@pytest.mark.sqlite
@ON_ONE_MACHINE
def test_a_clock_that_was_set_forward_by_a_day_loses_nothing(
    slow_site: Site,  # noqa: F811
    library: Path,
) -> None:
    first = slow_site.start_worker()
    request(slow_site)
    wait_for_run(slow_site, "running:1")
    kill(first)
    slow_site.start_worker(**set_by(library, A_DAY))
    wait_for_run(slow_site, "done:2")


SESSIONS = """
from datetime import timedelta
from django.contrib.sessions.models import Session
from django.utils import timezone
now = timezone.now()
Session.objects.create(session_key="living", expire_date=now + timedelta(hours=2))
Session.objects.create(session_key="over", expire_date=now - timedelta(minutes=1))
"""


@ON_MANY_MACHINES
def test_a_worker_with_a_wrong_clock_logs_nobody_out(site: Site, library: Path) -> None:
    site.python(SESSIONS)
    site.start_worker(**set_by(library, A_DAY))
    keys = "Session.objects.values_list('session_key', flat=True)"
    left = f"from django.contrib.sessions.models import Session; print(*sorted({keys}))"
    wait_until(lambda: site.python(left) == "living", 120, "the session that is over is removed")
