"""Whole sites, backed up and restored as processes: into the same kind of database and into the
other one."""

from __future__ import annotations

import gzip
import io
import json
import resource
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import compress
from pathlib import Path
from typing import Any

import pytest

from common.version import VERSION
from tests.conftest import ON_SERVICES, made_site
from tests.demo_site import demo_site
from tests.migrated import fresh_database, migrated_file
from tests.site import PROJECT, Site

pytestmark = pytest.mark.slow

ONE_KEY = {"SECRET_KEY": "k" * 50}
"""Pages hold signed addresses: those of two sites are the same only where they sign with one
key."""
FILL = """
from annotations.models import AuditEntry
subject = 'tab\\t back\\\\slash "quoted" \\n é 漢 \\U0001f600'
AuditEntry.objects.create(actor="ada", action="x.y", subject=subject, details={"a": [1.5, None, True]})
from django.contrib.auth import get_user_model
get_user_model().objects.create(username="gone").delete()
"""
CONTENT = """
import hashlib, json
from django.apps import apps
from django.core.files.storage import storages
from common import storage
from dialeval_site.operations.backups import portable
def plain(value):
    return json.dumps(value, sort_keys=True, default=str)
found = {}
for model in apps.get_models(include_auto_created=True):
    table = model._meta.db_table
    if table in portable.LEFT_OUT or not model._meta.managed:
        continue
    rows = model._base_manager.order_by("pk")
    if table == "annotations_auditentry":
        rows = rows.exclude(action="site.restored")
    digest, count = hashlib.sha256(), 0
    for row in rows.values_list().iterator(2000):
        digest.update(plain(row).encode())
        count += 1
    found[table] = [count, digest.hexdigest()]
for name in storage.names_in("uploads"):
    found["uploads/" + name] = hashlib.sha256(storage.opened("uploads/" + name).read()).hexdigest()
print(json.dumps(found, sort_keys=True))
"""
PAGES = """
import re
from django.test import Client
client = Client(headers={"host": "localhost"})
PATHS = ("systems", "metrics", "agreement", "dialogues/0")
for page in (*(f"corpora/demo/{one}" for one in PATHS), "challenges/demo-challenge"):
    path = f"/{page}/"
    answer = client.get(path)
    assert answer.status_code == 200, path
    print(path, re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", answer.content.decode()))
"""

STATISTICS = """
import json
from leaderboard.models import Analysis
rows = Analysis.objects.values_list("kind", "question", "stamp", "made_by", "computed_at")
print(json.dumps({f"{kind} {question}": [kind, stamp, by, str(at)] for kind, question, stamp, by, at in rows}))
"""

THEN = """
import json
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from dialeval_site.operations.backups import portable
loader = MigrationLoader(connection)
later = loader.graph.backwards_plan(("annotations", "0004_audit_is_append_only"))
registry = loader.project_state([node for node in loader.graph.nodes if node not in later]).apps
tables = {model._meta.db_table: portable.columns(model) for model in portable.tables(registry)}
print(json.dumps({"later": later, "tables": tables}))
"""


def content(site: Site) -> dict[str, Any]:
    return json.loads(site.python(CONTENT))


@contextmanager
def other_site(folder: Path, on_services: bool, migrated: bool = False) -> Iterator[Site]:
    """An empty one; in the database that is not this test run's, one that nobody has migrated,
    unless it is said."""
    folder.mkdir()
    if on_services == ON_SERVICES:
        with made_site(folder) as site:
            site.settings |= ONE_KEY
            yield site
        return
    if migrated:
        shutil.copy(migrated_file(), folder / "dialeval.sqlite3")
    site = Site(
        folder,
        {
            "DATABASE_URL": fresh_database("template1") if on_services else "",
            "CELERY_BROKER_URL": "",
            **ONE_KEY,
        },
    )
    try:
        yield site
    finally:
        site.stop()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo: a corpus, ratings, campaigns, a challenge with files, some scores and the
    statistics of its pages."""
    with demo_site(tmp_path_factory) as site:
        site.settings |= ONE_KEY
        site.python(FILL)
        site.manage("score", "--corpus", "demo", "--metrics", "word_f1,bleu_2", "--inline")
        site.python(PAGES)
        site.manage("analyse")
        yield site


@pytest.fixture(scope="module")
def backed_up(filled: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("backup") / "site.backup"
    told = filled.manage("backup", "--to", path)
    assert "SECRET_KEY" in told.stderr
    return path


@pytest.fixture(scope="module")
def before(filled: Site, backed_up: Path) -> dict[str, Any]:
    """What the backup holds."""
    return content(filled)


@pytest.fixture(scope="module")
def restored(backed_up: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for the tests that find it as it came, but for users that they make, and the last one,
    which replaces all of it."""
    folder = tmp_path_factory.mktemp("restored") / "site"
    with other_site(folder, on_services=ON_SERVICES) as site:
        site.manage("restore", backed_up)
        yield site


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for the tests in which nothing is restored."""
    folder = tmp_path_factory.mktemp("empty") / "site"
    with other_site(folder, on_services=ON_SERVICES) as site:
        yield site


@pytest.mark.sqlite
def test_a_restored_site_is_the_site_in_either_database_and_answers_the_same_bytes(
    filled: Site, backed_up: Path, before: dict[str, Any], tmp_path: Path
) -> None:
    """On SQLite: SQLite → SQLite. On the services: PostgreSQL → SQLite → PostgreSQL."""
    pages = filled.python(PAGES)
    assert before["annotations_rating"][0] > 100
    assert any(name.startswith("uploads/") for name in before)
    with other_site(tmp_path / "one", on_services=False) as one:
        said = one.manage("restore", backed_up).stdout
        assert (
            f"{sum(entry[0] for name, entry in before.items() if '/' not in name):,} rows of"
            in said
        )
        assert content(one) == before
        # Before its pages store statistics of their own
        one.manage("backup", "--to", tmp_path / "again")
        assert one.python(PAGES) == pages
        if ON_SERVICES:
            with other_site(tmp_path / "two", on_services=True) as two:
                two.manage("restore", tmp_path / "again")
                assert content(two) == before
                assert two.python(PAGES) == pages


def test_statistics_that_came_along_stand_and_only_those_are_computed_that_nobody_had_asked_for(
    backed_up: Path, tmp_path: Path
) -> None:
    """Into SQLite, on the services from PostgreSQL. The parts of a page that wait for its first
    numbers are asked for by the first look after these are there: the pages of the backup's site
    had been looked at once."""
    with other_site(tmp_path / "site", on_services=False, migrated=True) as site:
        site.manage("restore", backed_up)
        before = json.loads(site.python(STATISTICS))
        assert len(before) >= 3
        assert "computed 0 statistics" in site.manage("analyse").stdout
        site.python(PAGES)
        site.manage("analyse")
        after = json.loads(site.python(STATISTICS))
    assert {name: after[name] for name in before} == before
    new = {after[name][0] for name in after.keys() - before.keys()}
    assert new == {"misleading-metrics", "rater-effects", "comparisons"}


@pytest.mark.sqlite
def test_keys_go_on_after_the_last_one_ever_given_and_the_audit_log_is_closed_again(
    backed_up: Path, restored: Site
) -> None:
    """The last user that the backup's site made was deleted again; no other one ever gets that
    key."""
    new_user = """
from django.contrib.auth import get_user_model
print(get_user_model().objects.create(username="new").pk)
from annotations.models import AuditEntry
from django.db import DatabaseError, transaction
for deed in (lambda: AuditEntry.objects.all().delete(), lambda: AuditEntry.objects.update(actor="eve")):
    try:
        with transaction.atomic():
            deed()
        print("changed")
    except DatabaseError as refusal:
        print(refusal)
print(AuditEntry.objects.latest("pk").action)
"""
    new, *refusals, last = restored.python(new_user).splitlines()
    manifest = documents(backed_up)["manifest.json"]
    assert int(new) == manifest["tables"]["auth_user"]["last_id"] + 1
    assert sum("append-only" in line for line in refusals) == 2
    assert "changed" not in refusals
    assert last == "site.restored"


def test_a_database_that_is_in_use_is_left_alone_unless_it_is_to_be_replaced(
    backed_up: Path, tmp_path: Path
) -> None:
    with other_site(tmp_path / "site", on_services=ON_SERVICES) as site:
        site.python(
            "from django.contrib.auth import get_user_model as g; "
            "g().objects.create(username='mine')"
        )
        refused = site.manage("restore", backed_up, check=False)
        assert refused.returncode == 1
        assert "the database is not empty (auth_user): --replace" in refused.stderr
        site.manage("restore", backed_up, "--replace")
        names = site.python(
            "from django.contrib.auth.models import User; "
            "print(*User.objects.values_list('username', flat=True))"
        )
        assert "organiser" in names.split()
        assert "mine" not in names.split()


@pytest.mark.sqlite
def test_rows_that_the_database_refuses_leave_everything_as_it_was(
    backed_up: Path, restored: Site, tmp_path: Path
) -> None:
    broken = rewritten(backed_up, tmp_path / "broken", without_the_last_turn)
    found = content(restored)
    refused = restored.manage("restore", broken, "--replace", check=False)
    assert refused.returncode == 1
    assert "the database does not take these rows" in refused.stderr
    assert content(restored) == found


def test_a_restore_that_is_refused_leaves_keys_to_go_on_after_the_site_s_own(
    backed_up: Path, restored: Site, tmp_path: Path
) -> None:
    """PostgreSQL takes no sequence back with a transaction: the next user would get the key of one
    who is there."""
    new_users = """
from django.contrib.auth import get_user_model
print(*(get_user_model().objects.create(username=name).pk for name in {names}))
"""
    broken = rewritten(backed_up, tmp_path / "broken", without_the_last_turn)
    given = restored.python(new_users.format(names=["ada", "bob"])).split()
    assert restored.manage("restore", broken, "--replace", check=False).returncode == 1
    assert int(restored.python(new_users.format(names=["eve"]))) > int(given[-1])


def without_the_last_turn(table: str, rows: list[list[Any]]) -> list[list[Any]]:
    """Its responses name a turn that is not there."""
    return rows if table != "annotations_turn" else rows[:-1]


def test_a_backup_of_an_older_dialeval_is_loaded_as_it_was_then_and_migrated_on(
    backed_up: Path, before: dict[str, Any], restored: Site, tmp_path: Path
) -> None:
    """As before 0004 gave the audit log its triggers: whatever came with that migration or after it
    is not in the backup: tables of trainings and judges, a challenge's budget, a campaign's
    allocation. It replaces today's, rows of later tables among them."""
    now = documents(backed_up)["manifest.json"]["tables"]
    then = json.loads(restored.python(THEN))
    tables = then["tables"]
    assert not {"trainings_training", "judges_purse", "judges_budget", "campaigns_look"} & set(
        tables
    )
    grown = {table for table in tables if set(now[table]["columns"]) != set(tables[table])}
    assert {"challenges_challenge", "campaigns_campaign"} <= grown

    def as_then(table: str, rows: list[list[Any]]) -> list[list[Any]]:
        kept = [name in tables[table] for name in now[table]["columns"]]
        return [list(compress(row, kept)) for row in rows]

    def without(manifest: dict[str, Any]) -> None:
        for app, name in then["later"]:
            manifest["migrations"][app].remove(name)
        manifest["migrations"] = {
            app: names for app, names in manifest["migrations"].items() if names
        }
        manifest["tables"] = {
            table: said for table, said in manifest["tables"].items() if table in tables
        }
        for table, said in manifest["tables"].items():
            said["columns"] = [name for name in said["columns"] if name in tables[table]]

    old = rewritten(backed_up, tmp_path / "old", as_then, without)
    restored.manage("restore", old, "--replace")
    after = content(restored)
    for name, found in before.items():
        if name in grown:
            # Its new columns have what the migration gives them
            assert after[name][0] == found[0], name
        elif name == "annotations_demoaccount":
            # The migration marks those with the demo's passwords, and that of the baselines
            # where it cannot log in, as in an older demo: today's can.
            assert after[name][0] == found[0] - 1
        elif name in now and name not in tables:
            assert after[name][0] == 0, name
        else:
            assert after[name] == found, name
    assert "append-only" in restored.python(
        "from annotations.models import AuditEntry as A\n"
        "try: A.objects.all().delete()\n"
        "except Exception as refusal: print(refusal)"
    )
    assert "No migrations to apply" in restored.manage("migrate").stdout


def test_a_backup_of_a_newer_dialeval_is_refused(
    backed_up: Path, empty: Site, tmp_path: Path
) -> None:
    def newer(manifest: dict[str, Any]) -> None:
        manifest["migrations"]["annotations"].append("0999_from_the_future")

    future = rewritten(backed_up, tmp_path / "future", change=newer)
    refused = empty.manage("restore", future, check=False)
    assert refused.returncode == 1
    assert (
        "newer dialeval, or of another one: it has the migration "
        "annotations.0999_from_the_future" in refused.stderr
    )


def test_a_backup_that_lacks_a_migration_on_which_others_are_built_is_refused_and_says_which(
    backed_up: Path, empty: Site, tmp_path: Path
) -> None:
    """Back to before judges.0001 there is no challenges.0002 either, and the backup has rows of
    it."""

    def without(manifest: dict[str, Any]) -> None:
        del manifest["migrations"]["judges"]
        manifest["tables"] = {
            table: said for table, said in manifest["tables"].items() if "judges_" not in table
        }

    odd = rewritten(backed_up, tmp_path / "odd", change=without)
    refused = empty.manage("restore", odd, check=False)
    assert refused.returncode == 1
    assert (
        "it lacks judges.0001_judges, on which challenges.0002_judge_purse, "
        "dialeval_site.0002_mark_demo_accounts is built; judges.0004_budgets, on which "
        "challenges.0006_judge_budget is built. Restore it with the dialeval that "
        f"made it ({VERSION}), run `migrate` of this one there, and make a new backup"
        in refused.stderr
    )


def test_a_disk_that_is_full_leaves_no_backup_and_keeps_the_one_before(
    filled: Site, tmp_path: Path
) -> None:
    """No file may be larger than 40,000 bytes: the backup is, SQLite's shared memory (32,768) is
    not."""
    path = tmp_path / "site.backup"
    path.write_bytes(b"the one before")
    ended = subprocess.run(
        [sys.executable, "manage.py", "backup", "--to", str(path)],
        cwd=PROJECT,
        env=filled.environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
    )
    assert ended.returncode == 1
    assert "File too large; nothing was written" in ended.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["site.backup"]
    assert path.read_bytes() == b"the one before"


def test_models_come_along_where_they_are_asked_for(filled: Site, tmp_path: Path) -> None:
    model = filled.home / "trained" / "daily"
    model.mkdir(parents=True)
    config = '{"recipe": "density", "sha256": "0123456789ab"}'
    (model / "config.json").write_text(config)
    (model / "weights.safetensors").write_bytes(b"w" * 100_000)
    checkpoint = filled.home / "training" / "daily-1" / "step-00000005"
    checkpoint.mkdir(parents=True)
    (checkpoint / "config.json").write_text("{}")
    (filled.home / "trained" / ".deleted-other").mkdir()
    (filled.home / "trained" / ".deleted-other" / "config.json").write_text("{}")
    filled.manage("backup", "--to", tmp_path / "with", "--with-models")
    filled.manage("backup", "--to", tmp_path / "without")
    with other_site(tmp_path / "site", on_services=ON_SERVICES) as site:
        site.manage("restore", tmp_path / "without")
        assert not (site.home / "trained").exists()
        site.manage("restore", tmp_path / "with", "--replace")
        found = {
            path.relative_to(site.home).as_posix(): path.stat().st_size
            for kind in ("trained", "training")
            for path in (site.home / kind).rglob("*")
            if path.is_file()
        }
        assert found == {
            "trained/daily/config.json": len(config),
            "trained/daily/weights.safetensors": 100_000,
            "training/daily-1/step-00000005/config.json": 2,
        }
        assert not list(site.home.glob(".dialeval-*"))


# --- archives as tests read and change them, by tarfile alone -------------------------------------


def raw(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def documents(path: Path) -> dict[str, dict[str, Any]]:
    return {
        name: json.loads(data)
        for name, data in raw(path).items()
        if name.endswith(".json") and "/" not in name
    }


def rewritten(
    path: Path,
    to: Path,
    rows_of: Callable[[str, list[list[Any]]], list[list[Any]]] = lambda _, rows: rows,
    change: Callable[[dict[str, Any]], None] = lambda _: None,
) -> Path:
    """The backup with other rows and another manifest; whole all the same."""
    members = raw(path)
    manifest = json.loads(members.pop("manifest.json"))
    change(manifest)
    counts = dict.fromkeys(manifest["tables"], 0)
    for name in list(members):
        if not name.startswith("tables/"):
            continue
        table = name.split("/")[1]
        if table not in counts:
            del members[name]
            continue
        rows = rows_of(
            table, [row for line in members[name].splitlines() for row in json.loads(line)]
        )
        counts[table] += len(rows)
        members[name] = json.dumps(rows).encode()
    for table, count in counts.items():
        manifest["tables"][table]["rows"] = count
    manifest["digests"] = {name: sha256(data).hexdigest() for name, data in members.items()}
    members["manifest.json"] = json.dumps(manifest).encode()
    with gzip.open(to, "wb") as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return to
