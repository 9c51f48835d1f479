"""``score`` with a metric of a model that was trained here: from training to a stored run's
scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.formats.records import DialogueRecord, TurnRecord, Utterance
from annotations.models import CorpusVersion
from tests.annotations.stored import rated_corpus, stored
from tests.workers.training.made import make_model, trained_in
from workers.runs import queries, scoring
from workers.training.core import checkpoint

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    make_model("density", "small", folder)
    make_model("cmn", "latent", folder)
    return folder


@pytest.fixture
def version(home: Path, tmp_path: Path) -> Iterator[CorpusVersion]:
    """``right`` answers to the thing asked, ``wrong`` to another one."""
    asked = {"dogs": "i like dogs", "soup": "tell me of soup"}
    dialogues = [
        DialogueRecord(
            thing, (), (), (TurnRecord(0, (Utterance("A", said),), (f"yes {thing} are old",)),)
        )
        for thing, said in asked.items()
    ]
    said = {("dogs", 0, "right"): "yes dogs are fine", ("soup", 0, "right"): "no soup is cold"}
    said |= {("dogs", 0, "wrong"): "yes rain are fine", ("soup", 0, "wrong"): "no trains is cold"}
    scoring.forget()
    queries.forget()
    with trained_in(home):
        yield stored(rated_corpus(dialogues, said), tmp_path)
    scoring.forget()
    queries.forget()


def runs_of(capsys: Any, metrics: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    call_command("score", "--corpus", "small", "--metrics", metrics, "--inline", "--format", "json")
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["runs"]
    return found


def test_density_of_a_trained_model_scores_a_corpus(
    version: CorpusVersion, home: Path, capsys: Any
) -> None:
    right, wrong = sorted(
        runs_of(capsys, "density[trained=small]"), key=lambda run: str(run["system"])
    )
    assert (right["system"], wrong["system"]) == ("right", "wrong")
    assert wrong["system_score"] < right["system_score"] < 0
    revision = checkpoint.read(home / "trained" / "small").revision
    assert right["model"] == f"small@{revision}"
    assert right["signature"] == (
        "metric:density|version:2|trained:small|dtype:float32|max_tokens:32|"
        f"model_revision:{revision}|corpus:small|corpus_version:{version.label}|n:2"
    )


def test_a_whole_dialogue_s_density_has_a_score_a_dialogue(
    version: CorpusVersion, capsys: Any
) -> None:
    found = runs_of(capsys, "density_dialogue[aggregate=root_mean_square,trained=small]")
    assert all(run["turn_scores"] == [] and len(run["dialogue_scores"]) == 2 for run in found)


def test_all_of_a_model_s_metrics_are_computed(version: CorpusVersion, capsys: Any) -> None:
    of_selection = ("density_euclidean", "density_classifier", "usr_retrieval")
    wanted = [f"{name}[trained=small]" for name in of_selection]
    wanted += [f"{name}[samples=10,trained=latent]" for name in ("cmn", "cmn_no_nsp")] + [
        "cmn_no_mi[trained=latent]"
    ]
    found = runs_of(capsys, ",".join(wanted))
    assert sorted({run["metric"] for run in found}) == sorted(wanted)
    assert all(run["state"] == "done" and run["system_score"] is not None for run in found)
    told = next(run for run in found if run["metric"].startswith("cmn["))["remarks"]
    assert [place["remark"].split(":")[0][:17] for place in told] == ["Monte-Carlo error"] * 2


def test_without_a_model_s_name_the_command_says_which_are_there(version: CorpusVersion) -> None:
    with pytest.raises(
        CommandError, match=r"name a trained model: density\[trained=NAME\]; there are small"
    ):
        call_command("score", "--corpus", "small", "--metrics", "density", "--inline")
