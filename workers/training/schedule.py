"""The learning rate of each step: up to its height in a straight line, then down to 0 in
another."""

from __future__ import annotations

_MEASURED_RATE = (3, 13)
"""The steps whose time is the pace: the first ones also load code and fill caches."""


def share_of_rate(step: int, steps: int, warm_up: int) -> float:
    """What share of the highest learning rate step ``step`` (the first is 0) of ``steps`` has, in
    [0, 1].

    step / warm_up while it is less than ``warm_up``, then (steps - step) / (steps - warm_up): the
    linear schedule of transformers (``get_linear_schedule_with_warmup``), which DEnsity's §4.3
    names.
    """
    if step < warm_up:
        return step / warm_up
    return max(0.0, (steps - step) / max(1, steps - warm_up))


def warm_up_of(steps: int, wanted: int, largest_share: float) -> int:
    """Steps of warm-up in a training of ``steps``."""
    return min(wanted, int(steps * largest_share))


class Pace:
    """How many steps fit into a budget of seconds, from the time that the first ones took."""

    def __init__(self) -> None:
        self._begun: float | None = None

    def seconds_a_step(self, step: int, now: float) -> float | None:
        """Called after every step, ``step`` of them done since this process began; a number once,
        when it is known."""
        first, last = _MEASURED_RATE
        if step == first:
            self._begun = now
        if step == last and self._begun is not None:
            return (now - self._begun) / (last - first)
        return None


def steps_that_fit(
    done: int,
    planned: int,
    seconds_left: float,
    seconds_a_step: float,
    validation: float,
    between: int,
) -> int:
    """Of the ``planned`` steps, how many can be made, ``done`` among them.

    ``validation``: seconds that one takes; ``between``: steps from one to the next. One more comes
    at the end.
    """
    each = seconds_a_step + validation / max(1, between)
    return max(done + 1, min(planned, done + int((seconds_left - validation) / max(each, 1e-9))))
