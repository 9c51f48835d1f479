"""CMN's tables with all that is computed of their metrics here, on evaluation sets that we have
(Zhao et al., 2023)."""

from __future__ import annotations

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
from leaderboard.reproduction.published import cmn
from leaderboard.reproduction.published.correlations import PublishedRow
from leaderboard.reproduction.trained_models import ModelInfo, model_facts, setup_text
from leaderboard.reproduction.trained_rows import Belongs, Evaluation
from workers.metrics.common.configuration import Configuration

RECIPE = "cmn"
OURS = {
    "BLEU-1": "bleu_1",
    "BLEU-2": "bleu_2",
    "BLEU-3": "bleu_3",
    "BLEU-4": "bleu_4",
    "ROUGE-1": "rouge_1",
    "ROUGE-2": "rouge_2",
    "ROUGE-L": "rouge_l",
    "METEOR": "meteor",
    "Extrema": "vector_extrema",
    "Greedy": "greedy_matching",
    "Average": "embedding_average",
    "BERTScore": "bertscore_f1",
    "BLEURT": "bleurt",
    "RUBER": "bert_ruber",
    "MAUDE": "maude_style",
    cmn.NO_NSP: "cmn_no_nsp",
    cmn.NO_MI: "cmn_no_mi",
    cmn.FULL: "cmn",
}
"""The row of the paper → the metric whose configurations stand beside it. MDD-Eval: none."""
NOTES = (
    "The paper's evaluation sets are its own: standard (responses near their reference) and "
    "diverse (far from it), rated for appropriateness and coherence. They stand beside other "
    "responses to the same sources here, so that a figure of ours is no repetition of theirs.",
    (
        "*: p ≥ .05, theirs and ours. In brackets our interval; after a mean, the lowest and the "
        "highest seed."
    ),
    (
        "CMN follows equation 4; [form=released] all that the released code does otherwise. "
        "Monte-Carlo error: what another seed of the drawing would move a score by, and the share "
        "of the scores' variance that this is."
    ),
    "RUBER, MAUDE: here BERT-RUBER and maude_style, of models trained by DEnsity's recipe.",
)


def cmn_table(
    slugs: Mapping[str, str] | None = None,
    exclude: Sequence[str] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Tables 1 and 2 of the paper beside every finished configuration of their metrics on each of
    our evaluation sets of the same source. ``slugs``: by key, what the sets are called here.
    ``exclude``: systems to leave out, wherever they are. Raises NotFound for an unknown key or
    system."""
    sets = [one for of_source in cmn.BESIDE.values() for one in of_source]
    places = places_of(sets, slugs or {}, OURS.values(), exclude)
    scored = [(place, one) for place in places.values() for one in place.found if trained_name(one)]
    known: dict[str, dict[tuple[str, str], ModelInfo]] = {}
    for recipe, of_recipe in ((RECIPE, True), ("density", False)):
        named = {
            (trained_name(one), place.revisions.get(one.text, ""))
            for place, one in scored
            if one.metric.name.startswith(RECIPE) is of_recipe
        }
        known[recipe] = model_facts(recipe, named)
    how = Evaluation({**known["density"], **known[RECIPE]}, resamples, seed)
    tables = [
        _table(how, source, places[one.key])
        for source, of_source in cmn.BESIDE.items()
        for one in of_source
    ]
    models = sorted(
        {id(model): model for model in known[RECIPE].values()}.values(),
        key=lambda one: (one.family, one.name),
    )
    return {
        "table": "cmn",
        "published": cmn.CITATION,
        "resamples": resamples,
        "seed": seed,
        "corpora": [place.as_json() for place in places.values()],
        "tables": tables,
        "selection": [],
        "models": [model.as_json() for model in models],
        "findings": [one for table in tables for one in _findings(table)],
        "missing": [
            line for place in places.values() for line in what_is_missing(place, _wanted(models))
        ],
        "notes": [setup_text(cmn.SETUP, models), *NOTES],
    }


def _table(how: Evaluation, source: str, place: Place) -> dict[str, Any]:
    published = {"standard": (cmn.TABLE_1, source), "diverse": (cmn.TABLE_2, source)}
    title = (
        f"standard and diverse {'DailyDialog' if source == cmn.DAILYDIALOG else 'PersonaChat'}, "
        "turn level"
    )
    return how.table(cmn.TABLE_1, "1, 2", title, place, published, _belongs_to)


def _belongs_to(row: PublishedRow) -> Belongs:
    def belongs(configuration: Configuration, _: ModelInfo | None) -> bool:
        return configuration.metric.name == OURS.get(row.metric)

    return belongs


def _wanted(models: Iterable[ModelInfo]) -> list[str]:
    """The default of each metric; of CMN every model that is here, in both forms."""
    here = sorted(model.name for model in models if model.state == "here")
    names = [name for name in OURS.values() if not (here and name.startswith(RECIPE))]
    forms = {
        "cmn": ("", "form=released,"),
        "cmn_no_nsp": ("", "form=released,"),
        "cmn_no_mi": ("",),
    }
    return names + [
        f"{name}[{form}trained={model}]"
        for name, written in forms.items()
        for form in written
        for model in here
    ]


# --- is ours like theirs --------------------------------------------------------------------------


def _findings(table: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    theirs = {
        metric: published_values(row_of(table, metric))
        for metric in (cmn.FULL, cmn.NO_NSP, cmn.NO_MI)
    }
    for ours in row_of(table, cmn.FULL)["ours"]:
        claims = [
            Claim("CMN", theirs[cmn.FULL], ours),
            Claim(
                "what NSP adds", differences(theirs[cmn.FULL], theirs[cmn.NO_NSP]), ours,
                _of_same_model(table, cmn.NO_NSP, ours, ours["options"]), True,
            ),
            Claim(
                "what MI adds", differences(theirs[cmn.FULL], theirs[cmn.NO_MI]), ours,
                _of_same_model(table, cmn.NO_MI, ours, ""), True,
            ),
        ]  # fmt: skip
        for claim in claims:
            found += claim.documents(table["corpus"], table["coefficients"])
    return found


def _of_same_model(table: dict[str, Any], metric: str, ours: Ours, options: str) -> Ours | None:
    """g alone draws nothing: it has one form for both of CMN's."""
    names = {one["trained"] for one in ours["scored"]}
    return matching(
        row_of(table, metric)["ours"],
        lambda other: (
            other["options"] == options
            and bool(names & {one["trained"] for one in other["scored"]})
        ),
    )
