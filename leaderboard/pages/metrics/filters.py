"""What a reader asks of the metric leaderboard, in its address: which numbers, of which systems, of
which metrics. Above the table stand a search box, chips for the metric type, segments for level and
coefficient, and a select for each other choice, only where there is something to choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotations.corpora.slices import NO_SLICE
from leaderboard.answers.metrics import CorrelationRow, MetricCorrelations
from leaderboard.estimate_cells import COEFFICIENT_NAMES, COEFFICIENTS
from leaderboard.queries.system_choice import ALL, SystemChoice
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.metrics.registry import all_metrics

ANY = "any"
GLOBAL = "global"
VARIANTS = {
    GLOBAL: "pooled",
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
    "reference": ("references", lambda needs: "reference" in needs),
    "persona": ("personas", lambda needs: "persona" in needs),
    "human-corpus": ("human responses", lambda needs: "human_corpus" in needs),
}
METHODS = {
    "lexical": "Word overlap",
    "embedding": "Embedding",
    "language-model": "Language model",
    "judge": "Judge",
    "trained": "Trained",
    "distribution": "Distribution",
    "unknown": "Unknown type",
}
ORIGINS = {"ours": "built in", "submitted": "submitted as scores"}
_TRAINED = frozenset(
    {
        *("bleurt", "unieval", "usr_mlm", "usr_retrieval", "bert_ruber", "maude_style"),
        *("persona_contradiction", "persona_consistency"),
    }
)
_TRAINED_HERE = ("density", "cmn")
"""A family's name, and what its variants' names begin with."""
_LIKELIHOODS = frozenset({"gpt2_coherency", "pmi"})


def method_of(configuration: str, submitted: bool = False) -> str:
    """The metric's type: a key of ``METHODS``."""
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


LONGEST_SEARCH = 80


class UnknownParam(ValueError):
    """The address asks for something that this board does not have; the message says what there
    is."""


@dataclass(frozen=True, slots=True)
class BoardParams:
    """``level``, ``coefficient`` and ``variant`` choose the numbers, ``systems`` and ``data_slice``
    what they are computed of; the rest leaves metrics out. ``search``: part of a metric's name."""

    level: str = "turn"
    coefficient: str = "pearson"
    variant: str = GLOBAL
    systems: str = ALL
    needs: str = ANY
    method: str = ANY
    origin: str = ANY
    search: str = ""
    data_slice: str = NO_SLICE

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
        return bool(self.search) or (self.needs, self.method, self.origin) != (ANY, ANY, ANY)

    def changes(self) -> dict[str, str]:
        """The parameters of the address that differ from the default, for a permanent link."""
        found = {
            "level": self.level,
            "coefficient": self.coefficient,
            "variant": self.variant,
            "systems": self.systems,
            "slice": self.data_slice,
            "needs": self.needs,
            "method": self.method,
            "origin": self.origin,
            "q": self.search,
        }
        implied = {"coefficient": "pearson", "variant": GLOBAL, "slice": NO_SLICE, "q": ""}
        return {
            name: value for name, value in found.items() if value not in (ANY, implied.get(name))
        }

    def keeps(self, row: CorrelationRow) -> bool:
        """Whether the metric of this row of the stored answer stays on the board."""
        if self.search.casefold() not in row.metric.casefold():
            return False
        submitted = row.submitted is not None
        if self.origin != ANY and (self.origin == "submitted") != submitted:
            return False
        if self.method != ANY and method_of(row.metric, submitted) != self.method:
            return False
        if self.needs == ANY:
            return True
        needs = None if submitted else needs_of(row.metric)
        return needs is not None and NEEDS[self.needs][1](needs)


def parse_params(
    params: Mapping[str, str],
    systems: str,
    document: MetricCorrelations | None = None,
    data_slice: str = NO_SLICE,
) -> BoardParams:
    """From an address whose choice of systems and slice were resolved (``resolve_choice``,
    ``resolve_slice``). Without a level it
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
        search=params.get("q", "").strip()[:LONGEST_SEARCH],
        data_slice=data_slice,
    )


def first_level(document: MetricCorrelations | None, coefficient: str = "pearson") -> str:
    if document is None:
        return "turn"
    defined = {row.level for row in document.rows if row.of(coefficient).is_defined}
    return next((level for level in document.levels if level in defined), "turn")


def _one_of(params: Mapping[str, str], name: str, default: str, known: Any) -> str:
    requested = params.get(name) or default
    if requested not in known:
        raise UnknownParam(f"{name} is none of {', '.join(known)}")
    return requested


def filtered(document: MetricCorrelations, params: BoardParams) -> MetricCorrelations:
    """The stored answer with the rows that the filters leave."""
    return replace(document, rows=tuple(row for row in document.rows if params.keeps(row)))


def needs_present(document: MetricCorrelations) -> list[str]:
    ours = dict.fromkeys(row.metric for row in document.rows if row.submitted is None)
    found = [needs for metric in ours if (needs := needs_of(metric)) is not None]
    return [key for key, (_, fits) in NEEDS.items() if any(fits(needs) for needs in found)]


def origins_present(document: MetricCorrelations) -> list[str]:
    found = {"submitted" if row.submitted else "ours" for row in document.rows}
    return [origin for origin in ORIGINS if origin in found]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a parameter. ``count``: the metrics that it leaves, where it is a filter."""

    value: str
    label: str
    is_chosen: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Select:
    name: str
    label: str
    options: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class BoardForm:
    """What stands above the table: links (``chips``, ``segments``) and ``selects``."""

    metrics: int
    chips: tuple[Choice, ...]
    segments: tuple[Select, ...]
    selects: tuple[Select, ...]


def filter_form(
    document: MetricCorrelations,
    params: BoardParams,
    aspect: str,
    aspects: Sequence[str],
    systems: Sequence[SystemChoice],
    slices: Sequence[tuple[str, str]] = (),
) -> BoardForm:
    """Only choices among two values and more; ``slices``: (value, label)."""
    of_metric = {row.metric: row for row in document.rows}
    segments = [
        _select("level", "Level", [(level, level) for level in document.levels], params.level),
        _select("coefficient", "Coefficient", list(COEFFICIENTS), params.coefficient),
    ]
    selects = [
        _select("aspect", "Aspect", [(one, one) for one in aspects], aspect),
        _select("variant", "Aggregation", list(VARIANTS.items()), params.variant),
        _select(
            "systems", "Systems", [(one.key, _counted(one)) for one in systems], params.systems
        ),
        _select("slice", "Conversations", list(slices), params.data_slice),
        _select(
            "needs",
            "Requires",
            _any([(one, NEEDS[one][0]) for one in needs_present(document)]),
            params.needs,
        ),
        _select(
            "origin",
            "Origin",
            _any([(one, ORIGINS[one]) for one in origins_present(document)]),
            params.origin,
        ),
    ]
    return BoardForm(
        metrics=len(of_metric),
        chips=_chips(of_metric.values(), params.method),
        segments=tuple(one for one in segments if len(one.options) > 1),
        selects=tuple(
            one for one in selects if len(one.options) > (2 if one.options[0].value == ANY else 1)
        ),
    )


def _chips(metrics: Iterable[CorrelationRow], chosen: str) -> tuple[Choice, ...]:
    counts = Counter(method_of(row.metric, row.submitted is not None) for row in metrics)
    if len(counts) < 2 and chosen == ANY:
        return ()
    return (
        Choice(ANY, "All", chosen == ANY, counts.total()),
        *(
            Choice(method, label, method == chosen, counts[method])
            for method, label in METHODS.items()
            if counts[method] or method == chosen
        ),
    )


def _select(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Select:
    known = [value for value, _ in options]
    # Asked for in the address, and fits nothing here: shown, so that it can be undone
    if chosen not in known:
        options = [*options, (chosen, chosen)]
    return Select(
        name, label, tuple(Choice(value, text, value == chosen) for value, text in options)
    )


def _any(options: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(ANY, "any"), *options]


def _counted(choice: SystemChoice) -> str:
    return f"{choice.label} ({len(choice.systems)})"
