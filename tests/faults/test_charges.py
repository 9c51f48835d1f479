"""What is charged is at least what the endpoint bills, whatever dies: workers, connections,
patience.

The endpoint bills every answer that it generates, whether or not anybody is left to read it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.challenges.prompted import prompt_endpoint, tokens
from tests.faults.chance import draw, few
from tests.faults.test_chat import answer as answer_of_chat
from tests.faults.test_chat import ask
from tests.faults.test_judges import CALLS, DIALOGUES, act, start
from tests.faults.test_models_on_workers import corpus
from tests.faults.test_prompts import hand_in, set_up, state, wait_for_end
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from tests.site import Site, kill, wait_until

pytestmark = pytest.mark.slow

READ = (
    "import json\nfrom workers.models import MetricRun\nfrom workers.judges.ledger import "
    "balance_of\nfrom workers.judges.models import JudgeRun\nruns = "
    "list(MetricRun.objects.all())\nbalance = "
    "balance_of(JudgeRun.objects.get().budget)\nprint(json.dumps({\n    'states': sorted({r.state "
    "for r in runs}), 'errors': sorted({r.error for r in runs} - {''}),\n    'spent': "
    "[balance.spent.calls, balance.spent.tokens, float(balance.spent.cost)],\n    'unsettled': "
    "[balance.unsettled.calls, balance.unsettled.tokens, float(balance.unsettled.cost)],\n    "
    "'reserved': [balance.reserved.calls, balance.reserved.tokens],\n}))"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback_server() as running:
        yield running


@pytest.fixture
def judged(site: Site, server: Loopback, tmp_path: Path) -> Site:
    server.reset()
    site.settings |= {
        "DIALEVAL_LLM_URL": server.base_url,
        "DIALEVAL_LLM_KEY": KEY,
        "DIALEVAL_LLM_MODEL": "judge-a",
        "DIALEVAL_LLM_PRICES": "judge-a=1/10",
        "DIALEVAL_LLM_CONCURRENCY": "4",
        "DIALEVAL_LLM_SECONDS": "1",
        "DIALEVAL_LLM_RETRIES": "50",
        "DIALEVAL_MAX_ATTEMPTS": "1000",
    }
    file = tmp_path / "corpus.jsonl"
    file.write_text(corpus(DIALOGUES))
    site.manage("import_corpus", "jsonl", file, "--slug", "small")
    return site


def read(site: Site) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(site.python(READ))
    return told


def states(site: Site) -> list[str]:
    return [state for (state,) in site.rows("SELECT DISTINCT state FROM workers_metricrun")]


def storm(chance: random.Random, length: int) -> list[dict[str, Any]]:
    """Answers that come, answers that are billed and lost, and refusals that are not billed."""
    kinds: list[dict[str, Any]] = [
        {"do": "answer"},
        {"do": "answer", "seconds": 2.5},  # later than anybody waits
        {"do": "lost"},
        {"do": "half"},
        {"do": "truncated"},
        {"do": "gateway"},
        {"do": "rate_limit", "retry_after": "0.1"},
        {"do": "error", "status": 503},
        {"do": "error", "status": 500},
    ]
    return [chance.choice(kinds) for _ in range(length)]


LENGTH_OF_A_STORM = 24
"""For each worker that comes. The pauses of a call grow to half a minute where it fails again and
again, and where a kind of request is not known to be taken yet one call is asked at a time: a storm
of 120 for all of them together kept the last ones waiting for minutes."""


def die_in_storms(
    site: Site,
    server: Loopback,
    chance: random.Random,
    workers: list[subprocess.Popen[bytes]],
    times: int,
    sleepers: float = 0.0,
) -> None:
    """Each time calls are under way. ``sleepers``: the share that is asleep for longer than a
    lease instead, and then awake again."""
    for _ in range(times):
        asked = server.stats()["requests"]
        server.control(script=storm(chance, LENGTH_OF_A_STORM))
        wait_until(lambda asked=asked: _goes_on(site, server, asked), 120, "calls are under way")
        time.sleep(chance.uniform(0.0, 1.5))
        victim = chance.randrange(len(workers))
        if chance.random() < sleepers:
            os.killpg(workers[victim].pid, signal.SIGSTOP)
            time.sleep(2.5)
            os.killpg(workers[victim].pid, signal.SIGCONT)
        else:
            kill(workers[victim])
            workers[victim] = site.start_worker()


def _goes_on(site: Site, server: Loopback, asked: int) -> bool:
    """Or all has ended, and nobody asks any more."""
    ended = not {"pending", "running"} & set(states(site))
    return ended or server.stats()["requests"] > asked


def holds_up(told: dict[str, Any], billed: dict[str, Any]) -> None:
    tokens = billed["billed_input"] + billed["billed_output"]
    usd = (billed["billed_input"] + 10 * billed["billed_output"]) / 1e6
    print(
        f"the endpoint billed {billed['billed_calls']} calls, {tokens} tokens, "
        f"{usd:.6f} USD; {told}"
    )
    assert told["spent"][0] + told["unsettled"][0] >= billed["billed_calls"]
    assert told["spent"][1] + told["unsettled"][1] >= tokens
    assert told["spent"][2] + told["unsettled"][2] >= usd - 1e-9
    assert told["reserved"] == [0, 0]


def test_what_a_killed_worker_had_asked_is_charged(judged: Site, server: Loopback) -> None:
    """Four calls are under way, and answered after the kill: nobody reads them, and they are billed
    all the same."""
    server.control(script=[{"do": "answer"}] * 12, default={"do": "answer", "seconds": 0.9})
    first = judged.start_worker()
    start(judged)
    wait_until(lambda: server.stats()["requests"] >= 15, 60, "some are answered, some under way")
    kill(first)
    time.sleep(1.5)
    server.control(default={"do": "answer"})
    judged.start_worker()
    wait_until(lambda: states(judged) == ["done"], 200, "the next worker has finished")
    wait_until(
        lambda: read(judged)["reserved"] == [0, 0], 30, "what the killed one had reserved has ended"
    )
    told, billed = read(judged), server.stats()
    assert billed["billed_calls"] > CALLS
    holds_up(told, billed)
    assert told["spent"][0] == CALLS
    assert 0 < told["unsettled"][0] <= 2 * 4  # those handed over to be sent, and no others


def test_a_worker_killed_while_it_learns_loses_no_lesson_and_nothing_is_charged_twice(
    judged: Site, server: Loopback
) -> None:
    """A refusal teaches another limit. The first call in that form goes alone, and is under way
    when the worker dies: it is billed, and so is the call that asks the same again."""
    words = "'max_tokens' is not supported here. Use 'max_completion_tokens' instead."
    refusal = {"do": "error", "status": 400, "message": words}
    server.control(script=[refusal], default={"do": "answer", "seconds": 0.9})
    first = judged.start_worker()
    start(judged)
    wait_until(lambda: server.stats()["requests"] >= 2, 60, "what was learned is under way")
    kill(first)
    time.sleep(1.5)
    server.control(default={"do": "answer"})
    judged.start_worker()
    wait_until(lambda: states(judged) == ["done"], 200, "the next worker has finished")
    wait_until(lambda: read(judged)["reserved"] == [0, 0], 30, "what was reserved has ended")
    told, billed = read(judged), server.stats()
    holds_up(told, billed)
    assert (told["spent"][0], told["unsettled"][0], billed["billed_calls"]) == (CALLS, 1, CALLS + 1)
    assert billed["requests"] == CALLS + 2, "the refusal was not met again"
    facts = (
        "from workers.judges.models import EndpointDialect as E\nprint([e.facts for e in "
        "E.objects.all()])"
    )
    assert judged.python(facts).strip() == "[{'limit': 'max_completion_tokens'}]"


def test_the_charge_is_never_less_than_the_bill_whatever_dies_when(
    judged: Site, server: Loopback
) -> None:
    chance = draw()
    server.control(script=storm(chance, LENGTH_OF_A_STORM), seconds=0.1)
    start(judged)
    workers = [judged.start_worker(), judged.start_worker()]
    die_in_storms(judged, server, chance, workers, few(2, of=6), sleepers=0.3)
    server.control(script=[], default={"do": "answer"})
    wait_until(lambda: states(judged) == ["done"], 300, "all is judged")
    wait_until(lambda: read(judged)["reserved"] == [0, 0], 60, "nothing is reserved for ever")
    holds_up(read(judged), server.stats())


def test_the_bill_is_never_more_than_the_budget_whatever_dies_when(
    judged: Site, server: Loopback
) -> None:
    """The budget has room for a few attempts at a time: workers die and answers are lost until it
    is used up."""
    limit, chance = 12_000, draw()
    server.control(script=storm(chance, LENGTH_OF_A_STORM), seconds=0.05)
    start(judged, tokens=limit)
    workers = [judged.start_worker(), judged.start_worker()]
    die_in_storms(judged, server, chance, workers, few(2, of=4))
    wait_until(lambda: states(judged) == ["failed"], 300, "the budget is spent")
    wait_until(lambda: read(judged)["reserved"] == [0, 0], 60, "nothing is reserved for ever")
    told, billed = read(judged), server.stats()
    holds_up(told, billed)
    assert told["spent"][1] + told["unsettled"][1] <= limit
    assert billed["billed_input"] + billed["billed_output"] <= limit
    assert "raise the budget" in told["errors"][0]
    server.control(script=[], default={"do": "answer"})
    act(judged, "actions.set_budget(run, None, None), actions.resume(run)")
    wait_until(lambda: states(judged) == ["done"], 300, "with a larger budget all is judged")
    holds_up(read(judged), server.stats())


# --- prompts of challenges, and chats -------------------------------------------------------------

USED = (
    "columns = ('calls', 'input_tokens', 'output_tokens')\nprint(json.dumps([sum(getattr(r, n) + "
    "getattr(r, 'unsettled_' + n) for r in rows) for n in columns] + [sum(r.unsettled_calls for r "
    "in rows)]))"
)
OF_PROMPTS = (
    "import json\nfrom leaderboard.challenges.models import Submission\nrows = "
    f"Submission.objects.all()\n{USED}"
)
OF_CHATS = (
    "import json\nfrom annotations.campaigns.models import Message\nrows = "
    f"Message.objects.all()\n{USED}"
)


def test_a_prompt_is_charged_at_least_what_the_endpoint_bills_whatever_dies_when(
    site: Site,
) -> None:
    chance = draw()
    site.settings["DIALEVAL_MAX_ATTEMPTS"] = "1000"
    billed: list[dict[str, int]] = []
    refusals = 0

    def answer(asked: dict[str, Any]) -> str | int:
        nonlocal refusals
        kind = chance.random()
        if kind < 0.15 and refusals < 12:
            refusals += 1
            return chance.choice([429, 503])
        billed.append(tokens(asked))
        return 502 if kind < 0.25 else "Hello."

    with prompt_endpoint(answer) as stub:
        stub.seconds = 0.3
        set_up(site, stub.base_url, dialogues=6, turns=5)
        worker = site.start_worker()
        hand_in(site)
        wait_until(lambda: len(stub.asked) > 3, 60, "the first worker asks")
        for _ in range(few(2, of=4)):
            asked = len(stub.asked)
            kill(worker)
            worker = site.start_worker()
            wait_until(
                lambda asked=asked: len(stub.asked) > asked or state(site) == "scored",
                120,
                "the next worker asks",
            )
            time.sleep(chance.uniform(0.0, 1.5))
        wait_for_end(site)
    assert state(site) == "scored", site.logs()
    calls, input_tokens, output_tokens, unsettled = json.loads(site.python(OF_PROMPTS))
    billed_in, billed_out = (
        sum(one[name] for one in billed) for name in ("prompt_tokens", "completion_tokens")
    )
    settled = calls - unsettled
    print(
        f"billed {len(billed)} calls, {billed_in} + {billed_out} tokens; charged "
        f"{calls} calls ({unsettled} unsettled), {input_tokens} + {output_tokens} tokens"
    )
    assert settled >= 30
    assert (calls >= len(billed), input_tokens >= billed_in, output_tokens >= billed_out) == (
        True,
        True,
        True,
    )


def test_a_chats_answer_is_charged_at_least_what_the_endpoint_bills_when_its_worker_is_killed(
    site: Site,
) -> None:
    with prompt_endpoint(lambda asked: "Hello to you.") as stub:
        stub.seconds = 3
        first = site.start_worker()
        ask(site, stub.base_url)
        wait_until(lambda: stub.asked, 60, "the first worker asks")
        kill(first)
        stub.seconds = 0
        site.start_worker()
        wait_until(lambda: answer_of_chat(site) == "done 2", 60, "the second worker has the answer")
        billed = [tokens(asked) for asked in stub.asked]
    assert len(billed) == 2
    calls, input_tokens, output_tokens, unsettled = json.loads(site.python(OF_CHATS))
    assert (calls, unsettled) == (2, 1)
    assert input_tokens >= sum(one["prompt_tokens"] for one in billed)
    assert output_tokens >= sum(one["completion_tokens"] for one in billed)
