"""Desks without a site: answers are kept in this process's memory, nobody limits what is spent.
Pure.

What a script, a notebook or a test asks goes the way that a site's calls go, but for the database.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from workers.judging.costs import price_of
from workers.judging.dialects import PLAIN, Dialect, Learner, merged
from workers.judging.dispatcher import Dispatcher
from workers.judging.endpoints import SiteEndpoint, endpoint_for, is_local, why_missing
from workers.judging.judge_client import BillingContext
from workers.judging.limits import Limits
from workers.judging.memory_cache import Answers, MemoryResponseCache
from workers.judging.rates import InProcessRateLimit
from workers.judging.response_cache import EndpointFailed
from workers.language_models.server import LocalServerError


def endpoint_of_environment() -> SiteEndpoint:
    """What a site's settings say, read without Django."""
    return SiteEndpoint(
        os.environ.get("DIALEVAL_LLM_URL", "").strip(),
        os.environ.get("DIALEVAL_LLM_MODEL", "").strip(),
        os.environ.get("DIALEVAL_LLM_KEY", "").strip(),
    )


@dataclass
class InProcessClients:
    site: SiteEndpoint = field(default_factory=endpoint_of_environment)
    limits: Limits = field(default_factory=Limits)
    prices: Mapping[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)
    """Every model's: the requests name theirs."""

    def __post_init__(self) -> None:
        self._paces: dict[str, InProcessRateLimit] = {}
        self._dialects: dict[str, Dialect] = {}

    @contextmanager
    # The Protocol's.
    def open(self, model: str, billing: BillingContext | None) -> Iterator[Dispatcher]:  # noqa: ARG002
        try:
            found = endpoint_for(model, self.site)
        except (LookupError, LocalServerError) as problem:
            raise EndpointFailed(str(problem)) from problem
        price = price_of(model, self.prices)
        response_cache = MemoryResponseCache(self.answers, price)
        engine = Dispatcher(
            found.endpoint,
            response_cache,
            self.limits,
            self._pace(model),
            price=price,
            model_label=found.model_label,
            device_label=found.device_label,
            learner=None if is_local(model, self.site) else self._learner(model),
        )
        try:
            yield engine
        finally:
            engine.close()
            response_cache.close()

    def _learner(self, model: str) -> Learner:
        def keep(before: Dialect, after: Dialect) -> Dialect:
            self._dialects[model] = merged(before, after, self._dialects.get(model, PLAIN))
            return self._dialects[model]

        return Learner(self._dialects.get(model, PLAIN), keep)

    def missing(self, model: str) -> str:
        return why_missing(model, self.site)

    def _pace(self, model: str) -> InProcessRateLimit:
        limits = self.limits
        return self._paces.setdefault(
            model, InProcessRateLimit(limits.requests_a_minute, limits.tokens_a_minute)
        )
