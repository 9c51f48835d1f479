"""What a metric says of a run as a whole, as the run's row keeps it."""

from __future__ import annotations

from typing import Any

import pytest

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from tests.workers.conftest import forget
from tests.workers.lengths import NotedLengths, batch_metric
from workers.metrics import registry
from workers.metrics.base import Account
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution

pytestmark = pytest.mark.django_db


def computed(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch, details: dict[str, Any]
) -> MetricRun:
    class Telling(NotedLengths):
        def account(self) -> Account:
            return Account(details=details)

    forget()
    monkeypatch.setattr(
        registry, "_catalogue", lambda: registry.assemble([batch_metric(Telling(), 1)], [])
    )
    actions.request([parse("together")], select_systems(version, ["echo"]), hint=False)
    run = MetricRun.objects.get()
    execution.compute(run.pk)
    run.refresh_from_db()
    return run


def test_what_is_no_json_fails_the_run(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = computed(version, monkeypatch, {"spread": float("nan")})
    assert run.error.startswith("ValueError: together gave details that are no JSON")


def test_what_no_database_keeps_is_left_out(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = computed(version, monkeypatch, {"said": ["a\0b", "half \ud800"], "k\0": "é"})
    assert (run.state, run.details) == ("done", {"said": ["ab", "half ?"], "k": "é"})


@pytest.mark.parametrize("text", [r"score 5 \u0000", r"\u0000n", r"\\u0000", r"\ud800"])
def test_what_json_writes_for_a_nul_may_stand_in_a_text(
    text: str, version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A response may hold these characters, and a judge's trace quote it."""
    run = computed(version, monkeypatch, {"traces": {"0": text}})
    assert (run.error, run.details) == ("", {"traces": {"0": text}})
