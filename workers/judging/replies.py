"""From an endpoint's reply to the answer that is stored. Pure."""

from __future__ import annotations

from workers.judging.calls import Answer, TokenChance
from workers.language_models.asynchronous import Reply
from workers.language_models.client import Endpoint
from workers.language_models.refusals import without_key


def answer_of(reply: Reply, endpoint: Endpoint, seconds: float, attempts: int) -> Answer:
    text = without_key(reply.text, endpoint)
    chances = (
        None
        if reply.chances is None
        else tuple(TokenChance(token, top) for token, top in reply.chances)
    )
    if text != reply.text:  # its tokens are the key in pieces
        chances = None
    return Answer(
        "answered",
        text=text,
        finish_reason=without_key(reply.finish_reason, endpoint),
        reported_model=without_key(reply.reported_model, endpoint),
        chances=chances,
        has_reasoned=reply.has_reasoned,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        latency_seconds=seconds,
        attempts=attempts,
    )


def refusal_of(why: str, seconds: float, attempts: int) -> Answer:
    return Answer("refused", error=why, latency_seconds=seconds, attempts=attempts)
