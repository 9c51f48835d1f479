"""A case study: single responses with what people and metrics give them, on one scale."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotations.corpora.queries import dialogue_at
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from common.tables import Cell, Column, Row, Table
from common.text import parse_integer
from common.web import page
from leaderboard.answers.cases import CaseScore, CaseStudy
from leaderboard.corpus_context import corpus_context
from leaderboard.pages.cases.query import cases
from leaderboard.results import look
from leaderboard.results.pages import waiting_page

SCALES = {"1-5": "1 to 5", "0-1": "0 to 1"}
SEEDS = 100


@require_safe
def case_study(request: HttpRequest, slug: str) -> HttpResponse:
    """Responses with all scores on one scale: ``aspect``, ``scale`` (``1-5``, ``0-1``), ``seed``
    (of the draw, under 100) or ``dialogue`` (a position: its responses); ``download=cases.csv``."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    scale = request.GET.get("scale", "1-5")
    if scale not in SCALES:
        raise Http404(f"scale is one of {', '.join(SCALES)}")
    seed = parse_integer(request.GET.get("seed", "0"))
    if seed is None or seed >= SEEDS:
        raise Http404(f"seed is a number under {SEEDS}")
    dialogue = None
    if requested := request.GET.get("dialogue", ""):
        seed, dialogue = 0, parse_integer(requested)
        if dialogue is None or dialogue_at(version, dialogue) is None:
            raise Http404(f"{slug} has no dialogue at place {requested}")
    context = corpus_context(version, "metrics", aspect) | {
        "scale": scale,
        "scales": SCALES.items(),
        "dialogue": dialogue,
        "next_seed": (seed + 1) % SEEDS,
    }
    found = look(version, cases, aspect=aspect, seed=seed, dialogue=dialogue)
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Case study", below_tab=True)
    low, high = map(float, scale.split("-"))
    table = _table(found.answer, low, high)
    lower = _lower_table(found.answer, slug, version.number)
    context |= {
        "analysis": found,
        "look": found,
        "document": found.answer,
        "table": table,
        "lower": lower,
    }
    return page(request, "leaderboard/case_study.html", context, [table, lower])


def _table(study: CaseStudy, low: float, high: float) -> Table:
    """A row for people and for each metric, two columns a case."""
    signatures = {"human": ""} | {one.metric: one.signature for one in study.metrics}
    numbers = range(1, len(study.cases) + 1)
    return Table(
        "cases",
        f"{study.aspect} and metrics from {low:g} to {high:g}, with rank shares",
        (
            Column("of", "score of"),
            *(
                Column(
                    f"{key}-{number}",
                    label,
                    "number",
                    2,
                    group=f"case {number}",
                    detail=key == "rank-share",
                )
                for number in numbers
                for key, label in (("value", "on the scale"), ("rank-share", "rank share"))
            ),
        ),
        tuple(
            Row(
                f"case-score-{row}",
                {"of": Cell(name)}
                | {
                    f"{key}-{number}": cell
                    for number, case in zip(numbers, study.cases, strict=True)
                    for key, cell in _cells(case.scores[row], low, high).items()
                },
                signature=signature,
            )
            for row, (name, signature) in enumerate(signatures.items())
        ),
    )


def _cells(score: CaseScore, low: float, high: float) -> dict[str, Cell]:
    return {
        "value": Cell(score.on_scale(low, high), reason=score.reason),
        "rank-share": Cell(score.rank_share, reason=score.reason),
    }


def _lower_table(study: CaseStudy, slug: str, version: int) -> Table:
    return Table(
        "rated-lower",
        "Dialogues rated lower as a whole than turn by turn",
        (
            Column("dialogue", "dialogue", "link"),
            Column("system", "system"),
            Column("turns", "mean of turns", "number", 2),
            Column("whole", "as a whole", "number", 2),
            Column("difference", "difference", "number", 2),
        ),
        tuple(
            Row(
                f"lower-{place}",
                {
                    "dialogue": Cell(
                        one.dialogue,
                        href=f"{reverse('dialogue', args=[slug, one.position])}?version={version}",
                    ),
                    "system": Cell(one.system),
                    "turns": Cell(one.turns),
                    "whole": Cell(one.whole),
                    "difference": Cell(one.turns - one.whole),
                },
            )
            for place, one in enumerate(study.lower)
        ),
    )
