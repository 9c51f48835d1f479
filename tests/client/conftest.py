"""A server that stands in for a site, and a home folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partialmethod
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from leaderboard.client.main import main
from leaderboard.client.server import Server
from tests.client.stand_in import StandIn, stand_in


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as server:
        yield server


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for settings; no login of the machine's user is seen."""
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.delenv("DIALEVAL_SERVER", raising=False)
    monkeypatch.delenv("DIALEVAL_TOKEN", raising=False)
    return folder


@pytest.fixture
def dialeval(
    server: StandIn,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Any]:
    """Runs the command, logged in to the stand-in: status, standard output, standard error. It
    never sleeps; who would have slept a thousand times waits without end."""
    pauses = count(1)

    def sleep(_seconds: float) -> None:
        assert next(pauses) < 1000, "it waits without end"

    monkeypatch.setenv("DIALEVAL_SERVER", server.address)
    monkeypatch.setenv("DIALEVAL_TOKEN", "dial_test")
    monkeypatch.setattr(Server, "__init__", partialmethod(Server.__init__, sleep=sleep))

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = int(ended.code or 0)
        said = capsys.readouterr()
        return status, said.out, said.err

    return run
