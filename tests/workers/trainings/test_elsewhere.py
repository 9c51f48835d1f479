"""A model that one machine trained is used by another one, through a storage of both: a real server
that speaks S3."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotations import orphans
from common.storage import StorageAway
from dialeval_site.config.storage import file_storage
from tests.object_storage import BUCKET, KEYS, ObjectStorage, object_storage, storage_url
from tests.workers.trainings.small import started
from workers.inference import resources
from workers.inference.model_files import ModelError
from workers.training import actions, execution, queries, remote
from workers.training.core import checkpoint
from workers.training.core.selection import load_selection
from workers.training.core.trained_models import (
    files_of,
    model_named,
    models_here,
    why_no_model,
)
from workers.training.models import Training

pytestmark = pytest.mark.django_db

State = Training.State


@pytest.fixture(scope="module")
def storage() -> Iterator[ObjectStorage]:
    with object_storage() as storage:
        yield storage


@pytest.fixture
def use_machine(
    storage: ObjectStorage, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Path]]:
    """From now on this process is on the machine of this name, which has a DIALEVAL_HOME of its
    own."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    storage.empty()
    default = file_storage(storage_url(storage.endpoint), tmp_path)
    settings.STORAGES = {**settings.STORAGES, "default": default}
    before = resources.at_hand()

    def use(name: str) -> Path:
        settings.HOME = home = tmp_path / name
        home.mkdir(exist_ok=True)
        shared = remote.OnStorage()
        resources.use(
            replace(before, trained_folder=home / "trained", remote_models=shared, device="cpu")
        )
        return home

    yield use
    resources.use(before)


def trained(tmp_path: Path, **chosen: Any) -> Training:
    training = started(tmp_path, **chosen)
    assert execution.compute(training.pk)
    training.refresh_from_db()
    return training


def test_a_machine_that_needs_a_model_fetches_it_whole_where_it_is_used(
    use_machine: Callable[[str], Path], storage: ObjectStorage, tmp_path: Path
) -> None:
    one = use_machine("one")
    training = trained(tmp_path)
    digests = checkpoint.read(one / "trained" / "small").config["files"]
    assert set(storage.objects()) == {
        f"trained/small-{training.revision}/{name}" for name in (*digests, "config.json")
    }

    two = use_machine("two")
    assert why_no_model("density", "small", "density") == ""
    assert [model.name for model in models_here("density")] == ["small"]
    model = model_named("small", "density")
    assert not model.folder.exists()  # so far only config.json was read
    files = files_of(model)
    assert files.label == f"small@{training.revision}"
    assert checkpoint.read(files.folder).config["files"] == digests
    load_selection(files.folder, "cpu")
    assert not (two / "trained").exists()
    assert not list((two / "fetched").rglob(".*"))

    use_machine("one")
    # Its own is not fetched
    assert model_named("small", "density").folder == one / "trained" / "small"


def test_a_model_that_comes_damaged_gets_no_name(
    use_machine: Callable[[str], Path], storage: ObjectStorage, tmp_path: Path
) -> None:
    use_machine("one")
    training = trained(tmp_path)
    key = f"site/trained/small-{training.revision}/weights.safetensors"
    storage.client().put_object(Bucket=BUCKET, Key=key, Body=b"x" * 100)
    two = use_machine("two")
    model = model_named("small", "density")
    with pytest.raises(ModelError, match="damaged"):
        files_of(model)
    storage.client().delete_object(Bucket=BUCKET, Key=key)
    with pytest.raises(ModelError, match="does not have all of"):
        files_of(model)
    assert not model.folder.exists()
    assert not list((two / "fetched").rglob(".dialeval-*"))


def test_a_model_that_was_trained_anew_takes_the_place_of_the_one_before_everywhere(
    use_machine: Callable[[str], Path], storage: ObjectStorage, tmp_path: Path
) -> None:
    one = use_machine("one")
    first = trained(tmp_path)
    use_machine("two")
    files_of(model_named("small", "density"))
    actions.delete("small")
    assert why_no_model("density", "small", "density").startswith(
        "there is no trained model 'small'"
    )
    second = trained(tmp_path, epochs=1)
    assert second.revision != first.revision
    use_machine("one")  # it still has a folder of the first
    assert (one / "trained" / "small").is_dir()
    assert files_of(model_named("small", "density")).label == f"small@{second.revision}"


@pytest.mark.slow
def test_a_deleted_model_is_gone_from_the_storage(
    use_machine: Callable[[str], Path],
    storage: ObjectStorage,
    tmp_path: Path,
    django_capture_on_commit_callbacks: Any,
) -> None:
    use_machine("one")
    trained(tmp_path)
    with django_capture_on_commit_callbacks(execute=True):
        actions.delete("small")
    assert storage.objects() == {}


def test_a_model_on_the_storage_that_no_row_leads_to_is_taken_away_after_a_day(
    use_machine: Callable[[str], Path], storage: ObjectStorage, tmp_path: Path
) -> None:
    """Of a worker whose lease was lost after it had sent its model, and of one deleted while the
    storage was away. That of a training under way may be about to be whole."""
    use_machine("one")
    trained(tmp_path)
    started(tmp_path, "slow-one")
    kept = set(storage.objects())
    forgotten = {
        "trained/small-00000000000a/config.json",
        "trained/gone-00000000000a/weights.safetensors",
    }
    under_way = {"trained/slow-one-00000000000a/weights.safetensors"}
    for name in forgotten | under_way:
        storage.client().put_object(Bucket=BUCKET, Key=f"site/{name}", Body=b"x")
    orphans.collect(time.time() + 23 * 3600)
    assert set(storage.objects("trained/")) == kept | forgotten | under_way
    orphans.collect(time.time() + 25 * 3600)
    assert set(storage.objects("trained/")) == kept | under_way
    assert len(storage.objects("quarantine/")) == 2


def test_a_training_whose_model_cannot_be_sent_waits_and_is_done_when_the_storage_is_back(
    use_machine: Callable[[str], Path],
    storage: ObjectStorage,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_machine("one")
    training = started(tmp_path)

    def away(*_: object) -> None:
        raise StorageAway("the storage of files does not answer")

    with monkeypatch.context() as patched:
        patched.setattr(remote, "send", away)
        assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert (training.state, training.attempts) == (State.PENDING, 1)
    assert queries.has_checkpoint(training)
    assert execution.compute(training.pk)
    training.refresh_from_db()
    assert training.state == State.DONE
    assert any(name.endswith("config.json") for name in storage.objects())
