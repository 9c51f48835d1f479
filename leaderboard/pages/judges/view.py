"""Looking over a judge's shoulder: what it was sent and said for each response, and whether it is
taken in."""

from __future__ import annotations

import math
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotations.corpora.queries import select_systems
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.models import CorpusVersion
from common.roles import is_organiser
from common.text import parse_integer
from common.web import page, stream_as_file
from leaderboard.answers.judges import InjectedResponse, Injections
from leaderboard.pages.judges import bias
from leaderboard.pages.judges.answers import OneJudged, SentRequest, one_judged, sent_request
from leaderboard.pages.judges.export import FILES, as_documents
from leaderboard.pages.judges.items import is_judge, judged, judges_on
from leaderboard.pages.judges.rows import (
    ONLY,
    SIDES,
    SORTS,
    JudgedRows,
    Params,
    answered_rows,
    judged_rows,
)
from leaderboard.pages.judges.tables import bias_sentences, bias_tables
from leaderboard.results import look
from leaderboard.results.pages import waiting_page
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse

ROWS_A_PAGE = 25
INJECTIONS_SHOWN = 200
MOST_BY = 1000.0
DIRECTION_LABELS = {
    "": "any",
    "above": "judge above people",
    "below": "judge below people",
    "apart": "either way",
}
FILTER_LABELS = {
    "": "all responses",
    "disagree": "samples disagree",
    "undefined": "without a score",
    "unrated": "not rated by people",
    "injections": "speaks to the judge",
    "remarks": "with a remark",
}
SORT_LABELS = {
    "": "place in the corpus",
    "-difference": "farthest above people",
    "difference": "farthest below people",
    "apart": "farthest from people",
    "disagreement": "samples farthest apart",
    "-score": "judge’s score, highest",
    "score": "judge’s score, lowest",
    "-human": "people’s score, highest",
    "human": "people’s score, lowest",
}


@require_safe
def inspector(request: HttpRequest, slug: str) -> HttpResponse:
    """What a judge said of each response with human ratings: ``metric`` (a configuration),
    ``aspect``, ``side`` (``above``, ``below``, ``apart``), ``by``, ``only`` (``disagree``,
    ``undefined``, ``unrated``, ``injections``, ``remarks``), ``system``, ``dialogue``, ``turn``,
    ``sort``, ``page``; ``download=judged.csv`` or ``judged.jsonl``: these rows with their raw
    answers; tokens and cost for organisers."""
    version, aspect, configuration, context = _on_corpus(request, slug, "inspect")
    if configuration is None or not context["states"]["done"]:
        return page(request, "leaderboard/judge_inspector.html", context)
    text = configuration.text
    found = look(version, judged, aspect=aspect, text=text)
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Judge inspector", below_tab=True)
    rows = JudgedRows.of(found.answer)
    requested = _params(request)
    chosen = rows.chosen(requested)
    if "download" in request.GET:
        return _file(request, version, configuration, rows, chosen)
    shown = Paginator(chosen.tolist(), ROWS_A_PAGE).get_page(request.GET.get("page"))
    context |= {
        "analysis": found,
        "level": found.answer.level,
        "unit": found.answer.unit,
        "counts": _counts(rows),
        "params": requested,
        "page": shown,
        "rows": [
            (row, _address(version, aspect, configuration, row.swatch, row.dialogue, row.turn))
            for row in judged_rows(version, rows, list(shown))
        ],
        "kept": {"metric": text, "aspect": aspect, "version": request.GET.get("version", "")},
        "systems": found.answer.systems,
        "turns": sorted({turn for turn in found.answer.rows.turn if turn >= 0}),
        "sides": [(key, DIRECTION_LABELS[key]) for key in SIDES],
        "only": [(key, FILTER_LABELS[key]) for key in ONLY],
        "sorts": [(key, SORT_LABELS[key]) for key in SORT_LABELS],
    }
    return render(request, "leaderboard/judge_inspector.html", context)


@require_safe
def answer(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """One row of the inspector with its prompt and raw answers: a page of its own, or the part of
    the list that asks for it: ``metric``, ``aspect``, ``system``, ``turn`` (without these two
    the first of the dialogue), ``step`` (of a judge of dialogues, the turn that its first step
    judged)."""
    version, aspect, configuration, context = _on_corpus(request, slug, "inspect")
    if not version.dialogues.filter(position=position).exists():
        raise Http404(f"{slug} has no dialogue at place {position}")
    if configuration is None or not context["states"]["done"]:
        return render(request, "leaderboard/judge_answer.html", context)
    system, turn, step = (_number(request, name) for name in ("system", "turn", "step"))
    one = one_judged(version, aspect, configuration, position, system, turn)
    if one is None:
        raise Http404("nothing was judged there")
    number = None if one.turn is None else one.turn.number
    context |= {
        "one": one,
        "step": step,
        "requests": _requests(one, step),
        "address": _address(version, aspect, configuration, one.system.position, position, number),
        "is_organiser": is_organiser(request.user),
    }
    template = "leaderboard/_judge_answer.html" if request.htmx else "leaderboard/judge_answer.html"
    return render(request, template, context)


@require_safe
def judge_bias(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether a judge is taken in by length, by the turn's place, by its own model family, by
    responses that speak to it: ``metric``, ``aspect``."""
    version, aspect, configuration, context = _on_corpus(request, slug, "hygiene")
    if configuration is None or not context["states"]["done"]:
        return page(request, "leaderboard/judge_hygiene.html", context)
    text = configuration.text
    found = look(version, bias.judge_bias, aspect=aspect, text=text)
    if found.answer is None:
        return waiting_page(request, context, found, page_name="Bias checks", below_tab=True)
    tables = bias_tables(found.answer, text, version.corpus.name)
    named = {table.id: table for table in tables}
    context |= {
        "analysis": found,
        "found": found.answer,
        "length_table": named["judge-length"],
        "turns_table": named.get("judge-turns"),
        "family_table": named["judge-family"],
        "sentences": bias_sentences(found.answer),
        "injected": _injected(version, aspect, configuration, found.answer.injections),
    }
    return page(request, "leaderboard/judge_hygiene.html", context, tables)


# --- what both pages have -------------------------------------------------------------------------


def _on_corpus(
    request: HttpRequest, slug: str, here: str
) -> tuple[CorpusVersion, str, Configuration | None, dict[str, Any]]:
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    judges = judges_on(version)
    configuration = _chosen_judge(request, [one for one, _ in judges])
    states = next((states for one, states in judges if one == configuration), {})
    chosen = {"metric": configuration.text if configuration else "", "aspect": aspect}
    if "version" in request.GET:
        chosen["version"] = str(version.number)
    query = f"?{urlencode(chosen)}"
    context = {
        "section": "corpora",
        "tab": "judges",
        "version": version,
        "aspect": aspect,
        "aspects": version.aspects,
        "configuration": configuration,
        "judges": [one.text for one, _ in judges],
        "states": {"done": 0, "pending": 0, "running": 0, "failed": 0, **states},
        "runs": sum(states.values()),
        "parts": [
            ("runs", "All judges", reverse("judge-runs", args=[slug]) + query),
            ("inspect", "Responses", reverse("judge-inspector", args=[slug]) + query),
            ("hygiene", "Bias checks", reverse("judge-hygiene", args=[slug]) + query),
        ],
        "here": here,
    }
    return version, aspect, configuration, context


def _chosen_judge(request: HttpRequest, judges: list[Configuration]) -> Configuration | None:
    """The one asked for, which need not have run; else the first that did."""
    requested = request.GET.get("metric", "")
    if not requested:
        return judges[0] if judges else None
    try:
        chosen = parse(requested)
    except ConfigurationError as problem:
        raise Http404(str(problem)) from None
    if not is_judge(chosen):
        raise Http404(f"{chosen.text} asks no language model for a score")
    return chosen


def _address(
    version: CorpusVersion,
    aspect: str,
    configuration: Configuration,
    system: int,
    dialogue: int,
    turn: int | None,
) -> str:
    place = {"system": system, **({} if turn is None else {"turn": turn})}
    requested = {"metric": configuration.text, "aspect": aspect, "version": version.number, **place}
    return f"{reverse('judge-answer', args=[version.corpus.slug, dialogue])}?{urlencode(requested)}"


# --- the list -------------------------------------------------------------------------------------


def _params(request: HttpRequest) -> Params:
    """What the address does not say, or says wrongly, is not wished for."""
    params = request.GET
    return Params(
        side=_one_of(SIDES, params.get("side", "")),
        by=_amount(params.get("by", "")),
        only=_one_of(ONLY, params.get("only", "")),
        system=_number(request, "system"),
        dialogue=_number(request, "dialogue"),
        turn=_number(request, "turn"),
        sort=_one_of(SORTS, params.get("sort", "")),
    )


def _one_of(known: tuple[str, ...], requested: str) -> str:
    return requested if requested in known else ""


def _amount(written: str) -> float:
    try:
        amount = float(written)
    except ValueError:
        return Params().by
    return min(max(amount, 0.0), MOST_BY) if math.isfinite(amount) else Params().by


def _number(request: HttpRequest, name: str) -> int | None:
    return parse_integer(request.GET.get(name, ""))


def _counts(rows: JudgedRows) -> dict[str, Any]:
    scored = ~rows.marked("undefined") & (rows.score == rows.score)
    return {
        "rows": rows.n,
        "scored": int(scored.sum()),
        "unscored": rows.n - int(scored.sum()),
        "share": float(scored.mean()) if rows.n else None,
        "both": int((rows.difference == rows.difference).sum()),
        "disagree": int((rows.spread > 0).sum()),
        "sampled": int((rows.spread == rows.spread).sum()),
        "injections": int(rows.marked("injections").sum()),
    }


def _file(
    request: HttpRequest,
    version: CorpusVersion,
    configuration: Configuration,
    rows: JudgedRows,
    chosen: Any,
) -> HttpResponse:
    requested = request.GET["download"]
    if requested not in FILES:
        raise Http404(f"the rows come as {' or '.join(FILES)}")
    content_type, written = FILES[requested]
    found = answered_rows(version, configuration, rows, chosen)
    documents = as_documents(configuration.text, found, with_costs=is_organiser(request.user))
    return stream_as_file(written(documents), requested, content_type)


# --- one row --------------------------------------------------------------------------------------


def _requests(one: OneJudged, step: int | None) -> list[tuple[str, SentRequest | None]]:
    """(what it is, what was sent). ``step``: of a dialogue, the turn whose first step is shown."""
    if step is not None:
        turn = next((turn for turn in one.turns if turn.number == step), None)
        if turn is None:
            raise Http404(f"the judge saw no turn {step} of this dialogue")
        return [
            (
                f"Turn {step}, as the first step judged it",
                sent_request(turn.trace.request, turn.trace.samples),
            )
        ]
    if not one.other:
        return [("", one.request)]
    return [
        ("As it counts", one.request),
        ("The other way round: with or without what speaks to the judge", one.other),
    ]


# --- hygiene --------------------------------------------------------------------------------------


def _injected(
    version: CorpusVersion, aspect: str, configuration: Configuration, found: Injections
) -> list[tuple[InjectedResponse, str]]:
    """The flagged responses of systems that are still shown, each with its address."""
    shown = {system.position for system in select_systems(version)}
    return [
        (
            one,
            _address(
                version,
                aspect,
                configuration,
                one.system,
                one.dialogue,
                one.turn if one.turn >= 0 else None,
            ),
        )
        for one in found.rows[:INJECTIONS_SHOWN]
        if one.system in shown
    ]
