"""CMN's score: equation 7 and its variants, the reference figures, and how far another seed's value
may lie off."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workers.training.core.latent import (
    Estimation,
    Latent,
    Latents,
    cmn_score,
    estimate,
    negative_indices,
)
from workers.training.core.negatives import stream

POINT = -200.0
"""A log variance that leaves no spread: e^-100 beside numbers of about 1."""


def latent(*mean: float, log_variance: float = POINT) -> Latent:
    return Latent(np.array(mean), np.full(len(mean), log_variance))


def drawn(seed: int, dimensions: int = 8, log_variance: float = -2.0) -> Latent:
    return Latent(
        np.random.default_rng(seed).standard_normal(dimensions) * 0.3,
        np.full(dimensions, log_variance),
    )


def latents() -> Latents:
    return Latents(
        response=drawn(0),
        reference=drawn(1),
        context=drawn(2),
        other_references=[drawn(seed) for seed in range(3, 13)],
        other_contexts=[drawn(seed) for seed in range(13, 23)],
        follows=0.25,
    )


@pytest.fixture
def reference(golden: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((golden / "cmn_density_numeric.json").read_text())["cmn"]
    return made


def of_reference(
    reference: dict[str, Any], log_variance: float
) -> tuple[Latent, Latent, list[Latent]]:
    given = reference["inputs"]
    negatives = [latent(*mean, log_variance=log_variance) for mean in given["muN"]]
    return (
        latent(*given["muA"], log_variance=log_variance),
        latent(*given["muB"], log_variance=log_variance),
        negatives,
    )


# --- one information


@pytest.mark.parametrize("inner_draws", [0, 3])
def test_points_in_the_latent_space_leave_nothing_to_draw(inner_draws: int) -> None:
    # z₂ = (1, 2): with the reference (3, 1) F = 5; with the negatives (0, 0) and (1, 0) F = 0 and
    # 1. paper: 5 + 2 log 1 − log(1 + e). bound: 5 + log 3 − log(e⁵ + 1 + e).
    for form, value in (
        ("paper", 5 - math.log(1 + math.e)),
        ("bound", 5 + math.log(3) - math.log(math.exp(5) + 1 + math.e)),
    ):
        settings = Estimation(form, draws=4, inner_draws=inner_draws)
        others = [latent(0.0, 0.0), latent(1.0, 0.0)]
        information = estimate(latent(1.0, 2.0), latent(3.0, 1.0), others, settings, stream(0))
        assert information.value == pytest.approx(value, rel=1e-9)
        assert information.error == pytest.approx(0.0, abs=1e-12)


def test_without_spread_it_is_the_reference_figures(reference: dict[str, Any]) -> None:
    response, true, negatives = of_reference(reference, POINT)
    for one in reference["deterministic_std0"]:
        others = negatives[: one["N_negatives"]]
        for form, name in (("paper", "paper_eq4"), ("released", "repo_InfoNCE_std0")):
            settings = Estimation(form, draws=2, inner_draws=2)
            assert estimate(response, true, others, settings, stream(0)).value == pytest.approx(
                one[name], rel=1e-9
            )


def test_with_spread_it_is_the_released_functions_within_its_noise(
    reference: dict[str, Any],
) -> None:
    """The released function's eight runs have the mean 1.7637 with an sd of 0.108, so a standard
    error of 0.038; 200 seeds of ours have one of 0.008. Ours and the released ones' spreads agree
    within the four tenths that an sd of eight runs may be off; and the error that each value
    carries is that spread."""
    response, true, negatives = of_reference(reference, -2.0)
    made = [
        estimate(response, true, negatives, Estimation("released"), stream(seed))
        for seed in range(200)
    ]
    values, runs = [one.value for one in made], reference["stochastic_logvar_-2"]
    assert np.mean(values) == pytest.approx(
        runs["mean"], abs=3 * runs["sd_between_runs"] / math.sqrt(8)
    )
    assert np.std(values) == pytest.approx(runs["sd_between_runs"], rel=0.4)
    assert np.mean([one.error for one in made]) == pytest.approx(np.std(values), rel=0.15)


def test_the_closed_form_is_what_many_inner_draws_come_to_with_a_smaller_error(
    reference: dict[str, Any],
) -> None:
    response, true, negatives = of_reference(reference, -1.0)
    exact = [
        estimate(response, true, negatives, Estimation(inner_draws=0), stream(seed))
        for seed in range(40)
    ]
    many = [
        estimate(response, true, negatives, Estimation(inner_draws=1000), stream(seed))
        for seed in range(40)
    ]
    spread = math.hypot(
        np.std([one.value for one in exact]), np.std([one.value for one in many])
    ) / math.sqrt(40)
    assert np.mean([one.value for one in exact]) == pytest.approx(
        np.mean([one.value for one in many]), abs=3 * spread
    )
    assert np.mean([one.error for one in exact]) < 0.9 * np.mean([one.error for one in many])


def test_few_inner_draws_make_the_estimate_larger(reference: dict[str, Any]) -> None:
    response, true, negatives = of_reference(reference, 0.0)

    def mean(inner_draws: int) -> float:
        settings = Estimation(inner_draws=inner_draws, draws=2000)
        return estimate(response, true, negatives, settings, stream(0)).value

    assert mean(1) > mean(100)


def test_twice_the_digits_cost_four_times_the_draws() -> None:
    few, many = (
        np.mean(
            [
                estimate(
                    drawn(0), drawn(1), [drawn(2), drawn(3)], Estimation(draws=n), stream(s)
                ).error
                for s in range(20)
            ]
        )
        for n in (50, 200)
    )
    assert few / many == pytest.approx(2.0, rel=0.15)


def test_latents_far_out_overflow_nothing() -> None:
    far = Latent(np.full(32, 50.0), np.full(32, 3.0))
    for form in ("paper", "released", "bound"):
        settings = Estimation(form)
        information = estimate(far, far, [far, latent(*[-50.0] * 32)], settings, stream(0))
        assert math.isfinite(information.value)
        assert math.isfinite(information.error)


def test_too_few_negatives_or_draws_are_refused() -> None:
    for others, form in (([], "bound"), ([drawn(1)], "paper")):
        with pytest.raises(ValueError, match="negative"):
            estimate(drawn(0), drawn(1), others, Estimation(form), stream(0))
    for wrong in ({"draws": 1}, {"inner_draws": -1}):
        with pytest.raises(ValueError, match="two draws"):
            Estimation(**wrong)


# --- the score


def test_the_score_is_equation_7_and_its_variants_leave_out_a_part() -> None:
    full = cmn_score(latents(), "a turn")
    with_context, with_reference = full.with_context, full.with_reference
    assert full.value == pytest.approx(0.25 * with_context.value + with_reference.value, rel=1e-12)
    assert full.error == pytest.approx(
        math.hypot(0.25 * with_context.error, with_reference.error), rel=1e-12
    )
    alone = cmn_score(latents(), "a turn", "without_nsp")
    assert alone.value == pytest.approx(with_context.value + with_reference.value, rel=1e-12)
    assert alone.error == pytest.approx(
        math.hypot(with_context.error, with_reference.error), rel=1e-12
    )
    only_next = cmn_score(latents(), "a turn", "without_mi")
    assert (only_next.value, only_next.error) == (0.25, 0.0)


def test_each_information_contrasts_its_own_negatives() -> None:
    given = latents()
    before = cmn_score(given, "a turn")
    other = cmn_score(replace(given, other_contexts=[drawn(90), drawn(91)]), "a turn")
    assert other.with_context != before.with_context
    assert other.with_reference == before.with_reference


def test_the_two_informations_have_draws_of_their_own() -> None:
    given = latents()
    alike = replace(given, context=given.reference, other_contexts=given.other_references)
    score = cmn_score(alike, "a turn")
    assert score.with_context.value != score.with_reference.value


def test_the_same_seed_and_key_give_the_same_score_and_others_another() -> None:
    score = cmn_score(latents(), "a turn").value
    assert cmn_score(latents(), "a turn").value == score
    assert cmn_score(latents(), "another turn").value != score
    assert cmn_score(latents(), "a turn", settings=Estimation(seed=1)).value != score


def test_the_error_is_how_far_scores_of_other_seeds_lie_apart() -> None:
    made = [cmn_score(latents(), "a turn", settings=Estimation(seed=seed)) for seed in range(100)]
    # An sd of 100 values is off by 7 %; three of those.
    assert np.std([one.value for one in made]) == pytest.approx(
        np.mean([one.error for one in made]), rel=0.21
    )


def test_a_response_near_its_reference_scores_higher() -> None:
    given = latents()
    near = replace(given, response=given.reference)
    away = replace(given, response=Latent(-given.reference.mean, given.reference.log_variance))
    assert (
        cmn_score(near, "a turn").with_reference.value
        > cmn_score(away, "a turn").with_reference.value
    )


# --- negatives


def test_negatives_are_other_texts_each_once() -> None:
    texts = [f"reference {n}" for n in range(20)] + ["mine"] * 5
    places = negative_indices(texts, "mine", stream(0), 10)
    assert len(set(places)) == 10
    assert all(texts[place] != "mine" for place in places)
    assert places == negative_indices(texts, "mine", stream(0), 10)
    assert places != negative_indices(texts, "mine", stream(1), 10)
    assert len(negative_indices(texts, "mine", stream(0), 100)) == 20
    assert negative_indices(["mine"], "mine", stream(0), 10) == []


def test_released_negatives_come_back_and_the_references_own_text_leaves_a_gap() -> None:
    assert len(negative_indices(["a", "b"], "c", stream(0), 10, "released")) == 10
    found = [
        negative_indices(["mine", "other"], "mine", stream(seed), 10, "released")
        for seed in range(50)
    ]
    assert all(set(places) <= {1} for places in found)
    assert np.mean([len(places) for places in found]) == pytest.approx(5.0, abs=1.0)
