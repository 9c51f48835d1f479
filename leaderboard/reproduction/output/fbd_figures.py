"""The FBD paper's two figures as one SVG: correlations of BERTScore, FBD and PRD by corpus, the
mean over encoders, and by encoder, the mean over corpora; printed and ours. No Django here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

METRICS = {"BERTScore": "#0072b2", "FBD": "#d55e00", "PRD": "#009e73"}
"""With their colours."""
COEFFICIENTS = {"spearman": "|Spearman's ρ|", "pearson": "|Pearson's r|"}
PRINTED, OURS = "printed", "ours"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 900, 250, 50, 50, 60
Bars = dict[str, dict[tuple[str, str], float]]
"""By what stands beneath a group of bars: heights by (metric, printed or ours)."""


def to_svg(document: Mapping[str, Any]) -> str:
    """Bars of what is printed are pale, of what is computed here full; a missing bar is not
    computed."""
    panels = [
        _panel(f"{words}, {by}", bars, number)
        for number, (by, words, bars) in enumerate(
            (by, words, bars)
            for by, grouped in (
                ("mean over encoders", by_corpus),
                ("mean over corpora", by_encoder),
            )
            for name, words in COEFFICIENTS.items()
            for bars in [grouped(document, name)]
        )
    ]
    height = TOP + HEIGHT * len(panels)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="12" role="img">',
            f"<title>{escape(document['published'])}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *_legend(),
            *panels,
            "</svg>",
        ]
    )


def by_corpus(document: Mapping[str, Any], coefficient: str) -> Bars:
    """The paper's Figure 1: for each corpus the mean over encoders."""
    grouped: Bars = {}
    for place, corpus in enumerate(document["corpora"]):
        values = _values(document, coefficient, [place])
        grouped[corpus["title"]] = {
            (metric, source): _mean([value for _, value in found])
            for (metric, source), found in values.items()
        }
    return grouped


def by_encoder(document: Mapping[str, Any], coefficient: str) -> Bars:
    """The paper's Figure 2: for each encoder the mean over the corpora that are computed."""
    values = _values(document, coefficient, range(len(document["corpora"])))
    encoders = dict.fromkeys(encoder for found in values.values() for encoder, _ in found)
    return {
        encoder: {
            key: _mean(of_encoder)
            for key, found in values.items()
            if (of_encoder := [value for name, value in found if name == encoder])
        }
        for encoder in encoders
    }


def _values(
    document: Mapping[str, Any], coefficient: str, places: Sequence[int]
) -> dict[tuple[str, str], list[tuple[str, float]]]:
    """By metric and source: encoder and size of each correlation."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for row in document["rows"]:
        if row["metric"] not in METRICS:
            continue
        encoder = ", ".join(dict.fromkeys(one.partition("@")[0] for one in row["models"]))
        for place in places:
            cell = row["cells"][place]
            for printed in cell["published"]:
                of_paper = found.setdefault((row["metric"], PRINTED), [])
                of_paper.append((printed["encoder"], printed[coefficient]))
            if cell[coefficient]["value"] is not None:
                ours = found.setdefault((row["metric"], OURS), [])
                ours.append((encoder, cell[coefficient]["absolute"]))
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _legend() -> list[str]:
    parts = []
    for number, (metric, colour) in enumerate(METRICS.items()):
        for place, source in enumerate((PRINTED, OURS)):
            across = LEFT + 285 * number + 145 * place
            parts.append(
                f'<rect x="{across}" y="14" width="12" height="12" fill="{colour}" '
                f'fill-opacity="{_opacity(source)}"/>'
                f'<text x="{across + 17}" y="24">{metric}, {source}</text>'
            )
    return parts


def _panel(title: str, bars: Bars, number: int) -> str:
    top = TOP + HEIGHT * number
    floor, room = top + HEIGHT - BOTTOM, HEIGHT - BOTTOM - 30
    keys = [(metric, source) for metric in METRICS for source in (PRINTED, OURS)]
    wide = (WIDTH - LEFT - 10) / max(1, len(bars))
    bar = wide * 0.8 / len(keys)
    parts = [f'<text x="{LEFT}" y="{top + 14}" font-weight="bold">{escape(title)}</text>']
    for tick in (0.0, 0.5, 1.0):
        up = floor - room * tick
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{up:g}" y2="{up:g}" stroke="#ccc"/>'
            f'<text x="{LEFT - 6}" y="{up + 4:g}" text-anchor="end">{tick:g}</text>'
        )
    for group, (name, heights) in enumerate(bars.items()):
        left = LEFT + wide * (group + 0.1)
        for place, (metric, source) in enumerate(keys):
            value = heights.get((metric, source))
            if value is not None:
                parts.append(
                    f'<rect x="{left + bar * place:.1f}" y="{floor - room * value:.1f}" '
                    f'width="{bar * 0.9:.1f}" height="{room * value:.1f}" '
                    f'fill="{METRICS[metric]}" fill-opacity="{_opacity(source)}">'
                    f"<title>{metric}, {source}, {escape(name)}: {value:.3f}</title></rect>"
                )
        parts.append(
            f'<text x="{left + wide * 0.4:.1f}" y="{floor + 18}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    return "\n".join(parts)


def _opacity(source: str) -> str:
    return ".45" if source == PRINTED else "1"
