"""DEnsity's recipe: its batches, its loss, and that it learns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tests.workers.training.selecting import density_task, pairs, save_encoder
from tests.workers.training.test_loop import Stop, StopAt
from workers.training.core import checkpoint
from workers.training.core.loop import train
from workers.training.core.losses import response_selection, supervised_contrastive
from workers.training.core.recipes.density import DensitySettings, DensityTask, texts_of
from workers.training.core.selection import load_selection
from workers.training.core.settings import TrainingError, TrainingSettings


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def steady_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("steady"), dropout=0.0)


def settings(**changed: Any) -> TrainingSettings:
    chosen: dict[str, Any] = {
        "epochs": 2,
        "learning_rate": 5e-3,
        "warm_up_steps": 10,
        "device": "cpu",
        **changed,
    }
    return TrainingSettings(**chosen)


@pytest.mark.slow
def test_it_learns_to_find_the_answer(steady_encoder: Path, tmp_path: Path) -> None:
    task = density_task(steady_encoder, 400, 60, contexts=8, contrastive="none")
    outcome = train(task, settings(epochs=3), tmp_path)
    assert outcome.figures["R@1"] > 0.9
    trained = load_selection(outcome.best, "cpu")
    right, wrong = trained.scores(
        [(["do you like bread"], f"yes {thing} is all i want") for thing in ("bread", "rain")]
    )
    assert right > wrong


@pytest.mark.slow
@pytest.mark.parametrize("contrastive", ["paper", "released"])
def test_it_learns_with_contrast_too(
    contrastive: str, steady_encoder: Path, tmp_path: Path
) -> None:
    task = density_task(steady_encoder, 400, 60, contexts=8, contrastive=contrastive)
    train(task, settings(), tmp_path)
    found = checkpoint.newest(tmp_path)
    assert found is not None
    curves = found.config["curves"]
    assert curves[-1]["contrastive"] < curves[0]["contrastive"]
    assert curves[-1]["response selection"] < 0.75 * curves[0]["response selection"]


@pytest.mark.parametrize("step", [3, 6, 8])
def test_resumed_it_learns_the_same_to_the_bit(step: int, encoder: Path, tmp_path: Path) -> None:
    """Six steps an epoch: within the first, at its end, within the second; with dropout and both
    losses."""
    train(density_task(encoder), settings(), tmp_path / "whole")
    with pytest.raises(Stop):
        train(density_task(encoder), settings(), tmp_path / "parts", StopAt(step))
    train(density_task(encoder), settings(), tmp_path / "parts")
    whole, parts = (checkpoint.newest(tmp_path / name) for name in ("whole", "parts"))
    assert whole is not None
    assert parts is not None
    assert whole.config["step"] == 12
    assert whole.config["curves"] == parts.config["curves"]
    weights, again = whole.weights(), parts.weights()
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_every_pair_comes_once_an_epoch_in_another_order(encoder: Path) -> None:
    task = density_task(encoder, 22)
    orders = [
        np.concatenate([places for places, _ in task.batches(epoch)]).tolist()
        for epoch in (0, 1, 0)
    ]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(22))
    assert orders[0] != orders[1]
    assert orders[0] == orders[2]
    assert [len(places) for places, _ in task.batches(0)] == [4, 4, 4, 4, 4, 2]


def test_smaller_epochs_go_over_all_pairs_before_one_comes_again(encoder: Path) -> None:
    """Epochs of 8 of 24 pairs: three make a round; the sixth ends the second one."""
    task = density_task(encoder, 24, pairs_an_epoch=8)
    drawn = [
        place
        for epoch in range(6)
        for places, _ in task.batches(epoch)
        for place in places.tolist()
    ]
    assert sorted(drawn[:24]) == list(range(24))
    assert set(Counter(drawn).values()) == {2}


def test_a_smaller_epoch_can_lie_across_two_rounds(encoder: Path) -> None:
    task = density_task(encoder, 24, pairs_an_epoch=10)
    sizes = [sum(len(places) for places, _ in task.batches(epoch)) for epoch in range(5)]
    drawn = [
        place
        for epoch in range(12)
        for places, _ in task.batches(epoch)
        for place in places.tolist()
    ]
    assert sizes == [10] * 5
    assert set(Counter(drawn).values()) == {5}


def test_a_batch_has_each_answer_before_its_negatives(encoder: Path) -> None:
    task = density_task(encoder)
    places, negatives = task.batches(0)[0]
    batch = task.collate((places, negatives))
    rows = [row[mask == 1].tolist() for ids, masks in zip(batch["ids"], batch["mask"], strict=True)
            for row, mask in zip(ids, masks, strict=True)]  # fmt: skip
    in_order = [rows[place] for place in batch["order"].tolist()]
    training = pairs(24, 1, 3)
    expected = [
        task.selection.inputs.input(texts_of(training[place]), training[response].response).ids
        for place, others in zip(places, negatives, strict=True)
        for response in (place, *others)
    ]
    assert in_order == expected


class Fixed(nn.Module):
    """Three contexts with four candidates each, whose scores and features are given."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.scores, self.features = torch.randn(12), torch.randn(12, 5)

    def forward(self, **_: Any) -> tuple[torch.Tensor, torch.Tensor]:
        return self.scores, self.features


@pytest.mark.parametrize(("form", "share"), [("paper", 1 / 3), ("released", 1.0)])
def test_the_loss_is_selection_and_contrast(form: Any, share: float, encoder: Path) -> None:
    """The paper's sum over the batch is taken for each of the three contexts, as L_RS is."""
    task = density_task(encoder, contrastive=form, contrastive_weight=0.5, temperature=0.2)
    model = Fixed()
    loss = task.loss(model, {})
    selection = response_selection(model.scores.view(3, 4))
    contrast = share * supervised_contrastive(model.features.view(3, 4, 5), 0.2, form)
    assert loss.total.item() == pytest.approx((selection + 0.5 * contrast).item(), rel=1e-6)
    assert loss.parts["response selection"].item() == pytest.approx(selection.item())
    assert loss.parts["contrastive"].item() == pytest.approx(contrast.item(), rel=1e-6)


def test_validation_draws_its_pairs_once(encoder: Path) -> None:
    task = density_task(encoder, validation_pairs=5)
    assert len(task._validation) == 5 * 4
    assert task.validate(task.model) == task.validate(task.model)
    assert task._validation == density_task(encoder, validation_pairs=5)._validation


def test_only_the_last_turns_are_read() -> None:
    long = max(pairs(50, 1, 3), key=lambda pair: len(pair.context))
    assert len(texts_of(long)) == 3
    assert texts_of(long, 1) == [long.context[-1].text]


def test_settings_name_the_encoder_with_its_weights(encoder: Path) -> None:
    task = density_task(encoder)
    assert task.settings()["encoder"] == task.selection.encoder
    assert task.settings()["encoder"].startswith(f"{encoder}@")


def test_too_few_responses_are_said(encoder: Path) -> None:
    with pytest.raises(TrainingError, match="negatives"):
        density_task(encoder, negatives=30)


def test_nothing_to_validate_on_is_said(encoder: Path) -> None:
    with pytest.raises(TrainingError, match="validate"):
        DensityTask(DensitySettings(encoder=str(encoder)), pairs(20), [], "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"contexts": 0},
        {"negatives": 0},
        {"temperature": 0.0},
        {"freeze": -1},
        {"contrastive": "some"},
    ],
)
def test_impossible_settings_are_refused(wrong: Any) -> None:
    with pytest.raises(TrainingError, match=next(iter(wrong))):
        DensitySettings(**wrong)
