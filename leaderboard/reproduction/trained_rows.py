"""All that is computed for a row of a table of trained metrics; what differs by its training's seed
is gathered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.answers.metrics import CorrelationRow
from leaderboard.reproduction.corpora import (
    Choice,
    PaperCorpus,
    is_of_row,
    monte_carlo,
    other_options,
    trained_name,
)
from leaderboard.reproduction.published import Figure, Row, Table
from leaderboard.reproduction.trained_models import ModelInfo, family_label
from workers.metrics.common.configuration import Configuration

Belongs = Callable[[Configuration, ModelInfo | None], bool]
SignatureFields = Mapping[tuple[str, str], ModelInfo]


@dataclass(frozen=True)
class Evaluation:
    """How every table's correlations are made, and what is known of the models."""

    facts: SignatureFields
    choice: Choice

    def model_of(self, corpus: PaperCorpus, configuration: Configuration) -> ModelInfo | None:
        name = trained_name(configuration)
        return self.facts.get((name, corpus.revision(configuration))) if name else None

    def _rows(self, corpus: PaperCorpus, table: Table) -> dict[str, CorrelationRow]:
        """By configuration."""
        draws = {"resamples": self.choice.resamples, "seed": self.choice.seed}
        rows = corpus.rows_at([table.rated], table.rated, **draws)
        return {row.metric: row for row in rows}

    def ours(
        self, corpus: PaperCorpus, table: Table, metric: str, belongs: Belongs
    ) -> list[dict[str, Any]]:
        """A document each for the configurations that belong to the row ``metric``, those gathered
        that differ by seed only; then for submitted metrics of the row's name."""
        rows = self._rows(corpus, table)
        submitted = [
            _group(table, one.text, "", "submitted", [_submitted(table, one.text, rows[one.text])])
            for one in corpus.submitted
            if one.text in rows and is_of_row(one, metric)
        ]
        return [*self._computed(corpus, table, belongs), *submitted]

    def _computed(
        self, corpus: PaperCorpus, table: Table, belongs: Belongs
    ) -> list[dict[str, Any]]:
        rows = self._rows(corpus, table)
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        words = family_label(self.facts.values())
        for configuration in corpus.found:
            model = self.model_of(corpus, configuration)
            if configuration.text not in rows or not belongs(configuration, model):
                continue
            family = model.family if model is not None else trained_name(configuration)
            key = (configuration.metric.name, other_options(configuration), family)
            row = rows[configuration.text]
            groups.setdefault(key, []).append(_scored(corpus, table, configuration, model, row))
        return [
            _group(table, metric, options, words.get(family, ""), scored)
            for (metric, options, family), scored in sorted(
                groups.items(), key=lambda item: (item[0][1], words.get(item[0][2], ""), item[0])
            )
        ]

    def table(
        self, table: Table, number: str, title: str, corpus: PaperCorpus,
        published: Mapping[str, tuple[Table, str]],
        belongs: Callable[[Row], Belongs],
    ) -> dict[str, Any]:  # fmt: skip
        """``published``: by the words for it, the table and the set that the paper's figures are
        of."""
        rows = [
            {
                "metric": row.metric,
                "group": row.group,
                "published": [
                    _published(words, of.rows[index], key) for words, (of, key) in published.items()
                ],
                "ours": self.ours(corpus, table, row.metric, belongs(row)),
            }
            for index, row in enumerate(table.rows)
        ]
        reason = corpus.why_nothing(table.rated)
        return {
            "number": number,
            "title": title,
            "corpus": corpus.slug,
            "level": table.rated,
            **({"reason": reason} if reason else {}),
            "coefficients": [str(name) for name in table.statistics],
            "published_sets": list(published),
            "rows": rows,
        }


def _group(
    table: Table, metric: str, options: str, of: str, scored: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "metric": metric,
        "options": options,
        "of": of,
        "seeds": len(scored),
        **{
            str(name): gathered([one[name]["value"] for one in scored]) for name in table.statistics
        },
        "scored": sorted(
            scored, key=lambda one: (one["seed"] is None, one["seed"], one["configuration"])
        ),
    }


def _submitted(table: Table, text: str, row: CorrelationRow) -> dict[str, Any]:
    names = {"configuration": text, "trained": None, "revision": None, "seed": None}
    return {**names, **_figures(table, row)}


def _figures(table: Table, row: CorrelationRow) -> dict[str, Any]:
    return {
        "n": row.n,
        "coverage": row.coverage,
        "signature": row.signature,
        **({"note": row.note} if row.note else {}),
        **{str(name): row.of(name).as_json() for name in table.statistics},
    }


def _scored(
    corpus: PaperCorpus,
    table: Table,
    configuration: Configuration,
    model: ModelInfo | None,
    row: CorrelationRow,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "configuration": configuration.text,
        "trained": trained_name(configuration) or None,
        "revision": corpus.revision(configuration) or None,
        "seed": model.seed if model is not None else None,
        **_figures(table, row),
    }
    drawn = (
        monte_carlo(corpus, configuration) if configuration.metric.name.startswith("cmn") else None
    )
    return {**document, "monte_carlo": drawn} if drawn else document


def gathered(values: Iterable[float | None]) -> dict[str, Any]:
    """Over seeds: the mean, the lowest and the highest of those that are defined, and how many
    those are."""
    defined = [value for value in values if value is not None]
    if not defined:
        return {"value": None, "reason": "undefined with every seed", "seeds": 0}
    mean = math.fsum(defined) / len(defined)
    return {"value": mean, "lowest": min(defined), "highest": max(defined), "seeds": len(defined)}


def _published(words: str, row: Row, key: str) -> dict[str, Any]:
    document = {
        name: {
            "value": figure.value,
            "significant": figure.significant,
            **({"p": figure.p} if figure.p else {}),
        }
        for name, figure in row.of_column(key).items()
    }
    return {"set": words, **document}


def compared(
    document: Mapping[str, Any], published: Mapping[str, tuple[Table, str]]
) -> Iterator[tuple[Figure, list[float | None]]]:
    """Each printed figure of a table's document with all that is computed in its place: of each
    seed, and the means over seeds. ``published``: as ``Evaluation.table`` takes it."""
    for index, row in enumerate(document["rows"]):
        ours = [one for group in row["ours"] for one in (group, *group["scored"])]
        for table, key in published.values():
            for name, figure in table.rows[index].of_column(key).items():
                yield figure, [one[name]["value"] for one in ours]
