"""An endpoint asked many things at once: one attempt each, without a second one of its own, on the
``openai`` package.

Of a reply only what a judge reads is taken, straight from its JSON: the package's own objects take
longer to make than the rest of a call where 20 log-probabilities come with each token.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from common.text import storable
from workers.inference.language_models.client import Endpoint, count_of, stored_name

LONGEST_TEXT = 100_000
"""Characters of an answer that are kept."""
MAX_POSITIONS, MAX_PER_POSITION = 4096, 20
"""Tokens with log-probabilities that are kept, and how many of each."""


class UnreadableReply(RuntimeError):
    """The endpoint replied with something that is no chat completion; the message says what it was
    like."""


@dataclass(frozen=True, slots=True)
class Reply:
    """``text`` as it came, but for what no database keeps. ``chances``: for each token its text and
    the likeliest at its place with the natural logarithms of their probabilities; None where the
    endpoint gave none."""

    text: str
    finish_reason: str
    reported_model: str
    input_tokens: int | None
    output_tokens: int | None
    chances: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] | None
    has_reasoned: bool = False
    """Whether it tells of reasoning, which is no part of ``text``; ``chances`` are those of
    ``text`` alone."""


class AsyncModel:
    """An endpoint as the coroutines of one event loop ask it. Made, used and closed in that loop.

    ``seconds``: how long an attempt may take in all, with connecting and reading, however steadily
    bytes drip in. Errors are the ``openai`` package's own (``openai.APIError``),
    ``UnreadableReply`` and ``TimeoutError``.
    """

    def __init__(self, endpoint: Endpoint, seconds: float) -> None:
        import httpx2
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        from workers.inference.language_models.client import SingleConnections

        self._response = httpx2.Response
        self._seconds = seconds
        self._client = AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            # the time-out of the whole attempt is below; one for each read would let a slow drip
            # through
            timeout=None,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(
                timeout=None,
                transport=SingleConnections(),
                # What is asked goes where the organiser said, and nowhere that the endpoint sends
                # it on to.
                follow_redirects=False,
            ),
        )

    async def complete(self, body: bytes) -> Reply:
        """One attempt. ``body``: a chat completion's request as JSON."""
        async with asyncio.timeout(self._seconds):
            response = await self._client.post(
                "/chat/completions", cast_to=self._response, content=body
            )
        return reply_of(response.content)

    async def close(self) -> None:
        await self._client.close()


def request_body(
    model: str, messages: list[dict[str, str]], parameters: dict[str, Any], seed: int | None = None
) -> bytes:
    """Lone surrogates, which JSON over HTTP cannot carry, go as replacement characters."""
    inputs: dict[str, Any] = {"model": model, "messages": messages, **parameters}
    if seed is not None:
        inputs["seed"] = seed
    return json.dumps(inputs, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def reply_of(content: bytes) -> Reply:
    """Reads a chat completion. Raises ``UnreadableReply`` for what is none."""
    try:
        read = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableReply("its reply is no JSON, or was cut off") from error
    try:
        choice = read["choices"][0]
        message = choice["message"]
        content, has_reasoned = _content_of(message)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnreadableReply("its reply is no chat completion") from error
    if not isinstance(content, str):
        raise UnreadableReply("its reply is no chat completion: its content is no text")
    usage = read.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    input_tokens, output_tokens = (
        count_of(usage.get("prompt_tokens")),
        count_of(usage.get("completion_tokens")),
    )
    total = count_of(usage.get("total_tokens"))
    if input_tokens is not None and output_tokens is not None and total is not None:
        # Some count reasoning in the total alone
        output_tokens = max(output_tokens, total - input_tokens)
        has_reasoned = has_reasoned or total - input_tokens > (
            count_of(usage.get("completion_tokens")) or 0
        )
    has_reasoned = has_reasoned or _reasoning_tokens(usage) > 0
    text, chances = storable(content)[:LONGEST_TEXT], _chances_of(choice.get("logprobs"))
    return Reply(
        text=text,
        finish_reason=stored_name(choice.get("finish_reason"))[:40],
        reported_model=stored_name(read.get("model")),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        chances=_of_the_text(chances, text) if chances and has_reasoned else chances,
        has_reasoned=has_reasoned,
    )


def _content_of(message: dict[str, Any]) -> tuple[Any, bool]:
    """The answer without its reasoning, and whether there is any: in a field of its own, in a part
    of the content, or in the content between ``<think>`` and ``</think>``."""
    content = message.get("content")
    if content is None:
        content = message.get("refusal") or ""
    has_reasoned = bool(message.get("reasoning") or message.get("reasoning_content"))
    if isinstance(content, list):
        has_reasoned = has_reasoned or any(part.get("type") == "thinking" for part in content)
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if isinstance(content, str) and content.lstrip().startswith("<think>"):
        return content.partition("</think>")[2].lstrip(), True
    return content, has_reasoned


def _reasoning_tokens(usage: dict[str, Any]) -> int:
    """What OpenAI tells of reasoning that it does not show; 0 where nothing is told."""
    details = usage.get("completion_tokens_details")
    return (count_of(details.get("reasoning_tokens")) or 0) if isinstance(details, dict) else 0


def _of_the_text(
    chances: tuple[tuple[str, tuple[tuple[str, float], ...]], ...], text: str
) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...] | None:
    """The tokens of the text, which stands at the end of what was generated; None where it does
    not."""
    generated, bare = "".join(token for token, _ in chances).rstrip(), text.strip()
    begin = generated.rfind(bare)
    if not bare or begin + len(bare) < len(generated):
        return None
    end = 0
    for index, (token, _) in enumerate(chances):
        end += len(token)
        if end > begin:
            return chances[index:]
    return None


def _chances_of(logprobs: object) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...] | None:
    """None also where what the endpoint gives has another form: there is nothing that one could
    weight then."""
    indices = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(indices, list) or not indices:
        return None
    try:
        return tuple(
            (storable(index["token"]), _top_of(index)) for index in indices[:MAX_POSITIONS]
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        return None


def _top_of(index: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """Probability 0 comes as -9999, -infinity or null. What is above 0 is no logarithm of a
    probability."""
    top = []
    for one in index["top_logprobs"][:MAX_PER_POSITION]:
        logarithm = one["logprob"]
        if isinstance(logarithm, (int, float)) and -1e6 < logarithm <= 1e-3:
            top.append((storable(one["token"]), min(float(logarithm), 0.0)))
    return tuple(top)
