"""``tables fbd``: what the paper prints, ours beside it, and what is said of what is missing."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from leaderboard.reproduction import fbd as table_queries
from leaderboard.reproduction.fbd import CORRELATIONS, FINE_GRAINED, PAPER
from leaderboard.reproduction.output import fbd_figures
from leaderboard.reproduction.published import Figure, Row, Table
from tests.leaderboard.conftest import Rated, odd_metrics  # noqa: F401 (a fixture)
from tests.leaderboard.trained import submitted
from workers.metrics.common.configuration import parse
from workers.metrics.common.tokenisation import AS_PUBLISHED
from workers.models import MetricRun

pytestmark = pytest.mark.django_db

SYSTEMS = {("d0", 0, "echo"): (1, 1), ("d0", 0, "dull"): (2, 2), ("d0", 0, "long"): (3, 4)}
"""Human scores 1, 2, 3 and lengths 1, 2, 4: ρ = 1; deviations ∓1, 0 and −4/3, −1/3, 5/3, so r = 3 /
√(2 · 42/9)."""
FALLING = {place: (4 - human, length) for place, (human, length) in SYSTEMS.items()}


OURS = dict(table_queries.OURS)
BERT, ROBERTA = "BERT (base)", "RoBERTa (base)"


@pytest.fixture(autouse=True)
def two_metrics(odd_metrics: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """``length`` stands where BLEU does, and everywhere else a metric that nobody computed."""
    ours = {row.metric: "constant" for row in CORRELATIONS.rows} | {"BLEU": "length"}
    monkeypatch.setattr(table_queries, "OURS", ours)


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str, form: str = "json") -> Any:
        capsys.readouterr()
        call_command(
            "tables",
            "fbd",
            "--corpora",
            "personam=small",
            "--resamples",
            "50",
            *arguments,
            "--format",
            form,
        )
        printed = capsys.readouterr().out
        return json.loads(printed) if form == "json" else printed

    return run


def cell_of(document: dict[str, Any], metric: str, place: int) -> dict[str, Any]:
    (row,) = [row for row in document["rows"] if row["metric"] == metric]
    return row["cells"][place]


# --- what the paper prints ------------------------------------------------------------------------


def row_of(table: Table, metric: str, encoder: str) -> Row:
    (row,) = [one for one in table.rows if (one.metric, one.model) == (metric, encoder)]
    return row


def pair_of(row: Row, column: str) -> tuple[float, ...]:
    return tuple(figure.value for figure in row.of_column(column).values())


def test_every_published_figure_is_a_correlation_of_one_of_six_corpora() -> None:
    # Six rows without an encoder; BERTScore, FBD and PRD with two each
    assert len(CORRELATIONS.rows) == 6 + 2 * 3
    figures = [one for row in CORRELATIONS.rows for one in row.figures.values()]
    assert len(figures) == 12 * 6 * 2
    assert all(0 <= figure.value <= 1 and figure.digits == 3 for figure in figures)


@pytest.mark.parametrize(
    ("metric", "encoder", "corpus", "pair"),
    [
        ("BLEU", "", "personam", (0.400, 0.672)),
        ("METEOR", "", "dailyh", (0.018, 0.050)),
        ("ROUGE-L", "", "convai2", (0.200, 0.061)),
        ("Extrema", "", "dailyz", (0.595, 0.746)),
        ("BERTScore", BERT, "empathetic", (0.300, 0.077)),
        ("FBD", ROBERTA, "dailyh", (0.891, 0.926)),
        ("PRD", BERT, "personaz", (0.900, 0.984)),
    ],
)
def test_published_figures_stand_where_the_paper_has_them(
    metric: str, encoder: str, corpus: str, pair: tuple[float, float]
) -> None:
    assert pair_of(row_of(CORRELATIONS, metric, encoder), corpus) == pair


def test_a_rank_correlation_is_one_that_so_many_systems_can_have() -> None:
    """With n systems and no ties ρ = 1 − 6 Σd² / (n(n² − 1)), and Σd² is even: a multiple of 12 /
    (n(n² − 1))."""
    # N = 4, 8, 5: n(n² − 1) / 6 = 10, 84, 20
    for corpus, step in {"personam": 10, "dailyz": 84, "personaz": 20}.items():
        for row in CORRELATIONS.rows:
            sum_of_squares = (1 - row.figures[corpus, "spearman"].value) * step
            assert abs(sum_of_squares - round(sum_of_squares / 2) * 2) < 0.06, (corpus, row.metric)


@pytest.mark.parametrize("row", OURS)
def test_a_row_of_the_paper_takes_texts_as_they_are(row: str) -> None:
    """The paper's code folds no quotes; two of its corpora have curly ones."""
    options = parse(OURS[row]).options
    as_published = options.get("tokenize") in AS_PUBLISHED
    assert as_published or options.get("unicode", "none") == "none"


# --- ours beside it -------------------------------------------------------------------------------


def test_a_cell_holds_the_published_figures_and_ours(rated: Rated, table) -> None:
    version = rated(SYSTEMS)
    cell = cell_of(table(), "BLEU", 0)
    assert cell["published"] == [{"encoder": None, "spearman": 0.4, "pearson": 0.672}]
    assert cell["spearman"]["value"] == pytest.approx(1.0)
    assert cell["pearson"]["value"] == pytest.approx(0.98198, abs=1e-5)
    assert cell["n"] == 3
    assert f"corpus_version:{version.label}" in cell["signature"]


def test_a_value_against_the_metric_s_direction_is_absolute_and_marked(rated: Rated, table) -> None:
    rated(FALLING)
    estimate = cell_of(table(), "BLEU", 0)["spearman"]
    assert (estimate["value"], estimate["absolute"]) == (pytest.approx(-1.0), pytest.approx(1.0))
    assert estimate["against_direction"]
    assert "1.00†" in table(form="table")
    assert r"1.00$^\dagger$" in table(form="latex")


def test_a_distance_that_falls_where_people_are_content_is_not_marked(
    rated: Rated, table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated(FALLING)
    monkeypatch.setattr(type(parse("length")), "higher_is_better", property(lambda self: False))
    estimate = cell_of(table(), "BLEU", 0)["spearman"]
    assert estimate["value"] == pytest.approx(-1.0)
    assert not estimate["against_direction"]


def test_the_table_has_the_paper_s_corpora_and_rows_in_its_order(rated: Rated, table) -> None:
    rated(SYSTEMS)
    lines = table(form="table").splitlines()
    assert lines[0].startswith("Of 144 printed figures 2 have ours beside them; 0 of these agree")
    lines = lines[lines.index("") + 1 :]
    assert lines[0].split() == ["metric", "source", *(corpus.title for corpus in PAPER.corpora)]
    assert [line.split()[0] for line in lines[3:30]] == [
        *("BLEU", "BLEU", "METEOR", "METEOR", "ROUGE-L", "ROUGE-L"),
        *("Greedy", "Greedy", "Average", "Average", "Extrema", "Extrema"),
        *("BERTScore", "BERTScore", "BERTScore", "FBD", "FBD", "FBD", "PRD", "PRD", "PRD"),
        *(line.split()[0] for line in lines[24:30]),
    ]
    assert lines[3].split() == [
        "BLEU",
        "published",
        *(
            ".400",
            ".672",
            ".445",
            ".444",
            ".800",
            ".801",
            ".136",
            ".331",
            ".595",
            ".421",
            ".400",
            ".390",
        ),
    ]
    assert lines[4].split() == ["BLEU", "dialeval", "1.00", ".982", *["–"] * 10]


def test_the_csv_has_a_line_for_each_figure_with_its_source(rated: Rated, table) -> None:
    rated(SYSTEMS)
    lines = list(csv.DictReader(io.StringIO(table(form="csv"))))
    of_bleu = [line for line in lines if (line["metric"], line["corpus"]) == ("BLEU", "small")]
    assert [
        (line["source"], line["spearman"], line["pearson_absolute"][:5]) for line in of_bleu
    ] == [
        ("published", "", "0.672"),
        ("length", "1.0", "0.981"),
    ]
    assert len(lines) == 6 * (12 + 9)  # corpora × (published rows + ours)


def test_other_configurations_of_a_row_s_metric_stand_beneath_it(
    rated: Rated, table, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = "response_length[tokenize=char]", "response_length[normalize=false,tokenize=char]"
    rated(SYSTEMS, metrics=f"{own},{other}")
    monkeypatch.setitem(table_queries.OURS, "BLEU", own)
    first, second, *_ = table()["rows"]
    assert (first["configuration"], second["configuration"]) == (own, other)
    assert second["cells"][0]["published"] == []
    assert second["cells"][0]["spearman"]["value"] == pytest.approx(1.0)
    assert ["BLEU", other, "1.00"] in [
        line.split()[:3] for line in table(form="table").splitlines()
    ]


def test_figures_that_are_the_paper_s_to_its_digits_are_counted(
    rated: Rated, table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ρ = 1, r = .98198: of a row with 1.000 and .981 the first alone is the paper's."""
    rated(SYSTEMS)
    bleu, *others = CORRELATIONS.rows
    figures = {
        **bleu.figures,
        ("personam", "spearman"): Figure(1.0, 3),
        ("personam", "pearson"): Figure(0.981, 3),
    }
    rows = (replace(bleu, figures=figures), *others)
    monkeypatch.setattr(table_queries, "CORRELATIONS", replace(CORRELATIONS, rows=rows))
    assert table()["agreement"] == {"printed": 144, "figures": 2, "same": 1}


def test_each_requested_encoder_has_a_line(monkeypatch: pytest.MonkeyPatch, table) -> None:
    monkeypatch.setitem(table_queries.OURS, "FBD", "fbd")
    rows = [row for row in table("--model", "some/one,some/two")["rows"] if row["metric"] == "FBD"]
    assert [row["configuration"] for row in rows] == ["fbd[model=some/one]", "fbd[model=some/two]"]
    assert [len(row["cells"][0]["published"]) for row in rows] == [2, 0]


def test_scores_submitted_under_a_row_s_name_stand_beneath_it(rated: Rated, table) -> None:
    submitted(rated(SYSTEMS), "rouge_l", {"echo": [1.0], "dull": [2.0], "long": [3.0]})
    own, other = [row for row in table()["rows"] if row["metric"] == "ROUGE-L"]
    assert (own["configuration"], other["configuration"]) == (
        "constant",
        "rouge_l (submitted)",
    )
    assert other["cells"][0]["spearman"]["value"] == pytest.approx(1.0)
    assert other["cells"][1]["spearman"]["reason"] == "there is no corpus dailyh"


def test_systems_can_be_left_out(rated: Rated, table) -> None:
    """Of three the lowest: 2, 3 against 2, 4 rise alike."""
    rated(SYSTEMS)
    cell = cell_of(table("--exclude", "echo"), "BLEU", 0)
    assert cell["n"] == 2
    assert "systems:all" not in cell["signature"]


def test_corpora_can_be_chosen(rated: Rated, table) -> None:
    rated(SYSTEMS)
    document = table("--corpus", "personam")
    assert [one["corpus"] for one in document["corpora"]] == ["small"]
    assert document["agreement"]["printed"] == 12 * 2


# --- by aspect, and the figures -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "encoder", "aspect", "pair"),
    [
        ("BLEU", "", "relevance", (0.857, 0.454)),
        ("Extrema", "", "grammar", (0.143, 0.009)),
        ("FBD", ROBERTA, "content", (0.524, 0.839)),
        ("PRD", BERT, "overall", (0.690, 0.914)),
    ],
)
def test_fine_grained_figures_stand_where_the_paper_has_them(
    metric: str, encoder: str, aspect: str, pair: tuple[float, float]
) -> None:
    assert pair_of(row_of(FINE_GRAINED, metric, encoder), aspect) == pair


def test_the_overall_aspect_is_daily_z_s_column() -> None:
    for row in FINE_GRAINED.rows:
        of_corpora = row_of(CORRELATIONS, row.metric, row.model)
        assert row.of_column("overall") == of_corpora.of_column("dailyz"), row.metric


def test_a_fine_grained_rank_correlation_is_one_that_eight_systems_can_have() -> None:
    """As above: 1 − ρ is a multiple of 2 / 84."""
    found = [
        row.figures[aspect, "spearman"].value
        for row in FINE_GRAINED.rows
        for aspect in FINE_GRAINED.columns
    ]
    assert len(found) == 12 * 4
    for rho in found:
        assert abs((1 - rho) * 42 - round((1 - rho) * 42)) < 0.03, rho


def test_aspects_are_columns_of_their_one_corpus(rated: Rated, table) -> None:
    document = table("--aspect", "grammar,overall")
    assert [one["title"] for one in document["corpora"]] == ["Grammar", "Overall"]
    assert {cell["corpus"] for row in document["rows"] for cell in row["cells"]} == {"dailyz"}
    assert cell_of(document, "BLEU", 0)["published"] == [
        {"encoder": None, "spearman": 0.167, "pearson": 0.213}
    ]
    assert [line["corpus"] for line in document["missing"]] == ["dailyz"]
    with pytest.raises(CommandError, match="the paper has no figures of tone"):
        table("--aspect", "tone")
    with pytest.raises(CommandError, match="several aspects are for fbd"):
        call_command("tables", "cmn", "--aspect", "overall,tone")


def test_the_figures_are_means_over_encoders_and_over_corpora(table) -> None:
    """FBD, |ρ|: on Persona(M) 1.000 and 1.000; with BERT (1 + .564 + .8 + .427 + .786 + .4) / 6."""
    document = table()
    key = ("FBD", fbd_figures.PRINTED)
    assert fbd_figures.by_corpus(document, "spearman")["Persona(M)"][key] == 1.0
    of_bert = fbd_figures.by_encoder(document, "spearman")[BERT][key]
    assert of_bert == pytest.approx(3.977 / 6)


def test_the_figures_are_a_drawing_of_bars(rated: Rated, table, monkeypatch) -> None:
    rated(SYSTEMS)
    monkeypatch.setitem(table_queries.OURS, "FBD", "length")
    drawing = ElementTree.fromstring(table(form="svg"))
    titles = [one.text for one in drawing.iter("{http://www.w3.org/2000/svg}title")]
    assert "FBD, ours, Persona(M): 1.000" in titles
    # two coefficients × (6 corpora + 2 encoders) × 3 metrics printed, ours on one corpus, by one
    # name; and the drawing's own
    assert len(titles) == 2 * (3 * (6 + 2) + 2) + 1


# --- what is missing ------------------------------------------------------------------------------


def test_what_is_not_computed_has_a_reason_and_the_command_that_computes_it(
    rated: Rated, table
) -> None:
    rated(SYSTEMS)
    document = table()
    assert cell_of(document, "FBD", 0)["spearman"] == {
        "value": None,
        "reason": "computed of 0 of 3 systems",
    }
    assert document["missing"][0] == {
        "corpus": "small",
        "reason": "not computed of all systems: constant",
        "command": 'manage.py score --corpus small --metrics "constant"',
    }


def test_a_corpus_that_is_not_here_has_a_reason_and_the_command_that_imports_it(
    rated: Rated, table
) -> None:
    rated(SYSTEMS)
    document = table()
    assert cell_of(document, "BLEU", 1)["pearson"] == {
        "value": None,
        "reason": "there is no corpus dailyh",
    }
    assert (
        document["missing"][1]["command"]
        == "manage.py import_corpus fbd dailyh_annotation.json --slug dailyh"
    )


def test_some_of_the_systems_make_no_figure(rated: Rated, table) -> None:
    version = rated(SYSTEMS)
    MetricRun.objects.filter(system=version.systems.get(name="dull")).delete()
    assert cell_of(table(), "BLEU", 0)["spearman"] == {
        "value": None,
        "reason": "computed of 2 of 3 systems",
    }


def test_a_run_of_an_older_version_of_the_metric_does_not_count(rated: Rated, table) -> None:
    rated(SYSTEMS)
    MetricRun.objects.update(metric_version="0")
    assert cell_of(table(), "BLEU", 0)["spearman"]["value"] is None


def test_an_undefined_correlation_stays_undefined(rated: Rated, table) -> None:
    rated(SYSTEMS, metrics="constant")
    estimate = cell_of(table(), "FBD", 0)["spearman"]
    assert estimate["value"] is None
    assert "equal" in estimate["reason"]
    assert "absolute" not in estimate


def test_a_site_without_any_corpus_prints_the_published_table(table) -> None:
    printed = table(form="table")
    assert printed.startswith("None of the 144 printed figures has one of ours beside it.")
    assert printed.splitlines()[6].split() == ["BLEU", "dialeval", *["–"] * 12]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ("persona=x", "the paper has no corpus persona"),
        ("personam", "is not name=slug"),
        ("personam=", "not name=slug"),
    ],
)
def test_a_wrong_renaming_is_refused(corpora: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("tables", "fbd", "--corpora", corpora)


def test_the_model_goes_to_the_metrics_that_take_one(
    monkeypatch: pytest.MonkeyPatch, table
) -> None:
    monkeypatch.setitem(table_queries.OURS, "FBD", "fbd")
    configurations = {
        row["metric"]: row["configuration"] for row in table("--model", "some/encoder")["rows"]
    }
    assert configurations["FBD"] == "fbd[model=some/encoder]"
    assert configurations["BLEU"] == "length"
