"""``tables cpdscore``: what ComperDial's paper prints, and beneath each row all that is computed of
it here."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.reproduction import cpdscore
from leaderboard.reproduction.published import Table, paper
from tests.leaderboard.conftest import Rated
from tests.leaderboard.trained import TWO_SWAPPED, submitted
from workers.metrics.common.configuration import parse
from workers.models import MetricRun

PRINTED = paper("comperdial").tables
PLACES = {
    ("d0", 0, "echo"): (1, 1),
    ("d0", 1, "echo"): (2, 3),
    ("d1", 0, "echo"): (3, 2),
    ("d0", 0, "dull"): (4, 4),
    ("d1", 0, "dull"): (5, 5),
}
"""Human scores 1 to 5, lengths 1, 3, 2, 4, 5: Σd² = 0 + 1 + 1 + 0 + 0 = 2, so ρ = 1 − 6 · 2 / (5 ·
24) = 0.9; the deviations' products are 4 + 0 + 0 + 1 + 4 + …: (−2·−2) + (−1·0) + (0·−1) + 1 + 4 = 9
of 10, so r = 0.9."""
OF_DIALOGUES = {("d0", "echo"): 1.0, ("d1", "echo"): 2.0, ("d0", "dull"): 4.0, ("d1", "dull"): 5.0}


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str, form: str = "json", corpus: str = "comperdial") -> Any:
        capsys.readouterr()
        chosen = ["--corpora", f"{corpus}=small"] if corpus else []
        call_command(
            "tables", "cpdscore", *chosen, "--resamples", "20", *arguments, "--format", form
        )
        printed = capsys.readouterr().out
        return json.loads(printed) if form == "json" else printed

    return run


@pytest.fixture
def length_for_bleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cpdscore.OURS, "BLEU", "length")


def judged(
    version: CorpusVersion,
    configuration: str,
    scores: dict[str, list[float | None]],
    model: str = "",
) -> None:
    """As if a judge had scored each system's turns."""
    chosen = parse(configuration)
    for name, of_turns in scores.items():
        MetricRun.objects.create(
            system=version.systems.get(name=name),
            metric=chosen.metric.name,
            metric_version=chosen.metric.version,
            configuration=chosen.text,
            queue="llm",
            state=MetricRun.State.DONE,
            finished_at=timezone.now(),
            signature=chosen.signature(),
            model=model,
            turn_scores=of_turns,
            undefined={
                str(place): "unread" for place, score in enumerate(of_turns) if score is None
            },
            system_score=1.0,
        )


THREE_TURNS = {"echo": [1.0, 2.0, 3.0], "dull": [4.0, None, 5.0]}
"""As people scored them; nobody scored dull's second answer, for it gave none."""


def row_of(document: dict[str, Any], number: str, metric: str) -> dict[str, Any]:
    tables = [
        one
        for one in document["tables"]
        if one["number"] == number and not one["title"].startswith("As ")
    ]
    (table,) = tables
    (row,) = [row for row in table["rows"] if row["metric"] == metric]
    return row


# --- what the paper prints ------------------------------------------------------------------------


def test_every_row_has_a_figure_for_every_column() -> None:
    for table in cpdscore.TABLES:
        assert {len(row.figures) for row in table.rows} == {
            len(table.columns) * len(table.statistics)
        }, table.number
        assert all(-1 < figure.value < 1 for row in table.rows for figure in row.figures.values())


def test_the_tables_have_the_paper_s_rows() -> None:
    counted = {table.number: Counter(row.model for row in table.rows) for table in cpdscore.TABLES}
    assert counted == {
        "4": {"": 9, "GPT-3.5": 4, "GPT-4": 4},
        "5": {"": 10, "GPT-3.5": 6, "GPT-4": 6},
        "6": {"": 7, "GPT-3.5": 4, "GPT-4": 4},
        "3": {"GPT-3.5": 6, "GPT-4": 6},
    }


@pytest.mark.parametrize(
    ("table", "metric", "model", "figures"),
    [
        (PRINTED["4"], "FED engaging", "", "-0.009* 0.043 0.030 0.569 0.585 0.470"),
        (PRINTED["4"], "CPDS-D w/o ref", "GPT-4", "0.714 0.712 0.583 0.943 0.928 0.799"),
        (PRINTED["5"], "Human", "", "0.855 0.827 0.676 0.963 0.968 0.869"),
        (PRINTED["5"], "ROUGE", "", "0.165 0.090 0.061 0.414 0.071* 0.039*"),
        (
            PRINTED["5"],
            "CPDS-Dial, intermediate score",
            "GPT-3.5",
            "0.664 0.658 0.506 0.779 0.868 0.710",
        ),
        (PRINTED["6"], "CPDS-S w/o ref", "GPT-4", "0.663 0.661 0.693 0.681"),
        (PRINTED["3"], "Original detail", "GPT-4", "0.256 0.237 0.191 0.806 0.674 0.535"),
    ],
)
def test_published_figures_stand_where_the_paper_has_them(
    table: Table, metric: str, model: str, figures: str
) -> None:
    (row,) = [row for row in table.rows if (row.metric, row.model) == (metric, model)]
    assert (
        " ".join(f"{one.value:.3f}{'' if one.significant else '*'}" for one in row.figures.values())
        == figures
    )


def test_averaging_three_calls_is_never_worse_in_what_the_paper_prints() -> None:
    """Its section 6.2 says so of the turn level; a slip of a digit would break it."""
    once = {
        (row.metric, row.model): row for row in PRINTED["3"].rows if row.metric.startswith("CPDS")
    }
    thrice = {(row.metric, row.model): row for row in PRINTED["4"].rows if row.model}
    assert once.keys() == thrice.keys()
    for key, row in once.items():
        column = ("comperdial turn", "pearson")
        assert row.figures[column].value < thrice[key].figures[column].value, key


def test_every_row_has_a_metric_here_or_is_known_to_have_none() -> None:
    rows = {row.metric for table in cpdscore.TABLES for row in table.rows}
    assert rows - set(cpdscore.OURS) == {"Human", "RADE", "GRADE", "USR", "USL-H"}
    assert [parse(name).metric.name for name in cpdscore.OURS.values()] == [*cpdscore.OURS.values()]


# --- ours beside it -------------------------------------------------------------------------------

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("length_for_bleu")
def test_ours_stand_beneath_the_published_figures(rated: Rated, table) -> None:
    version = rated(PLACES)
    row = row_of(table(), "4", "BLEU")
    assert row["published"][0]["cells"][0]["pearson"] == {"value": 0.104, "significant": True}
    (ours,) = row["ours"]
    turn, system = ours["cells"]
    assert (ours["configuration"], turn["level"], system["level"]) == ("length", "turn", "system")
    assert (turn["n"], turn["coverage"]) == (5, 1.0)
    assert turn["pearson"]["value"] == pytest.approx(0.9)
    assert turn["spearman"]["value"] == pytest.approx(0.9)
    assert f"corpus_version:{version.label}" in turn["signature"]
    assert "1 or −1" in turn["pearson"]["ci_reason"]  # four of the five points lie on a line


def test_every_finished_configuration_of_a_row_s_metric_stands_there(rated: Rated, table) -> None:
    version = rated(PLACES)
    judged(version, "cpdscore_detail", THREE_TURNS, "smollm2-135m-instruct@f8a1")
    judged(version, "cpdscore_detail[model=gpt-4o,samples=3,scoring=answer]", THREE_TURNS, "gpt-4o")
    ours = row_of(table(), "4", "CPDS-D w/o ref")["ours"]
    assert [(one["configuration"], one["models"]) for one in ours] == [
        ("cpdscore_detail", ["smollm2-135m-instruct@f8a1"]),
        ("cpdscore_detail[model=gpt-4o,samples=3,scoring=answer]", ["gpt-4o"]),
    ]
    assert ours[0]["cells"][0]["pearson"]["value"] == pytest.approx(1.0)


def test_the_table_of_single_calls_has_no_averages(rated: Rated, table) -> None:
    version = rated(PLACES)
    judged(version, "cpdscore_detail[scoring=answer]", THREE_TURNS)
    judged(version, "cpdscore_detail[samples=3,scoring=answer]", THREE_TURNS)
    ours = row_of(table(), "3", "CPDS-D w/o ref")["ours"]
    assert [one["configuration"] for one in ours] == ["cpdscore_detail[scoring=answer]"]


def test_a_judge_can_be_chosen_and_other_metrics_stay(
    rated: Rated, table, length_for_bleu: None
) -> None:
    version = rated(PLACES)
    judged(version, "cpdscore_detail", THREE_TURNS)
    judged(version, "cpdscore_detail[model=gpt-4o]", THREE_TURNS)
    document = table("--model", "gpt-4o")
    ours = row_of(document, "4", "CPDS-D w/o ref")["ours"]
    assert [one["configuration"] for one in ours] == ["cpdscore_detail[model=gpt-4o]"]
    assert row_of(document, "4", "BLEU")["ours"]


def test_scores_of_some_of_the_systems_are_no_row(rated: Rated, table) -> None:
    version = rated(PLACES)
    judged(version, "cpdscore_detail", {"echo": [1.0, 2.0, 3.0]})
    document = table()
    assert row_of(document, "4", "CPDS-D w/o ref")["ours"] == []
    assert "cpdscore_detail" in next(
        line["command"] for line in document["missing"] if "not computed" in line["reason"]
    )


def test_runs_of_an_older_version_of_the_metric_are_no_row(rated: Rated, table) -> None:
    judged(rated(PLACES), "cpdscore_detail", THREE_TURNS)
    MetricRun.objects.filter(metric="cpdscore_detail").update(metric_version="0")
    assert row_of(table(), "4", "CPDS-D w/o ref")["ours"] == []


def test_what_was_not_scored_stands_beside_the_figures(rated: Rated, table) -> None:
    judged(rated(PLACES), "cpdscore_detail", {"echo": [1.0, None, 3.0], "dull": [4.0, None, 5.0]})
    (ours,) = row_of(table(), "4", "CPDS-D w/o ref")["ours"]
    assert (ours["cells"][0]["n"], ours["cells"][0]["coverage"]) == (4, 0.8)
    assert "4 (80 % scored)" in table(form="table")
    assert "80 % of what people rated has a score, n = 4" in table(form="latex")


def test_a_judge_of_the_project_s_users_has_a_row_of_its_own(rated: Rated, table) -> None:
    judged(rated(PLACES), "judge[prompt=kind@1]", THREE_TURNS)
    row = row_of(table(), "4", "Own judges")
    assert (row["published"], [one["configuration"] for one in row["ours"]]) == (
        [],
        ["judge[prompt=kind@1]"],
    )


def test_two_scores_of_one_dialogue_prompt_stand_in_two_rows(rated: Rated, table) -> None:
    version = rated(PLACES, OF_DIALOGUES)
    for report in ("final", "overall_turn", "interaction"):
        judged(version, f"cpdscore_dialogue[report={report}]", {"echo": [], "dull": []})
    scores = {"echo": [1.0, 2.0], "dull": [4.0, 5.0]}
    for run in MetricRun.objects.filter(metric="cpdscore_dialogue"):
        run.dialogue_scores = scores[run.system.name]
        run.save()
    document = table()
    found = {
        metric: [one["configuration"] for one in row_of(document, "5", metric)["ours"]]
        for metric in ("CPDS-Dial", "CPDS-Dial, intermediate score", "CPDS-Dial, interaction score")
    }
    default = parse("cpdscore_dialogue").options["report"]
    assert default == "final"
    assert found == {
        "CPDS-Dial": ["cpdscore_dialogue"],
        "CPDS-Dial, intermediate score": ["cpdscore_dialogue[report=overall_turn]"],
        "CPDS-Dial, interaction score": ["cpdscore_dialogue[report=interaction]"],
    }
    (ours,) = row_of(document, "5", "CPDS-Dial")["ours"]
    assert ours["cells"][0]["pearson"]["value"] == pytest.approx(1.0)


@pytest.mark.usefixtures("length_for_bleu")
def test_table_5_holds_metrics_against_ratings_of_dialogues_alone(rated: Rated, table) -> None:
    """Mean lengths: echo 2, 2, dull 4, 5; people's dialogues 1, 2, 4, 5: deviations −2, −1, 1, 2
    and −1.25, −1.25, .75, 1.75, products 2.5 + 1.25 + .75 + 3.5 = 8, over √(10 · 6.75)."""
    rated(PLACES, OF_DIALOGUES)
    (ours,) = row_of(table(), "5", "BLEU")["ours"]
    dialogue, system = ours["cells"]
    assert dialogue["pearson"]["value"] == pytest.approx(8 / 67.5**0.5)
    assert (dialogue["n"], system["n"]) == (4, 2)


def test_people_who_rate_turns_stand_beside_people_who_rate_dialogues(rated: Rated, table) -> None:
    """Turn means 1.5, 3, 4, 5 against 1, 2, 4, 5: products of deviations −1.875·−2, −.375·−1,
    .625·1, 1.625·2 make 8, over √(6.6875 · 10)."""
    rated(PLACES, OF_DIALOGUES)
    (ours,) = row_of(table(), "5", "Human")["ours"]
    assert ours["configuration"] == "people, turn by turn"
    assert ours["cells"][0]["pearson"]["value"] == pytest.approx(8 / 66.875**0.5)


def test_without_ratings_of_dialogues_table_5_says_so(rated: Rated, table) -> None:
    judged(rated(PLACES), "cpdscore_detail", THREE_TURNS)
    document = table()
    assert row_of(document, "5", "CPDS-D w/o ref")["ours"] == []
    assert "nobody rated dialogues of small" in table(form="table")


@pytest.mark.usefixtures("length_for_bleu")
def test_a_corpus_that_the_paper_does_not_know_has_the_same_layout_of_its_own(
    rated: Rated, table
) -> None:
    judged(rated(PLACES), "cpdscore_detail", THREE_TURNS)
    document = table(corpus="")
    (extra,) = [one for one in document["tables"] if one["title"].startswith("As ")]
    assert (extra["number"], extra["places"][0]["corpus"]) == ("4", "small")
    assert [row["metric"] for row in extra["rows"]] == ["BLEU", "CPDS-D w/o ref"]
    assert all(row["published"] == [] for row in extra["rows"])


def test_scores_submitted_under_a_row_s_name_stand_beneath_it(rated: Rated, table) -> None:
    submitted(rated(PLACES), "rade", TWO_SWAPPED)
    (ours,) = row_of(table(corpus="usr-persona"), "6", "RADE")["ours"]
    assert ours["configuration"] == "rade"
    (cell,) = [one for one in ours["cells"] if one["corpus"] == "small"]
    assert cell["pearson"]["value"] == pytest.approx(0.9)


def test_systems_can_be_left_out(rated: Rated, table, length_for_bleu: None) -> None:
    rated(PLACES)
    (ours,) = row_of(table("--exclude", "dull"), "4", "BLEU")["ours"]
    assert ours["cells"][0]["n"] == 3


def test_a_system_that_is_nowhere_cannot_be_left_out(rated: Rated, table) -> None:
    rated(PLACES)
    with pytest.raises(CommandError, match="has a system 'nobody'"):
        table("--exclude", "nobody")


def test_the_paper_s_corpora_are_named(rated: Rated, table) -> None:
    rated(PLACES)
    with pytest.raises(
        CommandError,
        match="the paper has no corpus daily; it has: comperdial, usr-persona, usr-topical",
    ):
        table("--corpora", "daily=small")


# --- nothing here ---------------------------------------------------------------------------------


def test_on_an_empty_site_the_published_tables_stand_alone(
    table, capsys: pytest.CaptureFixture[str]
) -> None:
    document = table(corpus="")
    assert [one["number"] for one in document["tables"]] == ["4", "5", "6", "3"]
    assert all(
        row["published"] and not row["ours"] for one in document["tables"] for row in one["rows"]
    )
    assert {line["corpus"] for line in document["missing"]} == {
        "comperdial",
        "usr-topical",
        "usr-persona",
    }
    assert all(
        line["command"].startswith("manage.py import_corpus") for line in document["missing"]
    )


def test_the_printed_table_has_the_paper_s_stars(table) -> None:
    lines = table(form="table", corpus="").splitlines()
    assert lines[0] == "None of the 366 printed figures has one of ours beside it."
    lines = lines[2:]
    assert lines[0].startswith("Table 4. ComperDial: turn-level scores")
    assert lines[1].split() == [
        "metric",
        "source",
        "model",
        "turn",
        "r",
        "ρ",
        "τ",
        "n",
        "system",
        "r",
        "ρ",
        "τ",
        "n",
    ]
    f1 = next(line for line in lines if line.startswith("F1 "))
    assert f1.split() == ["F1", "published", "0.196", "0.185", "0.132", "0.584", "0.120*", "0.078*"]


def test_the_csv_has_a_line_for_each_place_with_what_belongs_to_it(rated: Rated, table) -> None:
    judged(rated(PLACES), "cpdscore_detail", THREE_TURNS, "smollm2-135m-instruct@f8a1")
    lines = list(csv.DictReader(io.StringIO(table(form="csv"))))
    found = [line for line in lines if (line["table"], line["metric"]) == ("4", "CPDS-D w/o ref")]
    assert [(line["source"], line["model"], line["level"]) for line in found] == [
        *(("published", "GPT-3.5", level) for level in ("turn", "system")),
        *(("published", "GPT-4", level) for level in ("turn", "system")),
        *(("cpdscore_detail", "smollm2-135m-instruct", level) for level in ("turn", "system")),
    ]
    ours = found[4]
    assert (ours["n"], ours["coverage"], ours["pearson"]) == ("5", "1.0", "1.0")
    assert ours["signature"].startswith("metric:cpdscore_detail")


def test_what_the_judge_is_worth_is_said(
    rated: Rated, table, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(rated(PLACES), "cpdscore_detail", THREE_TURNS)
    (said,) = table()["worth"]
    assert said["configurations"] == ["cpdscore_detail"]
    assert "weak judge" in said["worth"]
    assert table("--model", "gpt-4o")["worth"] == []


@pytest.mark.usefixtures("length_for_bleu")
def test_figures_that_are_the_paper_s_are_counted_above_the_tables(rated: Rated, table) -> None:
    """Of turns r = ρ = .9 and τ = .8, of two systems nothing: six figures of Table 4's row BLEU
    stand beside ours, and none of its .104, .159 and .113 is one of them."""
    rated(PLACES)
    document = table("--corpus", "comperdial")
    assert document["agreement"]["printed"] == 102 + 132 + 72
    assert (document["agreement"]["figures"], document["agreement"]["same"]) == (3, 0)
    assert [one["key"] for one in document["corpora"]] == ["comperdial"]
    assert "0 of these agree to the paper's digits. Why others differ: Judges" in " ".join(
        table("--corpus", "comperdial", form="table").split()
    )


def test_another_aspect_of_the_human_scores_can_be_chosen(rated: Rated, table) -> None:
    rated(PLACES)
    with pytest.raises(CommandError, match="no corpus of the tables was rated by tone"):
        table("--aspect", "tone")
