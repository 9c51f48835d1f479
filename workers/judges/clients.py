"""What this site has for judging: its endpoint or the packaged model, the response cache in the
database, budgets, one rate limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache, partial

from django.conf import settings

from workers.inference.language_models.server import (
    PACKAGED_MODEL_NAME,
    PARALLEL_CONVERSATIONS,
    LocalServerError,
)
from workers.judges.budgets import budgets_of
from workers.judges.call_rows import dialect_at, keep_dialect
from workers.judges.core.calls import Price, price_of
from workers.judges.core.clients import BillingContext
from workers.judges.core.dialects import Learner
from workers.judges.core.dispatcher import Dispatcher
from workers.judges.core.endpoints import (
    SiteEndpoint,
    address_of,
    endpoint_for,
    host_of,
    is_local,
    why_missing,
)
from workers.judges.core.rate_limit import InProcessRateLimit, Limits, Pace
from workers.judges.core.response_cache import EndpointFailed
from workers.judges.rate_limit import SharedRateLimit
from workers.judges.response_cache import DatabaseResponseCache
from workers.judges.stopping import Watch

FREE = Price(Decimal(0), Decimal(0))


class SiteClients:
    """Settings are read anew for each client: there are few of them, and tests change settings."""

    @contextmanager
    def open(self, model: str, billing: BillingContext | None) -> Iterator[Dispatcher]:
        """Raises ``EndpointFailed`` where nothing answers for the model."""
        site = site_endpoint()
        try:
            found = endpoint_for(model, site)
        except (LookupError, LocalServerError) as problem:
            raise EndpointFailed(str(problem)) from problem
        price = price_for(model)
        response_cache = DatabaseResponseCache(budgets_of(billing), price, found.device_label)
        limits, watch = limits_for(model, site), Watch(billing)

        def look() -> None:
            response_cache.renew_in_time()
            watch()

        engine = Dispatcher(
            found.endpoint,
            response_cache,
            limits,
            _pace(model, site, limits),
            look,
            price,
            found.model_label,
            found.device_label,
            None if is_local(model, site) else learner_for(site.url, model),
        )
        try:
            yield engine
        finally:
            engine.close()
            response_cache.close()

    def missing(self, model: str) -> str:
        return why_missing(model, site_endpoint())


def learner_for(url: str, model: str) -> Learner:
    """What all workers know of the endpoint; what this one learns is theirs, too."""
    address = address_of(url)[:300]
    return Learner(dialect_at(address, model), partial(keep_dialect, address, model))


def site_endpoint() -> SiteEndpoint:
    return SiteEndpoint(settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY)


def price_for(model: str) -> Price:
    """The packaged model costs nothing, unless the site says otherwise."""
    if model == PACKAGED_MODEL_NAME and model not in settings.LLM_PRICES:
        return FREE
    return price_of(model, settings.LLM_PRICES)


def limits_for(model: str, site: SiteEndpoint) -> Limits:
    """The rates are the site's endpoint's: what this process serves itself knows none.

    The packaged model's server has a few conversations at once. What is sent beyond them waits
    inside it, and on a busy machine waits longer than a call may take, so that it is sent again,
    and again for nothing.
    """
    packaged = model == PACKAGED_MODEL_NAME
    at_once = (
        min(settings.LLM_CONCURRENCY, PARALLEL_CONVERSATIONS)
        if packaged
        else settings.LLM_CONCURRENCY
    )
    if is_local(model, site):
        return Limits(at_once, settings.LLM_SECONDS, settings.LLM_RETRIES)
    return Limits(
        at_once,
        settings.LLM_SECONDS,
        settings.LLM_RETRIES,
        settings.LLM_REQUESTS_A_MINUTE,
        settings.LLM_TOKENS_A_MINUTE,
    )


def _pace(model: str, site: SiteEndpoint, limits: Limits) -> Pace:
    """Where there are no rates to keep, no row is asked."""
    if limits.requests_a_minute or limits.tokens_a_minute:
        return SharedRateLimit(
            f"{host_of(site.url)} {model}", limits.requests_a_minute, limits.tokens_a_minute
        )
    return _own_rate_limit(model)


@lru_cache(maxsize=64)
def _own_rate_limit(_model: str) -> InProcessRateLimit:
    return InProcessRateLimit()
