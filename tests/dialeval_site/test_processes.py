"""The processes that ``manage.py run`` starts: who gets the processor, and who hears what."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval_site.processes import NICENESS_THAT_GIVES_WAY, Child

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


def test_both_are_in_our_session_since_niceness_does_not_reach_beyond_one(children: tuple[Child, Child]) -> None:
    assert {os.getsid(child.process.pid) for child in children} == {os.getsid(0)}


def test_each_leads_a_group_of_its_own_so_ctrl_c_in_a_terminal_reaches_us_alone(
    children: tuple[Child, Child],
) -> None:
    assert [os.getpgid(child.process.pid) for child in children] == [child.process.pid for child in children]
