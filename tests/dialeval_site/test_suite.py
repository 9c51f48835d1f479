"""``make test``: what runs, that a failure anywhere is one of the whole, and that it ends when it
is told to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ci import IS_LONG
from tests.dialeval_site.challenge_matrix import OPERATIONS
from tests.site import PROJECT, wait_until
from tests.suite import (
    EVERYDAY,
    FOLDER_BROKER,
    LEFT_OUT,
    LINT,
    ON_SQLITE,
    ON_SQLITE_ALONE,
    QUICK,
    WHOLE,
    Outcome,
    Stage,
    Suite,
    lanes_of,
    main,
    report,
)


def module(folder: Path, name: str, program: str) -> tuple[str, ...]:
    """What a stage starts: ``python -m`` and this."""
    (folder / f"{name}.py").write_text(program)
    return (name,)


@pytest.fixture(autouse=True)
def stages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_a_stage_that_fails_stops_no_other_and_fails_the_suite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = Stage("bad", module(tmp_path, "bad", "print('1 failed'); raise SystemExit(3)"))
    good = Stage("good", module(tmp_path, "good", "print('2 passed')"))
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main([[bad, good], [good]]) == 1
        assert main([[good], [good]]) == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    printed = capsys.readouterr().out
    assert printed.count("good | 2 passed") == 4
    assert "bad  | 1 failed" in printed
    assert "bad   FAILED (3)" in printed


def test_the_report_has_the_time_and_the_last_line_of_each() -> None:
    outcomes = [
        Outcome(Stage("SQLite", ()), 0, 125.4, "===== 7 passed in 125.40s ====="),
        Outcome(Stage("faults", ()), 1, 59.6, "==== 1 failed ===="),
    ]
    assert report(outcomes).splitlines() == [
        "SQLite  passed          2:05  7 passed in 125.40s",
        "faults  FAILED (1)      1:00  1 failed",
    ]


def test_the_report_names_what_failed_where_one_sees_the_end_alone(tmp_path: Path) -> None:
    summary = (
        "FAILED tests/a.py::test_b - assert 1 == 2\nERROR tests/c.py - OSError\n== 1 failed, 1 "
        "error ==\n"
    )
    program = module(
        tmp_path,
        "fails",
        f"print('no test is FAILED here'); print({summary!r}); raise SystemExit(1)",
    )
    (outcome,) = Suite([[Stage("SQLite", program)]]).run()
    assert report([outcome]).splitlines()[:2] == [
        "SQLite  FAILED tests/a.py::test_b - assert 1 == 2",
        "SQLite  ERROR tests/c.py - OSError",
    ]


def test_a_stage_gives_way_as_far_as_it_says(tmp_path: Path) -> None:
    program = module(tmp_path, "nice_of", "import os; print(os.nice(0))")
    first, second = (
        int(outcome.said)
        for nice in (0, 5)
        for outcome in Suite([[Stage("s", program, nice=nice)]]).run()
    )
    assert second == min(19, first + 5)


def test_who_stops_the_suite_stops_what_it_started(tmp_path: Path) -> None:
    module(tmp_path, "sleeps", "import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    program = (
        "from tests.suite import *; sys.exit(main([[Stage('sleeps', ('sleeps',)), Stage('never', "
        "('sleeps',))]]))"
    )
    said = tmp_path / "said"
    with said.open("w") as out:
        suite = subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, stdout=out)
        wait_until(lambda: said.read_text().endswith("\n"), 60, "a stage has begun")
        suite.terminate()
        assert suite.wait(30) == 143
    pid = int(said.read_text().split("|")[1])
    wait_until(lambda: not _lives(pid), 30, "the stage ends")
    assert "never" not in said.read_text()


def test_who_outlives_a_stage_and_has_its_output_is_not_waited_for(tmp_path: Path) -> None:
    """A worker that a killed test left behind would hold up the gate as long as it lives."""
    program = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; "
        "time.sleep(60)']); print('done')"
    )
    (outcome,) = Suite([[Stage("leaves", module(tmp_path, "leaves", program))]]).run()
    assert (outcome.status, outcome.said) == (0, "done")
    assert outcome.seconds < 40


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("ci", ["true", "1", "TRUE"])
def test_in_ci_everything_runs(ci: str) -> None:
    """GitHub and GitLab set it to "true"."""
    assert lanes_of({"CI": ci}) is WHOLE
    assert not any(QUICK in stage.arguments for lane in WHOLE for stage in lane)


@pytest.mark.parametrize("lanes", [WHOLE, EVERYDAY])
def test_lint_is_a_lane_of_its_own(lanes: object) -> None:
    assert (LINT,) in lanes
    assert LINT.command[-2:] == ["-m", "tests.lint"]


@pytest.mark.parametrize("environment", [{}, {"CI": ""}, {"CI": "false"}])
def test_on_a_workstation_what_one_waits_for_while_one_works(environment: dict[str, str]) -> None:
    assert lanes_of(environment) is EVERYDAY
    stages = [stage for lane in EVERYDAY for stage in lane if stage is not LINT]
    assert all(QUICK in stage.arguments for stage in stages)


def test_what_was_left_out_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Suite, "run", lambda suite: [Outcome(Stage("s", ()), 0, 1.0, "1 passed")])
    before = signal.getsignal(signal.SIGTERM)
    try:
        main(EVERYDAY)
        assert capsys.readouterr().out.splitlines()[-1] == LEFT_OUT
        main(WHOLE)
        assert LEFT_OUT not in capsys.readouterr().out
    finally:
        signal.signal(signal.SIGTERM, before)


def paths_of(stage: Stage) -> list[str]:
    return [one.removeprefix("--ignore=") for one in stage.arguments if "tests/" in one]


def test_every_path_of_a_stage_is_there() -> None:
    """A fault that is renamed would run nowhere, and nobody would miss it."""
    paths = [path for lane in (*WHOLE, *EVERYDAY) for stage in lane for path in paths_of(stage)]
    listed = (PROJECT / "tests" / "longest_files.txt").read_text(encoding="utf-8").splitlines()
    paths += [f"tests/{name}" for name in listed if not name.startswith("#")]
    assert [path for path in (*paths, *ON_SQLITE) if not (PROJECT / path).exists()] == []


def collected(*arguments: str) -> set[str]:
    """What pytest would run on SQLite."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "-n", "0", "--collect-only", "-q"],
        cwd=PROJECT, env={**inherited, "DIALEVAL_TEST_SERVICES": "0", "DATABASE_URL": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line for line in finished.stdout.splitlines() if "::" in line}


ONCE_LEFT_OUT = () if IS_LONG else ("-m", "not long and not one_database")


@pytest.mark.slow
def test_every_test_runs_in_a_stage_of_the_whole_suite() -> None:
    """Three stages share all tests, but for the sites with the folder broker; SQLite has these."""
    (in_process,), (browsers, on_sqlite), (faults,), _ = WHOLE
    assert in_process.arguments[:2] == ("tests.services", "pytest")
    assert set(paths_of(in_process)) == {"tests/browser", "tests/faults"}
    assert paths_of(browsers) == ["tests/browser"]
    assert set(paths_of(faults)) == {"tests/faults", *FOLDER_BROKER}
    assert on_sqlite.arguments[-4:] == ("-m", ON_SQLITE_ALONE, "--ignore", "tests/browser")
    assert {*FOLDER_BROKER} <= {*ON_SQLITE}
    commits = "tests/annotations/test_staging.py"
    # By folders: a file that is named is loaded whatever its text says
    folders = "tests/annotations", "tests/dialeval_site"
    again = collected(*ON_SQLITE, *folders, "-m", ON_SQLITE_ALONE)
    assert collected(*ON_SQLITE, *ONCE_LEFT_OUT) <= again
    assert {*ON_SQLITE, commits} <= {test.partition("::")[0] for test in again}
    every_operation = [test for test in again if "gets_what_the_matrix_says" in test]
    assert len(every_operation) == len(OPERATIONS)


def test_the_time_of_a_stage_is_its_own(tmp_path: Path) -> None:
    """Lanes run side by side: a quick one does not wait for a slow one."""
    slow = Stage("slow", module(tmp_path, "slow", "import time; time.sleep(3)"))
    quick = Stage("quick", module(tmp_path, "quick", ""))
    begun = time.monotonic()
    first, second = Suite([[slow], [quick]]).run()
    assert second.seconds < first.seconds <= time.monotonic() - begun
    assert first.seconds >= 3
