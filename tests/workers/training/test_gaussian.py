"""A Gaussian over features: by hand, as scikit-learn has it, without full rank, in a file; the
reference scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save
from sklearn.covariance import EmpiricalCovariance

from annotations.formats.records import Utterance
from workers.inference.encoders.encoder import encoder_for
from workers.inference.model_files import PACKAGED_ENCODER, why_missing
from workers.metrics.base import Example
from workers.metrics.common.pair_features import pair_points
from workers.training.core import gaussian
from workers.training.core.density_model import turn_scores
from workers.training.core.gaussian import GaussianFit, UnusableFit


def features(count: int, dimensions: int, seed: int = 0) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    return (
        random.standard_normal((count, dimensions))
        @ random.standard_normal((dimensions, dimensions))
        + 3.0
    )


def test_by_hand() -> None:
    # (0, 0), (2, 0), (0, 4), (2, 4): mean (1, 2), covariance diag(1, 4) when divided by 4. (3, 2)
    # lies 2 off along the first axis: 2²/1 = 4. (1, 6) lies 4 off along the second: 4²/4 = 4, and
    # 16 by Euclid.
    fit = GaussianFit.of(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0]]))
    assert fit.mean.tolist() == [1.0, 2.0]
    assert fit.covariance.tolist() == [[1.0, 0.0], [0.0, 4.0]]
    asked = np.array([[3.0, 2.0], [1.0, 6.0], [1.0, 2.0]])
    assert fit.squared_mahalanobis(asked).tolist() == pytest.approx([4.0, 4.0, 0.0])
    assert fit.squared_euclidean(asked).tolist() == pytest.approx([4.0, 16.0, 0.0])
    assert (fit.points, fit.dimensions, fit.rank) == (4, 2, 2)


@pytest.mark.parametrize(("count", "dimensions"), [(200, 8), (9, 8), (20, 40), (2, 5)])
def test_distances_are_scikit_learns(count: int, dimensions: int) -> None:
    """With more and with fewer points than dimensions."""
    points, asked = features(count, dimensions), features(30, dimensions, seed=0)
    reference = EmpiricalCovariance().fit(points)
    fit = GaussianFit.of(points)
    assert fit.covariance == pytest.approx(reference.covariance_, rel=1e-10, abs=1e-12)
    assert fit.squared_mahalanobis(asked) == pytest.approx(
        reference.mahalanobis(asked), rel=1e-8, abs=1e-8
    )
    assert fit.rank == min(count - 1, dimensions)


def test_the_mean_squared_distance_of_the_points_themselves_is_the_rank() -> None:
    # Σ (h − μ) Σ⁻¹ (h − μ)ᵀ / N = Tr(Σ⁻¹ Σ), which is the rank: 8 with many points, 19 with 20.
    for count, dimensions, rank in ((200, 8, 8), (20, 40, 19)):
        points = features(count, dimensions)
        assert GaussianFit.of(points).squared_mahalanobis(points).mean() == pytest.approx(rank)


def test_what_no_point_varies_in_is_not_seen() -> None:
    """The last dimension is 1 in all points: Σ has no inverse, and a response at 1,000 there is as
    near as any."""
    points = np.column_stack([features(50, 3), np.ones(50)])
    fit = GaussianFit.of(points)
    far = points[:1] + np.array([[0.0, 0.0, 0.0, 1000.0]])
    assert fit.rank == 3
    assert fit.squared_mahalanobis(far) == pytest.approx(fit.squared_mahalanobis(points[:1]))


def test_no_distance_is_below_0() -> None:
    points = features(10, 60)
    fit = GaussianFit.of(points)
    assert (fit.squared_mahalanobis(np.tile(fit.mean, (5, 1))) >= 0.0).all()
    assert not np.isnan(turn_scores(fit.squared_mahalanobis(points))).any()
    # Rounding may leave a direction of a pseudo-inverse slightly below 0: that is no distance's
    # root.
    rounded = replace(fit, precision=np.eye(60) * -1e-17)
    assert rounded.squared_mahalanobis(points).tolist() == [0.0] * 10


def test_float32_features_are_summed_in_float64_and_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = (features(1000, 4) + 1e3).astype(np.float32)
    whole = GaussianFit.of(points.astype(np.float64))
    monkeypatch.setattr(gaussian, "ROWS_AT_ONCE", 64)
    fit = GaussianFit.of(points)
    assert fit.mean.dtype == fit.precision.dtype == np.float64
    assert fit.covariance == pytest.approx(whole.covariance, rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (np.zeros((1, 3)), "two points"),
        (np.zeros((0, 3)), "two points"),
        (np.zeros(4), "two points"),
        (np.array([[1.0, 2.0], [np.nan, 0.0]]), "not finite"),
        (np.array([[1.0, 2.0], [np.inf, 0.0]]), "not finite"),
    ],
)
def test_what_has_no_covariance_is_refused(wrong: NDArray[np.float64], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        GaussianFit.of(wrong)


def test_features_of_another_size_are_refused() -> None:
    fit = GaussianFit.of(features(20, 3))
    with pytest.raises(ValueError, match="3 dimensions"):
        fit.squared_mahalanobis(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="3 dimensions"):
        fit.squared_euclidean(np.zeros(3))


# --- in a file


def test_a_fit_comes_back_as_it_was(tmp_path: Path) -> None:
    fit, asked = GaussianFit.of(features(50, 6)), features(9, 6, seed=1)
    fit.save(tmp_path / "fit.safetensors")
    back = GaussianFit.load(tmp_path / "fit.safetensors")
    assert back.squared_mahalanobis(asked).tolist() == fit.squared_mahalanobis(asked).tolist()
    assert back.points == 50
    assert back.to_bytes() == fit.to_bytes()


def test_a_file_that_holds_no_fit_is_refused() -> None:
    whole = GaussianFit.of(features(20, 3))
    wrong = [
        b"",
        b"\x80\x04N.",  # a pickle
        whole.to_bytes()[:-8],
        save({"mean": whole.mean}),
        replace(whole, precision=np.eye(4)).to_bytes(),
        replace(whole, mean=np.full(3, np.nan)).to_bytes(),
        replace(whole, covariance=whole.covariance.astype(np.float32)).to_bytes(),
    ]
    for content in wrong:
        with pytest.raises(UnusableFit):
            GaussianFit.from_bytes(content)


# --- the reference scores


@pytest.mark.slow
@pytest.mark.parametrize("dimensions", [32, 384])
def test_scores_of_personam_are_the_reference_scores(
    data: Path, golden: Path, dimensions: int
) -> None:
    """Fitted on the packaged encoder's first-token states of people's 60 pairs (so of rank 59), of
    the first system's responses. The reference keeps the precision in float32; its own float64
    figures differ from that by 4·10⁻⁶."""
    if reason := why_missing(PACKAGED_ENCODER):
        pytest.skip(reason)
    reference = json.loads((golden / "cmn_density_numeric.json").read_text())["density"][
        f"personam_d{dimensions}"
    ]
    lines = (data / "fbd" / "personam_annotation.json").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]

    def examples(responses: list[str]) -> list[Example]:
        return [
            Example(
                str(place), 0, (), (), (Utterance("A", row["src"].strip()),), (), response.strip()
            )
            for place, (row, response) in enumerate(zip(rows, responses, strict=True))
        ]

    both = examples([row["refs"][0] for row in rows]) + examples([row["hyps"][0] for row in rows])
    points = pair_points(encoder_for(PACKAGED_ENCODER), both, -1).values[:, :dimensions]
    people, system = points[: len(rows)], points[len(rows) :]
    fit = GaussianFit.of(people)
    scores = turn_scores(fit.squared_mahalanobis(system))
    assert fit.rank == reference["rank_cov"]
    assert scores[:10] == pytest.approx(reference["float64_pinv_sys0_first10"], abs=2e-5)
    assert scores.mean() == pytest.approx(reference["float64_pinv_sys0_mean"], abs=2e-6)
    assert turn_scores(fit.squared_mahalanobis(people)).mean() == pytest.approx(
        reference["repo_infer_ref_mean"], abs=1e-5
    )
    euclidean = turn_scores(fit.squared_euclidean(system))
    assert euclidean.mean() == pytest.approx(reference["repo_euclid_sys0_mean"], abs=2e-6)


def test_what_float32_rounds_across_a_layer_norm_s_plane_is_no_direction() -> None:
    """Each row of a layer norm adds up to 0, in float32 but for its rounding."""
    rows = np.random.default_rng(0).standard_normal((500, 32))
    rows -= rows.mean(axis=1, keepdims=True)
    fit = GaussianFit.of(rows.astype(np.float32))
    assert fit.rank == 31
    off = np.full((1, 32), 1e-6, dtype=np.float32)  # across the plane: 6e-6 long
    moved = fit.squared_mahalanobis(rows[:1].astype(np.float32) + off)
    assert moved == pytest.approx(fit.squared_mahalanobis(rows[:1]), rel=1e-4)
