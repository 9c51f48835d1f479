"""``adversarial``: which answer a metric prefers, counted by kind; its four forms; what it
refuses."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from common.estimates import Undefined
from leaderboard.reproduction.adversarial import histogram
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.workers.training.latent_talk import about_one_thing
from tests.workers.training.made import make_model, trained_in
from workers.metrics import registry
from workers.metrics.base import Example, Metric, OptionValue, Score

pytestmark = pytest.mark.django_db

Run = Callable[..., tuple[str, str]]


class Length:
    """A ``TurnScorer``: words; none where the context speaks of d3."""

    def score(self, examples: list[Example], progress: Any = None) -> list[Score]:
        said = Undefined("nobody measures d3")
        return [
            said if "d3" in one.context[-1].text else float(len(one.response.split()))
            for one in examples
        ]


def length(name: str, **changes: Any) -> Metric:
    def build(options: Mapping[str, OptionValue]) -> Length:
        return Length()

    declared = Metric(
        name=name, version="1", summary="Words.", citation="A test (2026)", build=build
    )
    return replace(declared, **{"needs": frozenset({"context"}), **changes})


@pytest.fixture(autouse=True)
def metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.built_in_metrics()
    extra = [
        length("long"),
        length("short", higher_is_better=False),
        length("both", needs=frozenset({"context", "reference"})),
    ]
    catalogue = registry.assemble([*known, *extra], [])
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)


@pytest.fixture
def corpus(tmp_path: Path) -> None:
    """Eight dialogues with an answer of three words each; of d3 nothing is measured."""
    dialogues = [
        dialogue(f"d{place}", references=(f"answer number {place}",)) for place in range(8)
    ]
    stored(rated_corpus(dialogues, {}), tmp_path, "people")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[str, str]:
        capsys.readouterr()
        call_command("adversarial", *arguments)
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def document(command: Run, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(command(*arguments, "--format", "json")[0])
    return found


def accuracies(found: dict[str, Any], metric: str) -> dict[str, float]:
    return {
        row["kind"]: row["accuracy"]["value"] for row in found["rows"] if row["metric"] == metric
    }


@pytest.mark.usefixtures("corpus")
def test_what_is_spoilt_by_more_words_is_better_to_who_likes_words(command: Run) -> None:
    found = document(command, "--metrics", "long,short", "--corpus", "people")
    # Repetition and copying add words; another dialogue's answer has three as well: a tie, which is
    # a failure.
    assert accuracies(found, "long") == {"repetition": 0.0, "speaker": 0.0, "random": 0.0}
    assert accuracies(found, "short") == {"repetition": 1.0, "speaker": 1.0, "random": 0.0}
    row = next(one for one in found["rows"] if (one["metric"], one["kind"]) == ("short", "random"))
    assert (row["pairs"], row["dialogues"], row["higher"], row["equal"], row["undefined"]) == (
        7,
        7,
        0,
        7,
        1,
    )
    assert row["accuracy"]["ci"][0] == 0.0
    assert (found["pairs"], found["of"], found["seed"]) == (8, 8, 0)
    assert found["data"]["corpus"] == "people"


@pytest.mark.usefixtures("corpus")
def test_where_no_pair_has_two_scores_the_reason_stands(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Length, "score", lambda self, some, progress=None: [Undefined("no words") for _ in some]
    )
    arguments = ("--metrics", "long", "--corpus", "people")
    expected = {"value": None, "reason": "no pair has two scores: no words"}
    assert [row["accuracy"] for row in document(command, *arguments)["rows"]] == [expected] * 3
    shown = command(*arguments)[0]
    assert "long, speaker, long, random: no pair has two scores: no words" in shown
    assert (
        next(line for line in shown.splitlines() if line.startswith("long ")).split()[1:4]
        == ["–"] * 3
    )


@pytest.mark.usefixtures("corpus")
def test_the_seed_draws_the_answers(command: Run) -> None:
    first, again, other = (
        command(
            "--metrics",
            "long",
            "--corpus",
            "people",
            "--pairs",
            "3",
            "--seed",
            seed,
            "--format",
            "csv",
        )[0]
        for seed in ("1", "1", "2")
    )
    assert first == again != other
    rows = list(csv.DictReader(io.StringIO(first)))
    assert [row["kind"] for row in rows] == ["repetition", "speaker", "random"]
    assert {int(row["pairs"]) + int(row["undefined"]) for row in rows} == {3}


@pytest.mark.usefixtures("corpus")
def test_the_table_and_latex_show_a_line_a_metric(command: Run) -> None:
    shown, said = command("--metrics", "short,long", "--corpus", "people")
    (line,) = (one for one in shown.splitlines() if one.startswith("short"))
    assert line.split()[1] == "1.000"
    assert line.split()[-3:] == ["7", "0/0/7", "1"]
    assert "Pairs without a score of short: nobody measures d3 (3)." in shown  # one of each kind
    assert "contradiction is not made" in shown
    assert "people v1" in said
    assert "8 of 8 answers" in said
    written = command("--metrics", "short", "--corpus", "people", "--format", "latex")[0]
    assert "short & 1.000 [" in written
    assert "Repetition & Speaker & Random" in written


def test_a_file_of_conversations_is_read_as_train_reads_it(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(
        "\n".join(f"hello {n} __eou__ well then {n} __eou__ goodbye {n} __eou__" for n in range(4))
        + "\n"
    )
    found = document(command, "--metrics", "short", "--corpus", str(path))
    assert (found["data"]["file"], found["pairs"], found["dialogues"]) == (str(path), 8, 4)
    assert accuracies(found, "short")["speaker"] == 1.0


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("bleu_4", "the true answer itself"),
        ("fbd", "no scores of single responses"),
        ("density_dialogue", "no scores of single responses"),
        ("cpdscore_simple", "asked by the workers"),
        ("density", "train a model first"),
        ("density[trained=nobody]", "there is no trained model 'nobody'"),
        ("nothing", "unknown metric"),
    ],
)
def test_metrics_that_are_not_asked_say_why(command: Run, metric: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        command("--metrics", metric, "--corpus", "people")


def test_what_holds_no_conversation_is_refused(command: Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no corpus nowhere"):
        command("--metrics", "long", "--corpus", "nowhere")
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CommandError, match=r"broken\.txt"):
        command("--metrics", "long", "--corpus", str(broken))
    stored(rated_corpus([dialogue("d", references=())], {}), tmp_path, "silent")
    with pytest.raises(CommandError, match="silent holds no conversation"):
        command("--metrics", "long", "--corpus", "silent")
    with pytest.raises(CommandError, match="pairs"):
        command("--metrics", "long", "--corpus", "silent", "--pairs", "-1")


# --- cases that others have made ------------------------------------------------------------------


def case(folder: Path, kind: str, name: str, *lines: str) -> None:
    (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / kind / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_given_cases_are_counted_by_their_folders(command: Run, tmp_path: Path) -> None:
    """short likes fewer words: the contradiction has one more, the shorter text one fewer."""
    folder = tmp_path / "cases"
    asked = ("original_conversation", "Do you cook?", "I cook soup.", "modified_conversation")
    case(folder, "contradiction", "case_0", *asked, "Do you cook?", "I never cook soup.")
    case(folder, "dull", "case_0", *asked, "Do you cook?", "Soup, yes.")
    found = document(command, "--metrics", "short", "--cases", str(folder))
    assert accuracies(found, "short") == {"contradiction": 1.0, "dull": 0.0}
    assert (found["pairs"], found["data"]) == (2, {"folder": str(folder)})
    shown = command("--metrics", "short", "--cases", str(folder))[0]
    assert shown.splitlines()[0].split()[1:3] == ["contradiction", "dull"]
    written = command("--metrics", "short", "--cases", str(folder), "--format", "latex")[0]
    assert "Contradiction & Dull" in written


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["hello"], "must have the lines original_conversation and modified_conversation"),
        (["original_conversation", "a", "b"], "must have the lines"),
        (
            ["original_conversation", "a", "b", "modified_conversation", "c"],
            "two utterances or more in either conversation",
        ),
        (
            ["original_conversation", "a", "b", "modified_conversation", "c", "d\0"],
            "an utterance holds a NUL character",
        ),
    ],
)
def test_a_case_of_another_layout_is_refused(
    command: Run, tmp_path: Path, lines: list[str], fault: str
) -> None:
    case(tmp_path / "cases", "kind", "case_7", *lines)
    with pytest.raises(CommandError, match=rf"kind/case_7: .*{fault}"):
        command("--metrics", "short", "--cases", str(tmp_path / "cases"))


def test_a_folder_without_cases_is_refused(command: Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="holds no case"):
        command("--metrics", "short", "--cases", str(tmp_path))
    with pytest.raises(CommandError, match="is no folder"):
        command("--metrics", "short", "--cases", str(tmp_path / "none"))


# --- how scores are distributed, and finding the answer -------------------------------------------


@pytest.mark.usefixtures("corpus")
def test_a_histogram_has_each_kind_s_shares_of_scores(command: Run) -> None:
    """Answers have three words, so that all lie in the first bin; with the question before them they
    have six."""
    found = document(command, "--metrics", "long", "--corpus", "people")
    (one,) = found["histograms"]
    assert one["shares"]["answer"][0] == one["shares"]["random"][0] == 1.0
    assert max(one["shares"]["speaker"][1:]) == 1.0
    assert all(sum(shares) == pytest.approx(1) for shares in one["shares"].values())
    assert (one["edges"][0], len(one["edges"])) == (3.0, 21)
    shown = command("--metrics", "long", "--corpus", "people", "--histogram")[0]
    assert "3.000 to" in shown


def test_equal_scores_have_no_histogram() -> None:
    assert histogram({"answer": [1.0, 1.0]}) == {"reason": "all scores are equal"}
    assert histogram({"answer": [Undefined("no")]}) == {"reason": "no response has a score"}


def test_answers_are_ranked_among_those_of_other_dialogues(command: Run, tmp_path: Path) -> None:
    """Answers of 1, 2, 3 and 4 words, each among the other three: among two of them the longest is
    first, the shortest third; the others depend on the draw."""
    path = tmp_path / "talk.txt"
    path.write_text("".join(f"tell {n} __eou__ {'so ' * n}it __eou__\n" for n in range(4)))
    arguments = ("--metrics", "long,short", "--corpus", str(path), "--candidates", "40")
    found = document(command, *arguments)
    long, short = found["rows"]
    # With 40 draws each of the three others comes: ranks by length 1 + the longer ones drawn
    assert long["R@1"] == short["R@1"] == 0.25
    assert (long["contexts"], long["candidates"], long["undefined"]) == (4, 40, 0)
    assert 0.25 < long["MRR"] < 0.5
    assert "0.2500" in command(*arguments)[0]
    assert document(command, *arguments) == found


@pytest.mark.usefixtures("corpus")
def test_a_context_without_all_its_scores_is_left_out(command: Run) -> None:
    arguments = ("--metrics", "long", "--corpus", "people", "--candidates", "2")
    (row,) = document(command, *arguments)["rows"]
    assert (row["contexts"], row["undefined"], row["R@1"]) == (7, 1, 0.0)
    with pytest.raises(CommandError, match="printed as a table or json"):
        command(*arguments, "--format", "csv")


def test_where_there_is_no_other_answer_nothing_is_ranked(command: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("hello __eou__ well __eou__\n")
    with pytest.raises(CommandError, match="no other dialogue has another answer"):
        command("--metrics", "long", "--corpus", str(path), "--candidates", "2")


@pytest.mark.usefixtures("corpus")
def test_a_metric_that_looks_at_a_reference_too_is_remarked(command: Run) -> None:
    found = document(command, "--metrics", "short,both", "--corpus", "people")
    assert [
        note for note in found["notes"] if note.startswith("both looks at a reference, too")
    ] != []
    assert not any(note.startswith("short") for note in found["notes"])


def test_a_trained_model_prefers_answers_about_the_thing_asked(
    command: Run, tmp_path: Path
) -> None:
    make_model("density", "small", tmp_path)
    path = tmp_path / "talk.txt"
    told = ([one.text for one in dialogue.utterances] for dialogue in about_one_thing(40, seed=9))
    path.write_text("\n".join(" __eou__ ".join(said) + " __eou__" for said in told))
    metric = "density_classifier[trained=small]"
    with trained_in(tmp_path):
        found = document(command, "--metrics", metric, "--corpus", str(path))
        written = command(
            "--metrics", metric, "--corpus", str(path), "--pairs", "3", "--format", "latex"
        )[0]
    assert accuracies(found, metric)["random"] > 0.8
    assert found["rows"][0]["model"].startswith("small@")
    signature, revision = found["rows"][0]["signature"], found["rows"][0]["model"].partition("@")[2]
    assert "max_tokens:32" in signature
    assert f"model_revision:{revision}" in signature
    assert "talk.txt (SHA-256 " in written
    assert str(tmp_path) not in written
