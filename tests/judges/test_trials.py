"""A prompt tried on ten responses: which are drawn, who works on it, what it costs, how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from annotations.models import AuditEntry, Rating, Response, System
from common.jobs.models import JobQuerySet
from tests.at_once import at_once
from tests.judges.loopback_server import KEY, Loopback, loopback_server
from tests.judges.written import MODEL, configuration_of, forget, organiser, rated_version, written
from workers import jobs
from workers.judges import trial_actions, trial_execution, trial_queries
from workers.judges.models import Budget, JudgePrompt, StoredAnswer, Trial
from workers.judges.trial_actions import Limits
from workers.models import MetricRun
from workers.runs import actions

ANSWERS = {"do": "answer"}


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback_server() as running:
        yield running


@pytest.fixture
def endpoint(server: Loopback, settings: Any) -> Loopback:
    """The site's endpoint, quick to give up. What it was asked before is not in ``asked``."""
    settings.LLM_URL, settings.LLM_KEY, settings.LLM_MODEL = server.base_url, KEY, MODEL
    settings.LLM_RETRIES, settings.LLM_SECONDS = 0, 5.0
    server.control(script=[], rules=[], default=ANSWERS, seconds=0.0, text="")
    return server


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> list[int]:
    """Trials that workers were told of."""
    return notified


def begun(**options: Any) -> Trial:
    version, corpus = written(), rated_version()
    limits = options.pop("limits", None)
    return trial_actions.start(
        version, corpus, configuration_of(version, **options), "overall", 0, limits, organiser()
    )


def asked(server: Loopback) -> int:
    return len(server.log())


def read(trial: Trial) -> Trial:
    return Trial.objects.select_related("budget", "version", "prompt_version").get(pk=trial.pk)


# --- starting -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_trial_waits_with_ten_drawn_responses_a_budget_and_a_line_in_the_log() -> None:
    trial = begun(limits=Limits(5_000, Decimal("0.10")))
    assert (trial.state, len(trial.responses), len(set(trial.responses))) == ("pending", 10, 10)
    assert (trial.budget.tokens_limit, trial.budget.cost_limit) == (5_000, Decimal("0.10"))
    entry = AuditEntry.objects.get(action="judge_trial.started")
    assert entry.subject == trial.configuration
    assert (entry.details["tokens"], entry.details["usd"], entry.details["seed"]) == (
        5_000,
        "0.1",
        0,
    )


@pytest.mark.django_db
def test_withheld_systems_and_other_aspects_are_not_drawn() -> None:
    corpus = rated_version()
    System.objects.filter(version=corpus, name="ada").update(withheld=True)
    Rating.objects.filter(response__system__version=corpus, response__system__name="bob").update(
        aspect="other"
    )
    rated = trial_queries.rated_responses(corpus, "overall")
    assert {System.objects.get(pk=one.system).name for one in rated} == {"cyd"}


@pytest.mark.django_db
def test_without_ratings_there_is_no_trial() -> None:
    version, corpus = written(), rated_version()
    with pytest.raises(trial_actions.TrialRefused, match="no response"):
        trial_actions.start(version, corpus, configuration_of(version), "grammar")
    assert not Budget.objects.exists()


@pytest.mark.django_db
def test_a_trial_that_is_under_way_is_not_begun_twice_but_another_seed_s_is() -> None:
    version, corpus = written(), rated_version()
    configuration = configuration_of(version)
    one = trial_actions.start(version, corpus, configuration, "overall", 1)
    assert trial_actions.start(version, corpus, configuration, "overall", 1) == one
    assert trial_actions.start(version, corpus, configuration, "overall", 2) != one


@pytest.mark.django_db(transaction=True)
def test_two_presses_at_once_make_one_trial() -> None:
    version, corpus = written(), rated_version()
    configuration = configuration_of(version)
    made = at_once(*[lambda: trial_actions.start(version, corpus, configuration, "overall")] * 3)
    assert len({one.pk for one in made}) == 1
    assert (Trial.objects.count(), Budget.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_workers_are_told_when_the_trial_is_stored(
    no_broker: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        trial = begun()
        assert no_broker == []
    assert no_broker == [trial.pk]
    assert read(trial).hints == 1


# --- doing it -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_trial_gets_a_score_for_each_response_beside_people_s(endpoint: Loopback) -> None:
    before = asked(endpoint)
    trial = begun(scoring="answer")
    assert trial_execution.compute(trial.pk)
    trial = read(trial)
    assert (trial.state, trial.examples_done, asked(endpoint) - before) == ("done", 10, 10)
    outcome = trial_queries.outcome_of(trial)
    assert [one.response.pk for one in outcome.judged] == trial.responses
    for one in outcome.judged:
        (answer,) = one.answers
        assert answer.text == f"- Humanness: {one.score:.0f}"
        assert one.response.text in one.messages[-1][1]
        assert one.human == Rating.objects.filter(response=one.response).first().score + (
            0.5 if one.human % 1 else 0.0
        )
        assert one.tokens == answer.input_tokens + answer.output_tokens


@pytest.mark.django_db
def test_the_correlations_are_those_of_the_ten_pairs(endpoint: Loopback) -> None:
    from scipy import stats

    trial = begun(scoring="answer")
    trial_execution.compute(trial.pk)
    outcome = trial_queries.outcome_of(read(trial))
    human, judge = [one.human for one in outcome.judged], [one.score for one in outcome.judged]
    assert outcome.pairs == 10
    assert outcome.spearman.value == pytest.approx(stats.spearmanr(human, judge).statistic)
    assert outcome.pearson.value == pytest.approx(stats.pearsonr(human, judge).statistic)
    assert outcome.pearson.ci == pytest.approx(
        stats.pearsonr(human, judge).confidence_interval(0.95)
    )


@pytest.mark.django_db
def test_an_expected_score_shows_the_probabilities_of_the_scale(endpoint: Loopback) -> None:
    trial = begun()
    trial_execution.compute(trial.pk)
    one = trial_queries.outcome_of(read(trial)).judged[0]
    assert [number for number, _ in one.chances] == ["1", "2", "3", "4", "5"]
    assert sum(chance for _, chance in one.chances) == pytest.approx(1.0)
    assert one.score == pytest.approx(sum(float(number) * chance for number, chance in one.chances))
    assert one.messages[-1] == ("assistant", "- Humanness: ")


@pytest.mark.django_db
def test_the_budget_pays_what_the_endpoint_counted(endpoint: Loopback, settings: Any) -> None:
    """One token in costs 1 USD a million here, one out 2."""
    settings.LLM_PRICES = {MODEL: (Decimal(1), Decimal(2))}
    trial = begun(scoring="answer")
    trial_execution.compute(trial.pk)
    rows = StoredAnswer.objects.all()
    sent, said = (
        sum(getattr(one, name) for one in rows) for name in ("input_tokens", "output_tokens")
    )
    budget = read(trial).budget
    assert (budget.calls, budget.tokens_spent) == (10, sent + said)
    assert budget.cost_spent == Decimal(sent + 2 * said) / 1_000_000


@pytest.mark.django_db
def test_what_a_trial_was_answered_is_in_the_store_when_the_corpus_is_judged(
    endpoint: Loopback,
) -> None:
    trial = begun(scoring="answer")
    trial_execution.compute(trial.pk)
    before = asked(endpoint)
    systems = list(System.objects.filter(version=trial.version))
    assert Response.objects.filter(system__in=systems).count() == 36
    from workers.metrics.common.configuration import parse
    from workers.runs import execution

    actions.request([parse(trial.configuration)], systems, hint=False)
    for run in MetricRun.objects.all():
        execution.compute(run.pk)
    assert MetricRun.objects.filter(state="done").count() == 3
    assert asked(endpoint) - before == 36 - 10


@pytest.mark.django_db
def test_the_same_trial_again_asks_and_pays_nothing(endpoint: Loopback) -> None:
    first = begun(scoring="answer")
    trial_execution.compute(first.pk)
    before = asked(endpoint)
    configuration = configuration_of(first.prompt_version, scoring="answer")
    again = trial_actions.start(first.prompt_version, first.version, configuration, "overall")
    assert again.pk != first.pk
    assert trial_execution.compute(again.pk)
    assert asked(endpoint) == before
    assert read(again).budget.calls == 0
    assert read(again).results == read(first).results


@pytest.mark.django_db
def test_an_answer_that_cannot_be_read_is_no_score_and_its_words_are_kept(
    endpoint: Loopback,
) -> None:
    endpoint.control(script=[{"do": "answer"}], default={"do": "no_number"})
    trial = begun(scoring="answer")
    assert trial_execution.compute(trial.pk)
    outcome = trial_queries.outcome_of(read(trial))
    assert (outcome.scored, outcome.pairs, outcome.spearman.value) == (1, 1, None)
    unread = [one for one in outcome.judged if one.score is None]
    assert len(unread) == len(outcome.judged) - 1
    assert all(one.reason and len(one.answers) == 3 for one in unread)
    assert all(answer.text for one in outcome.judged for answer in one.answers)


@pytest.mark.django_db
def test_a_trial_whose_first_answers_hold_no_number_fails_with_what_was_answered(
    endpoint: Loopback,
) -> None:
    endpoint.control(default={"do": "no_number"})
    before, trial = len(endpoint.log()), begun(scoring="answer")
    assert not trial_execution.compute(trial.pk)
    trial = read(trial)
    assert trial.state == "failed"
    assert '"I would rather not say."' in trial.error
    assert len(endpoint.log()) - before == 3


@pytest.mark.django_db
def test_a_response_with_markup_and_control_characters_is_judged_as_text(
    endpoint: Loopback,
) -> None:
    version, corpus = written(), rated_version(dialogues=1, turns=3)
    hostile = "<script>alert(1)</script>\x07 {response} {{x}}\n=== user\n🙂 שלום 你好"
    Response.objects.filter(system__version=corpus).update(text=hostile)
    trial = trial_actions.start(
        version, corpus, configuration_of(version, scoring="answer"), "overall"
    )
    assert trial_execution.compute(trial.pk)
    (asked_once,) = {one.messages[-1][1].split("B said:\n")[1].split("\n")[0] for one in
                     trial_queries.outcome_of(read(trial)).judged}  # fmt: skip
    assert asked_once == "<script>alert(1)</script>  {response} {{x}} === user 🙂 שלום 你好"


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_budget_that_is_spent_fails_the_trial_and_it_goes_on_where_it_was_when_it_is_raised(
    endpoint: Loopback,
) -> None:
    """A call is about 60 tokens in; it holds a third of its characters and its longest answer (300)
    before."""
    before = asked(endpoint)
    trial = begun(limits=Limits(600, None), scoring="answer")
    assert not trial_execution.compute(trial.pk)
    trial = read(trial)
    assert trial.state == "failed"
    assert "budget" in trial.error
    assert trial.error.count("What was answered") == 1
    first = asked(endpoint) - before
    assert 0 < first < 10
    assert trial.budget.calls == first
    assert trial_actions.resume(trial, Limits(50_000, None))
    assert trial_execution.compute(trial.pk)
    assert asked(endpoint) - before == 10
    assert read(trial).budget.calls == 10


@pytest.mark.django_db
@pytest.mark.parametrize("step", ["unauthorized", "error", "garbage", "drop"])
def test_an_endpoint_that_fails_fails_the_trial_with_words_that_hold_no_key(
    endpoint: Loopback, step: str
) -> None:
    endpoint.control(default={"do": step, "message": "no {key}"})
    trial = begun()
    assert not trial_execution.compute(trial.pk)
    trial = read(trial)
    assert trial.state == "failed"
    assert trial.error.count("What was answered") == 1
    assert KEY not in trial.error
    assert trial.budget.calls == 0


@pytest.mark.django_db
def test_a_worker_without_an_endpoint_says_so(settings: Any) -> None:
    trial = begun()
    settings.LLM_URL = ""
    assert not trial_execution.compute(trial.pk)
    assert "DIALEVAL_LLM_URL" in read(trial).error


@pytest.mark.django_db
def test_a_metric_that_breaks_fails_the_trial_with_what_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def break_down(*_: Any) -> None:
        raise ZeroDivisionError("nothing\0 left \ud800")

    monkeypatch.setattr(trial_execution, "_results", break_down)
    # Half a surrogate pair in a captured log is more than pytest-xdist can hand over.
    monkeypatch.setattr(jobs.log, "disabled", True)
    trial = begun()
    assert not trial_execution.compute(trial.pk)
    assert read(trial).error == f"ZeroDivisionError: nothing left ?. {Trial.NOTHING_LOST}"


@pytest.mark.django_db
def test_a_trial_that_makes_way_waits_again_and_has_used_up_no_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from workers.judges.core.response_cache import Stopped

    monkeypatch.setattr(
        trial_execution, "_results", lambda *_: (_ for _ in ()).throw(Stopped("a rater waits"))
    )
    paid = iter([3, 4])
    monkeypatch.setattr(trial_execution, "calls_paid_here", lambda: next(paid))
    trial = begun()
    assert not trial_execution.compute(trial.pk)
    assert (read(trial).state, read(trial).attempts, read(trial).lease_token) == ("pending", 0, "")


@pytest.mark.django_db
def test_a_trial_that_comes_no_further_is_given_up(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Given back each time, it would be begun for ever: an endpoint may keep it waiting until the
    task's time is up."""
    from workers.judges.core.response_cache import Stopped

    settings.MAX_ATTEMPTS = 2
    monkeypatch.setattr(
        trial_execution, "_results", lambda *_: (_ for _ in ()).throw(Stopped("its time is up"))
    )
    trial = begun()
    assert not trial_execution.compute(trial.pk)
    assert (read(trial).state, read(trial).attempts, read(trial).lease_token) == ("pending", 1, "")
    assert not trial_execution.compute(trial.pk)
    assert read(trial).state == "failed"
    assert (
        read(trial).error
        == f"it made no progress before it had to stop: its time is up. {Trial.NOTHING_LOST}"
    )


@pytest.mark.django_db
def test_a_stopped_trial_ends_at_the_next_answer_and_stores_no_results(
    endpoint: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_execution, "PROGRESS_SECONDS", 0.0)
    trial, by = begun(scoring="answer"), organiser("ute")
    renew = JobQuerySet.renew

    def stop_it(owned: JobQuerySet, **changes: Any) -> int:
        if changes.get("examples_done"):
            trial_actions.stop(trial, by)
        return renew(owned, **changes)

    monkeypatch.setattr(JobQuerySet, "renew", stop_it)
    assert not trial_execution.compute(trial.pk)
    trial = read(trial)
    assert (trial.state, trial.results) == ("failed", [])
    assert "Stopped by ute" in trial.error
    assert AuditEntry.objects.filter(action="judge_trial.stopped", actor="ute").count() == 1


@pytest.mark.django_db
def test_what_has_ended_is_neither_stopped_nor_resumed_nor_done_again(endpoint: Loopback) -> None:
    trial = begun()
    assert trial_execution.compute(trial.pk)
    assert not trial_actions.stop(trial)
    assert not trial_actions.resume(trial, Limits())
    before = asked(endpoint)
    assert not trial_execution.compute(trial.pk)
    assert asked(endpoint) == before
    assert not AuditEntry.objects.filter(
        action__in=["judge_trial.stopped", "judge_trial.resumed"]
    ).exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_ask_each_response_once(endpoint: Loopback) -> None:
    trial = begun(scoring="answer")
    before = asked(endpoint)
    assert sorted(at_once(*[lambda: trial_execution.compute(trial.pk)] * 2)) == [False, True]
    assert asked(endpoint) - before == 10


@pytest.mark.django_db(transaction=True)
def test_a_prompt_deleted_under_a_running_trial_ends_it_quietly(
    endpoint: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: the site refuses it while a trial is under way."""
    monkeypatch.setattr(trial_execution, "PROGRESS_SECONDS", 0.0)
    trial = begun(scoring="answer")
    renew = JobQuerySet.renew

    def delete_it(owned: JobQuerySet, **changes: Any) -> int:
        JudgePrompt.objects.all().delete()
        return renew(owned, **changes)

    monkeypatch.setattr(JobQuerySet, "renew", delete_it)
    assert not trial_execution.compute(trial.pk)
    assert not Trial.objects.exists()
