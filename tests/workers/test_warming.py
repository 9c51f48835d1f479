"""What takes seconds to load is loaded before a worker forks, and forked processes read the same
words all the same."""

import gc
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import Mock

import pytest

from annotations import site_identity
from dialeval_site import celery
from workers.inference import resources
from workers.metrics import meteor, wordnet
from workers.metrics.registry import all_metrics
from workers.runs import execution

needs_wordnet = pytest.mark.skipif(bool(wordnet.missing()), reason=wordnet.missing())


@pytest.fixture(autouse=True)
def own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that starts asks the database whose files are here."""
    monkeypatch.setattr(site_identity, "why_not_start", lambda: "")


@pytest.fixture(autouse=True)
def no_frozen_objects() -> Iterator[None]:
    yield
    gc.unfreeze()


def metrics_that_note(monkeypatch: pytest.MonkeyPatch, **changes: object) -> list[str]:
    noted: list[str] = []
    metric = replace(all_metrics()["word_f1"], warm_up=lambda: noted.append("warm"), **changes)
    monkeypatch.setattr(execution, "all_metrics", lambda: {"slow": metric})
    return noted


def test_a_worker_warms_up_the_metrics_of_its_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = metrics_that_note(monkeypatch)
    # What the worker says of itself goes with the test
    monkeypatch.setattr(resources, "_at_hand", resources.at_hand())
    worker = Mock()
    worker.app.amqp.queues.consume_from = {"cpu": None, "gpu": None}
    celery.worker_init.send(worker)
    assert noted == ["warm"]


@pytest.mark.parametrize(
    ("queues", "missing"), [({"gpu", "llm"}, ""), ({"cpu"}, "its files are not here")]
)
def test_what_this_worker_does_not_compute_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch, queues: set[str], missing: str
) -> None:
    noted = metrics_that_note(monkeypatch, missing=lambda options: missing)
    assert execution.warm_up(queues) == []
    assert noted == []


def test_a_metric_that_cannot_be_warmed_up_stops_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise MemoryError("too small a machine")

    metric = replace(all_metrics()["word_f1"], warm_up=fails)
    monkeypatch.setattr(execution, "all_metrics", lambda: {"slow": metric})
    assert execution.warm_up({"cpu"}) == []


@pytest.mark.slow
@needs_wordnet
def test_forked_processes_read_the_dictionary_each_at_its_own_place() -> None:
    """Four processes look up other words at the same time; a file that they shared would give one
    the other's line."""
    meteor._lexicon.cache_clear()
    assert execution.warm_up({"cpu"}) == ["meteor"]
    assert meteor._lexicon(str(wordnet.default_folder()))._reader._data_file_map == {}
    with multiprocessing.get_context("fork").Pool(4) as pool:
        together = pool.map(_synonyms_of, range(4), chunksize=1)
    assert together == [_synonyms_of(part) for part in range(4)]


def _synonyms_of(part: int) -> list[list[str]]:
    lexicon = meteor._lexicon(str(wordnet.default_folder()))
    words = sorted(word for word in lexicon._reader._lemma_pos_offset_map if word.isalpha())[
        part::400
    ]
    return [[synonym.name() for synonym in lexicon.synsets(word)] for word in words]


@pytest.mark.parametrize(("asked", "processes"), [(3, 3), ("auto", os.cpu_count())])
def test_metrics_know_how_many_processes_share_the_machine(
    monkeypatch: pytest.MonkeyPatch, asked: object, processes: int
) -> None:
    monkeypatch.setattr(resources, "_at_hand", resources.Resources(device="cpu"))
    worker = Mock(concurrency=asked)
    worker.app.amqp.queues.consume_from = {}
    celery.worker_init.send(worker)
    assert resources.at_hand() == resources.Resources(device="cpu", processes=processes)
