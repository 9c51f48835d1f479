"""A crowd of raters at a real web server: answers that are never read, double clicks, changed
minds, people who vanish.

What a rater saw acknowledged is what the database holds; every item gets its k raters and not one
more.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.campaigns.http_rater import Answer, HttpRater, Lost
from tests.conftest import ON_SERVICES
from tests.faults.chance import few
from tests.services import free_port
from tests.site import Site, answers, wait_until

pytestmark = pytest.mark.slow

RATERS, K = (60, 5) if ON_SERVICES else (16, 4)
SYSTEMS, DIALOGUES, TURNS = (5, few(4, of=10), 2) if ON_SERVICES else (4, 5, 2)
ITEMS = SYSTEMS * DIALOGUES * TURNS
LEASE_SECONDS = 5
PATIENCE_SECONDS = 900
LOSES_THE_ANSWER, CLICKS_TWICE, CHANGES_MIND, SKIPS, GOES_AWAY, NEVER_COMES_BACK = (
    0.10,
    0.08,
    0.06,
    0.01,
    0.02,
    0.01,
)
STAY = RATERS // 2
"""So many never vanish for good, else nobody might be left to finish: more than k, as who skips is
no help."""

SET_UP = """
import json
from django.test import override_settings
from tests.campaigns.http_rater import sessions_of
from tests.campaigns.sets import made_campaign, made_raters
campaign = made_campaign(
    systems=[f"system {{n}}" for n in range({systems})], dialogues={dialogues}, turns={turns}, k={k}, slug="crowd"
)
with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):  # nobody logs in
    raters = made_raters(campaign, {raters}, guidelines_read=campaign.guidelines.get())
print(json.dumps(sessions_of([one.user for one in raters])))
"""
OUTCOME = """
import json
from annotations.campaigns.models import Assignment, Item, Slot
done = Assignment.objects.filter(state="done").select_related("item", "participation", "slot", "current")
print(json.dumps({
    "raters": {
        item.public_id: [
            slot.holder.participation.position for slot in item.slots.select_related("holder__participation")
            if slot.holder is not None and slot.holder.state == "done"
        ]
        for item in Item.objects.all()
    },
    "slots": Slot.objects.count(),
    "without a place": sum(not hasattr(one, "slot") for one in done),
    "leased": Assignment.objects.filter(state="leased").count(),
    "revisions": [
        [one.participation.position, one.item.public_id, [[r.number, r.key, r.score] for r in one.revisions.all()],
         one.current.number]
        for one in done.prefetch_related("revisions")
    ],
}))
"""


@dataclass
class Sent:
    """What a rater sent of an item, in order: the key, the score, and whether the answer said that
    it is stored."""

    ratings: list[tuple[str, int, bool]] = field(default_factory=list)


class Person(threading.Thread):
    """Rates until nothing is left; ``told`` is what this person believes to have rated."""

    def __init__(self, place: int, client: HttpRater, deadline: float) -> None:
        super().__init__(daemon=True)
        self.chance = random.Random(place)
        self.client, self.deadline = client, deadline
        self.may_vanish = place >= STAY
        self.told: dict[str, Sent] = {}
        self.ended = ""
        self.problems: list[str] = []
        self.happened: dict[str, int] = {}

    def run(self) -> None:
        try:
            self.client.open()
            while self.ended == "" and time.monotonic() < self.deadline:
                self._next()
        except Exception as problem:  # told by the test, with the rater's last answer
            self.problems.append(f"{type(problem).__name__}: {problem}")
        finally:
            self.client.close()

    def _next(self) -> None:
        if not self.client.in_hand:
            if self.client.ended != "wait":
                self.ended = self.client.ended or "no reason"
                return
            time.sleep(1)
            self.client.open()
            return
        item, score = self.client.in_hand[0], self.chance.randint(1, 5)
        luck = self.chance.random()
        for share, act in (
            (LOSES_THE_ANSWER, self._loses_the_answer),
            (CLICKS_TWICE, self._clicks_twice),
            (CHANGES_MIND, self._changes_mind),
            (SKIPS, self._skips),
            (GOES_AWAY, self._goes_away),
            (NEVER_COMES_BACK if self.may_vanish else 0.0, self._vanishes),
        ):
            if luck < share:
                self.happened[act.__name__] = self.happened.get(act.__name__, 0) + 1
                act(item, score)
                return
            luck -= share
        self._rates(item, score)

    def _rates(self, item: str, score: int, key: str = "") -> None:
        form = self.client.form(score, item, key)
        self._sends(form)

    def _sends(self, form: dict[str, Any]) -> None:
        """Again and again with the same key until there is an answer, as the page does."""
        while True:
            try:
                answer = self.client.send(form)
            except Lost:
                continue
            if answer.status in (200, 409):
                self._noted(form, answer)
                self.client.take(answer)
                return
            raise AssertionError(f"{answer.status} {answer.content}")

    def _noted(self, form: dict[str, Any], answer: Answer | None) -> None:
        sent = self.told.setdefault(form["item"], Sent())
        sent.ratings.append((form["key"], form["score"], answer is not None and answer.stored))

    def _loses_the_answer(self, item: str, score: int) -> None:
        form = self.client.form(score, item)
        with suppress(Lost):
            self.client.send(form, loses_the_answer=True)
        time.sleep(self.chance.uniform(0, 0.2))
        self._sends(form)

    def _clicks_twice(self, item: str, score: int) -> None:
        """The same form over two connections at one moment: both are told that it is stored, or
        both that it is not."""
        form, other = self.client.form(score, item), self.client.second_tab()
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda client: client.send(form), (self.client, other))
        other.close()
        if first.stored != second.stored or first.content.get("revision") != second.content.get(
            "revision"
        ):
            self.problems.append(f"one click was told {first}, the other {second}")
        self._noted(form, first)
        self.client.take(second)

    def _changes_mind(self, item: str, score: int) -> None:
        self._rates(item, score)
        self._rates(item, score % 5 + 1)

    def _skips(self, item: str, score: int) -> None:
        answer = self.client.skip("I know who wrote it.")
        if not answer.stored:
            self.problems.append(f"a skip was answered with {answer.status} {answer.content}")

    def _goes_away(self, item: str, score: int) -> None:
        """For longer than the lease; the rating that was begun comes late."""
        time.sleep(LEASE_SECONDS + 1)
        self._rates(item, score)

    def _vanishes(self, item: str, score: int) -> None:
        """The machine dies while the rating is on its way. Nobody was told anything of it."""
        form = self.client.form(score, item)
        with suppress(Lost):
            self.client.send(form, loses_the_answer=True)
        self._noted(form, None)
        self.ended = "vanished"


@dataclass
class Aftermath:
    people: list[Person]
    outcome: dict[str, Any]
    seconds: float


@pytest.fixture
def aftermath(site: Site) -> Aftermath:
    site.settings["DIALEVAL_RATING_LEASE_SECONDS"] = str(LEASE_SECONDS)
    site.settings["DIALEVAL_LOG_LEVEL"] = "ERROR"
    sizes = {"systems": SYSTEMS, "dialogues": DIALOGUES, "turns": TURNS, "k": K, "raters": RATERS}
    sessions = json.loads(site.python(SET_UP.format(**sizes)))
    address = f"127.0.0.1:{free_port()}"
    options = ["--bind", address, "--workers", "2", "--threads", "4"]
    site.start("web", "-m", "gunicorn", "dialeval_site.wsgi", *options)
    wait_until(lambda: answers(f"http://{address}/health/"), 60, "the web server answers")
    start = time.monotonic()
    people = [
        Person(place, HttpRater(f"http://{address}", "crowd", session), start + PATIENCE_SECONDS)
        for place, session in enumerate(sessions)
    ]
    for person in people:
        person.start()
    for person in people:
        person.join()
    return Aftermath(people, json.loads(site.python(OUTCOME)), time.monotonic() - start)


def test_every_item_has_its_raters_and_no_rating_is_lost(aftermath: Aftermath) -> None:
    people, outcome = aftermath.people, aftermath.outcome
    assert [problem for person in people for problem in person.problems] == []
    assert {person.ended for person in people} <= {"finished", "vanished"}

    raters = outcome["raters"]
    assert outcome["slots"] == ITEMS * K
    assert {item: len(of_item) for item, of_item in raters.items()} == dict.fromkeys(raters, K)
    assert all(len(set(of_item)) == K for of_item in raters.values())
    assert (outcome["without a place"], outcome["leased"]) == (0, 0)

    stored = {
        (place, item): (revisions, current)
        for place, item, revisions, current in outcome["revisions"]
    }
    assert len(stored) == ITEMS * K
    for place, person in enumerate(people):
        for item, sent in person.told.items():
            acknowledged = [(key, score) for key, score, was_stored in sent.ratings if was_stored]
            if not acknowledged:
                continue
            revisions, current = stored[place, item]
            kept = [(key, score) for _, key, score in revisions]
            unanswered = [(key, score) for key, score, was_stored in sent.ratings if not was_stored]
            # Each once, in the order sent
            assert [one for one in kept if one not in unanswered] == acknowledged
            assert [number for number, _, _ in revisions] == list(range(1, len(revisions) + 1))
            assert current == len(revisions)

    happened = Counter[str]()
    for person in people:
        happened.update(person.happened)
    print(f"{outcome['slots']} ratings in {aftermath.seconds:.0f} s: {dict(happened)}")
    assert {"_loses_the_answer", "_clicks_twice", "_changes_mind", "_goes_away"} <= set(happened)
