"""Submissions to a real site whose processes die: each is scored once, or invalid with a reason;
nothing is left."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.challenges.http_participant import Answer, HttpParticipant, Lost
from tests.conftest import ON_SERVICES
from tests.services import free_port
from tests.site import Site, answers, kill, wait_until

pytestmark = pytest.mark.slow

SUBMISSIONS, SEED = 50, 4
DIALOGUES, TURNS = 3, 2

SET_UP = """
import json
from django.test import override_settings
from tests.campaigns.http_rater import sessions_of
from tests.challenges.sets import open_challenge, open_round, team_with_member
round = open_round(challenge=open_challenge("cup"), slug="one", daily_limit={limit}, total_limit={limit})
with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
    team, user = team_with_member(round.challenge)
print(sessions_of([user])[0])
"""
OUTCOME = """
import json
from django.conf import settings
from annotations.models import Response, System
from annotations import orphans
from leaderboard.challenges import uploads
from leaderboard.challenges.models import Submission
from workers.models import MetricRun
orphans.collect(2e10, force=True)  # as after an hour
print(json.dumps({
    "submissions": [
        {"sha256": s.sha256, "state": s.state, "problems": len(s.problems), "error": s.error, "day": s.day_place,
         "total": s.total_place, "system": s.system_id, "file": s.stored_as}
        for s in Submission.objects.all()
    ],
    "systems": {str(s.pk): s.responses.count() for s in System.objects.all()},
    "runs": {str(s.pk): sorted(s.metric_runs.values_list("configuration", "state")) for s in System.objects.all()},
    "incoming": len(list(uploads.incoming_folder().iterdir())),
    "uploads": sorted(path.name for path in (uploads.incoming_folder().parent / "uploads").glob("*")),
}))
"""
WAIT_FOR_ENDS = """
import time
from leaderboard.challenges.models import Submission
under_way = Submission.objects.filter(state__in=["received", "validating", "generating", "scoring"])
deadline = time.monotonic() + {seconds}
while under_way.exists() and time.monotonic() < deadline:
    time.sleep(0.1)
print(under_way.count())
"""


class Processes:
    """A web server that keeps its address and a worker; each can be killed and is started anew."""

    def __init__(self, site: Site, web_processes: int = 1) -> None:
        self.site, self.bind, self.web_processes = site, f"127.0.0.1:{free_port()}", web_processes
        self.address = f"http://{self.bind}"
        self.web = self._start_web()
        self.worker = self._start_worker()
        self.wait_for_web()

    def _start_web(self):
        command = ["-m", "gunicorn", "dialeval_site.wsgi", "--bind", self.bind, "--threads", "4"]
        command += ["--worker-class", "dialeval_site.operations.web_worker.Worker"]
        return self.site.start("web", *command, "--workers", str(self.web_processes))

    def _start_worker(self):
        return self.site.start_worker(concurrency=2)

    def wait_for_web(self) -> None:
        wait_until(lambda: answers(f"{self.address}/health/"), 60, "the web server answers")

    def kill_web(self) -> None:
        kill(self.web)
        self.web = self._start_web()

    def kill_worker(self) -> None:
        kill(self.worker)
        self.worker = self._start_worker()


def participant(site: Site, processes: Processes, limit: int = 200) -> HttpParticipant:
    return HttpParticipant(processes.address, site.python(SET_UP.format(limit=limit)), "cup", "one")


def good_file(number: int) -> bytes:
    lines = [
        {
            "dialog_id": f"file-{dialogue}",
            "turn": turn,
            "response": f"I rode bicycle {number} at turn {turn}.",
        }
        for dialogue in range(DIALOGUES)
        for turn in range(TURNS)
    ]
    return "\n".join(json.dumps(line) for line in lines).encode()


def bad_file(number: int) -> bytes:
    return good_file(number) + b'\n{"dialog_id": "nowhere", "turn": 0, "response": "x"}'


def submit_until_answered(sender: HttpParticipant, data: bytes, name: str) -> Answer:
    """As a patient client does: the same bytes again, until there is an answer."""
    deadline = time.monotonic() + 60
    while True:
        try:
            answer = sender.submit(data, name)
            if answer.status < 500:
                return answer
        except Lost:
            pass
        assert time.monotonic() < deadline, "nobody answers"
        time.sleep(0.2)


def outcome(site: Site) -> dict[str, Any]:
    return json.loads(site.python(OUTCOME))


def all_ended(site: Site, seconds: float = 400) -> None:
    """Asked by one process, not by a new one each time: those would take the processor from the
    worker."""
    assert site.python(WAIT_FOR_ENDS.format(seconds=seconds)) == "0", (
        f"not all have ended within {seconds} s"
    )


def test_web_and_worker_killed_at_random_points_of_fifty_submissions(site: Site) -> None:
    """Each is scored once or invalid with a reason, no system is there twice, no place is lost, no
    file is left."""
    site.settings["DIALEVAL_MAX_ATTEMPTS"] = "30"  # however many kills hit the same submission
    draw = random.Random(SEED)
    processes = Processes(site)
    sender = participant(site, processes)
    files = [
        bad_file(number) if number % 5 == 4 else good_file(number) for number in range(SUBMISSIONS)
    ]
    for number, data in enumerate(files):
        victim = {1: processes.kill_web, 3: processes.kill_worker}.get(number % 5)
        timer = threading.Timer(draw.uniform(0, 0.25), victim) if victim else None
        if timer:
            timer.start()
        answer = submit_until_answered(sender, data, f"system {number}")
        assert answer.status in (200, 201), answer
        if timer:
            timer.join()
    all_ended(site)
    found = outcome(site)

    good = {
        hashlib.sha256(data).hexdigest() for number, data in enumerate(files) if number % 5 != 4
    }
    bad = {hashlib.sha256(data).hexdigest() for number, data in enumerate(files) if number % 5 == 4}
    scored = [one for one in found["submissions"] if one["state"] == "scored"]
    invalid = [one for one in found["submissions"] if one["state"] == "invalid"]
    assert len(scored) + len(invalid) == len(found["submissions"]), found["submissions"]
    assert sorted(one["sha256"] for one in scored) == sorted(good)  # each once
    assert {one["sha256"] for one in invalid} == bad
    assert all(one["problems"] for one in invalid)

    assert sorted(one["total"] for one in scored) == sorted(one["day"] for one in scored)
    assert len({one["total"] for one in scored}) == len(good)
    assert max(one["total"] for one in scored) <= len(files)
    assert all(one["total"] is None and one["day"] is None for one in invalid)

    assert sorted(found["systems"]) == sorted(str(one["system"]) for one in scored)
    assert set(found["systems"].values()) == {DIALOGUES * TURNS}
    assert all(runs == [["bleu_4", "done"], ["word_f1", "done"]] for runs in found["runs"].values())

    assert found["incoming"] == 0
    assert found["uploads"] == sorted(one["file"] for one in found["submissions"])


def test_of_twenty_uploads_at_the_same_instant_exactly_five_are_taken(site: Site) -> None:
    processes = Processes(site, web_processes=2)
    sender = participant(site, processes, limit=5)
    ready = threading.Barrier(20)

    def send(number: int) -> int:
        ready.wait(30)
        return sender.submit(good_file(number), f"system {number}").status

    with ThreadPoolExecutor(20) as pool:
        statuses = sorted(pool.map(send, range(20)))
    assert statuses == [201] * 5 + [409] * 15
    all_ended(site)
    found = outcome(site)
    assert sorted((one["state"], one["day"], one["total"]) for one in found["submissions"]) == [
        ("scored", place, place) for place in range(1, 6)
    ]
    assert len(found["uploads"]) == 5


def test_an_upload_that_breaks_off_in_the_middle_stores_nothing(site: Site) -> None:
    processes = Processes(site)
    sender = participant(site, processes)
    incoming = site.home / "files" / "incoming"
    for _ in range(3):
        sender.half_submit(b"x" * 3_000_000)
    wait_until(incoming.is_dir, 20, "the server has begun to store what came")
    wait_until(lambda: not list(incoming.iterdir()), 20, "what had arrived is removed")
    assert outcome(site)["submissions"] == []
    assert sender.submit(good_file(1)).status == 201


def test_a_submission_that_came_while_the_broker_was_gone_is_scored_when_it_is_back(
    site: Site,
) -> None:
    there = site.settings.get("CELERY_BROKER_URL", "")
    if ON_SERVICES:
        site.settings["CELERY_BROKER_URL"] = "redis://127.0.0.1:1/0"
    else:
        (site.home / "broker").write_text("not a folder")
    address = site.start_web()
    sender = HttpParticipant(address, site.python(SET_UP.format(limit=5)), "cup", "one")
    assert sender.submit(good_file(1)).status == 201
    assert [one["state"] for one in outcome(site)["submissions"]] == ["received"]
    if ON_SERVICES:
        site.settings["CELERY_BROKER_URL"] = there
    else:
        (site.home / "broker").unlink()
    site.start_worker()
    all_ended(site)
    assert [one["state"] for one in outcome(site)["submissions"]] == ["scored"]
