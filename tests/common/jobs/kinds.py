"""Every kind of job, with a way to make one that waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common.jobs.models import Job

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Kind:
    make: Callable[[Path], Job]
    result: Callable[[Job], dict[str, Any]]
    """What ``finish`` stores."""
    progress: dict[str, Any] = field(default_factory=dict)
    """What ``renew`` may store with the lease."""
    due: dict[str, Any] = field(default_factory=dict)
    """Columns of a job that need not wait for its time."""


def _training(_folder: Path) -> Job:
    from workers.training.models import Training

    return Training.objects.create(name="small", work="small-1", recipe="density", data={})


def _analysis(_folder: Path) -> Job:
    from leaderboard.models import Analysis
    from tests.campaigns.sets import made_version

    return Analysis.objects.create(version=made_version(), kind="overview", question="{}")


def _notice(_folder: Path) -> Job:
    from leaderboard.challenges.actions import notices
    from leaderboard.challenges.models import Webhook
    from tests.campaigns.sets import made_user

    hook = Webhook.objects.create(user=made_user("ada"), url="https://example.org", secret="s")
    return notices.try_webhook(hook)


def _metric_run(_folder: Path) -> Job:
    from tests.campaigns.sets import made_version
    from workers.models import MetricRun

    return MetricRun.objects.create(
        system=made_version().systems.earliest("pk"),
        metric="length",
        metric_version="1",
        configuration="length",
        queue="cpu",
    )


def _submission(_folder: Path) -> Job:
    from tests.challenges.sets import open_round, submit, team_with_member

    round = open_round()
    return submit(round, team_with_member(round.challenge)[0])


def _submitted_metric(submission: Job) -> dict[str, Any]:
    from leaderboard.models import SubmittedMetric

    metric = SubmittedMetric.objects.create(version=submission.version, name="m", level="turn")
    return {"metric": metric}


def _message(_folder: Path) -> Job:
    from annotations.campaigns.actions import chat
    from tests.workers.chats import made_chat

    answer = chat.say(made_chat(), "Hello.", "k1").answer
    assert answer is not None
    return answer


def _trial(_folder: Path) -> Job:
    from tests.judges.written import configuration_of, rated_version, written
    from workers.judges import trial_actions

    prompt = written()
    return trial_actions.start(prompt, rated_version(), configuration_of(prompt), "overall")


def _import(_folder: Path) -> Job:
    from annotations.models import CorpusImport

    return CorpusImport.objects.create(
        stored="imports/1", file_name="cooks.jsonl", size=9, fields={"format": "jsonl"}
    )


KINDS = {
    "annotations.CorpusImport": Kind(
        _import, lambda _: {"outcome": {"corpora": []}}, {"progress": {"step": "checked"}}
    ),
    "challenges.Submission": Kind(_submission, _submitted_metric, {"progress_done": 3}),
    "workers.MetricRun": Kind(
        _metric_run,
        lambda _: {"signature": "metric:length", "system_score": 0.5},
        {"examples_done": 2},
    ),
    "challenges.Notice": Kind(_notice, lambda _: {"answer": "200"}, due={"due_at": LONG_AGO}),
    "leaderboard.Analysis": Kind(
        _analysis, lambda _: {"answer": {"n": 1}, "seconds": 1.0}, {"tried": "1"}
    ),
    "campaigns.Message": Kind(_message, lambda _: {"text": "Fine.", "signature": "model:m|seed:3"}),
    "judges.Trial": Kind(_trial, lambda _: {"results": [{"score": 1.0}]}, {"examples_done": 4}),
    "trainings.Training": Kind(
        _training, lambda _: {"revision": "0123456789ab"}, {"progress": {"step": 3}}
    ),
}
