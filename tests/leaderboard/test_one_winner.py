"""On USR, GRADE, FBD and FED every surface names the same winner with the same interval.

The winner is the metric that correlates best with human ratings of responses, of a few that are
quick to compute.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from scipy.stats import pearsonr

from annotations.corpora.queries import version_of
from annotations.models import CorpusVersion
from common.tables.numerals import written
from leaderboard.pages.report.contents import contents_of
from tests.annotations.formats.importers.helpers import real_file

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def usr(_folder: Path) -> str:
    """The gold answers among its systems are left out."""
    call_command("import_corpus", "usr", str(real_file("usr/pc_usr_data.json")), slug="usr")
    return "usr"


def grade(_folder: Path) -> str:
    call_command(
        "import_corpus", "grade", str(real_file("grade/human_judgement.json")), slug="grade"
    )
    return "grade-dailydialog"


def fbd(_folder: Path) -> str:
    call_command("import_corpus", "fbd", str(real_file("fbd/personam_annotation.json")), slug="fbd")
    return "fbd"


def fed(folder: Path) -> str:
    """A third of its rated responses, each a dialogue of the one system that gave it: a nested
    design."""
    lines: list[dict[str, Any]] = [
        {"type": "corpus", "aspects": ["Overall"], "main_aspect": "Overall", "scale": [0, 4]}
    ]
    lines += [
        {"type": "system", "name": name, "kind": "human" if name == "Human" else "agent"}
        for name in ("Meena", "Mitsuku", "Human")
    ]
    lines += [
        {"type": "rater", "name": f"place {place}", "kind": "anonymous"} for place in range(5)
    ]
    items = [
        one for one in json.loads(real_file("fed/fed_data.json").read_text()) if "response" in one
    ]
    for number, item in enumerate(items[::3]):
        said = [line.partition(": ") for line in item["context"].split("\n")]
        context = [
            {"speaker": "A" if who == "User" else "B", "text": text} for who, _, text in said
        ]
        turns = [{"number": 0, "context": context, "references": []}]
        lines.append(
            {
                "type": "dialogue",
                "id": str(number),
                "persona": [],
                "partner_persona": [],
                "turns": turns,
            }
        )
        place = {"dialogue_id": str(number), "turn": 0, "system": item["system"]}
        lines.append(
            {"type": "response", **place, "text": item["response"].removeprefix("System: ")}
        )
        lines += [
            {
                "type": "rating",
                **place,
                "rater": f"place {rater}",
                "aspect": "Overall",
                "score": score,
            }
            for rater, score in enumerate(item["annotations"]["Overall"])
            if isinstance(score, int)
        ]
    file = folder / "fed.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_corpus", "jsonl", str(file), slug="fed")
    return "fed"


CORPORA: dict[str, tuple[Callable[[Path], str], str]] = {
    "USR": (usr, "word_f1,rouge_l,response_length"),
    "GRADE": (grade, "response_length[normalize=false],context_similarity,distinct_2"),
    "FBD": (fbd, "word_f1,rouge_l,response_length,distinct_2"),
    "FED": (fed, "response_length[normalize=false],context_similarity,distinct_2"),
}


@pytest.mark.parametrize("corpus", CORPORA)
def test_every_surface_names_the_same_winner_with_the_same_interval(
    corpus: str, tmp_path: Path, client: Client
) -> None:
    store, metrics = CORPORA[corpus]
    slug = store(tmp_path)
    call_command(
        "score", corpus=slug, metrics=metrics, inline=True, stdout=StringIO(), stderr=StringIO()
    )
    version = version_of(slug)
    document = printed(slug)
    row = winner(document["rows"])
    value, ends = row["pearson"]["value"], row["pearson"]["ci"]
    digits = f"{written(value, 2)} [{written(ends[0], 2)}, {written(ends[1], 2)}]"
    sentences = (
        f"{row['metric']} correlates best with human ratings at turn level: r = {digits}",
        (
            "No metric correlates positively with human ratings at turn level: the best is "
            f"{row['metric']}, r = {digits}"
        ),
    )
    sentence = sentences[value * (1 if row["higher_is_better"] else -1) <= 0]

    assert sentence in shown(client, f"/corpora/{slug}/metrics/")
    table = client.get(f"/corpora/{slug}/metrics/?download=metric-leaderboard.csv").content.decode(
        "utf-8-sig"
    )
    of_file = next(
        one for one in csv.DictReader(table.splitlines()) if one["metric"] == row["metric"]
    )
    assert [float(of_file[f"turn-pearson{end}"]) for end in ("", "_low", "_high")] == pytest.approx(
        [value, *ends]
    )

    answer = client.get(f"/api/v1/corpora/{slug}/correlations").json()
    assert answer["systems_chosen"] == document["systems_chosen"]
    assert answer["design"] == document["design"] == ("nested" if corpus == "FED" else "crossed")
    assert winner(answer["rows"])["signature"] == row["signature"]
    assert [winner(answer["rows"])["pearson"][key] for key in ("value", "ci")] == [value, ends]

    # Of the best metric, unless another is asked for
    scatter = shown(client, f"/corpora/{slug}/metrics/plots/")
    low, high = (written(end, 2) for end in ends)
    assert f"{row['metric']} against human scores" in scatter
    assert f"Pearson r = {written(value, 2)} (95 % interval {low} to {high})" in scatter
    points = rows_of_file(client, f"/corpora/{slug}/metrics/plots/", "scatter-turn-data")
    drawn = pearsonr(*([float(one[key]) for one in points] for key in ("human", "metric")))
    assert (len(points), drawn.statistic) == (row["n"], pytest.approx(value, abs=1e-9))

    address = f"/corpora/{slug}/metrics/heat-map/?show=significance&level=turn"
    heat = shown(client, address)
    assert "correlates better with human ratings" in heat or "differ significantly" in heat
    assert rows_of_file(client, address, "metric-standings")[0]["metric"] == row["metric"]
    assert leads(rows_of_file(client, address, "metric-pairs"), document["rows"], row)
    metric = shown(client, f"/metrics/{row['metric']}/?corpus={slug}")
    assert written(value, 3) in metric
    report = contents_of(version, version.main_aspect)
    assert any(sentence in finding for finding in report.findings)


def rows_of_file(client: Client, address: str, table: str) -> list[dict[str, str]]:
    """What is drawn, as the file beside it has it."""
    sign = "&" if "?" in address else "?"
    answer = client.get(f"{address}{sign}download={table}.csv")
    return list(csv.DictReader(answer.content.decode("utf-8-sig").splitlines()))


def leads(
    pairs: list[dict[str, str]], rows: list[dict[str, Any]], best: dict[str, Any]
) -> list[str]:
    """The metrics that the heat map draws as far behind the winner as their correlations are;
    asserts so of all that scored the same responses."""
    behind = []
    for other in rows:
        if other["level"] != "turn" or other is best or other["n"] != best["n"]:
            continue
        (pair,) = (
            one
            for one in pairs
            if {one["first"], one["second"]} == {other["metric"], best["metric"]}
        )
        ahead = 1 if pair["first"] == best["metric"] else -1
        gap = strength(best) - strength(other)
        assert ahead * float(pair["difference"]) == pytest.approx(gap, abs=1e-9), pair
        behind.append(other["metric"])
    return behind


def strength(row: dict[str, Any]) -> float:
    """r in the metric's own direction."""
    r: float = row["pearson"]["value"]
    return r if row["higher_is_better"] else -r


def printed(slug: str) -> dict[str, Any]:
    out = StringIO()
    call_command("correlate", corpus=slug, format="json", stdout=out, stderr=StringIO())
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def winner(rows: list[dict[str, Any]]) -> dict[str, Any]:
    of_turns = [
        row for row in rows if row["level"] == "turn" and row["pearson"]["value"] is not None
    ]
    return max(of_turns, key=strength)


def shown(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.content.decode()[:300]
    return answer.content.decode()


def test_a_system_that_repeats_the_references_is_gold_wherever_systems_are_compared(
    tmp_path: Path, client: Client
) -> None:
    """Nobody marked it: its text says so, on the boards of metrics and of systems alike."""
    from leaderboard.pages.system_pair.query import system_pair
    from leaderboard.pages.systems.query import misleading_metrics
    from tests.leaderboard.test_gold_left_out import KINDS
    from tests.leaderboard.test_gold_left_out import stored as with_gold

    version: CorpusVersion = with_gold(tmp_path, {**KINDS, "gold": "agent"})
    position = version.systems.get(name="gold").position
    for metric in misleading_metrics(version, "overall", "all").metrics:
        assert position not in [row.position for row in metric.rows], metric.metric
    for metric in system_pair(version, "overall", "gold", "one").metrics:
        reason = "the metric would hold the gold answers against themselves"
        assert metric.difference.reason == reason
