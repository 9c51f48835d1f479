"""Fixtures for all tests, on PostgreSQL with Redis or on SQLite with the folder broker."""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.ci import IS_LONG
from tests.migrated import fresh_database, migrated_database, migrated_file
from tests.own_home import HOME
from tests.suite import ON_SQLITE, ON_SQLITE_ALONE

if TYPE_CHECKING:
    from tests.site import Site

TESTS = Path(__file__).resolve().parent
ON_SERVICES = os.environ.get("DIALEVAL_TEST_SERVICES") == "1"


def pytest_configure() -> None:
    """Pass words of tests guard nothing; the site's own hasher takes a third of a second for each.
    Every test client loads the middleware anew, and assets that are looked for when they are asked
    for are not listed 6,000 times."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    if ON_SERVICES:
        _give_each_process_a_cache(settings.CACHES["default"])
    _make_flushes_quick()


def _give_each_process_a_cache(cache: dict[str, Any]) -> None:
    """Tests empty it. Redis has 16 numbered databases: 0 is the broker's, the next ones are those
    of test sites."""
    address, _, _number = cache["LOCATION"].rpartition("/")
    cache["LOCATION"] = f"{address}/{8 + _process_number()}"


def _process_number() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


PRESERVED_TABLES = {"django_content_type", "auth_permission"}
"""What ``migrate`` wrote there no test changes."""


def _make_flushes_quick() -> None:
    """A test with transactions of its own empties every table, the roles that a migration made
    among them. Django truncates all, on PostgreSQL by a new file for each table and index, and then
    makes content types and permissions anew; few tables have rows."""
    from django.core.management.commands import flush
    from django.db.models.signals import post_migrate

    def make_roles(*_: object, **__: object) -> None:
        from django.contrib.auth.models import Group

        from annotations.models import SiteIdentity
        from common.roles import ROLES

        for name in ROLES:
            Group.objects.get_or_create(name=name)
        marker = HOME / "site-identity"  # that of the database before the flush
        identity = marker.read_text().partition("\n")[0] if marker.exists() else "0" * 32
        SiteIdentity.objects.get_or_create(defaults={"identity": identity})

    post_migrate.connect(make_roles, weak=False, dispatch_uid="roles of the tests")
    flush.sql_flush = _sql_to_empty_tables
    flush.emit_post_migrate_signal = make_roles


def _sql_to_empty_tables(_style: object, connection: Any, **_options: object) -> list[str]:
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    quoted = [connection.ops.quote_name(name) for name in {*tables} - PRESERVED_TABLES]
    with connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(
                f"SELECT '{one}' WHERE EXISTS (SELECT 1 FROM {one})" for one in quoted
            )
        )
        emptied = [f"DELETE FROM {name}" for (name,) in cursor.fetchall()]
    if connection.vendor == "sqlite":
        return ["PRAGMA defer_foreign_keys = ON", *emptied]
    # No foreign key orders the tables, and no trigger of a row is asked, as by TRUNCATE
    return ["SET LOCAL session_replication_role = replica", *emptied]


OF_THE_API_S_MATRIX = "test_each_caller_gets_what_the_matrix_says"
FOR_SQLITE = ("transaction=True", OF_THE_API_S_MATRIX, "mark.sqlite")
"""One of these stands in each file that has tests for SQLite, see
``pytest_collection_modifyitems``."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """In that stage no other file is loaded: to load all takes a processor a minute."""
    if config.option.markexpr != ON_SQLITE_ALONE or collection_path.suffix != ".py":
        return None
    if collection_path.relative_to(config.rootpath).as_posix() in ON_SQLITE:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return None if any(sign in text for sign in FOR_SQLITE) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected, thousands of modules and tests, stays: nobody looks through it for
    garbage, now or later; through the rest as seldom as a site's process does
    (``dialeval_site/__init__.py``): it took a twentieth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionfinish() -> None:
    """pytest will look for garbage twice, through all that thousands of tests have left, for
    what its end complains of: once will do."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who commits meets locks, which SQLite has of its own: such a test runs on both databases, as
    do those of ``ON_SQLITE`` and one call of every operation of the API, but for those that are
    marked ``one_database``.

    What was measured to be slow is marked so. The longest files begin first, then the others that
    have slow tests.
    """
    measured_slow = {*_listed("slow_tests.txt")}
    for item in items:
        database = item.get_closest_marker("django_db")
        commits = database is not None and database.kwargs.get("transaction", False)
        file = item.nodeid.partition("::")[0]
        of_sites = file.startswith("tests/faults/")
        once = item.get_closest_marker("one_database") and not IS_LONG
        by_file = file in ON_SQLITE or (commits and not of_sites)
        if not once and (by_file or _is_a_call_of_an_organiser(item)):
            item.add_marker("sqlite")
        if item.nodeid.partition("[")[0].removeprefix("tests/") in measured_slow:
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    places = {TESTS / name: place for place, name in enumerate(_listed("longest_files.txt"))}
    items.sort(key=lambda item: places.get(item.path, len(places) + (item.path not in slow)))


def _listed(name: str) -> list[str]:
    lines = (TESTS / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """After a run of many files, those that took longest: where to look when the gate gets slow."""
    seconds: Counter[str] = Counter()
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > 20:
        terminalreporter.section("files that took longest, in seconds")
        for file, took in seconds.most_common(25):
            terminalreporter.line(f"{took:7.0f}  {file}")


def _is_a_call_of_an_organiser(item: pytest.Item) -> bool:
    """A case of the API's matrix of permissions, of who may see everything: together they call
    every operation once. Every page is opened on SQLite by browsers (``test_every_page.py``)."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return (
        getattr(item, "originalname", "") == OF_THE_API_S_MATRIX
        and parameters.get("caller") == "organiser"
    )


@pytest.fixture(scope="session", autouse=True)
def contexts_of_pages_alone(django_test_environment: None) -> None:
    """Django's test client keeps a copy of the context of every template that is rendered: each
    included part, each widget and each option of a form, hundreds on a page, a third of what a page
    takes. ``answer.context`` holds here what the view gave."""
    from django.template import RequestContext, Template
    from django.test.signals import template_rendered

    def render(template: Any, context: Any) -> Any:
        if context.template is template and isinstance(context, RequestContext):
            template_rendered.send(sender=template, template=template, context=context)
        return template.nodelist.render(context)

    Template._render = render


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """SQLite in a file, as on a site: in memory it has no WAL, and refuses a second writer that
    should wait."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    named = database.setdefault("TEST", {})
    if database["ENGINE"] == "django.db.backends.sqlite3":
        named["NAME"] = str(shutil.copy(migrated_file(), HOME / "test.sqlite3"))
    else:
        named["NAME"] = f"test_{_process_number()}"
        fresh_database(migrated_database(), named["NAME"])


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """It is there: a copy, see above. Django looks whether a migration is missing, and runs it."""
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """A test with transactions of its own empties every table, on SQLite by DELETE, which the audit
    log refuses: that trigger is dropped here, and put back by the test that sees it refuse
    (``tests/annotations/test_audit.py``). PostgreSQL empties tables by TRUNCATE, which asks no
    trigger of a row; its clock is read once, here: amid a test it would be one query more."""
    from django.db import connection

    from common import clock

    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("DROP TRIGGER IF EXISTS audit_entry_is_kept")
        else:
            clock.now()
            clock._READ_EVERY_SECONDS = float("inf")


@pytest.fixture(scope="module", autouse=True)
def rows_rolled_back_are_vacuumed(django_db_blocker: Any) -> Iterator[None]:
    """PostgreSQL's own vacuum is off (``tests/services.py``): after each file what has grown is
    emptied, all but what ``migrate`` wrote."""
    yield
    from django.db import connection

    if not ON_SERVICES or not connection.settings_dict["NAME"].startswith("test_"):
        return
    connection.close()  # a test may have had it ended
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 1000000"
        )
        if grown := [name for (name,) in cursor.fetchall()]:
            cursor.execute(f"VACUUM (SKIP_LOCKED) {', '.join(grown)}")
    connection.close()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real data; tests that want it are skipped where DIALEVAL_DATA does not name
    it."""
    folder = os.environ.get("DIALEVAL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DIALEVAL_DATA names no folder with the real data")
    return Path(folder)


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """The folder of reference numbers, beside the real data."""
    folder = data.parent / "golden"
    if not folder.is_dir():
        pytest.skip("there are no reference numbers beside the real data")
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Iterator[object]:
    """An empty, migrated site with its own database."""
    with made_site(tmp_path) as site:
        yield site


@contextmanager
def made_site(folder: Path, template: str = "") -> Iterator[Site]:
    """What the fixture ``site`` is made of, for modules whose tests share one. On PostgreSQL a copy
    of the database ``template``; on SQLite the folder may have its file."""
    from tests.site import Site

    settings = {"DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    if ON_SERVICES:
        settings = {
            "DATABASE_URL": fresh_database(template or migrated_database()),
            "CELERY_BROKER_URL": _fresh_broker(),
        }
    elif not (folder / "dialeval.sqlite3").exists():
        shutil.copy(migrated_file(), folder / "dialeval.sqlite3")
    word_lists = HOME / "nltk_data"
    if word_lists.exists() and not (folder / "nltk_data").is_symlink():
        (folder / "nltk_data").symlink_to(word_lists.resolve())
    site = Site(folder, settings)
    try:
        yield site
    finally:
        site.stop()


def _fresh_broker() -> str:
    """Redis has 16 numbered databases; each site empties the one of its test process."""
    import redis

    url = os.environ["CELERY_BROKER_URL"].removesuffix("/0") + f"/{1 + _process_number()}"
    redis.Redis.from_url(url).flushdb()
    return url


@pytest.fixture(autouse=True)
def no_corpus_of_another_test() -> Iterator[None]:
    """A worker process keeps the turns of versions, which never change and whose keys a database
    never gives twice.

    A test's rollback gives them twice. It doesn't take back what stands in the cache, such as how
    many requests came from an address in this minute.
    """
    yield
    if (django_cache := sys.modules.get("django.core.cache")) is not None:
        django_cache.cache.clear()
    if (cache := sys.modules.get("common.cache")) is not None:
        cache.forget()
    queries = sys.modules.get("workers.runs.queries")
    if queries is not None:
        queries.forget()
    if (read_only := sys.modules.get("common.read_only")) is not None:
        read_only.takes_writes()
    if (hints := sys.modules.get("common.jobs.notifications")) is not None:
        hints._breaker.succeeded()  # a broker that was away in one test is there in the next


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keys of the jobs that workers were told of; no broker."""
    told: list[int] = []

    def tell(task: str, jobs: Iterable[tuple[int, str]], priority: int) -> list[int]:
        sent = [pk for pk, _ in jobs]
        told.extend(sent)
        return sent

    monkeypatch.setattr("common.jobs.models.notify_workers", tell)
    return told


@pytest.fixture(autouse=True)
def analyses_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks at a statistic in a test's own process gets it computed at once, for there is no
    worker. Tests of the waiting itself are marked ``by_workers``."""
    if not request.node.get_closest_marker("by_workers"):
        lookers_compute(monkeypatch)


def lookers_compute(patch: pytest.MonkeyPatch) -> None:
    """What ``analyses_at_once`` does; for fixtures of a module, which are made before it."""
    if "django" not in sys.modules:
        return
    from django.apps import apps

    if not apps.ready:
        return
    from leaderboard.results import computing

    # The package's name for it is the function's
    look = importlib.import_module("leaderboard.results.look")
    requested = look._requested

    def computed(
        version: Any, kind: str, question: str, parameters: Any, row: Any, wanted: Any
    ) -> Any:
        row = requested(version, kind, question, parameters, row, wanted)
        if row is not None and not look.is_of(row, wanted):
            type(row).objects.filter(pk=row.pk, state="done").update(state="pending")
            computing.compute(row.pk)
            row = look._stored(version, kind, question)
        return row

    patch.setattr(look, "_requested", computed)


@pytest.fixture(autouse=True)
def answers_are_changed_by_nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process keeps answers for all who look: who sorted one in place would sort it for
    everybody."""
    answers = sys.modules.get("leaderboard.results.answer_cache")
    if answers is None:
        yield
        return
    from leaderboard.results import json_form

    as_read: list[tuple[Any, str]] = []
    remember = answers._remember

    def remembered(row: Any, found: Any) -> None:
        as_read.append((found.answer, json.dumps(json_form(found.answer))))
        remember(row, found)

    monkeypatch.setattr(answers, "_remember", remembered)
    yield
    answers.forget()
    changed = [answer for answer, text in as_read if json.dumps(json_form(answer)) != text]
    assert not changed, "a stored answer was changed by its reader"


@pytest.fixture(autouse=True)
def a_dash_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table that a command prints, in every test: "–" stands with its reason beneath, or in
    its cell."""
    from annotations.console import ConsoleCommand
    from common.tables.numerals import Dash

    print_table = ConsoleCommand.print_table

    def checked(self: ConsoleCommand, header: Any, rows: Any, undefined: Any = ()) -> None:
        reasons = [*undefined]
        bare = [
            cell
            for row in rows
            for cell in row
            if "–" in cell.split() and not isinstance(cell, Dash)
        ]
        assert reasons or all("– (" in cell for cell in bare), f"no reason for {bare} of {header}"
        assert all(why for _, why in reasons), reasons
        assert all(cell.reason for row in rows for cell in row if isinstance(cell, Dash))
        print_table(self, header, rows, reasons)

    monkeypatch.setattr(ConsoleCommand, "print_table", checked)
