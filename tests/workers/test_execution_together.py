"""Several systems in one call of a metric: each run keeps its scores, its lease and its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError
from django.db.models import F

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, System
from common.jobs.models import Claim
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.at_once import at_once
from tests.workers.conftest import forget
from tests.workers.lengths import NotedLengths, PreparedLengths, batch_metric, metric, system_metric
from workers.inference import resources
from workers.metrics import registry
from workers.metrics.base import Account, Example
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution, queries, scoring

pytestmark = pytest.mark.django_db
NAMES = ("one", "two", "three", "four")


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> NotedLengths:
    """The scorer of the metric ``together``, which takes eight systems at once."""
    made = NotedLengths()
    use(monkeypatch, made)
    return made


def use(monkeypatch: pytest.MonkeyPatch, made: object, most: int = 8) -> None:
    forget()
    catalogue = registry.assemble(
        [batch_metric(made, most), metric("alone", lambda e: [1.0] * len(e))], []
    )
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    """Four systems, two turns; each says its name at the first turn, ``four`` says nothing at the
    second."""
    said = {("d0", 0, name): name for name in NAMES} | {
        ("d0", 1, name): f"{name} again" for name in NAMES[:3]
    }
    return stored(rated_corpus([dialogue("d0", turns=2)], said), tmp_path)


def requested(version: CorpusVersion, text: str = "together") -> list[MetricRun]:
    actions.request([parse(text)], select_systems(version), hint=False)
    return list(MetricRun.objects.order_by("system__position"))


def states() -> list[str]:
    return [f"{run.state}:{run.attempts}" for run in MetricRun.objects.order_by("system__position")]


def test_one_call_scores_all_systems_and_each_run_gets_its_own(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    first, *_ = requested(version)
    assert execution.compute(first.pk)
    assert scorer.calls == [
        ["one", "one again", "two", "two again", "three", "three again", "four"]
    ]
    assert list(
        MetricRun.objects.order_by("system__position").values_list("turn_scores", flat=True)
    ) == [
        [3.0, 9.0],
        [3.0, 9.0],
        [5.0, 11.0],
        [4.0, None],
    ]
    assert states() == ["done:1"] * 4
    assert set(MetricRun.objects.values_list("examples_done", flat=True)) == {2, 1}


def test_a_scorer_sees_all_turns_of_the_corpus_whatever_was_answered(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """idf is counted over them: it must not hang on which systems a worker took along, nor on what
    they answered."""
    seen: list[list[tuple[str, int]]] = []

    class Seeing(NotedLengths):
        def see_corpus(self, turns: Sequence[Example]) -> None:
            seen.append([(one.dialogue_id, one.turn) for one in turns])

    use(monkeypatch, Seeing(), most=1)
    *_, four = requested(version)
    assert execution.compute(four.pk)
    assert seen == [[("d0", 0), ("d0", 1)]]


class SeeingSystems(PreparedLengths):
    def see_corpus(self, turns: Sequence[Example]) -> None:
        self.calls.append(("see", [one.dialogue_id for one in turns]))


def test_a_scorer_of_whole_systems_sees_the_corpus_once_before_all_else(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = of_whole_systems(monkeypatch, SeeingSystems())
    first, *_ = requested(version, "system_length")
    assert execution.compute(first.pk)
    assert scorer.calls[0] == ("see", ["d0", "d0"])
    assert [step for step, _ in scorer.calls] == ["see", "prepare", *["score"] * 4]


def of_whole_systems(
    monkeypatch: pytest.MonkeyPatch, made: PreparedLengths | None = None
) -> PreparedLengths:
    scorer = made or PreparedLengths()
    forget()
    monkeypatch.setattr(
        registry, "_catalogue", lambda: registry.assemble([system_metric(scorer)], [])
    )
    return scorer


def test_a_metric_of_whole_systems_sees_all_of_them_and_people_before_it_scores_one(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = of_whole_systems(monkeypatch)
    first, *_ = requested(version, "system_length")
    assert execution.compute(first.pk)
    (step, responses), *after = scorer.calls
    people = [text for example in first_turns(version) for text in example.references]
    assert (step, responses) == (
        "prepare",
        ["one", "one again", "two", "two again", "three", "three again", "four", *people],
    )
    assert [said for step, said in after if step == "score"] == [
        ["one", "one again"],
        ["two", "two again"],
        ["three", "three again"],
        ["four"],
    ]
    assert states() == ["done:1"] * 4


def test_one_system_alone_is_not_prepared(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = of_whole_systems(monkeypatch)
    actions.request([parse("system_length")], select_systems(version)[:1], hint=False)
    execution.compute(MetricRun.objects.get().pk)
    assert [step for step, _ in scorer.calls] == ["score"]


def test_progress_of_whole_systems_never_goes_back(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_whole_systems(monkeypatch)
    requested(version, "system_length")
    told: list[int] = []
    tasks = [scoring.Task.of(run) for run in MetricRun.objects.order_by("system__position")]
    scoring.outcomes(parse("system_length"), tasks, told.append)
    assert told == sorted(told)
    assert told[-1] == 7


def first_turns(version: CorpusVersion) -> list[Example]:
    """The places of the version, with what people said there."""
    first = MetricRun.objects.order_by("system__position")[0]
    return queries.examples_of(first.system)


def test_each_run_says_with_what_it_was_made(version: CorpusVersion, scorer: NotedLengths) -> None:
    first, *_ = requested(version)
    execution.compute(first.pk)
    three = MetricRun.objects.get(system__name="three")
    assert (three.model, three.device) == ("ruler@abc123", "cpu, 1 thread")
    # "three again" has 11 characters; the NUL, which PostgreSQL refuses, is gone
    assert three.remarks == {"1": "long"}
    assert MetricRun.objects.get(system__name="two").remarks == {}
    assert three.details == {"texts": 7}
    # the option says 0, "as the model likes it"; the account says what that was
    assert three.signature == (
        "metric:together|version:1|layer:0|dtype:float32|layer_used:6|model_revision:abc123"
        f"|corpus:small|corpus_version:{version.label}|n:2"
    )


def test_a_signature_tells_of_its_own_run_whatever_was_computed_with_it(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``four`` answers one turn, the others two."""

    class Counting(NotedLengths):
        def account(self) -> Account:
            texts = self.calls[-1]
            return replace(
                super().account(),
                facts=(("texts", str(len(texts))),),
                facts_of=lambda part: (("texts", str(len(texts[part]))),),
            )

    use(monkeypatch, Counting())
    first, *_ = requested(version)
    execution.compute(first.pk)
    signatures = MetricRun.objects.order_by("system__position").values_list("signature", flat=True)
    assert [re.search(r"[|]texts:(\d)[|]", signature)[1] for signature in signatures] == [
        "2",
        "2",
        "2",
        "1",
    ]


def test_a_remark_follows_its_turn_when_an_earlier_one_has_no_response(
    scorer: NotedLengths, tmp_path: Path
) -> None:
    version = stored(
        rated_corpus([dialogue("d0", turns=2)], {("d0", 1, "late"): "long enough"}), tmp_path
    )
    (run,) = requested(version)
    execution.compute(run.pk)
    assert MetricRun.objects.get().remarks == {"1": "long"}


def test_no_more_systems_than_the_metric_wants(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = NotedLengths()
    use(monkeypatch, scorer, most=3)
    first, *_ = requested(version)
    execution.compute(first.pk)
    assert states() == ["done:1", "done:1", "done:1", "pending:0"]


def test_a_worker_s_processes_share_the_systems(
    version: CorpusVersion, scorer: NotedLengths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "_at_hand", resources.Resources(processes=2))
    first, *_ = requested(version)
    execution.compute(first.pk)
    assert states() == ["done:1", "done:1", "pending:0", "pending:0"]  # half of four


def test_other_metrics_options_corpora_and_versions_are_left_alone(
    version: CorpusVersion, scorer: NotedLengths, tmp_path: Path
) -> None:
    other = stored(
        rated_corpus([dialogue("d0")], {("d0", 0, "one"): "elsewhere"}), tmp_path, "other"
    )
    first, *_ = requested(version)
    actions.request(
        [parse("alone"), parse("together[layer=2]")], select_systems(version), hint=False
    )
    actions.request([parse("together")], select_systems(other), hint=False)
    execution.compute(first.pk)
    done = MetricRun.objects.filter(state="done")
    assert set(done.values_list("configuration", "system__version")) == {("together", version.pk)}


def test_a_run_that_was_begun_before_goes_alone_and_joins_nobody(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    first, second, *_ = requested(version)
    MetricRun.objects.filter(pk=second.pk).update(attempts=1)
    execution.compute(first.pk)
    assert states() == ["done:1", "pending:1", "done:1", "done:1"]
    execution.compute(second.pk)
    assert scorer.calls[-1] == ["two", "two again"]
    assert states() == ["done:1", "done:2", "done:1", "done:1"]


def fails_for(
    word: str, problem: type[Exception] = RuntimeError
) -> Callable[[Sequence[Example]], None]:
    def look(examples: Sequence[Example]) -> None:
        if any(example.response == word for example in examples):
            raise problem(f"no idea what {word} means")

    return look


@pytest.mark.parametrize("problem", [RuntimeError, MemoryError])
def test_only_the_run_that_a_metric_fails_on_fails(
    version: CorpusVersion, scorer: NotedLengths, problem: type[Exception]
) -> None:
    scorer.before = fails_for("two", problem)
    first, *_ = requested(version)
    assert execution.compute(first.pk)
    assert states() == ["done:1", "failed:1", "done:1", "done:1"]
    assert (
        MetricRun.objects.get(state="failed").error == f"{problem.__name__}: no idea what two means"
    )


def test_a_score_that_is_no_number_fails_its_run_alone_and_needs_no_second_call(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(NotedLengths):
        def score(self, examples: Sequence[Example], progress: object = None) -> list[float]:
            found = super().score(examples)
            return [
                float("nan") if one.response == "two" else score
                for one, score in zip(examples, found, strict=True)
            ]

    scorer = Odd()
    use(monkeypatch, scorer)
    first, *_ = requested(version)
    execution.compute(first.pk)
    assert states() == ["done:1", "failed:1", "done:1", "done:1"]
    assert len(scorer.calls) == 1


def test_a_model_that_cannot_be_loaded_fails_every_run_with_its_reason(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Missing:
        def score(self, examples: object, progress: object = None) -> list[float]:
            raise RuntimeError("the model is not here")

    use(monkeypatch, Missing())
    first, *_ = requested(version)
    assert not execution.compute(first.pk)
    assert states() == ["failed:1"] * 4
    assert set(MetricRun.objects.values_list("error", flat=True)) == {
        "RuntimeError: the model is not here"
    }


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_what_is_interrupted_is_given_back_as_if_none_had_been_begun(
    version: CorpusVersion, scorer: NotedLengths, end: type[BaseException]
) -> None:
    def interrupted(examples: object) -> None:
        raise end

    scorer.before = interrupted
    first, *_ = requested(version)
    with pytest.raises(end):
        execution.compute(first.pk)
    assert states() == ["pending:0"] * 4
    assert set(MetricRun.objects.values_list("lease_token", "hinted_at")) == {("", None)}


def test_runs_that_take_too_long_together_are_computed_one_by_one_from_then_on(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    def slow(examples: Sequence[Example]) -> None:
        if len(examples) > 2:
            raise SoftTimeLimitExceeded

    scorer.before = slow
    first, *_ = requested(version)
    assert not execution.compute(first.pk)
    assert states() == ["pending:1"] * 4
    for run in MetricRun.objects.all():
        assert execution.compute(run.pk)
    assert states() == ["done:2"] * 4


def test_runs_that_take_too_long_together_and_may_not_be_begun_again_fail(
    version: CorpusVersion, scorer: NotedLengths, settings
) -> None:
    def slow(examples: object) -> None:
        raise SoftTimeLimitExceeded

    settings.MAX_ATTEMPTS, settings.TASK_SECONDS, scorer.before = 1, 2.0, slow
    first, *_ = requested(version)
    execution.compute(first.pk)
    assert states() == ["failed:1"] * 4
    assert (
        MetricRun.objects.get(pk=first.pk).error
        == "it took longer than 2 s (DIALEVAL_TASK_SECONDS)"
    )


def test_a_run_whose_lease_was_lost_meanwhile_is_not_finished_and_the_others_are(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    def robbed(examples: object) -> None:
        MetricRun.objects.filter(system__name="two").update(lease_token="somebody else")

    scorer.before = robbed
    first, *_ = requested(version)
    assert execution.compute(first.pk)
    assert states() == ["done:1", "running:1", "done:1", "done:1"]
    assert MetricRun.objects.get(system__name="two").turn_scores == []


def test_a_run_that_is_taken_away_while_it_is_computed_alone_does_not_hold_up_the_others(
    version: CorpusVersion, scorer: NotedLengths, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = execution._compute_together
    first, *_ = requested(version)

    def taken_away(claims: Sequence[Claim]) -> bool:
        if len(claims) > 1:
            raise RuntimeError("one of them is bad")
        if claims[0].row_id == first.pk:
            raise execution.LeaseLost
        return together(claims)

    monkeypatch.setattr(execution, "_compute_together", taken_away)
    assert execution.compute(first.pk)
    assert states() == ["running:1", "done:1", "done:1", "done:1"]


@pytest.mark.parametrize(("attempts", "state"), [(1, "failed"), (2, "pending")])
def test_what_the_database_could_not_store_waits_again_while_it_may_be_begun_again(
    version: CorpusVersion,
    scorer: NotedLengths,
    monkeypatch: pytest.MonkeyPatch,
    settings,
    attempts: int,
    state: str,
) -> None:
    """An import holds SQLite's one writer for longer than others wait: no fault of the metric's."""

    def locked(versions: object) -> None:
        raise OperationalError("database is locked")

    settings.MAX_ATTEMPTS = attempts
    monkeypatch.setattr(actions, "scores_changed", locked)
    first, *_ = requested(version)
    assert not execution.compute(first.pk)
    assert states() == [f"{state}:1"] * 4
    monkeypatch.undo()


def test_what_was_paid_for_before_the_database_went_away_is_no_attempt(
    version: CorpusVersion, scorer: NotedLengths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that asks for hours gets on, however short the outages between."""

    def away(examples: object) -> None:
        monkeypatch.setattr(execution, "calls_paid_here", lambda: 1)
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(execution, "calls_paid_here", lambda: 0)
    scorer.before = away
    first, *_ = requested(version)
    assert not execution.compute(first.pk)
    assert states() == ["pending:0"] * 4


def test_a_system_that_is_deleted_meanwhile_takes_only_its_run_along(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    scorer.before = lambda examples: System.objects.filter(name="two").delete() and None
    first, *_ = requested(version)
    assert execution.compute(first.pk)
    assert states() == ["done:1"] * 3


def test_every_run_shows_its_share_of_what_is_done(
    version: CorpusVersion, scorer: NotedLengths, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[tuple[int, int]]] = []
    report = actions.report

    def noted(*arguments: object) -> bool:
        kept = report(*arguments)  # type: ignore[arg-type]
        seen.append(
            list(
                MetricRun.objects.order_by("system__position").values_list(
                    "examples_done", "examples_total"
                )
            )
        )
        return kept

    monkeypatch.setattr(actions, "report", noted)
    monkeypatch.setattr(execution, "PROGRESS_SECONDS", 0.0)
    first, *_ = requested(version)
    execution.compute(first.pk)
    # seven responses: after four of them every run is at 4/7, which of two responses is one, of one
    # is none
    assert seen[3] == [(1, 2), (1, 2), (1, 2), (0, 1)]
    assert seen[-1] == [(2, 2), (2, 2), (2, 2), (1, 1)]


def test_model_and_device_are_shown_while_it_works(
    version: CorpusVersion, scorer: NotedLengths, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str]] = []
    report = actions.report

    def noted(*arguments: object) -> bool:
        kept = report(*arguments)  # type: ignore[arg-type]
        seen.append(MetricRun.objects.values_list("model", "device")[0])
        return kept

    monkeypatch.setattr(actions, "report", noted)
    monkeypatch.setattr(execution, "PROGRESS_SECONDS", 0.0)
    first, *_ = requested(version)
    execution.compute(first.pk)
    assert seen[0] == ("ruler@abc123", "cpu, 1 thread")


@pytest.mark.django_db(transaction=True)
def test_however_many_ask_at_once_each_run_is_claimed_once(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    waiting = requested(version)
    at_once(*[lambda pk=run.pk: execution.compute(pk) for run in waiting * 4])
    assert states() == ["done:1"] * 4
    assert sorted(text for call in scorer.calls for text in call) == sorted(
        [*NAMES, *(f"{name} again" for name in NAMES[:3])]
    )


@pytest.mark.django_db(transaction=True)
def test_what_is_withdrawn_while_siblings_are_claimed_is_gone_or_computed(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    for _ in range(5):
        first, *_others = requested(version)
        at_once(
            lambda pk=first.pk: execution.compute(pk), lambda: actions.withdraw_waiting(version)
        )
        assert {run.state for run in MetricRun.objects.all()} <= {"done"}
        MetricRun.objects.all().delete()


def test_the_first_claim_s_lease_covers_them_all(
    version: CorpusVersion, scorer: NotedLengths
) -> None:
    first, *_ = requested(version)
    claim = MetricRun.objects.claim(first.pk)
    assert claim is not None
    others = actions.claim_siblings(claim, 8)
    MetricRun.objects.update(lease_expires_at=F("created_at"))
    assert MetricRun.objects.owned(claim, *others).renew()
    assert not MetricRun.objects.filter(lease_expires_at__lte=F("created_at")).exists()
