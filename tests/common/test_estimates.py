"""Statistics as they are read from JSON."""

from __future__ import annotations

from pydantic import TypeAdapter

from common.estimates import Estimate, Undefined


def test_a_score_is_read_as_postgresql_writes_it() -> None:
    """1e200 comes back as an integer of 201 digits."""
    scores = TypeAdapter(tuple[float | Undefined, ...])
    text = f'[1{"0" * 200}, {{"value": null, "reason": "empty"}}]'
    assert scores.validate_json(text) == (1e200, Undefined("empty"))


def test_the_negative_of_an_estimate_has_its_interval_turned_round() -> None:
    estimate = Estimate(0.25, ci=(0.125, 0.5), p=0.03)
    assert -estimate == Estimate(-0.25, ci=(-0.5, -0.125), p=0.03)
    assert -Estimate(0.25, reason="one dialogue") == Estimate(-0.25, reason="one dialogue")
    assert -Estimate.undefined("no scores") == Estimate.undefined("no scores")
