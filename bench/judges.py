"""How fast a judge's calls go: ``python -m bench.judges [--calls 10395] [--only
memory,database,peer]``.

An endpoint on loopback, a process of its own, that takes 200 ms for every answer and is asked 64
times at once: so 320 calls a second are ideal. 10,395 calls are one for each response of
ComperDial's turn-level file; each has a prompt as long as the Detail prompt's, asks for
log-probabilities and gets 20 for each of its tokens. Beside the rate stand the processor time of
this process a call and its memory after a tenth of the calls and at the end.

* ``memory``: the engine with answers kept by nobody, so that what grows would be the engine's
* ``database``: the engine with the book in the database (SQLite in a temporary folder) and a budget
  that pays
* ``store``: the same calls once more, read from the database
* ``peer``: the ``openai`` package's ``AsyncOpenAI`` behind an ``asyncio.Semaphore(64)``: no store,
  no budget, no rates
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.made_corpus import home_of_its_own
from tests.judges.loopback_server import Loopback, loopback_server
from workers.inference.language_models.client import Message
from workers.judges.core.calls import Answer, Call, ChatRequest
from workers.judges.core.dispatcher import Dispatcher
from workers.judges.core.memory_cache import MemoryResponseCache
from workers.judges.core.rate_limit import Limits, Unlimited
from workers.judges.core.response_cache import ResponseCache

CALLS, AT_ONCE, SECONDS, WARM_UP = 10_395, 64, 0.2, 256
IDEAL = AT_ONCE / SECONDS
LENGTH = 3_300
"""Characters of a prompt: instructions, four utterances before, the persona, the response."""
PARTS = ("memory", "database", "store", "peer")


class Forgetful(MemoryResponseCache):
    """Keeps nothing."""

    def put(self, answers: Sequence[tuple[Call, Answer]]) -> None:
        super().put(answers)
        self.answers.by_key.clear()


@dataclass
class Measured:
    calls: int
    wall: float
    processor: float
    memory: list[int] = field(default_factory=list)
    """Megabytes after each tenth."""

    def words(self) -> str:
        rate = self.calls / self.wall
        return (
            f"{rate:6.1f} calls/s, {100 * rate / IDEAL:5.1f} % of {IDEAL:.0f}; "
            f"{1000 * self.processor / self.calls:.2f} ms of processor time a call; "
            f"{self.memory[0]} MB after a tenth, {self.memory[-1]} MB at the end"
        )


def calls(count: int, first: int = 0) -> Iterator[Call]:
    source = random.Random(0)
    words = ["the", "a", "i", "you", "to", "is", *(f"word{number}" for number in range(400))]
    shared = " ".join(source.choices(words, k=LENGTH // 5))[: LENGTH - 200]
    parameters = (
        ("logprobs", True),
        ("max_tokens", 8),
        ("seed", 0),
        ("temperature", 1.0),
        ("top_logprobs", 20),
    )
    for number in range(first, first + count):
        text = f"{shared}\n=== Response\n{number} " + " ".join(source.choices(words, k=30))
        yield Call(ChatRequest("judge-a", (Message("user", text),), parameters))


def memory() -> int:
    with open("/proc/self/statm") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


def with_engine(server: Loopback, book: ResponseCache, count: int, first: int) -> Measured:
    engine = Dispatcher(server.endpoint(), book, Limits(AT_ONCE, 30.0, 6), Unlimited())
    engine.ask(calls(WARM_UP, first - WARM_UP), lambda _call, _answer: ())
    seen: list[int] = []

    def look(done: int) -> None:
        if done >= count * (len(seen) + 1) // 10:
            seen.append(memory())

    wall, processor = time.perf_counter(), time.process_time()
    engine.ask(calls(count, first), lambda _call, _answer: (), look)
    measured = Measured(count, time.perf_counter() - wall, time.process_time() - processor, seen)
    engine.close()
    return measured


def with_openai(server: Loopback, count: int, first: int) -> Measured:
    return asyncio.run(_with_openai(server, count, first))


async def _with_openai(server: Loopback, count: int, first: int) -> Measured:
    from openai import AsyncOpenAI

    endpoint, places, seen, done = server.endpoint(), asyncio.Semaphore(AT_ONCE), list[int](), 0
    client = AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key)

    async def one(call: Call) -> None:
        nonlocal done
        asked = call.request
        messages = [{"role": message.role, "content": message.text} for message in asked.messages]
        async with places:
            reply = await client.chat.completions.create(
                model=asked.model, messages=messages, **dict(asked.parameters)
            )  # type: ignore[call-overload]
        assert reply.choices[0].message.content
        done += 1
        if done >= count * (len(seen) + 1) // 10:
            seen.append(memory())

    await asyncio.gather(*[one(call) for call in calls(WARM_UP, first - WARM_UP)])
    done, seen[:] = 0, []
    wall, processor = time.perf_counter(), time.process_time()
    await asyncio.gather(*[one(call) for call in calls(count, first)])
    measured = Measured(count, time.perf_counter() - wall, time.process_time() - processor, seen)
    await client.close()
    return measured


def database_book() -> ResponseCache:
    from django.core.management import call_command

    from workers.judges.budgets import ChargedCall
    from workers.judges.models import Budget
    from workers.judges.response_cache import DatabaseResponseCache

    call_command("migrate", verbosity=0)
    budget = Budget.objects.create(tokens_limit=10**12)
    return DatabaseResponseCache([ChargedCall(budget.pk, "the bench")], endpoint="loopback")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    asked = parser.parse_args()
    parts = asked.only.split(",")
    with home_of_its_own(), loopback_server(SECONDS, text="- Humanness: 4") as server:
        print(
            f"{asked.calls} calls, {AT_ONCE} at once, {1000 * SECONDS:.0f} ms each; load "
            f"{os.getloadavg()[0]:.1f}"
        )
        books: dict[str, Callable[[], ResponseCache]] = {
            "memory": Forgetful,
            "database": database_book,
        }
        kept: ResponseCache | None = None
        for place, part in enumerate(parts):
            if part == "peer":
                print(
                    f"{part:9}", with_openai(server, asked.calls, (place + 1) * 1_000_000).words()
                )
            elif part != "store":
                kept = books[part]()
                print(f"{part:9}", with_engine(server, kept, asked.calls, 1_000_000).words())
            elif kept is not None:
                before = server.stats()["requests"]
                print(f"{part:9}", with_engine(server, kept, asked.calls, 1_000_000).words())
                assert server.stats()["requests"] == before, "a call was sent that the store had"
        print(json.dumps(server.stats()))


if __name__ == "__main__":
    main()
