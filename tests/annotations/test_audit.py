"""The audit log: entries are added with the deed and never changed; organisers read and export
them."""

from __future__ import annotations

import csv
import importlib
import io
import json

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, connection, transaction
from django.test import Client

from annotations import audit
from annotations.audit import queries
from annotations.audit.queries import Params
from annotations.audit.text import detail_items
from annotations.corpora import actions
from annotations.models import AuditEntry
from tests.annotations.stored import stored, two_systems
from tests.campaigns.sets import made_user
from workers.models import MetricRun

migration = importlib.import_module("annotations.migrations.0004_audit_is_append_only")
pytestmark = pytest.mark.django_db


@pytest.fixture
def entry() -> AuditEntry:
    user = get_user_model().objects.create_user("ann")
    audit.record(user, "round.changed", "round 1", challenge="cpdc", limit=5)
    return AuditEntry.objects.get()


def test_an_entry_says_who_did_what_to_what(entry):
    assert (entry.actor, entry.action, entry.subject, entry.challenge) == (
        "ann",
        "round.changed",
        "round 1",
        "cpdc",
    )
    assert entry.details == {"limit": 5}


def test_the_name_outlives_the_user(entry):
    get_user_model().objects.all().delete()
    assert AuditEntry.objects.get().actor == "ann"


def test_an_entry_of_a_worker_names_nobody():
    audit.record(None, "submission.swept", "s1")
    assert (AuditEntry.objects.get().actor_id, AuditEntry.objects.get().actor) == (None, "")


def test_a_deed_that_is_rolled_back_leaves_no_entry():
    with pytest.raises(ZeroDivisionError):
        _recorded_and_undone()
    assert not AuditEntry.objects.exists()


def _recorded_and_undone():
    with transaction.atomic():
        audit.record(None, "round.changed", "round 1")
        raise ZeroDivisionError


def test_the_database_refuses_a_change(entry):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.filter(pk=entry.pk).update(actor="bob")
    entry.subject = "round 2"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.save()
    entry.refresh_from_db()
    assert (entry.actor, entry.subject) == ("ann", "round 1")


def test_the_database_refuses_to_delete(entry):
    if connection.vendor == "sqlite":  # tests/conftest.py dropped it, so that tables can be emptied
        put_back("audit_entry_is_kept")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEntry.objects.all().delete()
    assert AuditEntry.objects.count() == 1


def test_sqlite_refuses_to_replace(entry):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no INSERT OR REPLACE")
    columns = "id, at, actor, action, subject, challenge, campaign, details"
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            f"INSERT OR REPLACE INTO annotations_auditentry ({columns}) "
            "VALUES (%s, '2026-01-01', 'bob', 'round.changed', 'round 1', '', '', '{}')",
            [entry.pk],
        )


def put_back(trigger: str) -> None:
    statement = next(one for one in migration.SQLITE if trigger in one)
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("%s", migration.REFUSAL))


# --- the page -------------------------------------------------------------------------------------


def client_of(*roles: str, name: str = "olga") -> Client:
    client = Client()
    client.force_login(made_user(name, *roles))
    return client


def logged(number: int = 1, action: str = "round.changed", **fields: object) -> None:
    for _ in range(number):
        audit.record(None, action, "round 1", **fields)


def test_the_page_is_for_organisers():
    assert Client().get("/audit/")["Location"].startswith("/accounts/login/")
    assert client_of("participant", name="pat").get("/audit/").status_code == 403
    assert client_of("rater", name="rita").get("/audit/?download=csv").status_code == 403
    assert client_of("organiser").get("/audit/").status_code == 200
    assert client_of("organiser", name="otto").post("/audit/").status_code == 405


def test_an_empty_log_says_what_will_stand_there():
    assert b"No entries yet" in client_of("organiser").get("/audit/").content


def test_the_newest_stands_first_with_its_time_zone(entry):
    audit.record(None, "submission.scored", "s1")
    page = client_of("organiser").get("/audit/").content.decode()
    assert page.index("submission.scored</code>") < page.index("round.changed</code>")
    assert f"{entry.at:%Y-%m-%d %H:%M:%S} UTC" in page
    assert "a worker or a command" in page


def test_pages_go_on_where_the_last_one_ended_however_much_is_added_meanwhile():
    logged(queries.A_PAGE + 10)
    first = queries.stretch(Params())
    logged(5)
    second = queries.stretch(Params(), before=first.older)
    assert [one.pk for one in second.entries] == list(
        range(first.entries[-1].pk - 1, first.entries[-1].pk - 11, -1)
    )
    assert second.older is None
    back = queries.stretch(Params(), after=second.newer)
    assert [one.pk for one in back.entries] == [one.pk for one in first.entries]
    assert back.newer is not None


def test_the_log_can_be_asked_for_a_kind_a_challenge_and_a_word():
    logged(action="round.changed", challenge="cpdc")
    logged(action="rounds.merged", challenge="other")
    logged(action="campaign.opened", campaign="first")

    def found(**params: str) -> list[str]:
        return [one.action for one in queries.entries(Params(**params))]

    assert found(action="round") == ["round.changed"]  # and not rounds.merged
    assert found(challenge="other") == ["rounds.merged"]
    assert found(campaign="first") == ["campaign.opened"]
    assert len(found(words="ROUND 1")) == 3
    assert found(action="campaign.opened", challenge="cpdc") == []


@pytest.mark.parametrize(
    "query",
    [
        "before=x",
        "before=" + "9" * 40,
        "after=-1",
        "words=%00",
        "action='; DROP TABLE",
        "actor=%F0%9F%98%80",
    ],
)
def test_a_strange_question_is_no_error(entry, query):
    assert client_of("organiser").get(f"/audit/?{query}").status_code == 200


def test_what_people_wrote_is_shown_as_text():
    audit.record(
        None,
        "team.disqualified",
        "<script>alert(1)</script>",
        reason="<img src=x onerror=alert(2)>",
    )
    page = client_of("organiser").get("/audit/").content.decode()
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_changes_are_said_field_by_field():
    lines = detail_items(
        {"changes": {"daily_limit": [5, 3], "name": ["", "Round 1"]}, "round": "r1", "done": True}
    )
    assert lines == [
        ("daily limit", "5 → 3"),
        ("name", "– → Round 1"),
        ("round", "r1"),
        ("done", "yes"),
    ]


def test_a_point_in_time_is_written_as_on_pages():
    assert detail_items({"opens_at": "2026-11-21T09:30:00+00:00"}) == [
        ("opens at", "2026-11-21 09:30 UTC")
    ]


# --- the files ------------------------------------------------------------------------------------


def test_the_csv_holds_all_and_no_cell_is_a_formula(entry):
    audit.record(None, "submission.received", "=cmd()", challenge="cpdc", name="@sum")
    file = client_of("organiser").get("/audit/?download=csv").getvalue().decode()
    rows = list(csv.DictReader(io.StringIO(file)))
    assert [row["subject"] for row in rows] == ["'=cmd()", "round 1"]
    assert json.loads(rows[0]["details"]) == {"name": "@sum"}
    assert rows[1]["at"].endswith("+00:00")


def test_the_json_is_one_list_of_what_was_asked_for(entry):
    audit.record(None, "campaign.opened", "first", campaign="first")
    client = client_of("organiser")
    assert [
        one["action"]
        for one in json.loads(client.get("/audit/?download=json&campaign=first").getvalue())
    ] == ["campaign.opened"]
    assert json.loads(client.get("/audit/?download=json&campaign=none").getvalue()) == []
    assert client.get("/audit/?download=exe").status_code == 404


def test_a_long_log_is_read_in_portions(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(queries, "AT_A_TIME", 4)
    logged(10)
    with django_assert_num_queries(3):  # 4 + 4 + 2
        keys = [one.pk for one in queries.every_entry(Params())]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == 10


# --- what is noted of corpora ---------------------------------------------------------------------


def test_a_corpus_that_comes_and_goes_is_noted(tmp_path):
    version = stored(two_systems(), tmp_path)
    actions.delete_corpus(version.corpus, by=made_user("olga"))
    newest, first = AuditEntry.objects.all()
    assert (first.action, first.subject, first.details["version"]) == (
        "corpus.imported",
        "small",
        version.label,
    )
    assert (newest.action, newest.subject, newest.actor) == ("corpus.deleted", "small", "olga")


def test_a_refused_deletion_leaves_no_entry(tmp_path):
    version = stored(two_systems(), tmp_path)
    MetricRun.objects.create(
        system=version.systems.first(),
        metric="word_f1",
        metric_version="1",
        configuration="word_f1",
    )
    with pytest.raises(actions.CorpusHasResults):
        actions.delete_corpus(version.corpus)
    assert not AuditEntry.objects.filter(action="corpus.deleted").exists()


def test_a_corpus_made_private_in_the_admin_is_noted(tmp_path):
    version = stored(two_systems(), tmp_path)
    user = made_user("root", "organiser")
    user.is_staff = True
    user.save()
    client = Client()
    client.force_login(user)
    client.post(
        f"/admin/annotations/corpus/{version.corpus_id}/change/", {"name": version.corpus.name}
    )
    entry = AuditEntry.objects.get(action="corpus.changed")
    assert (entry.actor, entry.details) == ("root", {"changes": {"is_public": [True, False]}})
