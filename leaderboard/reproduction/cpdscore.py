"""ComperDial's tables of correlations: what is printed there, and all that is computed of their
metrics here; and its row "Human": how far people who rate single responses agree with people who
rate whole dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from django.db.models import Count

from annotations.corpora.queries import NotFound, select_systems, version_of
from annotations.models import Corpus, CorpusVersion, System
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.correlations import meta_evaluation, rows_of_level
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.human_scores import human_side
from leaderboard.queries.submitted import HandedIn
from leaderboard.queries.system_choice import ALL, NAMED
from leaderboard.reproduction.corpora import (
    first_that_is_here,
    is_of_row,
    refuse_unknown_systems,
    submitted_metrics,
    why_nothing,
)
from leaderboard.reproduction.published import comperdial
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from leaderboard.statistics.correlation.resampling import Recipe
from workers.judges.core.model_caveats import caveat_of, judge_of
from workers.metrics.base import Level
from workers.metrics.common.configuration import (
    Configuration,
    parse,
    still_there,
    written_signature,
)
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import queries

Rated = Literal["turn", "dialogue"]
OURS = {
    "BLEU": "bleu_4",
    "F1": "word_f1",
    "METEOR": "meteor",
    "ROUGE": "rouge_l",
    "BERTScore": "bertscore_f1",
    "BLEURT": "bleurt",
    "FED engaging": "fed_engaging",
    "FED relevant": "fed_relevant",
    "UniEval": "unieval",
    "Original simple": "cpdscore_simple_original",
    "Original detail": "cpdscore_detail_original",
    "CPDS-S w/ ref": "cpdscore_simple_ref",
    "CPDS-S w/o ref": "cpdscore_simple",
    "CPDS-D w/ ref": "cpdscore_detail_ref",
    "CPDS-D w/o ref": "cpdscore_detail",
    "CPDS-Dial": "cpdscore_dialogue",
    "CPDS-Dial, intermediate score": "cpdscore_dialogue",
}
"""The row of the paper → the metric whose configurations stand beneath it."""
NORMALIZED = ("bertscore_f1", "bleurt")
"""Metrics that the paper shows normalised texts (Table 14), and whose default shows them as they
are."""
REPORTS = {"CPDS-Dial": "final", "CPDS-Dial, intermediate score": "overall_turn"}
"""Two rows of one metric."""
OWN = {"CPDS-Dial, interaction score": "cpdscore_dialogue", "Own judges": "judge"}
"""Rows that the paper does not have, where something of theirs is computed."""
OWN_REPORTS = {"CPDS-Dial, interaction score": "interaction"}
OWN_GROUP = "Not in the paper"
NOTES = (
    "Published: a score is the mean of three calls, in Table 3 of one. Ours: what is computed "
    "here, whatever its judge and however it scores; [samples=3,scoring=answer] is the paper's "
    "way.",
    (
        f"{comperdial.NOT_SIGNIFICANT}: p ≥ .05. What a metric has no score for is left out: n is "
        "the number of pairs."
    ),
    "USR: our figures are of every response, the ground truth among them (300 of USR-Persona, as "
    "the paper's Table 8 counts). The paper has other metrics' figures from Shi et al. (2023); its "
    "METEOR is that of the 240 responses "
    'without the ground truth: --exclude "Original Ground Truth".',
    "F1, BLEU, METEOR, ROUGE, BERTScore: here other releases of the packages; ROUGE is ROUGE-L.",
)


@dataclass(eq=False)
class _Corpus:
    """A corpus of a table, as far as it is here."""

    key: str
    title: str
    slug: str
    how: str = ""
    version: CorpusVersion | None = None
    systems: list[System] = field(default_factory=list)
    found: list[Configuration] = field(default_factory=list)
    """Finished of all systems, in the present version of the metric."""
    submitted: list[HandedIn] = field(default_factory=list)
    part: dict[str, int] = field(default_factory=dict)
    """By configuration: of how many systems it is finished, where that is not all."""
    models: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[Rated, dict[tuple[str, str], CorrelationRow]] = field(default_factory=dict)
    """By what people rated: the rows of ``meta_evaluation`` by configuration and level."""

    def why_nothing(self, rated: Rated) -> str:
        return why_nothing(self.slug, self.version, self.systems, rated)


def cpdscore_table(
    slugs: Mapping[str, str] | None = None,
    model: str = "",
    exclude: Sequence[str] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Tables 4, 5, 6 and 3 of the paper, each row with all that is computed of it here; then Tables
    4 and 5 of ours alone for every other corpus that a judge has scored.

    ``slugs``: what the paper's corpora (``comperdial``, ``usr-topical``, ``usr-persona``) are
    called here. ``model``: of judges, only this one. ``exclude``: systems to leave out, wherever
    they are. What is not there has a reason and a command to make it. Raises NotFound for a corpus
    or a system that is nowhere.
    """
    ours = _the_paper_s(slugs or {})
    others = _others({one.slug for one in ours.values()})
    for one in (*ours.values(), *others):
        _look(one, model, exclude)
    refuse_unknown_systems(exclude, [one.version for one in (*ours.values(), *others)])
    wanted = Evaluation(resamples, seed)
    tables = [_table(table, ours, wanted) for table in comperdial.TABLES]
    for one in others:
        tables += [
            _table(table, {comperdial.COMPERDIAL.key: one}, wanted, with_published=False)
            for table in _LAYOUTS
        ]
    return {
        "table": "cpdscore",
        "published": comperdial.CITATION,
        "resamples": resamples,
        "seed": seed,
        "excluded": list(exclude),
        "corpora": [_corpus_document(one) for one in (*ours.values(), *others)],
        "tables": [table for table in tables if table["rows"]],
        "missing": [line for one in ours.values() for line in _what_is_missing(one)],
        "worth": _worth((*ours.values(), *others)),
        "notes": list(NOTES),
    }


_LAYOUTS = (comperdial.TABLE_4, comperdial.TABLE_5)


# --- what is here ---------------------------------------------------------------------------------


def _the_paper_s(slugs: Mapping[str, str]) -> dict[str, _Corpus]:
    known = {corpus.key for corpus in comperdial.CORPORA}
    if unknown := set(slugs) - known:
        raise NotFound(
            f"the paper has no corpus {', '.join(sorted(unknown))}; it has: "
            f"{', '.join(sorted(known))}"
        )
    return {
        corpus.key: _Corpus(
            corpus.key,
            corpus.title,
            slugs.get(corpus.key) or first_that_is_here(corpus.slugs),
            corpus.how,
        )
        for corpus in comperdial.CORPORA
    }


def _others(known: set[str]) -> list[_Corpus]:
    """Corpora on which a judge has finished, by name."""
    judges = {name for name, metric in all_metrics().items() if metric.queue == "llm"}
    judged = MetricRun.objects.filter(state=MetricRun.State.DONE, metric__in=judges)
    slugs = set(judged.values_list("system__version__corpus__slug", flat=True)) - known
    corpora = Corpus.objects.filter(slug__in=slugs).order_by("slug")
    return [_Corpus(corpus.slug, corpus.name, corpus.slug) for corpus in corpora]


def _look(corpus: _Corpus, model: str, exclude: Sequence[str]) -> None:
    try:
        corpus.version = version_of(corpus.slug)
    except NotFound:
        return
    corpus.systems = [one for one in select_systems(corpus.version) if one.name not in exclude]
    corpus.submitted = submitted_metrics(corpus.version)
    metrics = {*OURS.values(), *OWN.values()}
    done = MetricRun.objects.filter(
        system__in=corpus.systems, state=MetricRun.State.DONE, metric__in=metrics
    )
    counted: dict[str, int] = {}
    groups = done.values_list("configuration", "metric_version", "model").annotate(Count("pk"))
    for text, metric_version, made_with, count in groups.order_by("configuration", "model"):
        configuration = still_there(text, metric_version)
        if configuration is None or (model and judge_of(configuration) not in ("", model)):
            continue
        if text not in counted:
            corpus.found.append(configuration)
        counted[text] = counted.get(text, 0) + count
        if made_with:
            corpus.models.setdefault(text, []).append(made_with)
    corpus.part = {text: count for text, count in counted.items() if count < len(corpus.systems)}
    corpus.found = [one for one in corpus.found if one.text not in corpus.part]


# --- the statistics -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """How the correlations are made; each corpus's once."""

    resamples: int
    seed: int

    def rows_of(self, corpus: _Corpus, rated: Rated) -> dict[tuple[str, str], CorrelationRow]:
        """By configuration (or ``PEOPLE``) and level. Nothing where nobody rated such things."""
        if rated not in corpus.rows:
            corpus.rows[rated] = {} if corpus.why_nothing(rated) else self._made(corpus, rated)
        return corpus.rows[rated]

    def _made(self, corpus: _Corpus, rated: Rated) -> dict[tuple[str, str], CorrelationRow]:
        assert corpus.version is not None
        version, aspect = corpus.version, corpus.version.main_aspect
        how: dict[str, Any] = {"resamples": self.resamples, "seed": self.seed}
        rows: list[CorrelationRow] = []
        metrics: list[Configuration | str] = [
            *corpus.found,
            *(one.text for one in corpus.submitted),
        ]
        if metrics:
            levels: list[CeilingLevel] = [rated, "system"]
            rows += meta_evaluation(
                version,
                aspect,
                levels,
                metrics,
                corpus.systems,
                rated=rated,
                variants=False,
                systems_chosen=ALL
                if len(corpus.systems) == len(select_systems(version))
                else NAMED,
                **how,
            ).rows
        if rated == "dialogue":
            rows += people_turn_by_turn(version, aspect, corpus.systems, **how)
        return {(row.metric, row.level): row for row in rows}


# --- the document ---------------------------------------------------------------------------------


def _table(
    table: comperdial.PublishedTable,
    corpora: Mapping[str, _Corpus],
    wanted: Evaluation,
    with_published: bool = True,
) -> dict[str, Any]:
    places = [(corpora[corpus.key], level) for corpus, level in table.places]
    rows = [_row(table, metric, group, places, wanted) for metric, group in _rows_of(table)]
    published: dict[str, list[dict[str, Any]]] = {}
    if with_published:
        for row in table.rows:
            published.setdefault(row.metric, []).append(_published(table, row, places))
    shown = [{**row, "published": published.get(row["metric"], [])} for row in rows]
    where = "" if with_published else f" on {places[0][0].title}"
    return {
        "number": table.number,
        "title": table.title
        if with_published
        else f"As Table {table.number}, {table.rated} ratings{where}",
        "rated": table.rated,
        "coefficients": list(table.coefficients),
        "places": [_place(corpus, level, table.rated) for corpus, level in places],
        "rows": [row for row in shown if row["published"] or row["ours"]],
    }


def _rows_of(table: comperdial.PublishedTable) -> list[tuple[str, str]]:
    """(row, group), each row once: the paper's, then those that it does not have."""
    known = dict.fromkeys((row.metric, row.group) for row in table.rows)
    own = [(metric, OWN_GROUP) for metric in OWN if table.number != "6" or metric == "Own judges"]
    return [*known, *(own if table is not comperdial.TABLE_3 else [])]


def _row(
    table: comperdial.PublishedTable,
    metric: str,
    group: str,
    places: Sequence[tuple[_Corpus, str]],
    wanted: Evaluation,
) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    for corpus in dict.fromkeys(corpus for corpus, _ in places):
        for configuration in corpus.found:
            if _belongs(configuration, metric, once=table is comperdial.TABLE_3):
                texts.setdefault(configuration.text, []).extend(
                    corpus.models.get(configuration.text, ())
                )
        texts |= {one.text: [] for one in corpus.submitted if is_of_row(one, metric)}
    if metric == "Human":
        texts = {PEOPLE: []}
    ours: list[dict[str, Any]] = [
        {
            "configuration": text,
            "models": list(dict.fromkeys(models)),
            "cells": _cells(text, table, places, wanted),
        }
        for text, models in texts.items()
    ]
    return {
        "metric": metric,
        "group": group,
        "ours": [one for one in ours if any("signature" in cell for cell in one["cells"])],
    }


def _belongs(configuration: Configuration, metric: str, once: bool) -> bool:
    if configuration.metric.name != {**OURS, **OWN}.get(metric):
        return False
    report = {**REPORTS, **OWN_REPORTS}.get(metric)
    if report is not None and configuration.options["report"] != report:
        return False
    return not once or configuration.options.get("samples", 1) == 1


def _cells(
    text: str,
    table: comperdial.PublishedTable,
    places: Sequence[tuple[_Corpus, str]],
    wanted: Evaluation,
) -> list[dict[str, Any]]:
    cells = []
    for corpus, level in places:
        row = wanted.rows_of(corpus, table.rated).get((text, level))
        cell: dict[str, Any] = {"corpus": corpus.slug, "level": level}
        if row is None:
            nothing = {"value": None, "reason": _why_empty(text, corpus, table.rated)}
            cells.append(cell | {str(name): nothing for name in table.coefficients})
            continue
        cell |= {"n": row.n, "coverage": row.coverage, "signature": row.signature}
        if row.note:
            cell["note"] = row.note
        cells.append(cell | {str(name): row.of(name).as_json() for name in table.coefficients})
    return cells


def _why_empty(text: str, corpus: _Corpus, rated: Rated) -> str:
    if reason := corpus.why_nothing(rated):
        return reason
    if text == PEOPLE:
        return f"nobody rated turns of {corpus.slug}"
    return f"computed of {corpus.part.get(text, 0)} of {len(corpus.systems)} systems"


def _published(
    table: comperdial.PublishedTable,
    row: comperdial.PublishedRow,
    places: Sequence[tuple[_Corpus, str]],
) -> dict[str, Any]:
    figures = iter(row.figures)
    cells = []
    for corpus, level in places:
        values = {name: next(figures) for name in table.coefficients}
        printed = {
            str(name): {"value": one.value, "significant": one.significant}
            for name, one in values.items()
        }
        cells.append({"corpus": corpus.key, "level": level, **printed})
    return {"model": row.model, "cells": cells}


def _place(corpus: _Corpus, level: str, rated: Rated) -> dict[str, Any]:
    place: dict[str, Any] = {"corpus": corpus.slug, "title": corpus.title, "level": level}
    reason = corpus.why_nothing(rated)
    return {**place, "reason": reason} if reason else place


def _corpus_document(corpus: _Corpus) -> dict[str, Any]:
    document: dict[str, Any] = {"key": corpus.key, "title": corpus.title, "corpus": corpus.slug}
    if corpus.version is None:
        return {**document, "corpus_version": None, "reason": f"there is no corpus {corpus.slug}"}
    return {
        **document,
        "corpus_version": corpus.version.label,
        "aspect": corpus.version.main_aspect,
        "systems": [system.name for system in corpus.systems],
        "configurations": [one.text for one in corpus.found],
    }


def _what_is_missing(corpus: _Corpus) -> list[dict[str, str]]:
    if corpus.version is None:
        command = f"manage.py import_corpus {corpus.how} --slug {corpus.slug}"
        return [
            {
                "corpus": corpus.slug,
                "reason": f"there is no corpus {corpus.slug}",
                "command": command,
            }
        ]
    rows = {
        row.metric
        for table in comperdial.TABLES
        for row in table.rows
        for one, _ in table.places
        if one.key == corpus.key
    }
    absent = [
        f"{name}[normalize=true]" if name in NORMALIZED else name
        for row, name in OURS.items()
        if row in rows and not any(_belongs(one, row, once=False) for one in corpus.found)
    ]
    here: list[tuple[str, str]] = []
    not_here: list[tuple[str, str]] = []
    for text in dict.fromkeys(absent):
        reason = queries.why_not_offered(parse(text), corpus.version)
        (not_here if reason else here).append((text, reason))
    lines = [
        {"corpus": corpus.slug, "reason": f"{text}: {reason}", "command": ""}
        for text, reason in not_here
    ]
    if here:
        texts = ",".join(text for text, _ in here)
        command = f'manage.py score --corpus {corpus.slug} --metrics "{texts}"'
        lines.append(
            {
                "corpus": corpus.slug,
                "reason": f"not computed of all systems: {texts}",
                "command": command,
            }
        )
    return lines


def _worth(corpora: Iterable[_Corpus]) -> list[dict[str, Any]]:
    """What is known of the judges in the tables, each once."""
    by_words: dict[str, list[str]] = {}
    for configuration in (one for corpus in corpora for one in corpus.found):
        if (words := caveat_of(configuration)) and configuration.text not in by_words.setdefault(
            words, []
        ):
            by_words[words].append(configuration.text)
    return [{"configurations": texts, "worth": words} for words, texts in by_words.items()]


PEOPLE = "people, turn by turn"


@dataclass(frozen=True)
class _PeopleTurnByTurn:
    """The mean rating of a response, as if it were a metric's score."""

    text: str = PEOPLE
    levels: frozenset[Level] = frozenset({"turn", "dialogue", "system"})
    higher_is_better: bool = True
    value_range: tuple[float | None, float | None] = (None, None)

    def signature(self, **facts: object) -> str:
        return written_signature([("human", "mean-rating-of-responses")], facts)


def people_turn_by_turn(
    version: CorpusVersion, aspect: str, systems: Sequence[System], *, resamples: int, seed: int
) -> list[CorrelationRow]:
    """Rows as ``meta_evaluation`` has them, at dialogue and system level: ratings of responses,
    averaged over a dialogue or a system, against ratings of whole dialogues. None where people did
    not do both."""
    human = human_side(version, aspect, systems)
    if human.turn is None or human.dialogue is None:
        return []
    turn = np.full((1, len(human.systems), len(human.order.turn_pks)), np.nan)
    turn[0, human.turn.system, human.turn.turn] = human.turn.human_means()
    nothing = np.full((1, len(human.systems)), np.nan)
    people = MetricScores(
        (_PeopleTurnByTurn(),),
        human.systems,
        turn,
        nothing,
        np.full(1, len(human.systems), dtype=np.int64),
    )
    of_dialogues = replace(human, turn=None)
    return [
        row
        for level in ("dialogue", "system")
        for row in rows_of_level(
            version, aspect, level, of_dialogues, people, Recipe(resamples=resamples, seed=seed)
        )
    ]
