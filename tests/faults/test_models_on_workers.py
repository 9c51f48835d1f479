"""Metrics with a model, computed by real worker processes; and workers that die over several
systems at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.ci import IS_LONG
from tests.faults.test_workers import SLOW_LENGTH, SLOW_METRIC, state_of_runs
from tests.plug_in import plug_in
from tests.site import Site, kill, wait_until
from workers.metrics.registry import all_metrics

pytestmark = pytest.mark.slow

SYSTEMS = ("one", "two", "three")


def corpus(dialogues: int, raters: Sequence[str] = ()) -> str:
    lines = ['{"type": "corpus", "name": "small"}']
    lines += [json.dumps({"type": "system", "name": name, "kind": "baseline"}) for name in SYSTEMS]
    lines += [json.dumps({"type": "rater", "name": name}) for name in raters]
    for number in range(dialogues):
        context = [{"speaker": "A", "text": f"What did you do on day {number}?"}]
        turn = {
            "number": 0,
            "context": context,
            "references": [f"I went for a walk of {number} miles."],
        }
        persona = {"persona": ["I like to walk."], "partner_persona": ["I ask."]}
        lines.append(
            json.dumps({"type": "dialogue", "id": str(number), **persona, "turns": [turn]})
        )
        for place, name in enumerate(SYSTEMS):
            item = {"dialogue_id": str(number), "turn": 0, "system": name}
            said = {**item, "text": f"I walked {number} miles, says {name}."}
            lines.append(json.dumps({"type": "response", **said}))
            rated = {**item, "aspect": "overall", "score": 1 + (number + place) % 5}
            lines += [json.dumps({"type": "rating", **rated, "rater": one}) for one in raters]
    return "\n".join(lines) + "\n"


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    """Three systems × 12 turns, and a metric that takes 0.2 s a response and three systems at
    once."""
    several = SLOW_METRIC.replace('    version="1",', '    version="1",\n    systems_at_once=8,')
    site.settings["PYTHONPATH"] = str(plug_in("slow_metric", several, SLOW_LENGTH))
    path = tmp_path / "small.jsonl"
    path.write_text(corpus(dialogues=12))
    site.manage("import_corpus", "jsonl", path, "--slug", "small")
    return site


def request(site: Site, *names: str) -> None:
    site.python(
        "from workers.runs import actions as runs; from workers.metrics.common.configuration import parse\n"
        "from annotations.corpora.queries import version_of, select_systems\n"
        f"runs.request([parse(name) for name in {names!r}], select_systems(version_of('small')))"
    )


def test_systems_whose_worker_is_killed_over_them_are_each_completed_alone(
    small_site: Site,
) -> None:
    first = small_site.start_worker()
    request(small_site, "slow_length")
    wait_until(
        lambda: state_of_runs(small_site) == " ".join(["running:1"] * 3),
        60,
        "one worker has all three",
    )
    kill(first)
    small_site.start_worker()
    wait_until(
        lambda: state_of_runs(small_site) == " ".join(["done:2"] * 3), 90, "each was completed once"
    )
    found = small_site.document("score", "--corpus", "small", "--metrics", "slow_length")["runs"]
    expected = {
        name: [float(len(f"I walked {n} miles, says {name}.")) for n in range(12)]
        for name in SYSTEMS
    }
    assert {
        run["system"]: [turn["score"] for turn in run["turn_scores"]] for run in found
    } == expected


def test_a_worker_s_two_processes_share_the_systems(small_site: Site) -> None:
    small_site.start_worker(concurrency=2)
    request(small_site, "slow_length")
    wait_until(lambda: state_of_runs(small_site) == " ".join(["done:1"] * 3), 90, "all are done")
    tokens = small_site.python(
        "from workers.models import MetricRun as M; "
        "print(M.objects.values('started_at').distinct().count())"
    )
    assert tokens == "2"  # two claims: one of two systems, one of the third


@pytest.mark.long
def test_real_models_score_a_corpus_on_a_worker_and_every_run_says_which_model_it_was(
    small_site: Site,
) -> None:
    """One of single responses, one of systems; with ``DIALEVAL_LONG=1`` a language model, too."""
    real = ("bertscore_f1", "fbd", *(("pmi",) if IS_LONG else ()))
    names = [name for name in real if name in all_metrics()]
    small_site.start_worker()
    request(small_site, *names)
    wait_until(
        lambda: set(state_of_runs(small_site).split()) == {"done:1"},
        240,
        "the worker scored all systems at once",
    )
    found = small_site.document("score", "--corpus", "small", "--metrics", ",".join(names))["runs"]
    assert len(found) == 3 * len(names)
    for run in found:
        assert run["system_score"] is not None
        revision = run["model"].rpartition("@")[2]
        assert len(revision) == 12
        assert f"|model_revision:{revision}|corpus:small|" in run["signature"]
        assert run["device"].startswith(("cpu", "cuda", "mps"))
