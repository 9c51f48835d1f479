"""The page of one metric: what it measures, how it agrees with people on every corpus, where it
does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from annotations.corpora.shortcuts import aspect_or_404
from annotations.models import CorpusVersion
from common.cache import memoize
from common.mathml import equations_of, mathml
from common.roles import is_organiser
from common.text import enumeration
from common.web import page
from leaderboard import queries
from leaderboard.answers.metrics import Disagreement, ScoreDistribution
from leaderboard.figures import Figure
from leaderboard.pages.metric.figures import score_histogram, system_scores
from leaderboard.pages.metric.query import Judged, disagreement, judged, score_spread
from leaderboard.pages.metric.tables import (
    LEVELS,
    agreement_columns,
    agreement_table,
    detail_figures,
    detail_tables,
    judged_table,
    made_with_table,
    options_table,
)
from leaderboard.pages.metrics.query import metric_leaderboard
from leaderboard.results import Look, look
from leaderboard.system_sets import system_note, systems_or_404
from workers.metrics.base import Metric
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse
from workers.metrics.registry import all_metrics

NEEDS = {
    "reference": "references",
    "context": "the context",
    "persona": "the persona",
    "human_corpus": "people's answers to hold a system against",
}
QUEUES = {
    "cpu": "any worker, without a model",
    "gpu": "a worker with a model; a graphics card makes it faster and is not needed",
    "llm": "a worker that asks a language model's endpoint",
}


@require_safe
def metric(request: HttpRequest, name: str) -> HttpResponse:
    """One metric: what it measures, how it agrees with people on the corpora that one may see, how
    its scores are spread, where it and people disagree most. ``configuration`` is one of its
    configurations, whether it ran or not, without it the plain one, or the first that ran; one
    that names a folder, a file or another corpus and has not run is shown to organisers only
    (404), for the page says why it cannot run. ``corpus`` is the one whose scores and widest
    disagreements are shown, without it the first by name; ``aspect``, ``systems``."""
    declared = all_metrics().get(name)
    if declared is None:
        raise Http404(f"this installation has no metric {name}")
    everywhere = queries.ran_on(request.user, declared)
    configuration = _chosen_configuration(request, declared, everywhere)
    ran = [one for one in everywhere if one.configuration == configuration]
    agreement = _agreement(configuration, ran)
    if request.htmx:
        part = {"metric": declared, "configuration": configuration, "agreement": agreement}
        return page(request, "leaderboard/_metric_agreement.html", part)
    context: dict[str, Any] = {
        "section": "metrics",
        "metric": declared,
        "configuration": configuration,
        "configurations": _configurations(everywhere, configuration),
        "agreement": agreement,
        "ran": ran,
        "is_organiser": is_organiser(request.user),
        **_declaration(configuration),
    }
    files = [context["options"], agreement["table"]]
    if ran:
        shown = _chosen_corpus(request, ran)
        context |= _on_corpus(request, configuration, shown.version)
        made_with = queries.made_with(configuration, [one.version for one in ran])
        context |= {
            "made_with": made_with_table(made_with),
            "has_models": any(one.model or one.device for one in made_with),
        }
        files += [context["made_with"], *context["files"]]
    else:
        context |= queries.not_run(request.user, configuration)
    return page(request, "leaderboard/metric.html", context, files)


# --- what is shown --------------------------------------------------------------------------------


def _chosen_configuration(
    request: HttpRequest, declared: Metric, everywhere: list[queries.Ran]
) -> Configuration:
    """The one asked for, whether it ran or not; else the plain one, or the first that ran where
    that did not."""
    requested = request.GET.get("configuration", "")
    if requested:
        try:
            chosen = parse(requested)
        except ConfigurationError as problem:
            raise Http404(str(problem)) from None
        if chosen.metric.name != declared.name:
            raise Http404(f"{requested} is another metric")
        has_run = any(one.configuration == chosen for one in everywhere)
        if _names_something(chosen) and not has_run and not is_organiser(request.user):
            raise Http404("no scores were made with this configuration")
        return chosen
    return everywhere[0].configuration if everywhere else Configuration.of(declared)


def _names_something(configuration: Configuration) -> bool:
    """Whether it names a folder, a file or a corpus of its own choice. Whether it is there, and
    what kind of thing it is, stands on the page as the reason why the metric cannot run: nobody may
    look around the machine that way but who may compute there anyhow."""
    chosen = configuration.options
    free = [
        one
        for one in configuration.metric.options
        if isinstance(one.default, str) and not one.choices
    ]
    return any(chosen[one.name] != one.default for one in free)


def _configurations(everywhere: list[queries.Ran], chosen: Configuration) -> list[tuple[str, bool]]:
    """(configuration, whether it is the one shown)"""
    texts = dict.fromkeys([*(one.configuration.text for one in everywhere), chosen.text])
    return [(text, text == chosen.text) for text in texts]


def _chosen_corpus(request: HttpRequest, ran: list[queries.Ran]) -> queries.Ran:
    requested = request.GET.get("corpus", "")
    for one in ran:
        if requested in ("", one.version.corpus.slug):
            return one
    raise Http404(f"the metric has not run on a corpus {requested}")


# --- what the metric says of itself ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Equation:
    written: str
    drawn: SafeString | None
    """None where it cannot be drawn: the page then shows what was written."""


def _declaration(configuration: Configuration) -> dict[str, Any]:
    declared = configuration.metric
    return {
        "equations": [_equation(written) for written in equations_of(declared.equation)],
        "paragraphs": [
            _with_code(part) for part in declared.description.split("\n\n") if part.strip()
        ],
        "facts": _facts(configuration),
        "obstacle": configuration.missing(),
        "options": options_table(configuration),
        "signature": configuration.signature(),
        "command": f"manage.py score --corpus S --metrics {_for_a_shell(configuration.text)}",
    }


def _with_code(paragraph: str) -> list[tuple[str, bool]]:
    """(words, whether they stand between backticks)"""
    return [(words, bool(place % 2)) for place, words in enumerate(paragraph.strip().split("`"))]


def _equation(written: str) -> Equation:
    drawn = mathml(written)
    # Known elements, see mathml.
    return Equation(written, None if drawn is None else mark_safe(drawn))  # noqa: S308


def _facts(configuration: Configuration) -> list[tuple[str, str]]:
    declared = configuration.metric
    needs = [NEEDS[need] for need in NEEDS if need in declared.needs]
    return [
        ("Scores", enumeration([f"{level}s" for level in LEVELS if level in declared.levels])),
        ("Looks at", enumeration(["the response", *needs])),
        ("Better is", "higher" if declared.higher_is_better else "lower"),
        ("Range", _range_text(declared.value_range)),
        ("Runs on", QUEUES[declared.queue]),
        ("Version", declared.version),
    ]


def _range_text(ends: tuple[float | None, float | None]) -> str:
    low, high = (None if end is None else f"{end:g}".replace("-", "−") for end in ends)
    if low is None:
        return "any number" if high is None else f"{high} and below"
    return f"{low} and above" if high is None else f"{low} to {high}"


def _for_a_shell(text: str) -> str:
    """Brackets are patterns in some shells; a configuration that holds a quotation mark keeps
    it."""
    return text if text.isidentifier() else "'" + text.replace("'", "'\\''") + "'"


# --- agreement with people, on every corpus -------------------------------------------------------


def _agreement(configuration: Configuration, ran: list[queries.Ran]) -> dict[str, Any]:
    """What is stored; workers are asked for the rest, which is named, and so is what is of older
    data."""
    found = [
        (one.version, look(one.version, metric_leaderboard, aspect=one.version.main_aspect))
        for one in ran
    ]
    ready = [(version, seen.answer) for version, seen in found if seen.answer is not None]
    table = agreement_table(configuration, ready)
    return {
        "table": table,
        "columns": agreement_columns(table),
        "waiting": [version for version, seen in found if seen.state == "waiting"],
        "stale": [version for version, seen in found if seen.state == "stale"],
        "failed": [(version, seen) for version, seen in found if seen.state == "failed"],
        "unrated": [version for version, answer in ready if not answer.rows_of(configuration.text)],
    }


# --- on one corpus --------------------------------------------------------------------------------


def _judged(version: CorpusVersion, gaps: Look[Disagreement], side: str) -> list[Judged]:
    answer = gaps.answer
    if answer is None:
        return []
    return memoize(
        ("judged", side, gaps.stored, version.revision), lambda: judged(version, answer.of(side))
    )


def _on_corpus(
    request: HttpRequest, configuration: Configuration, version: CorpusVersion
) -> dict[str, Any]:
    text, aspect = configuration.text, aspect_or_404(request, version)
    run = queries.example_run(configuration, version)
    name = version.corpus.name
    signature = (
        f"{configuration.signature()}|corpus:{version.corpus.slug}|corpus_version:{version.label}"
    )
    spread = look(version, score_spread, text=text)
    systems = systems_or_404(request, version)
    gaps = look(version, disagreement, aspect=aspect, text=text, systems=systems)
    figure = (
        None
        if spread.answer is None
        else _distribution_figure(configuration, name, spread.answer, signature)
    )
    sides = {side: _judged(version, gaps, side) for side in ("over", "under")}
    details = queries.details_of(configuration, version)
    tables = detail_tables(details, name, signature)
    figures = detail_figures(details, text, name, signature)
    gap_files = [
        judged_table(
            f"{side}-rated",
            rows,
            f"Most {side}-rated by {text} on {name}",
            f"{signature}|aspect:{aspect}|systems:{systems}",
        )
        for side, rows in sides.items()
        if gaps.answer
    ]
    return {
        "version": version,
        "run": run,
        "aspect": aspect,
        "aspects": version.aspects,
        "spread": spread.answer,
        "figure": figure,
        "gaps": gaps.answer,
        "system_note": system_note(version, systems),
        "over": sides["over"],
        "under": sides["under"],
        "warnings": [
            (one.system, one.details["warning"]) for one in details if one.details.get("warning")
        ],
        "detail_tables": tables,
        "detail_figures": figures,
        "looks": [one for one in (spread, gaps) if one.state != "present"],
        "files": [
            *([figure.points] if figure else []),
            *gap_files,
            *tables,
            *(one.points for one in figures),
        ],
    }


def _distribution_figure(
    configuration: Configuration, corpus: str, spread: ScoreDistribution, signature: str
) -> Figure:
    if spread.level == "system":
        return system_scores(
            spread.systems,
            figure_id="scores",
            metric=configuration.text,
            corpus=corpus,
            higher_is_better=configuration.higher_is_better,
            signature=signature,
        )
    return score_histogram(
        spread.bins,
        figure_id="scores",
        metric=configuration.text,
        corpus=corpus,
        mean=spread.summary.mean if spread.summary else None,
        median=spread.summary.median if spread.summary else None,
        signature=signature,
    )
