"""The FBD paper's tables of correlations at system level, of six corpora and of four aspects: what
is printed there and what is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotations.corpora.queries import NotFound
from common.estimates import Estimate
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.reproduction.corpora import (
    Choice,
    PaperCorpus,
    agreement,
    corpora_of,
    is_of_row,
    look_up_all,
    what_is_missing,
)
from leaderboard.reproduction.published import Row, paper
from workers.metrics.common.configuration import Configuration, parse

PAPER = paper("fbd")
CORRELATIONS, FINE_GRAINED = PAPER.tables["1"], PAPER.tables["3"]
ASPECTS_OF = "dailyz"
"""The corpus of the fine-grained table."""
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
(_USR,) = PAPER.tables["4.2"].rows
NOTES = (
    "Absolute values, as the paper prints them; † where ours goes against the metric's own "
    "direction (a distance should fall where people are content, all others rise).",
    (
        "PRD: the mean of 20 seeds, because one moves a correlation over systems by .1 to .3; the "
        "paper gives one."
    ),
    (
        "Section 4.2 quotes USR on Persona(M), a metric that is trained: {:.3f} and {:.3f}.".format(
            *(figure.value for figure in _USR.figures.values())
        )
    ),
)
WHY_NOT = (
    "The paper's vectors are GloVe's (Greedy, Average, Extrema) and its encoders BERT and RoBERTa "
    "(BERTScore, FBD, PRD): --model takes them where they are on this machine."
)


@dataclass(frozen=True)
class _Column:
    """``name``: of the published column; ``aspect``: the requested one, "" for the main one."""

    name: str
    corpus: PaperCorpus
    aspect: str
    rows: Mapping[str, CorrelationRow]
    """By configuration: the system level's row of ``meta_evaluation``."""


def fbd_table(
    choice: Choice, models: Sequence[str] = (), aspects: Sequence[str] = ()
) -> dict[str, Any]:
    """Tables 1 or 3 of the paper, with every finished configuration of their metrics and every
    metric whose scores were submitted under a row's name.

    Args:
        choice: corpora, systems, draws.
        models: the encoders of the metrics that take one, where it is not their default; the
            published figures stand above the first.
        aspects: instead of the six corpora, these aspects of Daily(Z).

    Returns:
        Every row has its own configuration first; then come the others. What is not there has a
        reason, and a command to make it.

    Raises:
        ConfigurationError: no metric takes such a model.
        NotFound: an unknown corpus, system or aspect.
    """
    published = FINE_GRAINED if aspects else CORRELATIONS
    if unknown := set(aspects) - set(FINE_GRAINED.columns):
        raise NotFound(
            f"the paper has no figures of {', '.join(sorted(unknown))}; it has them of "
            f"{', '.join(FINE_GRAINED.columns)}"
        )
    by_row = {
        row: list(dict.fromkeys(_with_model(parse(text), model) for model in models or [""]))
        for row, text in OURS.items()
    }
    wanted = list(dict.fromkeys(one for of_row in by_row.values() for one in of_row))
    columns = _columns(choice, aspects, {one.metric.name for one in wanted})
    encoders: dict[str, list[Row]] = {}
    for one in published.rows:
        encoders.setdefault(one.metric, []).append(one)
    rows = [
        _row_document(printed if is_own else [], printed[0], configuration, columns)
        for metric, printed in encoders.items()
        for configuration, is_own in _of_row(metric, by_row[metric], wanted, columns)
    ]
    return {
        "table": "fbd",
        "published": PAPER.citation,
        "resamples": choice.resamples,
        "seed": choice.seed,
        "corpora": [_corpus_document(column) for column in columns],
        "rows": rows,
        "agreement": agreement(
            (figure, [cell[name].get("absolute") for cell in _cells(rows, row.metric, index)])
            for row in published.rows
            for index, column in enumerate(columns)
            for name, figure in row.of_column(column.name).items()
        ),
        "why_not": WHY_NOT,
        "missing": [
            line
            for corpus in {column.corpus.slug: column.corpus for column in columns}.values()
            for line in what_is_missing(corpus, [one.text for one in wanted], listed=True)
        ],
        "notes": list(NOTES),
    }


def _with_model(configuration: Configuration, model: str) -> Configuration:
    if not model or "model" not in configuration.options:
        return configuration
    return Configuration.of(configuration.metric, **{**configuration.options, "model": model})


def _columns(choice: Choice, aspects: Sequence[str], metrics: set[str]) -> list[_Column]:
    if not aspects:
        here = corpora_of(PAPER.corpora, choice)
        look_up_all(here.values(), choice, metrics)
        return [_column(key, one, "", choice) for key, one in here.items()]
    of_aspects = []
    for aspect in aspects:
        chosen = replace(choice, only=[ASPECTS_OF], aspect=aspect)
        one = corpora_of(PAPER.corpora, chosen)[ASPECTS_OF]
        look_up_all([one], chosen, metrics)
        of_aspects.append(_column(aspect, one, aspect, choice))
    return of_aspects


def _column(name: str, corpus: PaperCorpus, aspect: str, choice: Choice) -> _Column:
    rows = corpus.rows_at(["system"], None, choice.resamples, choice.seed)
    return _Column(name, corpus, aspect, {row.metric: row for row in rows})


def _of_row(
    metric: str,
    own: Sequence[Configuration],
    wanted: Sequence[Configuration],
    columns: Sequence[_Column],
) -> list[tuple[Configuration | str, bool]]:
    """The row's own configurations, of which the first has the published figures (True), what
    else is computed of its metric, and what was submitted under its name."""
    others = {
        text: column.corpus.known[text]
        for column in columns
        for text in column.rows
        if text in column.corpus.known
        and column.corpus.known[text].metric.name == own[0].metric.name
        and column.corpus.known[text] not in wanted
    }
    submitted = dict.fromkeys(
        one.text
        for column in columns
        for one in column.corpus.submitted
        if one.text in column.rows and is_of_row(one, metric)
    )
    texts = [*own[1:], *(others[text] for text in sorted(others)), *submitted]
    return [(own[0], True), *((one, False) for one in texts)]


# --- the document ---------------------------------------------------------------------------------


def _corpus_document(column: _Column) -> dict[str, Any]:
    corpus = column.corpus
    document: dict[str, Any] = {
        "title": column.aspect.capitalize() or corpus.of.title,
        "corpus": corpus.slug,
        "published_systems": list(corpus.of.systems),
        "published_decoding": list(corpus.of.decoding),
    }
    if corpus.version is None:
        return {**document, "corpus_version": None, "reason": corpus.why_nothing("turn")}
    return {
        **document,
        "corpus_version": corpus.version.label,
        "aspect": corpus.aspect,
        "systems": len(corpus.systems),
    }


def _row_document(
    printed: Sequence[Row],
    row: Row,
    configuration: Configuration | str,
    columns: Sequence[_Column],
) -> dict[str, Any]:
    is_submitted = isinstance(configuration, str)
    text = configuration if isinstance(configuration, str) else configuration.text
    found = [column.rows[text] for column in columns if text in column.rows]
    models = dict.fromkeys(
        model for column in columns for model in column.corpus.models.get(text, ())
    )
    return {
        "metric": row.metric,
        "group": row.group,
        "configuration": text,
        **({"submitted": True} if is_submitted else {}),
        "models": list(models),
        "higher_is_better": (
            found[0].higher_is_better
            if isinstance(configuration, str)
            else configuration.higher_is_better
        ),
        "cells": [_cell(printed, text, column) for column in columns],
    }


def _cell(printed: Sequence[Row], text: str, column: _Column) -> dict[str, Any]:
    row = column.rows.get(text)
    found: dict[str, Any] = {
        "corpus": column.corpus.slug,
        **({"aspect": column.aspect} if column.aspect else {}),
        "published": [
            {
                "encoder": one.model or None,
                **{name: figure.value for name, figure in one.of_column(column.name).items()},
            }
            for one in printed
        ],
    }
    if row is None:
        nothing = {"value": None, "reason": _why_empty(text, column.corpus)}
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


def _cells(rows: Sequence[Mapping[str, Any]], metric: str, index: int) -> list[dict[str, Any]]:
    """Of all the metric's lines, those of one column."""
    return [row["cells"][index] for row in rows if row["metric"] == metric]


def _why_empty(text: str, corpus: PaperCorpus) -> str:
    if corpus.version is None or not corpus.systems:
        return corpus.why_nothing("turn")
    done = corpus.finished.get(text, 0)
    if done == len(corpus.systems):
        return "nobody rated the systems"
    return f"computed of {done} of {len(corpus.systems)} systems"
