"""A file that is too large for a request: sent on the page, stored by a worker, cancelled,
interrupted, refused; and nothing is stored twice, half or for nobody."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.corpora import imports
from annotations.formats.importers import base
from annotations.models import AuditEntry, Corpus, CorpusImport, CorpusVersion, Response
from common import storage
from common.jobs import tasks
from common.roles import ORGANISER
from tests.campaigns.sets import made_user
from workers import imports as work
from workers.imports import store

pytestmark = pytest.mark.django_db

PAGE = "/corpora/new/"
NOBODYS = {"type": "response", "dialogue_id": "stew", "turn": 0, "system": "cook", "text": "Rye."}


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "IMMEDIATE_BYTES", 0)
    monkeypatch.setattr(base, "WATCHED", 2)
    monkeypatch.setattr(work, "PROGRESS_SECONDS", 0)


@pytest.fixture
def organiser() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(made_user("mara", "organiser"))
    return client


def file_of(dialogues: int = 3, *more: dict[str, Any]) -> bytes:
    records: list[dict[str, Any]] = [
        {"type": "corpus", "name": "Two cooks"},
        {"type": "system", "name": "cook", "kind": "human"},
    ]
    for number in range(dialogues):
        name = f"d{number}"
        turn = {"number": 0, "context": [{"speaker": "A", "text": "Soup?"}], "references": ["No."]}
        said = {"persona": ["i cook."], "partner_persona": [], "turns": [turn]}
        records.append({"type": "dialogue", "id": name, **said})
        where = {"dialogue_id": name, "turn": 0, "system": "cook"}
        records.append({"type": "response", **where, "text": "Leeks."})
    return "".join(json.dumps(record) + "\n" for record in (*records, *more)).encode()


def send(client: Client, content: bytes, **fields: str) -> Any:
    file = SimpleUploadedFile("cooks.jsonl", content)
    form = {"format": "jsonl", "slug": "", "name": "", "seen_by": "organisers", **fields}
    return client.post(PAGE, {"file": file, **form})


def sent(client: Client, content: bytes, **fields: str) -> CorpusImport:
    answer = send(client, content, **fields)
    job = CorpusImport.objects.latest("pk")
    assert answer["Location"] == address(job)
    return job


def address(job: CorpusImport) -> str:
    return f"{PAGE}{job.pk}/"


def said(answer: Any) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def form_of(answer: Any) -> dict[str, str]:
    """What the browser would send of the form that is shown again."""
    text = answer.content.decode()
    (token,) = re.findall(r'name="uploaded" value="([^"]+)"', text)
    return {"uploaded": token, "format": "jsonl", "slug": "cooks", "seen_by": "organisers"}


def at_step(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], object]) -> None:
    """Do something when the worker first says that it is at this step."""
    passed, done = work._Watch.passed, []

    def watched(self: Any, now: str, count: int) -> None:
        if now == step and count >= 4 and not done:
            done.append(act())
        passed(self, now, count)

    monkeypatch.setattr(work._Watch, "passed", watched)


# --- stored ---------------------------------------------------------------------------------------


def test_a_worker_stores_it_and_its_page_leads_to_the_corpus(organiser: Client) -> None:
    job = sent(organiser, file_of())
    assert "It waits for a worker." in said(organiser.get(address(job)))
    assert not Corpus.objects.exists()
    assert store(job.pk)
    assert organiser.get(address(job))["Location"] == "/corpora/cooks/"
    assert "Dialogues: 3, turns: 3, systems: 1, responses: 3" in said(
        organiser.get("/corpora/cooks/")
    )
    assert not storage.is_there(job.stored)


def test_what_the_form_says_is_done_by_the_worker(organiser: Client) -> None:
    job = sent(organiser, file_of(), name="Of the North", language="fr", seen_by="everybody")
    assert store(job.pk)
    corpus = Corpus.objects.get()
    assert (corpus.slug, corpus.name, corpus.is_public) == ("of-the-north", "Of the North", True)
    assert corpus.versions.get().language == "fr"


def test_the_mapping_of_a_table_goes_along(organiser: Client) -> None:
    table = b"q,a,who\nSoup?,Leeks.,cook\nBread?,Rye.,cook\n"
    columns = {"q": "prompt", "a": "response", "who": "system"}
    file = SimpleUploadedFile("t.csv", table)
    shown = organiser.post(
        PAGE, {"file": file, "format": "table", "seen_by": "organisers", "preview": "1"}
    )
    fields = form_of(shown) | {"format": "table"}
    for place, (name, use) in enumerate(columns.items()):
        fields |= {f"column-{place}": name, f"use-{place}": use}
    organiser.post(PAGE, fields)
    assert store(CorpusImport.objects.get().pk)
    assert sorted(Response.objects.values_list("text", "system__name")) == [
        ("Leeks.", "cook"),
        ("Rye.", "cook"),
    ]


def test_its_first_rows_are_shown_before_and_the_rest_is_not_read(organiser: Client) -> None:
    content = file_of(5, NOBODYS)  # with a fault at its end
    answer = organiser.post(
        PAGE, {"file": SimpleUploadedFile("cooks.jsonl", content), "seen_by": "organisers"}
    )
    assert answer.status_code == 200
    assert "only its beginning was read" in said(answer)
    assert "d0 0 Soup? cook Leeks." in said(answer)
    assert "Conversations:" not in said(answer)


def test_a_fault_in_the_beginning_is_told_at_once(organiser: Client) -> None:
    answer = send(organiser, b'{"type": "corpus"}\n{"type": "cook"}\n', preview="1")
    assert answer.status_code == 422
    assert "cooks.jsonl:2: type: 'cook' is none of" in said(answer)


def test_a_small_file_is_stored_at_once(organiser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    content = file_of()
    monkeypatch.setattr(imports, "IMMEDIATE_BYTES", len(content))
    assert send(organiser, content)["Location"] == "/corpora/cooks/"
    assert not CorpusImport.objects.exists()


# --- progress -------------------------------------------------------------------------------------


def test_the_page_follows_it_by_itself_and_without_scripts(organiser: Client) -> None:
    job = sent(organiser, file_of())
    CorpusImport.objects.filter(pk=job.pk).update(
        size=300_000_000, progress={"step": "checked", "records": 20_000, "bytes": 12_345_678}
    )
    assert CorpusImport.objects.claim(job.pk)
    page = organiser.get(address(job))
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page.content.decode()
    part = organiser.get(address(job), headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert f'hx-get="{address(job)}" hx-trigger="every 2s"' in part.content.decode()
    assert "Checked, in MB 12 of 300 12 of 300 20,000 records" in said(part)


def test_a_packed_file_has_records_alone(organiser: Client) -> None:
    job = sent(organiser, file_of())
    progress = {"step": "stored", "records": 20_000, "bytes": None}
    CorpusImport.objects.filter(pk=job.pk).update(progress=progress)
    assert CorpusImport.objects.claim(job.pk)
    assert "Stored: 20,000 records" in said(organiser.get(address(job)))


def test_when_it_has_ended_the_page_is_loaded_again(organiser: Client) -> None:
    job = sent(organiser, file_of())
    store(job.pk)
    assert organiser.get(address(job), headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_the_worker_writes_how_far_it_is(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []
    job = sent(organiser, file_of(20))
    at_step(
        monkeypatch, "stored", lambda: seen.append(CorpusImport.objects.get(pk=job.pk).progress)
    )
    assert store(job.pk)
    (last,) = seen
    assert (last["step"], last["records"]) == ("stored", 2)
    assert not os.path.isdir("/proc/self/fdinfo") or 0 < last["bytes"] <= len(file_of(20))


def test_an_import_under_way_is_found_where_corpora_are_added(organiser: Client) -> None:
    job = sent(organiser, file_of())
    assert f'href="{address(job)}"' in organiser.get(PAGE).content.decode()
    store(job.pk)
    assert f'href="{address(job)}"' not in organiser.get(PAGE).content.decode()


# --- twice ----------------------------------------------------------------------------------------


def test_two_presses_of_the_button_make_one_import(organiser: Client) -> None:
    file = SimpleUploadedFile("cooks.jsonl", file_of())
    form = form_of(organiser.post(PAGE, {"file": file, "seen_by": "organisers"}))
    first, second = (organiser.post(PAGE, form)["Location"] for _ in range(2))
    assert first == second
    assert CorpusImport.objects.count() == 1


def test_the_same_file_sent_twice_is_stored_once(organiser: Client) -> None:
    first, second = sent(organiser, file_of()), sent(organiser, file_of())
    assert store(second.pk)
    assert store(first.pk)
    assert CorpusVersion.objects.count() == 1
    organiser.get(address(first))
    assert "nothing is changed" in said(organiser.get("/corpora/cooks/"))


def test_a_done_import_is_not_done_again(organiser: Client) -> None:
    job = sent(organiser, file_of())
    assert store(job.pk)
    assert not store(job.pk)


# --- cancelled ------------------------------------------------------------------------------------


def test_one_that_waits_is_cancelled_and_can_be_saved_again(organiser: Client) -> None:
    job = sent(organiser, file_of(), name="Kept")
    assert organiser.post(f"{address(job)}cancel/")["Location"] == address(job)
    assert not store(job.pk)
    page = organiser.get(address(job))
    assert "Nothing was stored: cancelled by mara" in said(page)
    entry = AuditEntry.objects.get(action="corpus.import_cancelled")
    assert (entry.actor, entry.subject) == ("mara", "kept")
    assert entry.details == {"file": "cooks.jsonl"}
    assert 'value="Kept"' in page.content.decode()
    again = organiser.post(PAGE, form_of(page))["Location"]
    assert store(int(again.split("/")[-2]))
    assert Corpus.objects.get().slug == "cooks"


def test_one_under_way_leaves_nothing(organiser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    job = sent(organiser, file_of(20))
    at_step(monkeypatch, "stored", lambda: organiser.post(f"{address(job)}cancel/"))
    assert not store(job.pk)
    assert CorpusImport.objects.get().state == "cancelled"
    assert not Corpus.objects.exists()
    assert not CorpusVersion.staged.exists()


def test_one_cancelled_in_its_last_moment_stores_nothing(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = sent(organiser, file_of())
    told = imports.stored_corpora

    def cancelled_first(outcomes: Any) -> Any:
        imports.cancel(job, job.created_by)
        return told(outcomes)

    monkeypatch.setattr(imports, "stored_corpora", cancelled_first)
    assert not store(job.pk)
    assert not Corpus.objects.exists()
    assert not CorpusVersion.staged.exists()


def test_an_ended_one_cannot_be_cancelled(organiser: Client) -> None:
    job = sent(organiser, file_of())
    store(job.pk)
    organiser.post(f"{address(job)}cancel/")
    assert CorpusImport.objects.get().state == "done"
    assert not AuditEntry.objects.filter(action="corpus.import_cancelled").exists()


# --- interrupted ----------------------------------------------------------------------------------


def test_at_the_end_of_a_task_s_time_the_next_task_goes_on(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotations.corpora import staging

    monkeypatch.setattr(staging, "FEWEST_ROWS", 4)
    monkeypatch.setattr(
        staging.ShortTransactions, "__init__", lambda self: _few_rows(self), raising=True
    )
    job = sent(organiser, file_of(20))
    with monkeypatch.context() as patch:
        at_step(patch, "stored", lambda: patch.setattr(tasks, "used", lambda: 0.9))
        assert not store(job.pk)
    waiting = CorpusImport.objects.get()
    assert (waiting.state, waiting.attempts) == ("pending", 0)
    (half,) = CorpusVersion.staged.all()
    assert store(job.pk)
    assert CorpusVersion.objects.get().pk == half.pk
    assert Response.objects.count() == 20


def _few_rows(transactions: Any) -> None:
    transactions.rows, transactions._free_since, transactions._held = 4, 0.0, 0.0


def test_one_that_comes_no_further_in_a_task_fails_after_some_attempts(
    organiser: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.MAX_ATTEMPTS = 2
    monkeypatch.setattr(tasks, "used", lambda: 0.9)
    job = sent(organiser, file_of())
    assert not store(job.pk)
    assert not store(job.pk)
    assert "DIALEVAL_TASK_SECONDS" in CorpusImport.objects.get().error


# --- refused --------------------------------------------------------------------------------------


def test_problems_end_in_the_form_with_the_choice_of_the_good_records(organiser: Client) -> None:
    job = sent(organiser, file_of(3, NOBODYS))
    assert not store(job.pk)
    page = organiser.get(address(job))
    assert "Nothing was stored. The file has a problem: cooks.jsonl:9" in said(page)
    form = form_of(page)
    bad = organiser.post(PAGE, {**form, "left-out": "1"})
    assert '""dialogue_id"": ""stew""' in bad.content.decode()
    again = organiser.post(PAGE, {**form, "good_only": "on"})["Location"]
    assert store(int(again.split("/")[-2]))
    assert organiser.get(again)["Location"] == "/corpora/cooks/"
    assert "1 record of the file is not in it" in said(organiser.get("/corpora/cooks/"))


def test_a_corpus_that_is_there_is_told_at_the_address(organiser: Client) -> None:
    store(sent(organiser, file_of()).pk)
    job = sent(organiser, file_of(4))
    assert not store(job.pk)
    assert "cooks is here already. Choose another address" in said(organiser.get(address(job)))


def test_who_may_not_add_corpora_any_more_adds_none(organiser: Client) -> None:
    job = sent(organiser, file_of())
    Group.objects.get(name=ORGANISER).user_set.clear()
    assert not store(job.pk)
    assert CorpusImport.objects.get().error == work.NOT_ALLOWED
    assert not Corpus.objects.exists()


def test_who_loses_the_role_meanwhile_adds_none(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = sent(organiser, file_of())
    at_step(monkeypatch, "stored", lambda: Group.objects.get(name=ORGANISER).user_set.clear())
    assert not store(job.pk)
    assert CorpusImport.objects.get().error == work.NOT_ALLOWED
    assert not Corpus.objects.exists()
    assert not CorpusVersion.staged.exists()


def test_the_account_of_who_sent_it_is_deleted(organiser: Client) -> None:
    job = sent(organiser, file_of())
    assert job.created_by is not None
    job.created_by.delete()
    assert not store(job.pk)
    assert CorpusImport.objects.get().error == work.NOT_ALLOWED


def test_a_full_disk_keeps_the_file(organiser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any, **_named: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    job = sent(organiser, file_of())
    with monkeypatch.context() as patch:
        patch.setattr(imports, "import_file", full)
        assert not store(job.pk)
    page = organiser.get(address(job))
    assert "the disk is full: make room, then save again" in said(page)
    assert store(int(organiser.post(PAGE, form_of(page))["Location"].split("/")[-2]))


def test_a_file_that_is_gone_is_chosen_again(organiser: Client) -> None:
    job = sent(organiser, file_of())
    storage.remove(job.stored)
    assert not store(job.pk)
    assert "The file is no longer here. Choose it again." in said(organiser.get(address(job)))


def test_another_organiser_may_go_on_with_the_file(organiser: Client) -> None:
    job = sent(organiser, file_of())
    imports.cancel(job, job.created_by)
    other = Client()
    other.force_login(made_user("noor", "organiser"))
    again = other.post(PAGE, form_of(other.get(address(job))))["Location"]
    assert store(int(again.split("/")[-2]))
    assert CorpusImport.objects.latest("pk").created_by.username == "noor"
