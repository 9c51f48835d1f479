"""The page of metric scores as each kind of reader, and what it does with what is sent."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import CorpusVersion
from leaderboard.challenges import execution
from leaderboard.challenges.models import Submission
from leaderboard.models import SubmittedMetric
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_round, small_version
from tests.challenges.test_metric_scores import BOTH, processed, send, turn_scores

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> CorpusVersion:
    version = small_version(dialogues=2, turns=2, systems=BOTH)
    version.corpus.is_public = True
    version.corpus.save()
    return version


@pytest.fixture
def ann() -> Any:
    return made_user("ann")


def logged_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page_of(version: CorpusVersion) -> str:
    return f"/corpora/{version.corpus.slug}/metric-scores/"


def form(data: bytes, **fields: Any) -> dict[str, Any]:
    given = {"name": "mine", "level": "turn", "direction": "higher", "link": "", **fields}
    return {**given, "file": SimpleUploadedFile("scores.jsonl", data)}


def test_everybody_reads_what_to_hand_in_and_who_is_not_logged_in_is_led_there(version) -> None:
    page = Client().get(page_of(version))
    assert b"dialog_id, turn, system, score" in page.content
    assert b"<form id=" not in page.content
    sent = Client().post(page_of(version), form(turn_scores(version)))
    assert (sent.status_code, Submission.objects.count()) == (302, 0)
    assert sent["Location"].startswith("/accounts/login/")


def test_a_file_becomes_a_submission_and_then_a_line_of_the_leaderboard(version, ann) -> None:
    client = logged_in(ann)
    sent = client.post(
        page_of(version), form(turn_scores(version), direction="lower", link="https://example.org/")
    )
    submission = Submission.objects.get()
    assert sent["Location"] == f"/submissions/{submission.public_id}/"
    assert client.get(sent["Location"]).status_code == 200
    execution.process(submission.pk)
    metric = SubmittedMetric.objects.get()
    assert (metric.name, metric.higher_is_better, metric.link) == (
        "mine",
        False,
        "https://example.org/",
    )
    assert client.get(sent["Location"]).status_code == 200
    shown = client.get(page_of(version)).content.decode()
    assert "https://example.org/" in shown
    assert "2 / 2" in shown


def test_a_script_gets_json(version, ann) -> None:
    client = logged_in(ann)
    asked = {"HTTP_ACCEPT": "application/json"}
    first = client.post(page_of(version), form(turn_scores(version)), **asked)
    again = client.post(page_of(version), form(turn_scores(version)), **asked)
    wrong = client.post(page_of(version), form(b"x", name="word_f1"), **asked)
    assert (first.status_code, again.status_code, wrong.status_code) == (201, 200, 422)
    assert first.json()["location"] == again.json()["location"]
    assert [error["field"] for error in wrong.json()["errors"]] == ["name"]


def test_the_same_file_with_another_direction_is_refused_in_the_words_for_the_same_file(
    version, ann
) -> None:
    client = logged_in(ann)
    client.post(page_of(version), form(turn_scores(version)))
    again = client.post(page_of(version), form(turn_scores(version)), follow=True)
    turned = client.post(page_of(version), form(turn_scores(version), direction="lower"))
    assert (again.status_code, turned.status_code) == (200, 409)
    for page in (again, turned):
        assert (
            b"the same file before, as mine. Withdraw that metric, once it is there, to submit it again."
            in page.content
        )


def test_a_refusal_keeps_what_was_written_and_stores_nothing(version, ann) -> None:
    page = logged_in(ann).post(
        page_of(version), form(turn_scores(version), name="<script>alert(1)</script>")
    )
    assert page.status_code == 422
    assert b"&lt;script&gt;alert(1)&lt;/script&gt;" in page.content
    assert b"<script>alert(1)" not in page.content
    assert not Submission.objects.exists()


@pytest.mark.parametrize(
    "broken",
    [{"level": "word"}, {"direction": ""}, {"name": ""}, {"name": "a" * 200}, {"link": "x" * 400}],
)
def test_a_broken_form_is_refused(version, ann, broken) -> None:
    assert logged_in(ann).post(page_of(version), form(b"x", **broken)).status_code == 422
    assert not Submission.objects.exists()


def test_without_a_file_nothing_is_taken(version, ann) -> None:
    given = form(b"x")
    del given["file"]
    assert logged_in(ann).post(page_of(version), given).status_code == 422


def test_the_limit_of_the_day_is_said_before_and_after(version, ann, settings) -> None:
    settings.SCORE_FILES_PER_DAY = 1
    client = logged_in(ann)
    send(version, ann)
    assert (
        b"files of scores. The count resets at midnight UTC" in client.get(page_of(version)).content
    )
    assert client.post(page_of(version), form(b"other", name="other")).status_code == 409


# --- templates ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "rows"), [("turn", 2 * 4), ("dialogue", 2 * 2), ("system", 2)])
def test_a_template_has_a_row_for_each_score_and_comes_back_as_a_template(
    version, ann, level, rows
) -> None:
    address = f"{page_of(version)}template/?level={level}"
    text = Client().get(f"{address}&format=csv").getvalue().decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == rows
    objects = [
        json.loads(line) for line in Client().get(f"{address}&format=jsonl").getvalue().splitlines()
    ]
    assert [one["score"] for one in objects] == [None] * rows
    done = processed(send(version, ann, text.encode(), level=level))
    assert "not filled in" in done.problems[0]["message"]


def test_a_template_that_is_filled_in_is_accepted(version, ann) -> None:
    text = Client().get(f"{page_of(version)}template/?level=system&format=csv").getvalue().decode()
    filled = "".join(
        line + "0.5\r\n" if line.endswith(",") else line + "\r\n" for line in text.splitlines()
    )
    assert processed(send(version, ann, filled.encode(), level="system")).state == "scored"


def test_a_system_named_as_a_formula_is_guarded_in_the_template(ann) -> None:
    version = small_version(dialogues=1, turns=1, systems=("=cmd|'/c calc'!A1",))
    client = logged_in(made_user("olga", "organiser"))
    text = client.get(f"{page_of(version)}template/?level=system&format=csv").getvalue().decode()
    assert text.splitlines()[1].startswith("\"'=cmd")


def test_a_withheld_system_is_in_no_template(version) -> None:
    version.systems.filter(name="beta").update(withheld=True)
    assert b"beta" not in Client().get(f"{page_of(version)}template/").getvalue()


@pytest.mark.parametrize("params", ["level=word", "format=exe", "level=", "format=json"])
def test_a_template_of_something_else_is_not_there(version, params) -> None:
    assert Client().get(f"{page_of(version)}template/?{params}").status_code == 404


# --- who sees what --------------------------------------------------------------------------------


def test_a_hidden_corpus_exists_for_organisers_and_takes_no_scores(version, ann) -> None:
    open_round(version, references="hidden")
    for client in (Client(), logged_in(ann)):
        assert client.get(page_of(version)).status_code == 404
        assert client.get(f"{page_of(version)}template/").status_code == 404
        assert client.post(page_of(version), form(turn_scores(version))).status_code == 404
    organiser = logged_in(made_user("olga", "organiser"))
    assert b"<form id=" not in organiser.get(page_of(version)).content
    assert organiser.post(page_of(version), form(turn_scores(version))).status_code == 409
    assert not Submission.objects.exists()


def test_the_page_of_a_submission_is_its_senders(version, ann) -> None:
    received = send(version, ann)
    address = f"/submissions/{received.submission.public_id}/"
    assert logged_in(ann).get(address).status_code == 200
    assert logged_in(made_user("bob")).get(address).status_code == 404


# --- withdrawal -----------------------------------------------------------------------------------


def test_the_owner_withdraws_on_the_page(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    client = logged_in(ann)
    address = f"/metric-scores/{metric.pk}/withdraw/"
    client.post(address, {"reason": " "})
    metric.refresh_from_db()
    assert metric.withdrawn_at is None
    assert client.post(address, {"reason": "a bug"}).status_code == 302
    metric.refresh_from_db()
    assert metric.withdrawal == "a bug"
    assert b"metric-mine" not in client.get(page_of(version)).content


def test_nobody_else_withdraws(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    address = f"/metric-scores/{metric.pk}/withdraw/"
    assert (
        logged_in(made_user("bob")).post(address, {"reason": "mine is better"}).status_code == 403
    )
    assert Client().post(address, {"reason": "x"}).status_code == 302
    assert logged_in(ann).get(address).status_code == 405
    assert (
        logged_in(ann).post("/metric-scores/999999/withdraw/", {"reason": "x"}).status_code == 404
    )
    metric.refresh_from_db()
    assert metric.withdrawn_at is None


def test_a_metric_of_a_corpus_that_one_may_not_see_is_not_there(version, ann) -> None:
    metric = processed(send(version, ann)).metric
    version.corpus.is_public = False
    version.corpus.save()
    assert (
        logged_in(ann).post(f"/metric-scores/{metric.pk}/withdraw/", {"reason": "x"}).status_code
        == 404
    )


# --- organisers -----------------------------------------------------------------------------------


def test_an_organiser_sees_whose_files_wait_and_tries_one_again(version, ann) -> None:
    failed = processed(send(version, ann, b"no scores", name="broken"))
    organiser = logged_in(made_user("olga", "organiser"))
    shown = organiser.get(page_of(version)).content.decode()
    assert "broken</a>" in shown
    assert "ann</bdi>" in shown
    assert "broken</a>" not in logged_in(made_user("bob")).get(page_of(version)).content.decode()
    page = organiser.get(f"/submissions/{failed.public_id}/").content.decode()
    assert f"/submissions/{failed.public_id}/retry/" in page
    assert organiser.post(f"/submissions/{failed.public_id}/retry/").status_code == 302
    failed.refresh_from_db()
    assert failed.state == "received"
