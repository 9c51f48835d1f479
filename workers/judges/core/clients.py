"""What a process has for judging: an endpoint for a model, a cache of its answers, limits. Pure.

The site says once at its start what there is (``workers.judges.apps``). Without a site, for a
script, a notebook or a test, answers are kept in this process's memory and nobody limits what is
spent; what is asked goes the way that a site's calls go, but for the database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from workers.inference.language_models.server import LocalServerError
from workers.judges.core.calls import Call, Follow, price_of
from workers.judges.core.dialects import PLAIN, Dialect, Learner, merged
from workers.judges.core.dispatcher import Dispatcher
from workers.judges.core.endpoints import SiteEndpoint, endpoint_for, is_local, why_missing
from workers.judges.core.memory_cache import Answers, MemoryResponseCache
from workers.judges.core.rate_limit import InProcessRateLimit, Limits
from workers.judges.core.response_cache import EndpointFailed


@dataclass(frozen=True, slots=True)
class BillingContext:
    """For whom one asks: runs of one configuration on systems of one corpus version; or a trial of
    a prompt."""

    version_id: int
    configuration: str
    system_ids: tuple[int, ...] = ()
    trial_id: int | None = None


class JudgeClient(Protocol):
    model_label: str
    """Name and, where it is known, revision: ``smollm2-135m-instruct@f8a1…`` for the packaged
    model."""
    device_label: str
    """``http://127.0.0.1:41234/v1``'s host for people: ``endpoint api.example.org``, ``loopback,
    xllamacpp``."""
    learner: Learner | None
    """What is known of the endpoint's dialect, for whoever reads its answers to learn from them."""

    def ask(
        self, calls: Iterable[Call], follow: Follow, progress: Callable[[int], None] | None = None
    ) -> None:
        """Ask all calls, and those that follow from their answers, and return when no call is left.

        ``calls`` is read as it is needed, in order, never far ahead. ``follow`` is called once for
        each answer, from this thread, in the order in which they come. ``progress``: the number of
        calls answered so far. Raises ``BudgetSpent``, ``EndpointFailed``, ``Stopped``; what was in
        flight then is waited for and kept.
        """


class JudgeClients(Protocol):
    def open(
        self, model: str, billing: BillingContext | None
    ) -> AbstractContextManager[JudgeClient]: ...

    def missing(self, model: str) -> str:
        """Why this process cannot have the model judge, or "". Cheap: asks no endpoint."""


_at_hand: JudgeClients | None = None


def at_hand() -> JudgeClients:
    """Those that the site named; else clients that keep answers in this process
    (``workers.judges.core.memory_cache``)."""
    global _at_hand
    if _at_hand is None:
        _at_hand = InProcessClients()
    return _at_hand


def use(judge_clients: JudgeClients | None) -> None:
    global _at_hand
    _at_hand = judge_clients


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
    def open(
        self,
        model: str,
        billing: BillingContext | None,  # noqa: ARG002  the Protocol's
    ) -> Iterator[Dispatcher]:
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
