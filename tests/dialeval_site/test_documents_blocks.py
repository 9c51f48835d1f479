"""Every fenced block of every document is run, compared with what really comes, or parsed; the few
that say nothing which a program could check are named here, with the reason."""

from __future__ import annotations

import ast
import csv
import hmac
import io
import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.template import Template
from django.test import Client

from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import krippendorff_alphas
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.tabulation import tabulate
from annotations.campaigns.models.campaign import Campaign
from annotations.corpora.queries import version_of
from annotations.formats.importers.column_mapping import Column, mapping_from_yaml
from annotations.formats.importers.registry import importers
from annotations.personas.knowledge import load_knowledge
from annotations.questions.reading import read_text as read_form
from common.correlation import correlation_estimates
from common.correlation.resampling import Redraws
from leaderboard.actions import Described, store_submitted_metric
from leaderboard.challenges import notices
from leaderboard.challenges.models import Submission
from leaderboard.challenges.prompts.spec import read_prompt as read_template
from leaderboard.statistics.significance.system_differences import compare_systems
from tests.annotations.formats.importers.helpers import file_of, problems, surveyed
from tests.dialeval_site.documents import SHELL, Block, blocks
from tests.site import PROJECT
from workers.judges.core.prompt_file import read_prompt
from workers.models import MetricRun

# --- which block is held to what ------------------------------------------------------------------

REMOTE = {
    "example": "annotations/formats/importers/test_documented_examples.py: it is imported",
    "responses": "challenges/files/test_documented_examples.py: it is submitted",
    "scores": "challenges/files/test_documented_examples.py: it is submitted",
    "dialogues": "challenges/files/test_documented_examples.py: it is answered",
    "file": "test_documents_metric_author.py: it is installed and run",
}
"""By the comment above the block."""

OTHER_TESTS = {
    ("README.md", "dialeval is at"): "test_documents.py: test_the_readme_shows_what_run_prints",
    (
        "docs/api.md",
        "X-Dialeval-Event",
    ): "test_documents_programs.py: headers, events and the keys of the body",
    ("docs/design.md", "annotations/campaigns/access.py "): "test_documents_walks.py: walked",
    (
        "docs/design.md",
        "leaderboard/challenges/views/rounds.py ",
    ): "test_documents_walks.py: walked",
    ("docs/design.md", "workers/runs/views.py "): "test_documents_walks.py: walked",
    (
        "docs/formats.md",
        "from datasets import load_dataset",
    ): "annotations/formats/exporters/test_dataset.py: test_load_dataset_reads_the_folder",
    ("docs/formats.md", '{"role": "training"'): "test_documents_campaigns.py: it is read",
}

NOTHING_TO_CHECK = {
    ("docs/campaigns.md", "now + ratings left"): "a formula in words",
    ("docs/campaigns.md", "propensity = eligible slots"): "a formula in words",
    (
        "docs/campaigns.md",
        "My name is Sabine.",
    ): "how a persona is laid out; its sentences are drawn",
    (
        "docs/statistics_allocation.md",
        "q_s = 0.8",
    ): "a formula; its two numbers are FLOOR, tested with the plan",
    ("docs/statistics_allocation.md", "system_propensity  p"): "a formula",
    ("docs/statistics_allocation.md", "mean_s    ="): "a formula",
    ("docs/statistics_preferences.md", "chance of (i, j)"): "a formula, tested with the plan",
}


def held_here() -> dict[tuple[str, str], Callable[..., None]]:
    return {
        ("docs/api.md", "expected ="): the_receiver_knows_a_notice,
        ("docs/campaigns.md", "draft --open-->"): names_all(Campaign.State.values),
        ("docs/challenges.md", "draft --open-->"): names_all(["draft", "open", "closed"]),
        ("docs/challenges.md", "received -->"): names_all(Submission.State.values),
        ("docs/workers.md", "pending --claim"): names_all(MetricRun.State.values),
        ("docs/design.md", "manage.py  requirements.txt"): names_what_is_there,
        ("docs/formats.md", "ratings.json: $[3]"): are_said_of_such_files,
        ("docs/formats.md", '{"metric": "word_f1"'): is_a_line_of_exported_scores,
        ("docs/formats.md", '{"metric": "my_metric"'): is_a_line_of_submitted_metrics,
        ("docs/formats.md", "documents/context-response.docs"): are_files_of_an_export,
        ("docs/formats.md", "columns:"): is_a_mapping_of_a_table,
        ("docs/formats.md", '{"type": "dialogue", "id": "pot"'): are_lines_of_a_corpus,
        ("docs/formats.md", "{"): is_a_template_for_the_prompt_track,
        ("docs/formats.md", '[{"head": "I am a beekeeper."'): is_knowledge_of_personas,
        ("docs/judges.md", "# Lines that begin"): is_a_prompt_of_a_judge,
        ("docs/look.md", "table = mark_best("): is_python,
        ("docs/look.md", "{% load dialeval %}"): is_a_template,
        ("docs/operators.md", '{"status": "not ready"'): has_the_keys_of_what_ready_answers,
        ("docs/questions.md", "name: helpful-reply"): is_a_form,
        ("docs/statistics.md", "dialogue,system,ann"): is_the_worked_example,
    }


def key_of(block: Block, keys: dict[tuple[str, str], object]) -> tuple[str, str] | None:
    """The longest beginning that fits, so that ``{`` stands for the block that no other entry
    names."""
    fitting = [
        key for key in keys if key[0] == block.document and block.first_line.startswith(key[1])
    ]
    return max(fitting, key=lambda key: len(key[1]), default=None)


def is_shell(block: Block) -> bool:
    """Its commands are parsed one by one: test_documents.py, test_examples_name_what_exists."""
    return block.language in SHELL


def by_parser_alone(block: Block) -> Callable[[Block], None] | None:
    """For languages in which a block is right when it can be read: configurations of other
    programs."""
    return {"toml": is_toml, "json": is_json, "python": is_python}.get(block.language)


@pytest.mark.parametrize("block", [one for one in blocks() if not is_shell(one)], ids=str)
def test_every_block_is_held_to_something(block: Block) -> None:
    kind = block.mark.partition(":")[0]
    held = (
        kind in REMOTE
        or key_of(block, OTHER_TESTS)
        or key_of(block, NOTHING_TO_CHECK)
        or key_of(block, held_here())
    )
    assert held, (
        f"{block} is checked by no test: say in this module by which, or why not: "
        f"{block.first_line}"
    )


def test_the_lists_name_no_block_that_is_gone() -> None:
    everything = {**OTHER_TESTS, **NOTHING_TO_CHECK, **held_here()}
    found = {
        key_of(block, everything)
        for block in blocks()
        if block.mark.partition(":")[0] not in REMOTE
    }
    assert set(everything) - found == set()


BLOCKS_HELD_HERE = [
    block
    for block in blocks()
    if not is_shell(block) and block.mark.partition(":")[0] not in REMOTE
]


@pytest.mark.django_db
@pytest.mark.parametrize("block", BLOCKS_HELD_HERE, ids=str)
def test_a_block_is_what_it_says(block: Block, tmp_path: Path) -> None:
    key = key_of(block, {**OTHER_TESTS, **NOTHING_TO_CHECK, **held_here()})
    check = held_here().get(key) if key else by_parser_alone(block)
    if check is not None:
        check(block, tmp_path)


# --- languages ------------------------------------------------------------------------------------


def is_json(block: Block, _: Path) -> None:
    json.loads(block.text)


def is_a_form(block: Block, _: Path) -> None:
    read_form(block.text)


def is_toml(block: Block, _: Path) -> None:
    tomllib.loads(block.text)


def is_python(block: Block, _: Path) -> None:
    ast.parse(block.text)


def is_a_template(block: Block, _: Path) -> None:
    """Its tags exist and take these arguments; there is no table to render."""
    Template(block.text)


def names_all(words: list[str]) -> Callable[[Block, Path], None]:
    def check(block: Block, _: Path) -> None:
        assert set(words) <= set(re.findall(r"[a-z_]+", block.text))

    return check


# --- design.md ------------------------------------------------------------------------------------


def names_what_is_there(block: Block, _: Path) -> None:
    """The house: each line begins with a folder or names files at the top."""
    places = re.findall(r"^(\S+/)(?=\s|$)", block.text, flags=re.MULTILINE)
    assert [place for place in places if not (PROJECT / place).is_dir()] == []
    at_the_top = {
        path.name for path in PROJECT.iterdir() if path.is_dir() and (path / "__init__.py").exists()
    }
    assert at_the_top <= {place.rstrip("/") for place in places} | {"bench"}
    assert [
        name for name in block.text.splitlines()[0].split() if not (PROJECT / name).exists()
    ] == []


# --- formats.md -----------------------------------------------------------------------------------


def are_said_of_such_files(block: Block, folder: Path) -> None:
    """A score that is a text in USR's fourth context; in line 12 of our own format one that is off
    the scale."""
    first, second = block.text.splitlines()
    contexts = [json.loads(importers()["usr"].example)[0] for _ in range(4)]
    contexts[3]["responses"][0]["Overall"][1] = "4"
    assert first in problems("usr", file_of(folder, contexts, "ratings.json"))
    lines = importers()["jsonl"].example.splitlines()
    systems = [
        json.dumps({"type": "system", "name": f"system {n}"}) for n in range(12 - len(lines))
    ]
    off_the_scale = json.dumps({**json.loads(lines[-1]), "score": 6})
    assert second in problems(
        "jsonl",
        file_of(
            folder, "\n".join([lines[0], *systems, *lines[1:-1], off_the_scale]), "corpus.jsonl"
        ),
    )


def is_a_mapping_of_a_table(block: Block, _folder: Path) -> None:
    """It maps the columns whose names say nothing, each to the use that is written."""
    mapping = mapping_from_yaml(block.text)
    assert mapping.columns == {
        "bot": Column("system"),
        "said": Column("response"),
        "q1 ann": Column("score", "fluent", "ann"),
        "date": Column("metadata"),
    }


def are_lines_of_a_corpus(block: Block, folder: Path) -> None:
    """Below the lines that it leaves out, and with the answer of the other system."""
    head = [
        {"type": "corpus"},
        {"type": "system", "name": "parrot"},
        {"type": "system", "name": "cook"},
        {"type": "rater", "name": "ann"},
    ]
    cook = {"type": "response", "dialogue_id": "pot", "turn": 0, "system": "cook", "text": "Leeks."}
    dialogue, *others = block.text.splitlines()
    lines = [*map(json.dumps, head), dialogue, json.dumps(cook), *others]
    [found] = surveyed("jsonl", file_of(folder, "\n".join(lines), "corpus.jsonl"))
    counts = found.counts
    assert (counts.dialogues, counts.responses, counts.labels, counts.preferences) == (1, 2, 1, 1)


def exported_soup(folder: Path, format: str) -> Path:
    """The example of our own format, imported, scored and exported."""
    corpus = file_of(folder, importers()["jsonl"].example, "soup.jsonl")
    call_command("import_corpus", "jsonl", str(corpus), "--slug", "soup")
    call_command("score", "--corpus", "soup", "--metrics", "word_f1", "--inline")
    call_command("export_corpus", "soup", "--to", str(folder / "export"), "--format", format)
    return folder / "export"


def is_a_line_of_exported_scores(block: Block, folder: Path) -> None:
    lines = (
        (exported_soup(folder, "jsonl") / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    )
    is_but_for_what_is_left_out(
        block, next(one for one in map(json.loads, lines) if one["level"] == "turn")
    )


def is_but_for_what_is_left_out(block: Block, real: dict[str, object]) -> None:
    """``…`` stands for anything, once in a text."""
    shown = json.loads(block.text)
    assert list(shown) == list(real)
    for name, value in shown.items():
        if isinstance(value, str) and "…" in value:
            beginning, _, end = value.partition("…")
            assert str(real[name]).startswith(beginning), name
            assert str(real[name]).endswith(end), name
        else:
            assert value == real[name], name


def is_a_line_of_submitted_metrics(block: Block, folder: Path) -> None:
    """Of the same example, for which somebody hands in a score."""
    export = exported_soup(folder, "jsonl")
    version = version_of("soup")
    described = Described("my_metric", "turn")
    ann = get_user_model().objects.create_user("ann")
    store_submitted_metric(version, ann, described, "ab" * 32, {version.systems.get().pk: [0.25]})
    call_command("export_corpus", "soup", "--to", str(export), "--format", "jsonl", "--replace")
    [line] = (export / "submitted_metrics.jsonl").read_text(encoding="utf-8").splitlines()
    is_but_for_what_is_left_out(block, json.loads(line))


def are_files_of_an_export(block: Block, folder: Path) -> None:
    """Path and content of each line; the last tells what is in its file."""
    export = exported_soup(folder, "mt-metrics-eval")
    for line in block.text.splitlines():
        path, content = re.split(r"\s+", line, maxsplit=1)
        assert (export / path).is_file(), path
        if path != "names.tsv":
            assert content.split() == (export / path).read_text(encoding="utf-8").split(), path


def is_a_template_for_the_prompt_track(block: Block, _: Path) -> None:
    assert read_template(block.text.encode()).second is not None


def is_knowledge_of_personas(block: Block, folder: Path) -> None:
    """One head is too few to draw from: with copies of other names it is taken."""
    (head,) = json.loads(block.text)
    heads = [{**head, "head": f"I am beekeeper number {number}."} for number in range(20)]
    assert len(load_knowledge(file_of(folder, [head, *heads])).heads) == 21


def is_a_prompt_of_a_judge(block: Block, _: Path) -> None:
    prompt = read_prompt(block.text)
    assert prompt.labels == ("kindness", "overall")


# --- api.md ---------------------------------------------------------------------------------------


def the_receiver_knows_a_notice(block: Block, _: Path) -> None:
    """The two lines are run against a signature of the site's; a changed body and an old one are
    refused."""
    body, now = b'{"event": "test"}', str(int(time.time()))

    def receive(body: bytes, timestamp: str, signature: str) -> bool:
        known = {
            "hmac": hmac,
            "time": time,
            "secret": "quiet",
            "body": body,
            "timestamp": timestamp,
        }
        known["signature"] = signature
        exec(block.text, known)
        return bool(known["ok"])

    assert receive(body, now, notices.signature("quiet", now, body))
    assert not receive(body + b" ", now, notices.signature("quiet", now, body))
    old = str(int(now) - 301)
    assert not receive(body, old, notices.signature("quiet", old, body))


# --- operators.md ---------------------------------------------------------------------------------


def has_the_keys_of_what_ready_answers(block: Block, _: Path) -> None:
    shown, real = json.loads(block.text), Client().get("/ready/").json()
    assert shown.keys() == real.keys()
    for part in ("checks", "workers"):
        assert shown[part].keys() == real[part].keys()
        assert {key for one in shown[part].values() for key in one} == {
            key for one in real[part].values() for key in one
        }


# --- statistics.md --------------------------------------------------------------------------------


def is_the_worked_example(block: Block, _: Path) -> None:
    """The figures that stand below the table, from the functions of the site."""
    rows = list(csv.DictReader(io.StringIO(block.text)))
    ratings = np.array([[float(row[rater]) for row in rows] for rater in ("ann", "bob", "cem")])
    dialogue = np.array([row["dialogue"] == "bread" for row in rows], dtype=np.int64)
    people, metric = ratings.mean(axis=0), np.array([0.9, 0.2, 0.7, 0.4])
    page = (PROJECT / "docs" / "statistics.md").read_text(encoding="utf-8")
    assert np.allclose(people, [14 / 3, 5 / 3, 11 / 3, 7 / 3])
    assert "14/3, 5/3, 11/3, 7/3" in page

    r = correlation_estimates(people, metric, dialogue, Redraws.jackknife(2))["pearson"]
    assert r.value is not None
    assert f"{r.value:.3f}".removeprefix("0") == ".997"
    assert r.ci is None
    assert "at the end of its scale" in r.reason

    gap = compare_systems(people[[0, 2]], people[[1, 3]], np.array([0, 1])).difference
    assert gap.value is not None
    assert gap.ci is not None
    assert (
        f"{gap.value:.2f} ± {(gap.ci[1] - gap.ci[0]) / 2:.1f}: from −{-gap.ci[0]:.1f} to "
        f"{gap.ci[1]:.1f}" in page
    )

    matrix = RatingMatrix(ratings, dialogue, ("ann", "bob", "cem"))
    alpha = krippendorff_alphas(tabulate(matrix), Jackknife.none(2))["interval"].value
    assert alpha is not None
    assert f"(interval distance): {alpha:.2f}.".replace("0.", ".") in page
