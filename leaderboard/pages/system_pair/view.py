"""Two systems side by side on the same turns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.queries import NotFound, select_systems
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.corpora.shown_messages import ShownText
from annotations.models import CorpusVersion, System
from common.tables import Table
from common.text import parse_integer
from common.web import page
from leaderboard.answers.system_pair import PairColumns, SystemPair
from leaderboard.corpus_context import corpus_context
from leaderboard.figures import Figure
from leaderboard.pages.system_pair.figures import ItemDifference, pair_differences
from leaderboard.pages.system_pair.query import ItemText, TurnText, item_texts, system_pair
from leaderboard.pages.system_pair.rows import ONLY, PEOPLE, SORTS, PairParams, PairRows
from leaderboard.pages.system_pair.tables import (
    finding,
    items_table,
    metrics_table,
    signature,
    wrong_metrics,
)
from leaderboard.pages.systems.query import system_leaderboard
from leaderboard.results import Look, look
from leaderboard.results.pages import waiting_page
from leaderboard.statistics.correlation.placed_scores import FloatArray

ITEMS_A_PAGE = 10
METRICS_SHOWN = 3
MOST_METRICS = 8
TEMPLATE = "leaderboard/system_comparison.html"
SORT_LABELS = {
    "": "farthest apart first",
    "first": "A better first",
    "second": "B better first",
    "place": "place in the corpus",
}
FILTER_LABELS = {"": "all", "first": "A better", "second": "B better", "tie": "ties"}


@dataclass(frozen=True, slots=True)
class Side:
    """One system's part of an item: people's mean, and the metrics as (name, score, whether it is
    the better one)."""

    letter: str
    system: System
    human: float | None
    raters: int
    metrics: tuple[tuple[str, float | None, bool], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """One item as the page shows it."""

    text: ItemText
    address: str
    sides: tuple[Side, Side]

    @property
    def difference(self) -> float | None:
        """People's: of the first minus of the second."""
        first, second = (side.human for side in self.sides)
        return None if first is None or second is None else first - second

    @property
    def better(self) -> str:
        gap = self.difference
        return "" if not gap else self.sides[gap < 0].letter

    @property
    def by(self) -> float:
        return abs(self.difference or 0.0)

    @property
    def turns(self) -> list[tuple[TurnText, list[tuple[Side, str | None, ShownText | None]]]]:
        """Each turn with what either system said there."""
        return [
            (turn, list(zip(self.sides, (turn.first, turn.second), turn.shown, strict=True)))
            for turn in self.text.turns
        ]


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two systems, paired or unpaired: ``first``, ``second`` (names), ``aspect``, ``level``, ``by``
    (a metric; people without it), ``only`` (``first``, ``second``, ``tie``), ``sort``
    (``first``, ``second``, ``place``), ``dialogue``, ``metric`` (scores shown), ``page``;
    ``download=system-pair.csv`` or ``.json``; ``pick`` twice leads to the two."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    if "pick" in request.GET:
        return _picked(request, slug)
    systems = select_systems(version)
    context: dict[str, Any] = {**corpus_context(version, "systems", aspect), "systems": systems}
    context["names"] = [system.name for system in systems]
    if len(systems) < 2:
        return page(request, TEMPLATE, context)
    first, second = _two(request, version, aspect, systems)
    context |= {"first": first, "second": second}
    if first == second:
        return page(request, TEMPLATE, {**context, "same": True})
    level = request.GET.get("level", "")
    requested = {"level": level} if level in ("turn", "dialogue") else {}
    found = look(
        version, system_pair, aspect=aspect, first=first.name, second=second.name, **requested
    )
    context |= {"analysis": found, "look": found}
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Two systems", below_tab=True)
    return _compared(request, version, (first, second), found, context)


def _picked(request: HttpRequest, slug: str) -> HttpResponse:
    """From the board, where systems are ticked: the first two of them, in an address that stays."""
    picked = request.GET.getlist("pick")
    requested = [(name, request.GET[name]) for name in ("version", "aspect") if name in request.GET]
    requested += list(zip(("first", "second"), picked, strict=False))
    return redirect(f"{reverse('system-comparison', args=[slug])}?{urlencode(requested)}")


def _two(
    request: HttpRequest, version: CorpusVersion, aspect: str, systems: list[System]
) -> tuple[System, System]:
    """The systems asked for; where one is not, the best by people that is left. Raises 404 for what
    is not shown."""
    by_name = {system.name: system for system in systems}
    params = [request.GET.get(name, "") for name in ("first", "second")]
    try:
        select_systems(version, [requested for requested in params if requested])
    except NotFound as missing:
        raise Http404(str(missing)) from None
    left = [name for name in _best_first(version, aspect, by_name) if name not in params]
    names = [requested or left.pop(0) for requested in params]
    return by_name[names[0]], by_name[names[1]]


def _best_first(version: CorpusVersion, aspect: str, by_name: dict[str, System]) -> list[str]:
    standing = look(version, system_leaderboard, aspect=aspect).answer
    means = {row.system: row.human.value for row in standing.systems} if standing else {}
    rated = sorted(
        (name for name in by_name if means.get(name) is not None),
        key=lambda name: -(means[name] or 0.0),
    )
    return [*rated, *(name for name in by_name if name not in rated)]


def _compared(
    request: HttpRequest,
    version: CorpusVersion,
    systems: tuple[System, System],
    found: Look[SystemPair],
    context: dict[str, Any],
) -> HttpResponse:
    document = found.answer
    assert document is not None
    rows = PairRows(document)
    table = cache(lambda: metrics_table(document, found.computed_at))
    params = _params(request, rows)
    figure = cache(lambda: _figure(rows, params.by, systems))
    chosen = rows.chosen(params)
    if request.GET.get("download", "").startswith("system-pair."):
        items = item_texts(version, document, systems, chosen.tolist())
        return page(request, TEMPLATE, context, [items_table(document, items, found.computed_at)])
    shown = Paginator(chosen.tolist(), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    metrics = _metrics(request, document)
    gaps = {name: rows.difference(name) for name in metrics}

    def pairs() -> list[Pair]:
        texts = item_texts(version, document, systems, list(shown))
        return [_pair(one, rows, systems, gaps, context["aspect"], version) for one in texts]

    named = str([(one.pk, one.name, one.position) for one in systems])
    context |= {
        "document": document,
        "human": document.human,
        "finding": finding(document),
        "wrong": wrong_metrics(document),
        "table": table,
        "figure": figure,
        "written_from": (found.stored, named),
        "said_in": (found.stored, named, version.revision),
        "signature": signature(document),
        "params": params,
        "page": shown,
        "pairs": cache(pairs),
        "share_dialogues": rows.share_dialogues,
        "metrics": [(name, name in metrics) for name in document.scores],
        "measures": [
            (by, by or f"people, {context['aspect']}", by == params.by) for by in rows.measures
        ],
        "sorts": [(key, SORT_LABELS[key]) for key in SORTS],
        "only": [(key, FILTER_LABELS[key]) for key in ONLY],
        "swapped": urlencode([(name, value) for name, value in _swapped(request, systems)]),
        "kept_for_items": [
            *(
                (name, request.GET[name])
                for name in ("version", "aspect", "level", "dialogue")
                if name in request.GET
            ),
            ("first", systems[0].name),
            ("second", systems[1].name),
        ],
        "kept": [(name, request.GET[name]) for name in ("version",) if name in request.GET],
    }
    files: list[Table] = []
    if "download" in request.GET:
        drawn = figure()
        files = [table(), drawn.points] if drawn else [table()]
    return page(request, TEMPLATE, context, files)


def _swapped(request: HttpRequest, systems: tuple[System, System]) -> list[tuple[str, str]]:
    others = [
        (name, value)
        for name, values in request.GET.lists()
        for value in values
        if name not in ("first", "second", "page")
    ]
    return [("first", systems[1].name), ("second", systems[0].name), *others]


def _params(request: HttpRequest, rows: PairRows) -> PairParams:
    """What the address does not say, or says wrongly, is not wished for."""
    params = request.GET
    measures = rows.measures or [PEOPLE]
    by = params.get("by", measures[0])
    return PairParams(
        by=by if by in measures else measures[0],
        only=params.get("only", "") if params.get("only", "") in ONLY else "",
        dialogue=parse_integer(params.get("dialogue", "")),
        sort=params.get("sort", "") if params.get("sort", "") in SORTS else "",
    )


def _metrics(request: HttpRequest, document: SystemPair) -> list[str]:
    """Those asked for; else the few that are on people's side most often."""
    known = list(document.scores)
    params = [name for name in known if name in request.GET.getlist("metric")]
    if params or "metric" in request.GET:
        return params[:MOST_METRICS]
    comparing = {
        one.metric: one.same_side or 0.0 for one in document.metrics if one.difference.is_defined
    }
    return sorted((name for name in known if name in comparing), key=lambda name: -comparing[name])[
        :METRICS_SHOWN
    ]


def _pair(
    item: ItemText,
    rows: PairRows,
    systems: tuple[System, System],
    gaps: dict[str, FloatArray],
    aspect: str,
    version: CorpusVersion,
) -> Pair:
    """``gaps``: of each metric shown, the differences of all items, above 0 where the first system
    is better."""
    params: dict[str, Any] = {"aspect": aspect, "version": version.number}
    if item.turn is not None:
        params["turn"] = item.turn
    columns, scores = rows.document.rows, rows.document.scores
    sides = [
        Side(
            "AB"[number],
            system,
            columns.human[number][item.row],
            columns.raters[number][item.row],
            tuple(
                (
                    name,
                    scores[name][number][item.row],
                    bool((gap if number == 0 else -gap)[item.row] > 0),
                )
                for name, gap in gaps.items()
            ),
        )
        for number, system in enumerate(systems)
    ]
    address = (
        f"{reverse('dialogue', args=[version.corpus.slug, item.dialogue])}?{urlencode(params)}"
    )
    return Pair(item, address, (sides[0], sides[1]))


def _figure(rows: PairRows, by: str, systems: tuple[System, System]) -> Figure | None:
    """Nothing where no item has a score of both."""
    if by not in rows.measures:
        return None
    document = rows.document
    metric = next((one for one in document.metrics if one.metric == by), None)
    compared = metric or document.human
    difference = compared.difference
    if metric is not None and not metric.higher_is_better:
        difference = -difference  # as the items are
    items = [
        ItemDifference(_place(document.rows, row), float(gap))
        for row, gap in enumerate(rows.difference(by))
        if gap == gap
    ]
    return pair_differences(
        items,
        (systems[0].name, systems[0].position),
        (systems[1].name, systems[1].position),
        difference,
        figure_id="pair-differences",
        measure=by or f"people's mean {document.aspect}",
        signature=signature(document),
    )


def _place(columns: PairColumns, row: int) -> str:
    turn = columns.turn[row]
    return f"dialogue at place {columns.dialogue[row]}" + (f", turn {turn}" if turn >= 0 else "")
