"""One configuration, one wording. A prompt file is named by its path, and what stands at a path may
change: scores of both wordings would stand side by side as if one judge had given them."""

from __future__ import annotations

from typing import Any

from workers.metrics.configuration import Configuration
from workers.models import MetricRun


class OtherWording(RuntimeError):
    """The prompt is not the one with which the configuration's scores were made; the message says
    what to do."""


def check(configuration: Configuration, scorer: Any) -> None:
    """Raises ``OtherWording`` where finished runs of the configuration, on whatever corpus, were
    asked otherwise."""
    wording: dict[str, str] = scorer.wording() if hasattr(scorer, "wording") else {}
    done = MetricRun.objects.filter(
        configuration=configuration.text,
        metric_version=configuration.metric.version,
        state=MetricRun.State.DONE,
    )
    for fact, digest in wording.items():
        found = done.filter(signature__contains=f"|{fact}:")
        if found.exclude(signature__contains=f"|{fact}:{digest}").exists():
            option = "turn_prompt" if fact.startswith("turn_") else "prompt"
            name = configuration.options.get(option) or "the project's prompt"
            raise OtherWording(
                f"{name} holds another wording now ({fact} {digest}) than when systems were "
                "judged with this configuration. Put the old wording back, or give the new one a "
                "name of its own"
            )
