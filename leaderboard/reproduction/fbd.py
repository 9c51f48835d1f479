"""The FBD paper's table of correlations at system level: what is printed there and what is computed
here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from annotations.corpora.queries import NotFound, resolve_aspect, select_systems, version_of
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.system_choice import ALL
from leaderboard.reproduction.published import fbd
from workers.metrics.common.configuration import Configuration, parse
from workers.models import MetricRun

COEFFICIENTS = ("spearman", "pearson")
OURS = {
    "BLEU": "corpus_bleu[tokenize=treebank,lowercase=true,unicode=none,smooth=none]",
    "METEOR": "meteor[normalize=false,tokenize=parlai,synonyms=words]",
    "ROUGE-L": "rouge_l[normalize=false,tokenize=py-rouge,stem=true]",
    "Greedy": "greedy_matching[unicode=none]",
    "Average": "embedding_average[unicode=none]",
    "Extrema": "vector_extrema[unicode=none]",
    "BERTScore": "bertscore_f1[unicode=none]",
    "FBD": "fbd",
    "PRD": "prd[seeds=20]",
}
"""The row of the paper → the configuration beside it, which takes the texts as they are, as the
paper's code did."""
NOTES = (
    "Absolute values, as the paper prints them; † where ours goes against the metric's own "
    "direction (a distance should fall where people are content, all others rise).",
    (
        "PRD: the mean of 20 seeds, because one moves a correlation over systems by .1 to .3; the "
        "paper gives one."
    ),
)


@dataclass
class _Column:
    """A corpus of the paper, as far as it is here."""

    published: fbd.PublishedCorpus
    slug: str
    version: CorpusVersion | None = None
    systems: list[System] = field(default_factory=list)
    aspect: str = ""
    finished: dict[str, int] = field(default_factory=dict)
    """By configuration: of how many systems its score is there."""
    models: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, CorrelationRow] = field(default_factory=dict)
    """By configuration: the system level's row of ``meta_evaluation``."""


def fbd_table(
    slugs: Mapping[str, str] | None = None,
    model: str = "",
    ours: Mapping[str, str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """``slugs``: the corpora that have another name here than ``fbd.CORPORA`` gives them.
    ``model``: the encoder of the metrics that take one, where it is not their default. What is not
    there has a reason, and a command to make it.

    Raises ``ConfigurationError`` for a configuration in ``ours`` that no metric knows, NotFound for
    an unknown key.
    """
    named = {corpus.slug: corpus.slug for corpus in fbd.CORPORA}
    if unknown := set(slugs or ()) - set(named):
        raise NotFound(
            f"the paper has no corpus {', '.join(sorted(unknown))}; it has: {', '.join(named)}"
        )
    named |= slugs or {}
    configurations = {row: _with_model(parse(text), model) for row, text in (ours or OURS).items()}
    wanted = list(dict.fromkeys(configurations.values()))
    columns = [
        _column(corpus, named[corpus.slug], wanted, resamples, seed) for corpus in fbd.CORPORA
    ]
    return {
        "table": "fbd",
        "published": fbd.CITATION,
        "resamples": resamples,
        "seed": seed,
        "corpora": [_corpus_document(column) for column in columns],
        "rows": [
            _row_document(one, configurations[one.metric], columns) for one in fbd.CORRELATIONS
        ],
        "missing": [line for column in columns if (line := _what_is_missing(column, wanted))],
        "notes": list(NOTES),
    }


def _with_model(configuration: Configuration, model: str) -> Configuration:
    if not model or "model" not in configuration.options:
        return configuration
    return Configuration.of(configuration.metric, **{**configuration.options, "model": model})


# --- what is here of a corpus ---------------------------------------------------------------------


def _column(
    published: fbd.PublishedCorpus,
    slug: str,
    wanted: Sequence[Configuration],
    resamples: int,
    seed: int,
) -> _Column:
    column = _Column(published, slug)
    try:
        column.version = version_of(slug)
        column.aspect = resolve_aspect(column.version, None)
    except NotFound:
        return column
    column.systems = select_systems(column.version)
    _find_runs(column, wanted)
    computed = [
        one for one in wanted if column.finished.get(one.text, 0) == len(column.systems) > 0
    ]
    if computed:
        found = meta_evaluation(
            column.version,
            column.aspect,
            ["system"],
            computed,
            column.systems,
            resamples=resamples,
            seed=seed,
            variants=False,
            systems_chosen=ALL,
        )
        column.rows = {row.metric: row for row in found.rows}
    return column


def _find_runs(column: _Column, wanted: Sequence[Configuration]) -> None:
    """Finished runs of the metrics' present versions: a table with some of the systems would be
    another table."""
    versions = {one.text: one.metric.version for one in wanted}
    done = MetricRun.objects.filter(
        system__in=column.systems, state=MetricRun.State.DONE, configuration__in=list(versions)
    )
    counted = done.values_list("configuration", "metric_version", "model").annotate(Count("pk"))
    for text, metric_version, model, count in counted.order_by("configuration", "model"):
        if versions[text] == metric_version:
            column.finished[text] = column.finished.get(text, 0) + count
            if model:
                column.models.setdefault(text, []).append(model)


def _what_is_missing(column: _Column, wanted: Sequence[Configuration]) -> dict[str, str] | None:
    if column.version is None:
        return {
            "corpus": column.slug,
            "reason": _no_corpus(column),
            "command": (
                f"manage.py import_corpus fbd {column.published.slug}_annotation.json --slug "
                f"{column.slug}"
            ),
        }
    texts = [one.text for one in wanted if one.text not in column.rows]
    if not texts:
        return None
    return {
        "corpus": column.slug,
        "reason": f"not computed of all systems: {', '.join(texts)}",
        "command": f'manage.py score --corpus {column.slug} --metrics "{",".join(texts)}"',
    }


def _no_corpus(column: _Column) -> str:
    return f"there is no corpus {column.slug}"


# --- the document ---------------------------------------------------------------------------------


def _corpus_document(column: _Column) -> dict[str, Any]:
    document: dict[str, Any] = {"title": column.published.title, "corpus": column.slug}
    if column.version is None:
        return {**document, "corpus_version": None, "reason": _no_corpus(column)}
    return {
        **document,
        "corpus_version": column.version.label,
        "aspect": column.aspect,
        "systems": len(column.systems),
    }


def _row_document(
    published: fbd.PublishedMetric, configuration: Configuration, columns: Sequence[_Column]
) -> dict[str, Any]:
    models = list(
        dict.fromkeys(
            model for column in columns for model in column.models.get(configuration.text, ())
        )
    )
    return {
        "metric": published.metric,
        "group": published.group,
        "configuration": configuration.text,
        "models": models,
        "higher_is_better": configuration.higher_is_better,
        "cells": [
            _cell(published, configuration, place, column) for place, column in enumerate(columns)
        ],
    }


def _cell(
    published: fbd.PublishedMetric, configuration: Configuration, place: int, column: _Column
) -> dict[str, Any]:
    row = column.rows.get(configuration.text)
    found: dict[str, Any] = {
        "corpus": column.slug,
        "published": [
            {"encoder": encoder or None, **dict(zip(COEFFICIENTS, pairs[place], strict=True))}
            for encoder, pairs in published.by_encoder.items()
        ],
    }
    if row is None:
        nothing = {"value": None, "reason": _why_empty(configuration, column)}
        return {**found, **dict.fromkeys(COEFFICIENTS, nothing)}
    found |= {"n": row.n, "signature": row.signature}
    return found | {
        name: _beside_published(row.of(name), row.higher_is_better) for name in COEFFICIENTS
    }


def _beside_published(estimate: Estimate, higher_is_better: bool) -> dict[str, Any]:
    value = estimate.value
    if value is None:
        return estimate.as_json()
    return {
        **estimate.as_json(),
        "absolute": abs(value),
        "against_direction": value < 0 if higher_is_better else value > 0,
    }


def _why_empty(configuration: Configuration, column: _Column) -> str:
    if column.version is None:
        return _no_corpus(column)
    if not column.systems:
        return f"{column.slug} has no systems"
    done = column.finished.get(configuration.text, 0)
    if done == len(column.systems):
        return "nobody rated the systems"
    return f"computed of {done} of {len(column.systems)} systems"
