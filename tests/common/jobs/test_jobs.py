"""What holds of every kind of job: claimed by one, renewed by its lease, ended once, and reaped
when its worker fell silent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import IntegrityError, transaction
from django.utils import timezone

from common.jobs.models import Claim, Job, JobQuerySet, Reaped, kinds_of_jobs
from common.jobs.notifications import MAX_NOTIFY_PAUSE
from tests.at_once import at_once
from tests.common.jobs.kinds import KINDS, Kind
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, reap_all, works_on

pytestmark = [pytest.mark.django_db, pytest.mark.by_workers]
A_SECOND = timedelta(seconds=1)


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def job(kind: Kind, notified: list[int], tmp_path: Path) -> Job:
    """One that waits, and of which nobody was told."""
    made = kind.make(tmp_path)
    jobs_like(made).update(hinted_at=None, hints=0)
    notified.clear()
    return made


def jobs_like(job: Job) -> JobQuerySet:
    return type(job).objects.all()


def now_in_the_row(job: Job) -> Job:
    job.refresh_from_db()
    return job


def fall_silent(job: Job) -> None:
    jobs_like(job).filter(pk=job.pk).update(lease_expires_at=timezone.now() - A_SECOND)


def claim(job: Job) -> Claim:
    found = jobs_like(job).claim(job.pk)
    assert found is not None
    return found


def owned(job: Job, claim: Claim) -> JobQuerySet:
    return jobs_like(job).owned(claim)


def state_of(job: Job) -> tuple[str, int, str]:
    now_in_the_row(job)
    return job.state, job.attempts, job.lease_token


def test_every_kind_is_tested() -> None:
    assert {kind._meta.label for kind in kinds_of_jobs()} == set(KINDS)


def test_its_task_is_known_to_workers(job: Job) -> None:
    current_app.loader.import_default_modules()
    assert job.TASK in current_app.tasks


# --- claim and lease ------------------------------------------------------------------------------


def test_a_claimed_job_cannot_be_claimed_again(job: Job) -> None:
    assert claim(job).attempt == 1
    assert jobs_like(job).claim(job.pk) is None
    assert state_of(job)[:2] == (job.RUNNING[0], 1)


def test_what_is_not_there_cannot_be_claimed(job: Job) -> None:
    assert jobs_like(job).claim(10**9) is None


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_gets_the_job(job: Job) -> None:
    claims = at_once(*[lambda: jobs_like(job).claim(job.pk)] * 8)
    assert [type(one) for one in claims if one is not None] == [Claim]
    assert now_in_the_row(job).attempts == 1


def test_a_job_is_not_claimed_more_often_than_it_may(job: Job) -> None:
    for _ in range(job.max_attempts()):
        claim(job)
        fall_silent(job)
    assert jobs_like(job).claim(job.pk) is None


def test_the_database_refuses_a_job_at_work_without_a_lease(job: Job) -> None:
    names = {one.name for one in job._meta.constraints}
    if not any(name.endswith("is_leased") for name in names):
        pytest.skip("its table has no such rule")
    with pytest.raises(IntegrityError, match="is_leased"), transaction.atomic():
        jobs_like(job).filter(pk=job.pk).update(state=job.RUNNING[0])


def test_renewing_puts_off_the_end_of_the_lease(job: Job, kind: Kind, settings) -> None:
    settings.LEASE_SECONDS = 60
    mine = claim(job)
    jobs_like(job).update(lease_expires_at=timezone.now() + A_SECOND)
    assert owned(job, mine).renew(**kind.progress)
    now_in_the_row(job)
    assert job.lease_expires_at > timezone.now() + timedelta(seconds=30)
    assert {name: getattr(job, name) for name in kind.progress} == kind.progress


def test_who_lost_the_lease_writes_nothing(job: Job, kind: Kind, notified: list[int]) -> None:
    late, result = claim(job), kind.result(job)
    fall_silent(job)
    owner = claim(job)
    assert (owner.attempt, owner.token != late.token) == (2, True)
    lost = owned(job, late)
    assert not lost.renew(**kind.progress)
    assert not lost.finish(**result)
    assert not lost.fail("late")
    assert not lost.release()
    assert not lost.retry("late")
    assert state_of(job) == (job.RUNNING[0], 2, owner.token)
    assert owned(job, owner).finish(**result)


# --- ends -----------------------------------------------------------------------------------------


def test_a_finished_job_has_its_result_and_is_nobody_s_any_more(job: Job, kind: Kind) -> None:
    result = kind.result(job)
    assert owned(job, claim(job)).finish(**result)
    assert state_of(job) == (job.DONE, 1, "")
    assert getattr(job, job.ENDED_AT) is not None
    assert {name: getattr(job, name) for name in result} == result
    assert jobs_like(job).claim(job.pk) is None


def test_a_failed_job_says_why(job: Job) -> None:
    assert owned(job, claim(job)).fail("no \0route \ud800")
    assert state_of(job) == (job.FAILED, 1, "")
    assert "route" in getattr(job, job.REASON)
    assert getattr(job, job.ENDED_AT) is not None
    assert jobs_like(job).claim(job.pk) is None


def test_a_released_job_was_not_begun(job: Job, kind: Kind) -> None:
    mine = claim(job)
    owned(job, mine).renew(**kind.progress)
    assert owned(job, mine).release()
    assert state_of(job) == (job.WAITING, 0, "")
    assert all(not getattr(job, name) for name in kind.progress if name in job.RESET)


def test_a_job_is_retried_until_its_attempts_are_used_up(job: Job, kind: Kind) -> None:
    most = job.max_attempts()
    assert owned(job, claim(job)).retry("not yet")
    assert state_of(job) == (job.WAITING, 1, "")
    jobs_like(job).update(attempts=most - 1, **kind.due)
    assert owned(job, claim(job)).retry("never")
    assert state_of(job) == (job.FAILED, most, "")
    assert "never" in getattr(job, job.REASON)


# --- how a worker runs one ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raised", "state", "attempts"),
    [
        (ReleaseJob(), "WAITING", 0),
        (RetryJob("not yet"), "WAITING", 1),
        (FailJob("no route"), "FAILED", 1),
        (ZeroDivisionError("broken"), "FAILED", 1),
        (KeyboardInterrupt(), "WAITING", 0),
        (SystemExit(), "WAITING", 0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_how_the_work_ends_is_written(
    job: Job, raised: BaseException, state: str, attempts: int
) -> None:
    def work(*_: object) -> bool:
        raise raised

    run = works_on(jobs_like(job))(work)
    if isinstance(raised, Exception):
        assert run(job.pk) is False
    else:
        with pytest.raises(type(raised)):
            run(job.pk)
    assert state_of(job) == (getattr(job, state), attempts, "")
    if state == "FAILED":
        assert str(raised) in getattr(job, job.REASON)


def test_work_whose_lease_is_lost_changes_nothing(job: Job) -> None:
    def work(*_: object) -> bool:
        jobs_like(job).update(lease_token="somebody else's")
        raise LeaseLost

    assert works_on(jobs_like(job))(work)(job.pk) is False
    assert state_of(job) == (job.RUNNING[0], 1, "somebody else's")


def test_a_second_message_does_no_work(job: Job) -> None:
    calls: list[Claim] = []

    def work(_: Job, mine: Claim) -> bool:
        calls.append(mine)
        return True

    run = works_on(jobs_like(job))(work)
    assert [run(job.pk), run(job.pk)] == [True, False]
    assert len(calls) == 1


# --- notified -------------------------------------------------------------------------------------


def test_workers_are_told_when_the_job_is_committed(
    job: Job, notified: list[int], django_capture_on_commit_callbacks: Callable
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        jobs_like(job).notify_on_commit(job.pk)
        assert notified == []
    assert notified == [job.pk]
    assert (now_in_the_row(job).hints, job.hinted_at is not None) == (1, True)


def test_where_the_broker_is_away_the_job_waits(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr(current_app, "send_task", away)
    job = kind.make(tmp_path)
    assert jobs_like(job).notify([job.pk]) == 0
    assert (now_in_the_row(job).hinted_at, job.hints, job.state) == (None, 0, job.WAITING)


# --- reaped ---------------------------------------------------------------------------------------


def test_the_job_of_a_silent_worker_waits_again_and_workers_are_told(
    job: Job, kind: Kind, notified: list[int]
) -> None:
    owned(job, claim(job)).renew(**kind.progress)
    fall_silent(job)
    assert jobs_like(job).reap() == Reaped(1, 0, 1)
    assert state_of(job) == (job.WAITING, 1, "")
    assert all(not getattr(job, name) for name in kind.progress if name in job.RESET)
    assert notified == [job.pk]
    assert jobs_like(job).reap() == Reaped(0, 0, 0)


def test_a_lease_of_the_far_future_is_that_of_a_clock_set_back(job: Job) -> None:
    claim(job)
    jobs_like(job).update(lease_expires_at=timezone.now() + timedelta(days=1))
    assert jobs_like(job).reap().released == 1


def test_who_renews_the_lease_is_left_alone(job: Job, kind: Kind) -> None:
    mine = claim(job)
    assert jobs_like(job).reap() == Reaped(0, 0, 0)
    assert owned(job, mine).finish(**kind.result(job))


def test_a_job_that_was_tried_too_often_is_given_up_with_a_reason(job: Job) -> None:
    claim(job)
    fall_silent(job)
    jobs_like(job).update(attempts=job.max_attempts())
    assert jobs_like(job).reap() == Reaped(0, 1, 0)
    assert state_of(job) == (job.FAILED, job.max_attempts(), "")
    assert "stopped without a word" in getattr(job, job.REASON)
    assert getattr(job, job.ENDED_AT) is not None


def test_a_lost_notification_is_sent_again_after_a_pause_that_doubles(job: Job, settings) -> None:
    settings.MAINTENANCE_SECONDS = 10.0
    assert jobs_like(job).reap().notified == 1  # never told: at once
    for told, pause in ((1, 20), (2, 40), (3, 80), (4, 160)):
        last = timezone.now() - timedelta(seconds=pause - 5)
        jobs_like(job).update(hinted_at=last, hints=told)
        assert jobs_like(job).reap().notified == 0
        jobs_like(job).update(hinted_at=last - timedelta(seconds=10), hints=told)
        assert jobs_like(job).reap().notified == 1


def test_the_pause_between_notifications_has_an_end(job: Job) -> None:
    long_ago = timezone.now() - MAX_NOTIFY_PAUSE - A_SECOND
    jobs_like(job).update(hinted_at=long_ago, hints=1_000_000)
    assert jobs_like(job).reap().notified == 1


def test_where_nothing_waits_or_is_at_work_a_sweep_asks_one_query(
    job: Job, kind: Kind, django_assert_num_queries: Any
) -> None:
    """Each worker sweeps every few seconds, and mostly there is nothing to do. Of submissions a
    second one asks for those that have no attempt left."""
    assert owned(job, claim(job)).finish(**kind.result(job))
    with django_assert_num_queries(2 if job.NAME == "submission" else 1):
        assert jobs_like(job).reap() == Reaped(0, 0, 0)


@pytest.mark.django_db(transaction=True)
def test_of_reapers_at_once_one_gives_the_job_back(job: Job) -> None:
    claim(job)
    fall_silent(job)
    reaped = at_once(*[jobs_like(job).reap] * 4)
    assert sum(one.released for one in reaped) == 1
    assert now_in_the_row(job).attempts == 1


def test_one_sweep_reaps_every_kind_and_a_kind_that_fails_holds_up_no_other(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim(job)
    fall_silent(job)
    reap = JobQuerySet.reap

    def reap_or_break(jobs: JobQuerySet) -> Reaped:
        if jobs.model is not type(job):
            raise ZeroDivisionError
        return reap(jobs)

    monkeypatch.setattr(JobQuerySet, "reap", reap_or_break)
    assert reap_all() == {job._meta.label: Reaped(1, 0, 1)}
