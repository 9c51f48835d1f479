"""Trainings that cannot be, faults of the machine, and folders that somebody wrote into: each ends
with a reason."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from annotations.corpora import actions as corpora
from annotations.formats.importers.registry import importers
from common.jobs.models import JobQuerySet
from tests.workers.trainings.small import started, talk_file
from tests.workers.trainings.test_execution import at_step, model_digest
from workers.training import actions, execution, queries
from workers.training.core import checkpoint
from workers.training.core.checkpoint import models_in
from workers.training.core.selection import ModelError, load_selection
from workers.training.data import Source
from workers.training.models import Training

pytestmark = pytest.mark.django_db

State = Training.State


def failed(training: Training) -> str:
    """What the row says after its only attempt."""
    assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert training.state == State.FAILED
    return training.error


def talk_of(folder: Path, lines: list[str]) -> None:
    (folder / "talk.txt").write_text("".join(f"{line}\n" for line in lines))


# ---------------------------------------------------------------- data


def test_one_dialogue_is_too_few(tmp_path: Path) -> None:
    talk_of(tmp_path, ["do you like rain __eou__ yes __eou__"])
    assert "at least 2 are needed" in failed(started(tmp_path))


def test_one_answer_by_everybody_leaves_no_wrong_ones(tmp_path: Path) -> None:
    talk_of(
        tmp_path, [f"well {number} do you like rain __eou__ yes __eou__" for number in range(40)]
    )
    assert "negatives" in failed(started(tmp_path))


def test_a_corpus_that_was_deleted_meanwhile_is_named(tmp_path: Path) -> None:
    path = talk_file(tmp_path / "stored.txt")
    (outcome,) = corpora.import_corpus(importers()["dailydialog"], path, "stored")
    training = started(tmp_path, source=Source.of_version(outcome.version))
    outcome.version.corpus.delete()
    assert f"the corpus stored {outcome.version.label} was deleted" in failed(training)


def test_a_corpus_that_got_a_new_version_is_trained_on_as_it_was(tmp_path: Path) -> None:
    importer = importers()["dailydialog"]
    (first,) = corpora.import_corpus(importer, talk_file(tmp_path / "one.txt"), "stored")
    training = started(tmp_path, source=Source.of_version(first.version))
    corpora.import_corpus(importer, talk_file(tmp_path / "two.txt", seed=1), "stored")
    assert execution.compute(training.pk)
    told = checkpoint.read(queries.model_folder("small")).config["model"]["about"]["data"]
    assert told == {"corpus": "stored", "version": first.version.label}


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"negatives": 10**9}, "negatives"),
        ({"max_tokens": 10**6}, "takes 64 tokens"),
        ({"freeze": 10**9}, "cannot be frozen"),
        ({"encoder": "/nowhere/at-all"}, "is not there"),
        ({"encoder": "a\nb"}, "is no name of a model"),
        ({"validation_share": 1e-300, "negatives": 3}, "negatives"),
    ],
)
def test_settings_beyond_the_data_or_the_encoder_fail_with_their_name(
    tmp_path: Path, chosen: dict[str, Any], said: str
) -> None:
    assert said in failed(started(tmp_path, **chosen))


def test_more_epochs_than_anybody_waits_for_begin_and_can_be_stopped(tmp_path: Path) -> None:
    training = started(tmp_path, epochs=10**9, pairs_an_epoch=10**12, seconds=1e12)
    assert not execution.compute(training.pk, at_step(3, lambda: actions.stop(training)))
    training.refresh_from_db()
    assert training.state == State.STOPPED


@pytest.mark.parametrize("seed", [-1, 2**31, 10**30])
def test_a_seed_that_no_column_holds_is_refused(tmp_path: Path, seed: int) -> None:
    source = Source.of_file(talk_file(tmp_path / "talk.txt"))
    with pytest.raises(actions.Refused, match="A seed is a whole number"):
        actions.start("small", "density", source, {}, seed=seed, check=False)


# ---------------------------------------------------------------- the machine


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def as_safetensors_says(*_: object, **__: object) -> None:
    from safetensors import SafetensorError

    raise SafetensorError(
        "Error while serializing: I/O error: No space left on device (os error 28)"
    )


@pytest.mark.parametrize("fault", [no_space, as_safetensors_says])
def test_a_full_disk_is_said_and_the_training_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., None]
) -> None:
    whole, training = started(tmp_path, "whole"), started(tmp_path, "full")
    assert execution.compute(whole.pk)
    with monkeypatch.context() as patch:
        filled = at_step(5, lambda: patch.setattr("safetensors.torch.save_file", fault))
        assert not execution.compute(training.pk, filled)
    training.refresh_from_db()
    assert training.state == State.FAILED
    assert "the disk of DIALEVAL_HOME is full: make room, then go on" in training.error
    assert not list(queries.work_folder(training).glob(".dialeval-*"))
    assert actions.go_on(training)
    assert execution.compute(training.pk)
    assert model_digest("full") == model_digest("whole")


def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/somewhere")

    training = started(tmp_path)
    monkeypatch.setattr(checkpoint, "temporary_folder", read_only)
    assert "may not write into DIALEVAL_HOME" in failed(training)


def test_a_database_that_is_away_for_a_while_ends_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training, renew, calls = started(tmp_path), JobQuerySet.renew, []

    def away_at_times(owned: JobQuerySet, **changes: Any) -> int:
        calls.append(changes)
        if changes.get("progress", {}).get("step") in (3, 4, 5):
            raise OperationalError("the database is gone")
        return renew(owned, **changes)

    monkeypatch.setattr(JobQuerySet, "renew", away_at_times)
    monkeypatch.setattr(type(execution.connection), "in_atomic_block", False, raising=False)
    monkeypatch.setattr(execution.connection, "close", lambda: None)
    assert execution.compute(training.pk)
    training.refresh_from_db()
    assert [point["step"] for point in training.curves] == [2, 4, 6, 8, 10, 12]


# ---------------------------------------------------------------- in the last moment


def test_a_model_that_is_copied_here_while_its_name_is_trained_stays(tmp_path: Path) -> None:
    training, place = started(tmp_path), queries.model_folder("small")

    def copy() -> None:
        place.mkdir(parents=True)
        (place / "half").touch()  # the rest is on its way

    assert not execution.compute(training.pk, at_step(5, copy))
    training.refresh_from_db()
    assert "that this run did not make" in training.error
    assert [one.name for one in place.iterdir()] == ["half"]


def test_one_that_is_stopped_while_its_model_is_written_has_none_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = started(tmp_path)
    written = checkpoint.write

    def stopped_before(folder: Path, *arguments: Any, **named: Any) -> checkpoint.Checkpoint:
        if folder.name == "small":
            actions.stop(training)
        return written(folder, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "write", stopped_before)
        assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert (training.state, queries.model_of("small")) == (State.STOPPED, None)
    assert actions.go_on(training)
    assert execution.compute(training.pk)
    assert queries.model_of("small") is not None


# ---------------------------------------------------------------- files that somebody wrote into


def test_a_model_that_was_tampered_with_scores_nothing(tmp_path: Path) -> None:
    training = started(tmp_path)
    assert execution.compute(training.pk)
    weights = queries.model_folder("small") / checkpoint.WEIGHTS
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    with pytest.raises(ModelError, match=r"weights\.safetensors is not what was written"):
        load_selection(queries.model_folder("small"), "cpu")


def test_a_checkpoint_that_was_tampered_with_is_not_gone_on_from(tmp_path: Path) -> None:
    training = started(tmp_path)
    assert not execution.compute(training.pk, at_step(5, lambda: actions.stop(training)))
    (kept,) = queries.work_folder(training).glob("step-*")
    config = json.loads((kept / checkpoint.CONFIG).read_text())
    (kept / checkpoint.CONFIG).write_text(json.dumps({**config, "steps": 1}))
    assert actions.go_on(training)
    assert execution.compute(training.pk)  # from the beginning
    training.refresh_from_db()
    assert training.progress["steps"] == 12


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "null",
        "\x00",
        '{"recipe": 1}',
        "[" * 100_000,
        '{"recipe": "", "sha256": ""}',
        '"density"',
    ],
)
def test_a_folder_that_holds_something_else_is_no_model(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "trained" / "odd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(text)
    assert models_in(tmp_path / "trained") == []
