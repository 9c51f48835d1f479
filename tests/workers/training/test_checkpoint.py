from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from workers.training.core import checkpoint
from workers.training.core.checkpoint import CheckpointError

WEIGHTS = {"a": torch.tensor([1.0, 2.0]), "b": torch.zeros(2, 3)}


def written(folder: Path, step: int = 5, **more: object) -> checkpoint.Checkpoint:
    place = folder / checkpoint.name_of(step)
    return checkpoint.write(
        place, WEIGHTS, {"step": step, **more}, {"own.txt": b"text"}, {"s": torch.ones(1)}
    )


def test_what_was_written_is_read(tmp_path: Path) -> None:
    before = written(tmp_path, curves=[{"loss": 0.1}])
    found = checkpoint.read(before.folder)
    assert found.config["curves"] == [{"loss": 0.1}]
    assert torch.equal(found.weights()["a"], WEIGHTS["a"])
    assert torch.equal(found.state()["s"], torch.ones(1))
    assert found.sha256 == before.sha256


@pytest.mark.parametrize(
    "name", [checkpoint.WEIGHTS, checkpoint.STATE, "own.txt", checkpoint.CONFIG]
)
def test_one_changed_byte_is_found(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path).folder
    content = bytearray((folder / name).read_bytes())
    place = content.index(b"5") if name == checkpoint.CONFIG else len(content) - 1
    content[place] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(CheckpointError, match="not what was written"):
        checkpoint.read(folder)


@pytest.mark.parametrize("name", [checkpoint.WEIGHTS, "own.txt", checkpoint.CONFIG])
def test_a_missing_file_is_found(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path).folder
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        checkpoint.read(folder)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"sha256": 3}', '{"sha256": "x", "files": 3}', "[" * 100_000]
)
def test_a_config_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    folder = written(tmp_path).folder
    (folder / checkpoint.CONFIG).write_text(text)
    with pytest.raises(CheckpointError):
        checkpoint.read(folder)


def test_the_hash_tells_weights_and_config_apart(tmp_path: Path) -> None:
    one = written(tmp_path / "1", seed=1).sha256
    other_config = written(tmp_path / "2", seed=2).sha256
    place = tmp_path / "3" / checkpoint.name_of(5)
    other_weights = checkpoint.write(
        place,
        {"a": torch.ones(2)},
        {"step": 5, "seed": 1},
        {"own.txt": b"text"},
        {"s": torch.ones(1)},
    ).sha256
    assert len({one, other_config, other_weights}) == 3
    assert written(tmp_path / "4", seed=1).sha256 == one


def test_the_newest_whole_one_is_found(tmp_path: Path) -> None:
    for step in (5, 90, 100):
        written(tmp_path, step)
    (tmp_path / checkpoint.name_of(100) / checkpoint.WEIGHTS).write_bytes(b"")
    (tmp_path / checkpoint.name_of(200)).mkdir()
    found = checkpoint.newest(tmp_path)
    assert found is not None
    assert found.config["step"] == 90
    assert checkpoint.newest(tmp_path / "nothing") is None


@pytest.mark.parametrize("within", ["read", "_tensors"])
def test_one_that_another_process_takes_away_meanwhile_is_looked_for_again(
    within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a worker that was stopped, and still writes its last checkpoint while the next one
    begins."""
    written(tmp_path, 4)
    done: list[str] = []
    genuine = getattr(checkpoint, within)

    def overtaken(path: Path) -> Any:
        if not done:
            done.append(within)
            written(tmp_path, 5)
            checkpoint.tidy(tmp_path, 1, None)
        return genuine(path)

    monkeypatch.setattr(checkpoint, within, overtaken)
    found = checkpoint.to_go_on_from(tmp_path)
    assert done
    assert found is not None
    assert found.checkpoint.config["step"] == 5
    assert torch.equal(found.weights["a"], WEIGHTS["a"])
    assert torch.equal(found.state["s"], torch.ones(1))


def test_one_of_the_same_name_gives_way(tmp_path: Path) -> None:
    written(tmp_path, seed=1)
    written(tmp_path, seed=2)
    assert checkpoint.read(tmp_path / checkpoint.name_of(5)).config["seed"] == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        checkpoint.write(tmp_path / "one", WEIGHTS, {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "../own.txt"])
def test_a_recipes_file_cannot_stand_in_anothers_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="recipe's file"):
        checkpoint.write(tmp_path / "one", WEIGHTS, {}, {name: b""})


def test_weights_that_share_memory_are_kept_both(tmp_path: Path) -> None:
    tied = torch.arange(3.0)
    found = checkpoint.write(tmp_path / "one", {"in": tied, "out": tied}, {})
    assert torch.equal(found.weights()["in"], found.weights()["out"])


def test_old_ones_go_and_the_best_stays(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        written(tmp_path, step)
        checkpoint.write(tmp_path / checkpoint.name_of(step, checkpoint.BEST), WEIGHTS, {})
    checkpoint.tidy(tmp_path, 2, best_step=1)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == [
        "best-00000001",
        "step-00000002",
        "step-00000003",
    ]


def test_the_best_is_the_one_that_the_newest_names(tmp_path: Path) -> None:
    """Not a later one, written before a kill that took the checkpoint naming it."""
    written(tmp_path, 5, best={"step": 2})
    for step in (2, 8):
        checkpoint.write(
            tmp_path / checkpoint.name_of(step, checkpoint.BEST), WEIGHTS, {"step": step}
        )
    found = checkpoint.best(tmp_path)
    assert found is not None
    assert found.config["step"] == 2
    assert checkpoint.best(tmp_path / "nothing") is None


def test_weights_alone_cannot_be_resumed(tmp_path: Path) -> None:
    found = checkpoint.write(tmp_path / "one", WEIGHTS, {})
    assert not found.is_resumable
    with pytest.raises(CheckpointError, match="no state"):
        found.state()


def test_config_is_json_for_people(tmp_path: Path) -> None:
    folder = written(tmp_path, name="é").folder
    text = (folder / checkpoint.CONFIG).read_text(encoding="utf-8")
    assert json.loads(text)["name"] == "é"
    assert "é" in text
