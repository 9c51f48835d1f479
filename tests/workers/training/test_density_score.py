"""DEnsity's scores from distances."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from workers.training.core.density_model import dialogue_score, turn_scores


def test_a_turns_score_is_the_distance_itself_below_0() -> None:
    assert turn_scores(np.array([4.0, 0.25, 0.0])).tolist() == [-2.0, -0.5, 0.0]


def test_a_dialogues_score_is_the_papers_average_or_the_released_codes_root_mean_square() -> None:
    # 4, 9, 100: −(2 + 3 + 10)/3 = −5; −√(113/3).
    assert dialogue_score([4.0, 9.0, 100.0]) == pytest.approx(-5.0)
    assert dialogue_score([4.0, 9.0, 100.0], "root_mean_square") == pytest.approx(
        -((113 / 3) ** 0.5)
    )


def test_both_forms_are_the_reference_figures(golden: Path) -> None:
    reference = json.loads((golden / "cmn_density_numeric.json").read_text())["density"][
        "dialogue_aggregation_example"
    ]
    squared = reference["squared_distances"]
    assert dialogue_score(squared) == pytest.approx(reference["paper_mean_of_scores"], rel=1e-12)
    assert dialogue_score(squared, "root_mean_square") == pytest.approx(
        reference["code_-sqrt(mean)"], rel=1e-12
    )


def test_equal_turns_make_both_forms_equal_and_no_turn_makes_none() -> None:
    assert dialogue_score([9.0, 9.0]) == dialogue_score([9.0, 9.0], "root_mean_square") == -3.0
    with pytest.raises(ValueError, match="without responses"):
        dialogue_score([])
