"""What every page of a production site sends: security headers, a strict content policy, nothing
inline."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.dialeval_site.production_pages import HOST
from tests.migrated import FILE, migrated_file
from tests.site import PROJECT


@pytest.fixture(scope="module")
def production(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a production site in a folder of its own."""
    folder = tmp_path_factory.mktemp("production")
    shutil.copy(migrated_file(), folder / FILE)
    return {
        **os.environ,
        "DIALEVAL_HOME": str(folder),
        "DIALEVAL_MODE": "production",
        "SECRET_KEY": "QWx0IGluIGRpZSBKYWhyZSBnZWtvbW1lbiwgYWJlciBub2NoIG11bnRlcg",
        "ALLOWED_HOSTS": HOST,
        "DATABASE_URL": "",
    }


@pytest.fixture(scope="module")
def pages(production: dict[str, str]) -> dict[str, Any]:
    finished = subprocess.run(
        [sys.executable, "-m", "tests.dialeval_site.production_pages", production["DIALEVAL_HOME"]],
        cwd=PROJECT,
        env=production,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.slow
def test_django_s_own_check_of_a_deployment_finds_nothing(production: dict[str, str]) -> None:
    finished = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=PROJECT,
        env=production,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert "no issues (0 silenced)" in finished.stdout


@pytest.mark.slow
def test_every_page_answers(pages: dict[str, Any]) -> None:
    expected = {"missing": 404, "plain http": 301, "other host": 400, "forbidden": 403}
    assert {name: page["status"] for name, page in pages.items()} == {
        name: expected.get(name, 200) for name in pages
    }


def test_every_page_carries_the_security_headers(pages: dict[str, Any]) -> None:
    for name, page in of_the_site(pages):
        headers = page["headers"]
        assert headers["X-Content-Type-Options"] == "nosniff", name
        assert headers["X-Frame-Options"] == "DENY", name
        assert headers["Referrer-Policy"] == "same-origin", name
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert (
            headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
        ), name


def test_every_page_has_the_strict_content_policy(pages: dict[str, Any]) -> None:
    for name, page in of_the_site(pages):
        policy = directives(page["headers"]["Content-Security-Policy"])
        assert policy == {
            "default-src": {"'none'"},
            "script-src": {"'self'"},
            "style-src": {"'self'"},
            "font-src": {"'self'"},
            "connect-src": {"'self'"},
            "manifest-src": {"'self'"},
            "upgrade-insecure-requests": set(),
            "img-src": {"'self'", "data:", "blob:"},
            "object-src": {"'none'"},
            "base-uri": {"'none'"},
            "form-action": {"'self'"},
            "frame-ancestors": {"'none'"},
        }, name


def directives(policy: str) -> dict[str, set[str]]:
    parts = (part.split() for part in policy.split(";") if part.strip())
    return {name: set(values) for name, *values in parts}


def test_no_page_holds_what_the_policy_refuses(pages: dict[str, Any]) -> None:
    """Inline scripts, inline styles, handlers, and anything from another origin."""
    for name, page in of_the_site(pages):
        if "html" in page["headers"]["Content-Type"]:
            assert list(Refused.in_page(page["body"])) == [], name


class Refused(HTMLParser):
    """Collects what a browser would not run or load under the policy."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_script = False

    @classmethod
    def in_page(cls, html: str) -> Iterator[str]:
        parser = cls()
        parser.feed(html)
        yield from parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_data = values.get("type") == "application/json"  # a block of data is no script
        self.in_script = tag == "script" and "src" not in values and not is_data
        self.found += [
            f"<{tag} {name}>" for name in values if name == "style" or name.startswith("on")
        ]
        loaded = [values.get("src", ""), values.get("href", "") if tag == "link" else ""]
        self.found += [
            f"<{tag}> loads {address}" for address in loaded if re.match(r"(https?:)?//", address)
        ]
        if tag == "style":
            self.found.append("<style>")

    def handle_data(self, data: str) -> None:
        if self.in_script and data.strip():
            self.found.append(f"<script>{data[:40]}")


def test_cookies_travel_over_https_only(pages: dict[str, Any]) -> None:
    (csrf,) = pages["login"]["cookies"]
    assert csrf.startswith("__Host-csrftoken=")
    assert "Path=/;" in csrf
    assert "Domain" not in csrf
    assert "Secure" in csrf
    assert "SameSite=Lax" in csrf


def test_plain_http_is_sent_to_https(pages: dict[str, Any]) -> None:
    assert pages["plain http"]["headers"]["Location"] == f"https://{HOST}/corpora/open-kitchen/"


def test_a_proxy_that_took_https_is_believed(pages: dict[str, Any]) -> None:
    assert pages["behind a proxy"]["status"] == 200


def test_assets_have_names_that_change_with_their_content(pages: dict[str, Any]) -> None:
    assert re.search(r"/static/dialeval/site-home\.[0-9a-f]{12}\.css", pages["home"]["body"])


def test_the_scripts_of_every_page_are_one_file(pages: dict[str, Any]) -> None:
    (script,) = re.findall(r'<script src="([^"]+)"', pages["home"]["body"])
    assert re.fullmatch(r"/static/dialeval/site\.[0-9a-f]{12}\.js", script)


def test_the_log_in_page_of_production_offers_no_demo(pages: dict[str, Any]) -> None:
    assert "demo-organiser" not in pages["login"]["body"]


def of_the_site(pages: dict[str, Any]) -> list[tuple[str, Any]]:
    """All but those answered before HTTPS or the host is right."""
    return [
        (name, page) for name, page in pages.items() if name not in ("plain http", "other host")
    ]


def test_the_search_for_inline_code_finds_it() -> None:
    page = (
        '<p style="color:red" onclick="x()"><script>x()</script><script '
        'src="//elsewhere.example/a.js"></script>'
    )
    assert list(Refused.in_page(page)) == [
        "<p style>",
        "<p onclick>",
        "<script>x()",
        "<script> loads //elsewhere.example/a.js",
    ]
