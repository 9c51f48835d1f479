"""What a reader asks of the metric leaderboard, in its address: which numbers, of which systems, of
which metrics. The form above the table has one select for each choice, only where there is
something to choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.estimate_cells import COEFFICIENT_NAMES
from leaderboard.plots import levels_of
from leaderboard.queries.system_choice import ALL, SystemChoice
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.registry import all_metrics

ANY = "any"
GLOBAL = "global"
VARIANTS = {
    GLOBAL: "over all pairs",
    "per_dialogue": "within each dialogue, averaged",
    "per_system": "within each system, averaged",
    "attenuation_corrected": "corrected for the unreliability of the human scores",
}
VARIANT_HELP = {
    GLOBAL: "",
    "per_dialogue": "Computed over the systems of one dialogue, then averaged over dialogues.",
    "per_system": "Computed over the responses of one system, then averaged over systems.",
    "attenuation_corrected": (
        "Divided by the square root of the reliability of the human scores: what an error-free "
        "human score would be expected to give. It may pass 1."
    ),
}
NEEDS: dict[str, tuple[str, Callable[[frozenset[str]], bool]]] = {
    "reference-free": ("no reference", lambda needs: not needs & {"reference", "human_corpus"}),
    "reference": ("a reference", lambda needs: "reference" in needs),
    "persona": ("the persona", lambda needs: "persona" in needs),
    "human-corpus": ("people's answers as a whole", lambda needs: "human_corpus" in needs),
}
METHODS = {
    "judge": "judged by a language model",
    "trained": "trained for evaluation",
    "language-model": "a language model's likelihoods",
    "embedding": "embeddings",
    "lexical": "words",
    "distribution": "of whole systems",
    "unknown": "not known",
}
ORIGINS = {"ours": "built in", "submitted": "submitted as scores"}
_TRAINED = frozenset({"bleurt", "unieval", "usr_mlm", "usr_retrieval", "bert_ruber", "maude_style"})
_TRAINED_HERE = ("density", "cmn")
"""A family's name, and what its variants' names begin with."""
_LIKELIHOODS = frozenset({"gpt2_coherency", "pmi"})


def method_of(configuration: str, submitted: bool = False) -> str:
    """What a metric is made of: a key of ``METHODS``."""
    name = configuration.partition("[")[0]
    metric = None if submitted else all_metrics().get(name)
    if metric is None:
        return "unknown"
    if metric.queue == "llm":
        return "judge"
    if "human_corpus" in metric.needs:
        return "distribution"
    if name in _TRAINED or name.split("_")[0] in _TRAINED_HERE:
        return "trained"
    if name in _LIKELIHOODS or name.startswith("fed_"):
        return "language-model"
    return "embedding" if metric.queue == "gpu" else "lexical"


def needs_of(configuration: str) -> frozenset[str] | None:
    """None where it is not known: of a metric that was handed in as scores, or is not installed any
    more."""
    try:
        return frozenset(parse(configuration).needs)
    except ConfigurationError:
        return None


class UnknownParam(ValueError):
    """The address asks for something that this board does not have; the message says what there
    is."""


@dataclass(frozen=True, slots=True)
class BoardParams:
    """``level``, ``coefficient`` and ``variant`` choose the numbers, ``systems`` what they are
    computed of; the rest leaves metrics out."""

    level: str = "turn"
    coefficient: str = "pearson"
    variant: str = GLOBAL
    systems: str = ALL
    needs: str = ANY
    method: str = ANY
    origin: str = ANY

    @property
    def column(self) -> str:
        return f"{self.level}-{self.coefficient}"

    def variant_at(self, level: str) -> str:
        """Averages within dialogues or within systems need more than one item of each: not so at
        system level."""
        return (
            GLOBAL
            if level == "system" and self.variant in ("per_dialogue", "per_system")
            else self.variant
        )

    @property
    def shown_variant(self) -> str:
        return self.variant_at(self.level)

    @property
    def filters(self) -> bool:
        """Whether metrics may be left out."""
        return (self.needs, self.method, self.origin) != (ANY, ANY, ANY)

    def keeps(self, row: Mapping[str, Any]) -> bool:
        """Whether the metric of this row of the stored answer stays on the board."""
        submitted = "submitted" in row
        if self.origin != ANY and (self.origin == "submitted") != submitted:
            return False
        if self.method != ANY and method_of(row["metric"], submitted) != self.method:
            return False
        if self.needs == ANY:
            return True
        needs = None if submitted else needs_of(row["metric"])
        return needs is not None and NEEDS[self.needs][1](needs)


def parse_params(
    params: Mapping[str, str], systems: str, document: Mapping[str, Any] | None = None
) -> BoardParams:
    """From an address whose choice of systems was resolved (``resolve_choice``). Without a level it
    is the first of the document at which a metric has a value. Raises ``UnknownParam``."""
    coefficient = _one_of(params, "coefficient", "pearson", COEFFICIENT_NAMES)
    return BoardParams(
        level=_one_of(
            params, "level", first_level(document, coefficient), ("turn", "dialogue", "system")
        ),
        coefficient=coefficient,
        variant=_one_of(params, "variant", GLOBAL, VARIANTS),
        systems=systems,
        needs=_one_of(params, "needs", ANY, (ANY, *NEEDS)),
        method=_one_of(params, "method", ANY, (ANY, *METHODS)),
        origin=_one_of(params, "origin", ANY, (ANY, *ORIGINS)),
    )


def first_level(document: Mapping[str, Any] | None, coefficient: str = "pearson") -> str:
    if document is None:
        return "turn"
    defined = {row["level"] for row in document["rows"] if row[coefficient]["value"] is not None}
    return next((level for level in levels_of(document) if level in defined), "turn")


def _one_of(params: Mapping[str, str], name: str, default: str, known: Any) -> str:
    requested = params.get(name) or default
    if requested not in known:
        raise UnknownParam(f"{name} is none of {', '.join(known)}")
    return requested


def kept(document: Mapping[str, Any], params: BoardParams) -> dict[str, Any]:
    """The stored answer with the rows that the filters leave."""
    return {**document, "rows": [row for row in document["rows"] if params.keeps(row)]}


def methods_present(document: Mapping[str, Any]) -> list[str]:
    found = {method_of(row["metric"], "submitted" in row) for row in document["rows"]}
    return [method for method in METHODS if method in found]


def needs_present(document: Mapping[str, Any]) -> list[str]:
    ours = dict.fromkeys(row["metric"] for row in document["rows"] if "submitted" not in row)
    found = [needs for metric in ours if (needs := needs_of(metric)) is not None]
    return [key for key, (_, fits) in NEEDS.items() if any(fits(needs) for needs in found)]


def origins_present(document: Mapping[str, Any]) -> list[str]:
    found = {"submitted" if "submitted" in row else "ours" for row in document["rows"]}
    return [origin for origin in ORIGINS if origin in found]


@dataclass(frozen=True, slots=True)
class Select:
    name: str
    label: str
    options: tuple[tuple[str, str, bool], ...]
    """(value, words, whether it is chosen)"""


def filter_form(
    document: Mapping[str, Any],
    params: BoardParams,
    aspect: str,
    aspects: Sequence[str],
    systems: Sequence[SystemChoice],
) -> tuple[list[Select], list[Select]]:
    """(what numbers are shown, which metrics)."""
    numbers = [
        _select("aspect", "Aspect", [(one, one) for one in aspects], aspect),
        _select("level", "Level", [(level, level) for level in levels_of(document)], params.level),
        _select("coefficient", "Coefficient", list(COEFFICIENT_NAMES.items()), params.coefficient),
        _select("variant", "Computed", list(VARIANTS.items()), params.variant),
        _select(
            "systems", "Systems", [(one.key, _counted(one)) for one in systems], params.systems
        ),
    ]
    metrics = [
        _select(
            "method",
            "Metrics made of",
            _any([(one, METHODS[one]) for one in methods_present(document)]),
            params.method,
        ),
        _select(
            "needs",
            "Metrics that need",
            _any([(one, NEEDS[one][0]) for one in needs_present(document)]),
            params.needs,
        ),
        _select(
            "origin",
            "Metrics",
            _any([(one, ORIGINS[one]) for one in origins_present(document)]),
            params.origin,
        ),
    ]
    return [one for one in numbers if len(one.options) > 1], [
        one for one in metrics if len(one.options) > 2
    ]


def _select(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Select:
    known = [value for value, _ in options]
    # Asked for in the address, and fits nothing here: shown, so that it can be undone
    if chosen not in known:
        options = [*options, (chosen, chosen)]
    return Select(name, label, tuple((value, words, value == chosen) for value, words in options))


def _any(options: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(ANY, "any"), *options]


def _counted(choice: SystemChoice) -> str:
    return f"{choice.label} ({len(choice.systems)})"
