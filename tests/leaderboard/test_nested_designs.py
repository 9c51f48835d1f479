"""Corpora in which every system has dialogues of its own (nested), as interactive data have:
nothing is missing there.

Three systems, eight dialogues of three turns each; all 72 responses are rated and scored.
"""

from __future__ import annotations

import json
import random
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.corpora.queries import version_of
from annotations.models import CorpusVersion, System
from leaderboard.challenges.files.scores import check_scores
from leaderboard.challenges.queries.scores import template_of_scores
from leaderboard.challenges.validation import answered_places, layout_of
from leaderboard.pages.report.contents import contents_of
from leaderboard.pages.system_pair.query import system_pair
from leaderboard.results.computing import compute_waiting
from workers.judges.progress import JudgeProgress
from workers.models import MetricRun
from workers.runs import queries

pytestmark = pytest.mark.django_db

SYSTEMS, DIALOGUES, TURNS = ("alpha", "beta", "gamma"), 8, 3
WORDS = (
    "I",
    "keep",
    "red",
    "bicycles",
    "in",
    "the",
    "shed",
    "behind",
    "our",
    "old",
    "house",
    "near",
    "some",
    "river",
)


def stored(folder: Path, shared: int = 0) -> CorpusVersion:
    """``shared``: of beta's dialogues, how many are alpha's, which both then answered."""
    chance = random.Random(1)
    lines: list[dict[str, Any]] = [{"type": "corpus"}]
    lines += [{"type": "system", "name": name, "kind": "agent"} for name in SYSTEMS]
    lines += [{"type": "rater", "name": name} for name in ("ann", "bob")]
    context = [{"speaker": "A", "text": "What do you keep?"}]
    for place, owner in enumerate(SYSTEMS):
        for number in range(shared if owner == "beta" else 0, DIALOGUES):
            name = f"{owner}-{number}"
            turns = [
                {"number": turn, "context": context, "references": [" ".join(WORDS)]}
                for turn in range(TURNS)
            ]
            lines.append(
                {
                    "type": "dialogue",
                    "id": name,
                    "persona": [],
                    "partner_persona": [],
                    "turns": turns,
                }
            )
            for system in (owner, "beta") if owner == "alpha" and number < shared else (owner,):
                quality = chance.gauss(0.5 * place, 0.7)
                for turn in range(TURNS):
                    at = {"dialogue_id": name, "turn": turn, "system": system}
                    length = max(1, min(14, round(7 + 3 * quality + chance.gauss(0, 2))))
                    lines.append(
                        {
                            "type": "response",
                            **at,
                            "text": " ".join([*WORDS[:length], f"well {number}"]),
                        }
                    )
                    for rater in ("ann", "bob"):
                        score = max(1, min(5, round(3 + quality + chance.gauss(0, 0.6))))
                        lines.append(
                            {
                                "type": "rating",
                                **at,
                                "rater": rater,
                                "aspect": "overall",
                                "score": score,
                            }
                        )
    file = folder / "nested.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_corpus", "jsonl", str(file), slug="nested", name="Nested")
    call_command("score", corpus="nested", metrics="word_f1,bleu_4", inline=True)
    return version_of("nested")


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(tmp_path)


def shown(client: Client, address: str) -> str:
    client.get(address)
    for _ in range(3):
        compute_waiting()
        answer = client.get(address)
    assert answer.status_code == 200, answer.content.decode()[:300]
    return answer.content.decode()


def printed(command: str, **options: Any) -> str:
    """The JSON document; as a table, with what goes to standard error beneath."""
    out, remarks = StringIO(), StringIO()
    call_command(command, corpus="nested", stdout=out, stderr=remarks, **options)
    return out.getvalue() + ("" if options.get("format") == "json" else remarks.getvalue())


@pytest.fixture
def without_missing() -> Any:
    def check(text: str) -> str:
        for word in ("have no score", "has no score", "left out of the means"):
            assert word not in text.replace("What a metric has no score for", ""), text[
                : text.index(word) + 200
            ][-400:]
        return text

    return check


def test_where_all_is_scored_no_surface_says_that_scores_are_missing(
    version: CorpusVersion, client: Client, without_missing: Any
) -> None:
    document = json.loads(printed("correlate", format="json"))
    assert {row["coverage"] for row in document["rows"]} == {1.0}
    assert not any("note" in row for row in document["rows"])
    without_missing(printed("correlate"))
    table = printed("score", metrics="word_f1", inline=True).splitlines()
    assert [line.split()[-1] for line in table[2:5]] == ["0", "0", "0"]
    for address in (
        "/corpora/nested/metrics/",
        "/corpora/nested/systems/",
        "/corpora/nested/metrics/heat-map/",
        "/corpora/nested/metrics/plots/?metric=word_f1",
        "/corpora/nested/metrics/compare/?first=word_f1&second=bleu_4",
        "/metrics/word_f1/?corpus=nested",
        "/corpora/nested/systems/compare/?first=alpha&second=gamma",
    ):
        without_missing(shown(client, address))
    answer = client.get("/api/v1/corpora/nested/correlations").json()
    assert {row["coverage"] for row in answer["rows"]} == {1.0}
    assert "gave no response" not in client.get("/metrics/word_f1/?corpus=nested").content.decode()


def test_every_surface_names_the_nested_design(version: CorpusVersion, client: Client) -> None:
    document = json.loads(printed("correlate", format="json", interval="percentile"))
    assert document["design"] == "nested"
    assert all("|design:nested|" in row["signature"] for row in document["rows"])
    assert all(
        "bootstrap draws of dialogues within each system" in one
        for one in document["interval"].values()
    )
    sentence = "every system has dialogues of its own"
    assert sentence in printed("correlate")
    assert sentence in printed("compare", metrics="word_f1,bleu_4", permutations=20)
    for address in (
        "/corpora/nested/metrics/",
        "/corpora/nested/systems/",
        "/corpora/nested/metrics/compare/?first=word_f1&second=bleu_4",
    ):
        assert sentence in shown(client, address), address
    assert client.get("/api/v1/corpora/nested/correlations").json()["design"] == "nested"
    assert (
        "design:nested"
        in client.get("/corpora/nested/metrics/?download=metric-leaderboard.csv").content.decode()
    )
    report = contents_of(version, "overall")
    assert any(sentence in text for _, text in report.method.paragraphs)


def test_a_statistic_within_dialogues_of_several_systems_says_that_there_are_none(
    version: CorpusVersion,
) -> None:
    document = json.loads(printed("correlate", format="json", level="turn"))
    for row in document["rows"]:
        for one in (row["per_input"]["pearson"], row["tie_calibrated_accuracy"]):
            assert one["value"] is None
            assert "dialogues of its own" in one["reason"]


def test_two_systems_with_dialogues_of_their_own_are_compared_unpaired(
    version: CorpusVersion, client: Client
) -> None:
    document = system_pair(version, "overall", "alpha", "gamma")
    human = document.human
    assert (document.design, human.is_paired) == ("nested", False)
    assert (human.first_dialogues, human.second_dialogues, human.items) == (8, 8, 48)
    low, high = human.difference.ci
    assert (human.difference.p < 0.05) == (not low <= 0 <= high)
    assert all(not one.is_paired and one.difference.ci for one in document.metrics)
    page = shown(client, "/corpora/nested/systems/compare/?first=alpha&second=gamma")
    assert (
        "alpha was rated in 8 dialogues and gamma in 8, which are not shared: the comparison is "
        "unpaired." in page
    )
    assert "Two systems, each in dialogues of its own" in page
    assert "test:unpaired-welch-t" in page
    assert "times, gamma" not in page  # nobody wins an item that only one has


def test_systems_that_share_most_dialogues_stay_paired(tmp_path: Path, client: Client) -> None:
    version = stored(tmp_path, shared=6)
    document = system_pair(version, "overall", "alpha", "beta")
    human = document.human
    assert (document.design, human.is_paired, human.dialogues) == ("partly crossed", True, 6)
    assert not system_pair(version, "overall", "alpha", "gamma").human.is_paired
    assert "Partly crossed design" in shown(client, "/corpora/nested/systems/")


def test_what_would_separate_two_systems_counts_dialogues_of_each(
    version: CorpusVersion, client: Client
) -> None:
    page = shown(client, "/corpora/nested/systems/?part=more")
    assert "t test over the dialogues of each system" in page


def test_a_file_of_scores_is_counted_against_the_responses_that_there_are(
    version: CorpusVersion, tmp_path: Path
) -> None:
    """The template has a row for each response; filled in, it has all there are."""
    systems, layout = list(System.objects.filter(version=version)), layout_of(version.pk)
    rows = "".join(template_of_scores(version, "turn", "csv")).splitlines()
    assert len(rows) == 1 + 3 * DIALOGUES * TURNS
    file = tmp_path / "scores.csv"
    file.write_text("\n".join([rows[0], *(f"{row}0.5" for row in rows[1:])]) + "\n")
    answered = answered_places(version, systems, "turn", layout)
    found = check_scores(file, "turn", layout, SYSTEMS, answered=answered)
    assert found.is_sound
    assert (found.coverage.given, found.coverage.possible) == (72, 72)
    file.write_text(f"{rows[0]}\nalpha-0,0,gamma,0.5\n")
    (problem,) = check_scores(file, "turn", layout, SYSTEMS, answered=answered).problems
    assert "there is no response to score" in problem.message
    assert (
        len("".join(template_of_scores(version, "dialogue", "csv")).splitlines())
        == 1 + 3 * DIALOGUES
    )


def test_a_judge_s_runs_count_what_there_was_to_score(version: CorpusVersion) -> None:
    run = MetricRun.objects.filter(system__name="alpha", metric="word_f1").get()
    assert queries.absent_responses(run.undefined) == 2 * DIALOGUES * TURNS
    line = JudgeProgress(
        "judge", None, None, systems=3, done=3, places=72, absent=3 * 48, undefined=0
    )
    assert (line.responses, line.scored, line.coverage) == (72, 72, 1.0)
