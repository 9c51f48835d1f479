"""From conversations to a trained model: what may be chosen, what its folder holds, and that it can
be made again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.workers.training.latent_talk import about_one_thing, save_tiny_encoder
from tests.workers.training.made import make_model, plan
from workers.training.core import checkpoint
from workers.training.core.gaussian import GaussianFit
from workers.training.core.making import GAUSSIAN, make, plan_of, split_of
from workers.training.core.recipes.density import DensityTask, texts_of
from workers.training.core.selection import load_selection
from workers.training.core.settings import Progress, TrainingError


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def model(home: Path) -> Path:
    return make_model("density", "small", home, epochs=1)


def test_what_is_chosen_reaches_the_recipe_and_the_training() -> None:
    made = plan_of(
        "density", {"negatives": 7, "epochs": 2, "seed": 5, "validation_share": 0.2, "seconds": 60}
    )
    assert (made.settings.negatives, made.training.epochs, made.validation_share) == (7, 2, 0.2)  # type: ignore[union-attr]
    assert (made.settings.seed, made.training.seed) == (5, 5)
    assert made.training.seconds == 60.0


def test_what_is_not_chosen_is_the_recipe_s() -> None:
    assert plan_of("density", {}).training.epochs == 10
    assert plan_of("cmn", {}).training.epochs == 20


@pytest.mark.parametrize(
    ("recipe", "chosen", "said"),
    [
        ("rade", {}, "no recipe 'rade'"),
        ("cmn", {"negatives": 3}, "cmn has no setting 'negatives'"),
        ("density", {"epochs": 1.5}, "epochs must be a whole number"),
        ("density", {"epochs": "many"}, "epochs must be of the kind of 10"),
        ("density", {"recompute": 1}, "recompute must be true or false"),
        ("density", {"epochs": True}, "epochs must be no truth value"),
        ("density", {"negatives": 0}, "negatives must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(recipe: str, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        plan_of(recipe, chosen)


def test_too_few_dialogues_are_refused(home: Path, model: Path) -> None:
    with pytest.raises(TrainingError, match="at least 2 are needed"):
        split_of(plan("density", home / "encoder"), about_one_thing(1))


def test_another_seed_is_another_split_and_another_signature(home: Path, model: Path) -> None:
    signatures = {
        split_of(plan("density", home / "encoder", seed=seed), about_one_thing(40))[2]
        for seed in (0, 0, 1)
    }
    assert len(signatures) == 2


def test_a_model_says_what_it_was_made_of(home: Path, model: Path) -> None:
    config = checkpoint.read(model).config
    assert config["name"] == "small"
    assert config["recipe"] == "density"
    training, validation, signature = split_of(
        plan("density", home / "encoder", epochs=1), about_one_thing(160)
    )
    assert config["data"] == signature
    told = config["model"]
    assert (told["dialogues"], told["pairs"], told["validated"]) == (
        160,
        len(training),
        len(validation),
    )
    assert told["fit"]["points"] == len(training)
    assert told["fit"]["dimensions"] == 32
    assert 0 < told["fit"]["rank"] <= 32
    assert config["ending"] == "epochs"
    assert config["validations"]


def test_a_model_holds_no_state_of_its_training(model: Path) -> None:
    found = checkpoint.read(model)
    assert not found.is_resumable
    assert "under way" not in found.config


def test_the_gaussian_lies_over_all_training_pairs_by_the_model_s_own_weights(
    home: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the last weights are not the best ones, too."""
    figures = iter([0.1, 0.9, 0.5])
    monkeypatch.setattr(DensityTask, "validate", lambda *_: {"R@1": next(figures)})
    chosen = plan("density", home / "encoder", epochs=2)
    made = make(chosen, about_one_thing(160), home / "two", home / "trained" / "two")
    assert 0 < made.config["best"]["step"] < made.config["step"]
    training, _, _ = split_of(chosen, about_one_thing(160))
    features = load_selection(made.folder, "cpu").features(
        [(texts_of(pair), pair.response) for pair in training]
    )
    fit = GaussianFit.load(made.folder / GAUSSIAN)
    np.testing.assert_allclose(fit.mean, features.mean(axis=0, dtype=np.float64), atol=1e-5)
    np.testing.assert_allclose(
        fit.covariance, np.cov(features.T.astype(float), bias=True), atol=1e-4
    )


def test_made_again_from_the_same_it_is_the_same_model(home: Path, model: Path) -> None:
    again = make(
        plan("density", home / "encoder", epochs=1),
        about_one_thing(160),
        home / "again",
        home / "trained" / "other",
    )
    ours, theirs = checkpoint.read(model), checkpoint.read(again.folder)
    assert ours.config["files"] == theirs.config["files"]


class _Stopped(Exception):
    pass


def test_stopped_and_called_again_it_ends_with_the_same_files(home: Path, model: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.step == 5:
            raise _Stopped

    wanted, work, place = (
        plan("density", home / "encoder", epochs=1),
        home / "stopped",
        home / "trained" / "stopped",
    )
    with pytest.raises(_Stopped):
        make(wanted, about_one_thing(160), work, place, watch=stop)
    assert not place.exists()
    make(wanted, about_one_thing(160), work, place)
    assert checkpoint.read(place).config["files"] == checkpoint.read(model).config["files"]


def test_what_is_said_of_the_data_stays_with_the_model(tmp_path: Path) -> None:
    encoder = save_tiny_encoder(tmp_path / "encoder", width=16, layers=1)
    told: list[tuple[int, int]] = []
    made = make(
        plan("density", encoder, epochs=1), about_one_thing(160), tmp_path / "work",
        tmp_path / "model", {"corpus": "talks"}, fitting=lambda done, of: told.append((done, of)),
    )  # fmt: skip
    assert made.config["model"]["about"] == {"corpus": "talks"}
    assert told[-1][0] == told[-1][1] == made.config["model"]["pairs"]


def test_cmn_is_made_by_the_same_call_and_has_no_gaussian(tmp_path: Path) -> None:
    encoder = save_tiny_encoder(tmp_path / "encoder", width=16, layers=1)
    made = make(
        plan("cmn", encoder, epochs=1), about_one_thing(160), tmp_path / "work", tmp_path / "model"
    )
    assert made.config["recipe"] == "cmn"
    assert not (tmp_path / "model" / GAUSSIAN).exists()
    assert "fit" not in made.config["model"]
