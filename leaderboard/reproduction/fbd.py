"""The FBD paper's tables of correlations at system level, of six corpora and of four aspects: what
is printed there and what is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotations.corpora.queries import NotFound, resolve_aspect, select_systems, version_of
from annotations.models import CorpusVersion, System
from common.estimates import Estimate
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.system_choice import ALL
from leaderboard.reproduction.published import fbd
from workers.metrics.common.configuration import Configuration, parse, still_there
from workers.models import MetricRun

COEFFICIENTS = ("spearman", "pearson")
DIGITS = 3
"""Of the paper's figures."""
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
    (
        "Section 4.2 quotes USR on Persona(M), a metric that is trained: {:.3f} and {:.3f}.".format(
            *fbd.USR
        )
    ),
)


@dataclass
class _Column:
    """A corpus of the paper, or an aspect of one, as far as it is here."""

    published: fbd.PublishedCorpus
    slug: str
    place: int
    """Which of the published pairs of a row are this column's."""
    requested_aspect: str = ""
    """The aspect, "" for the main one."""
    version: CorpusVersion | None = None
    systems: list[System] = field(default_factory=list)
    aspect: str = ""
    known: dict[str, Configuration] = field(default_factory=dict)
    """By their texts, all of which a system has a score."""
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
    aspects: Sequence[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """``slugs``: the corpora that have another name here than ``fbd.CORPORA`` gives them.
    ``model``: the encoder of the metrics that take one, where it is not their default. ``aspects``:
    instead of the six corpora, these aspects of Daily(Z). Every row has its own configuration
    first; then come the other finished ones of its metric. What is not there has a reason, and a
    command to make it.

    Raises ``ConfigurationError`` for a configuration in ``ours`` that no metric knows, NotFound for
    an unknown key or aspect.
    """
    named = {corpus.slug: corpus.slug for corpus in fbd.CORPORA}
    if unknown := set(slugs or ()) - set(named):
        raise NotFound(
            f"the paper has no corpus {', '.join(sorted(unknown))}; it has: {', '.join(named)}"
        )
    named |= slugs or {}
    if unknown := set(aspects) - set(fbd.ASPECTS):
        raise NotFound(
            f"the paper has no figures of {', '.join(sorted(unknown))}; it has them of "
            f"{', '.join(fbd.ASPECTS)}"
        )
    configurations = {row: _with_model(parse(text), model) for row, text in (ours or OURS).items()}
    wanted = list(dict.fromkeys(configurations.values()))
    columns = _columns(named, aspects)
    for column in columns:
        _compute(column, wanted, resamples, seed)
    published = fbd.FINE_GRAINED if aspects else fbd.CORRELATIONS
    rows = [
        _row_document(one, configuration, columns, is_own)
        for one in published
        for configuration, is_own in _of_row(configurations[one.metric], wanted, columns)
    ]
    return {
        "table": "fbd",
        "published": fbd.CITATION,
        "resamples": resamples,
        "seed": seed,
        "corpora": [_corpus_document(column) for column in columns],
        "rows": rows,
        "agreement": _agreement(rows),
        "missing": _what_is_missing(columns, wanted),
        "notes": list(NOTES),
    }


def _with_model(configuration: Configuration, model: str) -> Configuration:
    if not model or "model" not in configuration.options:
        return configuration
    return Configuration.of(configuration.metric, **{**configuration.options, "model": model})


# --- what is here of a corpus ---------------------------------------------------------------------


def _columns(named: Mapping[str, str], aspects: Sequence[str]) -> list[_Column]:
    if not aspects:
        return [
            _Column(corpus, named[corpus.slug], place) for place, corpus in enumerate(fbd.CORPORA)
        ]
    (corpus,) = [one for one in fbd.CORPORA if one.slug == fbd.ASPECTS_OF]
    return [
        _Column(corpus, named[corpus.slug], fbd.ASPECTS.index(aspect), aspect) for aspect in aspects
    ]


def _compute(column: _Column, wanted: Sequence[Configuration], resamples: int, seed: int) -> None:
    try:
        column.version = version_of(column.slug)
        column.aspect = resolve_aspect(column.version, column.requested_aspect or None)
    except NotFound:
        return
    column.systems = select_systems(column.version)
    _find_runs(column, {one.metric.name for one in wanted})
    computed = [
        one
        for text, one in column.known.items()
        if column.finished[text] == len(column.systems) > 0
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


def _find_runs(column: _Column, metrics: set[str]) -> None:
    """Finished runs of the metrics' present versions: a table with some of the systems would be
    another table."""
    done = MetricRun.objects.filter(
        system__in=column.systems, state=MetricRun.State.DONE, metric__in=metrics
    )
    runs = done.values_list("configuration", "metric_version", "model")
    for text, metric_version, model in runs.order_by("configuration", "model"):
        configuration = column.known.get(text) or still_there(text, metric_version)
        if configuration is None or configuration.metric.version != metric_version:
            continue
        column.known[text] = configuration
        column.finished[text] = column.finished.get(text, 0) + 1
        if model and model not in column.models.setdefault(text, []):
            column.models[text].append(model)


def _of_row(
    own: Configuration, wanted: Sequence[Configuration], columns: Sequence[_Column]
) -> list[tuple[Configuration, bool]]:
    """The row's own configuration (True), then what else is computed of its metric."""
    others = {
        text: column.known[text]
        for column in columns
        for text in column.rows
        if column.known[text].metric.name == own.metric.name and column.known[text] not in wanted
    }
    return [(own, True), *((others[text], False) for text in sorted(others))]


def _what_is_missing(
    columns: Sequence[_Column], wanted: Sequence[Configuration]
) -> list[dict[str, str]]:
    """By corpus, which may have several columns."""
    of_corpus = {column.slug: _missing_in(column, wanted) for column in columns}
    return [line for line in of_corpus.values() if line is not None]


def _missing_in(column: _Column, wanted: Sequence[Configuration]) -> dict[str, str] | None:
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
    document: dict[str, Any] = {
        "title": column.requested_aspect.capitalize() or column.published.title,
        "corpus": column.slug,
        "published_systems": list(column.published.systems),
        "published_decoding": list(column.published.decoding),
    }
    if column.version is None:
        return {**document, "corpus_version": None, "reason": _no_corpus(column)}
    return {
        **document,
        "corpus_version": column.version.label,
        "aspect": column.aspect,
        "systems": len(column.systems),
    }


def _row_document(
    published: fbd.PublishedMetric,
    configuration: Configuration,
    columns: Sequence[_Column],
    is_own: bool,
) -> dict[str, Any]:
    """The published figures stand in the row's own configuration."""
    printed = published.by_encoder if is_own else {}
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
        "cells": [_cell(printed, configuration, column) for column in columns],
    }


def _cell(
    printed: Mapping[str, Sequence[fbd.Pair]], configuration: Configuration, column: _Column
) -> dict[str, Any]:
    row = column.rows.get(configuration.text)
    found: dict[str, Any] = {
        "corpus": column.slug,
        **({"aspect": column.requested_aspect} if column.requested_aspect else {}),
        "published": [
            {
                "encoder": encoder or None,
                **dict(zip(COEFFICIENTS, pairs[column.place], strict=True)),
            }
            for encoder, pairs in printed.items()
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


def _agreement(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Of the figures that are printed and computed: how many are the paper's, to its digits, by
    one of its encoders where it has two."""
    pairs = [
        (cell[name]["absolute"], [published[name] for published in cell["published"]])
        for row in rows
        for cell in row["cells"]
        for name in COEFFICIENTS
        if cell["published"] and cell[name]["value"] is not None
    ]
    same = [
        any(abs(ours - printed) <= 0.5 * 10**-DIGITS + 1e-9 for printed in published)
        for ours, published in pairs
    ]
    return {"figures": len(pairs), "same": sum(same)}


def _why_empty(configuration: Configuration, column: _Column) -> str:
    if column.version is None:
        return _no_corpus(column)
    if not column.systems:
        return f"{column.slug} has no systems"
    done = column.finished.get(configuration.text, 0)
    if done == len(column.systems):
        return "nobody rated the systems"
    return f"computed of {done} of {len(column.systems)} systems"
