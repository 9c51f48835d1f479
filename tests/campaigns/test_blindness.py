"""Systems are unknowable from anything that a rater's browser receives.

Each session goes through every page, form and fragment of its kind of campaign, with what goes
wrong on the way, in a browser that keeps every byte: addresses, headers, cookies, bodies. All of it
is searched for names and keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from annotations.campaigns.actions import (
    invitations,
    leases,
    membership,
    quality,
    setup,
    work_queue,
)
from annotations.campaigns.actions.terms import Judgement
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conversation,
    Item,
    Message,
    Participation,
    Room,
    Slot,
)
from annotations.models import CorpusVersion
from common.roles import ORGANISER
from tests.campaigns.secret_corpus import (
    ANSWERS,
    ATTENTION_TEXT,
    CHAT,
    CORPUS,
    SYSTEMS,
    TRAINING_FEEDBACK,
    campaign_on,
    forbidden_names,
    imported,
)
from tests.campaigns.sets import made_raters, made_user
from tests.campaigns.watching import WatchedBrowser, leaks, unmistakable_keys

pytestmark = pytest.mark.django_db
JSON, HTMX = {"Accept": "application/json"}, {"HX-Request": "true"}
NOBODYS = "AAAAAAAAAAAAAAAA"
COLLEAGUE = "wilhelmina-crane"
PASS_WORD = "a long pass phrase"


@pytest.fixture(autouse=True)
def ten_digit_keys(
    db: None, monkeypatch: pytest.MonkeyPatch, notified: list[int]
) -> Iterator[None]:
    """And the same order of items in every run: who joins draws the next of these seeds."""
    seeds = count(1_700_000_000)
    monkeypatch.setattr(membership, "random_seed", lambda: next(seeds))
    with unmistakable_keys():
        yield


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return imported(tmp_path)


class Rater:
    """A rater at the browser. Comes by an invitation, as a stranger, and reads the guidelines."""

    def __init__(self, campaign: Campaign, name: str = "the-visitor") -> None:
        self.campaign, self.name, self.browser = campaign, name, WatchedBrowser()
        link = reverse(
            "campaign-join", args=[invitations.invite(campaign, note="for Zephyrquartz fans").token]
        )
        self.browser.get(link)
        # 422
        self.browser.post(link, {"username": name, "password": PASS_WORD, "again": "another"})
        self.browser.post(link, {"username": name, "password": PASS_WORD, "again": PASS_WORD})
        self.participation = Participation.objects.get(campaign=campaign, user__username=name)
        self.get("rating-start")
        self.post("rating-start", guidelines=1)

    def address(self, name: str, *places: str) -> str:
        return reverse(name, args=[self.campaign.slug, *places])

    def get(
        self, name: str, *places: str, query: str = "", follow: bool = False, **headers: str
    ) -> Any:
        return self.browser.get(self.address(name, *places) + query, headers=headers, follow=follow)

    def post(
        self,
        name: str,
        *places: str,
        headers: dict[str, str] | None = None,
        follow: bool = False,
        **data,
    ) -> Any:
        return self.browser.post(
            self.address(name, *places), data, headers=headers or {}, follow=follow
        )

    def submit(self, item: str, key: str, score: object = 4, **data: object) -> Any:
        given = {"item": item, "key": key, "score": score, "guidelines": 1, "axes_asked": 1, **data}
        return self.post("rating-submit", headers=JSON, **given)

    def in_hand(self) -> str:
        """The item that the page of the work shows."""
        page = self.get("rating-work").content.decode()
        return re.search(r'<article class="item [^>]*data-item="([\w-]+)"', page)[1]

    def rate_the_rest(self) -> dict[str, dict[str, Any]]:
        """Item → what the server answered to its rating."""
        answers: dict[str, dict[str, Any]] = {}
        item = self.in_hand()
        while item:
            answers[item] = self.submit(item, f"key-{item}", have=[item]).json()
            item = next((one["item"] for one in answers[item]["next"]), "")
        return answers

    def look_around(self) -> None:
        """What else a curious rater would try; every answer is kept."""
        work = self.address("rating-work")
        for query in (f"?item={NOBODYS}", f"?feedback={NOBODYS}", "?item=", "?item=%00"):
            self.browser.get(work + query)
        for name in ("rating-start", "rating-work", "rating-guidelines"):
            self.get(name)
            self.get(name, **JSON)
            self.get(name, **HTMX)
            self.browser.head(self.address(name))
            self.browser.put(self.address(name))
        self.post("rating-heartbeat")
        for name in ("chat", "chat-messages", "room", "room-lines"):
            self.get(name, NOBODYS)
        self.get("meet", follow=True)
        for name in (
            "campaign",
            "campaign-raters",
            "campaign-ratings",
            "campaign-export",
            "campaign-agreement",
        ):
            self.get(name)
        for name in (
            "home",
            "metrics",
            "rate",
            "runs",
            "campaigns",
            "chat-systems",
            "admin:index",
            "login",
            "health",
        ):
            self.browser.get(reverse(name))
        for name in ("home", "metrics"):
            for table in ("corpora.csv", "corpora.json", "metrics.csv", "metrics.json"):
                self.browser.get(f"{reverse(name)}?download={table}")
        of_a_metric = reverse("metric", args=["word_f1"])
        for wish in (
            "",
            "?download=metric-agreement.json",
            "?download=over-rated.csv",
            "?download=scores-data.csv",
        ):
            self.browser.get(of_a_metric + wish)
        self.browser.get(of_a_metric, headers=HTMX)

    def out_and_in_again(self) -> None:
        self.post("rating-leave", follow=True)
        self.post("rating-leave", headers=JSON)
        self.browser.post(reverse("logout"))
        self.get("rating-work")
        self.post("rating-submit", headers=JSON, item=NOBODYS)
        self.browser.force_login(get_user_model().objects.get(username=self.name))
        self.get("rating-work", follow=True)


def assert_blind(rater: Rater, version: CorpusVersion | None, **more: str) -> None:
    names = forbidden_names(version, rater.campaign) | more
    names |= {
        f"user {user}": user
        for user in get_user_model()
        .objects.exclude(username=rater.name)
        .values_list("username", flat=True)
    }
    assert leaks(rater.browser.received, names) == []
    cookies = {
        name
        for one in rater.browser.received
        for name in one.headers
        if name.startswith("Set-Cookie")
    }
    assert cookies <= {"Set-Cookie csrftoken", "Set-Cookie sessionid", "Set-Cookie messages"}
    for one in rater.browser.received:
        if " /rate/" not in one.address:
            continue
        assert not {"ETag", "Last-Modified", "Content-Disposition"} & set(one.headers), one.address
        if one.status != 405:
            assert "no-store" in one.headers.get("Cache-Control", "") or one.status in (302, 404), (
                one.address
            )


# --- whole sessions -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["turn", "dialogue"])
def test_a_session_of_rating_tells_no_system(kind: str, version: CorpusVersion) -> None:
    campaign = campaign_on(version, kind, axes_below=4, pass_mark=0.5)
    colleague = Participation.objects.create(
        campaign=campaign, user=made_user(COLLEAGUE), position=50
    )
    rater = Rater(campaign)
    rater.look_around()
    practise(rater)
    rater.look_around()
    go_wrong(rater)
    lose_two_items(rater, colleague)
    item = rater.in_hand()
    rater.post("rating-skip", headers=JSON, item=item, reason="known to the rater")
    rater.post("rating-skip", item=rater.in_hand(), reason="other", follow=True)
    rater.rate_the_rest()
    look_back(rater)
    rater.out_and_in_again()
    for change in ("paused", "closed", "open"):
        Campaign.objects.filter(pk=campaign.pk).update(state=change)
        rater.get("rating-work")
        rater.submit(item, f"late-{change}")
        rater.look_around() if change != "closed" else rater.get("rating-start")
    quality.exclude(rater.participation, "too fast with Zephyrquartz")
    rater.submit(item, "after-the-end")
    rater.look_around()

    statuses = {one.status for one in rater.browser.received}
    assert {200, 302, 401, 403, 404, 405, 409, 422} <= statuses, "an error page was not looked at"
    assert_blind(rater, version)
    text = "".join(one.everything for one in rater.browser.received)
    assert ATTENTION_TEXT in text, "no attention item was met, so none was looked at"
    assert all(answer in text for answer in ANSWERS), "not every system's answers were met"


def practise(rater: Rater) -> None:
    """The training item. Before it is rated, nothing says how it is meant to be."""
    item = rater.in_hand()
    assert Item.objects.get(public_id=item).role == Item.Role.TRAINING
    rater.get("rating-work", query=f"?feedback={item}")
    assert not any(TRAINING_FEEDBACK in unescape(one.everything) for one in rater.browser.received)
    assert TRAINING_FEEDBACK in rater.submit(item, "practice", score=3).json()["feedback"]
    rater.get("rating-work", query=f"?feedback={item}")


def go_wrong(rater: Rater) -> None:
    item = rater.in_hand()
    for wrong in (
        {"score": 9},
        {"score": ""},
        {"comment": "a\0b"},
        {"axis": "speed"},
        {"key": "a b"},
        {"guidelines": 9},
    ):
        given = {"item": item, "key": "wrong", "score": 4, "guidelines": 1, **wrong}
        assert rater.post("rating-submit", headers=JSON, **given).status_code == 422
        rater.post("rating-submit", **given, follow=True)
    rater.post("rating-submit", item=item, key="low", score=1)  # the page asks what was low
    rater.post("rating-submit", item=NOBODYS, key="low", score=1, axes_asked=1, follow=True)
    assert rater.submit(NOBODYS, "not-mine").status_code == 409
    for headers in ({}, JSON):
        rater.post("rating-skip", headers=headers, item=item, reason="", follow=True)
        rater.post("rating-skip", headers=headers, item=NOBODYS, reason="x", follow=True)


def lose_two_items(rater: Rater, colleague: Participation) -> None:
    """One that a colleague rated meanwhile, one of a system in which the rater turns out to have a
    stake: the server's words are the same, and so is every other part of its answer."""
    answers = []
    for loss in ("taken", "stake"):
        lost = a_regular_item(rater)
        if loss == "taken":
            leases.put_back([lost.pk])
            taken = Assignment.objects.create(
                participation=colleague, item=lost.item, position=0, claimed_at=timezone.now(),
                lease_expires_at=leases.lease_end(timezone.now()),
            )  # fmt: skip
            Slot.objects.filter(item=lost.item).update(holder=taken)
            work_queue.rate(colleague, lost.item.public_id, Judgement(key="theirs", score=2))
        else:
            quality.declare_conflict(rater.participation.user, lost.item.system)
        answer = rater.submit(lost.item.public_id, f"lost-{loss}", have=NOBODYS)
        rater.post(
            "rating-submit", item=lost.item.public_id, key=f"lost-{loss}", score=5, follow=True
        )
        answers.append((answer.status_code, answer.json()["reason"], sorted(answer.json())))
    assert answers[0] == answers[1]
    assert answers[0][0] == 409
    quality.withdraw_conflict(rater.participation.user, lost.item.system)


def a_regular_item(rater: Rater) -> Assignment:
    """In the rater's hands; attention items that come before it are rated."""
    while True:
        held = work_queue.fill_queue(rater.participation).assignments
        for assignment in held:
            if assignment.item.role == Item.Role.REGULAR:
                return assignment
        rater.submit(held[0].item.public_id, "on-the-way")


def look_back(rater: Rater) -> None:
    done = Assignment.objects.filter(participation=rater.participation, state=Assignment.State.DONE)
    rater.get("own-ratings")
    for item in done.values_list("item__public_id", flat=True):
        rater.get("rating-work", query=f"?item={item}")
        rater.submit(item, "changed", score=5, flagged=1, comment="Second thought.")
        rater.submit(item, "changed", score=5, flagged=1, comment="Second thought.")
        rater.post("rating-skip", headers=JSON, item=item, reason="no")
        rater.get("rating-work", query=f"?feedback={item}")


@pytest.mark.slow
def test_a_chat_and_its_rating_tell_no_system(version: CorpusVersion) -> None:
    campaign = campaign_on(version, "interactive", utterances=6)
    made_user(COLLEAGUE)
    rater = Rater(campaign)
    rater.look_around()
    rater.get("rating-work", follow=True)
    chat = Conversation.objects.get(assignment__participation=rater.participation)
    place = chat.public_id
    for headers in ({}, HTMX):
        rater.post("chat-end", place, headers=headers)  # too early
        rater.post("chat-say", place, headers=headers, text="")
        rater.post("chat-say", place, headers=headers, text="a\0b")
        rater.post("chat-again", place, headers=headers)
        rater.get("chat", place, **headers)
    for number in range(3):
        headers = HTMX if number % 2 else {}
        rater.post(
            "chat-say",
            place,
            headers=headers,
            text=f"Question {number}?",
            key=f"key-{number}",
            after=-1,
        )
        # Not one's turn
        rater.post("chat-say", place, headers=headers, text="And?", key=f"early-{number}")
        rater.get("chat-messages", place, query=f"?after={2 * number}", **HTMX)
        answer = chat.messages.filter(state=Message.State.PENDING)
        answer.update(
            state=Message.State.FAILED, error=f"{CHAT['base_url']} says {CHAT['model']} is asleep"
        )
        rater.get("chat-messages", place, query=f"?after={2 * number}", **HTMX)
        rater.get("chat", place)
        rater.post("chat-again", place, headers=headers)
        signature = f"{CHAT['name']}:{CHAT['model']}"
        answer = chat.messages.filter(state=Message.State.PENDING)
        answer.update(
            state=Message.State.DONE,
            text="I cannot say.",
            signature=signature,
            finished_at=timezone.now(),
        )
        rater.get("chat-messages", place, query=f"?after={2 * number}", **HTMX)
        rater.get("chat-messages", place, query="?after=-1")
    rater.post("chat-say", place, text="One more?", key="too-many")
    rater.post("chat-end", place, follow=True)
    rater.post("chat-say", place, headers=HTMX, text="One more?", key="after-the-end")
    item = rater.in_hand()
    assert rater.submit(item, "rated").json()["stored"]
    rater.get("rating-work", query=f"?item={item}")
    rater.get("rating-work", follow=True)
    second = Conversation.objects.exclude(pk=chat.pk).get(
        assignment__participation=rater.participation
    )
    rater.post("rating-skip", item=second.assignment.item.public_id, reason="other", follow=True)
    rater.get("chat", second.public_id)
    rater.out_and_in_again()
    rater.look_around()

    assert {200, 204, 302, 404, 409, 422} <= {one.status for one in rater.browser.received}
    assert_blind(rater, version)
    assert "I cannot say." in "".join(one.everything for one in rater.browser.received)


@pytest.mark.slow
def test_two_who_write_a_dialogue_learn_nothing_of_each_other() -> None:
    campaign = campaign_on(None, "collection", dialogues_per_system=1, utterances=4)
    a, b = Rater(campaign, "ottoline-marsh"), Rater(campaign, "bartholomew-reed")
    for rater in (a, b):
        rater.get("meet")
        rater.post("meet", follow=True)
    room = Room.objects.get()
    place = room.public_id
    a.get("room", place)
    for number in range(4):
        speaker, other = (a, b) if number % 2 == 0 else (b, a)
        headers = JSON if number < 2 else {}
        other.post("room-say", place, headers=headers, text="Too early.", key=f"early-{number}")
        speaker.post("room-say", place, headers=headers, text="", key="empty")
        speaker.post("room-say", place, headers=headers, text="a\0b", key="broken")
        speaker.post(
            "room-say", place, headers=headers, text=f"Line {number}.", key=f"the-key-{number}"
        )
        for rater in (a, b):
            rater.get("room-lines", place)
            rater.get("room-lines", place, query="?state=waiting", **HTMX)
            rater.get("room", place)
    for rater in (a, b):
        rater.post("room-say", place, headers=JSON, text="After the end.", key="after-the-end")
        rater.post("room-leave", place, follow=True)
        rater.post("meet", follow=True)  # enough were written
        rater.look_around()
    personas = {a.name: set(room.persona_a), b.name: set(room.persona_b)}
    for rater, other in ((a, b), (b, a)):
        foreign = personas[other.name] - personas[rater.name]
        assert foreign
        statuses = {one.status for one in rater.browser.received}
        assert {200, 302, 404, 409, 422} <= statuses
        # quotes and the like stand escaped in the page
        for one in rater.browser.received:
            assert not [sentence for sentence in foreign if sentence in unescape(one.everything)]
        assert_blind(rater, None, room="dialogue-1")
        assert all(
            sentence in unescape("".join(one.everything for one in rater.browser.received))
            for sentence in personas[rater.name]
        )


def test_the_search_finds_what_an_organiser_receives(version: CorpusVersion) -> None:
    """The same watch and search: else all of the above would pass for a search that finds
    nothing."""
    campaign = campaign_on(version, "turn")
    Rater(campaign).rate_the_rest()
    browser = WatchedBrowser()
    browser.force_login(made_user("", ORGANISER))
    for name in ("campaign-settings", "campaign-ratings", "campaign-checks", "campaign"):
        browser.get(reverse(name, args=[campaign.slug]))
    browser.get(reverse("corpus", args=[CORPUS]))
    found = leaks(browser.received, forbidden_names(version, campaign))
    kinds = {leak.partition(" in ")[0].rpartition(" '")[0] for leak in found}
    assert {
        *(f"system {number}" for number in range(len(SYSTEMS))),
        "the corpus",
        "a dialogue",
        "the word",
    } <= kinds
    assert any(leak.startswith("the key of invitation") for leak in found), (
        "the link's form has its key"
    )


# --- attention items ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["turn", "dialogue"])
def test_an_attention_item_is_byte_for_byte_like_any_other(kind: str, tmp_path: Path) -> None:
    """All items are of one place, so that texts and ids are all that may differ. Compared: the item
    in the server's answer, the answer itself, its headers, the page of the item, rated and being
    rated, and the answer to a skip."""
    version = imported(tmp_path, dialogues=1, turns=1 if kind == "turn" else 2)
    campaign = campaign_on(version, kind, axes_below=3, raters_per_item=4)
    seen: dict[str, set[str]] = {"regular": set(), "attention": set()}
    for number in range(4):
        rater = Rater(campaign, f"visitor-{number}")
        rater.submit(rater.in_hand(), "practice", score=3)
        answers = rater.rate_the_rest()
        roles = dict(Item.objects.filter(public_id__in=answers).values_list("public_id", "role"))
        pieces = {
            one["item"]: one["html"]
            for answer in answers.values()
            for one in answer["next"]
            if one["html"]
        }
        for item in list(answers)[1:]:  # the first has none before it to go back to
            page = rater.get("rating-work", query=f"?item={item}")
            again = rater.submit(item, "changed", score=5)
            shapes = {
                "item": pieces.get(item),
                "page": page.content.decode(),
                "headers": sorted(
                    (name, value) for name, value in again.headers.items() if name not in CHANGING
                ),
                "answer": {**again.json(), "progress": None},
                "feedback": again.json()["feedback"],
                "skip": rater.post("rating-skip", headers=JSON, item=item, reason="x").json()
                | {"progress": None},
            }
            seen[roles[item]] |= {
                f"{name}: {without_texts_and_ids(json.dumps(shape))}"
                for name, shape in shapes.items()
                if shape
            }
    assert seen["attention"], "no attention item was met"
    assert {one.partition(":")[0] for one in seen["attention"]} == {
        "item",
        "page",
        "headers",
        "answer",
        "skip",
    }
    assert seen["attention"] == seen["regular"]


CHANGING = ("Expires", "Content-Length", "X-CSRFToken", "Set-Cookie", "X-Request-ID")
TEXTS = "|".join(
    [
        *(f"{re.escape(answer)}, \\d \\d \\d\\." for answer in ANSWERS),
        rf"{re.escape(ATTENTION_TEXT)} \d",
    ]
)


def without_texts_and_ids(document: str) -> str:
    """Judged texts, public ids, form tokens and keys, and how far the rater is."""
    document = re.sub(TEXTS, "TEXT", document)
    ids = "|".join(map(re.escape, Item.objects.values_list("public_id", flat=True)))
    document = re.sub(ids, "ID", document)
    document = re.sub(r"visitor-\d", "NAME", document)
    document = re.sub(
        r'Item \d of \d|max=\\"\d\\" value=\\"\d\\"(?:\\n|\s)\s*aria-label=\\"Rated\\">\d<',
        "PROGRESS",
        document,
    )
    document = re.sub(
        r'(csrfmiddlewaretoken\\" value=\\")\w+|(name=\\"key\\" value=\\")\w+', r"\1\2", document
    )
    return re.sub(r'(data-outbox=\\")\w+|(data-(?:done|total)=\\")\d+', r"\1\2", document)


def test_an_attention_item_has_no_feedback_and_no_range(version: CorpusVersion) -> None:
    """Rated wrongly: the answer is the one to a regular item, and the feedback's address leads
    nowhere."""
    campaign = campaign_on(version, "turn")
    rater = Rater(campaign)
    rater.submit(rater.in_hand(), "practice", score=3)
    rater.rate_the_rest()
    checks = Assignment.objects.filter(participation=rater.participation, item__role="attention")
    assert checks
    for check in checks:
        answer = rater.submit(check.item.public_id, "wrong", score=5)
        assert (answer.status_code, answer.json()["feedback"]) == (200, None)
        assert (
            rater.get("rating-work", query=f"?feedback={check.item.public_id}").status_code == 404
        )


# --- what a start page may say --------------------------------------------------------------------


def test_somebody_who_may_join_is_told_no_more_than_who_has(version: CorpusVersion) -> None:
    """Members of a campaign's group see its start page before they take part."""
    campaign = campaign_on(version, "turn")
    user = made_user("the-visitor", "rater")
    campaign.groups.set(user.groups.all())
    browser = WatchedBrowser()
    browser.force_login(user)
    for name in ("rating-start", "rating-work", "rating-guidelines"):
        browser.get(reverse(name, args=[campaign.slug]), follow=True)
    browser.get(reverse("rate"))
    browser.post(reverse("rating-heartbeat", args=[campaign.slug]))
    assert leaks(browser.received, forbidden_names(version, campaign)) == []


def test_a_closed_campaign_s_pages_are_still_blind(version: CorpusVersion) -> None:
    """Systems are known from the corpus then; the rating pages say no more than they did."""
    campaign = campaign_on(version, "turn")
    (rater,) = made_raters(campaign, 1, guidelines_read=campaign.guidelines.get())
    item = work_queue.fill_queue(rater).assignments[0].item.public_id
    work_queue.rate(rater, item, Judgement(key="one", score=2))
    setup.close(campaign)
    browser = WatchedBrowser()
    browser.force_login(rater.user)
    for name in ("rating-start", "rating-work", "rating-guidelines"):
        browser.get(reverse(name, args=[campaign.slug]))
    browser.get(f"{reverse('rating-work', args=[campaign.slug])}?item={item}")
    browser.get(reverse("rate"))
    assert leaks(browser.received, forbidden_names(version, campaign)) == []
