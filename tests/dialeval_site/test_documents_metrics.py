"""Metrics declare what the reference page says of them; what the document says of several is what
these do: signatures, and what a run keeps beside its scores."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from dialeval_site.demo.site import WITH_A_MODEL
from tests.dialeval_site.documents import (
    code_words,
    first_table,
    flat,
    sections,
    text_of,
)
from tests.site import PROJECT
from workers.inference.encoders.feature_store import FILE_NAME
from workers.metrics.base import Metric
from workers.metrics.common.pair_features import Compare, _run_info_of
from workers.metrics.common.signature_facts import FACTS
from workers.metrics.registry import built_in_metrics

PAGE = text_of("metrics.md")
METRICS = {metric.name: metric for metric in built_in_metrics()}


# --- what each declares ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_choice_of_an_option_is_explained(name: str) -> None:
    """By the option, the metric or, of what several share, the document."""
    metric = METRICS[name]
    for option in metric.options:
        assert option.help.strip(), option.name
        words = set(re.findall(r"[\w-]+", f"{option.help} {metric.description} {PAGE}"))
        others = {str(one) for one in option.choices if one not in (option.default, "")}
        assert others <= words, option.name


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_metric_s_page_has_its_equation_and_description(name: str) -> None:
    metric = METRICS[name]
    assert metric.equation.strip()
    assert len(metric.description.split()) >= 30, "what it measures and what it misses"
    assert metric.summary.endswith(".")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_metric_names_its_source(name: str) -> None:
    assert re.search(r"\(\d{4}\)", METRICS[name].citation), name


# --- signatures and what a run keeps --------------------------------------------------------------


def test_every_fact_of_a_signature_is_documented() -> None:
    fixed = {fact for metric in METRICS.values() for fact, _ in metric.signature_facts}
    scorers = set(facts_of_accounts())
    by_the_site = {"n", "n_human", "model_revision"}
    assert set(FACTS) == fixed | scorers | by_the_site


def facts_of_accounts() -> Iterator[str]:
    """``("dtype", …)``: pairs in what is called ``facts`` or handed to an ``Account`` or
    ``account_of``."""
    for path in sorted((PROJECT / "workers" / "metrics").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not says_facts(node):
                continue
            for inner in ast.walk(node):
                match inner:
                    case ast.Tuple(elts=[ast.Constant(value=str(name)), _]):
                        yield name


def says_facts(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id="facts")]) | ast.Assign(targets=[ast.Name(id="own")]):
            return True
        case ast.FunctionDef(name="facts" | "facts_of" | "_facts_of" | "persona_fields"):
            return True
        case ast.Call(func=ast.Name(id="Account" | "account_of")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="facts"), attr="append")):
            return True
    return False


def test_every_detail_of_a_run_is_documented() -> None:
    table = sections(PAGE)["What is stored with a score"].partition("\n| detail |")[2]
    rows = first_table("| detail |" + table)
    documented = {word for row in rows for cell in (row[0], row[2]) for word in code_words(cell)}
    assert set(keys_of(every_detail())) == documented


def every_detail() -> dict[str, Any]:
    """What FBD and PRD store of 30 points a side, of two points, and of pairs that were cut."""
    points = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
    few = np.zeros((2, 3), np.float32)
    encoder = SimpleNamespace(
        files=SimpleNamespace(label="m@1"), device_label="cpu", dtype_name="f", max_tokens=9
    )
    found: dict[str, Any] = {}
    for name in ("fbd", "prd"):
        compare = cast(Compare, scorer_of(METRICS[name])._compare)
        found[name] = dict(compare(points[:30], points[30:]).details)
    found["few"] = dict(cast(Compare, scorer_of(METRICS["fbd"])._compare)(few, few).details)
    found["cut"] = dict(_run_info_of(cast(Any, encoder), frozenset({0, 2}), 1, {}).details)
    return found


def scorer_of(metric: Metric) -> Any:
    return metric.build({option.name: option.default for option in metric.options})


def keys_of(documents: dict[str, Any]) -> Iterator[str]:
    for document in documents.values():
        yield from inner_keys(document)


def inner_keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from inner_keys(inner)


def test_no_other_metric_stores_details_than_those_of_the_table() -> None:
    """Who passes ``details=`` on is known to the test above."""
    saying = {
        path.stem
        for path in (PROJECT / "workers" / "metrics").rglob("*.py")
        if re.search(r"\bdetails\s*=", path.read_text(encoding="utf-8"))
    }
    assert saying <= {"pair_features"}


# --- lists of all metrics -------------------------------------------------------------------------


def test_the_table_of_all_metrics_names_every_metric() -> None:
    named = {
        word for row in first_table(sections(PAGE)["All of them"]) for word in code_words(row[1])
    }
    spelled = {
        name for word in named for name in ([word] if word != "fed_<aspect>" else fed_names())
    }
    assert spelled == set(METRICS)


def fed_names() -> list[str]:
    return [name for name in METRICS if name.startswith("fed_")]


def test_what_an_empty_response_scores_is_said_of_every_family() -> None:
    rows = flat(
        " ".join(row[0] for row in first_table(sections(PAGE)["What an empty response scores"]))
    )
    for family in (
        "BLEU",
        "ROUGE",
        "METEOR",
        "BERTScore",
        "word vectors",
        "simcse",
        "context_similarity",
        "gpt2_coherency",
        "pmi",
        "FED",
        "usr_mlm",
        "bleurt",
        "unieval",
        "fbd",
        "prd",
    ):
        assert family in rows, family


def test_the_demo_s_metrics_with_a_model_are_documented() -> None:
    section = sections(text_of("demo.md"))["Its metrics"]
    assert set(WITH_A_MODEL) <= set(code_words(section))
    assert set(WITH_A_MODEL) <= set(METRICS)


def test_folders_of_models_are_documented() -> None:
    """What workers keep below DIALEVAL_HOME, and that it need not be backed up."""
    page = flat(text_of("settings.md"))
    for folder in ("features", "models"):
        assert f"(`{folder}`" in page
    assert "`features` and `models` may be left out" in page
    workers = text_of("workers.md")
    assert FILE_NAME in workers
