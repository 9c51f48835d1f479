"""CMN's tables with all that is computed of their metrics here, on evaluation sets that we have
(Zhao et al., 2023)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotations.models import Corpus
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
from leaderboard.reproduction.trained_models import ModelInfo, model_facts, setup_text
from leaderboard.reproduction.trained_rows import Belongs, Evaluation, compared
from workers.metrics.common.configuration import Configuration

RECIPE = "cmn"
PAPER = paper("cmn")
STANDARD, DIVERSE = PAPER.tables["1"], PAPER.tables["2"]
FULL, NO_NSP, NO_MI = "CMN", "w/o NSP", "w/o MI"
_SETS = {"standard": STANDARD, "diverse": DIVERSE}
SOURCES = {
    "dailydialog-zhao": ("dailydialog", tuple(_SETS)),
    "dailydialog-grade": ("dailydialog", tuple(_SETS)),
    "personachat-usr": ("personachat", tuple(_SETS)),
    "convai2-grade": ("personachat", tuple(_SETS)),
    **{
        f"{source}-{name}": (source, (name,))
        for source in ("dailydialog", "personachat")
        for name in _SETS
    },
}
"""What is evaluated here in the place of the paper's sets → the conversations' source, and the sets
that it stands beside: of the study's own kind one alone."""
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
    NO_NSP: "cmn_no_nsp",
    NO_MI: "cmn_no_mi",
    FULL: "cmn",
}
"""The row of the paper → the metric whose configurations stand beside it. MDD-Eval: none."""
NOTES = (
    "The paper's evaluation sets are its own: standard (responses near their reference) and "
    "diverse (far from it), rated for appropriateness and coherence. They stand beside other "
    "responses to the same sources here, so that a figure of ours is no repetition of theirs. Sets "
    "that subset cuts (--corpora dailydialog-standard=S) stand beside the paper's of their kind, "
    "and the human score is the mean of both aspects.",
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


WHY_NOT = "The paper's responses are not published: ours are other ones, to the same sources."


def cmn_table(choice: Choice) -> dict[str, Any]:
    """Tables 1 and 2 of the paper beside every finished configuration of their metrics on each of
    our evaluation sets of the same source.

    Raises NotFound for an unknown corpus, aspect or system."""
    corpora = {
        key: corpus
        for key, corpus in corpora_of(PAPER.corpora, choice).items()
        if len(SOURCES[key][1]) > 1
        or key in (*choice.slugs, *choice.only)
        or Corpus.objects.filter(slug=corpus.slug).exists()
    }
    look_up_all(corpora.values(), choice, OURS.values())
    scored = [(corpus, one) for corpus in corpora.values() for one in corpus.found]
    known: dict[str, dict[tuple[str, str], ModelInfo]] = {}
    for recipe, of_recipe in ((RECIPE, True), ("density", False)):
        named = {
            (name, corpus.revision(one))
            for corpus, one in scored
            if one.metric.name.startswith(RECIPE) is of_recipe and (name := trained_name(one))
        }
        known[recipe] = model_facts(recipe, named)
    how = Evaluation({**known["density"], **known[RECIPE]}, choice)
    tables = [_table(how, key, corpus) for key, corpus in corpora.items()]
    models = sorted(
        {id(model): model for model in known[RECIPE].values()}.values(),
        key=lambda one: (one.family, one.name),
    )
    return {
        "table": "cmn",
        "published": PAPER.citation,
        "resamples": choice.resamples,
        "seed": choice.seed,
        "corpora": [corpus.as_json() for corpus in corpora.values()],
        "tables": tables,
        "agreement": agreement(
            pair
            for key, document in zip(corpora, tables, strict=True)
            for pair in compared(document, _beside(key))
        ),
        "why_not": WHY_NOT,
        "selection": [],
        "models": [model.as_json() for model in models],
        "findings": [one for table in tables for one in _findings(table)],
        "missing": [
            line for corpus in corpora.values() for line in what_is_missing(corpus, _wanted(models))
        ],
        "notes": [setup_text(PAPER.setup, models), *NOTES],
    }


def _table(how: Evaluation, key: str, corpus: PaperCorpus) -> dict[str, Any]:
    source, sets = SOURCES[key]
    named = "DailyDialog" if source == "dailydialog" else "PersonaChat"
    numbers = ", ".join(_SETS[name].number for name in sets)
    title = f"{' and '.join(sets)} {named}, turn level"
    return how.table(STANDARD, numbers, title, corpus, _beside(key), _belongs_to)


def _beside(key: str) -> dict[str, tuple[Table, str]]:
    source, sets = SOURCES[key]
    return {name: (_SETS[name], source) for name in sets}


def _belongs_to(row: Row) -> Belongs:
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
    theirs = {metric: published_values(row_of(table, metric)) for metric in (FULL, NO_NSP, NO_MI)}
    for ours in row_of(table, FULL)["ours"]:
        claims = [
            Claim("CMN", theirs[FULL], ours),
            Claim(
                "what NSP adds", differences(theirs[FULL], theirs[NO_NSP]), ours,
                _of_same_model(table, NO_NSP, ours, ours["options"]), True,
            ),
            Claim(
                "what MI adds", differences(theirs[FULL], theirs[NO_MI]), ours,
                _of_same_model(table, NO_MI, ours, ""), True,
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
