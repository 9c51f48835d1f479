"""One loopback endpoint for all tests of judges in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judges.loopback_server import Loopback, loopback_server


@pytest.fixture(scope="session")
def loopback_of_the_session() -> Iterator[Loopback]:
    with loopback_server() as server:
        yield server


@pytest.fixture
def loopback(loopback_of_the_session: Loopback) -> Loopback:
    """Fresh: no script, an empty log."""
    loopback_of_the_session.reset()
    return loopback_of_the_session
