"""CMN's scores from a checkpoint: the same from the model in hand and on the disk, alone and among
others."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.workers.training.latent_talk import about_one_thing, load_scorer, save_tiny_encoder
from workers.inference.model_files import ModelError
from workers.training.core import checkpoint as checkpoints
from workers.training.core.conversations import pairs_of
from workers.training.core.latent import Estimation
from workers.training.core.latent_scorer import Judged, LatentScorer, LatentScoring
from workers.training.core.latent_space import LatentSpace, load_latent_space
from workers.training.core.recipes.cmn import CmnSettings, CmnTask

FEW = Estimation(draws=8, inner_draws=0)
JUDGED = [
    Judged(("i like dogs",), "yes dogs are fine", "no dogs is cold"),
    Judged(("i like dogs",), "yes dogs are fine", "yes soup are old"),
    Judged(
        ("tell me of rain", "no rain is late", "i like rain"),
        "yes rain are loud",
        "yes rain are loud",
    ),
]


@dataclass
class Made:
    space: LatentSpace
    checkpoint: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("scorer")
    encoder = save_tiny_encoder(folder / "encoder", width=16, layers=1)
    settings = CmnSettings(
        encoder=str(encoder),
        max_tokens=24,
        latent=4,
        decoder_layers=1,
        longest_response=8,
        validation_negatives=3,
    )
    training, validation = pairs_of(about_one_thing(40)), pairs_of(about_one_thing(16, seed=2))
    task = CmnTask(settings, training, validation, "generated")
    with torch.no_grad():
        task.space.model.posterior_encoder.pooler.dense.bias += (
            0.5  # as training would, from encoders that are alike
        )
    place = folder / "best-00000001"
    checkpoints.write(place, task.model.state_dict(), {"recipe": task.recipe}, task.files())
    return Made(task.space, place)


def scorer(made: Made, **changed: Any) -> LatentScorer:
    return load_scorer(made.checkpoint, LatentScoring(**{"estimation": FEW, **changed}))


def test_a_checkpoint_is_whole_without_its_encoder(made: Made) -> None:
    loaded = load_latent_space(made.checkpoint, "cpu")
    pairs = [(("i like dogs",), "yes dogs are fine"), (("tell me of soup",), "no")]
    (here, g_here), (there, g_there) = made.space.posteriors(pairs), loaded.posteriors(pairs)
    assert g_here.tolist() == g_there.tolist()
    assert [one.mean.tolist() for one in here] == [one.mean.tolist() for one in there]
    assert loaded.encoder == made.space.encoder


def test_a_damaged_checkpoint_is_refused(made: Made, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(made.checkpoint, copy)
    (copy / "others.json").write_text("[]")
    with pytest.raises(ModelError, match=r"others\.json is not what was written"):
        load_latent_space(copy, "cpu")


def test_a_score_is_g_times_one_information_and_the_other(made: Made) -> None:
    for score in scorer(made).scores(JUDGED):
        expected = score.follows * score.with_context.value + score.with_reference.value
        assert score.value == pytest.approx(expected, abs=1e-12)
        assert 0 < score.follows < 1
        assert score.error > 0


def test_a_score_does_not_depend_on_what_else_is_scored(made: Made) -> None:
    together = [score.value for score in scorer(made).scores(JUDGED)]
    alone = [scorer(made).scores([one])[0].value for one in reversed(JUDGED)]
    assert together == pytest.approx(alone[::-1], abs=1e-5)  # other paddings, other orders of sums


def test_responses_of_a_turn_meet_the_same_negatives(made: Made) -> None:
    asked: list[list[str]] = []
    one = scorer(made)
    negatives = one._negatives

    def heard(context: tuple[str, ...], reference: str) -> list[int]:
        asked.append([one._texts[place] for place in negatives(context, reference)])
        return negatives(context, reference)

    one._negatives = heard  # type: ignore[method-assign]
    one.scores(JUDGED[:2])
    assert len(asked) == 1
    assert "yes dogs are fine" not in asked[0]


def test_another_seed_gives_another_score_and_the_same_seed_the_same(made: Made) -> None:
    first, again = scorer(made).scores(JUDGED[:1])[0], scorer(made).scores(JUDGED[:1])[0]
    other = scorer(made, estimation=Estimation(draws=8, inner_draws=0, seed=1)).scores(JUDGED[:1])[
        0
    ]
    assert first == again
    assert other.value != first.value
    assert other.follows == first.follows


def test_the_seed_draws_the_negatives_too(made: Made) -> None:
    drawn = [
        scorer(made, estimation=Estimation(seed=seed))._negatives(
            JUDGED[0].context, JUDGED[0].reference
        )
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_released_form_reads_the_prior_off_the_other_encoder(made: Made) -> None:
    released = LatentScoring.released()
    assert (released.estimation.form, released.negatives, released.released_prior) == (
        "released",
        10,
        True,
    )
    own, theirs = (
        made.space.priors([("i like dogs",)]),
        made.space.priors([("i like dogs",)], released=True),
    )
    assert own[0].mean.tolist() != theirs[0].mean.tolist()
    paper = scorer(made).scores(JUDGED[:1])[0]
    other_prior = scorer(made, released_prior=True).scores(JUDGED[:1])[0]
    assert other_prior.with_context.value != paper.with_context.value
    assert other_prior.with_reference.value == paper.with_reference.value


def test_progress_counts_responses_and_nothing_to_score_is_no_score(made: Made) -> None:
    told: list[int] = []
    scorer(made).scores(JUDGED, told.append)
    assert told[-1] == 3
    assert scorer(made).scores([]) == []


def test_too_few_pairs_to_draw_negatives_from_are_refused(made: Made) -> None:
    few = LatentScorer(
        made.space, [(("i like soup",), "no soup is cold")], LatentScoring(estimation=FEW)
    )
    with pytest.raises(ModelError, match="1 training pairs are too few"):
        few.scores(JUDGED[:1])
