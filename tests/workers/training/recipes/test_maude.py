"""The selection recipe as MAUDE's: perturbed answers among the negatives, the binary loss, and the
metric it makes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from annotations.formats.records import Utterance
from tests.workers.training.made import trained_in
from tests.workers.training.selecting import density_task, pairs, save_encoder
from tests.workers.trainings.small import talk_file
from workers.metrics.base import Example
from workers.metrics.common.configuration import parse
from workers.training import queries
from workers.training.core.conversations import read_dialogues
from workers.training.core.loop import train
from workers.training.core.losses import noise_contrastive
from workers.training.core.making import make, plan_of
from workers.training.core.negatives import perturbed
from workers.training.core.recipes.density import DensitySettings
from workers.training.core.selection import load_selection
from workers.training.core.settings import TrainingError, TrainingSettings
from workers.training.models import Training

MAUDE: dict[str, Any] = {"objective": "binary", "perturbed": 3, "contrastive": "none"}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"), dropout=0.0)


def test_a_batch_has_the_answer_its_negatives_and_the_answer_perturbed(encoder: Path) -> None:
    task = density_task(encoder, **MAUDE)
    item = task.batches(0)[0]
    batch = task.collate(item)
    rows = [ids[mask == 1].tolist() for many, masks in zip(batch["ids"], batch["mask"], strict=True)
            for ids, mask in zip(many, masks, strict=True)]  # fmt: skip
    in_order = [rows[place] for place in batch["order"].tolist()]
    training, (places, negatives) = pairs(24, 1, 3), item
    assert len(in_order) == len(places) * (1 + 3 + 3)
    place = int(places[0])
    said = [training[one].response for one in (place, *negatives[0].tolist())]
    said += perturbed(training[place].response, 3, np.random.default_rng((0, place)))
    context = [utterance.text for utterance in training[place].context]
    assert in_order[:7] == [task.selection.inputs.input(context, text).ids for text in said]


class Fixed(nn.Module):
    def forward(self, **_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.linspace(-1, 1, 14), torch.zeros(14, 2)


def test_the_loss_is_maudes_over_all_negatives(encoder: Path) -> None:
    loss = density_task(encoder, **MAUDE).loss(Fixed(), {})
    assert loss.total.item() == pytest.approx(
        noise_contrastive(torch.linspace(-1, 1, 14).view(2, 7)).item()
    )
    assert set(loss.parts) == {"noise contrastive"}


@pytest.mark.slow
def test_it_learns_grammar_from_perturbed_answers(encoder: Path, tmp_path: Path) -> None:
    """A shuffled answer names the right thing: a model without such negatives has no ground to mind
    it."""
    settings = TrainingSettings(epochs=3, learning_rate=5e-3, warm_up_steps=10, device="cpu")
    outcome = train(
        density_task(encoder, 400, 20, contexts=8, **{**MAUDE, "perturbed": 1}), settings, tmp_path
    )
    answers = ("yes bread is all i want", "want all bread i is yes", "yes rain is all i want")
    scores = load_selection(outcome.best, "cpu").scores(
        [(["do you like bread"], text) for text in answers]
    )
    assert scores[0] > 0 > max(scores[1:])


def test_what_is_as_before_is_not_told_so_that_earlier_trainings_go_on(encoder: Path) -> None:
    assert not {"objective", "perturbed"} & set(density_task(encoder).settings())
    assert (
        density_task(encoder, **MAUDE).settings().items()
        >= {"objective": "binary", "perturbed": 3}.items()
    )


@pytest.mark.parametrize("wrong", [{"objective": "both"}, {"perturbed": -1}, {"perturbed": 101}])
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(TrainingError, match=next(iter(wrong))):
        DensitySettings(**wrong)


# --- the metric -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    dialogues = read_dialogues(talk_file(folder / "talk.txt"))
    short = {
        "encoder": str(encoder),
        "contexts": 4,
        "negatives": 2,
        "max_tokens": 32,
        "epochs": 1,
        "device": "cpu",
    }
    for name, more in {"noise": MAUDE, "choice": {}}.items():
        plan = plan_of("density", {**short, "pairs_an_epoch": 8, **more})
        make(plan, dialogues, folder / "work" / name, folder / "trained" / name)
    return folder


def test_the_metric_is_the_sigmoid_of_the_models_number(home: Path) -> None:
    asked = Example(
        "d", 0, (), (), (Utterance("A", "do you like rain"),), (), "yes rain is all i want"
    )
    with trained_in(home):
        (score,) = parse("maude_style[trained=noise]").scorer().score([asked])
        (number,) = parse("density_classifier[trained=noise]").scorer().score([asked])
    assert score == pytest.approx(1 / (1 + np.exp(-number)))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("maude_style", "name a trained model: maude_style[trained=NAME]; there are noise"),
        (
            "maude_style[trained=choice]",
            "choice learned to choose among answers, not to tell one from noise",
        ),
        ("maude_style[trained=nobody]", "there is no trained model 'nobody'"),
        ("maude_style[trained=noise]", ""),
    ],
)
def test_only_a_model_that_learned_noise_will_do(written: str, why: str, home: Path) -> None:
    with trained_in(home):
        said = parse(written).missing()
    assert (why in said) if why else not said


def test_without_any_model_it_says_how_to_train_one(tmp_path: Path) -> None:
    with trained_in(tmp_path):
        assert "--objective binary --perturbed" in parse("maude_style").missing()


def test_a_training_names_the_metrics_that_its_model_makes() -> None:
    def names(**chosen: Any) -> Counter[str]:
        return Counter(queries.metrics_of(Training(name="m", recipe="density", chosen=chosen)))

    assert names(objective="binary") - names() == Counter(["maude_style[trained=m]"])
    assert names() <= names(objective="binary")


def test_a_models_settings_say_what_it_learned(home: Path) -> None:
    told = {
        name: json.loads((home / "trained" / name / "config.json").read_text())
        for name in ("noise", "choice")
    }
    assert told["noise"]["settings"]["objective"] == "binary"
    assert "objective" not in told["choice"]["settings"]
