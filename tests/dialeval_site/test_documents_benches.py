"""Every measurement is in the README of benches, and ``make bench`` runs all that need nothing of
somebody's."""

from __future__ import annotations

import re

from tests.site import PROJECT

BENCHES = {
    path.stem: path.read_text()
    for path in (PROJECT / "bench").glob("*.py")
    if "__main__" in path.read_text()
}


def test_every_bench_has_a_row() -> None:
    rows = re.findall(
        r"^\| `python -m bench\.(\w+)", (PROJECT / "bench" / "README.md").read_text(), re.MULTILINE
    )
    assert set(rows) == set(BENCHES)


def test_make_bench_runs_all_that_need_no_argument() -> None:
    """One that wants an argument would end the whole with its usage."""
    in_need = {name for name, text in BENCHES.items() if "required=True" in text}
    left_out = re.search(
        r"grep -l __main__ bench/\*\.py \| grep -v (\w+)\)", (PROJECT / "Makefile").read_text()
    )
    assert left_out
    assert in_need == {left_out[1]}


def test_no_bench_wants_a_positional_argument() -> None:
    assert [
        name for name, text in BENCHES.items() if re.search(r'add_argument\(\s*"[^-]', text)
    ] == []
