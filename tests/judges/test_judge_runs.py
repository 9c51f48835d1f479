"""Judges as metric runs: started, paid, stopped, resumed, cut short; against a real endpoint on
loopback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from annotations.models import AuditEntry, CorpusVersion, Turn
from common.jobs import tasks
from tests.at_once import at_once
from tests.campaigns.sets import made_user, made_version
from tests.judges.loopback_server import KEY, Loopback
from workers.judges import actions, stopping
from workers.judges.actions import Refused, resume, set_budget, start_judge_run, stop
from workers.judges.budgets import judge_run_of
from workers.judges.core.clients import BillingContext
from workers.judges.core.response_cache import Stopped
from workers.judges.models import Budget, Hold, JudgeRun, StoredAnswer
from workers.judges.stopping import Watch
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions as runs
from workers.runs import execution, scoring

pytestmark = pytest.mark.django_db

TEXT = "cpdscore_detail[model=judge-a,scoring=answer]"
JUDGE = parse(TEXT)
RESPONSES = 12
"""Two systems × three dialogues × two turns."""


@pytest.fixture
def endpoint(loopback: Loopback, settings: Any) -> Loopback:
    settings.LLM_URL, settings.LLM_KEY, settings.LLM_MODEL = loopback.base_url, KEY, "judge-a"
    settings.LLM_RETRIES, settings.LLM_CONCURRENCY = 0, 1
    settings.LLM_PRICES = {"judge-a": (Decimal(1), Decimal(2))}
    return loopback


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    scoring.forget()
    yield
    scoring.forget()


@pytest.fixture
def version() -> CorpusVersion:
    return made_version()


def start(
    version: CorpusVersion, tokens: int | None = None, usd: Decimal | None = None, by: Any = None
) -> JudgeRun:
    return start_judge_run(version, JUDGE, list(version.systems.all()), tokens, usd, by)


def compute(version: CorpusVersion) -> bool:
    pks = (
        MetricRun.objects.filter(system__version=version)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    return True in [execution.compute(pk) for pk in pks]


def states(version: CorpusVersion) -> list[tuple[str, int]]:
    rows = MetricRun.objects.filter(system__version=version).order_by("pk")
    return list(rows.values_list("state", "attempts"))


def errors(version: CorpusVersion) -> set[str]:
    return set(MetricRun.objects.filter(system__version=version).values_list("error", flat=True))


def asked_twice(server: Loopback) -> list[Any]:
    counts = Counter((one["request"], one["seed"]) for one in server.log() if one["paid"])
    return [key for key, count in counts.items() if count > 1]


def budget_of(version: CorpusVersion) -> Budget:
    return JudgeRun.objects.get(version=version).budget


def test_all_systems_are_judged_together_and_paid_from_the_runs_budget(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    start(version)
    compute(version)
    stats, budget = endpoint.stats(), budget_of(version)
    assert states(version) == [("done", 1)] * 2
    assert budget.calls == stats["paid"] == StoredAnswer.objects.count() <= RESPONSES
    assert budget.tokens_spent == stats["input_tokens"] + stats["output_tokens"]
    assert (
        budget.cost_spent == Decimal(stats["input_tokens"] + 2 * stats["output_tokens"]) / 1_000_000
    )
    assert not Hold.objects.filter(tokens__gt=0).exists()


def test_a_run_whose_every_response_is_refused_fails_and_says_why(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    endpoint.control(default={"do": "content_filter"})
    start(version)
    compute(version)
    assert [state for state, _ in states(version)] == ["failed"] * 2
    assert errors(version) == {
        "the judge was asked and gave no score: the endpoint refuses to judge it: "
        "the endpoint's content filter refuses the prompt."
    }


def test_with_one_score_a_run_is_done_and_the_others_have_their_reason(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    """One answer comes, for the first of the first system; all else is refused."""
    endpoint.control(script=[{"do": "answer"}], default={"do": "content_filter"})
    start(version)
    compute(version)
    assert sorted(state for state, _ in states(version)) == ["done", "failed"]
    done = MetricRun.objects.get(state="done")
    assert [score is None for score in done.turn_scores].count(False) == 1
    assert set(map(type, done.undefined.values())) == {str}
    assert len(done.undefined) == RESPONSES / 2 - 1


def test_a_run_of_which_nothing_could_be_asked_is_done_with_its_reason(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    """The judge wants references, and the corpus has none."""
    Turn.objects.filter(dialogue__version=version).update(references=[])
    judge = parse("cpdscore_detail_ref[model=judge-a,scoring=answer]")
    start_judge_run(version, judge, list(version.systems.all()), None, None)
    compute(version)
    assert [state for state, _ in states(version)] == ["done"] * 2
    assert endpoint.log() == []


def test_a_run_that_is_made_again_reads_the_store(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    start(version)
    compute(version)
    asked = len(endpoint.log())
    MetricRun.objects.all().delete()
    start(version)
    compute(version)
    assert states(version) == [("done", 1)] * 2
    assert len(endpoint.log()) == asked
    assert budget_of(version).calls == asked


def test_a_spent_budget_fails_all_runs_with_what_to_do_and_raised_it_goes_on(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    run = start(version, tokens=2_500)
    compute(version)
    asked = len(endpoint.log())
    assert 0 < asked < RESPONSES
    assert [state for state, _ in states(version)] == ["failed"] * 2
    [error] = errors(version)
    assert error.startswith(f"the budget of {TEXT} on {version} has no room for the next call (")
    assert "of 2,500 tokens spent). What was answered is kept: raise the budget" in error
    assert budget_of(version).tokens_spent <= 2_500
    set_budget(run, None, None)
    assert resume(run) == 2
    compute(version)
    assert states(version) == [("done", 1)] * 2
    assert asked_twice(endpoint) == []
    assert budget_of(version).calls == len(endpoint.log())


def test_an_endpoint_that_refuses_fails_all_runs_at_once_and_its_key_is_nowhere(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    endpoint.control(default={"do": "unauthorized"})
    start(version)
    compute(version)
    assert [state for state, _ in states(version)] == ["failed"] * 2
    [error] = errors(version)
    assert "401" in error
    assert error.endswith(
        "What was answered is kept: start the judge again, and no answer is paid twice."
    )
    assert KEY not in error
    assert len(endpoint.log()) <= 2  # another one may be on its way
    assert not StoredAnswer.objects.exists()


def test_a_failed_endpoint_that_is_mended_goes_on_where_it_was(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    endpoint.control(script=[{"do": "answer"}] * 4 + [{"do": "error"}])
    run = start(version)
    compute(version)
    assert [state for state, _ in states(version)] == ["failed"] * 2
    assert 4 <= StoredAnswer.objects.count() < RESPONSES
    resume(run)
    compute(version)
    assert states(version) == [("done", 1)] * 2
    assert asked_twice(endpoint) == []


# --- cut short ------------------------------------------------------------------------------------


def stopping_after(calls: int) -> Callable[[Watch], None]:
    def look(self: Watch) -> None:
        if stopping.calls_paid_here() - self.paid_before >= calls:
            raise Stopped("it makes way for people who rate")

    return look


def cut_short_after(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """It looks every second; here after each answer."""
    monkeypatch.setattr("workers.judges.core.scheduler.WATCH_SECONDS", 0.0)
    monkeypatch.setattr(Watch, "__call__", stopping_after(calls))


def test_a_run_that_makes_way_is_given_back_and_goes_on(
    version: CorpusVersion, endpoint: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(version)
    with monkeypatch.context() as patch:
        cut_short_after(patch, 3)
        compute(version)
    assert states(version) == [("pending", 0)] * 2
    assert 3 <= StoredAnswer.objects.count() < RESPONSES
    assert not StoredAnswer.objects.filter(state="asked").exists()
    compute(version)
    assert states(version) == [("done", 1)] * 2
    assert asked_twice(endpoint) == []


def test_a_run_that_never_gets_anywhere_fails_when_its_attempts_are_used_up(
    version: CorpusVersion, endpoint: Loopback, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.MAX_ATTEMPTS = 2
    cut_short_after(monkeypatch, 0)
    start(version)
    for _ in range(4):
        compute(version)
    assert states(version) == [("failed", 2)] * 2
    assert errors(version) == {
        "it made no progress before it had to stop: it makes way for people who rate"
    }


def test_a_task_that_took_too_long_is_given_back_where_answers_came(
    version: CorpusVersion, endpoint: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(self: Watch) -> None:
        if stopping.calls_paid_here() > self.paid_before:
            raise SoftTimeLimitExceeded

    monkeypatch.setattr("workers.judges.core.scheduler.WATCH_SECONDS", 0.0)
    monkeypatch.setattr(Watch, "__call__", look)
    start(version)
    execution.compute(MetricRun.objects.order_by("pk")[0].pk)
    assert states(version) == [("pending", 0)] * 2


# --- when it should stop --------------------------------------------------------------------------


@pytest.fixture
def payer(version: CorpusVersion) -> BillingContext:
    runs.request([JUDGE], list(version.systems.all()), hint=False)
    MetricRun.objects.update(state="running", lease_token="x", lease_expires_at="2099-01-01T00:00Z")
    return BillingContext(version.pk, TEXT, tuple(version.systems.values_list("pk", flat=True)))


def test_it_goes_on_while_one_of_its_runs_is_under_way(payer: BillingContext) -> None:
    MetricRun.objects.filter(system=payer.system_ids[0]).update(state="pending")
    Watch(payer)()


def test_it_stops_when_none_of_its_runs_is(payer: BillingContext, version: CorpusVersion) -> None:
    looks = Watch(payer)
    stop(judge_run_of(version.pk, TEXT))
    with pytest.raises(Stopped, match="stopped"):
        looks()


def test_it_stops_in_time_for_its_task_to_end(
    payer: BillingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Watch(payer)
    with tasks.task_of(100):
        looks()
        monkeypatch.setattr(tasks, "_begun_at", tasks._begun_at - 81)
        with pytest.raises(Stopped, match="nearly up"):
            looks()
    looks()  # a command has as much time as it takes


def test_it_makes_way_for_raters_after_its_share(
    payer: BillingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "raters_wait", lambda seconds: True)
    looks = Watch(payer)
    with tasks.task_of(1000):
        looks()  # it has not had its 20 s
        looks.begun_at -= 21
        looks()  # nothing came of it yet
        looks.paid_before -= 1
        with pytest.raises(Stopped, match="makes way"):
            looks()
    looks.looked_at = 0.0
    looks()  # a command is in nobody's way


def test_a_script_is_never_told_to_stop() -> None:
    Watch(None)()


# --- what people do -------------------------------------------------------------------------------


def audited() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", "actor"))


def test_starting_sets_the_budget_and_asks_for_the_runs_once(version: CorpusVersion) -> None:
    ann = made_user("ann", "organiser")
    run = start(version, 1_000, Decimal("2.5"), ann)
    start(version, 1_000, Decimal("2.50"), ann)
    assert (run.budget.tokens_limit, run.budget.cost_limit, run.created_by) == (
        1_000,
        Decimal("2.5"),
        ann,
    )
    assert states(version) == [("pending", 0)] * 2
    assert audited() == [("judge_run.started", "ann")]
    entry = AuditEntry.objects.get()
    assert entry.subject == f"{TEXT} on {version}"
    assert entry.details == {"systems": 2, "tokens_limit": 1_000, "cost_limit": "2.5"}


def test_stopping_and_resuming_twice_is_as_once(version: CorpusVersion) -> None:
    run = start(version)
    assert [stop(run), stop(run)] == [2, 0]
    assert errors(version) == {actions.STOPPED_BY_USER}
    run.refresh_from_db()
    assert run.stopped_at is not None
    assert [resume(run), resume(run)] == [2, 0]
    run.refresh_from_db()
    assert run.stopped_at is None
    assert states(version) == [("pending", 0)] * 2
    assert [action for action, _ in audited()] == [
        "judge_run.started",
        "judge_run.stopped",
        "judge_run.resumed",
    ]


def test_starting_again_goes_on_with_what_was_stopped(version: CorpusVersion) -> None:
    run = start(version)
    stop(run)
    assert start(version).stopped_at is None
    assert states(version) == [("pending", 0)] * 2


def test_stopping_leaves_runs_that_a_submission_waits_for_and_those_that_are_done(
    version: CorpusVersion,
) -> None:
    run = start(version)
    first, _ = MetricRun.objects.order_by("pk")
    version.systems.filter(pk=first.system_id).update(withheld=True)
    assert stop(run) == 1
    assert [state for state, _ in states(version)] == ["pending", "failed"]


def test_a_budget_below_what_is_spent_is_refused_and_changes_nothing(
    version: CorpusVersion,
) -> None:
    run = start(version, 1_000)
    Budget.objects.update(tokens_spent=600, cost_spent=Decimal("0.5"))
    for limits, field in (((599, None), "tokens"), ((1_000, Decimal("0.49")), "usd")):
        with pytest.raises(Refused) as refusal:
            set_budget(run, *limits)
        assert refusal.value.field == field
    assert (budget_of(version).tokens_limit, budget_of(version).cost_limit) == (1_000, None)
    set_budget(run, 600, Decimal("0.5"))
    assert [action for action, _ in audited()] == ["judge_run.started", "judge_run.budget"]


def test_a_metric_that_is_no_judge_and_no_system_at_all_are_refused(version: CorpusVersion) -> None:
    with pytest.raises(Refused, match="no judge"):
        start_judge_run(version, parse("word_f1"), list(version.systems.all()), None, None)
    with pytest.raises(Refused, match="no system"):
        start_judge_run(version, JUDGE, [], None, None)
    assert not JudgeRun.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_starting_and_stopping_at_once_ends_in_one_of_both(notified: list[int]) -> None:
    version = made_version()
    run = start(version)
    found = at_once(*([lambda: start(version)] * 2 + [lambda: stop(run)] * 2))
    assert [one for one in found if isinstance(one, Exception)] == []
    run.refresh_from_db()
    expected = "pending" if run.stopped_at is None else "failed"
    assert [state for state, _ in states(version)] == [expected] * 2
    assert JudgeRun.objects.count() == Budget.objects.count() == 1


PROMPT = """name: short
step: turn
labels: overall
scale: 1-5

=== user
{words}: {{response}}
overall:
"""


def prompt_judge(path: Path, words: str) -> str:
    path.write_text(PROMPT.format(words=words))
    scoring.forget()  # as a worker that begins anew
    return f"judge[model=judge-a,prompt={path},scoring=answer]"


def test_a_prompt_file_that_was_changed_gives_no_scores_beside_those_of_the_old_one(
    version: CorpusVersion, endpoint: Loopback, tmp_path: Path
) -> None:
    """One configuration, two wordings: their scores would stand on one board as if one judge had
    given them."""
    endpoint.control(text="overall: 4")
    text = prompt_judge(tmp_path / "mine.txt", "Rate it")
    first, second = version.systems.all()
    start_judge_run(version, parse(text), [first], None, None)
    compute(version)
    asked = len(endpoint.log())
    prompt_judge(tmp_path / "mine.txt", "Be kind to it")
    start_judge_run(version, parse(text), [second], None, None)
    compute(version)
    assert [state for state, _ in states(version)] == ["done", "failed"]
    assert "mine.txt holds another wording now" in max(errors(version))
    assert len(endpoint.log()) == asked
    prompt_judge(tmp_path / "mine.txt", "Rate it")
    start_judge_run(version, parse(text), [second], None, None)
    compute(version)
    assert [state for state, _ in states(version)] == ["done", "done"]


def test_a_prompt_file_that_was_changed_while_its_judge_was_at_work_gives_no_scores_either(
    version: CorpusVersion, endpoint: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker finishes with the other wording meanwhile."""
    endpoint.control(text="overall: 4")
    text = prompt_judge(tmp_path / "mine.txt", "Rate it")
    first, second = version.systems.all()
    start_judge_run(version, parse(text), [second], None, None)
    outcomes = scoring.outcomes

    def meanwhile(*arguments: Any) -> Any:
        found = outcomes(*arguments)
        other = {
            "metric": "judge",
            "metric_version": "1",
            "configuration": parse(text).text,
            "queue": "llm",
        }
        ended = {"state": "done", "system_score": 4.0, "finished_at": timezone.now()}
        MetricRun.objects.create(
            system=first, signature="metric:judge|prompt_sha256:abc|n:1", **ended, **other
        )
        return found

    monkeypatch.setattr(scoring, "outcomes", meanwhile)
    compute(version)
    assert MetricRun.objects.get(system=second).state == "failed"


def test_a_judge_that_was_stopped_is_not_begun_again_by_those_who_try_failed_runs_again(
    version: CorpusVersion, endpoint: Loopback
) -> None:
    """The page of runs has one button for all that failed; a judge that was stopped goes on from
    its own page."""
    run = start(version)
    stop(run)
    assert runs.retry_failed(version) == 0
    assert [state for state, _ in states(version)] == ["failed"] * 2
    JudgeRun.objects.update(stopped_at=None)
    assert runs.retry_failed(version) == 2
