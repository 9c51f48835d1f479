"""Tables of rated data: how far raters agree and how large corpora are, published and here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.corpora.queries import NotFound, counts_of, version_of
from annotations.corpora.rating_queries import agreement_of
from annotations.models import Corpus
from leaderboard.queries.response_scores import human_scores
from leaderboard.reproduction.corpora import first_that_is_here
from leaderboard.reproduction.published.data_sets import (
    AGREEMENT,
    CITATIONS,
    SIZES,
    PublishedAgreement,
    band,
)

COEFFICIENTS = {"kappa": "Cohen's κ, mean of pairs", "alpha": "Krippendorff's α"}


def agreement_table(slugs: Mapping[str, str] | None = None) -> dict[str, Any]:
    """``slugs``: what the papers' corpora are called here, by the first name that they may have.

    Raises NotFound for an unknown key.
    """
    known = {one.slugs[0] for one in AGREEMENT}
    if unknown := set(slugs or ()) - known:
        raise NotFound(
            f"the papers have no corpus {', '.join(sorted(unknown))}; they have: "
            f"{', '.join(sorted(known))}"
        )
    return {
        "table": "agreement",
        "published": list(CITATIONS),
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
                **_ours(one, (slugs or {}).get(one.slugs[0]) or first_that_is_here(one.slugs)),
            }
            for one in AGREEMENT
        ],
        "notes": [
            "Bands after Landis and Koch (1977): from .4 moderate, from .6 substantial.",
            "κ unweighted and α of intervals here; the papers do not say which.",
        ],
    }


def _ours(published: PublishedAgreement, slug: str) -> dict[str, Any]:
    try:
        version = version_of(slug)
    except NotFound as missing:
        return {"corpus": slug, "ours": {"value": None, "reason": str(missing)}}
    report = agreement_of(version, version.main_aspect, published.level)
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
        return {"corpus": slug, "ours": {"value": None, "reason": reason}}
    ours = {
        "value": value,
        "band": band(value),
        **{key: found[key] for key in ("ci", "ci_reason") if key in found},
        "pairs": [pair["value"] for pair in pairs],
    }
    return {"corpus": slug, "ours": ours}


def benchmarks_table() -> dict[str, Any]:
    """What ComperDial's paper counts of benchmarks, then all corpora of this site that people
    rated."""
    return {
        "table": "benchmarks",
        "published": CITATIONS[1],
        "rows": [
            {
                "benchmark": one.benchmark,
                "data": one.data,
                "turns": one.turns,
                "dialogues": one.dialogues,
                "systems": one.systems,
                "evaluation": one.evaluation,
            }
            for one in SIZES
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
