"""``tables density``: the paper's figures, and beside them all that models trained here make,
gathered over seeds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.models import CorpusVersion
from tests.leaderboard.conftest import Rated
from tests.leaderboard.trained import (
    AS_PEOPLE,
    ENDS_SWAPPED,
    PLACES,
    TWO_SWAPPED,
    model_in,
    scored,
    submitted,
)
from workers.models import MetricRun
from workers.training.models import Training

pytestmark = pytest.mark.django_db
WITH, WITHOUT = "with L_CL", "without L_CL"


@pytest.fixture
def version(rated: Rated, home: Path) -> CorpusVersion:
    return rated(PLACES)


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str, form: str = "json", corpora: str = "dailydialog-zhao=small") -> Any:
        capsys.readouterr()
        call_command(
            "tables",
            "density",
            "--corpora",
            corpora,
            "--resamples",
            "20",
            *arguments,
            "--format",
            form,
        )
        printed = capsys.readouterr().out
        return json.loads(printed) if form == "json" else printed

    return run


def ours(
    document: dict[str, Any], number: str, metric: str, group: str = ""
) -> list[dict[str, Any]]:
    (found,) = [
        one for one in document["tables"] if one["number"] == number and one["corpus"] == "small"
    ]
    (row,) = [
        row for row in found["rows"] if row["metric"] == metric and group in ("", row["group"])
    ]
    return row["ours"]


def two_seeds(home: Path, version: CorpusVersion) -> None:
    """With L_CL the seeds reach 0.9 and 1, without it 1 and 0.9."""
    for seed, scores, plain in ((0, TWO_SWAPPED, AS_PEOPLE), (1, AS_PEOPLE, TWO_SWAPPED)):
        scored(
            version,
            f"density[trained={model_in(home, f'cl-{seed}', seed=seed, r_at_1=0.5 + seed / 10)}]",
            scores,
        )
        scored(
            version,
            f"density[trained={model_in(home, f'no-{seed}', seed=seed, contrastive='none')}]",
            plain,
        )


# --- ours beside theirs ---------------------------------------------------------------------------


def test_models_that_differ_by_their_seed_are_gathered(
    version: CorpusVersion, home: Path, table
) -> None:
    two_seeds(home, version)
    (group,) = ours(table(), "2", "Mahalanobis", WITH)
    assert group["pearson"] == {
        "value": pytest.approx(0.95),
        "lowest": pytest.approx(0.9),
        "highest": 1.0,
        "seeds": 2,
    }
    assert [(one["trained"], one["seed"], one["n"]) for one in group["scored"]] == [
        ("cl-0", 0, 5),
        ("cl-1", 1, 5),
    ]
    assert group["scored"][0]["pearson"]["value"] == pytest.approx(0.9)
    assert "corpus_version:" in group["scored"][0]["signature"]


def test_with_and_without_the_loss_are_two_rows_and_the_main_table_has_the_first(
    version: CorpusVersion, home: Path, table
) -> None:
    two_seeds(home, version)
    document = table()
    assert [one["of"] for one in ours(document, "2", "Mahalanobis", WITHOUT)] == ["no L_CL"]
    assert [one["of"] for one in ours(document, "1", "DEnsity")] == ["L_CL paper"]


def test_models_with_other_settings_stand_apart_and_say_in_what(
    version: CorpusVersion, home: Path, table
) -> None:
    for name, negatives in (("few", 7), ("many", 15)):
        scored(version, f"density[trained={model_in(home, name, negatives=negatives)}]", AS_PEOPLE)
    words = [one["of"] for one in ours(table(), "2", "Mahalanobis", WITH)]
    assert words == ["L_CL paper, negatives 15", "L_CL paper, negatives 7"]


def test_models_of_another_loss_are_not_density_s(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(version, f"density[trained={model_in(home, 'noise', objective='binary')}]", AS_PEOPLE)
    document = table()
    assert ours(document, "2", "Mahalanobis", WITH) == ours(document, "1", "DEnsity") == []
    assert [row["ours"] for row in document["selection"]] == [[], []]
    commands = [line["command"] for line in document["missing"]]
    assert any("usr_retrieval[trained=noise]" in command for command in commands)
    assert not any("density_classifier[trained=noise]" in command for command in commands)


def test_scores_submitted_under_a_row_s_name_stand_beside_it(version: CorpusVersion, table) -> None:
    submitted(version, "usl_h", TWO_SWAPPED)
    submitted(version, "usl", AS_PEOPLE)
    (group,) = ours(table(), "1", "USL-H")
    assert (group["metric"], group["of"]) == ("usl_h", "submitted")
    assert group["pearson"]["value"] == pytest.approx(0.9)
    (line,) = [one for one in table(form="table").splitlines() if one.split()[:1] == ["USL-H"]]
    assert "usl_h" in line


def test_the_published_figures_stand_beside(version: CorpusVersion, table) -> None:
    (found,) = [
        one for one in table()["tables"] if (one["number"], one["corpus"]) == ("2", "small")
    ]
    assert found["rows"][0]["published"] == [
        {
            "set": "DailyDialog-Zhao",
            "pearson": {"value": 0.5681, "significant": True},
            "spearman": {"value": 0.5703, "significant": True},
        }
    ]


def test_scores_of_some_of_the_systems_are_no_line(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(version, f"density[trained={model_in(home, 'cl-0')}]", {"echo": AS_PEOPLE["echo"]})
    assert ours(table(), "2", "Mahalanobis", WITH) == []


def test_what_was_not_scored_stands_beside(version: CorpusVersion, home: Path, table) -> None:
    scored(
        version,
        f"density[trained={model_in(home, 'cl-0')}]",
        {**AS_PEOPLE, "echo": [1.0, None, 3.0]},
    )
    (group,) = ours(table(), "2", "Mahalanobis", WITH)
    assert (group["scored"][0]["n"], group["scored"][0]["coverage"]) == (4, 0.8)
    assert "cl-0 (L_CL paper), 80 % scored" in table(form="table")
    assert "80 % of what people rated has a score, n = 4" in table(form="latex")


# --- the models -----------------------------------------------------------------------------------


def test_the_selection_models_stand_beside_table_5(
    version: CorpusVersion, home: Path, table
) -> None:
    two_seeds(home, version)
    plain, contrastive = table()["selection"]
    assert contrastive["published"]["DailyDialog"] == {"R@1": 0.9062, "MRR": 0.9396}
    (group,) = contrastive["ours"]
    assert (group["models"], group["candidates"]) == (["cl-0", "cl-1"], 8)
    assert group["R@1"] == {"value": pytest.approx(0.55), "lowest": 0.5, "highest": 0.6, "seeds": 2}
    assert [one["models"] for one in plain["ours"]] == [["no-0", "no-1"]]


def test_what_a_model_was_stands_in_the_document(version: CorpusVersion, home: Path, table) -> None:
    model_in(home, "cl-0", seed=4)
    (model,) = table()["models"]
    assert (model["seed"], model["data"], model["dialogues"], model["pairs"]) == (
        4,
        "daily v1",
        900,
        6000,
    )
    assert model["settings"]["encoder"] == "tiny@0f"
    assert (model["state"], model["fit"]["rank"]) == ("here", 383)
    assert (
        "Ours: tiny, trained on daily v1, 900 dialogues, negatives 7, epochs 2"
        in table()["notes"][0]
    )


@pytest.mark.parametrize(("rule", "learnt"), [("allow", {"small": 4}), ("leave out", {})])
def test_contexts_that_a_model_was_trained_on_are_told(
    version: CorpusVersion, home: Path, table, rule: str, learnt: dict[str, int]
) -> None:
    overlap = [{"corpus": "small", "contexts": 4}, {"corpus": "other", "contexts": 0}]
    model_in(home, "cl-0", about={"overlap rule": rule, "overlap": overlap})
    document = table()
    assert document["models"][0]["learnt"] == learnt
    assert (
        "cl-0 was trained on 4 of the contexts that small evaluates" in document["notes"][0]
    ) is bool(learnt)


def test_a_model_that_is_gone_is_told_by_its_training(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(version, "density[trained=lost]", AS_PEOPLE)
    Training.objects.create(
        name="lost", work="lost-1", recipe="density", chosen={"contrastive": "none"}, seed=3,
        revision="a1b2c3d4e5f6", data={"corpus": "daily", "version": "v1"},
        best={"step": 7, "figures": {"R@1": 0.4, "MRR": 0.5}},
    )  # fmt: skip
    document = table()
    (model,) = document["models"]
    assert (model["state"], model["seed"], model["figures"]["R@1"], model["pairs"]) == (
        "gone",
        3,
        0.4,
        None,
    )
    assert "is not here any more" in model["reason"]
    assert ours(document, "2", "Mahalanobis", WITHOUT)[0]["scored"][0]["trained"] == "lost"


def test_of_a_model_that_nothing_is_known_of_there_is_the_line_alone(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(version, "density[trained=lost]", AS_PEOPLE)
    document = table()
    assert (
        ours(document, "2", "Mahalanobis", WITH)
        == ours(document, "2", "Mahalanobis", WITHOUT)
        == []
    )
    assert ours(document, "1", "DEnsity")[0]["scored"][0]["trained"] == "lost"
    assert document["models"][0]["reason"].endswith("nothing else is known of it")


def test_another_model_of_the_name_did_not_make_the_scores(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(
        version,
        f"density[trained={model_in(home, 'cl-0', seed=5)}]",
        AS_PEOPLE,
        revision="0f0f0f0f0f0f",
    )
    models = {model["revision"]: model for model in table()["models"]}
    assert models["a1b2c3d4e5f6"]["seed"] == 5
    assert "did not make these scores" in models["0f0f0f0f0f0f"]["reason"]


def test_scores_by_models_that_had_the_name_in_turn_are_of_no_one_model(
    version: CorpusVersion, home: Path, table
) -> None:
    model_in(home, "cl-0")
    scored(version, "density[trained=cl-0]", {"echo": AS_PEOPLE["echo"]})
    scored(version, "density[trained=cl-0]", {"dull": AS_PEOPLE["dull"]}, revision="0f0f0f0f0f0f")
    assert [model["state"] for model in table()["models"] if model["revision"] == "several"] == [
        "another"
    ]


# --- is ours like theirs --------------------------------------------------------------------------


def test_findings_are_held_against_the_paper_s_seed_by_seed(
    version: CorpusVersion, home: Path, table
) -> None:
    two_seeds(home, version)
    found = {(one["claim"], one["coefficient"]): one for one in table()["findings"]}
    assert found["DEnsity with L_CL", "pearson"]["said"].startswith(
        "higher by .38"
    )  # 0.95 − 0.5681
    adds = found["what L_CL adds to it", "pearson"]
    assert adds["published"] == {"DailyDialog-Zhao": 0.1002}  # 0.5681 − 0.4679
    assert adds["ours"] == {  # 0.9 − 1 and 1 − 0.9
        "value": pytest.approx(0.0),
        "lowest": pytest.approx(-0.1),
        "highest": pytest.approx(0.1),
        "seeds": 2,
    }
    assert adds["said"] == "same direction: 1 of 2 seeds"


def test_scores_of_one_model_are_held_against_each_other(
    version: CorpusVersion, home: Path, table
) -> None:
    model_in(home, "cl-0")
    scored(version, "density[trained=cl-0]", TWO_SWAPPED)
    scored(version, "density_classifier[trained=cl-0]", ENDS_SWAPPED)
    found = {(one["claim"], one["coefficient"]): one for one in table()["findings"]}
    over = found["it over the classifier's", "pearson"]
    assert over["ours"]["value"] == pytest.approx(0.9 - -0.6)
    assert over["said"] == "same direction"
    assert found["it over the Euclidean score", "pearson"]["said"] == "not computed"


# --- what is missing ------------------------------------------------------------------------------


def test_what_is_missing_has_the_next_command(version: CorpusVersion, home: Path, table) -> None:
    lines = table()["missing"]
    by_corpus = {line["corpus"]: line for line in lines if line["command"]}
    assert (
        by_corpus["usr-persona"]["command"]
        == "manage.py import_corpus usr pc_usr_data.json --slug usr-persona"
    )
    assert by_corpus["grade-dailydialog"]["command"].endswith(
        "import_corpus grade-files grade --slug grade"
    )
    assert any("train a model first: manage.py train density" in line["reason"] for line in lines)


def test_the_next_command_counts_words_as_the_paper(
    version: CorpusVersion, home: Path, table
) -> None:
    (line,) = [line for line in table()["missing"] if line["corpus"] == "small" and line["command"]]
    assert "rouge_l[normalize=false,stem=true,tokenize=rouge-score]" in line["command"]
    assert "bleu_2[lowercase=true,normalize=false,smooth=none,tokenize=parlai]" in line["command"]
    assert "meteor[normalize=false,tokenize=parlai]" in line["command"]


def test_models_that_were_not_scored_are_named_in_the_next_command(
    version: CorpusVersion, home: Path, table
) -> None:
    scored(version, f"density[trained={model_in(home, 'cl-0')}]", AS_PEOPLE)
    (line,) = [line for line in table()["missing"] if line["corpus"] == "small" and line["command"]]
    assert "density_euclidean[trained=cl-0]" in line["command"]
    assert "density[trained=cl-0]" not in line["command"]


def test_seeds_and_their_mean_are_compared_with_each_printed_figure(
    version: CorpusVersion, home: Path, table
) -> None:
    """Two coefficients in two rows of Table 2 and one of Table 1: .9, .95 and 1 are none of its
    figures."""
    two_seeds(home, version)
    assert table()["agreement"] == {"printed": 174, "figures": 6, "same": 0}


def test_corpora_and_the_aspect_can_be_chosen(version: CorpusVersion, home: Path, table) -> None:
    document = table("--corpus", "dailydialog-zhao", "--aspect", "Overall")
    assert [one["corpus"] for one in document["corpora"]] == ["small"]
    assert document["corpora"][0]["aspect"] == "overall"
    with pytest.raises(CommandError, match="no corpus of the tables was rated by tone"):
        table("--aspect", "tone")


def test_bad_options_are_refused(version: CorpusVersion, table) -> None:
    with pytest.raises(CommandError, match="the paper has no corpus dailyz; it has: convai2-grade"):
        table(corpora="dailyz=small")
    with pytest.raises(CommandError, match="--model is not for density"):
        table("--model", "x")
    with pytest.raises(CommandError, match="no corpus of the tables has a system 'x'"):
        table("--exclude", "x")


def test_systems_can_be_left_out(version: CorpusVersion, home: Path, table) -> None:
    """Of the five rated responses three are of the other system."""
    scored(version, f"density[trained={model_in(home, 'cl-0')}]", AS_PEOPLE)
    document = table("--exclude", "dull")
    (group,) = ours(document, "1", "DEnsity")
    assert group["scored"][0]["n"] == 3
    assert "systems:all" not in group["scored"][0]["signature"]
    assert ["echo"] in [one.get("systems") for one in document["corpora"]]


# --- how it is printed ----------------------------------------------------------------------------


def test_as_text_the_mean_stands_above_its_seeds(version: CorpusVersion, home: Path, table) -> None:
    two_seeds(home, version)
    printed = table(form="table").splitlines()
    (place,) = [
        place
        for place, line in enumerate(printed)
        if "2 seeds: L_CL paper" in line and ".950  .900" in line
    ][1:]
    assert "cl-0 (seed 0)" in printed[place + 1]
    assert "cl-1 (seed 1)" in printed[place + 2]
    head = printed.index("Is ours like theirs? small (L_CL paper)")
    assert printed[0].startswith("Of 174 printed figures ")
    assert "The paper's models: bert-base-uncased" in printed[printed.index("") + 1]
    assert "Ours: tiny, trained on daily v1" in " ".join(printed[:head])


def test_as_csv_each_figure_has_a_line(version: CorpusVersion, home: Path, table) -> None:
    two_seeds(home, version)
    rows = list(csv.DictReader(io.StringIO(table(form="csv"))))
    zhao = [row for row in rows if (row["table"], row["corpus"]) == ("2", "small")]
    assert [row["source"] for row in zhao][:4] == [
        "published, DailyDialog-Zhao",
        "mean of 2 seeds",
        "density[trained=cl-0]",
        "density[trained=cl-1]",
    ]
    assert (zhao[0]["pearson"], zhao[0]["pearson_significant"]) == ("0.5681", "true")
    assert float(zhao[1]["pearson_lowest"]) == pytest.approx(0.9)
    assert (zhao[2]["metric"], zhao[2]["trained"], zhao[2]["seed"]) == ("Mahalanobis", "cl-0", "0")
    selection = [row for row in rows if row["table"] == "5"]
    assert (selection[0]["source"], selection[0]["R@1"]) == ("published, DailyDialog", "0.888")


def test_as_latex_each_table_is_whole(version: CorpusVersion, home: Path, table) -> None:
    two_seeds(home, version)
    printed = table(form="latex")
    # 4 sets, 2, 1 and Table 5
    assert printed.count(r"\begin{tabular}") == printed.count(r"\end{tabular}") == 8
    assert r"Mahalanobis & 0.568 & 0.570" in printed
    assert r"2 seeds: L\_CL paper & 0.950 {\scriptsize (0.900 to 1.000)} &" in printed


def test_without_any_score_all_of_the_paper_stands_there(db: None, home: Path, table) -> None:
    printed = table(form="table", corpora="fed=nowhere")
    assert printed.count("Table ") == 8
    assert "there is no trained model" in printed
    assert MetricRun.objects.count() == 0
