"""A trained model is taken away whole, and what was computed with it stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.models import AuditEntry
from tests.workers.trainings.small import started
from tests.workers.trainings.test_data import evaluated
from workers.judges import prompt_queries
from workers.models import MetricRun
from workers.training import actions, execution, queries
from workers.training.models import Training

pytestmark = pytest.mark.django_db(transaction=True)


def folders() -> list[str]:
    """Names of what lies where models and checkpoints lie."""
    parents = (
        queries.model_folder("x").parent,
        queries.model_folder("x").parent.parent / queries.WORK_FOLDER,
    )
    return sorted(one.name for parent in parents if parent.is_dir() for one in parent.iterdir())


def copied(name: str) -> Path:
    folder = queries.model_folder(name)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"recipe": "density", "sha256": "0123456789abcdef"}')
    return folder


def run_with(folder: Path, configuration: str, state: str = "done", **more: Any) -> MetricRun:
    system = evaluated(folder, "hello there").systems.get()
    ended = (
        {"signature": "s", "system_score": 1.0, "finished_at": timezone.now()}
        if state == "done"
        else {}
    )
    columns = {
        "metric": "density",
        "metric_version": "1",
        "configuration": configuration,
        "queue": "gpu",
    }
    return MetricRun.objects.create(system=system, state=state, **columns, **ended, **more)


def test_row_model_and_checkpoints_go_and_the_log_says_so(tmp_path: Path) -> None:
    done, stopped = started(tmp_path, "done"), started(tmp_path, "stopped")
    assert execution.compute(done.pk)
    queries.work_folder(stopped).mkdir(parents=True)
    actions.stop(stopped)
    revision = Training.objects.get(name="done").revision
    actions.delete("done")
    actions.delete("stopped")
    assert not Training.objects.exists()
    assert folders() == []
    said = AuditEntry.objects.filter(action="training.deleted").order_by("pk")
    assert [one.subject for one in said] == ["done", "stopped"]
    assert said[0].details == {"recipe": "density", "revision": revision, "scores_kept": 0}


def test_one_that_trains_is_refused(tmp_path: Path) -> None:
    started(tmp_path)
    with pytest.raises(actions.Refused, match="stop it first"):
        actions.delete("small")
    assert Training.objects.exists()


def test_a_model_without_a_training_goes_too_and_one_that_is_not_there_is_named() -> None:
    copied("guest")
    actions.delete("guest")
    assert folders() == []
    for name in ("guest", "../guest", "a\0b", "", "x" * 300):
        with pytest.raises(actions.Refused, match="There is no training"):
            actions.delete(name)


def test_scores_stay_and_no_other_model_gets_the_name(tmp_path: Path) -> None:
    copied("daily")
    run = run_with(tmp_path, "density[trained=daily]")
    actions.delete("daily")
    assert MetricRun.objects.get() == run
    with pytest.raises(actions.Refused, match="Scores of a deleted model daily are stored"):
        started(tmp_path, "daily")
    started(tmp_path, "dail")  # another name, though the text holds it


@pytest.mark.parametrize(
    "configuration", ["density[trained=daily]", "cmn[samples=5,trained=daily]"]
)
def test_a_model_that_runs_wait_for_is_kept(tmp_path: Path, configuration: str) -> None:
    copied("daily")
    run_with(tmp_path, configuration, "pending")
    with pytest.raises(actions.Refused, match="1 metric runs wait for daily"):
        actions.delete("daily")
    assert folders() == ["daily"]


def test_runs_of_a_model_whose_name_begins_alike_are_none_of_it(tmp_path: Path) -> None:
    copied("daily")
    run_with(tmp_path, "density[trained=daily-2]", "pending")
    actions.delete("daily")
    assert folders() == []


def test_a_model_that_a_round_scores_with_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    copied("daily")
    naming = prompt_queries.Naming("density[trained=daily]", "spring: first round")
    monkeypatch.setattr(
        prompt_queries,
        "_providers",
        [lambda part: [naming] if part in naming.configuration else []],
    )
    with pytest.raises(actions.Refused, match="spring: first round"):
        actions.delete("daily")
    assert folders() == ["daily"]


def test_a_deletion_that_fails_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = started(tmp_path)
    actions.stop(training)
    copied("small")
    queries.work_folder(training).mkdir(parents=True)
    before = folders()

    def full(*_: object, **__: object) -> None:
        raise RuntimeError("the database is full")

    monkeypatch.setattr(actions.audit, "record", full)
    with pytest.raises(RuntimeError):
        actions.delete("small")
    assert folders() == before
    assert Training.objects.exists()


@pytest.mark.parametrize("which", [0, 1])
def test_a_folder_that_cannot_be_moved_refuses_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    training = started(tmp_path)
    actions.stop(training)
    copied("small")
    queries.work_folder(training).mkdir(parents=True)
    before, renamed, tried = folders(), Path.rename, []

    def read_only(path: Path, target: Path) -> Path:
        tried.append(path)
        if len(tried) == which + 1:
            raise PermissionError(13, os.strerror(13), str(path))
        return renamed(path, target)

    monkeypatch.setattr(Path, "rename", read_only)
    with pytest.raises(
        actions.Refused, match=r"cannot be removed: Permission denied\. Nothing was deleted"
    ):
        actions.delete("small")
    assert folders() == before
    assert Training.objects.exists()


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    queries.model_folder("linked").parent.mkdir(parents=True)
    queries.model_folder("linked").symlink_to(elsewhere)
    actions.delete("linked")
    assert folders() == []
    assert (elsewhere / "kept").exists()


def test_a_worker_that_was_still_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    """Stopped and deleted while it is at a step: it learns so afterwards."""
    training = started(tmp_path)

    def delete(progress: object) -> None:
        if isinstance(progress, dict) and progress.get("step") == 5 and actions.stop(training):
            actions.delete("small")

    assert not execution.compute(training.pk, delete)
    assert folders() == []


def test_the_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied("daily")
    run_with(tmp_path, "density[trained=daily]")
    call_command("delete_training", "daily")
    assert capsys.readouterr().out == "daily: deleted; 1 scores made with it stay\n"
    with pytest.raises(CommandError, match="There is no training daily"):
        call_command("delete_training", "daily")
