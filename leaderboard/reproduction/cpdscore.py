"""ComperDial's tables of correlations: what is printed there, and all that is computed of their
metrics here; and its row "Human": how far people who rate single responses agree with people who
rate whole dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotations.models import Corpus as StoredCorpus
from annotations.models import CorpusVersion, System
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.compared import MetricScores
from leaderboard.queries.correlations import rows_of_level
from leaderboard.queries.human_scores import human_side
from leaderboard.reproduction.corpora import (
    Choice,
    PaperCorpus,
    Rated,
    agreement,
    corpora_of,
    is_of_row,
    look_up_all,
    what_is_missing,
)
from leaderboard.reproduction.published import NOT_SIGNIFICANT, Corpus, Figure, Row, Table, paper
from leaderboard.statistics.correlation.resampling import Recipe
from workers.judges.core.model_caveats import caveat_of, judge_of
from workers.metrics.base import Level
from workers.metrics.common.configuration import Configuration, written_signature
from workers.metrics.registry import all_metrics
from workers.models import MetricRun

PAPER = paper("comperdial")
TABLES = tuple(PAPER.tables[number] for number in ("4", "5", "6", "3"))
"""The paper's main ones first."""
ONE_CALL = PAPER.tables["3"]
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
        f"{NOT_SIGNIFICANT}: p ≥ .05. What a metric has no score for is left out: n is "
        "the number of pairs."
    ),
    "USR: our figures are of every response, the ground truth among them (300 of USR-Persona, as "
    "the paper's Table 8 counts). The paper has other metrics' figures from Shi et al. (2023); its "
    "METEOR is that of the 240 responses "
    'without the ground truth: --exclude "Original Ground Truth".',
    "F1, BLEU, METEOR, ROUGE, BERTScore: here other releases of the packages; ROUGE is ROUGE-L.",
)


WHY_NOT = (
    "Judges are other models, and packages of metrics other releases; beside each figure of ours "
    "stands what made it."
)


def cpdscore_table(choice: Choice, model: str = "") -> dict[str, Any]:
    """Tables 4, 5, 6 and 3 of the paper, each row with all that is computed of it here; then Tables
    4 and 5 of ours alone for every other corpus that a judge has scored.

    ``model``: of judges, only this one. What is not there has a reason and a command to make it.
    Raises NotFound for a corpus, an aspect or a system that is nowhere.
    """
    ours = corpora_of(PAPER.corpora, choice)
    others = [] if choice.only else _others({one.slug for one in ours.values()})
    corpora = [*ours.values(), *others]
    look_up_all(corpora, choice, {*OURS.values(), *OWN.values()})
    for one in corpora:
        one.known = {
            text: configuration
            for text, configuration in one.known.items()
            if not model or judge_of(configuration) in ("", model)
        }
    results = _Results(choice)
    tables = [_table(table, ours, results) for table in TABLES]
    for one in others:
        tables += [
            _table(table, {"comperdial": one}, results, with_published=False)
            for table in TABLES[:2]
        ]
    return {
        "table": "cpdscore",
        "published": PAPER.citation,
        "resamples": choice.resamples,
        "seed": choice.seed,
        "excluded": list(choice.exclude),
        "corpora": [
            {
                **one.as_json(),
                **({"configurations": [found.text for found in one.found]} if one.version else {}),
            }
            for one in corpora
        ],
        "tables": [table for table in tables if table["rows"]],
        "agreement": agreement(_pairs(ours, tables[: len(TABLES)])),
        "why_not": WHY_NOT,
        "missing": [
            line
            for one in ours.values()
            for line in what_is_missing(one, _absent(one), listed=True)
        ],
        "worth": _worth(corpora),
        "notes": list(NOTES),
    }


def _others(known: set[str]) -> list[PaperCorpus]:
    """Corpora on which a judge has finished, by name."""
    judges = {name for name, metric in all_metrics().items() if metric.queue == "llm"}
    judged = MetricRun.objects.filter(state=MetricRun.State.DONE, metric__in=judges)
    slugs = set(judged.values_list("system__version__corpus__slug", flat=True)) - known
    corpora = StoredCorpus.objects.filter(slug__in=slugs).order_by("slug")
    return [PaperCorpus(Corpus(one.slug, one.name, (one.slug,), ""), one.slug) for one in corpora]


@dataclass(frozen=True)
class _Results:
    """Correlations of each corpus, made once."""

    choice: Choice
    people: dict[str, list[CorrelationRow]] = field(default_factory=dict)

    def of(self, corpus: PaperCorpus, rated: Rated) -> dict[tuple[str, str], CorrelationRow]:
        """By configuration (or ``PEOPLE``) and level."""
        if corpus.why_nothing(rated):
            return {}
        draws = {"resamples": self.choice.resamples, "seed": self.choice.seed}
        rows = list(corpus.rows_at([rated, "system"], rated, **draws))
        if rated == "dialogue" and corpus.version is not None:
            if corpus.slug not in self.people:
                self.people[corpus.slug] = people_turn_by_turn(
                    corpus.version, corpus.aspect, corpus.systems, **draws
                )
            rows += self.people[corpus.slug]
        return {(row.metric, row.level): row for row in rows}


# --- the document ---------------------------------------------------------------------------------


def _table(
    table: Table,
    corpora: Mapping[str, PaperCorpus],
    results: _Results,
    with_published: bool = True,
) -> dict[str, Any]:
    places = [
        (column, corpora[key], level)
        for column in table.columns
        for key, level in [column.split()]
        if key in corpora
    ]
    published: dict[str, list[dict[str, Any]]] = {}
    if with_published:
        for row in table.rows:
            published.setdefault(row.metric, []).append(_published(row, places))
    rows = [
        {**row, "published": published.get(row["metric"], [])}
        for metric, group in _rows_of(table)
        for row in [_row(table, metric, group, places, results)]
    ]
    where = "" if with_published else f" on {places[0][1].of.title}"
    return {
        "number": table.number,
        "title": table.title
        if with_published
        else f"As Table {table.number}, {table.rated} ratings{where}",
        "rated": table.rated,
        "coefficients": list(table.statistics),
        "places": [
            {
                "corpus": corpus.slug,
                "title": corpus.of.title,
                "level": level,
                **({"reason": reason} if (reason := corpus.why_nothing(table.rated)) else {}),
            }
            for _, corpus, level in places
        ],
        "rows": [row for row in rows if places and (row["published"] or row["ours"])],
    }


def _rows_of(table: Table) -> list[tuple[str, str]]:
    """(row, group), each row once: the paper's, then those that it does not have."""
    known = dict.fromkeys((row.metric, row.group) for row in table.rows)
    own = [(metric, OWN_GROUP) for metric in OWN if table.number != "6" or metric == "Own judges"]
    return [*known, *(own if table is not ONE_CALL else [])]


def _row(
    table: Table,
    metric: str,
    group: str,
    places: Sequence[tuple[str, PaperCorpus, str]],
    results: _Results,
) -> dict[str, Any]:
    texts: dict[str, list[str]] = {}
    for corpus in dict.fromkeys(corpus for _, corpus, _ in places):
        for configuration in corpus.found:
            if _belongs(configuration, metric, once=table is ONE_CALL):
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
            "cells": _cells(text, table, places, results),
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
    table: Table,
    places: Sequence[tuple[str, PaperCorpus, str]],
    results: _Results,
) -> list[dict[str, Any]]:
    cells = []
    for _, corpus, level in places:
        row = results.of(corpus, table.rated).get((text, level))
        cell: dict[str, Any] = {"corpus": corpus.slug, "level": level}
        if row is None:
            nothing = {"value": None, "reason": _why_empty(text, corpus, table.rated)}
            cells.append(cell | {str(name): nothing for name in table.statistics})
            continue
        cell |= {"n": row.n, "coverage": row.coverage, "signature": row.signature}
        if row.note:
            cell["note"] = row.note
        cells.append(cell | {str(name): row.of(name).as_json() for name in table.statistics})
    return cells


def _why_empty(text: str, corpus: PaperCorpus, rated: Rated) -> str:
    if reason := corpus.why_nothing(rated):
        return reason
    if text == PEOPLE:
        return f"nobody rated turns of {corpus.slug}"
    return f"computed of {corpus.finished.get(text, 0)} of {len(corpus.systems)} systems"


def _published(row: Row, places: Sequence[tuple[str, PaperCorpus, str]]) -> dict[str, Any]:
    cells = [
        {
            "corpus": corpus.of.key,
            "level": level,
            **{
                name: {"value": one.value, "significant": one.significant}
                for name, one in row.of_column(column).items()
            },
        }
        for column, corpus, level in places
    ]
    return {"model": row.model, "cells": cells}


def _pairs(
    corpora: Mapping[str, PaperCorpus], tables: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Figure, list[float | None]]]:
    """Each printed figure of the corpora with all that is computed in its place."""
    for table, document in zip(TABLES, tables, strict=True):
        ours = {row["metric"]: row["ours"] for row in document["rows"]}
        columns = [column for column in table.columns if column.split()[0] in corpora]
        for row in table.rows:
            for index, column in enumerate(columns):
                for name, figure in row.of_column(column).items():
                    found = [one["cells"][index][name]["value"] for one in ours[row.metric]]
                    yield figure, found


def _absent(corpus: PaperCorpus) -> list[str]:
    """The configurations of the paper's rows of which nothing is computed."""
    rows = {
        row.metric
        for table in TABLES
        if corpus.of.key in {column.split()[0] for column in table.columns}
        for row in table.rows
    }
    return [
        f"{name}[normalize=true]" if name in NORMALIZED else name
        for row, name in OURS.items()
        if row in rows and not any(_belongs(one, row, once=False) for one in corpus.found)
    ]


def _worth(corpora: Iterable[PaperCorpus]) -> list[dict[str, Any]]:
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
