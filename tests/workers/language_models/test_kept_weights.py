"""A copy of a model's weights beside the features, made from a small model that stands in for a
GGUF file's."""

import shutil
from dataclasses import replace

import pytest
import torch

from tests.workers.causal import make_causal
from workers.inference import resources
from workers.inference.language_models import gguf_cache, loading
from workers.inference.model_files import model_files

CPU = torch.device("cpu")


@pytest.fixture
def gguf(tmp_path, monkeypatch):
    """The files of a "GGUF" model, and how often it was dequantised."""
    folder = model_files(str(make_causal(tmp_path / "model")))
    made = []

    def dequantised(files, dtype):
        made.append(files.gguf_file)
        return loading._from_folder(replace(folder), dtype)

    monkeypatch.setattr(loading, "_from_gguf", dequantised)
    return replace(folder, gguf_file="small.gguf"), made


@pytest.fixture
def home(tmp_path):
    before = resources.at_hand()
    resources.use(replace(before, feature_folder=tmp_path / "home" / "features"))
    yield tmp_path / "home"
    resources.use(before)


def load(files):
    return loading.load_causal(files, CPU, torch.float32)


def logits(loaded):
    tokenizer, model = loaded
    with torch.inference_mode():
        return model(torch.tensor([tokenizer("hello").input_ids])).logits


def copy_of(files):
    return gguf_cache.cache_folder(files, "float32")


def test_dequantised_once_and_the_same_from_the_copy(gguf, home):
    files, made = gguf
    first, second = logits(load(files)), logits(load(files))
    assert len(made) == 1
    assert torch.equal(first, second)
    assert [one.name for one in (home / "models").iterdir()] == [f"{files.revision}-float32"]


@pytest.mark.parametrize(
    "name", ["model.safetensors", "tokenizer.json", "config.json", "made.json"]
)
@pytest.mark.parametrize("harm", ["cut", "changed", "gone"])
def test_a_damaged_copy_is_made_anew(gguf, home, name, harm):
    files, made = gguf
    expected = logits(load(files))
    file = copy_of(files) / name
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if harm == "cut" else whole[:-9] + b"\0" + whole[-8:])
    if harm == "gone":
        file.unlink()
    assert torch.equal(logits(load(files)), expected)
    assert gguf_cache.is_good(copy_of(files), files)
    assert len(made) == 2


def test_another_model_in_the_folder_is_not_taken(gguf, home):
    files, made = gguf
    load(files)
    other = replace(files, revision="0" * 12)
    shutil.copytree(copy_of(files), copy_of(other))
    load(other)
    assert len(made) == 2


def test_of_two_processes_the_later_keeps_the_copy_of_the_first(gguf, home):
    files, _ = gguf
    loaded = load(files)
    made = (copy_of(files) / "made.json").stat().st_ino
    gguf_cache.keep(copy_of(files), files, *loading._from_gguf(files, torch.float32))
    assert loaded
    assert (copy_of(files) / "made.json").stat().st_ino == made
    assert len(list((home / "models").iterdir())) == 1


def test_without_leave_to_write_it_goes_on_from_gguf(gguf, home):
    files, made = gguf
    home.mkdir()
    (home / "models").write_text("a file in the way")
    assert load(files)
    assert load(files)
    assert len(made) == 2


def test_a_full_disk_keeps_no_copy_and_no_half_of_one(gguf, home, monkeypatch):
    files, made = gguf
    monkeypatch.setattr(
        gguf_cache.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 10**9)
    )
    assert load(files)
    assert len(made) == 1
    assert list((home / "models").iterdir()) == []


def test_nothing_is_kept_where_features_are_not(gguf, tmp_path):
    files, made = gguf
    before = resources.at_hand()
    resources.use(replace(before, feature_folder=None))
    try:
        load(files)
        load(files)
    finally:
        resources.use(before)
    assert len(made) == 2
