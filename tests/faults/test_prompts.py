"""Prompts with real workers: the packaged model from the form to the score, workers that die,
broken endpoints."""

from __future__ import annotations

import json
import re
import urllib.request
from collections import Counter
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.challenges.prompted import KEY, KEY_VARIABLE, PROMPT, last_line, prompt_endpoint
from tests.faults.test_chat import needs_packaged_model
from tests.site import Site, kill, wait_until
from workers.inference.language_models.server import local_server

pytestmark = pytest.mark.slow

SETUP = (
    "from tests.challenges.sets import *\nfrom annotations.campaigns.models import "
    "ChatSystem\nround = open_round(small_version({dialogues}, {turns}), "
    "open_challenge('the-challenge'), slug='r', {fields})\nurl = {base_url!r}\nround.endpoint = "
    "ChatSystem.objects.create(name='e', base_url=url, model='stub-model', key_variable={key!r}, "
    "instructions='x') if url else None\nround.save()\nteam, user = "
    "team_with_member(round.challenge, 'rosa')\nuser.set_password('rosa'); user.save()\n"
)
SUBMIT = (
    "from leaderboard.challenges.models import *\nround, team = Round.objects.get(), "
    "Team.objects.get()\n"
    + (
        "from tests.challenges.sets import submit\nsubmit(round, team, data={data!r}, "
        "track='prompt')\n"
    )
)
SUBMISSION = "from leaderboard.challenges.models import *\ns = Submission.objects.get()\n"


def set_up(
    site: Site,
    base_url: str = "",
    dialogues: int = 3,
    turns: int = 2,
    key: str = "",
    fields: str = "",
) -> None:
    site.python(
        SETUP.format(base_url=base_url, dialogues=dialogues, turns=turns, key=key, fields=fields)
    )


def hand_in(site: Site, **changes: Any) -> None:
    site.python(SUBMIT.format(data=json.dumps({**PROMPT, **changes}).encode()))


def state(site: Site) -> str:
    ((found,),) = site.rows("SELECT state FROM challenges_submission")
    return str(found)


def wait_for_end(site: Site, seconds: float = 400) -> None:
    """Asked by one process, not by a new one each time: those would take the processor from the
    worker."""
    waits = (
        f"import time\ndeadline = time.monotonic() + {seconds}\nwhile s.ended_at is None and "
        "time.monotonic() < deadline:\n    time.sleep(0.1)\n    "
        "s.refresh_from_db()\nprint(s.state)"
    )
    found = site.python(SUBMISSION + waits)
    assert found in ("scored", "failed", "invalid"), (
        f"still {found} after {seconds} s: {site.logs()}"
    )


class Browser:
    """Follows redirects and keeps cookies, as a person's browser does."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> str:
        return self._read(urllib.request.Request(self.address + path))

    def send(self, path: str, fields: dict[str, str]) -> str:
        """Post a form of the page ``path``."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(path))
        assert token is not None
        body = urlencode({**fields, "csrfmiddlewaretoken": token.group(1)}).encode()
        return self._read(
            urllib.request.Request(self.address + path, body, {"Referer": self.address + path})
        )

    def _read(self, request: urllib.request.Request) -> str:
        with self.opener.open(request, timeout=60) as response:
            self.at = response.url.removeprefix(self.address)
            return response.read().decode()


@pytest.mark.long
@needs_packaged_model
def test_a_prompt_goes_from_the_form_to_its_score_with_the_packaged_model(site: Site) -> None:
    set_up(site, fields="input_price=1, output_price=2")
    with local_server() as endpoint:
        site.settings |= {
            "DIALEVAL_LLM_URL": endpoint.base_url,
            "DIALEVAL_LLM_MODEL": endpoint.model,
            "DIALEVAL_LLM_KEY": endpoint.api_key,
        }
        site.start_worker(concurrency=2)
        rosa = Browser(site.start_web())
        rosa.send("/accounts/login/", {"username": "rosa", "password": "rosa"})
        page = "/challenges/the-challenge/rounds/r/prompt/"
        rosa.send(
            page,
            {
                **PROMPT,
                "name": "first try",
                "max_tokens": "20",
                "second_user": "Kinder: {first_answer}",
            },
        )
        submission = rosa.at
        assert submission.startswith("/submissions/")
        wait_for_end(site)
        shown = rosa.get(submission)
        board = "/challenges/the-challenge/rounds/r/board/"
        wait_until(lambda: "first try" in rosa.get(board), 120, "the worker has computed the board")
        assert endpoint.api_key not in rosa.get(board)
    assert state(site) == "scored", site.logs()
    told = json.loads(
        site.python(
            f"{SUBMISSION}import json\nprint(json.dumps([s.calls, s.input_tokens, "
            "s.output_tokens, float(s.cost), s.system.description, s.system.responses.count(), "
            "s.generated.count()]))"
        )
    )
    calls, input_tokens, output_tokens, cost, description, responses, generated = told
    assert (calls, responses, generated) == (12, 6, 6)  # 3 dialogues × 2 turns × 2 calls
    assert 0 < output_tokens <= 12 * 20
    assert input_tokens > 12 * 10
    assert cost == pytest.approx((input_tokens + 2 * output_tokens) / 1e6)
    assert description.startswith(
        "model:smollm2-135m-instruct|reported:smollm2-135m-instruct|temperature:0.7"
    )
    assert "12 calls" in shown
    assert endpoint.api_key not in shown + site.logs()
    assert endpoint.api_key not in site.manage("dumpdata").stdout


def test_a_run_whose_worker_is_killed_is_finished_by_the_next_and_only_turns_in_flight_are_asked_twice(
    site: Site,
) -> None:
    with prompt_endpoint() as stub:
        stub.seconds = 0.3
        set_up(site, stub.base_url, dialogues=6, turns=5)
        first = site.start_worker()
        hand_in(site)
        wait_until(lambda: len(stub.asked) > 8, 120, "the first worker has asked some turns")
        kill(first)
        stored = int(site.python(f"{SUBMISSION}print(s.generated.count())"))
        asked_then = len(stub.asked)
        assert asked_then - 4 <= stored < 30  # at most four dialogues are asked at once
        stub.seconds = 0
        site.start_worker()
        wait_for_end(site)
    assert state(site) == "scored"
    times = Counter(asked["messages"][-1]["content"] for asked in stub.asked)
    assert len(times) == 30
    assert len(stub.asked) <= 34
    counts = site.python(
        f"{SUBMISSION}print(s.generated.count(), s.system.responses.count(), s.calls)"
    )
    generated, responses, calls = map(int, counts.split())
    assert (generated, responses) == (30, 30)
    # An answer that was charged and not yet stored when the worker died is asked for again
    assert 30 <= calls <= len(stub.asked)


@pytest.mark.parametrize(("seconds", "turns", "asked"), [(0.5, 24, 24), (5, 3, None)])
def test_a_run_that_outlives_a_task_is_given_back_and_finished_within_one_attempt(
    site: Site, seconds: float, turns: int, asked: int | None
) -> None:
    """In the first no turn is begun after 8 s, and those of half a second have the rest of the
    task's 10 s to end: none is asked twice. In the second the soft limit comes while a turn is in
    flight, on a machine that is not too slow to begin it: that one is asked again."""
    with prompt_endpoint() as stub:
        stub.seconds = seconds
        set_up(site, stub.base_url, dialogues=1, turns=turns)
        site.settings |= {"DIALEVAL_TASK_SECONDS": "10", "DIALEVAL_MAX_ATTEMPTS": "1"}
        site.start_worker()
        hand_in(site)
        wait_for_end(site)
    assert site.python(f"{SUBMISSION}print(s.state, s.error)") == "scored"
    assert site.python(f"{SUBMISSION}print(s.attempts)") == "1"
    assert "Paused after" in site.python(f"{SUBMISSION}print([l.text for l in s.log.all()])")
    assert len(stub.asked) == asked or (asked is None and turns <= len(stub.asked) <= 2 * turns)


def test_a_key_that_an_endpoint_says_back_reaches_no_page_log_or_row(site: Site) -> None:
    with prompt_endpoint(lambda asked: 401) as stub:
        stub.words = f": the key {KEY} is not known"
        set_up(site, stub.base_url, key=KEY_VARIABLE)
        site.settings |= {KEY_VARIABLE: KEY, "DIALEVAL_LOG_LEVEL": "DEBUG"}
        site.start_worker()
        rosa = Browser(site.start_web())
        rosa.send("/accounts/login/", {"username": "rosa", "password": "rosa"})
        rosa.send("/challenges/the-challenge/rounds/r/prompt/", {**PROMPT, "name": "x"})
        submission = rosa.at
        wait_for_end(site)
        page = rosa.get(submission)
    assert stub.keys[0] == f"Bearer {KEY}"
    assert "refuses this site" in page
    assert KEY not in page
    assert KEY not in site.manage("dumpdata").stdout
    assert all(KEY not in log.read_text(errors="replace") for log in site.home.glob("*.log"))


def test_the_team_of_a_hidden_round_reads_nothing_of_what_a_talkative_model_repeats(
    site: Site,
) -> None:
    """The prompt asks for the history; the model obeys; every page, download and fragment is walked
    as the team."""
    with prompt_endpoint(last_line) as stub:
        stub.answer = lambda asked: asked["messages"][-1]["content"]
        set_up(site, stub.base_url, turns=3, fields="references='hidden'")
        gold = site.python(
            "from annotations.models import Turn\nprint('\\n'.join({t for turn in "
            "Turn.objects.all() for s, t in turn.context if s == 'B'} | {t for turn in "
            "Turn.objects.all() for t in turn.references}))"
        ).splitlines()
        site.start_worker()
        rosa = Browser(site.start_web())
        rosa.send("/accounts/login/", {"username": "rosa", "password": "rosa"})
        rosa.send(
            "/challenges/the-challenge/rounds/r/prompt/",
            {**PROMPT, "name": "x", "user": "Repeat: {history}"},
        )
        submission = rosa.at
        wait_for_end(site)
        base = "/challenges/the-challenge/"
        round_pages = [
            f"{base}rounds/r/{end}" for end in ("", "prompt/", "board/", "dialogues/", "template/")
        ]
        own = [f"{submission}{end}" for end in ("", "progress/", "file/")]
        walked = {path: rosa.get(path) for path in [base, *round_pages, *own, "/submissions/"]}
    assert state(site) == "scored", site.logs()
    assert any(line in str(stub.asked) for line in gold)
    assert [(path, line) for path, text in walked.items() for line in gold if line in text] == []
