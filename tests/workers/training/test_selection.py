"""The selection model: what goes in, what comes out, and that the ways to save time and memory
change neither."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.workers.training.selecting import save_encoder
from workers.inference.model_files import PACKAGED_ENCODER, ModelError
from workers.training.core import checkpoint
from workers.training.core.selection import (
    Selection,
    SelectionShape,
    load_selection,
    new_selection,
    passes,
)

CLS, SEP = 2, 3
PAIRS = [
    (["hello", "do you like bread"], "yes bread is all i want"),
    (["what about rain"], "yes"),
    (["well then", "i think", "tell me of music", "i like horses"], "yes horses"),
    ([], "hello"),
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


def selection_of(encoder: Path, seed: int = 0, **shape: Any) -> Selection:
    return new_selection(str(encoder), SelectionShape(**{"max_tokens": 32, **shape}), seed)


def ids_of(selection: Selection, *texts: str) -> list[int]:
    vocabulary = selection.inputs.tokens._rust.get_vocab()
    return [vocabulary[word] for text in texts for word in text.split()]


def test_turns_stand_before_the_response_with_a_token_between(encoder: Path) -> None:
    selection = selection_of(encoder)
    made = selection.inputs.input(["hello well", "like bread"], "yes bread")
    first, second, answer = (
        ids_of(selection, text) for text in ("hello well", "like bread", "yes bread")
    )
    turn = len(selection.inputs.tokens._rust.get_vocab())  # the row after the vocabulary's last
    assert made.ids == [CLS, *first, turn, *second, SEP, *answer, SEP]
    assert made.segments == [0] * 7 + [1] * 3
    assert not made.cut


def test_a_long_context_loses_its_beginning(encoder: Path) -> None:
    """Eight tokens: three special ones, two of the response, three of the context are left."""
    selection = selection_of(encoder, max_tokens=8)
    made = selection.inputs.input(["hello well then", "like bread"], "yes bread")
    turn = len(selection.inputs.tokens._rust.get_vocab())
    assert made.ids == [
        CLS,
        turn,
        *ids_of(selection, "like bread"),
        SEP,
        *ids_of(selection, "yes bread"),
        SEP,
    ]
    assert made.cut


def test_a_response_that_is_too_long_loses_its_end(encoder: Path) -> None:
    selection = selection_of(encoder, max_tokens=6)
    made = selection.inputs.input(["hello"], "yes bread is all")
    assert made.ids == [CLS, SEP, *ids_of(selection, "yes bread is"), SEP]
    assert made.cut


def test_the_turn_token_begins_as_the_separator(encoder: Path) -> None:
    weight = selection_of(encoder).model.encoder.get_input_embeddings().weight
    assert torch.equal(weight[-1], weight[SEP])


def test_scores_are_in_order_whatever_stands_beside(encoder: Path) -> None:
    selection = selection_of(encoder)
    together = selection.scores(PAIRS)
    alone = [selection.scores([pair])[0] for pair in PAIRS]
    assert together == pytest.approx(alone, abs=1e-6)
    assert len({round(score, 3) for score in alone}) == len(PAIRS)


def test_a_score_is_the_heads_of_the_first_tokens_last_state(encoder: Path) -> None:
    """f = W h + b, h as transformers itself computes it."""
    selection = selection_of(encoder)
    made = selection.inputs.input(*PAIRS[0])
    batch = {"input_ids": torch.tensor([made.ids]), "token_type_ids": torch.tensor([made.segments])}
    with torch.inference_mode():
        state = selection.model.encoder(**batch).last_hidden_state[0, 0]
        score = selection.model.head(state).item()
    assert selection.features(PAIRS[:1])[0] == pytest.approx(state.numpy(), abs=1e-5)
    assert selection.scores(PAIRS[:1])[0] == pytest.approx(score, abs=1e-5)


def test_the_last_layer_for_the_first_token_alone_learns_the_same(encoder: Path) -> None:
    gradients = []
    for first_only in (True, False):
        selection = selection_of(save_without_dropout(encoder), first_only=first_only)
        scores = scores_of(selection, tokens=1_000)
        scores.square().sum().backward()
        gradients.append(gradient(selection))
    assert torch.allclose(*gradients, atol=1e-5)


def test_the_last_layer_for_the_first_token_alone_drops_attention_too(encoder: Path) -> None:
    selection = selection_of(encoder)
    for part in selection.model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    last = selection.model.encoder.encoder.layer[-1]
    selection.model.train()
    same = [scores_of(selection, 1_000) for _ in range(2)]
    last.attention.self.dropout.p = 0.5
    other = [scores_of(selection, 1_000) for _ in range(2)]
    assert torch.equal(*same)
    assert not torch.equal(*other)


def test_recomputing_gives_the_same_gradients_to_the_bit(encoder: Path) -> None:
    gradients = []
    for recompute in (True, False):
        selection = selection_of(encoder)
        selection.model.recompute = recompute
        selection.model.train()
        torch.manual_seed(5)
        scores_of(selection, tokens=24).square().sum().backward()
        gradients.append(gradient(selection))
    assert torch.equal(*gradients)
    assert gradients[0].abs().sum() > 0


def test_passes_hold_like_lengths_and_a_budget_of_tokens(encoder: Path) -> None:
    selection = selection_of(encoder)
    made = [selection.inputs.input(*pair) for pair in PAIRS]
    batch = passes(made, 0, tokens_together=24)
    shapes = [tuple(ids.shape) for ids in batch["ids"]]
    assert all(texts * tokens <= 24 for texts, tokens in shapes if texts > 1)
    assert len(shapes) > 1
    rows = [row[mask == 1].tolist() for ids, masks in zip(batch["ids"], batch["mask"], strict=True)
            for row, mask in zip(ids, masks, strict=True)]  # fmt: skip
    assert [rows[place] for place in batch["order"].tolist()] == [one.ids for one in made]


def test_frozen_layers_are_neither_trained_nor_dropped(encoder: Path) -> None:
    selection = selection_of(encoder)
    selection.model.freeze(1)
    selection.model.train()
    scores_of(selection, 1_000).sum().backward()
    model = selection.model.encoder
    assert model.embeddings.word_embeddings.weight.grad is None
    assert all(weights.grad is None for weights in model.encoder.layer[0].parameters())
    assert model.encoder.layer[1].attention.self.query.weight.grad is not None
    assert not model.encoder.layer[0].training
    assert model.encoder.layer[1].training


def test_more_layers_than_there_are_cannot_be_frozen(encoder: Path) -> None:
    with pytest.raises(ModelError, match="it has 2"):
        selection_of(encoder).model.freeze(3)


def test_more_tokens_than_the_encoder_takes_are_refused(encoder: Path) -> None:
    with pytest.raises(ModelError, match="takes 64 tokens, less than the 256"):
        selection_of(encoder, max_tokens=256)


def test_the_seed_draws_the_head(encoder: Path) -> None:
    one, same, other = (selection_of(encoder, seed).model.head.weight for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_checkpoint_is_whole_without_its_encoder(encoder: Path, tmp_path: Path) -> None:
    own = tmp_path / "encoder"
    shutil.copytree(encoder, own)
    selection = selection_of(own, seed=4)
    checkpoint.write(tmp_path / "best", selection.model.state_dict(), {}, selection.files)
    shutil.rmtree(own)
    loaded = load_selection(tmp_path / "best", "cpu")
    assert np.array_equal(loaded.scores(PAIRS), selection.scores(PAIRS))
    assert loaded.encoder == selection.encoder


def test_a_damaged_checkpoint_is_refused(encoder: Path, tmp_path: Path) -> None:
    selection = selection_of(encoder)
    checkpoint.write(tmp_path / "best", selection.model.state_dict(), {}, selection.files)
    (tmp_path / "best" / checkpoint.WEIGHTS).write_bytes(b"half")
    with pytest.raises(ModelError, match="damaged"):
        load_selection(tmp_path / "best", "cpu")


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    checkpoint.write(tmp_path / "best", {"a": torch.ones(1)}, {})
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_selection(tmp_path / "best", "cpu")


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nothing-here"):
        selection_of(tmp_path / "nothing-here")


def test_the_packaged_encoder_learns_a_step() -> None:
    selection = new_selection(PACKAGED_ENCODER, SelectionShape(), seed=0)
    selection.model.freeze(5)
    selection.model.train()
    before = scores_of(selection, 4_096)
    (before[1] - before[0]).backward()  # the first pair's score is to rise over the second's
    with torch.no_grad():
        for weights in selection.model.parameters():
            if weights.grad is not None:
                weights -= 0.01 * weights.grad
    scores = selection.scores(PAIRS)
    first = new_selection(PACKAGED_ENCODER, SelectionShape(), seed=0).scores(PAIRS)
    assert scores[0] - scores[1] > first[0] - first[1]


def scores_of(selection: Selection, tokens: int) -> torch.Tensor:
    made = [selection.inputs.input(*pair) for pair in PAIRS]
    scores, _ = selection.model(**passes(made, selection.padding_id, tokens))
    assert isinstance(scores, torch.Tensor)
    return scores


def gradient(selection: Selection) -> torch.Tensor:
    found = selection.model.encoder.encoder.layer[0].attention.self.query.weight.grad
    assert found is not None
    return found


def save_without_dropout(encoder: Path) -> Path:
    folder = encoder.parent / f"{encoder.name}-without-dropout"
    return folder if folder.is_dir() else save_encoder(folder, dropout=0.0)
