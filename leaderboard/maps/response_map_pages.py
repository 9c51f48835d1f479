"""The map of what systems said, beside the references."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.tables import Cell, Column, Row, Table
from common.web import page
from leaderboard.analyses import look
from leaderboard.analyses.pages import waiting_page
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure, MapPoint, response_map
from leaderboard.maps.words import similarity_text

COLOURED = 6
"""More colours than this are hard to follow in a cloud; the reader chooses others."""


@require_safe
def response_map_page(request: HttpRequest, slug: str) -> HttpResponse:
    version = version_or_404(request, slug)
    found = look(version, "response-map")
    context: dict[str, Any] = {
        **corpus_context(version, "systems", aspect_or_404(request, version)),
        "look": found,
    }
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Map of responses", below_tab=True)
    document = found.answer
    names = [one["system"] for one in document["systems"]]
    chosen = [name for name in request.GET.getlist("system") if name in names] or names[:COLOURED]
    context |= {
        "analysis": found,
        "choices": [(name, name in chosen) for name in names],
        "document": document,
        "nothing": document.get("reason", ""),
    }
    files: list[Table] = []
    if document["points"]:
        table = _closeness(document)
        context |= {
            "figures": _figures(document, chosen),
            "table": table,
            "finding": similarity_text(document),
        }
        files = [table, *(figure.points for figure in context["figures"])]
    return page(request, "leaderboard/response_map.html", context, files)


def _figures(document: dict[str, Any], chosen: Sequence[str]) -> list[Figure]:
    names = {one["position"]: one["system"] for one in document["systems"]}
    drawn = document["turns"] < document["of_turns"]
    remark = (
        f"{document['turns']} of {document['of_turns']} turns, chosen by chance (seed "
        f"{document['seed']})."
    )
    return [
        response_map(
            [
                MapPoint(
                    system=names.get(point["system"]),
                    swatch=point["system"],
                    place=f"dialogue {point['dialogue'] + 1}, turn {point['turn']}",
                    text=point["text"],
                    across=point[method][0],
                    up=point[method][1],
                )
                for point in document["points"]
            ],
            figure_id=f"map-{method}",
            method=method,
            shown=chosen,
            explained=tuple(document["explained"]),
            perplexity=document["perplexity"],
            remark=remark if drawn else "",
            seed=document["seed"],
            signature=_signature(document),
        )
        for method in ("tsne", "pca")
    ]


def _signature(document: dict[str, Any]) -> str:
    return (
        f"{document['corpus']} {document['corpus_version']}, sentence vectors of "
        f"{document['model']}, seed {document['seed']}"
    )


def _closeness(document: dict[str, Any]) -> Table:
    """How near a system's responses lie to the references of their turns, in the encoder's own
    space."""
    near: dict[int, list[float]] = {}
    for point in document["points"]:
        if point["cosine"] is not None:
            near.setdefault(point["system"], []).append(point["cosine"])
    rows = tuple(
        Row(
            one["system"],
            {
                "system": Cell(one["system"]),
                "n": Cell(len(near.get(one["position"], ()))),
                "cosine": Cell(fmean(near[one["position"]]))
                if one["position"] in near
                else Cell(reason="no turn of the map has both a response and a reference"),
            },
            swatch=one["position"],
        )
        for one in document["systems"]
    )
    return Table(
        "closeness",
        "How near the responses are to the references, before anything is drawn on a plane",
        (
            Column("system", "system"),
            Column("n", "pairs", "number", 0),
            Column("cosine", "mean cosine to the reference", "number", higher_is_better=None),
        ),
        rows,
        sort=("cosine", True),
        signature=_signature(document),
    )
