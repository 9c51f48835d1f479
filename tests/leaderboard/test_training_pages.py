"""Pages of trainings: what an organiser starts, sees and stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.corpora import actions
from annotations.formats.importers.registry import importers
from annotations.models import AuditEntry, Corpus
from leaderboard.pages.training.curves import figures_of
from leaderboard.pages.training.figures import training_curve
from leaderboard.pages.training.view import text_of
from tests.dialeval_site.addresses import client_of
from tests.dialeval_site.small_corpora import PUBLIC, make_people, write_corpus
from workers.training import queries
from workers.training.models import Training

POINTS = [{"step": 10, "loss": 2.5, "kl": 0.5}, {"step": 20, "loss": 1.25, "kl": 0.75}]


@pytest.fixture
def client(db: None, tmp_path: Path, settings: LazySettings, notified: list[int]) -> Client:
    settings.HOME = tmp_path / "home"
    actions.import_corpus(
        importers()["jsonl"], write_corpus(tmp_path / "corpus.jsonl", "secret"), PUBLIC
    )
    make_people()
    return client_of("organiser")


def asked(**more: Any) -> dict[str, Any]:
    chosen = {
        "name": "daily",
        "recipe": "density",
        "corpus": PUBLIC,
        "overlap": "refuse",
        "contrastive": "none",
    }
    return {**chosen, "seed": "3", "epochs": "2", **more}


def row(**more: Any) -> Training:
    version = Corpus.objects.get(slug=PUBLIC).versions.get()
    columns = {"name": "daily", "work": "daily-1", "recipe": "density", "version": version}
    return Training.objects.create(
        **{**columns, "data": {"corpus": PUBLIC, "version": "v1"}, **more}
    )


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
    progress = {
        "phase": "training",
        "step": 20,
        "steps": 80,
        "epoch": 0,
        "epochs": 2,
        "rate": 12.5,
        "left": 60.0,
    }
    lease = {"lease_token": "t", "lease_expires_at": timezone.now()}
    row(state="running", progress=progress, curves=POINTS, **lease)
    page = client.get(reverse("training", args=["daily"])).content.decode()
    assert "step 20 of 80, epoch 1 of 2 · 12.5 pairs/s · about 60 s left" in page
    part = client.get(
        reverse("training", args=["daily"]), headers={"HX-Request": "true"}
    ).content.decode()
    assert 'hx-trigger="every 3s"' in part
    assert "<html" not in part
    assert "chart-losses" not in part  # charts are drawn anew less often
    figures = client.get(
        reverse("training", args=["daily"]), {"part": "figures"}, headers={"HX-Request": "true"}
    )
    assert 'id="chart-losses"' in figures.content.decode()
    assert "HX-Refresh" not in figures
    client.post(reverse("training-stop", args=["daily"]))
    stopped = client.get(reverse("training", args=["daily"])).content.decode()
    assert "hx-trigger" not in stopped
    ended = client.get(reverse("training", args=["daily"]), headers={"HX-Request": "true"})
    assert ended["HX-Refresh"] == "true"
    assert "It had no checkpoint yet" in stopped
    assert "Try again" in stopped
    (queries.work_folder(Training.objects.get()) / "step-00000020").mkdir(parents=True)
    assert (
        "Go on at the last checkpoint"
        in client.get(reverse("training", args=["daily"])).content.decode()
    )
    client.post(reverse("training-go-on", args=["daily"]))
    assert Training.objects.get().state == "pending"


@pytest.mark.django_db
def test_a_finished_run_names_its_metrics_its_figures_and_its_overlap(client: Client) -> None:
    found = {
        "corpora": [{"corpus": "judged", "version": "v1-abc", "said": "none of 9 stands there"}],
        "dialogues": [],
    }
    best = {"step": 20, "figures": {"R@1": 0.625, "MRR": 0.75}}
    ended = {
        "state": "done",
        "finished_at": timezone.now(),
        "revision": "0123456789ab",
        "best": best,
    }
    training = row(**ended, curves=POINTS, overlap=found, validations=[best, best])
    assert text_of(training) == "R@1 0.625 · MRR 0.750"
    page = client.get(reverse("training", args=["daily"])).content.decode()
    for said in (
        "density[trained=daily]",
        "0123456789ab",
        "none of 9 stands there",
        'id="chart-losses"',
    ):
        assert said in page
    csv = client.get(
        reverse("training", args=["daily"]), {"download": "losses-data.csv"}
    ).content.decode()
    assert "1.25" in csv


@pytest.mark.django_db
def test_a_training_is_deleted_only_by_who_ticks_the_box(client: Client) -> None:
    row(state="stopped")
    answer = client.post(reverse("training-delete", args=["daily"]), follow=True)
    assert "tick the box" in answer.content.decode()
    assert Training.objects.exists()
    answer = client.post(reverse("training-delete", args=["daily"]), {"sure": "yes"}, follow=True)
    assert "daily is deleted" in answer.content.decode()
    assert not Training.objects.exists()


@pytest.mark.django_db
def test_one_that_is_not_the_browser_s_to_delete_says_why(client: Client) -> None:
    row()
    answer = client.post(reverse("training-delete", args=["daily"]), {"sure": "yes"}, follow=True)
    assert "stop it first" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "encoder",
    [
        "/etc",
        "~root",
        "../x",
        ".",
        "./models",
        "workers/training",
        "a//b",
        "a/b/c",
        "C:\\x",
        "a\nb",
    ],
)
def test_a_form_names_no_folder_of_the_machine(client: Client, encoder: str) -> None:
    answer = client.post(reverse("trainings"), asked(encoder=encoder))
    assert answer.status_code == 422
    assert "Give a hub id" in answer.content.decode()
    assert not Training.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("encoder", ["bert-base-uncased", "google-bert/bert-base-uncased"])
def test_a_form_names_an_encoder_of_the_hub(client: Client, encoder: str) -> None:
    client.post(reverse("trainings"), asked(encoder=encoder))
    assert Training.objects.get().chosen["encoder"] == encoder


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, "1" + "0" * 30)
            for name in ("negatives", "epochs", "seconds", "pairs_an_epoch", "freeze", "seed")
        ),
        *(("name", name) for name in ("../x", "a\0b", "Big", "x" * 61, "daily\n.")),
        ("corpus", "/etc/passwd"),
        ("recipe", "density; rm"),
        ("overlap", "whatever"),
        ("encoder", "a\0b"),
        ("seed", "-1"),
        ("epochs", "1e3"),
    ],
)
def test_what_no_training_can_be_is_said_beside_its_field(
    client: Client, field: str, value: str
) -> None:
    answer = client.post(reverse("trainings"), asked(**{field: value}))
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {field}
    assert not Training.objects.exists()


@pytest.mark.django_db
def test_a_model_that_is_gone_is_said_so_where_its_scores_stand(client: Client) -> None:
    configuration = "density_classifier[trained=daily]"
    told = client.get(
        reverse("metric", args=["density_classifier"]), {"configuration": configuration}
    )
    assert "there is no trained model &#x27;daily&#x27;" in told.content.decode()


def test_lines_and_figures_stand_in_one_order_whatever_the_database_s() -> None:
    """PostgreSQL keeps a JSON object's keys by length."""
    points = [
        {"step": step, "loss": 3.0, "contrastive": 2.0, "response selection": 1.0}
        for step in (1, 2)
    ]
    validations = [
        {"step": step, "figures": {"KL": 4.0, "MRR": 0.5, "R@1": 0.25}} for step in (1, 2)
    ]
    found = figures_of(Training(curves=points, validations=validations))
    lines = [[line["name"] for line in figure.data] for figure in found]
    assert lines == [["loss", "response selection", "contrastive"], ["R@1", "MRR"], ["KL"]]
    best = queries.best_figures(Training(best={"step": 20, "figures": validations[0]["figures"]}))
    assert list(best) == ["R@1", "MRR", "KL"]


def test_one_part_that_is_the_whole_loss_is_drawn_once() -> None:
    points = [
        {"step": step, "learning rate": 0.1, "loss": 3.0, "response selection": 3.0}
        for step in (1, 2)
    ]
    losses = figures_of(Training(curves=points))[0]
    assert [line["name"] for line in losses.data] == ["loss"]


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


@pytest.mark.django_db
def test_noise_and_the_next_sentence_can_be_chosen(client: Client) -> None:
    client.post(reverse("trainings"), asked(objective="binary", perturbed="6", next_sentence="0"))
    assert Training.objects.get().chosen == {
        "save_every": 200,
        "epochs": 2,
        "contrastive": "none",
        "objective": "binary",
        "perturbed": 6,
    }
    client.post(
        reverse("trainings"),
        asked(name="other", recipe="cmn", objective="binary", next_sentence="0"),
    )
    assert Training.objects.get(name="other").chosen == {
        "save_every": 200,
        "epochs": 2,
        "next_sentence": False,
    }
