"""Tiny models trained for a moment on generated conversations, as folders that metrics can use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.workers.training.latent_talk import about_one_thing, save_tiny_encoder
from workers.inference import resources
from workers.training.core.making import Plan, make, plan_of

CHOSEN: dict[str, dict[str, Any]] = {
    "density": {"contexts": 8, "negatives": 3},
    "cmn": {
        "batch": 16,
        "latent": 4,
        "decoder_layers": 1,
        "longest_response": 8,
        "validation_negatives": 3,
    },
}


def plan(recipe: str, encoder: Path, **chosen: Any) -> Plan:
    short = {
        "encoder": str(encoder),
        "max_tokens": 32,
        "epochs": 4,
        "learning_rate": 3e-3,
        "device": "cpu",
    }
    return plan_of(recipe, {**short, **CHOSEN[recipe], **chosen})


def make_model(recipe: str, name: str, home: Path, **chosen: Any) -> Path:
    """Below ``home``: the encoder that it begins from, the training, and the model in
    ``trained/NAME``."""
    encoder = home / "encoder"
    if not encoder.is_dir():
        save_tiny_encoder(encoder)
    place = home / "trained" / name
    make(plan(recipe, encoder, **chosen), about_one_thing(160), home / "trainings" / name, place)
    return place


@contextmanager
def trained_in(home: Path) -> Iterator[None]:
    """Within, this process looks for trained models below ``home``."""
    before = resources.at_hand()
    resources.use(replace(before, device="cpu", threads=1, trained_folder=home / "trained"))
    try:
        yield
    finally:
        resources.use(before)
