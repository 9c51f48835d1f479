"""``python -m bench.local_judge``: what the order of a judge's calls is worth with the packaged
model on loopback.

The server keeps what it read of the last prompt in each of its slots. In the order in which judges
ask (dialogue, turn, then system) the systems of a turn share all but the response, so that little
is left to read; the same calls shuffled share the instructions alone. Both go through the client
and the engine of a worker, to a server that was just started, with the scoring that is the default
(one token, with its probabilities).

Seconds are those of the server's processor, which other work on the machine moves least; the
clock's stand beside.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from annotations.formats.importers.registry import importers
from annotations.formats.records import DialogueRecord, ResponseRecord
from workers.inference.language_models import server
from workers.inference.language_models.client import Endpoint
from workers.judges.core.calls import Call
from workers.judges.core.dispatcher import Dispatcher
from workers.judges.core.memory_cache import MemoryResponseCache
from workers.judges.core.rate_limit import InProcessRateLimit, Limits
from workers.metrics.base import Example
from workers.metrics.common.configuration import parse

DEMO = Path(__file__).resolve().parents[1] / "annotations" / "demo" / "demo.jsonl"
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def examples_of(file: Path, form: str, turns: int, systems: int) -> list[Example]:
    """The responses of so many systems at so many turns, dialogue by dialogue."""
    dialogues: dict[str, DialogueRecord] = {}
    answers: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for record in importers()[form].read(file):
        if isinstance(record, DialogueRecord):
            dialogues[record.id] = record
        elif isinstance(record, ResponseRecord):
            answers[record.dialogue_id, record.turn].append(record.text)
    places = [(dialogue, turn) for dialogue in dialogues.values() for turn in dialogue.turns][
        :turns
    ]
    return [
        Example(
            dialogue.id,
            turn.number,
            dialogue.persona,
            dialogue.partner_persona,
            turn.context,
            turn.references,
            text,
        )
        for dialogue, turn in places
        for text in answers[dialogue.id, turn.number][:systems]
    ]


@contextmanager
def served(slots: int) -> Iterator[tuple[Endpoint, int]]:
    """A new server with so many slots, and its process."""
    before = set(_children())
    with server.local_server(conversations=slots) as endpoint:
        (process,) = set(_children()) - before
        yield endpoint, process


def _children() -> list[int]:
    return [
        int(one)
        for one in Path(f"/proc/self/task/{os.getpid()}/children")
        .read_text(encoding="ascii")
        .split()
    ]


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


def ask(calls: Sequence[Call], slots: int) -> tuple[float, float, int]:
    """Seconds of the server's processor, of the clock, and how many calls were answered."""
    with served(slots) as (endpoint, process):
        book = MemoryResponseCache()
        engine = Dispatcher(
            endpoint, book, Limits(at_once=slots, seconds=300), InProcessRateLimit(0, 0)
        )
        answered = 0

        def count(_call: Call, _answer: object) -> list[Call]:
            nonlocal answered
            answered += 1
            return []

        used, began = processor_seconds(process), time.perf_counter()
        engine.ask(calls, count)
        result = processor_seconds(process) - used, time.perf_counter() - began, answered
        engine.close()
        book.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, default=DEMO, help="default: the demo corpus")
    parser.add_argument("--form", default="jsonl", choices=sorted(importers()), help="of --corpus")
    parser.add_argument("--turns", type=int, default=14)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, server.PARALLEL_CONVERSATIONS])
    parser.add_argument("--metric", default="cpdscore_detail")
    options = parser.parse_args()

    examples = examples_of(options.corpus, options.form, options.turns, options.systems)
    ordered = list(parse(options.metric).scorer().planned(examples))
    shuffled = random.Random(0).sample(ordered, len(ordered))
    print(
        f"{options.metric}: {len(ordered)} calls, {options.turns} turns, up to {options.systems} "
        "systems"
    )
    for slots in options.slots:
        seconds = {}
        for name, calls in (("in order", ordered), ("shuffled", shuffled)):
            used, clock, answered = ask(calls, slots)
            seconds[name] = used
            print(
                f"{slots} slots, {name}: {used:.1f} s of the processor, {answered / used:.2f} "
                f"calls/s of it; {clock:.1f} s by the clock, {answered / clock:.2f} calls/s",
                flush=True,
            )
        print(
            f"{slots} slots: in order {seconds['shuffled'] / seconds['in order']:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
