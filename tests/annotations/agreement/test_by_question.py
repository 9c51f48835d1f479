"""The coefficients that a question asks for: by type, and preferences on the reference data."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from annotations.agreement.by_question import Coefficient, Unit, agreement_of
from annotations.questions import templates
from annotations.questions.schema import CONSEQUENCES, Option, Question
from common.estimates import Estimate
from tests.annotations.agreement.matrices import data_folder, golden, usr_matrix

LETTERS = (Option("a", "a"), Option("b", "b"), Option("c", "c"))


def found(question: Question, *answers: dict[str, Any], **fields: Any) -> dict[str, Estimate]:
    units = [Unit(f"d{number}", one, **fields) for number, one in enumerate(answers)]
    return {
        f"{one.name} {one.option}".strip(): one.estimate
        for one in agreement_of(question, units, intervals=False)
    }


def test_a_scale_has_the_coefficients_of_the_rating_pages() -> None:
    matrix = usr_matrix("Overall")
    units = [
        Unit(
            str(dialogue),
            {
                rater: int(score)
                for rater, score in zip(matrix.raters, column, strict=True)
                if score == score
            },
        )
        for dialogue, column in zip(matrix.dialogue_of_item, matrix.scores.T, strict=True)
    ]
    question = templates.load("usr").question("overall")
    values = {
        one.name: one.estimate.value for one in agreement_of(question, units, intervals=False)
    }
    expected = golden()["sets"]["usr_persona_Overall_named"]
    for measurement in ("ordinal", "interval"):
        assert values[f"alpha_{measurement}"] == pytest.approx(
            expected["krippendorff_alpha"][measurement], abs=1e-9
        )
    assert values["kappa_quadratic"] == pytest.approx(
        expected["cohen_pairwise_mean"]["quadratic"], abs=1e-9
    )


def test_who_cannot_judge_has_no_rating() -> None:
    scale = Question("q", "scale", "?", cannot_judge=True)
    with_abstention = found(scale, {"r": 1, "s": 2, "t": "cannot_judge"}, {"r": 4, "s": 4})
    assert with_abstention == found(scale, {"r": 1, "s": 2}, {"r": 4, "s": 4})


def test_yes_and_no_are_categories() -> None:
    # Pairs (y,y) (n,n) (y,n): o_yy = o_nn = 2, o_yn = o_ny = 1, n = 6: α = 1 − 5 · 2 / 18
    coefficients = found(
        Question("q", "yes_no", "?"),
        {"r": True, "s": True},
        {"r": False, "s": False},
        {"r": True, "s": False},
    )
    assert coefficients["alpha_nominal"].value == pytest.approx(1 - 5 * 2 / 18)
    assert list(coefficients) == ["alpha_nominal", "kappa", "fleiss_kappa"]


def test_choices_have_an_alpha_of_each_option() -> None:
    question = Question("q", "choices", "?", options=LETTERS[:2])
    coefficients = found(question, {"r": ["a"], "s": ["a", "b"]}, {"r": [], "s": []})
    assert list(coefficients) == ["alpha_masi", "alpha_nominal a", "alpha_nominal b"]
    # a: both, then neither; b: one of two, then neither: o_01 = o_10 = 1, n = 4, 1 − 3 · 2 / 6
    assert coefficients["alpha_nominal a"].value == 1.0
    assert coefficients["alpha_nominal b"].value == pytest.approx(0.0)


def test_labels_of_utterances_are_a_choice_for_each() -> None:
    labels = Question("q", "utterance_labels", "?", options=LETTERS[:2], max_choices=1)
    choice = Question("q", "choice", "?", options=LETTERS[:2])
    by_utterance = found(
        labels,
        {"r": {"1": ["a"], "3": ["b"]}, "s": {"1": ["a"], "3": []}},
        {"r": {"0": ["b"]}, "s": {"0": ["a"]}},
    )
    assert by_utterance == found(choice, {"r": "a", "s": "a"}, {"r": "b"}, {"r": "b", "s": "a"})


def test_labels_with_values_are_ordinal() -> None:
    impression = templates.load("conture").question("impression")
    coefficients = found(
        impression, {"r": {"1": ["bad"], "3": ["good"]}, "s": {"1": ["fair"], "3": ["good"]}}
    )
    assert next(iter(coefficients)) == "alpha_ordinal"
    assert coefficients["alpha_ordinal"].value is not None


def test_best_and_worst_are_ranks_with_the_others_tied() -> None:
    question = Question("q", "best_worst", "?")
    one, other = {"best": "1", "worst": "3"}, {"best": "1", "worst": "2"}
    coefficients = found(question, {"r": one, "s": other}, candidates=("1", "2", "3"))
    # Ranks 1 2 3 and 1 3 2: concordant in two of three pairs
    assert coefficients["mean_tau"].value == pytest.approx(1 / 3)


def test_what_neither_names_is_ranked_too() -> None:
    question = Question("q", "best_worst", "?")
    same = {"best": "1", "worst": "2"}
    other = {"best": "1", "worst": "3"}
    four = ("1", "2", "3", "4")
    # Ranks 1 3 2 2 and 1 2 3 2: of pairs 12 + , 13 +, 14 +, 23 −, 24 0, 34 0; τ-b = 2 / √(5 · 5)
    coefficients = found(question, {"r": same, "s": other}, candidates=four)
    assert coefficients["mean_tau"].value == pytest.approx(2 / 5)


def test_spans_with_severity_have_a_score_too() -> None:
    errors = templates.load("error-spans").question("errors")
    one = {"utterance": 0, "start": 0, "end": 4, "label": "tone", "severity": "minor"}
    coefficients = found(
        errors,
        {"r": [one], "s": [{**one, "severity": "major"}]},
        {"r": [], "s": []},
        lengths={0: 10},
    )
    assert coefficients["f1_exact"].value == 1.0
    assert coefficients["alpha_marked"].value == 1.0
    # −1 and −5, 0 and 0: observed 2 · 16; expected 2 (1 · 16 + 2 · 1 + 2 · 25): 1 − 3 · 32 / 136
    assert coefficients["alpha_interval"].value == pytest.approx(1 - 3 * 32 / 136)


def test_text_has_no_coefficient() -> None:
    assert found(Question("q", "text", "?"), {"r": "one", "s": "one"}) == {}


def test_nothing_answered_is_undefined_with_a_reason() -> None:
    for name in templates.names():
        for question in templates.load(name).questions:
            for one in agreement_of(question, []):
                assert one.estimate.value is None
                assert one.estimate.reason


def test_the_levels_of_measurement_name_coefficients_that_exist() -> None:
    questions = {
        "nominal": Question("q", "yes_no", "?"),
        "ordinal": Question("q", "scale", "?"),
        "interval": Question("q", "slider", "?"),
        "ranking": Question("q", "ranking", "?"),
        "preference": Question("q", "preference", "?"),
        "text": Question("q", "text", "?"),
    }
    for measurement, consequences in CONSEQUENCES.items():
        question = questions[measurement]
        assert question.measurement == measurement
        names = {one.name for one in agreement_of(question, [])}
        assert set(consequences.agreement) <= names


@pytest.mark.parametrize(
    ("value", "ci", "bands"),
    [
        (0.9, (0.85, 0.95), ("reliable",)),
        (0.75, (0.6, 0.9), ("tentative", "low", "reliable")),
        (0.1, None, ("low",)),
        (None, None, ()),
    ],
)
def test_bands_of_alpha(value: float | None, ci: Any, bands: tuple[str, ...]) -> None:
    assert Coefficient("alpha_nominal", "", Estimate(value, ci)).bands == bands
    assert Coefficient("kendall_w", "", Estimate(value, ci)).bands == ()


# --- preferences ----------------------------------------------------------------------------------


def preferences_folder() -> Any:
    folder = data_folder().parent / "golden" / "preferences"
    if not folder.exists():
        pytest.skip("the reference numbers (golden/preferences) do not lie beside DIALEVAL_DATA")
    return folder


def units_of(name: str) -> Iterator[Unit]:
    """A unit for each dialogue and pair of systems; a is the first in the alphabet."""
    votes: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    path = preferences_folder() / "data" / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            one, other, winner = row["system_a"], row["system_b"], row["winner"]
            if one > other:
                one, other = other, one
                winner = {"a": "b", "b": "a"}.get(winner, winner)
            votes[row["dialogue"], one, other][row["rater"]] = winner
    for (dialogue, _, _), answers in votes.items():
        yield Unit(dialogue, answers)


def pandalm() -> Iterator[Unit]:
    path = preferences_folder() / "data" / "pandalm.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Unit(row["instruction"], {f"human{n}": row[f"human{n}"] for n in (1, 2, 3)})


@pytest.mark.parametrize("name", ["raters", "usr_overall_pairs", "pandalm humans (all)"])
def test_preferences_equal_the_references(name: str) -> None:
    document = json.loads((preferences_folder() / "agreement.json").read_text(encoding="utf-8"))
    expected = document["agreement"][name]
    units = list(pandalm() if name.startswith("pandalm") else units_of(name))
    question = templates.load("pairwise").questions[0]
    values = {
        one.name: one.estimate.value for one in agreement_of(question, units, intervals=False)
    }
    assert values == pytest.approx(
        {
            "alpha_nominal": expected["krippendorff_alpha_nominal_tie_as_class"],
            "alpha_ordinal": expected["krippendorff_alpha_ordinal_b_tie_a"],
            "alpha_interval": expected["krippendorff_alpha_interval_b_tie_a"],
            "alpha_without_ties": expected["krippendorff_alpha_nominal_ties_left_out"],
            "kappa": expected["mean_pairwise_kappa"],
            "s1": expected["fastchat_human_human_S1_with_ties"]["ratio"],
            "s2": expected["fastchat_human_human_S2_without_ties"]["ratio"],
        },
        abs=1e-9,
    )


def test_without_ties_one_coefficient_of_each_kind_is_left() -> None:
    engaging = templates.load("acute-eval").questions[0]
    coefficients = found(engaging, {"r": "a", "s": "a"}, {"r": "a", "s": "b"})
    assert list(coefficients) == ["alpha_nominal", "kappa", "s2"]
    assert coefficients["s2"].value == 0.5  # 1 of 2 pairs of votes
    # Observed: one of two differs, 1 / 2; expected of a a a b: 2 · 3 · 1 / (4 · 3) = 1 / 2
    assert coefficients["alpha_nominal"].value == pytest.approx(0.0)


def test_both_bad_counts_as_a_tie() -> None:
    question = templates.load("pairwise").questions[0]
    tied = found(question, {"r": "tie", "s": "tie"}, {"r": "a", "s": "b"})
    assert found(question, {"r": "both_bad", "s": "tie"}, {"r": "a", "s": "b"}) == tied


def test_degrees_count_in_the_interval_alpha_alone() -> None:
    graded = Question("q", "preference", "?", points=5)
    coefficients = found(graded, {"r": "a2", "s": "a1"}, {"r": "b1", "s": "b1"})
    assert coefficients["alpha_nominal"].value == 1.0
    # Degrees 2 1, −1 −1: observed 2 · 1; expected 2 (1 + 2 · 9 + 2 · 4): 1 − 3 · 2 / 54
    assert coefficients["alpha_interval"].value == pytest.approx(1 - 3 * 2 / 54)


def test_shares_of_votes_have_intervals_over_dialogues() -> None:
    units = list(units_of("raters"))
    s1 = agreement_of(templates.load("pairwise").questions[0], units)[5]
    assert s1.name == "s1"
    assert s1.chance == pytest.approx(1 / 3)
    # Σ over 20 dialogues: se² = 19/20 Σ (θ₍ᵢ₎ − mean)², t(19, .975) = 2.093
    shares = []
    for left_out in sorted({unit.dialogue for unit in units}):
        rest = [unit for unit in units if unit.dialogue != left_out]
        shares.append(
            agreement_of(templates.load("pairwise").questions[0], rest, intervals=False)[
                5
            ].estimate.value
        )
    mean = sum(shares) / 20
    reach = 2.0930240544 * (19 / 20 * sum((share - mean) ** 2 for share in shares)) ** 0.5
    assert s1.estimate.ci == pytest.approx((0.43 - reach, 0.43 + reach), abs=1e-9)
