"""What metrics load once, however many processes a worker has: before it forks, so that no first
run waits for it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Collection

from workers.metrics.configuration import Configuration
from workers.metrics.registry import all_metrics

log = logging.getLogger(__name__)


def warm_up(queues: Collection[str]) -> list[str]:
    """Warm up the metrics of these queues that can run here; their names. One that fails is as slow
    as before."""
    warm: list[str] = []
    for name, metric in all_metrics().items():
        if (
            metric.warm_up is None
            or metric.queue not in queues
            or Configuration.of(metric).missing()
        ):
            continue
        try:
            metric.warm_up()
        except Exception:
            log.warning(
                "%s could not be warmed up; its first run will say why", name, exc_info=True
            )
        else:
            warm.append(name)
    if "cpu" in queues:  # whose processes compute statistics, too
        import scipy.stats  # noqa: F401
    # what is loaded by now stays one copy: no collection in a forked process writes to its pages
    gc.freeze()
    return warm
