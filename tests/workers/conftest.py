"""A registry with odd metrics in it, and a small corpus to compute them for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.models import CorpusVersion
from tests.annotations.stored import stored, two_systems
from tests.workers.endpoint import StubEndpoint, stub_endpoint
from tests.workers.lengths import ODD, SYSTEM_LENGTH, metric
from workers.metrics import registry
from workers.runs import queries, scoring


@pytest.fixture(autouse=True, scope="package")
def in_float32() -> Iterator[None]:
    """Language models are computed in bfloat16 where a CPU has matrix units for it; what is
    compared here to four decimals is computed in float32 on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.cpu._is_amx_tile_supported", lambda: False)
        yield


@pytest.fixture
def stub() -> Iterator[StubEndpoint]:
    with stub_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def odd_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The built-in metrics and those of ``lengths``, as if a package had brought them."""
    catalogue = registry.assemble(
        [*registry.built_in_metrics(), *(metric(*one) for one in ODD.items()), SYSTEM_LENGTH], []
    )
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)
    forget()
    yield
    forget()


def forget() -> None:
    """What a worker process keeps belongs to its database and registry; the next test has
    others."""
    scoring.forget()
    queries.forget()


@pytest.fixture
def version(tmp_path: Path, odd_metrics: None) -> CorpusVersion:
    """``two_systems``: echo answers "the answer", "the reply", "an answer"; dull answers "yes",
    nothing, "no"."""
    return stored(two_systems(), tmp_path)
