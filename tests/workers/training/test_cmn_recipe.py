"""CMN's recipe: what a batch holds, what the loss adds up, what validation says; and a training
that goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.workers.causal import make_causal
from tests.workers.training.latent_talk import about_one_thing, save_tiny_encoder
from workers.inference.model_files import ModelError, model_files
from workers.training.core.conversations import pairs_of
from workers.training.core.latent_space import load_latent_space
from workers.training.core.loop import train
from workers.training.core.losses import kl, next_sentence
from workers.training.core.recipes.cmn import CmnSettings, CmnTask
from workers.training.core.settings import Progress, TrainingError, TrainingSettings


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_encoder(tmp_path_factory.mktemp("encoder"), width=16, layers=1)


def task_of(encoder: Path, count: int = 40, **changed: Any) -> CmnTask:
    settings = CmnSettings(
        encoder=str(encoder), batch=8, max_tokens=24, latent=4, decoder_layers=1,
        longest_response=8, validation_negatives=3,
    )  # fmt: skip
    training, validation = pairs_of(about_one_thing(count)), pairs_of(about_one_thing(16, seed=2))
    return CmnTask(replace(settings, **changed), training, validation, "generated")


def test_an_epoch_reads_every_pair_once_and_half_with_anothers_response(encoder: Path) -> None:
    task = task_of(encoder, 400)
    batches = task.batches(0)
    places, read = (np.concatenate(column) for column in zip(*batches, strict=True))
    assert sorted(places.tolist()) == list(range(400))
    assert np.mean(places != read) == pytest.approx(0.5, abs=0.1)  # 4 standard errors of √(¼ / 400)
    assert len(batches) == 50


def test_negatives_are_of_other_conversations_and_other_texts(encoder: Path) -> None:
    task = task_of(encoder, 400, negative_share=0.99)
    pairs = pairs_of(about_one_thing(400))
    for places, read in task.batches(3):
        for place, other in zip(places.tolist(), read.tolist(), strict=True):
            assert place == other or pairs[place].response != pairs[other].response


def test_epochs_differ_and_an_epoch_is_always_the_same(encoder: Path) -> None:
    task = task_of(encoder)

    def drawn(task: CmnTask, epoch: int) -> list[list[list[int]]]:
        return [[part.tolist() for part in batch] for batch in task.batches(epoch)]

    assert drawn(task, 0) == drawn(task_of(encoder), 0)
    assert drawn(task, 0) != drawn(task, 1)


def test_pairs_of_a_batch_are_of_like_length(encoder: Path) -> None:
    """128 pairs are one pool, sorted whole: a batch begins where another one ends."""
    task = task_of(encoder, 128)
    of_batches = [task._lengths[places] for places, _ in task.batches(0)]
    spans = sorted((min(lengths), max(lengths)) for lengths in of_batches)
    assert spans[0][0] < spans[-1][1]
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_epochs_of_fewer_pairs_go_over_all_before_any_comes_twice(encoder: Path) -> None:
    task = task_of(encoder, 40, pairs_an_epoch=16)
    places = [
        place for epoch in range(3) for batch, _ in task.batches(epoch) for place in batch.tolist()
    ]
    assert len(set(places[:40])) >= 32
    assert len(set(places)) == 40


@pytest.mark.parametrize("form", ["paper", "released"])
def test_the_loss_is_reconstruction_and_kl_of_true_ones_and_next_sentence(
    encoder: Path, form: Any
) -> None:
    task = task_of(encoder, form=form, free_bits=0.0)
    task.model.eval()
    batch = task.collate((np.array([0, 1, 2]), np.array([0, 5, 2])))
    torch.manual_seed(1)
    output = task.model(**batch)
    torch.manual_seed(1)
    loss = task.loss(task.model, batch)
    q, p = output.posterior, output.prior
    each = kl(q.mean, q.log_variance, p.mean, p.log_variance)
    judged = next_sentence(output.next_sentence, torch.tensor([True, False, True]))
    written = output.reconstruction(form)
    assert loss.total.item() == pytest.approx(
        ((written + judged).sum() + each[0] + each[2]).item() / 3, rel=1e-5
    )
    assert loss.parts["kl"].item() == pytest.approx((each[0] + each[2]).item() / 2, rel=1e-5)


def test_free_bits_leave_a_small_divergence_out_of_the_loss(encoder: Path) -> None:
    batch_item = (np.array([0, 1]), np.array([0, 1]))
    free, printed = task_of(encoder, free_bits=50.0), task_of(encoder, free_bits=0.0)
    assert free.loss(free.model, free.collate(batch_item)).parts["kl"].item() == 0.0
    assert printed.loss(printed.model, printed.collate(batch_item)).parts["kl"].item() > 0.0


def test_without_next_sentence_all_responses_are_true_and_its_head_learns_nothing(
    encoder: Path,
) -> None:
    task = task_of(encoder, next_sentence=False)
    assert all(np.array_equal(places, read) for places, read in task.batches(0))
    task.loss(task.model, task.collate(task.batches(0)[0])).total.backward()  # type: ignore[no-untyped-call]
    head: Any = task.space.model.next_sentence_head
    assert not head.weight.grad.any()
    assert task.best_by == "bound"


def test_validation_says_the_same_each_time_and_leaves_the_model_as_it_was(encoder: Path) -> None:
    task = task_of(encoder, validation_pairs=8)
    task.model.eval()
    with torch.inference_mode():
        first, second = task.validate(task.model), task.validate(task.model)
    assert first == second
    assert set(first) == {
        "R@1",
        "MRR",
        "NSP accuracy",
        "reconstruction",
        "KL",
        "active dimensions",
        "bound",
    }
    assert first["reconstruction"] > 0
    assert not task.model.training


def test_the_files_hold_training_pairs_to_draw_negatives_from(encoder: Path) -> None:
    task = task_of(encoder)
    others = json.loads(task.files()["others.json"])
    pairs = {(pair.context[0].text, pair.response) for pair in pairs_of(about_one_thing(40))}
    assert all((context[0], response) in pairs for context, response in others)
    assert (
        len({response for _, response in others})
        == len(others)
        == len({response for _, response in pairs})
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"latent": 0}, "latent must be at least 1, not 0"),
        ({"free_bits": -0.5}, "free_bits must be 0 or more, not -0.5"),
        ({"free_bits": float("nan")}, "free_bits must be 0 or more, not nan"),
        ({"negative_share": 1.0}, "negative_share must be 0 or more and less than 1, not 1.0"),
        ({"form": "other"}, "form must be paper or released, not other"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        CmnSettings(**wrong)


def test_too_little_data_is_refused(encoder: Path) -> None:
    with pytest.raises(TrainingError, match="3 negatives a context are wanted"):
        CmnTask(
            CmnSettings(encoder=str(encoder), max_tokens=24, validation_negatives=3),
            pairs_of(about_one_thing(8)),
            pairs_of(about_one_thing(2)),
            "",
        )


class StoppedError(Exception):
    pass


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    encoder: Path, tmp_path: Path
) -> None:
    """With dropout in the decoder and samples of z, both from the generator that checkpoints
    keep."""
    loop = TrainingSettings(epochs=2, learning_rate=1e-3, device="cpu")

    def stop(progress: Progress) -> None:
        if progress.step == 3:
            raise StoppedError

    whole, stopped, resumed = task_of(encoder), task_of(encoder), task_of(encoder)
    train(whole, loop, tmp_path / "whole")
    with pytest.raises(StoppedError):
        train(stopped, loop, tmp_path / "stopped", stop)
    train(resumed, loop, tmp_path / "stopped")
    weights = resumed.model.state_dict()
    assert all(
        torch.equal(tensor, weights[name]) for name, tensor in whole.model.state_dict().items()
    )
    assert not torch.equal(
        weights["prior_head.weight"], stopped.model.state_dict()["prior_head.weight"]
    )


# --- a pretrained decoder -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_causal(tmp_path_factory.mktemp("gpt2"), "gpt2", positions=64)


def test_a_pretrained_decoder_begins_with_its_weights_and_writes_its_own_tokens(
    encoder: Path, gpt2: Path
) -> None:
    from transformers import AutoTokenizer, GPT2Model

    task = task_of(encoder, decoder=str(gpt2))
    own = GPT2Model.from_pretrained(gpt2).state_dict()
    found = task.space.model.decoder.stack.state_dict()
    assert all(torch.equal(tensor, found[name]) for name, tensor in own.items())
    ids = AutoTokenizer.from_pretrained(gpt2)("no dogs", add_special_tokens=False).input_ids
    assert task.space.inputs.response("no dogs").ids == [*ids, 1]  # </s>
    assert task.settings()["decoder"] == task.space.decoder == f"{gpt2}@{revision(gpt2)}"


def test_a_model_with_a_pretrained_decoder_is_trained_and_opened_without_it(
    encoder: Path, gpt2: Path, tmp_path: Path
) -> None:
    task = task_of(encoder, decoder=str(gpt2), longest_response=32)
    before = task.space.model.decoder.stack.wte.weight.clone()
    outcome = train(task, TrainingSettings(epochs=1, device="cpu"), tmp_path / "run")
    assert not torch.equal(before, task.space.model.decoder.stack.wte.weight)
    opened = load_latent_space(outcome.best, "cpu")
    context, response = ["i like dogs"], "yes dogs are fine"
    [found], follows = opened.posteriors([(context, response)])
    [expected], follows_then = task.space.posteriors([(context, response)])
    assert found.mean == pytest.approx(expected.mean, abs=1e-5)
    assert follows == pytest.approx(follows_then, abs=1e-6)


def test_what_is_no_gpt2_or_too_short_is_no_decoder(
    encoder: Path, gpt2: Path, tmp_path: Path
) -> None:
    llama = make_causal(tmp_path / "llama")
    with pytest.raises(ModelError, match="cannot be the decoder: it is no whole GPT-2"):
        task_of(encoder, decoder=str(llama))
    with pytest.raises(ModelError, match="writes fewer than 65"):
        task_of(encoder, decoder=str(gpt2), longest_response=65)


def test_without_a_pretrained_decoder_its_name_is_not_among_the_settings(encoder: Path) -> None:
    """Trainings of before there was one go on."""
    assert "decoder" not in task_of(encoder).settings()


def revision(folder: Path) -> str:
    return model_files(str(folder)).revision
