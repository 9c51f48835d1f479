"""Judges with real workers and a real endpoint: workers that die, two at one run, storms, budgets,
stop and resume.

The endpoint keeps a log of every request that reached it. A call is a request with its seed; what
was paid is what the endpoint answered whole.
"""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.test_models_on_workers import SYSTEMS, corpus
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

DIALOGUES = 20
JUDGE = "cpdscore_detail[model=judge-a,scoring=answer]"
CALLS = DIALOGUES * len(SYSTEMS)
AT_ONCE = 4
READ = (
    "import json\n"
    "from workers.models import MetricRun\n"
    "from workers.judges.models import Hold, Budget, StoredAnswer\n"
    "answers = list(StoredAnswer.objects.values_list('request__key', 'sample', 'ask', 'state'))\n"
    "budgets = Budget.objects.all()\n"
    "print(json.dumps({\n"
    "    'runs': sorted(f'{r.state}:{r.attempts}' for r in MetricRun.objects.all()),\n"
    "    'errors': sorted({r.error for r in MetricRun.objects.all()} - {''}),\n"
    "    'answered': len([a for a in answers if a[3] == 'answered']),\n"
    "    'asked': len([a for a in answers if a[3] == 'asked']),\n"
    "    'calls': sum(p.calls for p in budgets), 'tokens': sum(p.tokens_spent for p in budgets),\n"
    "    'held': sum(Hold.objects.values_list('tokens', flat=True)),\n"
    "}))"
)
TEXTS = (
    "from workers.judges.models import "
    "StoredAnswer\nprint(sorted(StoredAnswer.objects.values_list('request__key', 'sample', 'ask', "
    "'text', 'answered_at')))"
)
DIALOGUE_ANSWER = "Overall Dialogue Turn Score - 3\nDialogue Interaction Score - 3\nFinal Score - 3"


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback_server() as running:
        yield running


@pytest.fixture
def judged(site: Site, server: Loopback, tmp_path: Path) -> Site:
    """Three systems × 20 responses; an endpoint that takes 0.1 s for a call, four at once: 1.5 s in
    all."""
    server.reset()
    server.control(seconds=0.1)
    site.settings |= {
        "DIALEVAL_LLM_URL": server.base_url,
        "DIALEVAL_LLM_KEY": KEY,
        "DIALEVAL_LLM_MODEL": "judge-a",
        "DIALEVAL_LLM_CONCURRENCY": str(AT_ONCE),
    }
    file = tmp_path / "corpus.jsonl"
    file.write_text(corpus(DIALOGUES))
    site.manage("import_corpus", "jsonl", file, "--slug", "small")
    return site


def act(site: Site, what: str) -> str:
    return site.python(
        "from workers.judges import actions\n"
        "from workers.judges.models import JudgeRun\n"
        "from workers.metrics.common.configuration import parse\n"
        "from annotations.corpora.queries import version_of, select_systems\n"
        "version = version_of('small')\n"
        "run = JudgeRun.objects.first()\n"
        f"print({what})"
    )


def start(site: Site, tokens: int | None = None, judge: str = JUDGE) -> None:
    act(
        site,
        f"actions.start_judge_run(version, parse({judge!r}), select_systems(version), {tokens}, "
        "None)",
    )


def found(site: Site) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(site.python(READ))
    return told


def wait_for(site: Site, state: str, seconds: float = 400) -> dict[str, Any]:
    """Asked by one process: new ones would take the processor from the workers."""
    site.python(
        "import time\nfrom workers.models import MetricRun\ndeadline = time.monotonic() + "
        f"{seconds}\nwhile time.monotonic() < deadline and "
        f"set(MetricRun.objects.values_list('state', flat=True)) != {{{state!r}}}:\n    "
        "time.sleep(0.1)"
    )
    told = found(site)
    assert {one.partition(":")[0] for one in told["runs"]} == {state}, (told, site.logs())
    return told


def times_asked(server: Loopback) -> Counter[tuple[str, int]]:
    """Of those that the endpoint answered whole."""
    return Counter((one["request"], one["seed"]) for one in server.log() if one["paid"])


def test_a_worker_that_is_killed_loses_only_the_calls_in_flight(
    judged: Site, server: Loopback
) -> None:
    server.control(seconds=0.4)
    first = judged.start_worker()
    start(judged)
    wait_until(lambda: server.stats()["paid"] >= 12, 60, "the first worker has some answers")
    kill(first)
    paid_then, kept = server.stats()["paid"], found(judged)["answered"]
    assert paid_then - 2 * AT_ONCE <= kept < CALLS
    server.control(seconds=0.05)
    judged.start_worker()
    told = wait_for(judged, "done")
    times = times_asked(server)
    assert len(times) == CALLS == told["answered"] == told["calls"]
    assert (told["asked"], told["held"]) == (0, 0)
    asked_twice = sum(count - 1 for count in times.values())
    assert asked_twice <= 2 * AT_ONCE
    assert sum(times.values()) == CALLS + asked_twice


def test_two_workers_that_want_the_same_calls_ask_each_once(judged: Site, server: Loopback) -> None:
    """The first step of CPDScore-Dialogue asks what CPDScore-D asks; each worker has one of the
    two. The second step adds a call for each of the 3 × 20 dialogues."""
    dialogues = "cpdscore_dialogue[model=judge-a,scoring=answer]"
    server.control(
        rules=[{"contains": "Overall Dialogue Turn Score", "do": "answer", "text": DIALOGUE_ANSWER}]
    )
    start(judged)
    start(judged, judge=dialogues)
    judged.start_worker()
    judged.start_worker()
    told = wait_for(judged, "done")
    times = times_asked(server)
    assert set(times.values()) == {1}
    assert len(times) == 2 * CALLS == told["answered"] == told["calls"]
    assert server.stats()["input_tokens"] + server.stats()["output_tokens"] == told["tokens"]
    assert server.stats()["most_at_once"] > AT_ONCE  # both were at it at the same time


def test_a_worker_that_was_asleep_when_another_took_over_writes_over_nothing(
    judged: Site, server: Loopback
) -> None:
    """It falls asleep while its calls are in flight, for longer than its leases last, and puts them
    down afterwards."""
    server.control(
        seconds=0.05, script=[{"do": "answer"}] * 6, default={"do": "answer", "seconds": 20}
    )
    first = judged.start_worker()
    start(judged)
    wait_until(lambda: server.stats()["requests"] >= 10, 60, "six are answered, and four in flight")
    wait_until(lambda: found(judged)["answered"] >= 6, 60, "the six are put down")
    os.killpg(first.pid, signal.SIGSTOP)
    server.control(default={"do": "answer"})
    judged.start_worker()
    told = wait_for(judged, "done")
    wait_until(
        lambda: sum(times_asked(server).values()) > CALLS,
        60,
        "what the sleeper asked is answered, too",
    )
    before = judged.python(TEXTS)
    os.killpg(first.pid, signal.SIGCONT)
    wait_until(lambda: found(judged)["held"] == 0, 60, "the first worker has put down what it had")
    assert judged.python(TEXTS) == before
    times = times_asked(server)
    assert len(times) == CALLS == told["answered"]
    assert 0 < sum(times.values()) - CALLS <= 2 * AT_ONCE  # what it had claimed


def test_storms_of_429_and_500_lose_nothing_and_pay_nothing_twice(
    judged: Site, server: Loopback
) -> None:
    storm: list[dict[str, Any]] = []
    for number in range(30):
        storm.append(
            {"do": ("answer", "rate_limit", "error", "drop", "garbage", "answer")[number % 6]}
        )
        if storm[-1]["do"] == "rate_limit":
            storm[-1]["retry_after"] = "0.1"
    server.control(script=storm, seconds=0.02)
    judged.start_worker()
    start(judged)
    told = wait_for(judged, "done")
    times = times_asked(server)
    assert set(times.values()) == {1}
    assert len(times) == CALLS == told["answered"] == told["calls"]


def test_a_budget_stops_in_the_middle_and_raised_it_goes_on(judged: Site, server: Loopback) -> None:
    server.control(seconds=0.02)
    judged.start_worker()
    start(judged, tokens=12_000)
    told = wait_for(judged, "failed")
    assert 0 < told["answered"] < CALLS
    assert told["tokens"] <= 12_000
    assert told["held"] == 0
    [error] = told["errors"]
    assert "raise the budget" in error
    act(judged, "actions.set_budget(run, None, None), actions.resume(run)")
    told = wait_for(judged, "done")
    assert set(times_asked(server).values()) == {1}
    assert len(times_asked(server)) == CALLS == told["calls"]


def test_a_judge_that_is_stopped_sends_no_more_and_resumed_asks_what_is_missing(
    judged: Site, server: Loopback
) -> None:
    server.control(script=[{"do": "answer"}] * 4, default={"do": "answer", "seconds": 3})
    judged.start_worker()
    start(judged)
    wait_until(lambda: server.stats()["paid"] >= 4, 60, "it is under way")
    act(judged, "actions.stop(run)")
    told = found(judged)
    assert told["runs"] == ["failed:1"] * 3
    wait_until(lambda: found(judged)["asked"] == 0, 60, "what was in flight is put down")
    stopped_at = server.stats()["requests"]
    assert stopped_at < CALLS
    server.control(default={"do": "answer"}, seconds=0.02)
    act(judged, "actions.resume(run)")
    told = wait_for(judged, "done")
    times = times_asked(server)
    assert set(times.values()) == {1}
    assert len(times) == CALLS == told["calls"]


def test_an_endpoint_that_is_away_fails_the_runs_and_back_they_go_on(
    judged: Site, server: Loopback
) -> None:
    judged.settings["DIALEVAL_LLM_RETRIES"] = "1"
    server.control(
        script=[{"do": "answer"}] * 10, default={"do": "error", "status": 503}, seconds=0.02
    )
    judged.start_worker()
    start(judged)
    told = wait_for(judged, "failed")
    assert told["answered"] == 10
    assert "start the judge again, and no answer is paid twice" in told["errors"][0]
    server.control(default={"do": "answer"})
    act(judged, "actions.resume(run)")
    told = wait_for(judged, "done")
    assert set(times_asked(server).values()) == {1}
    assert len(times_asked(server)) == CALLS == told["calls"]
    assert KEY not in judged.manage("dumpdata").stdout
    assert all(KEY not in log.read_text(errors="replace") for log in judged.home.glob("*.log"))


def test_a_judge_that_outlives_its_task_is_given_back_and_finished_within_one_attempt(
    judged: Site, server: Loopback
) -> None:
    server.control(seconds=0.7)
    judged.settings |= {"DIALEVAL_TASK_SECONDS": "8", "DIALEVAL_MAX_ATTEMPTS": "1"}
    judged.start_worker()
    start(judged)
    told = wait_for(judged, "done")
    assert told["runs"] == ["done:1"] * 3
    assert set(times_asked(server).values()) == {1}
