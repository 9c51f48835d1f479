"""What a judge would ask on a corpus version, and what that takes: calls exactly, tokens, money and
time about. As numbers, and in words for the form that begins a run with a budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, islice
from typing import Any

from django.conf import settings
from django.db.models.functions import Length

from annotations.models import CorpusVersion, System
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges.budgets import default_limits, money
from workers.judges.call_rows import dialect_at
from workers.judges.clients import limits_for, price_for, site_endpoint
from workers.judges.core.calls import CallKey, ChatRequest, longest_answer_of, price_of
from workers.judges.core.dialects import PLAIN, Dialect
from workers.judges.core.endpoints import address_of, is_local
from workers.judges.models import Budget, StoredAnswer
from workers.judges.run_forms import plain
from workers.metrics.base import Example
from workers.metrics.common.configuration import Configuration
from workers.models import MetricRun
from workers.runs import progress, queries, scoring

CHARACTERS_A_TOKEN = 4.0
"""Of English, where nothing is known of the model."""
LOOKED_AT = 200
"""The latest answers by which a model is judged: what a token is to it, how long it answers, how
fast."""
KEYS_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """``dialogues``: how many there are, each counted once; ``responses`` of all ``systems``
    together. ``calls`` are the first asks, of which ``stored`` are answered already; what
    cannot be read is asked again, and nobody knows how often. Tokens, ``cost`` in USD and
    ``seconds`` are of the calls that are left; None where the model has no price, or was never
    asked. ``output_tokens`` hold ``reasoning_tokens``, which are measured in its answers: None
    before the first."""

    systems: int
    dialogues: int
    responses: int
    calls: int
    stored: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    seconds: float | None
    reasoning_tokens: int | None = 0

    @property
    def in_words(self) -> str:
        """``15 dialogues of 99 systems, 31,185 calls, about $12.40``."""
        judged = (
            f"{self.dialogues:,} {'dialogue' if self.dialogues == 1 else 'dialogues'} of "
            f"{self.systems:,} {'system' if self.systems == 1 else 'systems'}"
        )
        left = self.calls - self.stored
        if left == 0:
            return f"{judged}, {self.calls:,} calls, all of them answered already"
        stored = f" ({self.stored:,} more are answered already)" if self.stored else ""
        return f"{judged}, {left:,} calls{stored}, {format_cost(self.cost)}"


def format_cost(cost: Decimal | None) -> str:
    if cost is None:
        return "at a price that is not known"
    if cost == 0:
        return "at no cost"
    return f"about ${cost:,.2f}" if cost >= Decimal("0.01") else "less than a cent"


def estimate(
    configuration: Configuration, version: CorpusVersion, systems: Sequence[System]
) -> JudgeEstimate:
    """Asks nobody. Raises ``MetricUnavailableError`` where the judge cannot be had here."""
    scorer = scoring.scorer_of(configuration.text)
    turns = queries.turns_of(version.pk)
    judged = {system.pk: _judged(configuration, turns, system) for system in systems}
    done = _done(configuration, systems)
    to_ask: dict[CallKey, int] = {}
    known: set[CallKey] = set()
    manner: ChatRequest | None = None
    for call in scorer.planned(
        [example for pk, examples in judged.items() if pk in done for example in examples]
    ):
        known.add(call.key)
    for call in scorer.planned(
        [example for pk, examples in judged.items() if pk not in done for example in examples]
    ):
        manner = manner or call.request
        if call.key not in known:
            to_ask[call.key] = call.request.characters
    stored = _stored(to_ask)
    left = [characters for key, characters in to_ask.items() if key not in stored]
    taken = _Taken.by(manner, sum(left), len(left))
    return JudgeEstimate(
        systems=sum(bool(examples) for examples in judged.values()),
        dialogues=len({one.dialogue_id for examples in judged.values() for one in examples}),
        responses=sum(len(examples) for examples in judged.values()),
        calls=len(known) + len(to_ask),
        stored=len(known) + len(stored),
        input_tokens=taken.input_tokens,
        output_tokens=taken.output_tokens,
        reasoning_tokens=taken.reasoning_tokens,
        cost=price_for(manner.model).cost(taken.input_tokens, taken.output_tokens)
        if manner
        else Decimal(0),
        seconds=taken.seconds,
    )


def _judged(
    configuration: Configuration, turns: Sequence[Example], system: System
) -> list[Example]:
    """What a judge is shown of a system: for whole dialogues those alone that it answered
    throughout."""
    by_turn = queries.examples_of(system)
    if "turn" in configuration.levels:
        return [one for one in by_turn if one is not None]
    places = zip(turns, by_turn, strict=True)
    dialogues = [
        [one for _, one in group]
        for _, group in groupby(places, key=lambda pair: pair[0].dialogue_id)
    ]
    return [
        one for dialogue in dialogues if None not in dialogue for one in dialogue if one is not None
    ]


def _done(configuration: Configuration, systems: Sequence[System]) -> set[int]:
    """Systems that are judged: nothing of theirs is asked again."""
    runs = queries.runs_for([configuration], systems).filter(state=MetricRun.State.DONE)
    return set(runs.values_list("system_id", flat=True))


def _stored(keys: Iterable[CallKey]) -> set[CallKey]:
    """Of these, those that are answered or refused."""
    found: set[CallKey] = set()
    wanted = set(keys)
    for batch in _batches(sorted({key.request for key in wanted})):
        answers = StoredAnswer.objects.filter(request__key__in=batch).exclude(
            state=StoredAnswer.State.REQUESTED
        )
        rows = answers.values_list("request__key", "sample", "ask")
        found |= {CallKey(*row) for row in rows} & wanted
    return found


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    coming = iter(keys)
    while batch := list(islice(coming, KEYS_AT_ONCE)):
        yield batch


@dataclass(frozen=True, slots=True)
class _Taken:
    """By calls that are left, as the model's latest answers tell."""

    input_tokens: int
    output_tokens: int
    reasoning_tokens: int | None
    seconds: float | None

    @classmethod
    def by(cls, manner: ChatRequest | None, characters: int, calls: int) -> _Taken:
        if manner is None or not calls:
            return cls(0, 0, 0, 0.0)
        known = _latest(manner)
        tokens = sum(one.input_tokens for one in known)
        ratio = sum(one.characters for one in known) / tokens if tokens else CHARACTERS_A_TOKEN
        similar = [one for one in known if one.is_similar]
        # None where this process serves the model, which does not reason.
        site = site_endpoint()
        dialect = (
            None
            if is_local(manner.model, site)
            else dialect_at(address_of(site.url)[:300], manner.model)
        )
        reasoning = _reasoning(similar or known, ratio, dialect)
        if similar:
            answered = sum(one.output_tokens for one in similar) / len(similar)
        elif dialect is not None and dialect.has_reasoned:
            answered = longest_answer_of(manner) + (reasoning or 0)
        else:
            answered = longest_answer_of(manner, dialect or PLAIN)
        prompt, answered = round(characters / ratio), round(calls * answered)
        return cls(
            prompt,
            answered,
            None if reasoning is None else round(calls * reasoning),
            _seconds(manner.model, calls, prompt + answered, [one.seconds for one in similar]),
        )


def _reasoning(known: Sequence[_Known], ratio: float, dialect: Dialect | None) -> float | None:
    """Tokens of an answer that are not in its text, on average; None where nobody has asked."""
    if dialect is None or (known and not dialect.has_reasoned):
        return 0.0
    if not known:
        return None
    return sum(max(0.0, one.output_tokens - one.text_characters / ratio) for one in known) / len(
        known
    )


def _seconds(model: str, calls: int, tokens: int, latencies: Sequence[float]) -> float | None:
    """With as many calls under way as one process has, and no faster than the rates allow."""
    if not latencies:
        return None
    limits = limits_for(model, site_endpoint())
    least = [calls * sum(latencies) / len(latencies) / limits.at_once]
    if limits.requests_a_minute:
        least.append(calls * 60 / limits.requests_a_minute)
    if limits.tokens_a_minute:
        least.append(tokens * 60 / limits.tokens_a_minute)
    return max(least)


@dataclass(frozen=True, slots=True)
class _Known:
    """A stored answer of the model. ``is_similar``: asked in the same manner, so that it is as long
    and takes as long."""

    characters: int
    input_tokens: int
    output_tokens: int
    text_characters: int
    """Characters of its text, which holds no reasoning."""
    seconds: float
    is_similar: bool


def _latest(manner: ChatRequest) -> list[_Known]:
    rows = (
        StoredAnswer.objects.filter(request__model=manner.model, state=StoredAnswer.State.ANSWERED)
        .exclude(input_tokens=None)
        .exclude(output_tokens=None)
        .order_by("-pk")
        .values_list(
            "request__body", "input_tokens", "output_tokens", Length("text"), "latency_seconds"
        )[:LOOKED_AT]
    )
    parameters = _manner(dict(manner.parameters))
    found = []
    for body, prompt, answered, tokens, seconds in rows:
        document = json.loads(body)
        characters = sum(len(text) for _, text in document["messages"])
        is_similar = _manner(document["parameters"]) == parameters
        found.append(_Known(characters, prompt, answered, tokens, seconds, is_similar))
    return found


def _manner(parameters: dict[str, object]) -> dict[str, object]:
    return {
        name: value for name, value in parameters.items() if name not in ("seed", "temperature")
    }


NO_PRICE = (
    "{model} has no price here, so money cannot be counted. Leave this empty, or give the price "
    "in DIALEVAL_LLM_PRICES."
)

UNKNOWN_REASONING = (
    " Reasoning tokens, which some models use and which cost as answers do, are not counted:"
    " nobody has asked this model yet."
)


@dataclass(frozen=True, slots=True)
class Estimated:
    """An estimate as a page shows it."""

    sentence: str
    figures: list[tuple[str, str, str]]
    price: str
    """What the model costs, or that it is not known."""


def estimated(found: JudgeEstimate, configuration: Configuration) -> Estimated:
    to_ask = found.calls - found.stored
    reasoning = (
        f", {found.reasoning_tokens:,} of these for reasoning" if found.reasoning_tokens else ""
    )
    is_unknown = to_ask and found.reasoning_tokens is None
    return Estimated(
        sentence=f"{found.in_words}.{UNKNOWN_REASONING if is_unknown else ''}",
        figures=[
            ("Dialogues", f"{found.dialogues:,}", _of_systems(found)),
            (
                "Calls",
                f"{found.calls:,}",
                (
                    f"{found.stored:,} in the store, {to_ask:,} to ask"
                    if found.stored
                    else "none in the store yet"
                ),
            ),
            (
                "Tokens",
                f"{found.input_tokens + found.output_tokens:,}",
                f"{found.output_tokens:,} of them in answers{reasoning}",
            ),
            (
                "Cost",
                "–" if found.cost is None else f"${money(found.cost)}",
                "" if found.cost is not None else "the model has no price here",
            ),
            (
                "Time",
                "–" if found.seconds is None else f"about {progress.duration(found.seconds)}",
                (
                    "nobody has asked this model yet"
                    if found.seconds is None
                    else "at the pace of answers so far"
                ),
            ),
        ],
        price=format_price(str(configuration.options["model"])),
    )


def _of_systems(found: JudgeEstimate) -> str:
    return f"of {found.systems:,} systems, {found.responses:,} responses"


def format_price(model: str) -> str:
    """``$2.50 for a million input tokens, $10.00 for a million output tokens``."""
    price = price_of(model, settings.LLM_PRICES)
    if price.input is not None and price.output is not None:
        sent, received = money(price.input), money(price.output)
        return (
            f"{model}: ${sent} for a million tokens of prompts, ${received} for a million of "
            "answers."
        )
    if model == PACKAGED_MODEL_NAME:
        return f"{model} runs on this machine and costs nothing."
    return (
        f"The price of {model} is not known here (DIALEVAL_LLM_PRICES): tokens are counted, money "
        "is not."
    )


def why_no_usd(model: str) -> str:
    """Why a limit in money would limit nothing, or ""."""
    known = model == PACKAGED_MODEL_NAME or model in settings.LLM_PRICES
    return "" if known else NO_PRICE.format(model=model or "The model")


def budget_to_start_from(configuration: Configuration, budget: Budget | None) -> dict[str, Any]:
    """The limits that the judge has already, or the site's defaults; no money where it cannot be
    counted."""
    limits = default_limits(configuration.text)
    tokens, usd = limits["tokens_limit"], limits["cost_limit"]
    if budget is not None:
        tokens, usd = budget.tokens_limit, budget.cost_limit
    if why_no_usd(str(configuration.options["model"])):
        usd = None
    return {"tokens": tokens, "usd": plain(None if usd is None else Decimal(usd))}
