"""Drawn and broken uploads to a running web server: no answer is a fault of ours; what is refused
leaves nothing."""

from __future__ import annotations

import http.client
import json
import socket
from collections import Counter
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.challenges.hostile_uploads import Case, draw
from tests.challenges.http_participant import form
from tests.faults.chance import few
from tests.site import Site

pytestmark = pytest.mark.slow

CASES, SEED = few(150, of=500), 21
SYSTEMS = ("alpha", "=beta")
PLACES = [(f"file-{dialogue}", turn) for dialogue in range(3) for turn in range(2)]
TAKEN, REFUSED = {201, 302}, {200, 400, 403, 409, 413, 415, 422}

SET_UP = f"""
import json
from annotations.models import Corpus
from tests.api_client import token_of
from tests.campaigns.http_rater import sessions_of
from tests.challenges.sets import open_challenge, open_round, small_version, team_with_member
version = small_version(3, 2, {SYSTEMS})
Corpus.objects.update(is_public=True)
round = open_round(version, open_challenge("cup"), slug="one", daily_limit={CASES}, total_limit={CASES})
team, user = team_with_member(round.challenge)
print(json.dumps([sessions_of([user])[0], token_of(user, "read", "submit"), version.corpus.slug]))
"""
OUTCOME = """
import json
from leaderboard.challenges import uploads
from leaderboard.challenges.models import Submission
stored = set(Submission.objects.values_list("stored_as", flat=True))
print(json.dumps([
    len(stored), len(list(uploads.incoming_folder().iterdir())),
    len({path.name for path in (uploads.incoming_folder().parent / "uploads").glob("*")} ^ stored),
]))
"""


class AttemptSender:
    """A team's member with a session and a token; a connection for each request, for a refused one
    may be closed."""

    def __init__(self, address: str, session: str, token: str, corpus: str) -> None:
        place = urlsplit(address)
        self.host, self.port = place.hostname or "", place.port or 80
        self.paths = {
            "page": "/challenges/cup/rounds/one/submit/",
            "api": "/api/v1/challenges/cup/rounds/one/submissions",
            "scores": f"/api/v1/corpora/{corpus}/metric-scores",
        }
        page = {
            "Accept": "application/json",
            "Cookie": f"sessionid={session}; csrftoken={'x' * 32}",
            "X-CSRFToken": "x" * 32,
        }
        program = {"Authorization": f"Bearer {token}"}
        self.headers = {"page": page, "api": program, "scores": program}

    def send(self, case: Case) -> tuple[int, bytes]:
        body, content_type = form(case.fields, case.file_name, case.data or b"")
        headers = {**self.headers[case.way], "Content-Type": content_type}
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=30)) as connection:
            connection.request("POST", self.paths[case.way], body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def raw(self, head: list[str], body: bytes) -> int:
        """The status of what comes back, 0 where the connection is closed without a word."""
        cookies = [f"{name}: {value}" for name, value in self.headers["page"].items()]
        lines = [
            f"POST {self.paths['page']} HTTP/1.1",
            f"Host: {self.host}:{self.port}",
            "Connection: close",
            *cookies,
        ]
        with socket.create_connection((self.host, self.port), 30) as there:
            with suppress(OSError):
                there.sendall("\r\n".join([*lines, *head, "", ""]).encode() + body)
                there.shutdown(socket.SHUT_WR)
            received = b""
            with suppress(OSError):
                received = there.recv(100)
        return int(received.split()[1]) if received else 0


@pytest.fixture
def sender(site: Site) -> AttemptSender:
    site.settings |= {"DIALEVAL_API_RATE": "100000", "DIALEVAL_SCORE_FILES_PER_DAY": str(CASES)}
    return AttemptSender(site.start_web(), *json.loads(site.python(SET_UP)))


def outcome(site: Site) -> dict[str, int]:
    return dict(
        zip(
            ("rows", "incoming", "files_without_row"), json.loads(site.python(OUTCOME)), strict=True
        )
    )


def test_drawn_uploads_over_http(site: Site, sender: AttemptSender) -> None:
    answers: Counter[tuple[str, int]] = Counter()
    for number in range(CASES):
        case = draw(SEED, number, PLACES, SYSTEMS)
        status, content = sender.send(case)
        assert status in TAKEN | REFUSED, (case, status, content[:500])
        answers[case.way, status] += 1
    taken = sum(count for (_, status), count in answers.items() if status in TAKEN)
    for way in ("page", "api", "scores"):
        assert answers[way, 201] > CASES / 50, answers
    assert CASES / 10 < taken < CASES, answers
    assert outcome(site) == {"rows": taken, "incoming": 0, "files_without_row": 0}
    assert "Internal Server Error" not in site.logs()


BODY, CONTENT_TYPE = form({"name": "x", "description": ""}, "r.jsonl", b'{"dialog_id": "file-0"}')
TYPE, LENGTH = f"Content-Type: {CONTENT_TYPE}", f"Content-Length: {len(BODY)}"
BROKEN: dict[str, tuple[list[str], bytes]] = {
    "no length": ([TYPE], BODY),
    "a length that is none": ([TYPE, "Content-Length: many"], BODY),
    "a negative length": ([TYPE, "Content-Length: -1"], BODY),
    "two lengths": ([TYPE, "Content-Length: 5", LENGTH], BODY),
    "more promised than sent": ([TYPE, LENGTH], BODY[:-50]),
    "less promised than sent": ([TYPE, f"Content-Length: {len(BODY) - 50}"], BODY),
    "an endless length": ([TYPE, "Content-Length: 99999999999999"], BODY),
    "a broken chunk": ([TYPE, "Transfer-Encoding: chunked"], b"ZZ\r\n" + BODY),
    "no boundary": (["Content-Type: multipart/form-data", LENGTH], BODY),
    "another boundary": (["Content-Type: multipart/form-data; boundary=x", LENGTH], BODY),
    "a boundary of no ASCII": (["Content-Type: multipart/form-data; boundary=\xe9", LENGTH], BODY),
    "JSON instead of a form": (["Content-Type: application/json", LENGTH], BODY),
}


def test_broken_requests_are_refused(site: Site, sender: AttemptSender) -> None:
    statuses: dict[str, Any] = {name: sender.raw(*BROKEN[name]) for name in BROKEN}
    assert {
        name: status for name, status in statuses.items() if status != 0 and not 400 <= status < 500
    } == {}
    assert outcome(site) == {"rows": 0, "incoming": 0, "files_without_row": 0}
    assert "Internal Server Error" not in site.logs()
