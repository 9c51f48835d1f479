"""Asks for what a plan says, when it says so: ``python -m bench.mixed.generator ADDRESS PLAN FILES
ANSWERS``.

A process of its own without Django. Nothing waits for an earlier answer, except a rater for the
next item and whoever follows an upload; even there the time counts from the moment of the plan. How
late the generator itself was is told.
"""

from __future__ import annotations

import gzip
import http.client
import json
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.campaigns.http_rater import HttpRater, Lost
from tests.challenges.http_participant import form

AT_ONCE = 64
TIMEOUT_SECONDS = 60
FOLLOWED_EVERY, FOLLOWED_FOR = 2.0, 120.0
FIELDS = "application/x-www-form-urlencoded"
AGENT = {"Accept-Encoding": "gzip"}


class Generator:
    def __init__(self, address: str, files: Path) -> None:
        place = urlsplit(address)
        self.address, self.host, self.port = address, place.hostname or "", place.port or 80
        self.files = files
        self.begin = 0.0
        self.lock = threading.Lock()
        self.answers: list[dict[str, Any]] = []
        self.acknowledged: list[dict[str, Any]] = []
        self.uploads: list[dict[str, Any]] = []
        self.notes: dict[str, int] = {"shows older numbers": 0, "waits for numbers": 0}

    # --- one request ------------------------------------------------------------------------------

    def ask(
        self,
        kind: str,
        due: float,
        path: str,
        expected: tuple[int, ...] = (200,),
        method: str = "GET",
        body: bytes | None = None,
        **headers: str,
    ) -> tuple[int, bytes, http.client.HTTPMessage | None]:
        """Status 0 where no answer came. Over a connection of its own, as a proxy asks."""
        began, status, content, found, fault = self.now(), 0, b"", None, ""
        try:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)
            try:
                connection.request(method, path, body, {**AGENT, **headers})
                answer = connection.getresponse()
                status, content, found = answer.status, answer.read(), answer.headers
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as problem:
            fault = f"{type(problem).__name__}: {problem}"
        self.note(kind, due, began, status, expected, len(content), fault or f"{method} {path}")
        is_packed = found is not None and found.get("Content-Encoding") == "gzip"
        return status, gzip.decompress(content) if is_packed else content, found

    def note(
        self,
        kind: str,
        due: float,
        began: float,
        status: int,
        expected: tuple[int, ...],
        size: int,
        what: str,
    ) -> None:
        row = {"kind": kind, "due": due, "late": began - due, "seconds": self.now() - due}
        row |= {"status": status, "size": size, "wrong": "" if status in expected else what[:200]}
        with self.lock:
            self.answers.append(row)

    def now(self) -> float:
        return time.perf_counter() - self.begin

    def wait_for(self, due: float) -> None:
        time.sleep(max(0.0, due - self.now()))

    # --- viewers ----------------------------------------------------------------------------------

    def visit(self, visit: dict[str, Any]) -> None:
        headers = {"Cookie": f"sessionid={visit['session']}"} if visit["session"] else {}
        headers |= {"Authorization": f"Bearer {visit['token']}"} if visit["token"] else {}
        headers |= {"HX-Request": "true"} if visit["htmx"] else {}
        expected = (200, 202) if visit["token"] else (200,)
        _, content, _ = self.ask(visit["kind"], visit["due"], visit["path"], expected, **headers)
        with self.lock:
            self.notes["waits for numbers"] += b'class="waiting' in content
            self.notes["shows older numbers"] += b'class="analysis-state' in content

    # --- raters -----------------------------------------------------------------------------------

    def rate(self, rater: dict[str, Any]) -> None:
        """Log in, read, begin; then a rating at each moment of the plan; at last give back what is
        in hand."""
        self.wait_for(rater["comes"])
        session, token = self.logged_in(rater)
        if not session:
            return
        cookies = {"Cookie": f"sessionid={session}; csrftoken={token}"}
        start = f"/rate/{rater['campaign']}/"
        self.ask("rater: campaigns", self.now(), "/rate/", **cookies)
        self.ask("rater: guidelines", self.now(), start, **cookies)
        read = urlencode({"csrfmiddlewaretoken": token, "guidelines": "1"}).encode()
        origin = {"Origin": self.address, "Content-Type": FIELDS}
        self.ask("rater: begin", self.now(), start, (302,), "POST", read, **cookies, **origin)
        desk = HttpRater(self.address, rater["campaign"], session)
        began = self.now()
        desk.open()
        self.note("rater: first item", began, began, 200, (200,), 0, "")
        for place, due in enumerate(rater["ratings"]):
            self.wait_for(due)
            if not desk.in_hand:
                self.note(
                    "rater: rate and next",
                    due,
                    self.now(),
                    0,
                    (200,),
                    0,
                    f"nothing in hand: {desk.ended}",
                )
                continue
            self.one_rating(desk, rater, due, place % 5 + 1)
        began = self.now()
        status = desk.leave().status
        self.note("rater: leave", began, began, status, (200,), 0, "leave")

    def logged_in(self, rater: dict[str, Any]) -> tuple[str, str]:
        _, _, headers = self.ask("log-in page", self.now(), "/accounts/login/")
        token = _cookie(headers, "csrftoken")
        fields = {
            "csrfmiddlewaretoken": token,
            "username": rater["name"],
            "password": rater["password"],
        }
        sent = {"Cookie": f"csrftoken={token}", "Origin": self.address, "Content-Type": FIELDS}
        _, _, headers = self.ask(
            "log-in (password)",
            self.now(),
            "/accounts/login/",
            (302,),
            "POST",
            urlencode(fields).encode(),
            **sent,
        )
        return _cookie(headers, "sessionid"), _cookie(headers, "csrftoken") or token

    def one_rating(self, desk: HttpRater, rater: dict[str, Any], due: float, score: int) -> None:
        item, key, began = desk.in_hand[0], uuid.uuid4().hex, self.now()
        more = {"axes_asked": "1"} if score < 3 else {}
        try:
            answer = desk.rate(score, item, key, guidelines="1", **more)
        except Lost as problem:
            self.note("rater: rate and next", due, began, 0, (200,), 0, str(problem))
            return
        what = str(answer.content)[:200]
        self.note(
            "rater: rate and next",
            due,
            began,
            answer.status if answer.stored else 0,
            (200,),
            0,
            what,
        )
        if answer.stored:
            with self.lock:
                self.acknowledged.append(
                    {"rater": rater["name"], "item": item, "key": key, "score": score}
                )

    # --- teams ------------------------------------------------------------------------------------

    def upload(self, order: dict[str, Any], page: str, api: str) -> None:
        data = (self.files / f"{order['file']}.jsonl").read_bytes()
        body, content_type = form(
            {"name": f"system {order['file']}", "description": ""}, "responses.jsonl", data
        )
        if order["way"] == "API":
            who = {"Authorization": f"Bearer {order['token']}", "Content-Type": content_type}
            status, content, _ = self.ask(
                "upload by the API", order["due"], api, (201,), "POST", body, **who
            )
        else:
            token = "x" * 32
            who = {
                "Cookie": f"sessionid={order['session']}; csrftoken={token}",
                "X-CSRFToken": token,
            }
            who |= {"Content-Type": content_type, "Accept": "application/json"}
            status, content, _ = self.ask(
                "upload by the form", order["due"], page, (201,), "POST", body, **who
            )
        if status != 201:
            return
        answer = json.loads(content)
        public_id = answer.get("id") or str(answer["location"]).strip("/").rpartition("/")[2]
        with self.lock:
            self.uploads.append({"id": public_id, "way": order["way"]})
        self.follow(order, public_id)

    def follow(self, order: dict[str, Any], public_id: str) -> None:
        """As the page does, every two seconds, until it has ended; and the page itself once, after
        the form."""
        if order["way"] == "API":
            who = {"Authorization": f"Bearer {order['token']}"}
            kind, path = "submission by the API", f"/api/v1/submissions/{public_id}"
        else:
            who = {"Cookie": f"sessionid={order['session']}", "HX-Request": "true"}
            kind, path = "submission's progress", f"/submissions/{public_id}/progress/"
            self.ask("submission", self.now(), f"/submissions/{public_id}/", Cookie=who["Cookie"])
        end = self.now() + FOLLOWED_FOR
        while self.now() < end:
            time.sleep(FOLLOWED_EVERY)
            status, content, _ = self.ask(kind, self.now(), path, (200,), **who)
            if status != 200 or _has_ended(order["way"], content):
                return

    # --- organisers -------------------------------------------------------------------------------

    def ask_for_runs(self, order: dict[str, Any]) -> None:
        token = "x" * 32
        cookies = {"Cookie": f"sessionid={order['session']}; csrftoken={token}"}
        page = f"/corpora/{order['corpus']}/runs/"
        self.ask("organiser: runs", order["due"], page, **cookies)
        fields = urlencode({"csrfmiddlewaretoken": token, "more": order["metrics"]}).encode()
        who = {**cookies, "Content-Type": FIELDS, "Origin": self.address}
        self.ask(
            "organiser: start runs", self.now(), f"{page}score/", (302,), "POST", fields, **who
        )
        self.ask("organiser: runs", self.now(), page, **cookies)

    # --- the plan ---------------------------------------------------------------------------------

    def follow_plan(self, plan: dict[str, Any]) -> None:
        self.begin = time.perf_counter() + 1.0
        raters = [
            threading.Thread(target=self.guarded, args=(self.rate, one)) for one in plan["raters"]
        ]
        for thread in raters:
            thread.start()
        due: list[tuple[float, Any, tuple[Any, ...]]] = [
            (one["due"], self.visit, (one,)) for one in plan["visits"]
        ]
        due += [
            (one["due"], self.upload, (one, plan["page"], plan["api"])) for one in plan["uploads"]
        ]
        due += [(one["due"], self.ask_for_runs, (one,)) for one in plan["runs"]]
        followers: list[threading.Thread] = []
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for moment, deed, arguments in sorted(due, key=lambda row: row[0]):
                self.wait_for(moment)
                if deed == self.visit:
                    pool.submit(self.guarded, deed, *arguments)
                else:  # who follows an upload for a minute takes no place from readers
                    followers.append(threading.Thread(target=self.guarded, args=(deed, *arguments)))
                    followers[-1].start()
        for thread in [*raters, *followers]:
            thread.join()

    def guarded(self, deed: Any, *arguments: Any) -> None:
        try:
            deed(*arguments)
        except Exception as problem:  # a fault of the generator is a result too, never silent
            self.note(
                "generator", self.now(), self.now(), 0, (200,), 0, f"{deed.__name__}: {problem!r}"
            )


def _cookie(headers: http.client.HTTPMessage | None, name: str) -> str:
    cookies = "; ".join(headers.get_all("Set-Cookie") or []) if headers is not None else ""
    return cookies.partition(f"{name}=")[2].partition(";")[0]


def _has_ended(way: str, content: bytes) -> bool:
    if way == "API":
        return json.loads(content)["state"] in ("scored", "invalid", "failed", "cancelled")
    return b"hx-trigger" not in content.partition(b"<ol")[0]


def main() -> int:
    address, plan, files, answers = (
        sys.argv[1],
        Path(sys.argv[2]),
        Path(sys.argv[3]),
        Path(sys.argv[4]),
    )
    generator = Generator(address, files)
    generator.follow_plan(json.loads(plan.read_text()))
    document = {
        "begin": generator.begin,
        "answers": generator.answers,
        "acknowledged": generator.acknowledged,
        "uploads": generator.uploads,
        "notes": generator.notes,
        "processor_seconds": time.process_time(),
    }
    answers.write_text(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
