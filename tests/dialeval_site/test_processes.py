"""The processes that ``manage.py run`` starts: who gets the processor, and who hears what."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval_site.operations.processes import NICENESS_THAT_GIVES_WAY, Child
from tests.site import PROJECT

SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def children(tmp_path: Path) -> Iterator[tuple[Child, Child]]:
    """One that pages come from, and one that gives way to it."""
    started = [
        Child.start(name, SLEEPS, tmp_path, tmp_path / f"{name}.log", {}, gives_way=gives_way)
        for name, gives_way in (("web", False), ("worker", True))
    ]
    yield started[0], started[1]
    for child in started:
        child.stop()


def test_a_worker_gives_way_to_the_web_server(children: tuple[Child, Child]) -> None:
    web, worker = (os.getpriority(os.PRIO_PROCESS, child.process.pid) for child in children)
    assert worker == min(19, web + NICENESS_THAT_GIVES_WAY)


def test_both_are_in_our_session_since_niceness_does_not_reach_beyond_one(
    children: tuple[Child, Child],
) -> None:
    assert {os.getsid(child.process.pid) for child in children} == {os.getsid(0)}


def test_each_leads_a_group_of_its_own_so_ctrl_c_in_a_terminal_reaches_us_alone(
    children: tuple[Child, Child],
) -> None:
    assert [os.getpgid(child.process.pid) for child in children] == [
        child.process.pid for child in children
    ]


def test_a_process_of_the_site_starts_without_what_only_some_of_its_work_needs(
    tmp_path: Path,
) -> None:
    """scipy.stats alone takes half a second, and dozens of processes are started where one site is
    looked after."""
    program = (
        "import sys, dialeval_site.wsgi;heavy = ('torch', 'transformers', 'openai', 'nltk', "
        "'scipy.stats', 'scipy.optimize', 'scipy.cluster');print([one for one in heavy if one in "
        "sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=PROJECT, capture_output=True, text=True, check=True,
        env={"DIALEVAL_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "dialeval_site.settings"},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
