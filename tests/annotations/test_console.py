"""What all commands of ``manage.py`` share: no encoding and no reader of their output makes them
fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from annotations.console import quiet_when_nobody_reads
from tests.site import PROJECT


def metrics(arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    """``manage.py metrics`` in a shell: it needs no database, and what it says has more than
    ASCII."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        f"{sys.executable} manage.py metrics {arguments}",
        shell=True,
        cwd=PROJECT,
        env={**buffered, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_what_an_encoding_lacks_is_written_as_an_escape() -> None:
    finished = metrics("", encoding="ascii")
    assert (finished.returncode, finished.stderr.count(b"\n")) == (0, 1)
    assert rb"train density --corpus \u2026 --name" in finished.stdout


def test_json_is_json_in_every_encoding() -> None:
    finished = metrics("--format json", encoding="ascii")
    summaries = {
        metric["name"]: metric["summary"] for metric in json.loads(finished.stdout.decode("ascii"))
    }
    assert summaries["fbd"].startswith("Fréchet distance")


# More than a buffer holds, and less
@pytest.mark.parametrize("arguments", ["--format json", "--help"])
def test_a_reader_that_has_enough_is_no_error(arguments: str) -> None:
    assert metrics(f"{arguments} | true").stderr == b""


def test_another_pipe_that_breaks_is_a_fault() -> None:
    """A process of ours that is gone, such as a model server: not somebody who has read enough."""
    with pytest.raises(BrokenPipeError), quiet_when_nobody_reads():
        raise BrokenPipeError
