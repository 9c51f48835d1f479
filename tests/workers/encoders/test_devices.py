"""Which device is taken, and how it is named; CUDA and MPS are stand-ins here."""

from __future__ import annotations

import pytest

from workers.inference import resources
from workers.inference.encoders import devices
from workers.inference.model_files import ModelError


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "A Large GPU")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_auto_is_cuda_where_there_is_one(two_gpus: None) -> None:
    assert str(devices.device_for("auto")) == "cuda"
    assert devices.device_name(devices.device_for("cuda:1")) == "cuda:1: A Large GPU"


def test_auto_is_mps_on_a_mac(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert str(devices.device_for("auto")) == "mps"


def test_auto_is_the_cpu_otherwise(no_gpu: None) -> None:
    assert str(devices.device_for("auto")) == "cpu"
    with pytest.raises(ModelError, match="the device mps is not on this machine"):
        devices.device_for("mps")
    with pytest.raises(
        ModelError, match="the device cuda is not on this machine: PyTorch finds 0 CUDA devices"
    ):
        devices.device_for("cuda")


def test_a_gpu_too_many_is_named(two_gpus: None) -> None:
    with pytest.raises(ModelError, match="cuda:2 is not on this machine: PyTorch finds 2"):
        devices.device_for("cuda:2")


@pytest.mark.parametrize("wanted", ["gpu", "", "cuda:x", "\0", "meta", "cpu; rm"])
def test_what_is_no_device_is_an_error_of_the_model(wanted: str) -> None:
    with pytest.raises(ModelError, match="device"):
        devices.device_for(wanted)


@pytest.mark.parametrize(("threads", "said"), [(1, "cpu, 1 thread"), (3, "cpu, 3 threads")])
def test_threads_are_those_of_resources(threads: int, said: str) -> None:
    import torch

    before = torch.get_num_threads()
    resources.use(resources.Resources(threads=threads))
    try:
        devices.use_threads()
        assert devices.device_name(torch.device("cpu")) == said
    finally:
        torch.set_num_threads(before)


def test_out_of_memory_is_told_from_other_errors() -> None:
    import torch

    full = [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory"
        ),
    ]
    assert all(map(devices.is_out_of_memory, full))
    assert not any(
        map(
            devices.is_out_of_memory,
            [RuntimeError("index out of range"), ValueError("out of memory")],
        )
    )
