"""A training run from its row to its model, however often it is stopped on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from annotations.models import AuditEntry
from common.jobs import tasks
from tests.workers.trainings.small import STEPS, started, talk_file
from workers.training import actions, execution, queries
from workers.training.core import checkpoint
from workers.training.core.selection import load_selection
from workers.training.models import Training

pytestmark = pytest.mark.django_db

State = Training.State


def at_step(step: int, do: Callable[[], object]) -> Callable[[Mapping[str, Any]], None]:
    """What hears the progress and does something, once, when this step is done."""
    done: list[int] = []

    def told(progress: Mapping[str, Any]) -> None:
        if progress.get("step") == step and not done:
            done.append(step)
            do()

    return told


def model_digest(name: str) -> str:
    """Of the weights and the fit: what is learned, not when or where."""
    files = checkpoint.read(queries.model_folder(name)).config["files"]
    return f"{files[checkpoint.WEIGHTS]} {files['gaussian.safetensors']}"


def test_a_run_makes_a_model_of_its_name_and_says_what_came(tmp_path: Path) -> None:
    training = started(tmp_path)
    assert execution.compute(training.pk)
    training.refresh_from_db()
    model = checkpoint.read(queries.model_folder("small"))
    assert (training.state, training.revision) == (State.DONE, model.revision)
    assert training.best["figures"]["R@1"] == pytest.approx(model.config["best"]["figures"]["R@1"])
    assert [point["step"] for point in training.curves] == [2, 4, 6, 8, 10, 12]
    assert set(training.curves[0]) >= {"loss", "response selection", "contrastive", "learning rate"}
    assert [one["step"] for one in training.validations] == [0, 6, 12]
    assert training.data_signature == model.config["data"]
    assert training.device.startswith("cpu")
    assert training.progress["step"] == training.progress["steps"] == STEPS
    assert model.config["model"]["about"]["data"] == training.data
    assert not queries.work_folder(training).exists()
    load_selection(queries.model_folder("small"), "cpu")


def test_a_run_that_is_stopped_leaves_a_checkpoint_and_goes_on_to_the_same_model(
    tmp_path: Path,
) -> None:
    whole, stopped = started(tmp_path, "whole"), started(tmp_path, "stopped")
    assert execution.compute(whole.pk)
    assert not execution.compute(stopped.pk, at_step(5, lambda: actions.stop(stopped)))
    stopped.refresh_from_db()
    assert (stopped.state, stopped.error) == (State.STOPPED, "Stopped.")
    kept = checkpoint.newest(queries.work_folder(stopped))
    assert kept is not None
    assert kept.config["step"] == 5
    assert not execution.compute(stopped.pk)  # nobody takes it until somebody says so
    assert actions.go_on(stopped)
    assert execution.compute(stopped.pk)
    assert model_digest("stopped") == model_digest("whole")


def test_a_run_whose_task_ends_waits_with_its_checkpoint_and_no_attempt_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, cut = started(tmp_path, "whole"), started(tmp_path, "cut")
    assert execution.compute(whole.pk)
    monkeypatch.setattr(tasks, "is_within_a_task", lambda: True)
    share = [0.0]
    monkeypatch.setattr(tasks, "used", lambda: share[0])
    assert not execution.compute(cut.pk, at_step(7, lambda: share.__setitem__(0, 0.9)))
    cut.refresh_from_db()
    assert (cut.state, cut.attempts, cut.lease_token) == (State.PENDING, 0, "")
    share[0] = 0.0
    assert execution.compute(cut.pk)
    assert model_digest("cut") == model_digest("whole")


def test_a_run_that_comes_no_step_further_in_its_tasks_fails_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = started(tmp_path)
    monkeypatch.setattr(tasks, "is_within_a_task", lambda: True)
    monkeypatch.setattr(tasks, "used", lambda: 0.9)
    states = []
    for _ in range(3):
        execution.compute(training.pk)
        training.refresh_from_db()
        states.append((training.state, training.attempts))
    assert states == [(State.PENDING, 1), (State.PENDING, 2), (State.FAILED, 3)]
    assert "no step further" in training.error


def test_the_hard_end_of_a_task_costs_what_was_not_stored(tmp_path: Path) -> None:
    whole, cut = started(tmp_path, "whole"), started(tmp_path, "cut")
    assert execution.compute(whole.pk)

    def end() -> None:
        raise SoftTimeLimitExceeded

    assert not execution.compute(cut.pk, at_step(9, end))
    cut.refresh_from_db()
    assert (cut.state, cut.attempts) == (State.PENDING, 0)
    assert execution.compute(cut.pk)
    assert model_digest("cut") == model_digest("whole")


def test_who_was_taken_over_writes_nothing_more(tmp_path: Path) -> None:
    training = started(tmp_path)

    def take_over() -> None:
        Training.objects.filter(pk=training.pk).update(lease_token="somebody else's")

    assert not execution.compute(training.pk, at_step(5, take_over))
    training.refresh_from_db()
    assert (training.state, training.lease_token) == (State.RUNNING, "somebody else's")
    kept = checkpoint.newest(queries.work_folder(training))
    assert kept is not None
    assert kept.config["step"] == 4  # the last one before


def test_a_new_checkpoint_begins_the_attempts_anew(tmp_path: Path) -> None:
    """A training of days may outlive more workers than a run of minutes may."""
    training = started(tmp_path)
    Training.objects.filter(pk=training.pk).update(attempts=2)
    seen: dict[int, int] = {}

    def told(progress: Mapping[str, Any]) -> None:
        if "step" in progress:
            seen[progress["step"]] = Training.objects.get(pk=training.pk).attempts

    assert execution.compute(training.pk, told)
    assert (seen[1], seen[4]) == (3, 1)


def test_a_file_that_changed_is_not_trained_on(tmp_path: Path) -> None:
    training = started(tmp_path)
    talk_file(tmp_path / "talk.txt", seed=1)
    assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert training.state == State.FAILED
    assert "is another one than when the training was asked for" in training.error


def test_a_model_of_that_name_from_elsewhere_is_not_written_over(tmp_path: Path) -> None:
    training = started(tmp_path)
    folder = queries.model_folder("small")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"recipe": "density", "sha256": "0123456789abcdef"}')
    assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert training.state == State.FAILED
    assert "that this run did not make" in training.error


def test_what_people_do_stands_in_the_audit_log(tmp_path: Path) -> None:
    training = started(tmp_path)
    assert actions.stop(training)
    assert not actions.stop(training)
    assert actions.go_on(training)
    assert not actions.go_on(training)
    said = list(AuditEntry.objects.order_by("pk").values_list("action", "subject"))
    assert said == [
        (name, "small") for name in ("training.started", "training.stopped", "training.resumed")
    ]


@pytest.mark.parametrize("name", ["", "Big", "a b", "-a", "a-", "a/b", "x" * 61])
def test_a_name_is_a_folder_s_and_an_option_s(tmp_path: Path, name: str) -> None:
    with pytest.raises(actions.Refused):
        started(tmp_path, name)


def test_a_name_is_given_once(tmp_path: Path) -> None:
    started(tmp_path)
    with pytest.raises(actions.Refused, match="choose another name"):
        started(tmp_path)
    queries.model_folder("made-elsewhere").mkdir(parents=True)
    with pytest.raises(actions.Refused, match="choose another name"):
        started(tmp_path, "made-elsewhere")


def test_settings_that_cannot_be_are_refused_before_there_is_a_row(tmp_path: Path) -> None:
    with pytest.raises(actions.Refused, match="temperature must be more than 0"):
        started(tmp_path, temperature=0.0)
    with pytest.raises(actions.Refused, match="no setting 'colour'"):
        started(tmp_path, colour="blue")
    assert not Training.objects.exists()
