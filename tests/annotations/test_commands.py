"""``import_corpus``, ``agreement`` and ``delete_corpus``: what they print and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations.corpora.queries import counts_of, select_systems
from annotations.formats.records import RatingRecord
from annotations.models import Corpus, CorpusVersion
from tests.annotations.stored import stored, two_systems, written
from tests.hub_double import SHA, Repository, hub_double
from workers.metrics.common.configuration import parse
from workers.runs import actions

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


# --- import_corpus --------------------------------------------------------------------------------


def test_import_says_in_one_line_what_is_stored(tmp_path: Path, capsys) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    call_command("import_corpus", "jsonl", str(path), "--slug", "small")
    label = CorpusVersion.objects.get().label
    assert capsys.readouterr().out == (
        f"small: stored {label} with 2 dialogues, 3 turns, 2 systems, 5 responses, 2 raters, 6 "
        "ratings; language: English (guessed from the texts)\n"
    )
    call_command("import_corpus", "jsonl", str(path), "--slug", "small")
    assert capsys.readouterr().out == f"small: unchanged, {label} holds this content\n"


def test_import_of_older_content_says_that_the_newest_version_is_another(
    tmp_path: Path, capsys
) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    old = path.read_text()
    for content in (old, old.replace('"text":"yes"', '"text":"perhaps"'), old):
        path.write_text(content)
        call_command("import_corpus", "jsonl", str(path), "--slug", "small")
    first, second = (CorpusVersion.objects.get(number=number).label for number in (1, 2))
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert (
        last_line
        == f"small: unchanged, {first} holds this content; the newest version is still {second}"
    )


def test_import_takes_a_dataset_of_the_hub_and_notes_its_commit(
    tmp_path: Path, settings: Any, capsys: Any
) -> None:
    body = written(two_systems(), tmp_path / "corpus.jsonl").read_bytes()
    with hub_double(cooks=Repository({"test.jsonl": body})) as hub:
        settings.IMPORT_PRIVATE, settings.HF_ENDPOINT = True, hub.url
        call_command("import_corpus", "hf://datasets/lab/cooks")
    version = CorpusVersion.objects.get()
    assert version.source == f"hf://datasets/lab/cooks@{SHA}/test.jsonl"
    assert capsys.readouterr().out.startswith(f"cooks: stored {version.label} with 2 dialogues")


def test_import_of_an_address_that_gives_nothing_stores_nothing(settings: Any) -> None:
    with hub_double() as hub:
        settings.IMPORT_PRIVATE, settings.HF_ENDPOINT = True, hub.url
        with pytest.raises(CommandError, match="nothing was stored: hf://datasets/lab/none is not"):
            call_command("import_corpus", "hf://datasets/lab/none")
    assert not Corpus.objects.exists()


def test_import_of_good_records_lists_the_others_in_a_file(tmp_path: Path, capsys: Any) -> None:
    bad = RatingRecord("d1", 0, "echo", "nobody", "overall", 3)
    path = written([*two_systems(), bad], tmp_path / "corpus.jsonl")
    listed = tmp_path / "bad.csv"
    call_command("import_corpus", str(path), "--good-only", "--bad-records", str(listed))
    told = capsys.readouterr().out
    assert "left out: 1 fault, for example corpus.jsonl:" in told
    assert f"{listed}: 1 record not stored" in told
    assert "the rater 'nobody' is not known" in listed.read_text(encoding="utf-8")
    assert counts_of(CorpusVersion.objects.get()).ratings == 6


def test_import_says_that_there_are_more_problems_than_it_tells(tmp_path: Path, capsys) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"type":"no such type"}\n' * 1000)
    with pytest.raises(CommandError, match="nothing was stored: 100 problems or more"):
        call_command("import_corpus", "jsonl", str(path), "--slug", "small")
    assert capsys.readouterr().err.endswith("and more; stopped\n")


def test_import_names_every_problem_and_says_that_nothing_was_stored(
    tmp_path: Path, capsys
) -> None:
    bad = RatingRecord("d1", 0, "echo", "nobody", "no such aspect", 3)
    path = written([*two_systems(), bad], tmp_path / "corpus.jsonl")
    with pytest.raises(CommandError, match="nothing was stored: 2 problems"):
        call_command("import_corpus", "jsonl", str(path), "--slug", "small")
    told = capsys.readouterr().err
    line = len(path.read_text().splitlines())
    assert f"corpus.jsonl:{line}: aspect: the corpus has no aspect 'no such aspect'" in told
    assert f"corpus.jsonl:{line}: rater: the rater 'nobody' is not known" in told
    assert not Corpus.objects.exists()


def test_import_as_another_format_says_which_one_the_file_looks_like(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    with pytest.raises(
        CommandError, match=r"nothing was stored: 1 problem; the file looks like jsonl$"
    ):
        call_command("import_corpus", "cpdc", str(path), "--slug", "small")


def test_import_of_a_path_that_cannot_be_says_so_in_words() -> None:
    with pytest.raises(CommandError, match="cannot be read: File name too long"):
        call_command("import_corpus", "jsonl", "x" * 5000, "--slug", "small")


@pytest.mark.parametrize("slug", ["two words", "ümlaut", "a/b", ""])
def test_import_refuses_a_slug_that_cannot_stand_in_an_address(tmp_path: Path, slug: str) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    with pytest.raises(CommandError, match="--slug"):
        call_command("import_corpus", "jsonl", str(path), "--slug", slug)


def test_import_refuses_a_slug_or_a_name_that_does_not_fit(tmp_path: Path, capsys) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    for arguments, says in (
        (("--slug", "a" * 81), "at most 80"),
        (("--slug", "a", "--name", "b" * 201), "name has 201"),
    ):
        with pytest.raises(CommandError, match="nothing was stored"):
            call_command("import_corpus", "jsonl", str(path), *arguments)
        assert says in capsys.readouterr().err
    assert not Corpus.objects.exists()


def test_import_refuses_a_part_whose_name_cannot_stand_in_an_address(
    tmp_path: Path, capsys, client
) -> None:
    row = {
        "ID": "0",
        "DialogModel": "echo",
        "Context": "hi",
        "Response": "hi",
        "HumanScores": "[1, 2]",
    }
    path = tmp_path / "grade.json"
    path.write_text(
        json.dumps([{**row, "Dataset": "good_eval"}, {**row, "Dataset": "My Set/ä?_eval"}])
    )
    with pytest.raises(CommandError, match="nothing was stored: 1 problem"):
        call_command("import_corpus", "grade", str(path), "--slug", "g")
    assert "grade.json: the corpus cannot have the slug 'g-my set/ä?'" in capsys.readouterr().err
    assert not Corpus.objects.exists()
    assert client.get("/").status_code == 200


def test_import_names_the_formats_there_are(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("import_corpus", "no-format", str(tmp_path), "--slug", "small")
    assert all(name in str(refusal.value) for name in ("cpdc", "usr", "grade", "fbd", "jsonl"))


def test_a_private_corpus_is_imported_as_such(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    call_command("import_corpus", "jsonl", str(path), "--slug", "small", "--private")
    assert not Corpus.objects.get().is_public


# --- agreement ------------------------------------------------------------------------------------


def agreement(capsys, *arguments: str) -> dict:
    capsys.readouterr()
    call_command("agreement", "--corpus", "small", "--format", "json", *arguments)
    return json.loads(capsys.readouterr().out)


def test_the_document_has_the_shape_of_the_contract(version: CorpusVersion, capsys) -> None:
    found = agreement(capsys)
    assert list(found) == [
        "corpus",
        "corpus_version",
        "aspect",
        "level",
        "items",
        "raters",
        "ratings",
        "krippendorff_alpha",
        "cohen_kappa",
        "fleiss_kappa",
        "icc",
        "leave_one_out",
        "ci",
        "resamples",
        "seed",
    ]
    assert (found["corpus"], found["corpus_version"], found["level"]) == (
        "small",
        version.label,
        "turn",
    )
    assert (found["items"], found["raters"], found["ratings"]) == (4, 2, 6)
    assert set(found["krippendorff_alpha"]) == {"nominal", "ordinal", "interval", "ratio"}
    assert set(found["cohen_kappa"]) == {"unweighted", "linear", "quadratic"}
    assert set(found["icc"]) == {"icc2_1", "icc2_k"}
    assert set(found["leave_one_out"]) == {"pearson", "spearman", "kendall"}
    (pair,) = found["cohen_kappa"]["linear"]["pairs"]
    assert (pair["raters"], pair["items"]) == (["ann", "bob"], 2)


def test_cohen_kappa_worked_by_hand(version: CorpusVersion, capsys) -> None:
    """Both judged two responses: (4, 2) and (1, 1). They agree once in two; by chance, with ann on
    4 and 1 and bob on 2 and 1 half of the time each, 1/4. κ = (1/2 − 1/4) / (1 − 1/4) = 1/3."""
    found = agreement(capsys, "--no-intervals")
    assert found["cohen_kappa"]["unweighted"]["mean"] == pytest.approx(1 / 3)


def test_agreement_without_intervals_is_asked_for_by_name(version: CorpusVersion, capsys) -> None:
    with_intervals = agreement(capsys)["fleiss_kappa"]
    without = agreement(capsys, "--no-intervals")["fleiss_kappa"]
    assert with_intervals.get("ci") or with_intervals.get("ci_reason")
    assert not without.get("ci")
    assert not without.get("ci_reason")


def test_options_of_draws_that_agreement_has_no_more_are_taken_with_a_note(
    version: CorpusVersion, capsys
) -> None:
    plain = agreement(capsys)
    call_command(
        "agreement", "--corpus", "small", "--format", "json", "--resamples", "50", "--seed", "3"
    )
    printed = capsys.readouterr()
    assert json.loads(printed.out) == plain
    assert "--resamples and --seed will go in 0.4" in printed.err
    call_command("agreement", "--corpus", "small", "--format", "json", "--resamples", "0")
    printed = capsys.readouterr()
    assert json.loads(printed.out) == agreement(capsys, "--no-intervals")


def test_every_undefined_number_has_its_reason(version: CorpusVersion, capsys) -> None:
    def undefined(value: object) -> list[dict]:
        if isinstance(value, dict):
            here = [value] if "value" in value and value["value"] is None else []
            return here + [found for part in value.values() for found in undefined(part)]
        if isinstance(value, list):
            return [found for part in value for found in undefined(part)]
        return []

    found = undefined(agreement(capsys, "--level", "dialogue"))
    assert len(found) >= 4 + 3 + 1 + 2 + 3
    assert all(estimate["reason"] for estimate in found)


def test_systems_may_be_left_out(version: CorpusVersion, capsys) -> None:
    assert agreement(capsys, "--exclude", "echo")["ratings"] == 3
    assert agreement(capsys, "--systems", "echo")["ratings"] == 3
    assert agreement(capsys, "--exclude", "echo")["items"] == 2


def test_the_table_says_each_coefficient_or_why_there_is_none(
    version: CorpusVersion, capsys
) -> None:
    call_command("agreement", "--corpus", "small", "--systems", "dull", "--no-intervals")
    out = capsys.readouterr().out
    assert "Krippendorff alpha" in out
    assert "– (" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--corpus", "large"], "there is no corpus large. Corpora: small"),
        (["--corpus", "small", "--aspect", "Grammar"], "no aspect 'Grammar'. Aspects: overall"),
        (["--corpus", "small", "--systems", "loud"], "no system 'loud'. Systems: echo, dull"),
        (["--corpus", "small", "--resamples", "-1"], "must be 0 or more"),
        (["--corpus", "small", "--seed", "-1"], "must be 0 or more"),
        (["--corpus", "small", "--level", "system"], "invalid choice"),
        ([], "--corpus"),
    ],
)
def test_what_is_not_known_is_named_with_what_is(
    version: CorpusVersion, arguments: list[str], says: str
) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("agreement", *arguments)
    assert says in str(refusal.value)


# --- delete_corpus --------------------------------------------------------------------------------


def test_delete_asks_for_force_where_there_are_results(version: CorpusVersion, capsys) -> None:
    actions.request([parse("word_f1")], select_systems(version), hint=False)
    with pytest.raises(CommandError, match="Use --force"):
        call_command("delete_corpus", "small")
    assert Corpus.objects.exists()
    call_command("delete_corpus", "small", "--force")
    assert capsys.readouterr().out == "small: deleted\n"
    assert not Corpus.objects.exists()
