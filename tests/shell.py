"""``manage.py shell -c`` for a site that is asked often: Django is loaded once, and each piece of
code runs in a fork.

So each runs, as there, in a process of its own that has run nothing else, without the seconds of a
processor that loading takes: a test that asks again and again how far a worker is took these from
that worker.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO

PROJECT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 600
"""As for a command of a test's site."""


class Shell:
    def __init__(self, interpreter: str, environment: Mapping[str, str]) -> None:
        self.loaded_with = interpreter, dict(environment)
        # Tests tell a site's own processes by the home that they were started with
        home = environment["DIALEVAL_HOME"]
        others = {name: value for name, value in environment.items() if name != "DIALEVAL_HOME"}
        self._process = subprocess.Popen(
            [interpreter, "-m", "tests.shell", home],
            cwd=PROJECT,
            env=others,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def python(self, code: str) -> str:
        """Run code inside the site and return what it prints; fails with all that it said."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(json.dumps(code).encode() + b"\n")
        asked.flush()
        answer = answers.readline()
        assert answer, f"the shell has ended with {self._process.wait()}"
        status, said, complained = json.loads(answer)
        assert status == 0, f"the code ended with {status}:\n{said}\n{complained}"
        return str(said).strip()

    def end(self) -> None:
        """With what it runs: nobody waits for that any more."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def main(home: str) -> None:
    """One line of JSON asks: the code. One line answers: how it ended, what it printed, what it
    complained of."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    os.environ["DIALEVAL_HOME"] = home
    import django

    django.setup()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
            status = _run_in_a_fork(json.loads(line), said, complained)
            print(json.dumps([status, _text(said), _text(complained)]), flush=True)


def _run_in_a_fork(code: str, said: IO[bytes], complained: IO[bytes]) -> int:
    from django.core.management import call_command
    from django.db import connections

    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.dup2(said.fileno(), 1)
    os.dup2(complained.fileno(), 2)
    signal.alarm(MOST_SECONDS)
    status = 0
    try:
        call_command("shell", command=code, verbosity=0)
        connections.close_all()  # SQLite brings its log into the file, as at a process's end
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    main(sys.argv[1])
