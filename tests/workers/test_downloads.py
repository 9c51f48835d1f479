"""A file at an address that is too large for a request: a worker downloads it, and then it is shown
as one that was sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from annotations.corpora import forms, imports
from annotations.models import Corpus, CorpusImport, CorpusVersion
from common import storage
from common.roles import ORGANISER
from tests.campaigns.sets import made_user
from tests.hub_double import SHA, Hub, Repository, hub_double
from tests.stored_uploads import files_below
from tests.workers.test_imports import file_of
from workers import imports as work
from workers.imports import store

pytestmark = pytest.mark.django_db

PAGE = "/corpora/new/"
ADDRESS = "hf://datasets/lab/cooks"


@pytest.fixture(autouse=True)
def _every_address_is_large(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(forms, "BROWSER_BYTES", 10)
    monkeypatch.setattr(work, "PROGRESS_SECONDS", 0)
    files_below(settings, tmp_path / "files")


@pytest.fixture
def hub(settings: Any) -> Iterator[Hub]:
    with hub_double(cooks=Repository({"data/cooks.jsonl": file_of()})) as made:
        settings.IMPORT_PRIVATE, settings.HF_ENDPOINT, settings.HF_TOKEN = True, made.url, ""
        yield made


@pytest.fixture
def organiser(hub: Hub) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(made_user("mara", "organiser"))
    return client


def ask(client: Client, **fields: str) -> CorpusImport:
    answer = client.post(PAGE, {"address": ADDRESS, "seen_by": "organisers", **fields})
    job = CorpusImport.objects.latest("pk")
    assert answer["Location"] == page_of(job)
    return job


def page_of(job: CorpusImport) -> str:
    return f"{PAGE}{job.pk}/"


def said(answer: Any) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def files() -> list[str]:
    return storage.names_in("imports")


def test_a_worker_downloads_it_and_it_is_shown_before_it_is_stored(organiser: Client) -> None:
    job = ask(organiser, name="Two cooks", seen_by="everybody")
    assert "A worker downloads the file." in said(organiser.get(page_of(job)))
    assert store(job.pk)
    shown = organiser.get(page_of(job), follow=True)
    assert "What becomes of the file" in said(shown)
    assert not Corpus.objects.exists()
    text = shown.content.decode()
    (token,) = re.findall(r'name="uploaded" value="([^"]+)"', text)
    form = {"uploaded": unescape(token), "format": "jsonl", "slug": "", "seen_by": "everybody"}
    answer = organiser.post(PAGE, {**form, "name": "Two cooks"})
    assert answer["Location"] == "/corpora/two-cooks/"
    version = CorpusVersion.objects.get()
    assert version.source == f"hf://datasets/lab/cooks@{SHA}/data/cooks.jsonl"
    assert version.corpus is not None
    assert version.corpus.is_public


def test_a_page_with_its_own_script_is_told_where_it_is_followed(organiser: Client) -> None:
    form = {"address": ADDRESS, "seen_by": "organisers"}
    answer = organiser.post(PAGE, form, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["location"]) == (
        201,
        page_of(CorpusImport.objects.get()),
    )


def test_how_far_it_is_stands_on_its_page(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, seen = ask(organiser), []
    note = work._Watch._note

    def noted(self: Any, progress: dict[str, Any]) -> None:
        note(self, progress)
        seen.append(progress)

    monkeypatch.setattr(work._Watch, "_note", noted)
    assert store(job.pk)
    size = len(file_of())
    assert seen[-1] == {"step": "downloaded", "bytes": size, "total": size}
    progress = {"step": "downloaded", "bytes": 3_000_000, "total": 12_000_000}
    CorpusImport.objects.update(state="pending", progress=progress)
    assert CorpusImport.objects.claim(job.pk)
    assert "3 of 12" in said(organiser.get(page_of(job)))


def test_of_two_presses_of_the_button_one_downloads(organiser: Client) -> None:
    assert ask(organiser) == ask(organiser)
    assert CorpusImport.objects.count() == 1


def test_what_cannot_be_downloaded_is_told_with_the_address_to_correct(
    organiser: Client, hub: Hub
) -> None:
    job = ask(organiser)
    hub.repositories.clear()
    store(job.pk)
    page = organiser.get(page_of(job))
    assert f"Nothing was stored: {ADDRESS} is not there" in said(page)
    assert f'value="{ADDRESS}"' in page.content.decode()
    assert files() == []


def test_a_download_above_the_limit_of_the_site_leaves_nothing(
    organiser: Client, settings: Any
) -> None:
    job = ask(organiser)
    settings.MAX_CORPUS_UPLOAD_BYTES = 20
    store(job.pk)
    assert "is larger than" in CorpusImport.objects.get().error
    assert files() == []


def test_a_download_that_is_cancelled_leaves_nothing(
    organiser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ask(organiser)
    moved = work._Watch.moved

    def cancelled(self: Any, there: int, size: int | None) -> None:
        organiser.post(f"{page_of(job)}cancel/")
        moved(self, there, size)

    monkeypatch.setattr(work._Watch, "moved", cancelled)
    store(job.pk)
    assert CorpusImport.objects.get().state == "cancelled"
    assert files() == []
    assert "cancelled by mara" in said(organiser.get(page_of(job)))


def test_nothing_is_downloaded_for_who_is_no_organiser_any_more(
    organiser: Client, hub: Hub
) -> None:
    job = ask(organiser)
    asked = len(hub.got)
    Group.objects.get(name=ORGANISER).user_set.clear()
    store(job.pk)
    assert (CorpusImport.objects.get().error, len(hub.got)) == (work.NOT_ALLOWED, asked)


def test_a_download_that_has_ended_may_be_asked_for_again(organiser: Client) -> None:
    first = ask(organiser)
    assert store(first.pk)
    assert ask(organiser) != first
    assert imports.start_download(ADDRESS, {}, first.created_by).state == "pending"
