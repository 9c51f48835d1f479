"""Settings come from the environment only, a wrong one is told in a line, and production is
strict."""

from __future__ import annotations

import fcntl
import os
import runpy
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.utils import ConnectionHandler
from django.template.backends.django import DjangoTemplates
from django.template.loaders.cached import Loader as CachedLoader

from dialeval_site.config import environment
from tests.site import PROJECT

PRODUCTION = {
    "DIALEVAL_MODE": "production",
    "SECRET_KEY": "k" * 60,
    "ALLOWED_HOSTS": "dialeval.example.org",
}


@pytest.fixture
def settings_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The settings module as it would be with these variables and no others of the project."""

    def read(**variables: str) -> dict[str, Any]:
        for setting in environment.SETTINGS:
            monkeypatch.delenv(setting.name, raising=False)
        for name, value in {"DIALEVAL_HOME": str(tmp_path), **variables}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(PROJECT / "dialeval_site" / "settings.py"))

    return read


# --- production -----------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["SECRET_KEY", "ALLOWED_HOSTS"])
@pytest.mark.parametrize("value", [None, "  "], ids=["unset", "blank"])
def test_production_does_not_start_without(missing: str, value: str | None, settings_with) -> None:
    variables = {name: value for name, value in PRODUCTION.items() if name != missing}
    if value is not None:
        variables[missing] = value
    with pytest.raises(
        ImproperlyConfigured,
        match=f"^{missing} is not set. In production mode the site does not start",
    ):
        settings_with(**variables)


def test_a_wrong_setting_ends_a_command_with_one_line(tmp_path: Path) -> None:
    variables = {"DIALEVAL_HOME": str(tmp_path), "DIALEVAL_MODE": "production", "SECRET_KEY": ""}
    finished = subprocess.run(
        [sys.executable, "manage.py", "run"],
        cwd=PROJECT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    assert finished.stderr == (
        "dialeval: SECRET_KEY is not set. In production mode the site does not start without one.\n"
    )


def test_production_has_no_demo(settings_with) -> None:
    from dialeval_site.demo import site as demo

    production = type("settings", (), settings_with(**PRODUCTION))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "settings", production)
        with pytest.raises(demo.NoDemoInProduction):
            demo.load_demo()
        assert demo.accounts_on_this_site() == ()


def test_cookies_and_redirects_are_for_https_in_production(settings_with) -> None:
    settings = settings_with(**PRODUCTION)
    assert settings["SESSION_COOKIE_SECURE"]
    assert settings["CSRF_COOKIE_SECURE"]
    assert settings["SECURE_SSL_REDIRECT"]
    assert settings["SECURE_HSTS_SECONDS"] == 31_536_000
    assert settings["DEBUG"] is False


def test_production_collects_assets_whatever_is_asked_for(settings_with) -> None:
    settings = settings_with(**PRODUCTION, DIALEVAL_ASSETS="reload")
    assert not settings["WHITENOISE_USE_FINDERS"]
    assert settings["STORAGES"]["staticfiles"]["BACKEND"].endswith("CollectedStorage")
    assert "WHITENOISE_AUTOREFRESH" not in settings


@pytest.mark.parametrize(("assets", "kept"), [("source", True), ("reload", False)])
def test_templates_are_read_anew_where_assets_are(assets: str, kept: bool, settings_with) -> None:
    (templates,) = settings_with(DIALEVAL_ASSETS=assets)["TEMPLATES"]
    del templates["BACKEND"]
    engine = DjangoTemplates({"NAME": "django", **templates}).engine
    assert any(isinstance(one, CachedLoader) for one in engine.template_loaders) == kept


def test_a_private_network_may_go_without_https(settings_with) -> None:
    settings = settings_with(**PRODUCTION, DIALEVAL_SECURE="False")
    assert not settings["SECURE_SSL_REDIRECT"]
    assert not settings["SESSION_COOKIE_SECURE"]
    assert settings["SECURE_PROXY_SSL_HEADER"] is None


def test_development_never_asks_for_https_and_never_shows_tracebacks(settings_with) -> None:
    settings = settings_with()
    assert not settings["SECURE_SSL_REDIRECT"]
    assert settings["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert settings["DEBUG"] is False


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DIALEVAL_MODE", "prod", "DIALEVAL_MODE must be development or production, not 'prod'"),
        (
            "DIALEVAL_LEASE_SECONDS",
            "soon",
            "DIALEVAL_LEASE_SECONDS must be a number of seconds, not 'soon'",
        ),
        (
            "DIALEVAL_LEASE_SECONDS",
            "0",
            "DIALEVAL_LEASE_SECONDS must be a positive number of seconds, not 0.0",
        ),
        (
            "DIALEVAL_SWEEP_SECONDS",
            "-1",
            "DIALEVAL_SWEEP_SECONDS must be a positive number of seconds, not -1.0",
        ),
        (
            "DIALEVAL_TASK_SECONDS",
            "inf",
            "DIALEVAL_TASK_SECONDS must be a positive number of seconds, not inf",
        ),
        (
            "DIALEVAL_POLL_SECONDS",
            "nan",
            "DIALEVAL_POLL_SECONDS must be a positive number of seconds, not nan",
        ),
        ("DIALEVAL_MAX_ATTEMPTS", "2.5", "DIALEVAL_MAX_ATTEMPTS must be a whole number, not '2.5'"),
        ("DIALEVAL_MAX_ATTEMPTS", "0", "DIALEVAL_MAX_ATTEMPTS must be at least 1, not 0"),
        (
            "DIALEVAL_MAX_IMPORT_MB",
            "many",
            "DIALEVAL_MAX_IMPORT_MB must be a whole number, not 'many'",
        ),
        (
            "DIALEVAL_LOG_LEVEL",
            "loud",
            "DIALEVAL_LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, not 'loud'",
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(
    name: str, value: str, message: str, settings_with
) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{message}$"):
        settings_with(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "hush"),
        ("DATABASE_URL", "hush://ann:hush@db.example/dialeval"),
        ("DATABASE_URL", "postgres://ann:hush#hush@db.example/dialeval"),
        ("DATABASE_URL", "postgres://ann:hush@db.example:hush/dialeval"),
        ("DATABASE_URL", "postgres://ann:hush@[db.example/dialeval"),
        ("DATABASE_URL", "postgres:ann:hush@db.example/dialeval"),
        ("DATABASE_URL", "mysql:ann:hush@db.example/dialeval"),
        ("DIALEVAL_SENTRY_DSN", "hush"),
        ("DIALEVAL_SENTRY_DSN", "https://sentry.example.org/hush"),
        ("DIALEVAL_SENTRY_DSN", "https://hush@sentry.example.org/hush"),
        ("DIALEVAL_SENTRY_DSN", "https://hush@sentry.example.org:hush/1"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused_and_not_repeated(
    name: str, value: str, settings_with
) -> None:
    """A password or a key is in it."""
    with pytest.raises(ImproperlyConfigured, match=f"^{name} must be an address such as ") as told:
        settings_with(**{name: value})
    assert "hush" not in str(told.value)


@pytest.mark.parametrize("level", ["DEBUG", "warning"])
def test_a_level_of_the_log_is_taken_in_small_letters_too(level: str, settings_with) -> None:
    assert settings_with(DIALEVAL_LOG_LEVEL=level)["LOGGING"]["root"]["level"] == level.upper()


SETTINGS_OF_TRUTH = [
    setting.name for setting in environment.SETTINGS if setting.default in ("true", "false")
]


def test_these_are_so_or_not() -> None:
    """One that comes is read by ``environment.truth`` and tried below."""
    assert SETTINGS_OF_TRUTH == [
        "DATABASE_PREPARED_STATEMENTS",
        "DIALEVAL_OIDC_SIGN_UP",
        "DIALEVAL_IMPORT_PRIVATE",
        "DIALEVAL_WEBHOOK_PRIVATE",
        "DIALEVAL_SECURE",
    ]


@pytest.mark.parametrize(
    ("words", "truth"),
    [(("true", "Yes", "ON", "1"), True), (("False", "no", "OFF", "0"), False)],
    ids=["so", "not"],
)
def test_every_word_of_truth_is_taken_at_its_word(
    words: tuple[str, ...], truth: bool, settings_with
) -> None:
    """``DIALEVAL_SECURE=0`` left HTTPS on, and ``DIALEVAL_WEBHOOK_PRIVATE=yes`` private addresses
    forbidden."""
    for word in words:
        settings = settings_with(
            **PRODUCTION,
            DATABASE_URL="postgres://db.example/dialeval",
            **dict.fromkeys(SETTINGS_OF_TRUTH, word),
        )
        prepares = "prepare_threshold" in settings["DATABASES"]["default"]["OPTIONS"]
        assert (
            *(settings["SECURE"], settings["WEBHOOK_PRIVATE"], settings["IMPORT_PRIVATE"]),
            prepares,
        ) == (truth,) * 4, word


@pytest.mark.parametrize("name", SETTINGS_OF_TRUTH)
def test_a_word_that_is_neither_true_nor_false_is_refused(name: str, settings_with) -> None:
    refusal = f"^{name} must be true, yes, on, 1 or false, no, off, 0, not 'Flase'$"
    with pytest.raises(ImproperlyConfigured, match=refusal):
        settings_with(DATABASE_URL="postgres://db.example/dialeval", **{name: "Flase"})


def test_the_page_names_every_word_of_truth() -> None:
    page = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [
        word
        for word in (*environment.TRUE, *environment.FALSE)
        if f"`{word}`" not in page.split("|")[0]
    ] == []


def test_a_blank_variable_counts_as_unset(settings_with) -> None:
    assert settings_with(DIALEVAL_LEASE_SECONDS=" ")["LEASE_SECONDS"] == 60


def test_an_undeclared_setting_is_a_programming_error() -> None:
    with pytest.raises(KeyError, match="DIALEVAL_SPEED"):
        environment.text("DIALEVAL_SPEED")


def test_a_relative_home_starts_at_the_project(tmp_path: Path) -> None:
    assert environment.home({"DIALEVAL_HOME": "elsewhere"}) == PROJECT / "elsewhere"
    assert environment.home({"DIALEVAL_HOME": str(tmp_path)}) == tmp_path
    assert environment.home({}) == PROJECT / "var"


def test_a_new_home_is_its_owner_s_alone(settings_with, tmp_path: Path) -> None:
    """Its database has hashes of passwords, keys of second factors and hidden references."""
    before = os.umask(0o022)
    try:
        settings_with(DIALEVAL_HOME=str(tmp_path / "new"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_hosts_are_separated_by_commas() -> None:
    hosts = environment.allowed_hosts({"ALLOWED_HOSTS": " a.example , .b.example,"})
    assert hosts == ["a.example", ".b.example"]


# --- the development key --------------------------------------------------------------------------


def test_the_development_key_is_kept_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    variables = {"DIALEVAL_HOME": str(tmp_path / "new")}
    key = environment.secret_key(variables)
    assert len(key) >= 50
    assert environment.secret_key(variables) == key
    (file,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_homes_have_two_keys(tmp_path: Path) -> None:
    keys = {environment.secret_key({"DIALEVAL_HOME": str(tmp_path / name)}) for name in ("a", "b")}
    assert len(keys) == 2


def test_a_key_that_another_process_is_about_to_write_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "development-secret-key"
    with file.open("w") as other_process, ThreadPoolExecutor() as pool:
        fcntl.flock(other_process, fcntl.LOCK_EX)
        key = pool.submit(environment.secret_key, {"DIALEVAL_HOME": str(tmp_path)})
        with pytest.raises(TimeoutError):
            key.result(timeout=0.2)
        other_process.write("the-key-of-the-other-process")
        other_process.close()
        assert key.result(timeout=20) == "the-key-of-the-other-process"


def test_an_empty_file_of_a_process_that_was_ended_gets_a_key(tmp_path: Path) -> None:
    file = tmp_path / "development-secret-key"
    file.touch(mode=0o600)
    key = environment.secret_key({"DIALEVAL_HOME": str(tmp_path)})
    assert len(key) >= 50
    assert file.read_text() == key


# --- databases ------------------------------------------------------------------------------------


def test_sqlite_writes_ahead_and_takes_the_write_lock_at_the_beginning(
    settings_with, tmp_path: Path, django_db_blocker
) -> None:
    ours = ConnectionHandler({"default": settings_with()["DATABASES"]["default"]})["default"]
    django_db_blocker.unblock()
    with ours.cursor() as cursor:
        (journal,) = cursor.execute("PRAGMA journal_mode").fetchone()
        (foreign_keys,) = cursor.execute("PRAGMA foreign_keys").fetchone()
    assert (journal, foreign_keys) == ("wal", 1)
    ours.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
    other = sqlite3.connect(tmp_path / "dialeval.sqlite3", timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        other.execute("BEGIN IMMEDIATE")
    ours.rollback()
    other.execute("BEGIN IMMEDIATE")
    other.close()
    ours.close()
    django_db_blocker.restore()


def test_postgres_gets_a_pool_of_the_size_that_is_set(settings_with) -> None:
    database = settings_with(
        DATABASE_URL="postgres://ann:pass@db.example/dialeval", DATABASE_POOL_SIZE="7"
    )["DATABASES"]
    assert database["default"]["ENGINE"] == "dialeval_site.config.postgresql"
    assert database["default"]["HOST"] == "db.example"
    assert database["default"]["OPTIONS"]["pool"] == {
        "min_size": 1,
        "max_size": 7,
        "timeout": 10,
        "reconnect_timeout": 5,
    }


@pytest.mark.django_db
def test_the_database_in_use_is_set_up_so() -> None:
    """On SQLite and, in the second run of the suite, on a real PostgreSQL."""
    options = connection.settings_dict["OPTIONS"]
    if connection.vendor == "sqlite":
        assert options["transaction_mode"] == "IMMEDIATE"
    else:
        assert connection.pool.max_size == 8


def test_a_database_that_is_neither_sqlite_nor_postgresql_is_refused(settings_with) -> None:
    with pytest.raises(
        ImproperlyConfigured,
        match=r"^DATABASE_URL must begin with postgres:// or sqlite:///, not mysql://$",
    ):
        settings_with(DATABASE_URL="mysql://ann:pass@db.example/dialeval")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server that could end")
def test_a_pool_of_connections_that_the_server_ended_is_made_anew_at_once() -> None:
    """As after PostgreSQL was started again: each dead one was an answer 500, then eight of them a
    wait of ten seconds and an answer 500."""
    pool = connection.pool
    connection.ensure_connection()
    taken = [pool.getconn() for _ in range(5)]
    connection.close()
    for one in taken:
        pool.putconn(one)
    _end_all_others()
    begun = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    assert time.monotonic() - begun < 5  # Django's check alone waits 1, 2 and 4 s


def _end_all_others() -> None:
    settings = connection.settings_dict
    with psycopg.connect(
        dbname=settings["NAME"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        host=settings["HOST"] or settings["OPTIONS"].get("host"),
        port=settings["PORT"] or None,
        autocommit=True,
    ) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = "
            "current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )


# --- brokers --------------------------------------------------------------------------------------


def test_without_a_broker_s_address_hints_are_files_in_the_home(
    settings_with, tmp_path: Path
) -> None:
    settings = settings_with(DIALEVAL_POLL_SECONDS="0.25")
    options = settings["CELERY_BROKER_TRANSPORT_OPTIONS"]
    assert settings["CELERY_BROKER_URL"].startswith("folder://")
    assert (
        options["data_folder_in"]
        == options["data_folder_out"]
        == str(tmp_path / "broker" / "queue")
    )
    assert options["polling_interval"] == 0.25


def test_a_redis_that_is_away_holds_no_request_for_long(settings_with) -> None:
    options = settings_with(CELERY_BROKER_URL="redis://broker.example:6379/0")[
        "CELERY_BROKER_TRANSPORT_OPTIONS"
    ]
    assert options["socket_connect_timeout"] <= 2
