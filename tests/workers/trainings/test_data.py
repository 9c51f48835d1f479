"""Nothing is trained on what metrics are evaluated on, unless somebody says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotations.corpora import actions as corpora
from annotations.formats.importers.registry import importers
from annotations.models import CorpusVersion
from tests.workers.trainings.small import started, talk_file
from workers.training import actions, data, execution, queries
from workers.training.core import checkpoint
from workers.training.core.conversations import pairs_of
from workers.training.data import Source
from workers.training.models import Training

pytestmark = pytest.mark.django_db

Rule = Training.OverlapRule


def evaluated(
    folder: Path, *contexts: str, slug: str = "judged", systems: bool = True
) -> CorpusVersion:
    """A corpus whose only system answers to these contexts of one utterance."""
    lines = [json.dumps({"type": "corpus", "name": slug})]
    if systems:
        lines.append(json.dumps({"type": "system", "name": "echo", "kind": "baseline"}))
    for number, text in enumerate(contexts):
        turn = {
            "number": 0,
            "context": [{"speaker": "A", "text": text}],
            "references": ["it may be"],
        }
        persona = {"persona": [], "partner_persona": []}
        lines.append(
            json.dumps({"type": "dialogue", "id": str(number), **persona, "turns": [turn]})
        )
        said = {"dialogue_id": str(number), "turn": 0, "system": "echo", "text": text}
        if systems:
            lines.append(json.dumps({"type": "response", **said}))
    path = folder / f"{slug}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    (outcome,) = corpora.import_corpus(importers()["jsonl"], path, slug)
    return outcome.version


LONG = "What would you like to have for dinner tonight, my dear friend?"


def talk_with_two_evaluated(folder: Path) -> None:
    """Of 60 dialogues, the third and the last."""
    path = talk_file(folder / "talk.txt")
    lines = path.read_text().splitlines()
    lines[2] = f"{LONG} __eou__ bread __eou__"
    lines[59] = f"hello __eou__ {LONG} __eou__ rain __eou__"
    path.write_text("\n".join(lines) + "\n")


def test_data_that_holds_an_evaluated_context_is_refused_by_name(tmp_path: Path) -> None:
    evaluated(tmp_path, LONG, "Nobody said this before, I think, in any of the files.")
    talk_with_two_evaluated(tmp_path)
    training = started(tmp_path)
    assert not execution.compute(training.pk)
    training.refresh_from_db()
    assert training.state == Training.State.FAILED
    assert (
        "judged: 1 of 2 evaluation contexts occur in 2 of 60 training dialogues" in training.error
    )
    assert "--leave-out-overlap" in training.error
    assert training.overlap["dialogues"] == [2, 59]


def test_a_refused_run_keeps_its_name_from_nobody(tmp_path: Path) -> None:
    evaluated(tmp_path, LONG)
    talk_with_two_evaluated(tmp_path)
    refused = started(tmp_path)
    with pytest.raises(actions.Refused, match="choose another name"):
        started(tmp_path, overlap_rule=Rule.LEAVE_OUT)  # it waits, and may still be trained
    assert not execution.compute(refused.pk)
    again = started(tmp_path, overlap_rule=Rule.LEAVE_OUT)
    assert list(Training.objects.all()) == [again]
    assert execution.compute(again.pk)


def test_a_refused_run_that_is_tried_again_is_compared_again(tmp_path: Path) -> None:
    version = evaluated(tmp_path, LONG)
    talk_with_two_evaluated(tmp_path)
    refused = started(tmp_path)
    assert not execution.compute(refused.pk)
    version.corpus.delete()
    refused.refresh_from_db()
    assert actions.go_on(refused, hint=False)
    assert execution.compute(refused.pk)


def test_left_out_dialogues_are_not_trained_on_and_the_model_says_so(tmp_path: Path) -> None:
    evaluated(tmp_path, LONG)
    talk_with_two_evaluated(tmp_path)
    training = started(tmp_path, overlap_rule=Rule.LEAVE_OUT)
    assert execution.compute(training.pk)
    told = checkpoint.read(queries.model_folder("small")).config["model"]
    assert told["dialogues"] == 58
    assert told["about"]["overlap rule"] == "leave out"
    assert (told["about"]["overlap"][0]["corpus"], told["about"]["overlap"][0]["contexts"]) == (
        "judged",
        1,
    )


def test_allowed_overlap_is_trained_on_and_recorded(tmp_path: Path) -> None:
    evaluated(tmp_path, LONG)
    talk_with_two_evaluated(tmp_path)
    training = started(tmp_path, overlap_rule=Rule.ALLOW)
    assert execution.compute(training.pk)
    told = checkpoint.read(queries.model_folder("small")).config["model"]
    assert told["dialogues"] == 60
    assert (told["about"]["overlap rule"], told["about"]["overlap"][0]["dialogues"]) == ("allow", 2)


def test_a_run_that_goes_on_trains_on_what_it_began_with(tmp_path: Path) -> None:
    """A corpus that is imported meanwhile changes neither the data nor the checkpoint's
    identity."""
    talk_with_two_evaluated(tmp_path)
    training = started(tmp_path, overlap_rule=Rule.LEAVE_OUT)
    kept: dict[str, object] = {}
    assert len(data.dialogues_to_train_on(training, kept.update)) == 60
    training.overlap = kept
    evaluated(tmp_path, LONG)
    assert len(data.dialogues_to_train_on(training, kept.update)) == 60


def test_no_pair_s_context_is_an_evaluated_one_after_leaving_out(tmp_path: Path) -> None:
    version = evaluated(tmp_path, LONG)
    talk_with_two_evaluated(tmp_path)
    training = started(tmp_path, overlap_rule=Rule.LEAVE_OUT)
    contexts = {
        utterance.text
        for pair in pairs_of(data.dialogues_to_train_on(training, lambda found: None))
        for utterance in pair.context
    }
    assert version.dialogues.count() == 1
    assert LONG not in contexts
    assert len(contexts) == 58


def test_corpora_without_systems_are_no_evaluation_corpora(tmp_path: Path) -> None:
    evaluated(tmp_path, LONG, slug="talk", systems=False)
    assert queries.evaluation_versions() == []
    judged = evaluated(tmp_path, LONG, slug="judged")
    assert queries.evaluation_versions() == [judged]


def test_a_stored_corpus_is_trained_on_as_its_file_is(tmp_path: Path) -> None:
    path = talk_file(tmp_path / "talk.txt")
    (outcome,) = corpora.import_corpus(importers()["dailydialog"], path, "talk")
    stored = started(tmp_path, "stored", source=Source.of_version(outcome.version))
    assert len(data.conversations(stored)) == 60
    outcome.version.corpus.delete()
    stored.refresh_from_db()
    with pytest.raises(data.DataRefused, match="was deleted"):
        data.conversations(stored)


def test_a_file_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(data.DataRefused, match="cannot be read"):
        Source.of_file(tmp_path / "none.txt")
    (tmp_path / "talk.txt").write_text("no dialogue\n")
    training = actions.start("x", "density", Source.of_file(tmp_path / "talk.txt"), {}, hint=False)
    with pytest.raises(data.DataRefused, match="does not begin like"):
        data.conversations(training)
