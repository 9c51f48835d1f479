"""DEnsity's tables: what is printed there, and all that is computed of their metrics here (Park et
al., 2023)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.reproduction.claims import (
    Claim,
    Ours,
    differences,
    matching,
    published_values,
    row_of,
)
from leaderboard.reproduction.corpora import (
    Choice,
    PaperCorpus,
    agreement,
    corpora_of,
    look_up_all,
    trained_name,
    what_is_missing,
)
from leaderboard.reproduction.published import Row, Table, paper
from leaderboard.reproduction.trained_models import (
    HERE,
    MACHINE_SETTINGS,
    ModelInfo,
    family_label,
    model_facts,
    setup_text,
)
from leaderboard.reproduction.trained_rows import Belongs, Evaluation, compared, gathered
from workers.metrics.common.configuration import Configuration
from workers.metrics.fed import METRICS as FED_METRICS

RECIPE = "density"
PAPER = paper("density")
TABLES = tuple(PAPER.tables[number] for number in ("1", "2", "4"))
WITH, WITHOUT = "with L_CL", "without L_CL"
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
AS_THE_PAPER = {
    "bleu_2": "bleu_2[lowercase=true,normalize=false,smooth=none,tokenize=parlai]",
    "rouge_l": "rouge_l[normalize=false,stem=true,tokenize=rouge-score]",
    "meteor": "meteor[normalize=false,tokenize=parlai]",
}
"""Options with which r is the printed one: of ROUGE-L and BLEU-2 on three sets, of METEOR on
DailyDialog-GRADE and ConvAI2-USR. ρ of BLEU-2 is, too, on both GRADE sets, and else within .002:
scores that differ by rounding alone tie here."""
_FED, _DIALOGUES, _MAHALANOBIS = "FED", "density_dialogue", "density"
NOTES = (
    "*: the paper's p > .01; of ours p ≥ .01. In brackets our interval; after a mean, the lowest "
    "and the highest seed.",
    (
        "The paper's BLEU is BLEU-2 of lower-cased words cut at white space, without smoothing; "
        "its ROUGE is ROUGE-L of stems (the package rouge-score), its METEOR NLTK's of such words, "
        "its embeddings are GloVe's. METEOR on ConvAI2-GRADE is printed as BERTScore is there."
    ),
    (
        "R@1 and MRR: the paper's on test splits; ours on dialogues that were set apart from the "
        "training data, among as many candidates as the table says: fewer are easier."
    ),
)


WHY_NOT = (
    "Models are trained here, with other encoders or data; embeddings are not GloVe's; words are "
    "cut otherwise, but for the options that the next command names."
)


def density_table(choice: Choice) -> dict[str, Any]:
    """Tables 1, 2, 4 and 5 of the paper with every finished configuration of their metrics here.

    Models that differ by their seed are gathered: mean, lowest, highest, and each beneath. Raises
    NotFound for a corpus that the paper does not have, an aspect or a system that is nowhere.
    """
    corpora = corpora_of(PAPER.corpora, choice)
    look_up_all(corpora.values(), choice, {name for names in OURS.values() for name in names})
    scored_models = {
        (name, corpus.revision(one))
        for corpus in corpora.values()
        for one in corpus.found
        if (name := trained_name(one))
    }
    facts = model_facts(RECIPE, scored_models)
    how = Evaluation(facts, choice)
    shown = [(table, key) for table in TABLES for key in corpora if key in table.columns]
    tables = [_table(how, table, corpora[key], key) for table, key in shown]
    models = sorted(
        {id(model): model for model in facts.values()}.values(),
        key=lambda one: (one.family, one.name),
    )
    return {
        "table": "density",
        "published": PAPER.citation,
        "resamples": choice.resamples,
        "seed": choice.seed,
        "corpora": [corpus.as_json() for corpus in corpora.values()],
        "tables": tables,
        "agreement": agreement(
            pair
            for (table, key), document in zip(shown, tables, strict=True)
            for pair in compared(document, {corpora[key].of.title: (table, key)})
        ),
        "why_not": WHY_NOT,
        "selection": _selection(models),
        "models": [model.as_json() for model in models],
        "findings": _findings(tables, models),
        "missing": [
            line
            for corpus in corpora.values()
            for line in what_is_missing(corpus, _wanted(corpus, models))
        ],
        "notes": [setup_text(PAPER.setup, models), *NOTES],
    }


def _table(how: Evaluation, table: Table, corpus: PaperCorpus, key: str) -> dict[str, Any]:
    return how.table(
        table,
        table.number,
        table.title,
        corpus,
        {corpus.of.title: (table, key)},
        _belongs_to(table),
    )


def _belongs_to(table: Table) -> Any:
    def of_row(row: Row) -> Belongs:
        names = OURS.get(row.metric, ())

        def belongs(configuration: Configuration, model: ModelInfo | None) -> bool:
            name = configuration.metric.name
            if name not in names or table.rated not in configuration.levels:
                return False
            if name.startswith(RECIPE) and not _selects(model):
                return False
            if table.number == "2":
                return has_contrastive(model) is (row.group == WITH)
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


def _wanted(corpus: PaperCorpus, models: Iterable[ModelInfo]) -> list[str]:
    """The default of each metric; of trained ones, every model that is here and that the table has
    a row for."""
    level = "dialogue" if corpus.of.key == "fed" else "turn"
    rows = {row.metric for table in TABLES if table.rated == level for row in table.rows}
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
    others = (AS_THE_PAPER.get(name, name) for name in names if name not in trained or not here)
    return [*others, *of_models]


# --- the selection models (Table 5) ---------------------------------------------------------------


def _selection(models: Iterable[ModelInfo]) -> list[dict[str, Any]]:
    words = family_label(models)
    found = []
    for row in PAPER.tables["5"].rows:
        families: dict[str, list[ModelInfo]] = {}
        for model in models:
            if model.figures and _selects(model) and has_contrastive(model) is (row.group == WITH):
                families.setdefault(model.family, []).append(model)
        found.append(
            {
                "loss": row.metric,
                "published": {
                    column: {name: figure.value for name, figure in row.of_column(column).items()}
                    for column in PAPER.tables["5"].columns
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
            for ours in row_of(table, "Mahalanobis", WITH)["ours"]:
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
        groups = row_of(table, metric, WITH)["ours"]
        return matching(
            groups, lambda other: bool(names & {one["trained"] for one in other["scored"]})
        )

    def but_for_contrastive(other: Ours) -> bool:
        return _without_contrastive(other, by_name) == _without_contrastive(ours, by_name)

    density = values("Mahalanobis", WITH)
    plain = matching(row_of(table, "Mahalanobis", WITHOUT)["ours"], but_for_contrastive)
    return [
        Claim("DEnsity with L_CL", density, ours),
        Claim(
            "what L_CL adds to it",
            differences(density, values("Mahalanobis", WITHOUT)),
            ours,
            plain,
            True,
        ),
        Claim(
            "it over the Euclidean score",
            differences(density, values("Euclidean", WITH)),
            ours,
            same_model("Euclidean"),
            True,
        ),
        Claim(
            "it over the classifier's",
            differences(density, values("Classifier", WITH)),
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
