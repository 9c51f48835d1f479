"""Reference responses that take part as a system: left out of every comparison of metrics, unless
they are asked for.

The corpora are small. Three systems answer 8 turns; ``gold`` gives the references, people rate it
best, and a lexical metric scores it with its maximum: that alone makes the metric seem to agree
with people.
"""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.corpora.queries import NotFound, version_of
from annotations.models import CorpusVersion, Response, System
from leaderboard.metric_requests import correlation_params
from leaderboard.models import Analysis
from leaderboard.pages.report.contents import contents_of
from leaderboard.queries import system_choice
from leaderboard.queries.system_choice import (
    SystemChoice,
    chosen_systems,
    resolve_choice,
    system_choices,
)
from leaderboard.results.computing import answer_of, compute_waiting

pytestmark = pytest.mark.django_db

TURNS = 8
REFERENCE = "I keep {n} red bicycles in the shed behind our house"
KINDS = {"gold": "gold", "person": "human", "one": "agent", "two": "agent", "three": "agent"}


def text_of(system: str, turn: int) -> str:
    reference = REFERENCE.format(n=turn)
    words = reference.split()
    if system == "gold":
        return reference
    place = list(KINDS).index(system)
    kept = (turn * (place + 2) + place) % 6
    return " ".join([*words[:kept], "well", "maybe", system])


def score_of(system: str, turn: int) -> int:
    return 5 if system == "gold" else 1 + (turn * 3 + list(KINDS).index(system) * 2) % 4


def stored(
    folder: Path, kinds: dict[str, str] | None = None, texts: Any = text_of
) -> CorpusVersion:
    kinds = kinds or KINDS
    lines: list[dict[str, Any]] = [{"type": "corpus"}]
    lines += [{"type": "system", "name": name, "kind": kind} for name, kind in kinds.items()]
    lines.append({"type": "rater", "name": "ann"})
    for turn in range(TURNS):
        lines.append(
            {
                "type": "dialogue",
                "id": f"d{turn}",
                "persona": [],
                "partner_persona": [],
                "turns": [
                    {
                        "number": 0,
                        "context": [{"speaker": "A", "text": "What do you keep?"}],
                        "references": [REFERENCE.format(n=turn)],
                    }
                ],
            }
        )
        for name in kinds:
            place = {"dialogue_id": f"d{turn}", "turn": 0, "system": name}
            lines.append({"type": "response", **place, "text": texts(name, turn)})
            score = score_of(name, turn)
            lines.append(
                {"type": "rating", **place, "rater": "ann", "aspect": "overall", "score": score}
            )
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_corpus", "jsonl", str(file), slug="small", name="Small")
    call_command("score", corpus="small", metrics="word_f1,bleu_4", inline=True)
    return version_of("small")


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(tmp_path)


def turn_r(rows: list[dict[str, Any]], metric: str = "word_f1") -> tuple[float, int]:
    (row,) = [one for one in rows if one["metric"] == metric and one["level"] == "turn"]
    return row["pearson"]["value"], row["n"]


def said(client: Client, address: str) -> str:
    client.get(address)
    for _ in range(3):
        compute_waiting()
        answer = client.get(address)
    assert answer.status_code == 200, answer.content.decode()[:300]
    return answer.content.decode()


def printed(command: str, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command(command, corpus="small", format="json", stdout=out, **options)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


# --- which systems --------------------------------------------------------------------------------


def test_reference_responses_that_nobody_marked_are_found_by_their_text(tmp_path: Path) -> None:
    version = stored(tmp_path, {**KINDS, "gold": "agent"}, lambda *place: f" {text_of(*place)}\n")
    assert resolve_choice(version) == "without-gold"
    assert [one.name for one in chosen_systems(version)] == ["person", "one", "two", "three"]


@pytest.mark.parametrize(("differ", "found"), [(0, "without-gold"), (1, "all")])
def test_a_system_is_gold_from_95_percent_of_equal_responses_on(
    tmp_path: Path, differ: int, found: str
) -> None:
    """Of 8 responses 5 % are none: one that differs makes it a system like others."""

    def text(system: str, turn: int) -> str:
        return "Something else." if system == "gold" and turn < differ else text_of(system, turn)

    assert resolve_choice(stored(tmp_path, {**KINDS, "gold": "agent"}, text)) == found


def test_a_few_equal_answers_do_not_make_a_system_gold(tmp_path: Path) -> None:
    version = stored(tmp_path, {**KINDS, "gold": "agent"})
    gold = version.systems.get(name="gold")
    Response.objects.filter(system=gold, turn__dialogue__position__gte=2).delete()
    assert resolve_choice(version) == "all"


def test_the_three_choices_have_plain_names_and_the_old_name_still_works(
    version: CorpusVersion,
) -> None:
    assert [(one.key, one.label, len(one.systems)) for one in system_choices(version)] == [
        ("all", "All systems", 5),
        ("without-gold", "Without references", 4),
        ("without-people", "Without people, references", 3),
    ]
    assert resolve_choice(version, "agents") == "without-people"
    with pytest.raises(NotFound, match="no choice of systems 'best'"):
        resolve_choice(version, "best")


def test_a_corpus_without_reference_responses_compares_all_systems(tmp_path: Path) -> None:
    version = stored(tmp_path, {name: kind for name, kind in KINDS.items() if name != "gold"})
    assert resolve_choice(version) == "all"
    assert resolve_choice(version, "without-gold") == "all"  # it leaves nothing out


def test_where_all_systems_are_references_they_are_compared(tmp_path: Path) -> None:
    version = stored(
        tmp_path, {"gold": "gold", "one": "gold"}, lambda _name, turn: text_of("gold", turn)
    )
    assert resolve_choice(version) == "all"


# --- every surface --------------------------------------------------------------------------------


def test_every_surface_leaves_the_reference_responses_out_and_says_so(
    version: CorpusVersion, client: Client
) -> None:
    commanded = printed("correlate", resamples=0)
    assert commanded["systems"] == ["person", "one", "two", "three"]
    r, n = turn_r(commanded["rows"])
    assert n == 4 * TURNS
    assert all("|systems:without-gold|" in row["signature"] for row in commanded["rows"])

    page = said(client, "/corpora/small/metrics/")
    assert "Left out for all metrics: gold, whose responses are the references." in page
    assert 'href="?systems=all"' in page
    heat = said(client, "/corpora/small/metrics/heat-map/")
    pair = said(client, "/corpora/small/metrics/compare/?first=word_f1&second=bleu_4")
    plots = said(client, "/corpora/small/metrics/plots/?metric=word_f1")
    for one in (heat, pair, plots):
        assert "Left out for all metrics: gold" in one
    metric = said(client, "/metrics/word_f1/?corpus=small")
    assert "Left out for all metrics: gold" in metric

    answer = client.get("/api/v1/corpora/small/correlations").json()
    assert answer["systems_chosen"] == "without-gold"
    assert turn_r(answer["rows"]) == (pytest.approx(r), n)
    file = client.get("/corpora/small/metrics/?download=metric-leaderboard.csv")
    assert "systems:without-gold" in file.content.decode()
    compared = printed("compare", metrics="word_f1,bleu_4", level="turn", permutations=20)
    assert (compared["systems_chosen"], compared["rows"][0]["n"]) == ("without-gold", n)
    report = contents_of(version, "overall")
    assert all("systems:without-gold" in one for one in report.signatures)
    points = client.get(
        "/corpora/small/metrics/plots/?metric=word_f1&download=scatter-turn-data.csv"
    ).content.decode()
    assert len(list(csv.DictReader(points.splitlines()))) == n


def test_a_page_looks_for_the_choices_of_systems_once(
    version: CorpusVersion, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its stored answers names a choice, and so does the note on who is left out."""
    address = "/corpora/small/metrics/plots/"
    said(client, address)
    looked_up: list[int] = []
    look_up = system_choice._read_choices

    def counted(version: CorpusVersion) -> list[SystemChoice]:
        looked_up.append(version.pk)
        return look_up(version)

    monkeypatch.setattr(system_choice, "_read_choices", counted)
    client.get(address)
    assert looked_up == [version.pk]


def test_gold_comes_back_when_all_systems_are_asked_for(
    version: CorpusVersion, client: Client
) -> None:
    left_out, _ = turn_r(printed("correlate", resamples=0)["rows"])
    commanded = printed("correlate", resamples=0, choice="all")
    r, n = turn_r(commanded["rows"])
    assert n == 5 * TURNS
    assert r > left_out + 0.2  # its scores are the metric's best, its ratings people's best
    assert all("|systems:all|" in row["signature"] for row in commanded["rows"])
    assert "Left out for all metrics" not in said(client, "/corpora/small/metrics/?systems=all")
    address = "/api/v1/corpora/small/correlations?systems=all"
    client.get(address)
    compute_waiting()
    assert turn_r(client.get(address).json()["rows"]) == (pytest.approx(r), n)
    assert client.get("/api/v1/corpora/small/correlations?systems=best").status_code == 422
    assert client.get("/corpora/small/metrics/?systems=best").status_code == 404


def test_an_answer_for_one_choice_is_never_shown_for_another(version: CorpusVersion) -> None:
    by_default = answer_of(version, "correlations", **correlation_params("overall"))
    everything = answer_of(version, "correlations", **correlation_params("overall", "all"))
    named = answer_of(version, "correlations", **correlation_params("overall", "without-gold"))
    assert by_default == named != everything
    asked = Analysis.objects.filter(kind="correlations").values_list("parameters", flat=True)
    assert sorted(one["systems"] for one in asked) == ["all", "without-gold"]
    # A reference response that is published later changes the question, and so the answer.
    System.objects.filter(version=version, name="gold").update(withheld=True)
    version.refresh_from_db()
    assert answer_of(version, "correlations", aspect="overall").systems_chosen == "all"


def test_systems_that_are_named_one_by_one_take_part_as_named(version: CorpusVersion) -> None:
    named = printed("correlate", resamples=0, systems=["gold", "one"])
    assert named["systems"] == ["gold", "one"]
    assert all("|systems:named|" in row["signature"] for row in named["rows"])
    assert printed("correlate", resamples=0, exclude=["one"])["systems"] == [
        "person",
        "two",
        "three",
    ]
