"""Prompts handed in to a round whose endpoint is a test's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from annotations.campaigns.models import ChatSystem
from leaderboard.challenges.models import Round, Submission
from tests.challenges.sets import open_round, submit, team_with_member
from tests.workers.endpoint import StubEndpoint, stub_endpoint

PROMPT: dict[str, Any] = {"system": "You are: {persona}", "user": "{history}\nB:"}
KEY_VARIABLE, KEY = "DIALEVAL_CHAT_KEY_PROMPTS", "sk-very-secret/12345"


def tokens(asked: dict[str, Any]) -> dict[str, int]:
    """Ten for each message, five for an answer."""
    return {"prompt_tokens": 10 * len(asked["messages"]), "completion_tokens": 5, "total_tokens": 0}


def last_line(asked: dict[str, Any]) -> str:
    """Says back what A said last."""
    return "You said " + asked["messages"][-1]["content"].removesuffix("\nB:").splitlines()[
        -1
    ].removeprefix("A: ")


@contextmanager
def prompt_endpoint(
    answer: Callable[[dict[str, Any]], Any] = last_line,
    usage: Callable[[dict[str, Any]], Any] | None = tokens,
) -> Iterator[StubEndpoint]:
    with stub_endpoint(answer) as stub:
        stub.usage = usage
        yield stub


def prompt_round(
    stub: StubEndpoint, version: Any = None, key_variable: str = "", **fields: Any
) -> Round:
    """A round whose prompts are put to the stub."""
    round = open_round(version, **fields)
    round.endpoint = ChatSystem.objects.create(
        name=f"endpoint {round.pk}",
        base_url=stub.base_url,
        model="stub-model",
        key_variable=key_variable,
        instructions="Unused.",
    )
    round.save()
    return round


def hand_in(round: Round, **changes: Any) -> Submission:
    """A prompt of a new team, as if a worker had not heard of it yet."""
    team, user = team_with_member(round.challenge)
    data = json.dumps({**PROMPT, **changes}).encode()
    return submit(round, team, user, data, track="prompt")


def told(submission: Submission, for_organisers: bool = False) -> str:
    """The log that the team reads, or the one that only organisers do."""
    return "\n".join(
        submission.log.filter(for_organisers=for_organisers).values_list("text", flat=True)
    )


def said(submission: Submission) -> list[str]:
    rows = submission.generated.order_by("turn__dialogue__position", "turn__number")
    return list(rows.values_list("text", flat=True))
