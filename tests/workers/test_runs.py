"""Rows of work: asked for once, claimed by one, kept by a lease, swept when their worker fell
silent."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from tests.at_once import at_once
from tests.conftest import ON_SERVICES
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions
from workers.signals import run_ended

pytestmark = pytest.mark.django_db
DONE = actions.RunResult("signature", 1.0, "", [1.0, 1.0, 1.0], {})


@pytest.fixture
def run(version: CorpusVersion, notified: list[int]) -> MetricRun:
    """One waiting run."""
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    return MetricRun.objects.get()


def now_in_the_row(run: MetricRun) -> MetricRun:
    run.refresh_from_db()
    return run


# --- asking ---------------------------------------------------------------------------------------


def test_one_row_for_each_metric_and_system(version: CorpusVersion) -> None:
    actions.request([parse("length"), parse("constant")], select_systems(version), hint=False)
    found = MetricRun.objects.values_list("metric", "system__name", "state")
    assert sorted(found) == [
        ("constant", "dull", "pending"),
        ("constant", "echo", "pending"),
        ("length", "dull", "pending"),
        ("length", "echo", "pending"),
    ]


def test_asking_twice_makes_one_row(version: CorpusVersion, run: MetricRun) -> None:
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    assert list(MetricRun.objects.all()) == [run]


def test_two_ways_to_write_a_configuration_are_one_row(version: CorpusVersion) -> None:
    systems = select_systems(version, ["echo"])
    actions.request([parse("rouge_l[stem=true]")], systems, hint=False)
    actions.request([parse("rouge_l[ normalize=true, stem=true ]")], systems, hint=False)
    assert MetricRun.objects.count() == 1


def test_workers_are_told_when_the_request_is_committed(
    version: CorpusVersion, notified: list[int], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks() as committed:
        actions.request([parse("length")], select_systems(version))
    assert (notified, len(committed)) == ([], 1)
    committed[0]()
    assert sorted(notified) == sorted(MetricRun.objects.values_list("pk", flat=True))


def test_what_was_named_first_is_told_of_first(
    version: CorpusVersion, notified: list[int], django_capture_on_commit_callbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        actions.request([parse("length"), parse("constant")], select_systems(version))
    metric_of = dict(MetricRun.objects.values_list("pk", "metric"))
    assert [metric_of[pk] for pk in notified] == ["length", "length", "constant", "constant"]


def test_of_many_runs_each_queue_is_told_of_the_first_and_the_sweep_tells_of_the_rest(
    version: CorpusVersion,
    notified: list[int],
    django_capture_on_commit_callbacks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(actions, "NOTIFICATIONS_PER_BATCH", 1)
    wanted = [parse("length"), parse("constant"), parse("bertscore_f1")]
    with django_capture_on_commit_callbacks(execute=True):
        actions.request(wanted, select_systems(version))
    told = list(
        MetricRun.objects.filter(pk__in=notified).order_by("queue").values_list("queue", "metric")
    )
    assert told == [("cpu", "length"), ("gpu", "bertscore_f1")]
    MetricRun.objects.reap()
    assert sorted(notified) == sorted(MetricRun.objects.values_list("pk", flat=True))


def test_a_run_that_was_hinted_is_not_hinted_by_a_second_request(
    version: CorpusVersion, notified: list[int], django_capture_on_commit_callbacks
) -> None:
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            actions.request([parse("length")], select_systems(version, ["echo"]))
    assert len(notified) == 1


def test_asking_again_for_a_failed_run_tries_it_anew(
    version: CorpusVersion, run: MetricRun
) -> None:
    MetricRun.objects.owned(MetricRun.objects.claim(run.pk)).fail("no")
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    again = now_in_the_row(run)
    assert (again.state, again.attempts, again.error, again.finished_at) == ("pending", 0, "", None)


def test_asking_leaves_failed_runs_of_an_older_metric_version_alone(
    version: CorpusVersion, run: MetricRun
) -> None:
    MetricRun.objects.owned(MetricRun.objects.claim(run.pk)).fail("no")
    MetricRun.objects.update(metric_version="0")
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    assert now_in_the_row(run).state == "failed"
    assert MetricRun.objects.get(metric_version="1").state == "pending"


def test_asking_leaves_a_finished_run_alone(version: CorpusVersion, run: MetricRun) -> None:
    actions.finish(MetricRun.objects.claim(run.pk), DONE)
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    assert now_in_the_row(run).state == "done"


def test_retry_gives_failed_runs_of_this_version_new_attempts(
    version: CorpusVersion, run: MetricRun, notified: list[int], django_capture_on_commit_callbacks
) -> None:
    MetricRun.objects.owned(MetricRun.objects.claim(run.pk)).fail("no")
    with django_capture_on_commit_callbacks(execute=True):
        assert actions.retry_failed(version) == 1
    assert (now_in_the_row(run).state, run.attempts, notified) == ("pending", 0, [run.pk])
    assert actions.retry_failed(version) == 0


def test_withdrawing_takes_back_only_what_nobody_has_begun(
    version: CorpusVersion, run: MetricRun
) -> None:
    actions.request(
        [parse("constant"), parse("shy")], select_systems(version, ["echo"]), hint=False
    )
    MetricRun.objects.claim(run.pk)
    assert actions.withdraw_waiting(version) == 2
    assert list(MetricRun.objects.all()) == [run]


# --- the database's own rules ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"state": "lost"}, "metric_run_state"),
        ({"state": "running"}, "running_metric_run_is_leased"),
        ({"state": "running", "lease_token": "mine"}, "running_metric_run_is_leased"),
        ({"state": "done"}, "done_metric_run_has_a_score_or_a_reason"),
        (
            {"state": "done", "system_score": 1.0, "signature": "s"},
            "done_metric_run_has_a_score_or_a_reason",
        ),
        (
            {"state": "done", "system_score": 1.0, "finished": True},
            "done_metric_run_has_a_score_or_a_reason",
        ),
        (
            {"state": "done", "signature": "s", "finished": True},
            "done_metric_run_has_a_score_or_a_reason",
        ),
        ({"state": "failed"}, "failed_metric_run_says_why"),
    ],
)
def test_the_database_refuses_a_state_without_what_belongs_to_it(
    run: MetricRun, changes: dict[str, object], constraint: str
) -> None:
    if changes.pop("finished", False):
        changes["finished_at"] = timezone.now()
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        MetricRun.objects.update(**changes)


def test_the_database_refuses_a_second_row_with_the_same_identity(run: MetricRun) -> None:
    run.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        run.save(force_insert=True)
    assert MetricRun.objects.count() == 1


@pytest.mark.parametrize("field", ["metric_version", "configuration"])
def test_another_version_or_configuration_is_another_row(run: MetricRun, field: str) -> None:
    run.pk = None
    setattr(run, field, "other")
    run.save(force_insert=True)
    assert MetricRun.objects.count() == 2


# --- claimed, and ended ---------------------------------------------------------------------------


def test_only_the_finish_that_counts_makes_a_new_revision(
    version: CorpusVersion, run: MetricRun
) -> None:
    late = MetricRun.objects.claim(run.pk)
    MetricRun.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    owner = MetricRun.objects.claim(run.pk)
    actions.finish(late, DONE)
    version.refresh_from_db()
    assert version.revision == 0
    actions.finish(owner, DONE)
    version.refresh_from_db()
    assert version.revision == 1


def test_a_run_that_is_given_up_is_told_of_as_one_that_failed(
    run: MetricRun, django_capture_on_commit_callbacks
) -> None:
    ended: list[int] = []

    def hear(run_ids: list[int], **_: object) -> None:
        ended.extend(run_ids)

    run_ended.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            MetricRun.objects.owned(MetricRun.objects.claim(run.pk)).fail("no")
        MetricRun.objects.update(
            state="running",
            attempts=3,
            lease_token="gone",
            lease_expires_at=timezone.now() - timedelta(seconds=1),
        )
        with django_capture_on_commit_callbacks(execute=True):
            assert MetricRun.objects.reap().failed == 1
    finally:
        run_ended.disconnect(hear)
    assert ended == [run.pk] * 2


@pytest.mark.django_db(transaction=True)
def test_many_requests_at_once_make_one_row(version: CorpusVersion, notified: list[int]) -> None:
    systems = select_systems(version)
    asked = at_once(
        *[lambda: actions.request([parse("length"), parse("constant")], systems, hint=False)] * 8
    )
    assert asked == [None] * 8
    assert MetricRun.objects.count() == 4


@pytest.mark.skipif(
    not ON_SERVICES, reason="SQLite has one writer: the claim is over before the withdrawal begins"
)
@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_claimed_while_it_is_withdrawn_stays(
    version: CorpusVersion, run: MetricRun
) -> None:
    """The withdrawal meets the row while the claim is not committed yet, waits for it, and must
    look again."""
    claimed, waiting = threading.Event(), threading.Event()

    def withdraw() -> int:
        claimed.wait()
        waiting.set()
        return actions.withdraw_waiting(version)

    withdrawn: list[object] = []
    thread = threading.Thread(target=lambda: withdrawn.extend(at_once(withdraw)))
    thread.start()
    with transaction.atomic():
        assert MetricRun.objects.claim(run.pk)
        claimed.set()
        waiting.wait()
        wait_until_somebody_waits_for_a_lock()
    thread.join()
    assert withdrawn == [0]
    assert now_in_the_row(run).state == "running"


def wait_until_somebody_waits_for_a_lock() -> None:
    from tests.site import wait_until

    def somebody_waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return cursor.fetchone()[0] > 0

    wait_until(somebody_waits, 10, "the withdrawal waits for the claim")


# --- sweeping -------------------------------------------------------------------------------------


def test_those_that_are_not_yet_due_take_no_place_in_a_sweep(
    run: MetricRun, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a queue that no worker reads, rows told ten times and not for nine minutes stood before
    all others."""
    monkeypatch.setattr("common.jobs.models.MAX_NOTIFICATIONS", 1)
    actions.request([parse("word_f1")], [run.system], hint=False)
    waited_for = MetricRun.objects.get(metric="word_f1")
    now = timezone.now()
    MetricRun.objects.filter(pk=run.pk).update(hinted_at=now - timedelta(minutes=9), hints=10)
    MetricRun.objects.filter(pk=waited_for.pk).update(hinted_at=now - timedelta(minutes=1), hints=1)
    MetricRun.objects.reap()
    assert notified == [waited_for.pk]
