"""A language model learns from conversations, and the folder that comes out is one of the
metrics'."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotations.formats.records import Utterance
from tests.workers.causal import make_causal
from tests.workers.checkpoints import save_bert, word_tokenizer
from workers.inference.encoders.masked_model import Continued, MaskedModel
from workers.inference.model_files import ModelError, model_files
from workers.training.core.conversations import TrainingDialogue
from workers.training.core.fine_tuning import NOT_LOOKED_AT, FineTuning, fine_tune, masked
from workers.training.core.settings import TrainingError

DIALOGUES = [
    TrainingDialogue(
        str(n), (Utterance("A", "do you like dogs ?"), Utterance("B", "yes i like dogs"))
    )
    for n in range(8)
]


def test_a_masked_model_finds_the_words_of_its_conversations_better(tmp_path: Path) -> None:
    before = save_bert(tmp_path / "before", "BertForMaskedLM")
    after = tmp_path / "after"
    after.mkdir()
    settings = FineTuning("masked", epochs=30, learning_rate=1e-2, batch=8)
    losses = fine_tune(model_files(str(before)), DIALOGUES, after, settings)
    assert losses[-1] < losses[0]
    answer = [Continued("do you like dogs ?", " yes i like dogs")]
    (old,) = MaskedModel(model_files(str(before)), "cpu").pseudo_likelihoods(answer)
    (new,) = MaskedModel(model_files(str(after)), "cpu").pseudo_likelihoods(answer)
    assert new.log_probability > old.log_probability + 1


def test_a_causal_model_learns_too_and_the_seed_gives_the_same_again(tmp_path: Path) -> None:
    before = model_files(str(make_causal(tmp_path / "before")))
    found = []
    for name in ("after", "again"):
        (tmp_path / name).mkdir()
        settings = FineTuning("causal", epochs=6, learning_rate=1e-2, batch=4)
        found.append(fine_tune(before, DIALOGUES, tmp_path / name, settings))
    assert found[0][-1] < found[0][0]
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_of_a_masked_batch_some_tokens_are_hidden_and_no_special_one() -> None:
    """100 rows of [CLS] hello there [SEP]: of 200 words about 15 % are looked for, of these about
    80 % are hidden."""
    tokenizer = word_tokenizer()
    ids = np.array([tokenizer("hello there").input_ids] * 100)
    hidden, labels = masked(ids, ids.copy(), tokenizer, np.random.default_rng(0))
    looked_for = labels != NOT_LOOKED_AT
    assert not looked_for[:, [0, 3]].any()
    assert 15 < looked_for.sum() < 50
    assert (hidden[~looked_for] == ids[~looked_for]).all()
    of_them = (hidden[looked_for] == tokenizer.mask_token_id).mean()
    assert 0.6 < of_them < 0.95


def test_what_cannot_be_fine_tuned_is_refused(tmp_path: Path) -> None:
    bert = model_files(str(save_bert(tmp_path / "bert", "BertForMaskedLM")))
    with pytest.raises(TrainingError, match="no text of two tokens"):
        fine_tune(bert, [], tmp_path, FineTuning("masked", 1))
    bare = save_bert(tmp_path / "bare", "BertForMaskedLM", tokenizer=word_tokenizer(mask=False))
    with pytest.raises(ModelError, match="has no mask"):
        fine_tune(model_files(str(bare)), DIALOGUES, tmp_path, FineTuning("masked", 1))


@pytest.mark.django_db
def test_the_command_writes_a_folder_once(tmp_path: Path, capsys) -> None:
    folder = save_bert(tmp_path / "bert", "BertForMaskedLM")
    talk = tmp_path / "talk.txt"
    talk.write_text("hello there __eou__ how are you ? __eou__\n" * 2)
    arguments = ["masked", "--model", str(folder), "--corpus", str(talk)]
    target = tmp_path / "tuned"
    call_command("fine_tune", *arguments, "--to", str(target))
    assert "loss a token by epoch" in capsys.readouterr().out
    assert (target / "config.json").exists()
    with pytest.raises(CommandError, match="is there already"):
        call_command("fine_tune", *arguments, "--to", str(target))
    with pytest.raises(CommandError, match="there is no corpus nowhere"):
        call_command(
            "fine_tune", "masked", "--model", str(folder), "--corpus", "nowhere",
            "--to", str(tmp_path / "other"),
        )  # fmt: skip
    assert not (tmp_path / "other").exists()
