"""Sites with the demo, for tests that want one each: it is loaded once in a run, and copied."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ON_SERVICES, made_site
from tests.migrated import rename_database
from tests.site import Site

DATABASE = "with_the_demo"
"""Of PostgreSQL."""


@contextmanager
def demo_site(factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As ``made_site``, with the demo."""
    own = factory.getbasetemp()
    of_all_processes = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    home = factory.mktemp("demo-site") / "home"
    shutil.copytree(_loaded(of_all_processes / "demo"), home, symlinks=True)
    with made_site(home, DATABASE) as site:
        yield site


def _loaded(folder: Path) -> Path:
    """The home of the site that is copied, of the first process that comes."""
    folder.mkdir(exist_ok=True)
    home, complete = folder / "home", folder / "complete"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            with made_site(home) as site:
                site.python("from dialeval_site.demo.site import load_demo; load_demo()")
            if ON_SERVICES:
                rename_database(site.settings["DATABASE_URL"], DATABASE)
            complete.touch()
    return home
