"""Statistics as they are read from JSON."""

from __future__ import annotations

from pydantic import TypeAdapter

from common.estimates import Undefined


def test_a_score_is_read_as_postgresql_writes_it() -> None:
    """1e200 comes back as an integer of 201 digits."""
    scores = TypeAdapter(tuple[float | Undefined, ...])
    text = f'[1{"0" * 200}, {{"value": null, "reason": "empty"}}]'
    assert scores.validate_json(text) == (1e200, Undefined("empty"))
