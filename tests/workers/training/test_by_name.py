"""Which trained model a name means, and what is said where there is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workers.training.made import trained_in
from workers.inference import resources
from workers.inference.model_files import ModelError
from workers.training.core.trained_models import (
    files_of,
    model_named,
    models_here,
    turns_of,
    why_no_model,
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    with trained_in(tmp_path):
        yield tmp_path


def put(home: Path, name: str, recipe: str = "density", turns: int = 0) -> None:
    folder = home / "trained" / name
    folder.mkdir(parents=True)
    config = {"recipe": recipe, "sha256": "0123456789abcdef", "settings": {"turns": turns}}
    (folder / "config.json").write_text(json.dumps(config))


def test_a_model_is_found_by_its_name(home: Path) -> None:
    put(home, "daily", turns=3)
    model = model_named("daily", "density")
    assert files_of(model).label == "daily@0123456789ab"
    assert turns_of(model) == 3


def test_models_are_listed_by_recipe(home: Path) -> None:
    put(home, "talks")
    put(home, "daily")
    put(home, "latent", "cmn")
    assert [model.name for model in models_here("density")] == ["daily", "talks"]
    assert [model.name for model in models_here()] == ["daily", "latent", "talks"]


def test_a_model_of_another_recipe_is_refused(home: Path) -> None:
    put(home, "latent", "cmn")
    with pytest.raises(ModelError, match="latent is of the recipe cmn, not density"):
        model_named("latent", "density")


@pytest.mark.parametrize("name", ["nowhere", "../trained/daily", "/etc", "daily/"])
def test_what_is_no_name_of_a_model_is_none(home: Path, name: str) -> None:
    put(home, "daily")
    with pytest.raises(ModelError, match="no trained model"):
        model_named(name, "density")


def test_a_process_without_a_folder_has_no_models(home: Path) -> None:
    put(home, "daily")
    resources.use(replace(resources.at_hand(), trained_folder=None))
    assert models_here() == []
    assert "no trained model" in why_no_model("density", "daily", "density")


def test_without_any_model_the_reason_is_what_to_do(home: Path) -> None:
    assert why_no_model("density", "", "density") == (
        "train a model first: manage.py train density --corpus … --name NAME, then "
        "density[trained=NAME]"
    )


def test_the_models_that_are_there_are_named(home: Path) -> None:
    put(home, "daily")
    put(home, "latent", "cmn")
    there = "usr_retrieval[trained=NAME]; there are daily"
    assert why_no_model("usr_retrieval", "", "density") == f"name a trained model: {there}"
    assert (
        why_no_model("usr_retrieval", "old", "density")
        == f"there is no trained model 'old': {there}"
    )
    assert why_no_model("usr_retrieval", "daily", "density") == ""


def test_a_damaged_description_is_no_model(home: Path) -> None:
    put(home, "daily")
    (home / "trained" / "daily" / "config.json").write_text("{")
    assert models_here() == []
    with pytest.raises(ModelError, match="no trained model"):
        model_named("daily", "density")
