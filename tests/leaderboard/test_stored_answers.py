"""A look reads what is stored and asks workers for the rest; workers compute it once, of the data
that they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from common.jobs.models import Claim
from leaderboard.answers import LeftOut
from leaderboard.models import Analysis
from leaderboard.results import Kind, drop, kinds, look, refresh, registered, rows, whole
from leaderboard.results.computing import answer_of, compute, compute_waiting
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.models import MetricRun
from workers.signals import run_begins

pytestmark = [pytest.mark.django_db, pytest.mark.by_workers]


class Question:
    """Counts how often it is computed; ``during`` happens while it is."""

    def __init__(self) -> None:
        self.times = 0
        self.during: Any = lambda: None

    def __call__(self, version: CorpusVersion, **parameters: Any) -> dict[str, Any]:
        self.during()
        self.times += 1
        return {"times": self.times, **parameters}


@pytest.fixture
def version(rated: Rated) -> CorpusVersion:
    return rated(FOUR_RESPONSES)


@pytest.fixture
def question() -> Iterator[Question]:
    asked = Question()
    registered("test", version=1)(asked)
    yield asked
    kinds._known.pop("test")


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BACKOFF", 0)
    monkeypatch.setattr(rows, "MIN_BACKOFF", timedelta(0))


def changed(version: CorpusVersion) -> None:
    data_changed([version.pk])
    version.refresh_from_db()


def row() -> Analysis:
    return Analysis.objects.get(kind="test")


def test_a_look_computes_nothing_and_asks_once(version: CorpusVersion, question: Question) -> None:
    found = [look(version, "test") for _ in range(3)]
    assert [(one.state, one.answer) for one in found] == [("waiting", None)] * 3
    assert (question.times, Analysis.objects.filter(kind="test", state="pending").count()) == (0, 1)


def test_what_a_worker_computed_is_read_by_the_next_look(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test", aspect="overall")
    assert compute(row().pk)
    found = look(version, "test", aspect="overall")
    assert (found.state, found.answer, found.error) == (
        "present",
        {"times": 1, "aspect": "overall"},
        "",
    )


def test_after_a_change_the_older_answer_is_shown_as_such_until_the_new_one_is_there(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    compute(row().pk)
    changed(version)
    stale = look(version, "test")
    assert (stale.state, stale.answer, row().state) == ("stale", {"times": 1}, "pending")
    compute(row().pk)
    assert (look(version, "test").state, look(version, "test").answer) == ("present", {"times": 2})


def test_an_answer_made_while_the_data_changed_is_of_older_data(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    question.during = lambda: data_changed([version.pk])
    compute(row().pk)
    version.refresh_from_db()
    assert look(version, "test").state == "stale"


def test_a_young_answer_may_stand_for_a_while(
    version: CorpusVersion, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 runs that end one after the other do not make 100 answers."""
    monkeypatch.setattr(rows, "MIN_BACKOFF", timedelta(minutes=1))
    look(version, "test")
    compute(row().pk)
    for _ in range(100):
        changed(version)
        assert look(version, "test").state == "stale"
        assert refresh.renew() == 0
        compute(row().pk)
    assert question.times == 1


def test_another_question_kind_or_version_is_another_answer(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test", aspect="a")
    look(version, "test", aspect="b")
    assert len(compute_waiting()) == 2
    assert look(version, "test", aspect="b").answer == {"times": 2, "aspect": "b"}


def test_what_only_files_need_is_read_with_the_whole_answer_alone(
    version: CorpusVersion, question: Question
) -> None:
    kinds._known["test"] = Kind("test", 1, question, for_files="points")
    look(version, "test", points=[1, 2], aspect="overall")
    assert compute(row().pk)
    found = look(version, "test", points=[1, 2], aspect="overall")
    assert found.answer == {"times": 1, "aspect": "overall"}
    assert whole(found) == {"times": 1, "aspect": "overall", "points": [1, 2]}


def test_a_whole_answer_that_was_replaced_meanwhile_is_none(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    compute(row().pk)
    found = look(version, "test")
    changed(version)
    look(version, "test")
    compute(row().pk)
    assert (found.answer, whole(found)) == ({"times": 1}, None)


def test_the_order_of_parameters_is_none_of_the_question(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test", aspect="a", level="turn")
    look(version, "test", level="turn", aspect="a")
    assert Analysis.objects.filter(kind="test").count() == 1


def test_questions_longer_than_the_column_are_told_apart(
    version: CorpusVersion, question: Question
) -> None:
    for last in ("a", "b", "a"):
        look(version, "test", systems=["q" * 100] * 5 + [last])
    assert Analysis.objects.filter(kind="test").count() == 2


def test_an_answer_of_another_release_is_not_shown(
    version: CorpusVersion, question: Question, settings
) -> None:
    """Its form may be another one."""
    look(version, "test")
    compute(row().pk)
    settings.VERSION = "99.0"
    assert (look(version, "test").state, look(version, "test").answer) == ("waiting", None)


def test_two_workers_compute_one_row_once(version: CorpusVersion, question: Question) -> None:
    look(version, "test")
    question.during = lambda: compute(row().pk)  # the second hears of it while the first is at it
    assert compute(row().pk)
    assert question.times == 1


def test_what_fails_says_why_and_waits_for_a_change_of_the_data(
    version: CorpusVersion, question: Question
) -> None:
    def breaks() -> None:
        raise ZeroDivisionError("no people")

    question.during = breaks
    look(version, "test")
    assert not compute(row().pk)
    found = [look(version, "test") for _ in range(2)]
    assert [(one.state, one.error) for one in found] == [
        ("failed", "ZeroDivisionError: no people")
    ] * 2
    changed(version)
    assert (look(version, "test").state, row().state) == ("waiting", "pending")


def test_a_database_that_was_away_for_a_moment_is_no_failure_for_good(
    version: CorpusVersion, question: Question, settings
) -> None:
    settings.MAX_ATTEMPTS = 3
    look(version, "test")

    def cut_short() -> None:
        raise OperationalError("the server closed the connection")

    question.during = cut_short
    assert not compute(row().pk)
    assert (row().state, look(version, "test").state) == ("pending", "waiting")
    question.during = lambda: None
    assert compute(row().pk)
    assert look(version, "test").state == "present"


def test_what_is_cut_short_time_and_again_fails(
    version: CorpusVersion, question: Question, settings
) -> None:
    settings.MAX_ATTEMPTS = 2

    def cut_short() -> None:
        raise OperationalError("the server closed the connection")

    question.during = cut_short
    look(version, "test")
    for _ in range(2):
        compute(row().pk)
    assert (row().state, row().error) == (
        "failed",
        "OperationalError: the server closed the connection",
    )


def test_what_failed_keeps_the_older_answer(version: CorpusVersion, question: Question) -> None:
    look(version, "test")
    compute(row().pk)
    changed(version)
    question.during = lambda: 1 / 0
    look(version, "test")
    compute(row().pk)
    found = look(version, "test")
    assert (found.state, found.answer) == ("failed", {"times": 1})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), {1, 2}])
def test_an_answer_that_is_no_json_fails(
    version: CorpusVersion, question: Question, number: object
) -> None:
    """SQLite would store NaN, which no browser reads; PostgreSQL would not."""
    kinds._known["test"] = Kind("test", 1, lambda version: {"mean": number})
    look(version, "test")
    compute(row().pk)
    assert (row().state, "JSON" in row().error) == ("failed", True)


@dataclass(frozen=True)
class Means:
    of: dict[int, Estimate]
    remark: LeftOut[str] = ""


def test_an_answer_is_read_in_the_type_that_its_function_returns(
    version: CorpusVersion, question: Question
) -> None:
    means = Means({3: Estimate(0.5, (0.4, 0.6)), 4: Estimate.undefined("nobody rated")})

    def compute_means(_version: CorpusVersion) -> Means:
        return means

    kinds._known["test"] = Kind("test", 1, compute_means)
    look(version, compute_means)
    compute(row().pk)
    assert row().answer == {
        "of": {
            "3": {"value": 0.5, "ci": [0.4, 0.6]},
            "4": {"value": None, "reason": "nobody rated"},
        }
    }
    assert look(version, compute_means).answer == means
    assert answer_of(version, compute_means) == means


def test_an_answer_that_is_not_of_its_type_fails_where_it_is_computed(
    version: CorpusVersion, question: Question
) -> None:
    def compute_means(_version: CorpusVersion) -> Means:
        return Means({"three": Estimate(0.5)})  # type: ignore[dict-item]

    kinds._known["test"] = Kind("test", 1, compute_means)
    look(version, "test")
    compute(row().pk)
    assert (row().state, "valid integer" in row().error) == ("failed", True)


def test_an_answer_of_a_lower_version_is_not_shown_and_is_made_anew(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    compute(row().pk)
    kinds._known["test"] = Kind("test", 2, question)
    found = look(version, "test")
    assert (found.state, found.answer) == ("waiting", None)
    compute(row().pk)
    assert look(version, "test").answer == {"times": 2}


def test_two_functions_do_not_register_the_same_kind(question: Question) -> None:
    with pytest.raises(ValueError, match="two functions compute the kind 'test'"):
        registered("test", version=2)(Question())


def test_a_worker_that_knows_no_such_kind_says_so(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    known = kinds._known.pop("test")
    compute(row().pk)
    kinds._known["test"] = known
    assert "knows no statistic 'test'" in row().error


def test_rows_that_were_looked_at_lately_are_made_anew_without_a_look(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    compute(row().pk)
    assert refresh.renew() == 0
    changed(version)
    assert refresh.renew() == 1
    Analysis.objects.update(state="done", asked_at=timezone.now() - timedelta(days=31))
    assert refresh.renew() == 0


@pytest.mark.parametrize(
    ("waited", "renewed"), [(timedelta(minutes=1), 0), (timedelta(hours=2), 1)]
)
def test_a_run_that_nobody_takes_holds_up_no_renewal(
    version: CorpusVersion, question: Question, waited: timedelta, renewed: int
) -> None:
    """One of a queue without a worker waits for ever; one that was just asked for makes the numbers
    others soon."""
    look(version, "test")
    compute(row().pk)
    changed(version)
    system = System.objects.create(version=version, position=90, name="late")
    run = MetricRun.objects.create(
        system=system, metric="pmi", metric_version="1", configuration="pmi", queue="gpu"
    )
    MetricRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - waited)
    Analysis.objects.update(asked_at=timezone.now() - timedelta(hours=1))
    assert refresh.renew() == renewed


def test_rows_about_what_was_deleted_are_forgotten(version: CorpusVersion) -> None:
    def stamp(_version: CorpusVersion, **_: Any) -> str:
        raise CorpusVersion.DoesNotExist

    registered("test", version=1)(Question())
    look(version, "test")
    compute(row().pk)
    kinds._known["test"] = Kind("test", 1, Question(), stamp)
    refresh.renew()
    kinds._known.pop("test")
    assert not Analysis.objects.exists()


def test_a_dropped_answer_is_not_even_shown_as_an_older_one(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    compute(row().pk)
    changed(version)
    drop([version.pk])
    assert (look(version, "test").state, look(version, "test").answer) == ("waiting", None)


def test_who_computes_while_answers_are_dropped_loses_the_row(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    question.during = lambda: drop([version.pk])
    assert not compute(row().pk)
    assert row().answer is None


@pytest.mark.django_db(transaction=True)
def test_an_answer_made_between_a_withdrawal_and_its_commit_is_dropped_with_it(
    version: CorpusVersion, question: Question
) -> None:
    from django.db import transaction

    with transaction.atomic():
        drop([version.pk])
        look(version, "test")
        compute(row().pk)
    assert row().answer is None


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_locked_makes_a_page_wait_and_not_fail(
    version: CorpusVersion, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(rows, "_make", locked)
    found = look(version, "test")
    assert (found.state, found.row, found.address) == ("waiting", None, "")


def test_an_answer_of_others_is_computed_where_it_is_missing(
    version: CorpusVersion, question: Question
) -> None:
    assert answer_of(version, "test") == {"times": 1}
    assert answer_of(version, "test") == {"times": 1}
    changed(version)
    assert answer_of(version, "test") == {"times": 2}


def test_an_answer_that_another_worker_is_at_is_computed_beside_it(
    version: CorpusVersion, question: Question
) -> None:
    """Two who wait for each other's rows would wait for ever."""
    look(version, "test")
    assert isinstance(Analysis.objects.claim(row().pk), Claim)
    assert answer_of(version, "test") == {"times": 1}


def test_what_has_waited_for_a_moment_goes_before_a_metric_run(
    version: CorpusVersion, question: Question
) -> None:
    """A message of its own would stand behind those of a thousand runs."""
    look(version, "test", aspect="a")
    look(version, "test", aspect="b")
    run = MetricRun.objects.create(
        system=version.systems.first(),
        metric="word_f1",
        metric_version="1",
        configuration="word_f1",
        queue="cpu",
    )
    run_begins.send(sender=MetricRun, run_id=run.pk)
    assert question.times == 0  # its own message will do
    Analysis.objects.filter(kind="test").update(waits_since=timezone.now() - timedelta(seconds=10))
    run_begins.send(sender=MetricRun, run_id=run.pk)
    assert question.times == 1  # one, and the run


def test_nobody_at_work_is_told(version: CorpusVersion, question: Question) -> None:
    assert not look(version, "test").nobody_works
    long_ago = timezone.now() - timedelta(hours=1)
    Analysis.objects.filter(kind="test").update(waits_since=long_ago, hinted_at=long_ago)
    assert look(version, "test").nobody_works


def test_a_corpus_takes_its_stored_answers_with_it(
    version: CorpusVersion, question: Question
) -> None:
    look(version, "test")
    version.corpus.delete()
    assert not Analysis.objects.exists()


# --- comparisons of two, of which there are thousands ---------------------------------------------


@pytest.fixture
def pairs() -> Iterator[Question]:
    asked = Question()
    registered("test", version=1, of_pairs=True)(asked)
    yield asked
    kinds._known.pop("test")


def numbers_stored() -> set[int]:
    return {one.parameters["number"] for one in Analysis.objects.filter(kind="test")}


def test_who_follows_every_link_fills_neither_the_queue_nor_the_database(
    version: CorpusVersion, pairs: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PAIRS_AT_A_TIME", 3)
    found = [look(version, "test", number=number) for number in range(10)]
    assert numbers_stored() == {0, 1, 2}
    assert [(one.state, one.row is None) for one in found[2:4]] == [
        ("waiting", False),
        ("waiting", True),
    ]
    compute_waiting()
    # One that looks again, once there is room
    assert look(version, "test", number=3).row is not None


def test_other_statistics_are_asked_for_while_many_pairs_wait(
    version: CorpusVersion, pairs: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PAIRS_AT_A_TIME", 1)
    look(version, "test", number=0)
    assert look(version, "systems", aspect="overall").row is not None


def test_old_pairs_that_changed_data_call_for_are_bounded_too(
    version: CorpusVersion, pairs: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        look(version, "test", number=number)
    compute_waiting()
    changed(version)
    monkeypatch.setattr(rows, "PAIRS_AT_A_TIME", 2)
    stale = [look(version, "test", number=number) for number in range(5)]
    assert {one.state for one in stale} == {"stale"}
    assert Analysis.objects.filter(kind="test", state="pending").count() == 2


def test_of_pairs_those_looked_at_last_are_kept(
    version: CorpusVersion, pairs: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        look(version, "test", number=number)
    compute_waiting()
    Analysis.objects.filter(parameters={"number": 1}).update(
        asked_at=timezone.now() - timedelta(days=1)
    )
    monkeypatch.setattr(rows, "PAIRS_CACHED", 3)
    assert rows.forget_pairs() == 2
    assert numbers_stored() == {2, 3, 4}


def test_two_systems_two_metrics_and_cases_are_such_kinds() -> None:
    """Of each of them a corpus has as many as there are choices."""
    of_pairs = {"metric-pair", "metric-pair-scatter", "system-pair"}
    assert set(kinds.kinds_of_pairs()) == {*of_pairs, "cases"}
