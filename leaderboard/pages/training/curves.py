"""A training's row as figures: its losses, and what was measured on validation data; what has one
scale together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.figures import Figure
from leaderboard.pages.training.figures import training_curve
from workers.training.models import Training

_LOSSES = ("losses", "Losses in training", "loss")
_GROUPS = (
    (
        "validations",
        "How often the true answer is found among others",
        "share",
        ("R@1", "MRR", "NSP accuracy"),
    ),
    (
        "latent",
        "The latent space",
        "nats; dimensions",
        ("KL", "reconstruction", "active dimensions"),
    ),
    ("bound", "Minus reconstruction and KL", "nats a response", ("bound",)),
)
"""Id, what is drawn, the axis, and the recipes' figures that belong there."""
_OTHERS = ("others", "Other figures", "figure")
_NOT_RENDERED = ("learning rate",)
_PARTS = (
    "step",
    "loss",
    "response selection",
    "contrastive",
    "reconstruction",
    "KL",
    "next sentence",
)


def figures_of(training: Training) -> list[Figure]:
    """The losses and how well answers are ranked, always; the others where the recipe measures
    them."""
    found = [_curve(*_LOSSES, [_losses(point) for point in training.curves])]
    validations = [{"step": one["step"], **one["figures"]} for one in training.validations]
    known = {name for *_, names in _GROUPS for name in names}
    for figure_id, what, up, names in _GROUPS:
        points = _only(validations, names)
        if points or names == _GROUPS[0][-1]:
            found.append(_curve(figure_id, f"{what}, on validation data", up, points))
    if others := _only(
        validations, sorted({name for point in validations for name in point} - known - {"step"})
    ):
        found.append(_curve(*_OTHERS, others))
    return found


def _in_order(names: Iterable[str]) -> list[str]:
    """A loss's known parts first, then the others: PostgreSQL keeps JSON in an order of its own."""
    there = set(names)
    first = [name for name in _PARTS if name in there]
    return [*first, *sorted(there.difference(first))]


def _curve(figure_id: str, what: str, up: str, points: list[Mapping[str, Any]]) -> Figure:
    return training_curve(points, figure_id=figure_id, what=what, up=up)


def _losses(point: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without a part that is all of the loss: two lines would lie on each other."""
    parts = {name: point[name] for name in _in_order(point) if name not in _NOT_RENDERED}
    whole = {name: parts[name] for name in ("step", "loss") if name in parts}
    return whole if len(parts) == len(whole) + 1 else parts


def _only(points: Iterable[Mapping[str, Any]], names: Iterable[str]) -> list[Mapping[str, Any]]:
    """Of each point the step and these figures; a point with none of them is left out."""
    preserved = [
        {name: point[name] for name in ("step", *names) if name in point} for point in points
    ]
    return [point for point in preserved if len(point) > 1]
