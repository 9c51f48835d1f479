"""The judges' page of the corpus "talks", as a browser asks for it and presses its buttons."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from workers.inference.language_models.server import PACKAGED_MODEL_NAME
from workers.judges import actions
from workers.judges.models import JudgeRun
from workers.metrics.common.configuration import parse
from workers.models import MetricRun

DETAIL = "cpdscore_detail"
GPT = "gpt-4o-mini-2024-07-18"


def params(**changes: Any) -> dict[str, Any]:
    """What the browser sends when one changes nothing but these."""
    return {
        "judge": DETAIL,
        "model": PACKAGED_MODEL_NAME,
        "other_model": "",
        "scoring": "expected",
        "samples": "1",
        "temperature": "1.0",
        "prompt": "",
        "more": "",
        **changes,
    }


def page(client: Client, **query: str) -> str:
    answer = client.get(reverse("judge-runs", args=["talks"]), query)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def estimate(client: Client, status: int = 200, **changes: Any) -> str:
    answer = client.post(reverse("judge-estimate", args=["talks"]), params(**changes))
    assert answer.status_code == status, answer.status_code
    return answer.content.decode()


def start(client: Client, configuration: str = DETAIL, **changes: Any):
    data = params(estimated=configuration, **{"tokens": "", "usd": "", **changes})
    return client.post(reverse("judge-start", args=["talks"]), data)


def press(client: Client, button: str, metric: str = DETAIL, **data: Any):
    return client.post(reverse(button, args=["talks"]), {"metric": metric, **data})


def started(
    version: CorpusVersion, written: str = DETAIL, tokens: int | None = None, usd: Any = None
) -> JudgeRun:
    return actions.start_judge_run(version, parse(written), select_systems(version), tokens, usd)


def runs_of(written: str = DETAIL) -> QuerySet[MetricRun]:
    return MetricRun.objects.filter(configuration=written).order_by("system__position")


def finish(written: str, systems: list[str], scores: list[float | None]) -> None:
    undefined = {str(place): "no number" for place, score in enumerate(scores) if score is None}
    runs_of(written).filter(system__name__in=systems).update(
        state="done", finished_at=timezone.now(), signature="s", system_score=3.0,
        turn_scores=scores, undefined=undefined, examples_total=len(scores),
        examples_done=len(scores), model="some-model@1",
    )  # fmt: skip


def fail(written: str, error: str) -> None:
    runs_of(written).exclude(state="done").update(
        state="failed", finished_at=timezone.now(), error=error
    )


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def card(client: Client, metric: str = DETAIL) -> str:
    html = page(client, metric=metric)
    return text_of(html[html.index('class="judge-card"') : html.index('id="judge-start"')])
