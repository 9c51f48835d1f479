"""A short training of CMN on generated conversations: what it learns, and what its scores tell
apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.workers.training.latent_talk import (
    THINGS,
    about_one_thing,
    answer_about,
    load_scorer,
    save_tiny_encoder,
)
from workers.training.core.conversations import pairs_of
from workers.training.core.latent import CmnScore, Estimation
from workers.training.core.latent_scorer import Judged, LatentScoring
from workers.training.core.loop import train
from workers.training.core.recipes.cmn import CmnSettings, CmnTask
from workers.training.core.settings import Outcome, Progress, TrainingSettings

pytestmark = pytest.mark.slow
EPOCHS = 30


@dataclass
class Trained:
    outcome: Outcome
    figures: list[dict[str, float]] = field(default_factory=list)
    """Of all validations: the first one is before the first step."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """450 steps of 32 pairs, z of 8 dimensions; 8 words that nothing foretells are 2.08 nats for z
    to carry."""
    folder = tmp_path_factory.mktemp("cmn")
    settings = CmnSettings(
        encoder=str(save_tiny_encoder(folder / "encoder")),
        max_tokens=32,
        latent=8,
        decoder_layers=1,
        decoder_dropout=0.0,
        longest_response=8,
        validation_negatives=3,
    )
    training, validation = pairs_of(about_one_thing(480)), pairs_of(about_one_thing(64, seed=2))
    task = CmnTask(settings, training, validation, "generated")
    figures: list[dict[str, float]] = []

    def watch(progress: Progress) -> None:
        if progress.figures is not None:
            figures.append(dict(progress.figures))

    loop = TrainingSettings(epochs=EPOCHS, learning_rate=3e-3, device="cpu")
    return Trained(train(task, loop, folder / "run", watch), figures)


def test_the_next_sentence_is_told_from_others(trained: Trained) -> None:
    """Chance is an accuracy of ½ and, among three negatives, an R@1 of ¼."""
    assert trained.outcome.figures["NSP accuracy"] > 0.75
    assert trained.outcome.figures["R@1"] > 0.5


def test_the_reconstruction_falls(trained: Trained) -> None:
    """A decoder that knew all but the two free words (ln 2 and ln 8 nats) would need 2.77 / 6 nats
    a token."""
    first, last = trained.figures[0]["reconstruction"], trained.figures[-1]["reconstruction"]
    assert first > 2.0
    assert last < 0.7


def test_the_posterior_does_not_collapse_onto_the_prior(trained: Trained) -> None:
    last = trained.figures[-1]
    assert last["KL"] > 0.5
    assert last["active dimensions"] >= 2


def judged_responses() -> tuple[list[Judged], list[Judged]]:
    """Of 60 new turns: an answer about what the context names, and one about another thing."""
    right, wrong = [], []
    for number, dialogue in enumerate(about_one_thing(60, seed=5)):
        context, reference = (dialogue.utterances[0].text,), dialogue.utterances[1].text
        draw = random.Random(number)
        right.append(Judged(context, reference, answer_about(THINGS[number % 4], draw)))
        wrong.append(Judged(context, reference, answer_about(THINGS[(number + 1) % 4], draw)))
    return right, wrong


def share_above(
    right: Sequence[CmnScore], wrong: Sequence[CmnScore], of: Callable[[CmnScore], float]
) -> float:
    """Of all pairs of a right and a wrong response those where the right one has more; chance is
    ½."""
    return float(np.mean([[of(one) > of(other) for other in wrong] for one in right]))


def test_the_score_and_each_of_its_parts_tell_right_answers_from_wrong_ones(
    trained: Trained,
) -> None:
    scoring = LatentScoring(estimation=Estimation(draws=50, inner_draws=0))
    scorer = load_scorer(trained.outcome.best, scoring)
    right, wrong = (scorer.scores(judged) for judged in judged_responses())
    assert share_above(right, wrong, lambda score: score.value) > 0.85
    assert share_above(right, wrong, lambda score: score.follows) > 0.8
    assert share_above(right, wrong, lambda score: score.with_context.value) > 0.7
    assert share_above(right, wrong, lambda score: score.with_reference.value) > 0.7
