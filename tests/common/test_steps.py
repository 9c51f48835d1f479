"""Which step of an organiser is next."""

from __future__ import annotations

import pytest

from common.web import Step, with_the_next


@pytest.mark.parametrize(
    ("done", "optional", "next_keys"),
    [
        ("", "", "a"),
        ("a", "", "b"),
        ("a", "b", "c"),  # b may be left out
        ("c", "", "a"),
        ("abc", "", ""),
        ("ac", "b", ""),
    ],
)
def test_the_first_step_that_has_to_be_done_is_next(
    done: str, optional: str, next_keys: str
) -> None:
    steps = with_the_next(
        Step(key, key, "", key in done, is_optional=key in optional) for key in "abc"
    )
    assert "".join(step.key for step in steps if step.is_next) == next_keys
    assert "".join(step.key for step in steps) == "abc"
