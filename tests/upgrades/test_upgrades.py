"""A site's data as released versions stored it, and today's code: ``migrate``, and all of it works.

Today's migrations make the tables as they were then, the rows that the version's own code wrote are
put in (``dump.py``), and from there on everything is done as an operator does it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from tests.conftest import ON_SERVICES
from tests.migrated import fresh_database
from tests.site import Site
from tests.upgrades.dump import FOLDER

pytestmark = pytest.mark.slow

VERSIONS = ("0.1.0", "0.2.0")
TO_THE_VERSION = """
import json, sys
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
executor = MigrationExecutor(connection)
applied = {{tuple(name.split(".", 1)) for name in {applied!r}}}
def is_last(node):
    children = executor.loader.graph.node_map[node].children
    return not any(child.key in applied and child.key[0] == node[0] for child in children)
executor.migrate([node for node in sorted(applied) if is_last(node)])
"""
CHANGED = {"django_migrations", "django_content_type", "auth_permission", "auth_group_permissions"}
"""Tables of which ``migrate`` itself writes rows."""
MOVED: dict[str, set[str]] = {}
"""Columns, by table, that a later release dropped or computes anew. Each is told in
CHANGELOG.md."""
RENAMED = {
    "judges_purse": "judges_budget",
    "purse_id": "budget_id",
    "judge_purse_id": "judge_budget_id",
}
"""Tables and columns with another name today."""
FORGOTTEN = {("0.1.0", "leaderboard_analysis")}
"""Statistics that workers compute anew since 0.2.0; what they are is compared in a test of its
own."""


class Stored:
    """What a version's file holds: rows by table, and what its code said of them."""

    def __init__(self, version: str) -> None:
        self.columns: dict[str, list[str]] = {}
        self.rows: dict[str, list[list[Any]]] = {}
        with (FOLDER / f"{version}.jsonl").open(encoding="utf-8") as file:
            self.header = json.loads(next(file))
            for line in map(json.loads, file):
                if isinstance(line, dict):
                    table = line["table"]
                    self.columns[table], self.rows[table] = line["columns"], []
                else:
                    self.rows[table].append(line)

    @property
    def facts(self) -> dict[str, Any]:
        return self.header["facts"]


@contextmanager
def connected(site: Site) -> Iterator[Any]:
    """``execute(sql, values)`` with a %s for each value, and the rows that it gives."""
    if url := site.settings["DATABASE_URL"]:
        import psycopg

        with psycopg.connect(url) as connection:
            connection.execute("SET TIME ZONE 'UTC'")
            yield lambda sql, values=(): _rows(connection.execute(sql, values))
        return
    with closing(sqlite3.connect(site.home / "dialeval.sqlite3")) as connection:
        yield lambda sql, values=(): list(connection.execute(sql.replace("%s", "?"), values))
        connection.commit()


def _rows(cursor: Any) -> list[Any]:
    return cursor.fetchall() if cursor.description else []


def load(site: Site, stored: Stored) -> None:
    with connected(site) as execute:
        for table, rows in stored.rows.items():
            execute(f'DELETE FROM "{table}"')
            columns = ", ".join(f'"{column}"' for column in stored.columns[table])
            places = ", ".join(["%s"] * len(stored.columns[table]))
            for row in rows:
                values = (
                    [None if value is None else str(value) for value in row] if ON_SERVICES else row
                )
                execute(f'INSERT INTO "{table}" ({columns}) VALUES ({places})', values)
        if ON_SERVICES:
            for table, columns in stored.columns.items():
                if "id" in columns and isinstance(next(iter(stored.rows[table]), [1])[0], int):
                    execute(
                        f"SELECT setval(pg_get_serial_sequence('\"{table}\"', 'id'), "
                        f'(SELECT coalesce(max(id), 1) FROM "{table}"))'
                    )
    for name, text in stored.header["files"].items():
        path = site.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(
    scope="module", params=[pytest.param("0.1.0", marks=pytest.mark.one_database), "0.2.0"]
)
def upgraded(
    request: pytest.FixtureRequest, tmp_path_factory: Any
) -> Iterator[tuple[Site, Stored]]:
    """A site of that version after ``migrate``, in production mode, as it was left."""
    stored = Stored(request.param)
    url = fresh_database("template1") if ON_SERVICES else ""
    site = Site(tmp_path_factory.mktemp("upgraded"), {"DATABASE_URL": url, "CELERY_BROKER_URL": ""})
    site.python(TO_THE_VERSION.format(applied=stored.header["applied"]))
    load(site, stored)
    site.manage("migrate", "--verbosity", "0")
    yield site, stored
    site.stop()


@pytest.mark.parametrize("version", VERSIONS)
def test_migrations_of_a_release_are_never_changed(version: str) -> None:
    """Else the tables of this test were others than those of the sites out there."""
    header = Stored(version).header
    for name, digest in header["migrations"].items():
        app, migration = name.split(".", 1)
        file = Path(apps.get_app_config(app).path) / "migrations" / f"{migration}.py"
        assert hashlib.sha256(file.read_bytes()).hexdigest() == digest, name


def test_nothing_is_left_to_migrate(upgraded: tuple[Site, Stored]) -> None:
    site, _ = upgraded
    site.manage("migrate", "--check")
    site.manage("makemigrations", "--check", "--dry-run")


def test_every_row_is_there_and_says_what_it_said(upgraded: tuple[Site, Stored]) -> None:
    """Ratings, scores, submissions, the log: each value in each column, but for what is in
    ``MOVED``."""
    site, stored = upgraded
    with connected(site) as execute:
        for table, rows in stored.rows.items():
            if table in CHANGED or (stored.header["version"], table) in FORGOTTEN:
                continue
            columns = [one for one in stored.columns[table] if one not in MOVED.get(table, ())]
            names = ", ".join(f'"{RENAMED.get(column, column)}"' for column in columns)
            rows_now = execute(f'SELECT {names} FROM "{RENAMED.get(table, table)}"')
            found = [list(map(plain, row)) for row in rows_now]
            kept = [stored.columns[table].index(column) for column in columns]
            expected = [[plain(row[place]) for place in kept] for row in rows]
            assert sorted(found, key=repr) == sorted(expected, key=repr), table


def plain(value: Any) -> Any:
    """A value as both databases would tell it: moments to the microsecond in UTC, JSON as what
    it holds."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "microseconds")
    if isinstance(value, bool | int | float | Decimal):
        return float(value)
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, str) and value[:1] in "{[":
        with suppress(ValueError):
            return json.dumps(json.loads(value), sort_keys=True)
    if isinstance(value, str) and value[4:5] == "-":
        with suppress(ValueError):
            return datetime.fromisoformat(value).isoformat(" ", "microseconds")
    return value


def asked(site: Site, stored: Stored, code: str) -> Any:
    """What code says inside the upgraded site; ``facts`` is what the old one said."""
    (site.home / "facts.json").write_text(json.dumps(stored.facts))
    return json.loads(site.python(IN_THE_SITE + code).splitlines()[-1])


IN_THE_SITE = """
import json
from django.conf import settings
from django.test import Client
from django.contrib.auth import get_user_model
settings.ALLOWED_HOSTS = ["*"]
facts = json.load(open(settings.HOME / "facts.json"))
def client_of(name):
    client = Client()
    if name:
        client.force_login(get_user_model().objects.get(username=name))
    return client
"""


def test_statistics_of_the_old_site_are_the_numbers_that_it_stored(
    upgraded: tuple[Site, Stored],
) -> None:
    """Agreement of people, and what the metrics scored: computed by today's code from the old
    rows."""
    site, stored = upgraded
    said = asked(
        site,
        stored,
        """
from annotations.corpora.queries import version_of
from annotations.corpora.rating_queries import agreement_of
from workers.runs import queries
from workers.models import MetricRun
from workers.metrics.common.configuration import parse
from django.core.management import call_command
version = version_of("old")
before = {f"{run.configuration} {run.system.name}": run.turn_scores for run in MetricRun.objects.filter(
    state="done", system__version=version)}
MetricRun.objects.filter(state="done", system__version=version, metric__in=["word_f1", "rouge_l"]).delete()
call_command("score", "--corpus", "old", "--metrics", "word_f1,rouge_l", "--inline")
again = {f"{run.configuration} {run.system.name}": run.turn_scores for run in MetricRun.objects.filter(
    state="done", system__version=version)}
labels = {str(number): version_of("old", number).label for number in (1, 2)}
print()
print(json.dumps([agreement_of(version, "overall", "turn", resamples=0), before, again, labels]))
""",
    )
    agreement, before, again, labels = said
    assert labels == stored.facts["labels"]
    assert before == stored.facts["scores"]
    assert {name: pytest.approx(scores) for name, scores in before.items()} == again
    for name, value in numbers_in(stored.facts["agreement"]).items():
        assert numbers_in(agreement).get(name) == pytest.approx(value), name


def test_scores_of_the_old_runs_are_in_chunks(upgraded: tuple[Site, Stored]) -> None:
    """A release before 0.3.0 stored lists alone."""
    site, stored = upgraded
    code = """
from workers.models import MetricRun
runs = [run for run in MetricRun.objects.filter(state="done") if run.turn_scores]
print(json.dumps([[run.turn_scores, [chunk.scores[str(index)]
    for chunk in run.chunks.filter(level="turn").order_by("number") for index in range(len(chunk.scores))]]
    for run in runs]))
"""
    found = asked(site, stored, code)
    assert found
    assert [chunked for _, chunked in found] == [scores for scores, _ in found]


def numbers_in(document: Any, name: str = "") -> dict[str, float]:
    """Statistics (``value``, and what is counted) by their way through the document."""
    if isinstance(document, dict):
        parts = (numbers_in(value, f"{name}.{key}") for key, value in document.items())
        return {key: value for part in parts for key, value in part.items()}
    is_number = isinstance(document, int | float) and not isinstance(document, bool)
    return {name: document} if is_number and name.endswith(".value") else {}


PAGES = """
from common.roles import is_organiser
pages = ["/", "/corpora/old/", "/corpora/old/metrics/", "/corpora/old/systems/", "/corpora/old/agreement/",
    "/corpora/old/dialogues/0/", "/metrics/", "/api/v1/corpora", "/accounts/password/"]
found = {}
for name in ["", *facts["roles"]]:
    client = client_of(name)
    more = ["/corpora/hidden/", "/runs/", "/admin/", "/campaigns/"] if facts["roles"].get(name) == "organiser" else []
    for page in [*pages[:-1], *more]:
        found[f"{name} {page}"] = client.get(page, follow=True).status_code
    if name and not more:
        found[f"{name} hidden"] = client.get("/corpora/hidden/").status_code
print(json.dumps(found))
"""


def test_pages_answer_every_role_and_what_was_hidden_stays_so(
    upgraded: tuple[Site, Stored],
) -> None:
    site, stored = upgraded
    found = asked(site, stored, PAGES)
    hidden = {page for page in found if page.endswith(" hidden")}
    assert {page: found[page] for page in hidden} == dict.fromkeys(hidden, 404)
    others = set(found) - hidden
    assert len(others) > 8 * len(stored.facts["roles"])
    # whoever rates a corpus does not see it: rita and rudi have open campaigns on it since 0.2.0
    blind = {
        page for page in others if page.split()[0] in ("rita", "rudi") and "corpora/old" in page
    }
    blind = blind if "token" in stored.facts else set()
    assert {page: found[page] for page in others - blind} == dict.fromkeys(others - blind, 200)


def test_people_log_in_with_their_old_passwords(upgraded: tuple[Site, Stored]) -> None:
    """Stored in the old way or in today's; a wrong one opens nothing."""
    site, stored = upgraded
    code = """
from django.contrib.auth import authenticate
print(json.dumps([[name, authenticate(username=name, password=word) is not None,
    authenticate(username=name, password=word + "x") is None,
    get_user_model().objects.get(username=name).check_password(word)]
    for name, word in facts["passwords"].items()]))
"""
    said = asked(site, stored, code)
    # A password alone lets nobody in
    second_step = {"pia"} if "totp_key" in stored.facts else set()
    people = stored.facts["passwords"]
    assert said == [[name, name not in second_step, True, True] for name in people]


def test_the_audit_log_refuses_changes_as_before(upgraded: tuple[Site, Stored]) -> None:
    """Also of a site of 0.1.0, which had none: the first entry is as fast as any."""
    site, _ = upgraded
    code = """
from django.db import DatabaseError, connection, transaction
from annotations import audit
from annotations.models import Corpus
audit.record(None, "corpus.changed", Corpus.objects.first())
refused = []
for sql in ("UPDATE annotations_auditentry SET actor = 'x'", "DELETE FROM annotations_auditentry"):
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)
    except DatabaseError:
        refused.append(sql.split()[0])
print(json.dumps(refused))
"""
    assert json.loads(site.python(IN_THE_SITE.replace("facts = ", "# ") + code)) == [
        "UPDATE",
        "DELETE",
    ]


def test_tokens_codes_invitations_and_files_of_0_2_0_are_still_good(
    upgraded: tuple[Site, Stored],
) -> None:
    site, stored = upgraded
    if "token" not in stored.facts:
        pytest.skip("0.1.0 had none of them")
    code = """
import hashlib
from dialeval_site.accounts import two_factor
from django_otp.oath import totp
from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import opened
from annotations.campaigns.models import Campaign
found = {}
bearer = {"headers": {"Authorization": "Bearer " + facts["token"]}}
found["token"] = Client().get("/api/v1/me", **bearer).status_code
bearer["headers"]["Authorization"] += "x"
found["wrong token"] = Client().get("/api/v1/me", **bearer).status_code
pia = get_user_model().objects.get(username="pia")
found["second step"] = two_factor.is_on(pia)
two_factor.verify(pia, f"{totp(bytes.fromhex(facts['totp_key'])):06}")
left = two_factor.codes_left(pia)
two_factor.verify(pia, facts["recovery_code"])
found["recovery codes used"] = left - two_factor.codes_left(pia)
files = {}
for one in Submission.objects.all():
    with opened(one) as file:
        files[one.name] = {"state": one.state, "sha256": hashlib.sha256(file.read()).hexdigest()}
found["submissions"] = files
campaign = Campaign.objects.get(slug="turns")
found["invitation"] = Client().get("/join/" + facts["invitation"] + "/").status_code
found["publication"] = campaign.published_aspect
client = client_of("paul")
for page in ("/challenges/", "/challenges/answer/", "/challenges/answer/rounds/one/"):
    found[page] = client.get(page, follow=True).status_code
client = client_of("olga")
for page in ("/campaigns/turns/", "/campaigns/dialogues/", "/campaigns/chats/", "/campaigns/pairs/", "/audit/"):
    found[page] = client.get(page, follow=True).status_code
print(json.dumps(found))
"""
    said = asked(site, stored, code)
    assert said.pop("submissions") == stored.facts["submissions"]
    assert said.pop("wrong token") == 401
    assert said.pop("publication") == "people"
    assert (said.pop("second step"), said.pop("recovery codes used")) == (True, 1)
    assert said == dict.fromkeys(said, 200)
