"""Charging a row for its calls to a language model: a submission's prompt, a chat's answer.

A call is charged the most it may use before it is sent, and what it did use when its answer is
there. What is left in between, because a worker died or a connection broke, stays charged: the
endpoint may bill it. The rows have ``calls``, ``input_tokens``, ``output_tokens`` of what was
counted, and the same three with ``unsettled_``.
"""

from __future__ import annotations

from typing import Any

from django.db.models import F, QuerySet

from workers.inference.language_models.usage import Usage


def reserve(row: QuerySet[Any], most: Usage) -> bool:
    """Before a call is sent. False where there is no such row: then do not send it."""
    return bool(row.update(**_unsettled(most)))


def settle(row: QuerySet[Any], most: Usage, used: Usage) -> None:
    """The answer is there: ``used`` replaces what was reserved."""
    row.update(
        **_unsettled(most, -1),
        calls=F("calls") + used.calls,
        input_tokens=F("input_tokens") + used.input_tokens,
        output_tokens=F("output_tokens") + used.output_tokens,
    )


def release(row: QuerySet[Any], most: Usage) -> None:
    """The endpoint charges nothing for the call."""
    row.update(**_unsettled(most, -1))


def _unsettled(most: Usage, sign: int = 1) -> dict[str, Any]:
    return {
        "unsettled_calls": F("unsettled_calls") + sign * most.calls,
        "unsettled_input_tokens": F("unsettled_input_tokens") + sign * most.input_tokens,
        "unsettled_output_tokens": F("unsettled_output_tokens") + sign * most.output_tokens,
    }
