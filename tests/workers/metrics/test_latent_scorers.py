"""CMN's metrics by a tiny model that was trained here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import Utterance
from common.estimates import Undefined
from tests.workers.training.latent_talk import load_scorer
from tests.workers.training.made import make_model, trained_in
from workers.metrics.base import Example, Score
from workers.metrics.common.cmn_options import error_in_remark
from workers.metrics.common.configuration import parse
from workers.training.core.latent import Estimation
from workers.training.core.latent_scorer import Judged, LatentScoring

SAMPLED = ["cmn", "cmn_no_nsp"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    make_model("cmn", "latent", folder)
    with trained_in(folder):
        yield folder


def example(
    response: str, *context: str, references: Sequence[str] = ("no dogs is old",)
) -> Example:
    said = tuple(Utterance("AB"[place % 2], text) for place, text in enumerate(context))
    return Example("d", 0, (), (), said, tuple(references), response)


REQUESTED = [example("yes dogs are fine", "i like dogs"), example("no soup is cold", "i like dogs")]


def scorer_of(metric: str, **options: Any) -> Any:
    chosen = ",".join(f"{name}={value}" for name, value in {"trained": "latent", **options}.items())
    return parse(f"{metric}[{chosen}]").scorer()


def scores_of(metric: str, examples: Sequence[Example] = REQUESTED, **options: Any) -> list[Score]:
    found: list[Score] = scorer_of(metric, **options).score(examples)
    return found


def judged(home: Path, settings: LatentScoring) -> list[Any]:
    pairs = [Judged(("i like dogs",), "no dogs is old", one.response) for one in REQUESTED]
    return load_scorer(home / "trained" / "latent", settings).scores(pairs)


@pytest.mark.parametrize("form", ["paper", "bound"])
def test_cmn_is_the_trained_model_s_score(home: Path, form: Any) -> None:
    expected = judged(home, LatentScoring(estimation=Estimation(form, 20, 20, 3)))
    found = scores_of("cmn", form=form, samples=20, seed=3)
    assert found == pytest.approx([one.value for one in expected], abs=1e-6)


def test_the_released_form_departs_in_everything(home: Path) -> None:
    settings = LatentScoring(estimation=Estimation("released", 100, 100, 0), released_prior=True)
    assert settings == LatentScoring.released()
    assert scores_of("cmn", form="released") == pytest.approx(
        [one.value for one in judged(home, settings)], abs=1e-6
    )


def test_without_nsp_it_is_the_sum_of_the_same_informations(home: Path) -> None:
    whole = judged(home, LatentScoring(estimation=Estimation("paper", 20, 20, 0)))
    expected = [one.with_context.value + one.with_reference.value for one in whole]
    assert scores_of("cmn_no_nsp", samples=20) == pytest.approx(expected, abs=1e-6)


def test_without_mutual_information_it_is_g_and_needs_no_reference(home: Path) -> None:
    expected = [one.follows for one in judged(home, LatentScoring("without_mi"))]
    bare = [example(one.response, "i like dogs", references=()) for one in REQUESTED]
    assert scores_of("cmn_no_mi", bare) == pytest.approx(expected, abs=1e-5)
    assert "reference" not in parse("cmn_no_mi[trained=latent]").needs


def test_every_score_is_remarked_with_its_monte_carlo_error_and_its_parts(home: Path) -> None:
    scorer = scorer_of("cmn", samples=20)
    scorer.score(REQUESTED)
    one = judged(home, LatentScoring(estimation=Estimation("paper", 20, 20, 0)))[0]
    assert scorer.account().remarks[0] == (
        f"Monte-Carlo error {one.error:.3f}: I(c, x) = {one.with_context.value:.3f}, "
        f"I(x, r) = {one.with_reference.value:.3f}, g = {one.follows:.3f}"
    )
    assert set(scorer.account().remarks) == {0, 1}
    assert error_in_remark(scorer.account().remarks[0]) == pytest.approx(one.error, abs=0.0005)
    assert error_in_remark("the pair was cut") is None


def test_more_samples_have_a_smaller_error(home: Path) -> None:
    def error(samples: int) -> float:
        scorer = scorer_of("cmn_no_nsp", samples=samples)
        scorer.score(REQUESTED[:1])
        return float(scorer.account().remarks[0].split()[2].rstrip(":"))

    assert error(400) < error(25) / 2  # √(25 / 400) = ¼, but for chance


def test_a_seed_gives_the_same_scores_and_another_one_others(home: Path) -> None:
    assert scores_of("cmn", samples=10) == scores_of("cmn", samples=10)
    assert scores_of("cmn", samples=10) != scores_of("cmn", samples=10, seed=1)


@pytest.mark.parametrize("metric", SAMPLED)
def test_scores_do_not_hang_on_company_or_order(home: Path, metric: str) -> None:
    together = scores_of(metric, REQUESTED, samples=10)
    assert scores_of(metric, REQUESTED[::-1], samples=10)[::-1] == pytest.approx(together, abs=1e-4)
    assert [scores_of(metric, [one], samples=10)[0] for one in REQUESTED] == pytest.approx(
        together, abs=1e-4
    )


def test_of_several_references_the_best_counts(home: Path) -> None:
    def with_references(*references: str) -> Score:
        return scores_of(
            "cmn", [example("yes dogs are fine", "i like dogs", references=references)], samples=10
        )[0]

    alone = [with_references("no dogs is old"), with_references("yes dogs are fine")]
    assert with_references("no dogs is old", "yes dogs are fine") == pytest.approx(
        max(alone), abs=1e-5
    )  # type: ignore[type-var]


@pytest.mark.parametrize("metric", SAMPLED)
def test_what_is_lacking_is_the_reason(home: Path, metric: str) -> None:
    asked = [
        example("", "i like dogs"),
        example("yes"),
        example("yes dogs", "i like", references=(" ",)),
        REQUESTED[0],
    ]
    *without, whole = scores_of(metric, asked, samples=10)
    assert [one.reason for one in without if isinstance(one, Undefined)] == [
        "the response is empty",
        "the turn has no context",
        "the turn has no reference",
    ]
    assert [whole] == pytest.approx(scores_of(metric, REQUESTED[:1], samples=10), abs=1e-4)


def test_progress_is_of_examples_and_ends_with_all(home: Path) -> None:
    heard: list[int] = []
    scorer_of("cmn", samples=5).score([*REQUESTED, example("")], heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 3


def test_the_account_says_the_model_and_the_negatives(home: Path) -> None:
    scorer = scorer_of("cmn", samples=5)
    scorer.score(REQUESTED)
    account = scorer.account()
    assert account.model.startswith("latent@")
    assert account.device == "cpu, 1 thread, float32"
    assert account.facts == (("dtype", "float32"), ("negatives", "10"))


def test_a_pair_that_is_cut_is_remarked(home: Path) -> None:
    long = example("yes dogs are fine", " ".join(["i like dogs"] * 20))
    scorer = scorer_of("cmn_no_mi")
    scorer.score([REQUESTED[0], long])
    assert scorer.account().remarks == {1: "the pair was cut: the model takes no more tokens"}


@pytest.mark.parametrize("metric", [*SAMPLED, "cmn_no_mi"])
def test_without_a_model_a_metric_says_what_is_there(home: Path, metric: str) -> None:
    assert (
        parse(metric).missing() == f"name a trained model: {metric}[trained=NAME]; there are latent"
    )
    assert parse(f"{metric}[trained=latent]").missing() == ""
