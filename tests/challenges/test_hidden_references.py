"""Nobody who takes part learns the gold answers of a hidden round, nor a score of a single turn, at
any address.

A walk over every address of the site, pages and API, with all that an address can name; it follows
the links of what it gets, and sends forms, too. An address that the walk cannot fill in, or that
not even an organiser reaches, fails the test: whoever adds an address teaches ``hidden_stage`` what
stands in it.
"""

from __future__ import annotations

import html
import io
import itertools
import json
import logging
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers import wsgi
from django.urls import Resolver404, URLPattern, get_resolver, resolve

from annotations.models import Corpus
from common.database import CompiledQuery, Given
from common.estimates import Estimate
from leaderboard.challenges.board.answer import BoardAnswer
from leaderboard.challenges.board.split import PartName
from leaderboard.challenges.board.standing import Score
from leaderboard.challenges.models import Round
from leaderboard.challenges.queries.board import board_answer
from tests.challenges import hidden_stage
from tests.challenges.hidden_stage import PROMPT, ROLES, TURN_SCORE, Stage
from tests.ci import IS_LONG
from tests.rows import shared, undone
from tests.watched_query import WatchedQuery, is_read
from workers.models import MetricRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

WISHES = (
    "part=private", "part=public", "format=json", "format=jsonl", "format=csv",
    "format=mt-metrics-eval", "turn=0", "turn=2", "level=turn", "level=system", "version=1",
    "aspect=overall", "metric=word_f1", "state=scored",
)  # fmt: skip
"""Queries that some address understands. Others come with the links of pages."""
WISHED_OF_A_NAME, LINKS_OF_A_PATH = (2, 12) if IS_LONG else (1, 4)
MORE_BELOW = {"participant": "/", "rater": "/rate/"}
ALL_CORPORA = CompiledQuery(lambda: Corpus.objects.filter(slug=Given("slug")))
"""What opens a corpus's pages to a person, as it is when somebody forgot what a hidden round keeps
back."""
NEXT_ITEM = {"rating-work", "rating-submit", "rating-skip"}
"""A rater reads what was said before the response that is rated. Members of the round's teams
cannot be raters."""
NOT_STAGED = {
    # chats and rooms: their conversations are what people and models say there, and not of a corpus
    "chat", "chat-say", "chat-messages", "chat-again", "chat-end", "meet", "room", "room-lines",
    "room-say", "room-leave", "campaign-dialogues", "chat-system", "chat-system-try",
    # pages of the rater's own work, which an organiser who does not take part has not
    "rate", "rating-start", "rating-guidelines", "rating-work", "rating-submit", "rating-skip",
    "rating-heartbeat", "rating-leave", "own-ratings",
    # an item whose raters differ, of which the stage has none: its texts are those of the preview
    "campaign-adjudicate",
    # arenas: none opens on a corpus with hidden references
    "arena", "arena-invited", "arena-begin", "arena-battle", "arena-say", "arena-vote",
    "arena-leave", "arena-leaderboard", "arena-manage", "arena-state", "arena-exclude",
    "arena-publish", "arena-delete",
    "get_arena", "get_arena_leaderboard", "list_battles",
    # 404 where the operator names no provider
    "openid-log-in", "openid-return", "openid-first-log-in",
}  # fmt: skip


# --- addresses ------------------------------------------------------------------------------------


def patterns() -> Iterator[tuple[str, URLPattern]]:
    """(route, pattern) of every address but the admin's, which lets in nobody but staff."""
    waiting: list[tuple[str, Any]] = [("", one) for one in get_resolver().url_patterns]
    while waiting:
        prefix, pattern = waiting.pop()
        if isinstance(pattern, URLPattern):
            yield prefix + str(pattern.pattern), pattern
        elif pattern.namespace != "admin":
            waiting += [(prefix + str(pattern.pattern), one) for one in pattern.url_patterns]


def addresses(stage: Stage, only: set[str] | None = None) -> Iterator[tuple[str, str]]:
    """(name, address), with each thing that may stand in it."""
    for route, pattern in patterns():
        assert pattern.name, f"the walk does not know {route}: give it a name"
        if only is not None and pattern.name not in only:
            continue
        if route.startswith("^"):
            yield pattern.name, "/" + route.strip("^$")
            continue
        part = route.removeprefix("api/v1/").partition("/")[0]
        wanted = re.findall(r"<(?:\w+:)?(\w+)>", route)
        for name in wanted:
            assert (part, name) in stage.names, (
                f"the walk does not know what stands for {name} in {route}"
            )
        for values in itertools.product(*(stage.names[part, name] for name in wanted)):
            address = route
            for name, value in zip(wanted, values, strict=True):
                address = re.sub(rf"<(?:\w+:)?{name}>", str(value), address, count=1)
            yield pattern.name, "/" + address


# --- the walk -------------------------------------------------------------------------------------


class Walk:
    def __init__(self, stage: Stage, role: str, asks_more_below: str | None = "/") -> None:
        """Below an address, or nowhere, it asks with wishes, too, and follows links."""
        self.stage, self.role, self.client = stage, role, stage.client(role)
        self.asks_more_below = asks_more_below
        self.found: list[str] = []
        self.statuses: dict[str, set[int]] = {}
        self.seen: set[str] = set()
        self.waiting: list[tuple[str, str]] = []
        self.wished: Counter[str] = Counter()
        self.linked: Counter[str] = Counter()

    def walk(self, only: set[str] | None = None, until: str = "") -> Walk:
        """To the end, or until something that is called so was found."""
        for name, address in addresses(self.stage, only):
            self.get(name, address)
            self.send(name, address)
            if until and self.has_found(until):
                return self
        while self.waiting and not (until and self.has_found(until)):
            self.get(*self.waiting.pop(), wishes=False)
        return self

    def has_found(self, what: str) -> bool:
        return any(what in one for one in self.found)

    def get(self, name: str, address: str, wishes: bool = True) -> None:
        """Wishes are added to the first addresses of a name that show something: each part and file
        is a link, too. What the page never looks at comes all at once."""
        if address in self.seen:
            return
        self.seen.add(address)
        asks_more = self.asks_more_below is not None and address.startswith(self.asks_more_below)
        WatchedQuery.read.clear()
        status = self._ask("GET", name, address, follow=asks_more)
        read = {*WatchedQuery.read}
        if (
            not asks_more
            or not wishes
            or status in (302, 401, 403, 404, 405)
            or self.wished[name] >= WISHED_OF_A_NAME
        ):
            return
        self.wished[name] += 1
        alone = [one for one in WISHES if IS_LONG or is_read(one, read)]
        others = "&".join(one for one in WISHES if one not in alone)
        for params in (*alone, others):
            self._ask("GET", name, f"{address}?{params}", follow=params == "part=private")
        for header in ({"HX-Request": "true"}, {"Accept": "application/json"}):
            self._ask("GET", name, address, headers=header)

    def send(self, name: str, address: str) -> None:
        """Forms, each undone at once."""
        if name == "logout":
            return
        for data, content_type in _payloads(name, self.stage):
            if content_type and not address.startswith("/api/") and not IS_LONG:
                continue  # to a page's form it is the empty one again
            kind = {"content_type": content_type} if content_type else {}
            self._ask("POST", name, address, data=data, **kind)
        if address.startswith("/api/"):
            self._ask("DELETE", name, address)

    def _ask(
        self,
        method: str,
        name: str,
        address: str,
        headers: dict[str, str] | None = None,
        follow: bool = False,
        **sent: Any,
    ) -> int:
        headers = {**(headers or {})}
        if address.startswith("/api/") and self.role in self.stage.bearers:
            headers["Authorization"] = f"Bearer {self.stage.bearers[self.role]}"
        cookies = self.client.cookies.copy()
        with undone():
            answer = (
                self.client.generic(method, address, headers=headers)
                if not sent
                else self.client.post(address, headers=headers, **sent)
            )
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        self.client.cookies = cookies
        self.statuses.setdefault(name, set()).add(answer.status_code)
        self._look(name, f"{method} {address}", str(answer.headers) + str(answer.cookies), body)
        if follow and "html" in answer.headers.get("Content-Type", ""):
            self._follow(name, address, body.decode())
        return answer.status_code

    def _follow(self, name: str, address: str, page: str) -> None:
        for link in re.findall(r'(?:href|src|hx-get|data-[a-z-]+)="([^"]+)"', page):
            link = html.unescape(link).partition("#")[0]
            if link.startswith("?"):
                link = address.partition("?")[0] + link
            if link.startswith("/") and not link.startswith(
                ("//", "/static/", "/accounts/logout", "/admin/")
            ):
                self._enqueue(name, link)

    def _enqueue(self, name: str, link: str) -> None:
        """Another order of the same rows tells nothing new, nor does the log-in page on the way to
        any other."""
        skips = "sort=" in link or "next=" in link or link.startswith("/accounts/")
        path = link.partition("?")[0]
        if link not in self.seen and not skips and self.linked[path] < LINKS_OF_A_PATH:
            self.linked[path] += 1
            self.waiting.append((_name_of(path) or name, link))

    def _look(self, name: str, address: str, head: str, body: bytes) -> None:
        text = head + _text_of(body)
        rates = self.role == "rater" and name in NEXT_ITEM and "/rate/" in address
        golds = self.stage.last_golds if rates else self.stage.golds
        if any(gold in text for gold in golds):
            self.found.append(f"{name}: {self.role} reads a gold answer at {address}")
        if score := re.search(TURN_SCORE, text):
            self.found.append(
                f"{name}: {self.role} reads the score {score[0]} of a turn at {address}"
            )


def _name_of(path: str) -> str:
    """A page that one does not get has links, too: what they lead to is not that page."""
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


def _text_of(body: bytes) -> str:
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(
                name + "\n" + archive.read(name).decode("utf-8", "replace")
                for name in archive.namelist()
            )
    return html.unescape(body.decode("utf-8", "replace"))


def _payloads(name: str, stage: Stage) -> Iterator[tuple[Any, str | None]]:
    """What a form may hold that comes through, besides nothing."""
    yield {}, None
    prompt = json.dumps(PROMPT)
    responses = json.dumps([{"dialog_id": "talk-0", "turn_0": "hm"}]).encode()
    filled = {
        "round-submit": {
            "name": "mine",
            "description": "",
            "file": SimpleUploadedFile("a.json", responses),
        },
        "submit": {"name": "mine", "track": "gpu", "file": SimpleUploadedFile("a.json", responses)},
        "prompt-new": {
            "name": "mine",
            "user": PROMPT["user"],
            "max_tokens": "100",
            "temperature": "0",
            "top_p": "1",
        },
        "prompt-try": {
            "name": "mine",
            "user": PROMPT["user"],
            "max_tokens": "100",
            "temperature": "0",
            "top_p": "1",
        },
        "team-new": {"name": "A new team"},
        "sign-up": {
            "username": "new",
            "password1": "correct horse battery",
            "password2": "correct horse battery",
        },
        "rating-submit": {"score": "3", "key": "a-key"},
        "rating-skip": {"reason": "cannot be judged"},
        "judge-stop": {"metric": "cpdscore_detail_ref"},
        "judge-resume": {"metric": "cpdscore_detail_ref"},
        "judge-forget": {"address": "api.example.org/v1", "model": "m"},
        "judge-budget": {"metric": "cpdscore_detail_ref", "tokens": "1000"},
    }
    if name in filled:
        yield filled[name], None
    if name == "submit":
        yield (
            {"name": "p", "track": "prompt", "file": SimpleUploadedFile("p.json", prompt.encode())},
            None,
        )
    yield "{}", "application/json"


@pytest.fixture(scope="module")
def stage(django_db_setup, django_db_blocker) -> Iterator[Stage]:
    with shared(django_db_blocker, hidden_stage.stage) as made:
        yield made


@pytest.fixture(scope="module")
def walks() -> dict[str, Walk]:
    """By role, as far as somebody has gone: who comes next does not go again."""
    return {}


@pytest.fixture(autouse=True)
def often(settings, monkeypatch) -> None:
    """Rates have tests of their own."""
    settings.API_RATE = 10**9
    monkeypatch.setattr(wsgi, "QueryDict", WatchedQuery)
    logging.getLogger("django.request").setLevel(logging.CRITICAL)


# --- tests ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ROLES)
def test_nobody_reads_a_gold_answer_or_the_score_of_a_turn(stage, walks, role) -> None:
    """Everybody asks every address and sends every form. With every query, and along the links, go
    those who are let in further than others: the member everywhere, the rater to what is rated.
    Where nobody waits, all go everywhere."""
    below = "/" if IS_LONG else MORE_BELOW.get(role)
    walks[role] = Walk(stage, role, below).walk()
    assert walks[role].found == []


def test_every_address_is_one_that_the_walk_reaches(stage, walks) -> None:
    """What neither an organiser nor a member of a team gets at says nothing when others do not: the
    organiser asks for what the member did not get at, until an address of it is reached. 405 is an
    address of forms alone; 409 and 422 tell that the form came through."""
    reached = {200, 201, 204, 302, 409, 413, 415, 422, 429}
    member = walks.get("participant") or Walk(stage, "participant", None).walk()
    statuses = {name: {*got} for name, got in member.statuses.items()}
    organiser = Walk(stage, "organiser", None)
    for name, address in addresses(stage):
        if name not in NOT_STAGED and not statuses.get(name, set()) & reached:
            organiser.get(name, address)
            organiser.send(name, address)
            statuses[name] = statuses.get(name, set()) | organiser.statuses.get(name, set())
    unreached = {name for name, got in statuses.items() if not got & reached} - NOT_STAGED
    assert unreached == {"logout", "no-such-api-address", "api-root", "monitoring"}
    assert not {name: got for name, got in statuses.items() if max(got) >= 500}


@pytest.mark.parametrize(
    ("hole", "answer", "names", "role", "found"),
    [
        (
            "leaderboard.challenges.queries.downloads.hides_references",
            False,
            {"round-dialogues"},
            "participant",
            "gold",
        ),
        (
            "annotations.corpora.queries._OPEN_TO_ALL",
            ALL_CORPORA,
            {"dialogue"},
            "anonymous",
            "gold",
        ),
        (
            "annotations.corpora.queries._OPEN_TO_PERSON",
            ALL_CORPORA,
            {"export_corpus"},
            "participant",
            "gold",
        ),
        (
            "leaderboard.challenges.queries.submissions.is_organiser",
            True,
            {"submission"},
            "participant",
            "gold",
        ),
        (
            "leaderboard.challenges.queries.board.board_answer",
            "turns",
            {"board", "get_leaderboard"},
            "anonymous",
            "score",
        ),
        (
            "leaderboard.challenges.queries.board_entries.hides_references",
            False,
            {"board"},
            "participant",
            "gold",
        ),
    ],
    ids=["dialogues", "corpus page", "export", "log", "board", "a metric's reason"],
)
def test_the_walk_finds_a_hole(stage, monkeypatch, hole, answer, names, role, found) -> None:
    monkeypatch.setattr(hole, _opened(hole, answer))
    walk = Walk(stage, role).walk(names, until=found)
    assert walk.has_found(found), "the walk does not see what this shows"


def _opened(hole: str, answer: Any) -> Any:
    """What stands at ``hole`` as it is when somebody forgot what it is for."""
    if isinstance(answer, CompiledQuery):
        return answer
    if answer == "turns":
        return _board_with_the_score_of_a_turn
    return lambda *_given, **_named: answer


def _board_with_the_score_of_a_turn(round: Round, part: PartName) -> BoardAnswer:
    answer = board_answer(round, part)
    entry = next(one for one in answer.entries if one.submission)
    run = MetricRun.objects.filter(
        system__submission__public_id=entry.submission, configuration="word_f1"
    ).get()
    told = replace(entry, scores=(Score(Estimate(run.turn_scores[0]), 1, 1), *entry.scores[1:]))
    return replace(answer, entries=tuple(told if one is entry else one for one in answer.entries))


def test_organisers_do_read_them(stage) -> None:
    """So the walk can find what there is to be found."""
    for name, found in (
        ("dialogue", "a gold answer at GET /corpora/harbour/dialogues/0/"),
        ("submission", "a gold answer at GET /submissions/"),
    ):
        assert Walk(stage, "organiser").walk({name}, until=found).has_found(found)
