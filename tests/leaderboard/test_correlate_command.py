"""``correlate``: its JSON, CSV and LaTeX, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.formats.records import Record
from annotations.models import CorpusVersion
from leaderboard.management.commands.correlate import PEOPLE
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(rated: Rated) -> CorpusVersion:
    """Lengths, which correlate with the human scores, and a constant, which cannot."""
    return rated(FOUR_RESPONSES, metrics="length,constant")


@pytest.fixture
def correlate(version: CorpusVersion, capsys):
    def run(*arguments: str) -> str:
        capsys.readouterr()
        call_command("correlate", "--corpus", "small", *arguments)
        return capsys.readouterr().out

    return run


def test_the_document_has_the_shape_of_the_contract(correlate, version: CorpusVersion) -> None:
    document = json.loads(correlate("--level", "turn", "--resamples", "100", "--format", "json"))
    rows = document.pop("rows")
    assert document == {
        "corpus": "small",
        "corpus_version": version.label,
        "aspect": "overall",
        "systems": ["echo", "dull"],
        "systems_chosen": "all",
        "design": "partly crossed",  # one of them did not answer one of the dialogues
        "resamples": 100,
        "seed": 0,
        "ci": "jackknife-t95-over-dialogues",
        "interval": document["interval"],
        "baseline": document["baseline"],
        "correlation_ceiling": document["correlation_ceiling"],
        "reliability": document["reliability"],
        "leave_one_out_agreement": document["leave_one_out_agreement"],
        # Their names until 0.2.0 stay for one version.
        "human_ceiling": document["leave_one_out_agreement"],
        "split_half": document["reliability"],
    }
    by_metric = {row["metric"]: row for row in rows}
    length = by_metric["length"]
    assert list(length) == [
        "metric",
        "signature",
        "level",
        "n",
        "coverage",
        "higher_is_better",
        "pearson",
        "spearman",
        "kendall",
        "per_dialogue",
        "per_system",
        "per_input",
        "tie_calibrated_accuracy",
        "attenuation_corrected",
    ]
    assert (length["level"], length["n"], length["coverage"], length["higher_is_better"]) == (
        "turn",
        4,
        1.0,
        True,
    )
    assert length["pearson"]["value"] == pytest.approx(0.8)
    assert set(length["pearson"]) >= {"value", "p", "ci"}
    assert by_metric["constant"]["pearson"] == {
        "value": None,
        "reason": "all metric scores are equal",
    }


def test_a_row_s_signature_says_how_it_was_made(correlate, version: CorpusVersion) -> None:
    document = json.loads(
        correlate("--level", "turn", "--resamples", "7", "--seed", "3", "--format", "json")
    )
    (signature,) = [row["signature"] for row in document["rows"] if row["metric"] == "length"]
    assert signature == (
        f"metric:length|version:1|corpus:small|corpus_version:{version.label}|aspect:overall|"
        "systems:all|design:partly-crossed|level:turn|n:4|ci:jackknife-t95-over-dialogues|"
        "resamples:7|seed:3"
    )


@pytest.mark.parametrize("key", ["correlation_ceiling", "leave_one_out_agreement"])
def test_the_ceiling_of_one_rater_is_undefined_with_its_reason(correlate, key: str) -> None:
    ceiling = json.loads(correlate("--format", "json"))[key]
    assert set(ceiling) == {"turn", "dialogue", "system"}
    for level in ceiling.values():
        assert level["pearson"]["value"] is None
        assert level["pearson"]["reason"]


def test_without_draws_there_are_no_intervals(correlate) -> None:
    rows = json.loads(correlate("--resamples", "0", "--format", "json"))["rows"]
    assert not any("ci" in row[name] for row in rows for name in ("pearson", "spearman", "kendall"))


def test_csv_has_a_row_a_metric_and_level_and_leaves_undefined_cells_empty(correlate) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(correlate("--level", "turn", "--resamples", "0", "--format", "csv"))
        )
    )
    by_metric: dict[str, Any] = {row["metric"]: row for row in rows}
    length, constant = by_metric["length"], by_metric["constant"]
    assert (length["level"], length["n"], float(length["pearson"])) == (
        "turn",
        "4",
        pytest.approx(0.8),
    )
    assert (length["pearson_reason"], length["pearson_low"]) == ("", "")
    assert (constant["pearson"], constant["pearson_reason"]) == ("", "all metric scores are equal")
    assert length["signature"].startswith("metric:length|")


def test_latex_marks_the_best_and_what_is_not_significant(correlate) -> None:
    # No word matches: 0 throughout, undefined
    call_command("score", corpus="small", metrics="bleu_1", inline=True)
    alone = correlate("--level", "turn", "--resamples", "0", "--format", "latex")
    assert r"length & 0.800$^\dagger$ &" in alone  # nothing competes with it
    # Lengths 1, 3, 2: r = 0.5 with 1, 2, 3
    call_command("score", corpus="small", metrics="short_only", inline=True)
    text = correlate("--level", "turn", "--resamples", "0", "--format", "latex")
    # n = 4: r = 0.8 has p = 0.2, hence the dagger.
    assert (
        r"length & \textbf{0.800}$^\dagger$ & \textbf{0.800}$^\dagger$ & \textbf{0.667}$^\dagger$ "
        r"\\" in text
    )
    assert r"constant & -- & -- & -- \\" in text
    assert text.count("{") == text.count("}")
    assert (r"\begin{tabular}" in text, r"\end{tabular}" in text) == (True, True)


def test_latex_gives_intervals_and_signatures(correlate, version: CorpusVersion) -> None:
    asked = ("--level", "turn", "--resamples", "100", "--interval", "percentile")
    text = correlate(*asked, "--format", "latex")
    (row,) = json.loads(correlate(*asked, "--metrics", "length", "--format", "json"))["rows"]
    low, high = (f"{end:.3f}".replace("-", "$-$") for end in row["pearson"]["ci"])
    lines = text.splitlines()
    beneath = lines[lines.index(next(line for line in lines if line.startswith("length "))) + 1]
    assert beneath.startswith(rf" & {{\scriptsize [{low}, {high}]}} & ")
    assert f"% {row['signature']}" in lines


def test_latex_escapes_names(correlate, version: CorpusVersion) -> None:
    call_command("score", corpus="small", metrics="bleu_4", inline=True)
    assert r"bleu\_4 &" in correlate("--level", "turn", "--resamples", "0", "--format", "latex")


def test_the_table_shows_metrics_and_the_ceiling(correlate) -> None:
    lines = correlate("--level", "turn", "--resamples", "0").splitlines()
    assert [line.split()[0] for line in lines[2:]] == [
        "length",
        "constant",
        "response",
        "ceiling",
        "leave-one-out",
        "–",
        "–",
        "–",
    ]
    assert lines[2].split() == ["length", "turn", "4", "0.800", "0.800", "0.667"]
    assert lines[3].split() == ["constant", "turn", "4", "–", "–", "–"]


def test_each_dash_of_the_table_has_its_reason_beneath(correlate) -> None:
    table = correlate("--level", "turn", "--variants")
    rows = [line for line in table.splitlines() if line.endswith(" –")]
    reasons = [line for line in table.splitlines() if line.startswith("– ")]
    assert (
        "– constant (turn), response length (turn), constant, corrected (turn): all metric scores "
        "are equal" in reasons
    )
    undefined = {line.split("  ")[0].split(",")[0] for line in rows} - {*PEOPLE.values()}
    assert undefined, "the test has something to look for"
    for name in (*undefined, *PEOPLE.values()):
        assert any(name in reason for reason in reasons), name


def test_metrics_and_systems_are_chosen_by_name(correlate) -> None:
    document = json.loads(
        correlate(
            "--metrics",
            "length",
            "--exclude",
            "dull",
            "--level",
            "turn",
            "--resamples",
            "0",
            "--format",
            "json",
        )
    )
    assert [row["metric"] for row in document["rows"]] == ["length"]
    assert (document["systems"], document["rows"][0]["n"]) == (["echo"], 3)


def test_an_aspect_is_found_without_regard_to_case(correlate) -> None:
    assert json.loads(correlate("--aspect", "OVERALL", "--format", "json"))["aspect"] == "overall"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--aspect", "Grammar"], "no aspect 'Grammar'. Aspects: overall"),
        (["--systems", "loud"], "no system 'loud'. Systems: echo, dull"),
        (["--exclude", "loud"], "no system 'loud'"),
        (["--metrics", "word_f1"], "not computed: word_f1. Computed: length, constant"),
        (["--metrics", "lenght"], 'unknown metric "lenght"'),
        (["--resamples", "-1"], "must be 0 or more"),
        (["--seed", "-1"], "must be 0 or more"),
        (["--systems", "echo", "--exclude", "dull"], "not allowed with"),
        (["--systems", ","], "names nothing"),
    ],
)
def test_what_is_not_known_is_named_with_what_is(
    correlate, arguments: list[str], says: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        correlate(*arguments)
    assert says in str(refusal.value)


def test_without_scores_it_says_how_to_get_them(version: CorpusVersion, capsys) -> None:
    MetricRun.objects.all().delete()
    call_command("correlate", "--corpus", "small", "--format", "json")
    printed = capsys.readouterr()
    assert json.loads(printed.out)["rows"] == []
    assert "Compute metrics with: manage.py score" in printed.err


def test_the_table_gives_ceiling_and_agreement_their_intervals(tmp_path: Path, capsys) -> None:
    stored(two_raters_of_five(), tmp_path)
    call_command("correlate", "--corpus", "small", "--level", "turn", "--resamples", "50")
    lines = capsys.readouterr().out.splitlines()
    (ceiling,) = [line for line in lines if line.startswith("ceiling (√reliability)")]
    (one_rater,) = [line for line in lines if line.startswith("leave-one-out agreement")]
    # Of two raters who agree at r = .8 the mean has reliability 1.6 / 1.8, and its root is .943; τ
    # has no such formula.
    assert "0.943 [" in ceiling
    assert "0.800 [" in one_rater
    assert (ceiling.count("["), one_rater.count("[")) == (2, 3)


def two_raters_of_five() -> list[Record]:
    places = [(f"d{number}", 0, "echo") for number in range(5)]
    given = ((1.0, 2.0), (2.0, 1.0), (3.0, 3.0), (4.0, 5.0), (5.0, 4.0))
    scores = {
        place: {"ann": ann, "bob": bob} for place, (ann, bob) in zip(places, given, strict=True)
    }
    return rated_corpus(
        [dialogue(name) for name, _, _ in places], dict.fromkeys(places, "hi"), scores
    )


def test_a_ceiling_without_an_interval_says_why(tmp_path: Path, capsys) -> None:
    places = [("d0", turn, "echo") for turn in range(4)]
    scores = {
        place: {"ann": float(turn + 1), "bob": float(5 - turn)} for turn, place in enumerate(places)
    }
    stored(rated_corpus([dialogue("d0", turns=4)], dict.fromkeys(places, "hi"), scores), tmp_path)
    call_command("correlate", "--corpus", "small", "--level", "turn", "--format", "json")
    ceiling = json.loads(capsys.readouterr().out)["leave_one_out_agreement"]["turn"]
    assert ceiling["pearson"] == pytest.approx(-1.0)
    assert "ci" not in ceiling
    assert "dialogue" in ceiling["ci_reason"]["pearson"]


def test_variants_are_rows_of_the_table_on_request_and_columns_of_csv_always(correlate) -> None:
    asked = ("--level", "turn", "--resamples", "0", "--metrics", "length")
    assert "within dialogues" not in correlate(*asked)
    lines = correlate(*asked, "--variants").splitlines()
    assert any(line.startswith("length, within dialogues") and " of " in line for line in lines)
    assert any("tie-calibrated" in line for line in lines)
    (row,) = csv.DictReader(io.StringIO(correlate(*asked, "--format", "csv")))
    document = json.loads(correlate(*asked, "--format", "json"))["rows"][0]
    assert float(row["tie_calibrated_accuracy"]) == document["tie_calibrated_accuracy"]["value"]
    assert row["per_dialogue_groups"] == str(document["per_dialogue"]["groups"])
    assert (
        row["attenuation_corrected_pearson_reason"]
        == document["attenuation_corrected"]["pearson"]["reason"]
    )
    assert row["pairwise_accuracy"] == ""  # of systems


def test_intervals_of_systems_are_not_corrected_for_noise_again(
    tmp_path: Path, odd_metrics, capsys
) -> None:
    """Turns: the interval is divided by the root of the reliability. Systems: it speaks of endless
    dialogues."""
    seen = {"a": (1, 2, 2, 1), "b": (3, 2, 3, 3), "c": (4, 3, 4, 4), "d": (2, 3, 1, 2)}
    lengths = {"a": (2, 1, 3, 2), "b": (3, 4, 2, 3), "c": (4, 3, 5, 6), "d": (5, 4, 6, 5)}
    numbered = {(f"d{number}", 0, system): number for system in seen for number in range(4)}
    scores, texts = {}, {}
    for place, number in numbered.items():
        score = seen[place[2]][number]
        scores[place] = {"ann": float(score), "bob": float(score + number % 2)}
        texts[place] = "x" * lengths[place[2]][number]
    stored(rated_corpus([dialogue(f"d{number}") for number in range(4)], texts, scores), tmp_path)
    call_command("score", corpus="small", metrics="length", inline=True)
    capsys.readouterr()
    call_command("correlate", "--corpus", "small", "--format", "json")
    document = json.loads(capsys.readouterr().out)
    turn, system = (
        {row["level"]: row for row in document["rows"]}[level] for level in ("turn", "system")
    )
    root = document["split_half"]["turn"]["pearson"] ** 0.5
    assert root < 0.99
    divided = [end / root for end in turn["pearson"]["ci"]]
    assert turn["attenuation_corrected"]["pearson"]["ci"] == pytest.approx(divided)
    assert system["pearson"]["ci"] is not None
    assert system["attenuation_corrected"]["pearson"]["ci"] == system["pearson"]["ci"]


def test_intervals_of_other_systems_are_named_in_the_signature(correlate) -> None:
    asked = ("--level", "turn", "--resamples", "20", "--metrics", "length", "--format", "json")
    document = json.loads(correlate(*asked, "--redraw", "both"))
    assert document["ci"] == "percentile95-bootstrap-over-dialogues-and-systems"
    assert (
        "|ci:percentile95-bootstrap-over-dialogues-and-systems|" in document["rows"][0]["signature"]
    )
    assert "other systems in other dialogues" in document["interval"]["turn"]
    assert (
        json.loads(correlate(*asked, "--redraw", "systems"))["ci"] == "jackknife-t95-over-systems"
    )


def test_a_jackknife_over_both_is_refused(correlate) -> None:
    with pytest.raises(CommandError, match="--interval percentile is the one for it"):
        correlate("--redraw", "both", "--interval", "jackknife")


# --- what an interval speaks of, and where it may not hold ----------------------------------------


SYSTEMS = ("ada", "bob", "cem", "dee", "eve")


def five_systems(tmp_path: Path) -> None:
    """Six dialogues, one turn each; systems answer at greater length the better they are, dee once
    at enormous length."""
    places = [(f"d{number}", 0, system) for number in range(6) for system in SYSTEMS]
    scores, texts = {}, {}
    for name, turn, system in places:
        number, rank = int(name[1:]), SYSTEMS.index(system)
        scores[name, turn, system] = {"ann": float(1 + (rank + number) % 5), "bob": float(1 + rank)}
        texts[name, turn, system] = "x " * (
            1000 if (number, system) == (2, "dee") else 3 + 2 * rank + number % 3
        )
    records = rated_corpus([dialogue(f"d{number}") for number in range(6)], texts, scores)
    stored(records, tmp_path)
    # With its defaults it would be the baseline
    call_command("score", corpus="small", metrics="response_length[unicode=none]", inline=True)


@pytest.mark.parametrize(
    ("arguments", "scope"),
    [
        ((), "these 5 systems, new dialogues"),
        (("--redraw", "systems"), "new systems, these dialogues"),
        (("--redraw", "both"), "new systems and dialogues"),
    ],
)
def test_a_row_of_systems_says_what_its_intervals_speak_of(
    tmp_path: Path, capsys, arguments, scope: str
) -> None:
    five_systems(tmp_path)
    capsys.readouterr()
    call_command("correlate", "--corpus", "small", "--resamples", "100", *arguments)
    table = capsys.readouterr().out
    (of_systems,) = [
        line
        for line in table.splitlines()
        if line.startswith("response_length") and " system " in line
    ]
    (of_turns,) = [
        line
        for line in table.splitlines()
        if line.startswith("response_length") and " turn " in line
    ]
    assert of_systems.rstrip().endswith(scope)
    assert "systems" not in of_turns
    call_command(
        "correlate", "--corpus", "small", "--resamples", "100", "--format", "json", *arguments
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["level"]: row.get("generalises_to") for row in rows}["system"] == scope
    call_command(
        "correlate", "--corpus", "small", "--resamples", "100", "--format", "latex", *arguments
    )
    assert f"system ({scope})" in capsys.readouterr().out


def test_of_other_systems_the_interval_of_few_is_said_to_say_nothing(
    tmp_path: Path, capsys
) -> None:
    five_systems(tmp_path)
    capsys.readouterr()
    call_command("correlate", "--corpus", "small", "--resamples", "100")
    assert "it says nothing of other systems than these 5" in capsys.readouterr().out


def test_five_systems_have_an_interval_but_no_p_that_could_pass_for_proof(
    tmp_path: Path, capsys
) -> None:
    """Their order is clear in each dialogue: over dialogues p is tiny, and speaks of no sixth
    system. Among all orders of five the perfect one has p = 2 / 5! = .017."""
    why = "with fewer than 6 systems p would speak of these systems only"
    five_systems(tmp_path)
    arguments = ["correlate", "--corpus", "small", "--resamples", "100", "--level", "system"]
    capsys.readouterr()
    call_command(*arguments)
    assert why in capsys.readouterr().out
    call_command(*arguments, "--format", "json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    for name in ("pearson", "spearman", "kendall"):
        assert row[name]["p"] is None
        assert row[name]["p_reason"] == why
    assert row["pearson"]["ci"]
    call_command(*arguments, "--format", "csv")
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (line["pearson_p"], line["pearson_reason"]) == ("", why)
    call_command(*arguments, "--format", "latex")
    assert f"system level: no p: {why}" in capsys.readouterr().out
    call_command(*arguments, "--format", "json", "--redraw", "systems")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert 0 < row["pearson"]["p"] < 1, "of new systems p speaks"


def test_one_enormous_score_is_remarked_beside_pearson_s_interval_in_table_json_and_csv(
    tmp_path: Path, capsys
) -> None:
    five_systems(tmp_path)
    capsys.readouterr()
    call_command("correlate", "--corpus", "small", "--level", "turn", "--resamples", "100")
    table = capsys.readouterr().out
    assert "] *" in table
    remark = "(turn): the metric scores have heavy tails (excess kurtosis 2"
    assert f"* response_length[unicode=none] {remark}" in table
    call_command(
        "correlate",
        "--corpus",
        "small",
        "--level",
        "turn",
        "--resamples",
        "100",
        "--format",
        "json",
    )
    (found,) = json.loads(capsys.readouterr().out)["rows"]
    assert "Spearman's ρ holds" in found["pearson"]["ci_remark"]
    assert "ci_remark" not in found["spearman"]
    assert found["attenuation_corrected"]["pearson"]["ci_remark"] == found["pearson"]["ci_remark"]
    call_command(
        "correlate", "--corpus", "small", "--level", "turn", "--resamples", "100", "--format", "csv"
    )
    (line,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert line["pearson_remark"] == found["pearson"]["ci_remark"]
