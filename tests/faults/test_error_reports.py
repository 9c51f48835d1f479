"""A fault on our side, in real processes: the visitor gets a number, the log and the report have
it, and neither has a secret."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.site import PROJECT, Site, wait_until

pytestmark = pytest.mark.slow

SECRETS = {
    "the endpoint's key": "sk-quiet-river-endpoint",
    "a chat system's key": "sk-quiet-river-chat",
    "the monitoring token": "quiet-river-monitoring",
    "the mail server's password": "quiet-river-mail",
    "the key that signs sessions": "quiet-river-signs-sessions-and-is-long-enough-for-it",
    "a token of the API": "dial_quietRiverQuietRiverQuietRiver",
    "a password": "quiet-river-password",
    "a session": "quietriversession",
    "a form's token": "quietrivercsrf",
    "an invitation to rate": "quiet-river-to-rate",
    "an invitation to a team": "quiet-river-to-a-team",
}
SETTINGS = {
    "DIALEVAL_LLM_KEY": SECRETS["the endpoint's key"],
    "DIALEVAL_CHAT_KEY_OURS": SECRETS["a chat system's key"],
    "DIALEVAL_MONITORING_TOKEN": SECRETS["the monitoring token"],
    "DIALEVAL_EMAIL_URL": "smtp://ann:" + SECRETS["the mail server's password"] + "@127.0.0.1:9/",
    "SECRET_KEY": SECRETS["the key that signs sessions"],
}


class Sink:
    """What speaks as Sentry does, as far as taking envelopes."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.raw = b""
        sink = self

        class Takes(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                sink.take(body)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Takes)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def dsn(self) -> str:
        return f"http://public@127.0.0.1:{self.server.server_port}/1"

    def take(self, envelope: bytes) -> None:
        self.raw += envelope
        _, *lines = envelope.split(b"\n")
        for head, payload in zip(lines[::2], lines[1::2], strict=False):
            if head and json.loads(head).get("type") == "event":
                self.events.append(json.loads(payload))


@pytest.fixture
def sink() -> Iterator[Sink]:
    sink = Sink()
    yield sink
    sink.server.shutdown()


@pytest.fixture
def broken(site: Site, sink: Sink) -> Site:
    """A site whose tables of corpora, invitations and tokens are away: what needs one of them
    fails."""
    site.settings |= SETTINGS | {"DIALEVAL_LOG_FORMAT": "json", "DIALEVAL_SENTRY_DSN": sink.dsn}
    site.python(
        "from django.db import connection\nfor name in ('annotations_corpus', "
        "'campaigns_invitation', 'challenges_team', 'auth_user'):\n    "
        "connection.cursor().execute(f'ALTER TABLE {name} RENAME TO {name}_away')"
    )
    return site


def ask(
    address: str, method: str, path: str, body: str = "", **headers: str
) -> tuple[int, str, Any]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body or None, sent)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), answer.headers


def log_of(site: Site) -> str:
    return "\n".join(path.read_text() for path in Path(site.home).glob("*.log"))


def test_a_fault_has_a_number_and_is_reported_once_without_a_secret(
    broken: Site, sink: Sink
) -> None:
    address = broken.start_web()
    secret_headers = {
        "Cookie": f"sessionid={SECRETS['a session']}; csrftoken=" + SECRETS["a form's token"],
        "User_Agent": "quiet visitor",
    }
    numbers = []
    status, page, headers = ask(
        address, "GET", f"/join/{SECRETS['an invitation to rate']}/", **secret_headers
    )
    numbers.append(headers["X-Request-ID"])
    assert status == 500
    assert f"tell the organisers this number: <code>{numbers[0]}</code>" in page

    status, body, headers = ask(
        address, "GET", f"/api/v1/corpora/{SECRETS['a token of the API']}", **secret_headers
    )
    numbers.append(headers["X-Request-ID"])
    assert status == 500
    assert json.loads(body)["request_id"] == numbers[1]

    form = urllib.parse.urlencode(
        {
            "username": "ann",
            "password": SECRETS["a password"],
            "csrfmiddlewaretoken": SECRETS["a form's token"],
        }
    )
    status, _, headers = ask(
        address,
        "POST",
        "/accounts/login/",
        form,
        **{
            **secret_headers,
            "Cookie": "csrftoken=" + "a" * 32,
            "Content_Type": "application/x-www-form-urlencoded",
        },
    )
    for name in (
        "the endpoint's key",
        "a chat system's key",
        "the monitoring token",
        "the mail server's password",
    ):
        ask(address, "GET", f"/no-such-page/{SECRETS[name]}/")
    ask(address, "GET", f"/no-such-page/{SECRETS['the key that signs sessions']}/")
    ask(
        address,
        "GET",
        f"/challenges/x/teams/join/{SECRETS['an invitation to a team']}/",
        **secret_headers,
    )
    ask(
        address,
        "GET",
        "/api/v1/challenges",
        Authorization=f"Bearer {SECRETS['a token of the API']}",
    )

    def reported(number: str) -> list[dict[str, Any]]:
        return [event for event in sink.events if event.get("tags", {}).get("request_id") == number]

    wait_until(lambda: all(reported(number) for number in numbers), 30, "both faults are reported")
    broken.stop()  # what is still to be sent would be sent now
    for number in numbers:
        (event,) = reported(number)
        assert event["exception"]["values"][-1]["type"] in ("OperationalError", "ProgrammingError")
        assert event["environment"] == "production"
        assert re.fullmatch(r"dialeval@\d+\.\d+\.\d+", event["release"])
        assert set(event["request"]) == {"url", "method"}
        assert "user" not in event
        frames = [
            frame for one in event["exception"]["values"] for frame in one["stacktrace"]["frames"]
        ]
        assert not any(frame.get("vars") for frame in frames)
    log = log_of(broken)
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    for number in numbers:
        assert [
            line for line in lines if line.get("request_id") == number and "exception" in line
        ], number
    assert "quiet visitor" not in sink.raw.decode()
    for name, secret in SECRETS.items():
        assert secret not in log, name
        assert secret not in sink.raw.decode(), name
    assert log.count("[hidden]") >= 7
    assert "/no-such-page/[hidden]/" in log
    assert "/join/[hidden]/" in log


def test_a_worker_s_fault_is_reported_with_its_row(site: Site, sink: Sink) -> None:
    """A run of a metric that nobody has: it fails, its row says why, and so does the one report."""
    site.settings |= {"DIALEVAL_LOG_FORMAT": "json", "DIALEVAL_SENTRY_DSN": sink.dsn}
    pk = site.python(
        "from annotations.formats.importers.registry import importers\n"
        "from annotations.corpora import actions\n"
        "from annotations.models import System\nfrom workers.models import MetricRun\n"
        "from dialeval_site.demo.site import DEMO_CORPUS\n"
        "actions.import_corpus(importers()['jsonl'], DEMO_CORPUS, 'usual', is_public=True)\n"
        "print(MetricRun.objects.create(system=System.objects.earliest('pk'), "
        "metric='word_f1', metric_version='99', configuration='word_f1', queue='cpu').pk)"
    )
    site.start_worker()
    wait_until(
        lambda: [event for event in sink.events if "tags" in event], 90, "the fault is reported"
    )
    site.stop()
    rows = [event["tags"].get("row") for event in sink.events]
    assert rows == [f"run {pk}"]


def test_without_a_dsn_nothing_of_sentry_is_loaded(tmp_path: Path) -> None:
    code = "import django, sys; django.setup(); print('sentry_sdk' in sys.modules)"
    finished = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT, capture_output=True, text=True, check=True,
        env={"DIALEVAL_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "dialeval_site.settings"},
    )  # fmt: skip
    assert finished.stdout.strip() == "False"
