"""Asks an endpoint all of a judge's calls, many at once: claims each in the response cache before
it is sent, puts down what comes, asks again what came to nothing. The ``JudgeClient`` that judges
see. Pure.

The caller's thread owns the response cache and decides everything
(``workers.judges.core.scheduler``); a second one sends (``workers.judges.core.sender``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from workers.inference.language_models.asynchronous import AsyncModel, request_body
from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.refusals import key_fault
from workers.judges.core.calls import NO_PRICE, Call, Follow, Price
from workers.judges.core.dialects import PLAIN, Dialect, Learner, sent_as
from workers.judges.core.endpoints import host_of
from workers.judges.core.rate_limit import Limits, Pace
from workers.judges.core.response_cache import EndpointFailed, ResponseCache
from workers.judges.core.scheduler import Scheduler
from workers.judges.core.sender import AttemptSender


def nobody_watches() -> None:
    pass


def no_progress(_: int) -> None:
    pass


def body_of(call: Call, dialect: Dialect = PLAIN) -> bytes:
    """What is sent. A ``seed`` among the parameters is the run's: each call gets its own, which
    follows from it."""
    messages, parameters = sent_as(call.request, dialect)
    return request_body(
        call.request.model, messages, parameters, call.seed if "seed" in parameters else None
    )


@dataclass
class Dispatcher:
    """``watch`` is called about every second while calls are asked, from the caller's thread, and
    may raise ``Stopped``. ``price``: of the endpoint's model. Close it when all is asked; it may
    ask several times before.
    """

    endpoint: Endpoint
    response_cache: ResponseCache
    limits: Limits
    pace: Pace
    watch: Callable[[], None] = nobody_watches
    price: Price = NO_PRICE
    model_label: str = ""
    device_label: str = ""
    learner: Learner | None = None
    """None: the endpoint is known to take what is asked, and nothing is learned."""
    _sender: AttemptSender | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.model_label = self.model_label or self.endpoint.model
        self.device_label = self.device_label or f"endpoint {host_of(self.endpoint.base_url)}"

    def ask(
        self, calls: Iterable[Call], follow: Follow, progress: Callable[[int], None] | None = None
    ) -> None:
        """As ``JudgeClient.ask``. A call that is the same as another of these calls is sent once,
        and ``follow`` is called for both."""
        if fault := key_fault(self.endpoint):
            raise EndpointFailed(fault)
        if self._sender is None:
            endpoint, limits = self.endpoint, self.limits
            self._sender = AttemptSender(
                lambda: AsyncModel(endpoint, limits.seconds),
                lambda attempt: body_of(attempt.call, attempt.dialect),
                limits.at_once,
            )
        asking = Scheduler(
            self.endpoint,
            self.response_cache,
            self.limits,
            self.pace,
            self.watch,
            self._sender,
            follow,
            progress or no_progress,
            self.price,
            self.learner,
        )
        try:
            asking.run(calls)
        except BaseException:
            self.close()  # what is still under way is broken off
            raise

    def close(self) -> None:
        """Closes the connections. The cache is its maker's to close."""
        if self._sender is not None:
            self._sender.close()
            self._sender = None
