"""Child processes that end when we end: started in groups of their own, stopped in turn, killed if
they linger.

They stay in our session: Linux shares processors among sessions before it looks at niceness, so a
worker in a session of its own would take as much from the web server at niceness 19 as at 0.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_PR_SET_PDEATHSIG = 1
STOP_SECONDS = 10
NICENESS_THAT_GIVES_WAY = 10
"""A tenth of what a process at 0 gets while both want the same core."""


@dataclass
class Child:
    """A named process, its log, and the process group that it leads."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str],
        folder: Path,
        log: Path,
        environment: dict[str, str],
        ends_with_input: bool = False,
        gives_way: bool = False,
    ) -> Child:
        """``ends_with_input``: the program ends when its standard input closes, so it gets one that
        we hold open. ``gives_way``: nobody sits and waits for what it does, so those that somebody
        waits for come first."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603  our own commands
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE if ends_with_input else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,  # Ctrl-C reaches us alone; we stop the children in order
                preexec_fn=partial(_begin, gives_way),
            )
        return cls(name, log, process)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def stop(self) -> None:
        """Ask, wait, then kill the whole group: a worker's pool and a server's workers go with
        it."""
        if not self.ended:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()

    def last_utterances(self, count: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])


def _begin(gives_way: bool) -> None:
    """In the child. On Linux it ends when its parent dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if gives_way:
        os.nice(NICENESS_THAT_GIVES_WAY)
