"""The main job on real files, by the real commands, beside numbers that other people's code made of
the same files.

USR is scored by a real Celery worker that hears of its runs through the broker. The reference
numbers were made with the released code of the papers and with well-known packages
(golden/README.md says with which).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.ci import is_ci
from tests.site import Site
from workers.metrics import wordnet

pytestmark = pytest.mark.slow

USR_METRICS = {
    "bleu_4": "bleu_norm_split(ParlAI BleuMetric k=4)",
    "word_f1": "f1_norm(ParlAI F1Metric)",
    "rouge_l": "rougeL_f_norm_nostem",
    "rouge_l[stem=true]": "rougeL_f_norm_stem",
    "meteor": "meteor_nltk_norm_split",
}
"""Our configuration → its column in golden/usr_turn_metrics.json."""
OTHER_USR_METRICS = (
    "word_precision",
    "word_recall",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "rouge_1",
    "rouge_2",
)

FBD_METRICS = {
    "meteor[normalize=false]": "meteor_split",
    "rouge_l[normalize=false]": "rougeL_rouge_score_nostem",
    "rouge_l[normalize=false,stem=true]": "rougeL_rouge_score_stem",
}
METEOR_CANNOT_RUN = wordnet.missing()
if METEOR_CANNOT_RUN and not is_ci():  # in CI its tests fail instead, and say what is missing
    del USR_METRICS["meteor"], FBD_METRICS["meteor[normalize=false]"]
FBD_CORPORA = ("convai2", "dailyh", "dailyz", "empathetic", "personam", "personaz")
FBD_WITH_NUMBERS = ("personam", "dailyh", "empathetic")

GRADE_SETS = {
    "grade-dailydialog": "grade_dailydialog_EVAL",
    "grade-convai2": "grade_convai2",
    "grade-empatheticdialogues": "grade_empatheticdialogues",
}
CHOSEN_SYSTEMS = {
    "all300_5systems": ["--choice", "all"],
    "no_ground_truth_240_4systems": ["--exclude", "Original Ground Truth"],
    "machines_only_180_3systems": ["--systems", "KV-MemNN,Seq2Seq,Language Model"],
}
COEFFICIENTS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}
EXACT = {"abs": 1e-9}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[Site]:
    """One site for the module, with every real file imported."""
    from tests.conftest import made_site

    with made_site(tmp_path_factory.mktemp("reference")) as site:
        site.manage_all(
            ["import_corpus", "usr", data / "usr" / "pc_usr_data.json", "--slug", "usr"],
            ["import_corpus", "grade", data / "grade" / "human_judgement.json", "--slug", "grade"],
            ["import_corpus", "cpdc", data / "cpdc" / "dummy_data_task1.json", "--slug", "cpdc"],
            *(
                [
                    "import_corpus",
                    "fbd",
                    data / "fbd" / f"{name}_annotation.json",
                    "--slug",
                    f"fbd-{name}",
                ]
                for name in FBD_CORPORA
            ),
        )
        yield site


@pytest.fixture(scope="module")
def usr_scores(site: Site) -> dict[str, Any]:
    """What ``score`` prints of USR when a worker process computes it."""
    site.start_worker()
    return site.document(
        "score", "--corpus", "usr", "--metrics", ",".join([*USR_METRICS, *OTHER_USR_METRICS])
    )


@pytest.fixture(scope="module")
def usr_correlations(site: Site, usr_scores: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What ``correlate`` prints of USR, for each choice of systems that the references know."""
    asked = (
        ["correlate", "--corpus", "usr", "--resamples", "0", *choice]
        for choice in CHOSEN_SYSTEMS.values()
    )
    return dict(zip(CHOSEN_SYSTEMS, site.documents(*asked), strict=True))


@pytest.fixture(scope="module")
def usr_numbers(golden: Path) -> dict[str, Any]:
    return json.loads((golden / "usr_turn_metrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def agreement_numbers(golden: Path) -> dict[str, Any]:
    return json.loads((golden / "agreement.json").read_text(encoding="utf-8"))["sets"]


@pytest.fixture(scope="module")
def fbd_numbers(golden: Path) -> dict[str, Any]:
    return json.loads((golden / "fbd_corpora.json").read_text(encoding="utf-8"))["corpora"]


def one_row(document: dict[str, Any], metric: str, level: str) -> dict[str, Any]:
    (row,) = [row for row in document["rows"] if (row["metric"], row["level"]) == (metric, level)]
    return row


# --- what was read --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "dialogues", "turns", "systems", "responses", "ratings"),
    [
        # The counts that the corpora's papers give: USR 60 contexts × 5 responses × 3 raters × 6
        # aspects = 5,400.
        ("usr", 60, 60, 5, 300, 5400),
        ("grade-dailydialog", 150, 150, 2, 300, 2990),
        ("grade-convai2", 260, 260, 4, 600, 5970),
        ("grade-empatheticdialogues", 150, 150, 2, 300, 2950),
        ("fbd-convai2", 150, 150, 4, 600, 600),
        ("fbd-dailyh", 150, 150, 11, 1650, 1650),
        ("fbd-dailyz", 100, 100, 8, 800, 3200),
        ("fbd-empathetic", 150, 150, 11, 1650, 1650),
        ("fbd-personam", 60, 60, 4, 240, 1440),
        ("fbd-personaz", 150, 150, 5, 750, 750),
        ("cpdc", 5, 35, 0, 0, 0),
    ],
)
def test_every_real_file_is_stored_whole(
    counts: dict[str, list[int]],
    slug: str,
    dialogues: int,
    turns: int,
    systems: int,
    responses: int,
    ratings: int,
) -> None:
    assert counts[slug] == [dialogues, turns, systems, responses, ratings]


@pytest.fixture(scope="module")
def counts(site: Site) -> dict[str, list[int]]:
    return json.loads(site.python(COUNTING))


COUNTING = """
import json
from annotations.models import Corpus
from annotations.corpora.queries import counts_of, version_of

counts = {corpus.slug: counts_of(version_of(corpus.slug)) for corpus in Corpus.objects.all()}
print(json.dumps({slug: [c.dialogues, c.turns, c.systems, c.responses, c.ratings] for slug, c in counts.items()}))
"""


# --- USR: metrics ---------------------------------------------------------------------------------


def test_a_worker_scores_all_of_usr(usr_scores: dict[str, Any]) -> None:
    assert len(usr_scores["runs"]) == 5 * (len(USR_METRICS) + len(OTHER_USR_METRICS))
    assert {run["state"] for run in usr_scores["runs"]} == {"done"}


@pytest.mark.parametrize("metric", USR_METRICS)
def test_usr_turn_scores(
    usr_scores: dict[str, Any], usr_numbers: dict[str, Any], metric: str
) -> None:
    found = {
        (int(turn["dialogue"]), run["system"]): turn["score"]
        for run in usr_scores["runs"]
        if run["metric"] == metric
        for turn in run["turn_scores"]
    }
    expected = {
        (row // 5, system): score
        for row, (system, score) in enumerate(
            zip(usr_numbers["model"], usr_numbers["turn_scores"][USR_METRICS[metric]], strict=True)
        )
    }
    assert found == pytest.approx(expected, **EXACT)


def ranks_with_ties(
    numbers: dict[str, Any], column: str, systems: str
) -> dict[str, dict[str, float]]:
    """ρ and τ-b by scipy, where F-measures that differ in their 16th digit are ties. The published
    numbers' code ranks such noise: of 78 different word F1s on USR 57 remain after rounding."""
    left_out = {"Original Ground Truth"} if systems.startswith("no_ground_truth") else set()
    if systems.startswith("machines_only"):
        left_out = {"Original Ground Truth", "New Human Generated"}
    chosen = [row for row, model in enumerate(numbers["model"]) if model not in left_out]
    human = [round(numbers["overall_mean"][row], 12) for row in chosen]
    scores = [float(f"{numbers['turn_scores'][column][row]:.12g}") for row in chosen]
    spearman, kendall = stats.spearmanr(human, scores), stats.kendalltau(human, scores)
    return {
        "spearman": {"r": float(spearman.statistic), "p": float(spearman.pvalue)},
        "kendall_b": {"r": float(kendall.statistic), "p": float(kendall.pvalue)},
    }


@pytest.mark.parametrize("systems", CHOSEN_SYSTEMS)
@pytest.mark.parametrize("metric", USR_METRICS)
@pytest.mark.parametrize("level", ["turn", "system"])
def test_usr_correlations(
    usr_correlations: dict[str, Any],
    usr_numbers: dict[str, Any],
    metric: str,
    systems: str,
    level: str,
) -> None:
    row = one_row(usr_correlations[systems], metric, level)
    expected = usr_numbers["corr"][USR_METRICS[metric]][systems][level]
    assert row["n"] == expected["n"]
    if level == "turn":
        expected = {**expected, **ranks_with_ties(usr_numbers, USR_METRICS[metric], systems)}
    for ours, theirs in COEFFICIENTS.items():
        assert row[ours]["value"] == pytest.approx(expected[theirs]["r"], **EXACT)
        assert row[ours]["p"] == pytest.approx(expected[theirs]["p"], rel=1e-6)


# --- agreement ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def usr_agreement(site: Site) -> dict[str, dict[str, Any]]:
    aspects = ("Overall", "Engaging")
    asked = (
        ["agreement", "--corpus", "usr", "--aspect", aspect, "--resamples", "100"]
        for aspect in aspects
    )
    return dict(zip(aspects, site.documents(*asked), strict=True))


@pytest.fixture(scope="module")
def grade_agreement(site: Site) -> dict[str, dict[str, Any]]:
    asked = (["agreement", "--corpus", slug, "--resamples", "100"] for slug in GRADE_SETS)
    return dict(zip(GRADE_SETS, site.documents(*asked), strict=True))


@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_usr_alpha_and_fleiss(
    usr_agreement: dict[str, Any], agreement_numbers: dict[str, Any], aspect: str
) -> None:
    found, expected = usr_agreement[aspect], agreement_numbers[f"usr_persona_{aspect}_named"]
    assert (found["items"], found["raters"], found["ratings"]) == (300, 4, expected["n_ratings"])
    for measurement, alpha in expected["krippendorff_alpha"].items():
        assert found["krippendorff_alpha"][measurement]["value"] == pytest.approx(alpha, **EXACT)
    assert found["fleiss_kappa"]["value"] == pytest.approx(
        expected["fleiss_kappa"]["fleiss"], **EXACT
    )


@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
@pytest.mark.parametrize("weighting", ["unweighted", "linear", "quadratic"])
def test_usr_cohen_kappa_of_each_pair_and_its_mean(
    usr_agreement: dict[str, Any], agreement_numbers: dict[str, Any], aspect: str, weighting: str
) -> None:
    raters = ("shikib", "maxine", "mckenna", "yulan")  # the rows of the reference's matrix
    expected = agreement_numbers[f"usr_persona_{aspect}_named"]
    found = usr_agreement[aspect]["cohen_kappa"][weighting]
    assert found["mean"] == pytest.approx(expected["cohen_pairwise_mean"][weighting], **EXACT)
    pairs = {frozenset(pair["raters"]): (pair["items"], pair["value"]) for pair in found["pairs"]}
    assert len(pairs) == 6  # 4 raters: 4 · 3 / 2
    for pair in expected["cohen_pairs"]:
        items, kappa = pairs[frozenset(raters[row] for row in pair["pair"])]
        assert items == pair["n"]
        assert kappa == pytest.approx(pair[weighting], **EXACT)


@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_usr_leave_one_out(
    usr_agreement: dict[str, Any], agreement_numbers: dict[str, Any], aspect: str
) -> None:
    expected = agreement_numbers[f"usr_persona_{aspect}_named"]["leave_one_out_by_row"]
    for ours, theirs in COEFFICIENTS.items():
        assert usr_agreement[aspect]["leave_one_out"][ours]["value"] == pytest.approx(
            expected[theirs]["mean"], **EXACT
        )


@pytest.mark.parametrize("aspect", ["Overall", "Engaging"])
def test_usr_icc_lies_near_that_of_the_packed_matrix(
    usr_agreement: dict[str, Any], agreement_numbers: dict[str, Any], aspect: str
) -> None:
    """Near, not equal. Each item has three of four raters. The reference packs an item's three
    scores into three columns, so that its columns mix persons and their differences fall into the
    error; we keep the four persons and estimate variance components from the unbalanced design,
    where each person's own level is taken out."""
    expected = agreement_numbers[f"usr_persona_{aspect}_named"]["icc_pingouin"]
    found = usr_agreement[aspect]["icc"]
    assert found["icc2_k"]["k"] == 3
    for ours, theirs in (("icc2_1", "ICC(A,1)"), ("icc2_k", "ICC(A,k)")):
        assert found[ours]["value"] == pytest.approx(expected[theirs]["ICC"], abs=0.01)
        assert found[ours]["value"] != pytest.approx(expected[theirs]["ICC"], **EXACT)


@pytest.mark.parametrize("slug", GRADE_SETS)
def test_grade_alpha_and_fleiss(
    grade_agreement: dict[str, Any], agreement_numbers: dict[str, Any], slug: str
) -> None:
    found, expected = grade_agreement[slug], agreement_numbers[GRADE_SETS[slug]]
    assert [found["raters"], found["items"]] == expected["shape_raters_units"]
    assert found["ratings"] == expected["n_ratings"]
    for measurement, alpha in expected["krippendorff_alpha"].items():
        assert found["krippendorff_alpha"][measurement]["value"] == pytest.approx(alpha, **EXACT)
    fleiss = found["fleiss_kappa"]
    assert fleiss["value"] == pytest.approx(expected["fleiss_kappa"]["fleiss"], **EXACT)
    assert (fleiss["items"], fleiss["ratings_per_item"]) == (
        expected["fleiss_kappa"]["n_units"],
        10,
    )


@pytest.mark.parametrize("slug", GRADE_SETS)
def test_grade_has_no_coefficient_that_needs_persons(
    grade_agreement: dict[str, Any], slug: str
) -> None:
    found = grade_agreement[slug]
    undefined = [
        *found["cohen_kappa"].values(),
        *found["icc"].values(),
        *found["leave_one_out"].values(),
    ]
    assert len(undefined) == 3 + 2 + 3
    for estimate in undefined:
        assert estimate["value"] is None
        assert (
            estimate["reason"]
            == "the raters are anonymous: a position in the list of scores is not a person"
        )


@pytest.mark.parametrize("name", ["dailyz", "personam"])
def test_means_have_no_agreement(site: Site, name: str) -> None:
    found = site.document("agreement", "--corpus", f"fbd-{name}")
    for alpha in found["krippendorff_alpha"].values():
        assert alpha == {"value": None, "reason": "the file holds mean scores, not raters"}
    assert found["fleiss_kappa"] == {
        "value": None,
        "reason": "the file holds mean scores, not raters",
    }
    assert found["raters"] == 0


# --- the corpora of the FBD paper -----------------------------------------------------------------


@pytest.fixture(scope="module")
def fbd_scores(site: Site) -> dict[str, dict[str, Any]]:
    metrics = ",".join(FBD_METRICS)
    asked = (
        ["score", "--corpus", f"fbd-{name}", "--metrics", metrics, "--inline"]
        for name in FBD_WITH_NUMBERS
    )
    return dict(zip(FBD_WITH_NUMBERS, site.documents(*asked), strict=True))


@pytest.mark.parametrize("metric", FBD_METRICS)
@pytest.mark.parametrize("name", FBD_WITH_NUMBERS)
def test_fbd_system_scores(
    fbd_scores: dict[str, Any], fbd_numbers: dict[str, Any], name: str, metric: str
) -> None:
    found = {
        run["system"]: run["system_score"]
        for run in fbd_scores[name]["runs"]
        if run["metric"] == metric
    }
    expected = fbd_numbers[name]["metrics"][FBD_METRICS[metric]]["system_scores"]
    assert [found[f"system_{place}"] for place in range(len(expected))] == pytest.approx(
        expected, **EXACT
    )


@pytest.mark.parametrize("name", FBD_WITH_NUMBERS)
def test_fbd_system_correlations_with_each_human_aspect(
    site: Site, fbd_scores: dict[str, Any], fbd_numbers: dict[str, Any], name: str
) -> None:
    """Signed: the paper prints absolute values. Each aspect of the file, not only the overall
    one."""
    reference = fbd_numbers[name]
    asked = ["correlate", "--corpus", f"fbd-{name}", "--level", "system", "--resamples", "0"]
    documents = site.documents(
        *([*asked, "--aspect", aspect] for aspect in reference["human_dims"])
    )
    for aspect, found in zip(reference["human_dims"], documents, strict=True):
        assert found["aspect"] == aspect
        for ours, theirs in FBD_METRICS.items():
            numbers = reference["metrics"][theirs]
            expected = (
                numbers["corr_by_dim"][aspect]
                if "corr_by_dim" in numbers
                else numbers["corr_overall"]
            )
            row = one_row(found, ours, "system")
            assert row["n"] == reference["n_systems"]
            for coefficient, golden_name in COEFFICIENTS.items():
                assert row[coefficient]["value"] == pytest.approx(expected[golden_name], **EXACT)
                assert row[coefficient]["p"] == pytest.approx(
                    expected[f"{golden_name}_p"], rel=1e-6
                )
