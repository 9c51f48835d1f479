"""All that is computed for a row of a table of trained metrics; what differs by its training's seed
is gathered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.answers.metrics import CorrelationRow
from leaderboard.reproduction.corpora import (
    Place,
    is_of_row,
    monte_carlo,
    other_options,
    trained_name,
)
from leaderboard.reproduction.published.correlations import PublishedRow, PublishedTable
from leaderboard.reproduction.trained_models import ModelInfo, family_label
from workers.metrics.common.configuration import Configuration

Belongs = Callable[[Configuration, ModelInfo | None], bool]
SignatureFields = Mapping[tuple[str, str], ModelInfo]


@dataclass(frozen=True)
class Evaluation:
    """How every table's correlations are made, and what is known of the models."""

    facts: SignatureFields
    resamples: int
    seed: int

    def model_of(self, place: Place, configuration: Configuration) -> ModelInfo | None:
        name = trained_name(configuration)
        return self.facts.get((name, place.revisions.get(configuration.text, ""))) if name else None

    def ours(
        self, place: Place, table: PublishedTable, metric: str, belongs: Belongs
    ) -> list[dict[str, Any]]:
        """A document each for the configurations that belong to the row ``metric``, those gathered
        that differ by seed only; then for submitted metrics of the row's name."""
        rows = place.rows_at(table.level, self.resamples, self.seed)
        submitted = [
            _group(table, one.text, "", "submitted", [_submitted(table, one.text, rows[one.text])])
            for one in place.submitted
            if one.text in rows and is_of_row(one, metric)
        ]
        return [*self._computed(place, table, belongs), *submitted]

    def _computed(
        self, place: Place, table: PublishedTable, belongs: Belongs
    ) -> list[dict[str, Any]]:
        rows = place.rows_at(table.level, self.resamples, self.seed)
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        words = family_label(self.facts.values())
        for configuration in place.found:
            model = self.model_of(place, configuration)
            if configuration.text not in rows or not belongs(configuration, model):
                continue
            family = model.family if model is not None else trained_name(configuration)
            key = (configuration.metric.name, other_options(configuration), family)
            row = rows[configuration.text]
            groups.setdefault(key, []).append(_scored(place, table, configuration, model, row))
        return [
            _group(table, metric, options, words.get(family, ""), scored)
            for (metric, options, family), scored in sorted(
                groups.items(), key=lambda item: (item[0][1], words.get(item[0][2], ""), item[0])
            )
        ]

    def table(
        self, table: PublishedTable, number: str, title: str, place: Place,
        published: Mapping[str, tuple[PublishedTable, str]],
        belongs: Callable[[PublishedRow], Belongs],
        own_rows: Sequence[tuple[str, str, Belongs]] = (),
    ) -> dict[str, Any]:  # fmt: skip
        """``published``: by the words for it, the table and the set that the paper's figures are
        of."""
        rows = [
            {
                "metric": row.metric,
                "group": row.group,
                "published": [
                    _published(words, of, key, index_of_row)
                    for words, (of, key) in published.items()
                ],
                "ours": self.ours(place, table, row.metric, belongs(row)),
            }
            for index_of_row, row in enumerate(table.rows)
        ]
        rows += [
            {"metric": metric, "group": group, "published": [], "ours": found}
            for metric, group, belonging in own_rows
            if (found := self.ours(place, table, metric, belonging))
        ]
        reason = place.why_nothing(table.level)
        return {
            "number": number,
            "title": title,
            "corpus": place.slug,
            "level": table.level,
            **({"reason": reason} if reason else {}),
            "coefficients": [str(name) for name in table.coefficients],
            "published_sets": list(published),
            "rows": rows,
        }


def _group(
    table: PublishedTable, metric: str, options: str, of: str, scored: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "metric": metric,
        "options": options,
        "of": of,
        "seeds": len(scored),
        **{
            str(name): gathered([one[name]["value"] for one in scored])
            for name in table.coefficients
        },
        "scored": sorted(
            scored, key=lambda one: (one["seed"] is None, one["seed"], one["configuration"])
        ),
    }


def _submitted(table: PublishedTable, text: str, row: CorrelationRow) -> dict[str, Any]:
    names = {"configuration": text, "trained": None, "revision": None, "seed": None}
    return {**names, **_figures(table, row)}


def _figures(table: PublishedTable, row: CorrelationRow) -> dict[str, Any]:
    return {
        "n": row.n,
        "coverage": row.coverage,
        "signature": row.signature,
        **({"note": row.note} if row.note else {}),
        **{str(name): row.of(name).as_json() for name in table.coefficients},
    }


def _scored(
    place: Place,
    table: PublishedTable,
    configuration: Configuration,
    model: ModelInfo | None,
    row: CorrelationRow,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "configuration": configuration.text,
        "trained": trained_name(configuration) or None,
        "revision": place.revisions.get(configuration.text, "") or None,
        "seed": model.seed if model is not None else None,
        **_figures(table, row),
    }
    drawn = (
        monte_carlo(place, configuration) if configuration.metric.name.startswith("cmn") else None
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


def _published(words: str, table: PublishedTable, key: str, place: int) -> dict[str, Any]:
    figures = table.figures_of(table.rows[place], key)
    document = {
        name: {
            "value": figure.value,
            "significant": figure.significant,
            **({"p": figure.p} if figure.p else {}),
        }
        for name, figure in figures.items()
    }
    return {"set": words, **document}
