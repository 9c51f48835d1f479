"""Sites with the demo, for tests that want one each: it is loaded once in a run, and copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ON_SERVICES, made_site
from tests.migrated import rename_database
from tests.site import Site, home_made_once

DATABASE = "with_the_demo"
"""Of PostgreSQL."""


@contextmanager
def demo_site(factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As ``made_site``, with the demo."""
    own = factory.getbasetemp()
    of_all_processes = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    home = factory.mktemp("demo-site") / "home"
    shutil.copytree(home_made_once(of_all_processes / "demo", _load), home, symlinks=True)
    with made_site(home, DATABASE) as site:
        yield site


def _load(home: Path) -> None:
    with made_site(home) as site:
        site.python("from dialeval_site.demo.site import load_demo; load_demo()")
    if ON_SERVICES:
        rename_database(site.settings["DATABASE_URL"], DATABASE)
