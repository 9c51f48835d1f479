"""DEnsity's tables: what is printed there, and all that is computed of their metrics here (Park et
al., 2023)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.reproduction.claims import (
    Claim,
    Ours,
    differences,
    matching,
    published_values,
    row_of,
)
from leaderboard.reproduction.corpora import Place, places_of, trained_name, what_is_missing
from leaderboard.reproduction.published import density as paper
from leaderboard.reproduction.published.correlations import PublishedRow, PublishedTable
from leaderboard.reproduction.trained_models import (
    HERE,
    MACHINE_SETTINGS,
    ModelInfo,
    family_label,
    model_facts,
    setup_text,
)
from leaderboard.reproduction.trained_rows import Belongs, Evaluation, gathered
from workers.metrics.common.configuration import Configuration
from workers.metrics.fed import METRICS as FED_METRICS

RECIPE = "density"
OURS: dict[str, tuple[str, ...]] = {
    "BLEU": ("bleu_2",),
    "ROUGE": ("rouge_l",),
    "METEOR": ("meteor",),
    "EmbAvg.": ("embedding_average",),
    "EmbExt.": ("vector_extrema",),
    "EmbGrd.": ("greedy_matching",),
    "BERTScore": ("bertscore_f1",),
    "SimCSE": ("simcse",),
    "BLEURT": ("bleurt",),
    "USR-MLM": ("usr_mlm",),
    "GPT2-Coh.": ("gpt2_coherency",),
    "GPT2-Coherency": ("gpt2_coherency",),
    "FED": tuple(metric.name for metric in FED_METRICS),
    "BERT-RUBER": ("bert_ruber",),
    "USR-Retrieval": ("usr_retrieval",),
    "DEnsity": ("density", "density_dialogue"),
    "Mahalanobis": ("density",),
    "Euclidean": ("density_euclidean",),
    "Classifier": ("density_classifier",),
}
"""The row of the paper → the metrics whose configurations stand beside it."""
_FED, _DIALOGUES, _MAHALANOBIS = "FED", "density_dialogue", "density"
NOTES = (
    "*: the paper's p > .01; of ours p ≥ .01. In brackets our interval; after a mean, the lowest "
    "and the highest seed.",
    (
        "The paper's BLEU is BLEU-2, its ROUGE is ROUGE-L, its embeddings are GloVe's; here each "
        "metric's own default."
    ),
    (
        "R@1 and MRR: the paper's on test splits; ours on dialogues that were set apart from the "
        "training data, among as many candidates as the table says: fewer are easier."
    ),
)


def density_table(
    slugs: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Tables 1, 2, 4 and 5 of the paper with every finished configuration of their metrics here.

    ``slugs``: by the key of one of the paper's evaluation sets what it is called here.
    ``exclude``: systems to leave out, wherever they are. Models that differ by their seed are
    gathered: mean, lowest, highest, and each beneath. Raises NotFound for a key that the paper does
    not have, or a system that is nowhere.
    """
    metrics = {name for names in OURS.values() for name in names}
    places = places_of(paper.SETS, slugs or {}, metrics, exclude)
    scored_models = {
        (name, place.revisions.get(one.text, ""))
        for place in places.values()
        for one in place.found
        if (name := trained_name(one))
    }
    facts = model_facts(RECIPE, scored_models)
    how = Evaluation(facts, resamples, seed)
    tables = [
        _table(how, table, places[key], key)
        for table in paper.TABLES
        for key in (one.key for one in paper.SETS if one.key in table.sets)
    ]
    models = sorted(
        {id(model): model for model in facts.values()}.values(),
        key=lambda one: (one.family, one.name),
    )
    return {
        "table": "density",
        "published": paper.CITATION,
        "resamples": resamples,
        "seed": seed,
        "corpora": [place.as_json() for place in places.values()],
        "tables": tables,
        "selection": _selection(models),
        "models": [model.as_json() for model in models],
        "findings": _findings(tables, models),
        "missing": [
            line
            for place in places.values()
            for line in what_is_missing(place, _wanted(place, models))
        ],
        "notes": [setup_text(paper.SETUP, models), *NOTES],
    }


def _table(how: Evaluation, table: PublishedTable, place: Place, key: str) -> dict[str, Any]:
    return how.table(
        table, table.number, table.title, place, {place.of.title: (table, key)}, _belongs_to(table)
    )


def _belongs_to(table: PublishedTable) -> Any:
    def of_row(row: PublishedRow) -> Belongs:
        names = OURS.get(row.metric, ())

        def belongs(configuration: Configuration, model: ModelInfo | None) -> bool:
            name = configuration.metric.name
            if name not in names or table.level not in configuration.levels:
                return False
            if name.startswith(RECIPE) and not _selects(model):
                return False
            if table.number == "2":
                return has_contrastive(model) is (row.group == paper.WITH)
            # Table 1's DEnsity is trained with L_CL
            return row.metric != "DEnsity" or has_contrastive(model) is not False

        return belongs

    return of_row


def _selects(model: ModelInfo | None) -> bool:
    """Trained by L_RS, as all of the paper's are, and not by MAUDE's loss."""
    return model is None or model.settings.get("objective", "selection") == "selection"


def has_contrastive(model: ModelInfo | None) -> bool | None:
    """None where nothing is known of the model."""
    if model is None or not model.settings:
        return None
    return bool(model.settings.get("contrastive", "paper") != "none")


def _wanted(place: Place, models: Iterable[ModelInfo]) -> list[str]:
    """The default of each metric; of trained ones, every model that is here and that the table has
    a row for."""
    level = paper.TABLE_4.level if place.of is paper.FED_DIALOGUES else paper.TABLE_1.level
    rows = {row.metric for table in paper.TABLES if table.level == level for row in table.rows}
    names = [name for row, names in OURS.items() if row in rows and row != _FED for name in names]
    if level == "turn":
        names = [name for name in names if name != _DIALOGUES]
    here = sorted((model for model in models if model.state == HERE), key=lambda model: model.name)
    trained = {"bert_ruber", "usr_retrieval", *(name for name in names if name.startswith(RECIPE))}
    of_models = [
        f"{name}[trained={model.name}]"
        for name in names
        if name in trained
        for model in here
        if _selects(model) or not name.startswith(RECIPE)
    ]
    return [*(name for name in names if name not in trained or not here), *of_models]


# --- the selection models (Table 5) ---------------------------------------------------------------


def _selection(models: Iterable[ModelInfo]) -> list[dict[str, Any]]:
    words = family_label(models)
    found = []
    for row in paper.TABLE_5:
        families: dict[str, list[ModelInfo]] = {}
        for model in models:
            if (
                model.figures
                and _selects(model)
                and has_contrastive(model) is (row.group == paper.WITH)
            ):
                families.setdefault(model.family, []).append(model)
        found.append(
            {
                "loss": row.loss,
                "published": {
                    "DailyDialog": {
                        "R@1": row.dailydialog[0] / 100,
                        "MRR": row.dailydialog[1] / 100,
                    },
                    "ConvAI2": {"R@1": row.convai2[0] / 100, "MRR": row.convai2[1] / 100},
                },
                "ours": [
                    {
                        "of": words[family],
                        "models": [one.name for one in of_family],
                        "candidates": 1 + int(of_family[0].settings.get("negatives", 15)),
                        **{
                            name: gathered([one.figures.get(name) for one in of_family])
                            for name in ("R@1", "MRR")
                        },
                    }
                    for family, of_family in families.items()
                ],
            }
        )
    return found


# --- is ours like theirs --------------------------------------------------------------------------


def _findings(tables: list[dict[str, Any]], models: list[ModelInfo]) -> list[dict[str, Any]]:
    by_name = {(model.name, model.revision): model for model in models}
    found: list[dict[str, Any]] = []
    for table in tables:
        if table["number"] == "2":
            for ours in row_of(table, "Mahalanobis", paper.WITH)["ours"]:
                for claim in _claims(table, ours, by_name):
                    found += claim.documents(table["corpus"], table["coefficients"])
    return found


def _claims(
    table: dict[str, Any], ours: Ours, by_name: Mapping[tuple[str, str], ModelInfo]
) -> list[Claim]:
    def values(metric: str, group: str) -> dict[str, dict[str, float]]:
        return published_values(row_of(table, metric, group))

    def same_model(metric: str) -> Ours | None:
        names = {one["trained"] for one in ours["scored"]}
        groups = row_of(table, metric, paper.WITH)["ours"]
        return matching(
            groups, lambda other: bool(names & {one["trained"] for one in other["scored"]})
        )

    def but_for_contrastive(other: Ours) -> bool:
        return _without_contrastive(other, by_name) == _without_contrastive(ours, by_name)

    density = values("Mahalanobis", paper.WITH)
    plain = matching(row_of(table, "Mahalanobis", paper.WITHOUT)["ours"], but_for_contrastive)
    return [
        Claim("DEnsity with L_CL", density, ours),
        Claim(
            "what L_CL adds to it",
            differences(density, values("Mahalanobis", paper.WITHOUT)),
            ours,
            plain,
            True,
        ),
        Claim(
            "it over the Euclidean score",
            differences(density, values("Euclidean", paper.WITH)),
            ours,
            same_model("Euclidean"),
            True,
        ),
        Claim(
            "it over the classifier's",
            differences(density, values("Classifier", paper.WITH)),
            ours,
            same_model("Classifier"),
            True,
        ),
    ]


def _without_contrastive(ours: Ours, by_name: Mapping[tuple[str, str], ModelInfo]) -> str:
    """The family but for its contrastive loss; of models that nothing is known of, nothing that
    others share."""
    first = ours["scored"][0]
    model = by_name.get((first["trained"], first["revision"] or ""))
    if model is None or not model.settings:
        return str(first["configuration"])
    left_out = ("contrastive", "contrastive_weight", "temperature", *MACHINE_SETTINGS)
    retained = {name: value for name, value in model.settings.items() if name not in left_out}
    return json.dumps([retained, model.data], sort_keys=True)
