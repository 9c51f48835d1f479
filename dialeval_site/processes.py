"""Child processes that end when we end: started in sessions of their own, stopped in turn, killed if they linger."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
STOP_SECONDS = 10


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
    ) -> Child:
        """``ends_with_input``: the program ends when its standard input closes, so it gets one that we hold open."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603  our own commands
                command,
                cwd=folder,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE if ends_with_input else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches us alone; we stop the children in order
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        return cls(name, log, process)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def stop(self) -> None:
        """Ask, wait, then kill the whole group: a worker's pool and a server's workers go with it."""
        if not self.ended:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()

    def last_lines(self, count: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])


def _die_with_parent() -> None:
    """Linux: end this child when its parent dies, even by SIGKILL."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
