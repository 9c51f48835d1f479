"""Pages of trainings: what an organiser starts, sees and stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations import actions as corpora
from annotations.importers.registry import importers
from annotations.models import AuditEntry, Corpus
from leaderboard.figures.training_curve import training_curve
from leaderboard.training_pages import said_of
from tests.dialeval_site.addresses import client_of
from tests.dialeval_site.small_corpora import PUBLIC, make_people, write_corpus
from workers.trainings import runs
from workers.trainings.models import Training

POINTS = [{"step": 10, "loss": 2.5, "kl": 0.5}, {"step": 20, "loss": 1.25, "kl": 0.75}]


@pytest.fixture
def client(db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    corpora.import_corpus(importers()["jsonl"], write_corpus(tmp_path / "corpus.jsonl", "secret"), PUBLIC)
    monkeypatch.setattr(runs, "tell_workers", lambda task, rows: [pk for pk, _ in rows])
    make_people()
    return client_of("organiser")


def asked(**more: Any) -> dict[str, Any]:
    chosen = {"name": "daily", "recipe": "density", "corpus": PUBLIC, "overlap": "refuse", "contrastive": "none"}
    return {**chosen, "seed": "3", "epochs": "2", **more}


def row(**more: Any) -> Training:
    version = Corpus.objects.get(slug=PUBLIC).versions.get()
    columns = {"name": "daily", "work": "daily-1", "recipe": "density", "version": version}
    return Training.objects.create(**{**columns, "data": {"corpus": PUBLIC, "version": "v1"}, **more})


@pytest.mark.django_db
def test_the_form_starts_a_training(client: Client) -> None:
    answer = client.post(reverse("trainings"), asked())
    assert answer["Location"] == reverse("training", args=["daily"])
    training = Training.objects.get()
    assert (training.seed, training.state, training.created_by.username) == (
        3,
        "pending",
        answer.wsgi_request.user.username,
    )
    assert training.chosen == {"save_every": 200, "epochs": 2, "contrastive": "none"}
    assert AuditEntry.objects.get(action="training.started").actor == training.created_by.username


@pytest.mark.django_db
def test_a_setting_of_the_other_recipe_is_left_out(client: Client) -> None:
    client.post(reverse("trainings"), asked(recipe="cmn", negatives="5"))
    assert Training.objects.get().chosen == {"save_every": 200, "epochs": 2}


@pytest.mark.django_db
def test_a_name_that_is_taken_is_said_beside_its_field(client: Client) -> None:
    client.post(reverse("trainings"), asked())
    answer = client.post(reverse("trainings"), asked())
    assert answer.status_code == 422
    assert "choose another name" in answer.content.decode()
    assert Training.objects.count() == 1


@pytest.mark.django_db
def test_a_run_under_way_renews_itself_and_can_be_stopped(client: Client) -> None:
    progress = {"phase": "training", "step": 20, "steps": 80, "epoch": 0, "epochs": 2, "rate": 12.5, "left": 60.0}
    lease = {"lease_token": "t", "lease_expires_at": timezone.now()}
    row(state="running", progress=progress, curves=POINTS, **lease)
    page = client.get(reverse("training", args=["daily"])).content.decode()
    assert "step 20 of 80, epoch 1 of 2 · 12.5 pairs/s · about 60 s left" in page
    part = client.get(reverse("training", args=["daily"]), headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 3s"' in part
    assert "<html" not in part
    client.post(reverse("training-stop", args=["daily"]))
    stopped = client.get(reverse("training", args=["daily"])).content.decode()
    assert "hx-trigger" not in stopped
    assert "Go on at the last checkpoint" in stopped
    client.post(reverse("training-go-on", args=["daily"]))
    assert Training.objects.get().state == "pending"


@pytest.mark.django_db
def test_a_finished_run_names_its_metrics_its_figures_and_its_overlap(client: Client) -> None:
    found = {"corpora": [{"corpus": "judged", "version": "v1-abc", "said": "none of 9 stands there"}], "dialogues": []}
    best = {"step": 20, "figures": {"R@1": 0.625, "MRR": 0.75}}
    ended = {"state": "done", "finished_at": timezone.now(), "revision": "0123456789ab", "best": best}
    training = row(**ended, curves=POINTS, overlap=found, validations=[best, best])
    assert said_of(training) == "R@1 0.625 · MRR 0.750"
    page = client.get(reverse("training", args=["daily"])).content.decode()
    for said in ("density[trained=daily]", "0123456789ab", "none of 9 stands there", 'id="chart-losses"'):
        assert said in page
    csv = client.get(reverse("training", args=["daily"]), {"download": "losses-data.csv"}).content.decode()
    assert "1.25" in csv


def test_a_curve_has_a_line_for_each_part_and_says_how_it_went() -> None:
    figure = training_curve(POINTS, figure_id="losses", what="Losses", up="loss")
    assert [(line["name"], line["x"], line["y"]) for line in figure.data] == [
        ("loss", [10, 20], [2.5, 1.25]),
        ("kl", [10, 20], [0.5, 0.75]),
    ]
    assert figure.alternative == "Losses: loss from 2.500 to 1.250; kl from 0.500 to 0.750."
    assert json.dumps(figure.data)


def test_a_curve_of_one_point_is_none_yet() -> None:
    figure = training_curve(POINTS[:1], figure_id="losses", what="Losses", up="loss")
    assert figure.is_empty
    assert "too few steps" in figure.empty_reason
