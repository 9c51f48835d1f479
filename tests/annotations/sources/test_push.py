"""Datasets pushed to the Hub: what arrives there, and what does not."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from annotations.formats.exporters.registry import exporters
from annotations.sources.push import NotPushed, push
from tests.annotations.formats.exporters.helpers import small_corpus
from tests.hub_double import SHA, TOKEN, Hub, Repository, hub_double


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    # The Hub's other way for large files, which a compiled package speaks
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with hub_double() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    exporters()["dataset"].export(small_corpus(), tmp_path / "small")
    return tmp_path / "small"


def pushed(folder: Path, hub: Hub, address: str = "hf://datasets/lab/small", **how: bool) -> str:
    return push(folder, address, endpoint=hub.url, token=TOKEN, **how)


def refusal(folder: Path, hub: Hub, address: str = "hf://datasets/lab/small") -> str:
    with pytest.raises(NotPushed) as refused:
        pushed(folder, hub, address)
    return str(refused.value)


def test_the_whole_folder_arrives_in_one_commit(folder: Path, hub: Hub) -> None:
    assert pushed(folder, hub) == f"hf://datasets/lab/small@{SHA}"
    (commit,) = hub.commits
    by_key = {
        key: {one["value"]["path"]: one["value"] for one in commit if one["key"] == key}
        for key in ("file", "lfsFile")
    }
    tables = {path.relative_to(folder).as_posix(): path for path in folder.glob("data/*")}
    assert set(by_key["lfsFile"]) == set(tables)
    for name, path in tables.items():
        oid = by_key["lfsFile"][name]["oid"]
        assert hub.uploaded[oid] == path.read_bytes()
        assert oid == hashlib.sha256(path.read_bytes()).hexdigest()
    card = base64.b64decode(by_key["file"]["README.md"]["content"])
    assert card == (folder / "README.md").read_bytes()


@pytest.mark.parametrize("public", [False, True])
def test_it_is_private_unless_asked_otherwise(folder: Path, hub: Hub, public: bool) -> None:
    pushed(folder, hub, public=public)
    assert hub.repositories["lab/small"].private is not public


def test_one_that_is_there_is_refused_unless_it_is_replaced(folder: Path, hub: Hub) -> None:
    hub.repositories["lab/small"] = Repository({"data/old.parquet": b"x"})
    assert "--replace adds a commit" in refusal(folder, hub)
    assert hub.commits == []
    pushed(folder, hub, replace=True)
    deleted = [one["value"]["path"] for one in hub.commits[0] if one["key"] == "deletedFile"]
    assert deleted == ["data/old.parquet"]


def test_without_a_token_nothing_is_asked(folder: Path, hub: Hub) -> None:
    with pytest.raises(NotPushed, match="set HF_TOKEN"):
        push(folder, "hf://datasets/lab/small", endpoint=hub.url, token="")
    assert hub.got == []


@pytest.mark.parametrize(
    "address",
    ["hf://datasets/lab", "hf://lab/small@v1", "hf://lab/small/data", "https://example.org/x"],
)
def test_an_address_that_is_no_dataset_is_refused(folder: Path, hub: Hub, address: str) -> None:
    assert "names no dataset" in refusal(folder, hub, address)
    assert hub.got == []


def test_a_token_that_may_not_write_is_told(folder: Path, hub: Hub) -> None:
    with pytest.raises(NotPushed, match="HTTP status 401; HF_TOKEN may not write"):
        push(folder, "hf://datasets/lab/small", endpoint=hub.url, token="hf_other")


# What ends with 5xx the Hub's package tries again for half a minute, but for a commit
@pytest.mark.parametrize(("at", "status"), [("/preupload/", 400), ("/commit/", 500)])
def test_a_hub_that_fails_midway_is_told_with_what_is_there(
    folder: Path, hub: Hub, at: str, status: int
) -> None:
    hub.fails_at, hub.fails_with = at, status
    assert f"HTTP status {status}; the empty dataset is there" in refusal(folder, hub)
    assert hub.commits == []
