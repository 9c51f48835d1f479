"""``python -m tests.mutation``: the mutation score of the suite, from a sample.

A *mutant* is the code with one small fault: another operator, another number, a call left out. It
is *killed* where a test fails. Mutants are drawn with a seed; each is run against the tests that
call its function, as ``record`` found them, the quickest first. Run both in a checkout that nobody
edits meanwhile: the fault is written into the file, and taken out again.

    python -m tests.mutation record calls.json tests/annotations/agreement tests/campaigns
    python -m tests.mutation run calls.json results.jsonl --seed 0 --mutants 30

``run`` goes on where ``results.jsonl`` ends. Tests marked ``slow`` are left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[1]
RECORD_TO, RUN_ONLY = "MUTATION_RECORD_TO", "MUTATION_RUN_ONLY"
GROUPS = {
    "statistics": ("leaderboard/statistics", "common/correlation"),
    "agreement": ("annotations/agreement",),
    "metrics": ("workers/metrics",),
    "importers": ("annotations/formats/importers", "annotations/importers"),
    "campaigns": ("annotations/campaigns/actions", "annotations/campaigns/queries"),
    "challenges": ("leaderboard/challenges/actions", "leaderboard/challenges/queries"),
}
MAX_TESTS, MAX_SECONDS = 60, 20.0
"""Of the tests that call a function."""


# --- which tests call which functions: a plugin of pytest -----------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(RECORD_TO):
        config.pluginmanager.register(Recorder(Path(os.environ[RECORD_TO])))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get(RUN_ONLY):
        wanted = json.loads(Path(os.environ[RUN_ONLY]).read_text(encoding="utf-8"))
        order = {name: place for place, name in enumerate(wanted)}
        items[:] = sorted(
            (item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid]
        )


class Recorder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        called: dict[int, CodeType] = {}

        def trace(frame: FrameType, _event: str, _value: object) -> None:
            called[id(frame.f_code)] = frame.f_code

        began = time.perf_counter()
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)
        self._tests[item.nodeid] = {
            "seconds": round(time.perf_counter() - began, 3),
            "calls": sorted({key for code in called.values() if (key := key_of(code))}),
        }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        known = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        passed = {name: one for name, one in self._tests.items() if name not in self._failed}
        self._path.write_text(json.dumps(known | passed), encoding="utf-8")


def key_of(code: CodeType) -> str:
    """``path:line``, or nothing outside the measured groups."""
    path = code.co_filename.removeprefix(f"{PROJECT}/")
    measured = any(path.startswith(f"{folder}/") for group in GROUPS.values() for folder in group)
    return f"{path}:{code.co_firstlineno}" if measured else ""


# --- mutants --------------------------------------------------------------------------------------

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    path: str
    function: int  # the first line of its code: a decorator's, if it has one
    line: int
    before: str
    after: str
    start: tuple[int, int]
    end: tuple[int, int]

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}:{self.start[1]}: {self.before} -> {self.after}"

    def source(self, original: str) -> str:
        lines = original.encode().splitlines(keepends=True)
        (first, begin), (last, end) = self.start, self.end
        head = b"".join(lines[: first - 1]) + lines[first - 1][:begin]
        tail = lines[last - 1][end:] + b"".join(lines[last:])
        return (head + self.after.encode() + tail).decode()


def mutants_of(path: str) -> Iterator[Mutant]:
    tree = ast.parse((PROJECT / path).read_text(encoding="utf-8"))
    for function in outer_functions(tree):
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        for statement in function.body:
            for node in nodes_of(statement):
                for changed in changes_of(node):
                    yield Mutant(
                        path,
                        first,
                        node.lineno,
                        ast.unparse(node),
                        changed if isinstance(changed, str) else f"({ast.unparse(changed)})",
                        (node.lineno, node.col_offset),
                        (node.end_lineno, node.end_col_offset),
                    )


def outer_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from outer_functions(node)


def nodes_of(node: ast.AST) -> Iterator[Any]:
    """All but annotations, messages of errors, and what only types need."""
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return
    if isinstance(node, ast.AnnAssign):
        if node.value:
            yield from nodes_of(node.value)
        return
    if isinstance(node, ast.FunctionDef):
        for statement in node.body:
            yield from nodes_of(statement)
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from nodes_of(child)


def changes_of(node: Any) -> Iterator[ast.AST | str]:
    changed = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[operator, *_]):
            changed.ops[0] = COMPARISONS[type(operator)]()
            yield changed
        case ast.BinOp(op=operator) if type(operator) in OPERATORS and not is_text(node):
            changed.op = OPERATORS[type(operator)]()
            yield changed
        case ast.BoolOp(op=operator):
            changed.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield changed
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.IfExp():
            changed.test = ast.UnaryOp(ast.Not(), node.test)
            yield changed
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield str(value + 1)
        case ast.Expr(value=ast.Call()):
            yield "pass"
        case ast.Continue():
            yield "break"


def is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def drawn(group: str, number: int, seed: int) -> list[Mutant]:
    files = sorted(
        str(path.relative_to(PROJECT))
        for folder in GROUPS[group]
        for path in (PROJECT / folder).rglob("*.py")
    )
    everything = [mutant for path in files for mutant in mutants_of(path)]
    return random.Random(f"{seed} {group}").sample(everything, min(number, len(everything)))


# --- running them ---------------------------------------------------------------------------------


def record(path: Path, tests: list[str]) -> int:
    return subprocess.run(
        [*PYTEST, "-m", "not slow", *tests],
        cwd=PROJECT,
        env={**os.environ, RECORD_TO: str(path.resolve())},
        check=False,
    ).returncode


PYTEST = [
    sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutation",
]  # fmt: skip


def outcome(mutant: Mutant, tests: dict[str, dict[str, Any]], callers: list[str]) -> str:
    """``killed``, ``slow`` (it ran on without end), ``survived`` or ``uncovered``."""
    if not callers:
        return "uncovered"
    chosen: list[str] = []
    for name in sorted(callers, key=lambda one: tests[one]["seconds"]):
        if len(chosen) < MAX_TESTS and sum(tests[one]["seconds"] for one in chosen) < MAX_SECONDS:
            chosen.append(name)
    path = PROJECT / mutant.path
    original = path.read_text(encoding="utf-8")
    wanted = PROJECT / "var" / "mutation.json"
    wanted.parent.mkdir(exist_ok=True)
    wanted.write_text(json.dumps(chosen), encoding="utf-8")
    files = list(dict.fromkeys(name.partition("::")[0] for name in chosen))
    try:
        path.write_text(mutant.source(original), encoding="utf-8")
        finished = subprocess.run(
            [*PYTEST, "-x", *files],
            cwd=PROJECT,
            env={**os.environ, RUN_ONLY: str(wanted)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60 + 5 * sum(tests[one]["seconds"] for one in chosen),
        )
    except subprocess.TimeoutExpired:
        return "slow"
    finally:
        path.write_text(original, encoding="utf-8")
    if finished.returncode == 5:
        raise RuntimeError(f"no test was run: {finished.stdout}")
    return "survived" if finished.returncode == 0 else "killed"


def run(options: argparse.Namespace) -> int:
    tests = json.loads(options.calls.read_text(encoding="utf-8"))
    callers = defaultdict(list)
    for name, one in tests.items():
        for key in one["calls"]:
            callers[key].append(name)
    done = {one["name"]: one for one in read_results(options.results)}
    until = time.monotonic() + 60 * options.minutes
    for group in options.groups.split(","):
        for mutant in drawn(group, options.mutants, options.seed):
            if mutant.name in done or time.monotonic() > until:
                continue
            ended = outcome(mutant, tests, callers[f"{mutant.path}:{mutant.function}"])
            done[mutant.name] = {"group": group, "name": mutant.name, "outcome": ended}
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[mutant.name]) + "\n")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in done.values():
        counts[one["group"]][one["outcome"]] += 1
    for group, of_group in counts.items():
        total = sum(of_group.values())
        killed = of_group["killed"] + of_group["slow"]
        print(f"{group}: {killed} of {total} killed ({killed / total:.0%})", dict(of_group))
    return 0


def read_results(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description="The mutation score of the suite, from a sample.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("calls", type=Path)
    recording.add_argument("tests", nargs=argparse.REMAINDER)
    running = commands.add_parser("run")
    running.add_argument("calls", type=Path)
    running.add_argument("results", type=Path)
    running.add_argument("--seed", type=int, default=0)
    running.add_argument("--mutants", type=int, default=30, help="of each group")
    running.add_argument("--groups", default=",".join(GROUPS))
    running.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    return record(options.calls, options.tests) if options.command == "record" else run(options)


if __name__ == "__main__":
    sys.exit(main())
