"""Exporting chats beside what ``datasets`` takes to write the same:
``python -m bench.exports [--messages 1000000]``.

The file of ``bench.imports`` is imported (not timed), then exported as ``jsonl`` and as ``dataset``
(Parquet), each in a process of its own. The peer holds it as Arrow and writes JSON lines and
Parquet. Told are the processor seconds of each, their ratio, and the most memory that each held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.imports import report, write_chats
from bench.made_corpus import home_of_its_own

PEER_FORMATS = {"jsonl": "json", "dataset": "parquet"}
"""What ``datasets`` calls the layout that each of our formats is compared with."""


def prepare(home: Path, chats: Path) -> None:
    with home_of_its_own(folder=home):
        from django.core.management import call_command

        call_command("import_corpus", "messages", str(chats), "--slug", "chats")


def export_ours(home: Path, form: str) -> None:
    with home_of_its_own(folder=home):
        from django.core.management import call_command

        target = home / f"export-{form}"
        report(
            lambda: call_command("export_corpus", "chats", "--to", str(target), "--format", form)
        )


def export_peer(chats: Path, form: str) -> None:
    from datasets import load_dataset

    folder = chats.parent
    rows = load_dataset(
        "json", data_files=str(chats), split="train", cache_dir=str(folder / "cache")
    )
    target = str(folder / f"peer.{PEER_FORMATS[form]}")
    report(lambda: rows.to_json(target) if form == "jsonl" else rows.to_parquet(target))


def measured(part: str, form: str, home: Path, chats: Path) -> dict[str, float]:
    """The figures that a process of its own prints last."""
    command = [sys.executable, "-m", "bench.exports", "--part", part, "--form", form]
    command += ["--home", str(home), "--file", str(chats)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1]) if part != "prepare" else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--part", choices=("prepare", "ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--form", choices=PEER_FORMATS, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part == "prepare":
        prepare(options.home, options.file)
    elif options.part == "ours":
        export_ours(options.home, options.form)
    elif options.part == "peer":
        export_peer(options.file, options.form)
    else:
        with TemporaryDirectory() as folder:
            home, chats = Path(folder) / "home", Path(folder) / "chats.jsonl"
            write_chats(chats, options.messages)
            print(f"{options.messages:,} messages, {chats.stat().st_size / 1e6:.0f} MB")
            measured("prepare", "jsonl", home, chats)
            for form, layout in PEER_FORMATS.items():
                ours = measured("ours", form, home, chats)
                peer = measured("peer", form, home, chats)
                for name, figures in ((f"dialeval, {form}", ours), (f"datasets, {layout}", peer)):
                    print(
                        f"{name}: {figures['cpu']:.1f} s of processor time, "
                        f"{figures['wall']:.1f} s, {figures['mb']:.0f} MB"
                    )
                print(f"ratio of processor time: {ours['cpu'] / peer['cpu']:.1f}")


if __name__ == "__main__":
    main()
