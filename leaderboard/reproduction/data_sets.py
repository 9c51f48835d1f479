"""Tables of rated data: how far raters agree and how large corpora are, published and here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annotations.corpora.queries import NotFound, counts_of, resolve_aspects, version_of
from annotations.corpora.rating_queries import agreement_of
from annotations.models import Corpus
from leaderboard.queries.response_scores import human_scores
from leaderboard.reproduction.published import band, paper


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """``pairs``: of each two of three raters."""

    title: str
    slug: str
    """Of the corpus here, where nobody says otherwise."""
    level: Literal["turn", "dialogue"]
    coefficient: Literal["kappa", "alpha"]
    value: float
    pairs: tuple[float, ...] = ()


def _published_agreement() -> Iterator[PublishedAgreement]:
    (kappa,) = paper("cmn").tables["5"].rows
    for column, source in (("cmn-dailydialog", "DailyDialog"), ("cmn-personachat", "PersonaChat")):
        mean, *pairs = (one.value for one in kappa.of_column(column).values())
        yield PublishedAgreement(f"CMN, {source}", column, "turn", "kappa", mean, tuple(pairs))
    (alpha,) = paper("comperdial").tables["3.2.3"].rows
    for level in ("turn", "dialogue"):
        (value,) = (one.value for one in alpha.of_column(f"comperdial {level}").values())
        yield PublishedAgreement(f"ComperDial, {level}s", "comperdial", level, "alpha", value)


AGREEMENT = tuple(_published_agreement())
SIZES = paper("comperdial").tables["8"]
COEFFICIENTS = {"kappa": "Cohen's κ, mean of pairs", "alpha": "Krippendorff's α"}


def agreement_table(slugs: Mapping[str, str] | None = None, aspect: str = "") -> dict[str, Any]:
    """``slugs``: what the papers' corpora are called here, by the first name that they may have;
    ``aspect``: of the human scores, where it is not each corpus's main one.

    Raises NotFound for an unknown key.
    """
    known = {one.slug for one in AGREEMENT}
    if unknown := set(slugs or ()) - known:
        raise NotFound(
            f"the papers have no corpus {', '.join(sorted(unknown))}; they have: "
            f"{', '.join(sorted(known))}"
        )
    return {
        "table": "agreement",
        "published": [paper("cmn").citation, paper("comperdial").citation],
        "rows": [
            {
                "title": one.title,
                "level": one.level,
                "coefficient": COEFFICIENTS[one.coefficient],
                "published": {
                    "value": one.value,
                    "band": band(one.value),
                    "pairs": list(one.pairs),
                },
                **_ours(one, (slugs or {}).get(one.slug) or one.slug, aspect),
            }
            for one in AGREEMENT
        ],
        "notes": [
            "Bands after Landis and Koch (1977): from .4 moderate, from .6 substantial.",
            "κ unweighted and α of intervals here; the papers do not say which.",
        ],
    }


def _ours(published: PublishedAgreement, slug: str, aspect: str) -> dict[str, Any]:
    try:
        version = version_of(slug)
        aspect = resolve_aspects(version, aspect)
    except NotFound as missing:
        return {"corpus": slug, "ours": {"value": None, "reason": str(missing)}}
    report = agreement_of(version, aspect, published.level)
    if published.coefficient == "alpha":
        found = report["krippendorff_alpha"]["interval"]
        pairs: list[dict[str, Any]] = []
    else:
        kappa = report["cohen_kappa"]["unweighted"]
        found = {**kappa, "value": kappa.get("mean")}
        pairs = kappa.get("pairs", [])
    value = found.get("value")
    if value is None:
        reason = found.get("reason", "no pair of raters judged the same items")
        return {"corpus": slug, "aspect": aspect, "ours": {"value": None, "reason": reason}}
    ours = {
        "value": value,
        "band": band(value),
        **{key: found[key] for key in ("ci", "ci_reason") if key in found},
        "pairs": [pair["value"] for pair in pairs],
    }
    return {"corpus": slug, "aspect": aspect, "ours": ours}


def benchmarks_table() -> dict[str, Any]:
    """What ComperDial's paper counts of benchmarks, then all corpora of this site that people
    rated."""
    return {
        "table": "benchmarks",
        "published": paper("comperdial").citation,
        "rows": [
            {
                "benchmark": row.metric,
                "data": column,
                **{
                    name: None if name not in sizes else int(sizes[name].value)
                    for name in SIZES.statistics
                },
                "evaluation": row.group,
            }
            for row in SIZES.rows
            for column in SIZES.columns
            if (sizes := row.of_column(column))
        ],
        "corpora": [
            row
            for row in map(
                _size, Corpus.objects.filter(versions__isnull=False).distinct().order_by("slug")
            )
            if row
        ],
    }


def _size(corpus: Corpus) -> dict[str, Any] | None:
    version = version_of(corpus.slug)
    rated = {
        level: len(human_scores(version, version.main_aspect, level))
        for level in ("turn", "dialogue")
    }
    if not any(rated.values()):
        return None
    return {
        "corpus": corpus.slug,
        "corpus_version": version.label,
        "turns": rated["turn"],
        "dialogues": rated["dialogue"],
        "systems": counts_of(version).systems,
    }
