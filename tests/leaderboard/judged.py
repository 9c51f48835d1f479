"""Finished runs of a judge with their traces, and what it was asked and said, as rows: written by
hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion, System
from workers.inference.language_models.client import Message
from workers.judges.core.calls import ChatRequest
from workers.judges.models import StoredAnswer, StoredRequest
from workers.metrics.common.configuration import parse
from workers.metrics.common.judge_samples import JudgeTrace
from workers.models import MetricRun

JUDGE = "cpdscore_detail[samples=3,scoring=answer]"
EXPECTED = "cpdscore_detail"
DIALOGUES = "cpdscore_dialogue"


def judged_run(
    system: System,
    scores: Sequence[float | None],
    traces: Mapping[int, JudgeTrace] | None = None,
    *,
    configuration: str = JUDGE,
    undefined: Mapping[int, str] | None = None,
    remarks: Mapping[int, str] | None = None,
    state: str = "done",
) -> MetricRun:
    """Of turns, or of dialogues where the metric scores these."""
    chosen = parse(configuration)
    given = [score for score in scores if score is not None]
    whole = "turn" not in chosen.metric.levels
    run = MetricRun.objects.create(
        system=system,
        metric=chosen.metric.name,
        metric_version=chosen.metric.version,
        configuration=chosen.text,
        queue="llm",
        state=state,
        error="it was stopped" if state == "failed" else "",
        lease_token="somebody" if state == "running" else "",
        lease_expires_at=timezone.now() if state == "running" else None,
        signature=f"{chosen.signature()}|corpus:small" if state == "done" else "",
        model="smollm2-135m-instruct@0123456789ab",
        finished_at=timezone.now() if state == "done" else None,
        system_score=sum(given) / len(given) if given and state == "done" else None,
        system_reason="" if given else "no response has a score",
        turn_scores=[] if whole else list(scores),
        dialogue_scores=list(scores) if whole else [],
        undefined={str(place): reason for place, reason in (undefined or {}).items()},
        remarks={str(place): remark for place, remark in (remarks or {}).items()},
        details={
            "traces": {str(place): trace.as_json() for place, trace in (traces or {}).items()}
        },
    )
    data_changed([system.version_id])
    return run


def asked(text: str, answers: Mapping[tuple[int, int], str] | Sequence[str], **columns: Any) -> str:
    """Stores a request with this user message and its answers, by (sample, ask) or one a sample.
    Returns its key."""
    request = ChatRequest(
        "smollm2-135m-instruct",
        (Message("system", "You judge dialogues."), Message("user", text)),
        (("max_tokens", 64), ("temperature", 1.0)),
    )
    row, _ = StoredRequest.objects.get_or_create(
        key=request.key, defaults={"model": request.model, "body": request.body}
    )
    said = (
        answers
        if isinstance(answers, Mapping)
        else {(sample, 0): one for sample, one in enumerate(answers)}
    )
    for (sample, ask), words in said.items():
        given = {
            "state": StoredAnswer.State.ANSWERED,
            "text": words,
            "endpoint": "http://endpoint.example/v1",
            "reported_model": "smollm2-reported",
            "finish_reason": "stop",
            "input_tokens": 321,
            "output_tokens": 12,
            "latency_seconds": 0.25,
            "cost": Decimal("0.00012000"),
            "attempts": 1,
            "answered_at": timezone.now(),
            **columns,
        }
        StoredAnswer.objects.create(request=row, sample=sample, ask=ask, **given)
    return request.key


def system_of(version: CorpusVersion, name: str) -> System:
    return version.systems.get(name=name)
