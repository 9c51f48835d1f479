"""A database that takes no writes: pages serve what is stored, forms say so, and the site is not
ready."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2
import pytest
from django.urls import Resolver404, resolve

from tests.conftest import ON_SERVICES
from tests.demo_site import demo_site
from tests.services import free_port
from tests.site import Site, answers, kill, wait_until

pytestmark = pytest.mark.slow

SESSION = """
from django.test import Client
from django.contrib.auth.models import User
rater = Client()
rater.force_login(User.objects.get(username="rater"))
print(rater.cookies["sessionid"].value)
"""
LONG_AGO = """
from datetime import timedelta
from django.core.management import call_command
from django.utils import timezone
from leaderboard.models import Analysis
board = Analysis.objects.filter(kind="correlations")
some = sorted(Analysis.objects.exclude(pk__in=board).values_list("pk", flat=True))
Analysis.objects.filter(pk__in=some[::3]).delete()  # before they are computed: they are missing
call_command("analyse")
then = timezone.now() - timedelta(days=2)
Analysis.objects.update(asked_at=then, finished_at=then, computed_at=then)
Analysis.objects.filter(pk__in=[*some[1::3], *board.values_list("pk", flat=True)]).update(
    stamp="older"
)
"""
MOST_OF_A_KIND = 1
PUBLIC = {
    "home", "metrics", "metric", "login", "sign-up", "corpus", "dialogues", "dialogue", "api-docs",
    "metric-leaderboard", "response-map", "system-leaderboard", "system-comparison",
    "agreement", "rater-effects", "fewer-ratings", "corpus-runs", "challenges", "challenge",
}  # fmt: skip


@dataclass
class ReadOnly:
    site: Site
    address: str
    session: str

    def reader(self, **cookies: str) -> httpx2.Client:
        return httpx2.Client(
            base_url=self.address,
            timeout=120,
            trust_env=False,
            cookies=cookies,
            follow_redirects=False,
        )


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReadOnly]:
    """The demo, of whose statistics some are stored, some are of older data and some are
    missing."""
    with demo_site(tmp_path_factory) as site:
        session = site.python(SESSION)
        address = site.start_web()
        found = ReadOnly(site, address, session)
        with found.reader() as reader:
            assert set(statuses(answers_of(reader)).values()) <= {"200", "302"}
        site.python(LONG_AGO)
        kill(site.processes.pop())
        found.address = served_read_only(site)
        yield found
        site.home.chmod(0o700)


def served_read_only(site: Site) -> str:
    """A web server whose database refuses to be written, by itself: on PostgreSQL by its default
    for new transactions, as a standby does; on SQLite because the files are read-only, root's
    too."""
    port = free_port()
    serve = [
        "-m",
        "gunicorn",
        "dialeval_site.wsgi",
        "--bind",
        f"127.0.0.1:{port}",
        "--threads",
        "4",
    ]
    if ON_SERVICES:
        import psycopg

        with psycopg.connect(site.settings["DATABASE_URL"], autocommit=True) as connection:
            name = connection.info.dbname
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        site.start("web", *serve)
    else:
        for file in site.home.glob("dialeval.sqlite3*"):
            file.chmod(0o444)
        site.home.chmod(0o555)
        # Root may write to whatever it likes, unless this right is taken from it.
        site.interpreter, python = shutil.which("setpriv") or "setpriv", site.interpreter
        site.from_nothing = True
        rights = ["--bounding-set", "-dac_override"] if os.geteuid() == 0 else ["--nnp"]
        site.start("web", *rights, "--", python, *serve)
        site.interpreter, site.from_nothing = python, False
    address = f"http://127.0.0.1:{port}"
    wait_until(lambda: answers(f"{address}/health/"), 60, "the web server answers")
    return address


@pytest.fixture(scope="module")
def visited(read_only: ReadOnly) -> dict[str, httpx2.Response]:
    """What a visitor without an account gets."""
    with read_only.reader() as visitor:
        return answers_of(visitor)


def statuses(answers: dict[str, httpx2.Response]) -> dict[str, str]:
    return {path: str(answer.status_code) for path, answer in answers.items()}


def answers_of(reader: httpx2.Client) -> dict[str, httpx2.Response]:
    """Of all pages that links lead to, some of each kind: a page's address → its answer."""
    found: dict[str, httpx2.Response] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    waiting = ["/", "/accounts/login/", "/accounts/sign-up/", "/challenges/", "/metrics/"]
    while waiting:
        path = waiting.pop(0)
        kind = kind_of(path)
        if path in found or kind is None or seen[kind] >= MOST_OF_A_KIND:
            continue
        seen[kind] += 1
        answer = found[path] = reader.get(path)
        if "text/html" in answer.headers.get("content-type", ""):
            links = re.findall(r'(?:href|hx-get)="([^"#]+)', answer.text)
            waiting += [urljoin(path, one.replace("&amp;", "&")) for one in links]
    return found


@cache
def kind_of(path: str) -> tuple[object, ...] | None:
    """The page's name and which of its queries are asked for; None of other sites' and of files."""
    parts = urlsplit(path)
    if parts.netloc or parts.path.startswith(("/static/", "/admin/")) or "logout" in parts.path:
        return None
    try:
        name = resolve(parts.path).url_name
    except Resolver404:
        return None
    return (name, *sorted(key for key, _ in parse_qsl(parts.query)))


def test_every_page_of_a_read_only_site_can_be_read(visited: dict[str, httpx2.Response]) -> None:
    found = statuses(visited)
    print(Counter(found.values()), {p: s for p, s in found.items() if s >= "500"})
    assert {path: status for path, status in found.items() if status not in ("200", "302")} == {}
    assert {kind[0] for path in found if (kind := kind_of(path))} >= PUBLIC


@pytest.mark.one_database
def test_a_rater_reads_the_pages_of_a_read_only_site(read_only: ReadOnly) -> None:
    """A page on which work is handed out says that the site is read-only."""
    with read_only.reader(sessionid=read_only.session) as rater:
        found = statuses(answers_of(rater))
    print(Counter(found.values()), {p: s for p, s in found.items() if s >= "500"})
    assert "500" not in found.values()
    refused = {
        kind[0] for path, status in found.items() if status == "503" and (kind := kind_of(path))
    }
    assert refused <= {"rating-work", "two-factor"}


def test_programs_read_from_a_read_only_site(read_only: ReadOnly) -> None:
    with read_only.reader() as program:
        schema = program.get("/api/v1/openapi.json").json()
        paths = [
            path.replace("{slug}", "demo") for path, one in schema["paths"].items() if "get" in one
        ]
        found = {path: program.get(path).status_code for path in paths if "{" not in path}
    assert len(found) > 5
    assert {
        path: status for path, status in found.items() if status not in (200, 202, 401, 404)
    } == {}


def test_a_page_says_that_new_numbers_cannot_be_asked_for(
    visited: dict[str, httpx2.Response],
) -> None:
    pages = [answer.text for path, answer in visited.items() if path.startswith("/corpora/demo/")]
    said = [page for page in pages if "The site is read-only at the moment" in page]
    assert any("may be out of date" in page for page in said)
    assert any("have not been computed yet" in page for page in said)


def test_a_form_of_a_read_only_site_says_that_nothing_was_stored(read_only: ReadOnly) -> None:
    with read_only.reader() as visitor:
        form = visitor.get("/accounts/login/").text
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form))
        sent = {"username": "rater", "password": "demo-rater", "csrfmiddlewaretoken": token}
        answer = visitor.post("/accounts/login/", data=sent)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
        assert "Nothing was stored" in answer.text
        body = {"username": "rater", "password": "demo-rater"}
        refused = visitor.post("/api/v1/tokens", json=body)
        assert (refused.status_code, refused.json()["code"]) == (503, "read_only")
        assert refused.headers["Content-Type"] == "application/problem+json"


def test_a_read_only_site_is_not_ready(read_only: ReadOnly) -> None:
    with read_only.reader() as balancer:
        answer = balancer.get("/ready/")
    assert answer.status_code == 503
    reason = "it takes no writes: it is read-only, or its disk is full"
    assert answer.json()["checks"]["database"]["reason"] == reason
