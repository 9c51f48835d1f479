"""Metrics of a trained response-selection model: what a tiny one, trained here, makes of
answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.training.made import make_model, trained_in
from workers.inference.encoders.encoder import encoder_for
from workers.inference.model_files import ModelError
from workers.metrics.base import Example, Score
from workers.metrics.common.configuration import parse
from workers.metrics.common.ruber_scorer import blended
from workers.metrics.common.selection_scorers import probability
from workers.training.core import checkpoint as checkpoints
from workers.training.core.density_model import Reading
from workers.training.core.gaussian import GaussianFit
from workers.training.core.making import GAUSSIAN
from workers.training.core.selection import load_selection

OF_SELECTION = ["density", "density_euclidean", "density_classifier", "usr_retrieval"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    make_model("density", "small", folder)
    make_model("density", "plain", folder, contrastive="none", turns=1)
    with trained_in(folder):
        yield folder


def example(
    response: str, *context: str, references: Sequence[str] = (), dialogue: str = "d"
) -> Example:
    said = tuple(Utterance("AB"[place % 2], text) for place, text in enumerate(context))
    return Example(dialogue, 0, (), (), said, tuple(references), response)


REQUESTED = [
    example("yes dogs are fine", "i like dogs"),
    example("no soup is cold", "i like dogs"),
    example("no soup is cold", "yes rain are old", "tell me of soup"),
]


def scores_of(metric: str, examples: Sequence[Example] = REQUESTED, **options: Any) -> list[Score]:
    chosen = ",".join(f"{name}={value}" for name, value in {"trained": "small", **options}.items())
    found: list[Score] = parse(f"{metric}[{chosen}]").scorer().score(examples)
    return found


def numbers(scores: Sequence[Score]) -> list[float]:
    assert not any(isinstance(score, Undefined) for score in scores)
    return [float(score) for score in scores if not isinstance(score, Undefined)]


def plainly(
    home: Path, examples: Sequence[Example], turns: int = 0, name: str = "small"
) -> tuple[Any, Any]:
    """f and h one pair at a time, by the loaded model alone."""
    selection = load_selection(home / "trained" / name, "cpu")
    pairs = [([said.text for said in one.context][-turns:], one.response) for one in examples]
    return (
        np.concatenate([selection.scores([pair]) for pair in pairs]),
        np.concatenate([selection.features([pair]) for pair in pairs]).astype(float),
    )


def test_density_is_the_mahalanobis_distance_below_0(home: Path) -> None:
    _, features = plainly(home, REQUESTED)
    fit = GaussianFit.load(home / "trained" / "small" / GAUSSIAN)
    expected = [-math.sqrt((h - fit.mean) @ fit.precision @ (h - fit.mean)) for h in features]
    assert numbers(scores_of("density")) == pytest.approx(expected, rel=1e-4)


def test_density_euclidean_is_the_distance_from_the_mean(home: Path) -> None:
    _, features = plainly(home, REQUESTED)
    fit = GaussianFit.load(home / "trained" / "small" / GAUSSIAN)
    expected = [-math.dist(h, fit.mean) for h in features]
    assert numbers(scores_of("density_euclidean")) == pytest.approx(expected, rel=1e-4)


def test_the_classifier_s_number_and_its_probability_are_those_of_the_model(home: Path) -> None:
    plain, _ = plainly(home, REQUESTED)
    assert numbers(scores_of("density_classifier")) == pytest.approx(plain.tolist(), abs=1e-4)
    assert numbers(scores_of("usr_retrieval")) == pytest.approx(
        (1 / (1 + np.exp(-plain))).tolist(), abs=1e-4
    )


def test_a_model_of_one_turn_is_shown_one_turn(home: Path) -> None:
    plain, _ = plainly(home, REQUESTED, turns=1, name="plain")
    assert numbers(scores_of("density_classifier", trained="plain")) == pytest.approx(
        plain.tolist(), abs=1e-4
    )
    shorter = example("no soup is cold", "tell me of soup")
    assert scores_of("density", [REQUESTED[2]], trained="plain") == scores_of(
        "density", [shorter], trained="plain"
    )


def test_an_answer_to_the_thing_asked_scores_above_one_to_another(home: Path) -> None:
    answers = [
        example(f"yes {thing} are fine", "i like dogs")
        for thing in ("dogs", "soup", "rain", "trains")
    ]
    for metric in OF_SELECTION:
        right, *wrong = numbers(scores_of(metric, answers))
        assert right > max(wrong), metric


@pytest.mark.parametrize("metric", OF_SELECTION)
def test_what_lacks_one_half_has_no_score(home: Path, metric: str) -> None:
    asked = [
        example(" ", "i like dogs"),
        REQUESTED[0],
        example("yes dogs are fine"),
        example("yes dogs are fine", " "),
    ]
    empty, scored, *without = scores_of(metric, asked)
    assert empty == Undefined("the response is empty")
    assert without == [Undefined("the turn has no context")] * 2
    assert [scored] == pytest.approx(scores_of(metric, [REQUESTED[0]]), abs=1e-5)


def test_a_context_that_is_cut_is_remarked(home: Path) -> None:
    scorer = parse("density[trained=small]").scorer()
    heard: list[int] = []
    scorer.score(
        [REQUESTED[0], example("yes dogs are fine", " ".join(["i like dogs"] * 20)), REQUESTED[1]],
        heard.append,
    )
    assert scorer.account().remarks == {1: "the context was cut: the model takes 32 tokens"}
    assert heard == sorted(heard)
    assert heard[-1] == 3


def test_the_account_says_model_revision_device_and_length(home: Path) -> None:
    scorer = parse("density[trained=small]").scorer()
    scorer.score(REQUESTED)
    account = scorer.account()
    assert account.model == f"small@{checkpoints.read(home / 'trained' / 'small').revision}"
    assert account.device == "cpu, 1 thread, float32"
    assert account.facts == (("dtype", "float32"), ("max_tokens", "32"))


def test_a_model_that_was_made_anew_is_loaded_anew(home: Path) -> None:
    make_model("density", "changing", home, epochs=1)
    before = numbers(scores_of("density_classifier", trained="changing"))
    checkpoint = checkpoints.read(home / "trained" / "plain")
    files = {name: (checkpoint.folder / name).read_bytes() for name in checkpoint.config["files"]}
    weights = checkpoint.weights()
    config = {
        name: value for name, value in checkpoint.config.items() if name not in ("files", "sha256")
    }
    del files[checkpoints.WEIGHTS]
    checkpoints.write(home / "trained" / "changing", weights, {**config, "name": "changing"}, files)
    assert numbers(scores_of("density_classifier", trained="changing")) != before


def test_weights_that_are_not_what_was_written_are_refused(home: Path) -> None:
    place = make_model("density", "broken", home, epochs=1)
    whole = (place / "weights.safetensors").read_bytes()
    (place / "weights.safetensors").write_bytes(whole[:-4] + b"\0\1\2\3")
    with pytest.raises(ModelError, match=r"weights\.safetensors is not what was written"):
        scores_of("density", trained="broken")


@pytest.mark.parametrize(
    ("score", "expected"), [(0.0, 0.5), (math.log(3), 0.75), (-math.log(3), 0.25), (-1e4, 0.0)]
)
def test_the_probability_is_the_logistic_function(score: float, expected: float) -> None:
    assert probability(Reading(score, 0.0, 0.0, False)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "strange", ["\0", "[SEP]", "[MASK] [CLS]", "🙂🙂", "日本", "x" * 4000, "yes " * 800, "¿?"]
)
@pytest.mark.parametrize("metric", OF_SELECTION)
def test_any_text_has_a_number_in_range_or_a_reason(home: Path, metric: str, strange: str) -> None:
    low, high = parse(metric).value_range
    for score in scores_of(
        metric, [example(strange, "i like dogs"), example("yes", strange, "i like dogs")]
    ):
        if isinstance(score, Undefined):
            assert "knows no token of" in score.reason
            continue
        assert math.isfinite(score)
        assert low is None or score >= low
        assert high is None or score <= high


# --- of whole dialogues ---------------------------------------------------------------------------


def test_a_dialogue_s_density_is_the_mean_of_its_turns_or_their_root_mean_square(
    home: Path,
) -> None:
    one, two, three = numbers(scores_of("density"))
    dialogues = [REQUESTED[:2], REQUESTED[2:]]
    mean = parse("density_dialogue[trained=small]").scorer().score_dialogues(dialogues)
    assert mean == pytest.approx([(one + two) / 2, three], rel=1e-5)
    released = (
        parse("density_dialogue[aggregate=root_mean_square,trained=small]")
        .scorer()
        .score_dialogues(dialogues)
    )
    assert released == pytest.approx([-math.sqrt((one**2 + two**2) / 2), three], rel=1e-5)


def test_a_response_without_a_score_is_left_out_of_its_dialogue_and_remarked(home: Path) -> None:
    scorer = parse("density_dialogue[trained=small]").scorer()
    found = scorer.score_dialogues(
        [[REQUESTED[0], example("", "i like dogs")], [example("", "i like dogs")]]
    )
    assert found == [
        pytest.approx(scores_of("density")[0]),
        Undefined("no response of the dialogue has a score"),
    ]
    assert scorer.account().remarks == {0: "1 of 2 responses have no score"}


# --- blended with a reference ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blend", "expected"), [("mean", 0.5), ("min", 0.2), ("max", 0.8), ("geometric", 0.4)]
)  # (0.2 + 0.8) / 2; √(0.2 · 0.8)
def test_blends_of_two_numbers(blend: str, expected: float) -> None:
    assert blended(0.2, 0.8, blend) == pytest.approx(expected)


def test_bert_ruber_is_the_blend_of_both_judges(home: Path) -> None:
    asked = [
        example("yes dogs are fine", "i like dogs", references=["no dogs is old"]),
        example("no soup is cold", "i like dogs", references=["soup", "no soup is cold"]),
    ]
    follows = numbers(scores_of("usr_retrieval", asked))
    vectors = (
        encoder_for(str(home / "encoder"))
        .sentence_vectors(["yes dogs are fine", "no dogs is old"], "mean")
        .values
    )
    # The second has said what its reference says
    alike = [(1 + float(vectors[0] @ vectors[1])) / 2, 1.0]
    found = scores_of("bert_ruber", asked, model=home / "encoder")
    assert numbers(found) == pytest.approx(
        [(s + r) / 2 for s, r in zip(follows, alike, strict=True)], abs=1e-4
    )


def test_bert_ruber_needs_both(home: Path) -> None:
    asked = [
        example("", "i like dogs", references=["a"]),
        example("yes", references=["a"]),
        example("yes", "i like"),
    ]
    found = scores_of("bert_ruber", asked, model=home / "encoder")
    assert [one.reason for one in found if isinstance(one, Undefined)] == [
        "the response is empty",
        "the turn has no context",
        "the turn has no reference",
    ]


def test_bert_ruber_s_account_names_both_models(home: Path) -> None:
    scorer = parse(f"bert_ruber[trained=small,model={home / 'encoder'}]").scorer()
    scorer.score([example("yes dogs are fine", "i like dogs", references=["no dogs is old"])])
    account = scorer.account()
    assert account.model.startswith("small@")
    assert (
        dict(account.facts)["encoder_revision"] == encoder_for(str(home / "encoder")).files.revision
    )


# --- without a model ------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [*OF_SELECTION, "density_dialogue", "bert_ruber"])
def test_without_a_model_a_metric_says_what_to_train_and_what_is_there(
    home: Path, metric: str
) -> None:
    assert (
        parse(metric)
        .missing()
        .startswith(f"name a trained model: {metric}[trained=NAME]; there are ")
    )
    assert (
        parse(f"{metric}[trained=none]").missing().startswith("there is no trained model 'none': ")
    )
    assert parse(f"{metric}[trained=small]").missing() == ""
