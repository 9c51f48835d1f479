"""Importing chats beside what ``datasets`` takes to read the same file:
``python -m bench.imports [--messages 1000000] [--profile] [--label-studio PYTHON]``.

One file of JSON lines in OpenAI's layout, ten messages a conversation. Ours: detection, survey and
storing on SQLite, in a process of its own. The peer: ``datasets`` reads the file to Arrow, in
another. Told are the processor seconds of each, their ratio, and the most memory that each held.
``--label-studio PYTHON`` names the interpreter of an environment with Label Studio, whose server
then takes the same conversations (10,000 of them are 100,000 messages) as tasks in one request.
Argilla is not run: its server needs an Elasticsearch or OpenSearch.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.label_studio import CHAT_VIEW, label_studio, load_project, version
from bench.load import processor_seconds
from bench.made_corpus import SEED, home_of_its_own, sentence

MESSAGES_A_CONVERSATION = 10


def write_chats(path: Path, messages: int) -> None:
    """Sentences as messages, two systems, a domain as metadata."""
    import numpy as np

    chance = random.Random(SEED)
    texts = [sentence(np.random.default_rng(number)) for number in range(5_000)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(messages // MESSAGES_A_CONVERSATION):
            chat = [
                {
                    "role": "assistant" if place % 2 else "user",
                    "content": chance.choice(texts),
                }
                for place in range(MESSAGES_A_CONVERSATION)
            ]
            record = {
                "id": f"c{number}",
                "model": f"model-{number % 2}",
                "domain": chance.choice(("travel", "food", "music")),
                "messages": chat,
            }
            file.write(json.dumps(record) + "\n")


def import_it(path: Path, profiled: bool) -> None:
    with home_of_its_own():
        from django.core.management import call_command

        def run() -> None:
            call_command("import_corpus", "messages", str(path), "--slug", "chats")

        report(_profiled(run) if profiled else run)


def read_it(path: Path) -> None:
    from datasets import load_dataset

    report(
        lambda: load_dataset(
            "json", data_files=str(path), split="train", cache_dir=str(path.parent / "cache")
        )
    )


def into_label_studio(python: str, path: Path) -> dict[str, float]:
    """What its server takes from the request to the answer; the client is not counted."""
    with path.open(encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    with (
        TemporaryDirectory(prefix="label-studio-") as home,
        label_studio(python, Path(home)) as (address, process),
    ):
        begun, started = processor_seconds([process]), time.perf_counter()
        load_project(address, tasks, CHAT_VIEW)
        return {
            "cpu": processor_seconds([process]) - begun,
            "wall": time.perf_counter() - started,
        }


def report(run: Callable[[], object]) -> None:
    """Prints what the run took of this process and those that it started."""
    begun, started = _processor_seconds(), time.perf_counter()
    run()
    taken = {
        "cpu": _processor_seconds() - begun,
        "wall": time.perf_counter() - started,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(taken), flush=True)


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _profiled(run: Callable[[], None]) -> Callable[[], None]:
    import cProfile
    import pstats

    def profiled() -> None:
        profile = cProfile.Profile()
        profile.runcall(run)
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(45)

    return profiled


def measured(part: str, path: Path, *more: str) -> dict[str, float]:
    """The figures that a process of its own prints last."""
    command = [sys.executable, "-m", "bench.imports", "--part", part, "--file", str(path), *more]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--profile", action="store_true", help="where our time goes")
    parser.add_argument("--label-studio", metavar="PYTHON", help="also into Label Studio")
    parser.add_argument("--part", choices=("ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part == "ours":
        import_it(options.file, options.profile)
        return
    if options.part == "peer":
        read_it(options.file)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "chats.jsonl"
        write_chats(path, options.messages)
        print(f"{options.messages:,} messages, {path.stat().st_size / 1e6:.0f} MB")
        ours = measured("ours", path, *(["--profile"] if options.profile else []))
        peer = measured("peer", path)
        for name, figures in (("dialeval", ours), ("datasets", peer)):
            print(
                f"{name}: {figures['cpu']:.1f} s of processor time, {figures['wall']:.1f} s, "
                f"{figures['mb']:.0f} MB"
            )
        print(f"ratio of processor time: {ours['cpu'] / peer['cpu']:.1f}")
        if options.label_studio:
            other = into_label_studio(options.label_studio, path)
            print(
                f"Label Studio {version(options.label_studio)}: {other['cpu']:.1f} s of processor "
                f"time, {other['wall']:.1f} s; over dialeval's: {other['cpu'] / ours['cpu']:.1f}"
            )
        else:
            print("Label Studio was not run: name its interpreter with --label-studio")


if __name__ == "__main__":
    main()
