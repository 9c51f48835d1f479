"""Corpora of papers' tables as far as they are here: by which name, why there is nothing to compute
on one, and of the evaluation sets of a table of trained metrics all that is computed on them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotations.corpora.queries import NotFound, select_systems, version_of
from annotations.corpora.rating_queries import has_dialogue_ratings, has_turn_ratings
from annotations.models import Corpus, CorpusVersion, System
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.submitted import HandedIn, shown_submitted_metrics
from leaderboard.queries.system_choice import ALL, NAMED
from leaderboard.reproduction.published.correlations import EvaluationSet, Level
from workers.metrics.common.cmn_options import error_in_remark
from workers.metrics.common.configuration import Configuration, parse, still_there
from workers.models import MetricRun
from workers.runs import queries


def first_that_is_here(slugs: Sequence[str]) -> str:
    """Of the names that a paper's corpus may have; the first where none is here."""
    here = set(Corpus.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    return next((slug for slug in slugs if slug in here), slugs[0])


def why_nothing(
    slug: str,
    version: CorpusVersion | None,
    systems: Sequence[System],
    rated: Literal["turn", "dialogue"],
) -> str:
    """Why metrics cannot be held against people's ratings of turns or of dialogues there; "" where
    they can."""
    if version is None:
        return f"there is no corpus {slug}"
    if not systems:
        return f"{slug} has no systems"
    has_any = has_dialogue_ratings if rated == "dialogue" else has_turn_ratings
    return "" if has_any(version, version.main_aspect) else f"nobody rated {rated}s of {slug}"


def submitted_metrics(version: CorpusVersion) -> list[HandedIn]:
    return [HandedIn.of(one) for one in shown_submitted_metrics(version)]


def is_of_row(metric: HandedIn, row: str) -> bool:
    """Whether a metric whose scores were submitted has the name of a paper's row: ``usl_h`` is
    USL-H."""
    return _letters(metric.name) == _letters(row)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


SEVERAL = "several"
"""In a revision's place, where the systems were scored by models that had one name after
another."""


@dataclass(eq=False)
class Place:
    """An evaluation set, as far as it is here."""

    of: EvaluationSet
    slug: str
    version: CorpusVersion | None = None
    systems: list[System] = field(default_factory=list)
    found: list[Configuration] = field(default_factory=list)
    """Finished of all systems, in the present version of the metric."""
    submitted: list[HandedIn] = field(default_factory=list)
    part: dict[str, int] = field(default_factory=dict)
    """By configuration: of how many systems it is finished, where that is not all."""
    revisions: dict[str, str] = field(default_factory=dict)
    """By configuration: of the trained model that made the scores, "" where no run says; see
    ``SEVERAL``."""
    rows: dict[Level, dict[str, CorrelationRow]] = field(default_factory=dict)
    """By level: the rows of ``meta_evaluation`` by configuration."""

    def why_nothing(self, level: Level) -> str:
        return why_nothing(self.slug, self.version, self.systems, level)

    def rows_at(self, level: Level, resamples: int, seed: int) -> dict[str, CorrelationRow]:
        """By configuration; made once. Nothing where nobody rated such things."""
        if level not in self.rows:
            rows: Sequence[CorrelationRow] = ()
            metrics: list[Configuration | str] = [
                *self.found,
                *(one.text for one in self.submitted),
            ]
            if metrics and self.version is not None and not self.why_nothing(level):
                are_all = len(self.systems) == len(select_systems(self.version))
                rows = meta_evaluation(
                    self.version, self.version.main_aspect, [level], metrics, self.systems,
                    rated=level, variants=False, systems_chosen=ALL if are_all else NAMED,
                    resamples=resamples, seed=seed,
                ).rows  # fmt: skip
            self.rows[level] = {row.metric: row for row in rows}
        return self.rows[level]

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"key": self.of.key, "title": self.of.title, "corpus": self.slug}
        if self.of.rated:
            document["published_rated"] = self.of.rated
        if self.version is None:
            return {**document, "corpus_version": None, "reason": f"there is no corpus {self.slug}"}
        names = [system.name for system in self.systems]
        return {
            **document,
            "corpus_version": self.version.label,
            "aspect": self.version.main_aspect,
            "systems": names,
        }


def refuse_unknown_systems(
    exclude: Sequence[str], versions: Iterable[CorpusVersion | None]
) -> None:
    """Raises NotFound for a system that none of the versions has."""
    known = {system.name for one in versions if one is not None for system in select_systems(one)}
    if unknown := [name for name in exclude if name not in known]:
        raise NotFound(f"no corpus of the tables has a system {', '.join(map(repr, unknown))}")


def places_of(
    sets: Sequence[EvaluationSet],
    slugs: Mapping[str, str],
    metrics: Iterable[str],
    exclude: Sequence[str] = (),
) -> dict[str, Place]:
    """By key. ``slugs``: by key, what the sets are called here. ``metrics``: those to look for.
    ``exclude``: systems to leave out, wherever they are. Raises NotFound for an unknown key or
    system."""
    if unknown := set(slugs) - {one.key for one in sets}:
        known = ", ".join(sorted(one.key for one in sets))
        raise NotFound(f"the paper has no corpus {', '.join(sorted(unknown))}; it has: {known}")
    places = {
        one.key: Place(one, slugs.get(one.key) or first_that_is_here(one.slugs)) for one in sets
    }
    wanted = set(metrics)
    for place in places.values():
        _look(place, wanted, exclude)
    refuse_unknown_systems(exclude, [place.version for place in places.values()])
    return places


def _look(place: Place, metrics: set[str], exclude: Sequence[str]) -> None:
    try:
        place.version = version_of(place.slug)
    except NotFound:
        return
    place.systems = [one for one in select_systems(place.version) if one.name not in exclude]
    place.submitted = submitted_metrics(place.version)
    done = MetricRun.objects.filter(
        system__in=place.systems, state=MetricRun.State.DONE, metric__in=metrics
    )
    counted: dict[str, int] = defaultdict(int)
    models: dict[str, set[str]] = defaultdict(set)
    known: dict[str, Configuration] = {}
    rows = done.values_list("configuration", "metric_version", "model").order_by(
        "configuration", "system_id"
    )
    for text, metric_version, model in rows:
        configuration = known.get(text) or still_there(text, metric_version)
        if configuration is not None and configuration.metric.version == metric_version:
            known[text] = configuration
            counted[text] += 1
            models[text].add(model)
    place.part = {text: count for text, count in counted.items() if count < len(place.systems)}
    place.found = [one for text, one in known.items() if text not in place.part]
    place.revisions = {one.text: _revision(one, models[one.text]) for one in place.found}


def _revision(configuration: Configuration, models: set[str]) -> str:
    """``daily@1a2b…, encoder@3c…`` names the trained model and whatever else was used."""
    name = trained_name(configuration)
    found = {
        revision
        for model in models
        for one in model.split(",")
        for named, _, revision in [one.strip().partition("@")]
        if named == name
    }
    return found.pop() if len(found) == 1 else SEVERAL if found else ""


def trained_name(configuration: Configuration) -> str:
    """Of the trained model, "" for a metric that has none."""
    return str(configuration.options.get("trained", ""))


def other_options(configuration: Configuration) -> str:
    """All that differs from the defaults but the trained model: ``form=released``."""
    defaults = {option.name: option.default for option in configuration.metric.options}
    chosen = sorted(
        (name, value) for name, value in configuration.values if value != defaults[name]
    )
    return ",".join(f"{name}={value}" for name, value in chosen if name != "trained")


NO_SHARE = "the drawing's errors are as large as the scores' spread"


def monte_carlo(place: Place, configuration: Configuration) -> dict[str, Any] | None:
    """Of scores that are drawn: the mean of their standard errors, the scores' own spread, and the
    share of their variance that is drawing. None where no score is drawn.

    The share is the mean squared error over the scores' variance. Both are estimates, and responses
    share draws: where the first is the larger one, it is no share, and ``share`` is null with the
    ``reason``.
    """
    runs = MetricRun.objects.filter(
        system__in=place.systems, configuration=configuration.text,
        metric_version=configuration.metric.version, state=MetricRun.State.DONE,
    )  # fmt: skip
    errors: list[float] = []
    scores: list[float] = []
    for remarks, of_turns in runs.values_list("remarks", "turn_scores"):
        errors += [
            error for remark in remarks.values() if (error := error_in_remark(remark)) is not None
        ]
        scores += [score for score in of_turns if score is not None]
    if not errors or len(scores) < 2:
        return None
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    drawn = math.fsum(error * error for error in errors) / len(errors)
    spread = math.sqrt(variance)
    share: dict[str, Any] = (
        {"share": drawn / variance} if variance > drawn else {"share": None, "reason": NO_SHARE}
    )
    return {"error": math.fsum(errors) / len(errors), "spread": spread, **share}


# --- what is missing ------------------------------------------------------------------------------


def what_is_missing(place: Place, wanted: Iterable[str]) -> list[dict[str, str]]:
    """``wanted``: configurations that the table has rows for. What the site cannot compute has a
    reason alone."""
    if place.version is None:
        command = f"manage.py import_corpus {place.of.how} --slug {_import_slug(place)}"
        return [
            {"corpus": place.slug, "reason": f"there is no corpus {place.slug}", "command": command}
        ]
    texts = {one.text for one in place.found}
    here: list[str] = []
    by_reason: dict[str, list[str]] = defaultdict(list)
    for text in dict.fromkeys(wanted):
        configuration = parse(text)
        if configuration.text in texts:
            continue
        if reason := queries.why_not_offered(configuration, place.version):
            by_reason[reason].append(text)
        else:
            here.append(configuration.text)
    lines = [
        {"corpus": place.slug, "reason": f"{', '.join(names)}: {reason}", "command": ""}
        for reason, names in by_reason.items()
    ]
    if here:
        listed = ",".join(here)
        command = f'manage.py score --corpus {place.slug} --metrics "{listed}"'
        what = "1 configuration is" if len(here) == 1 else f"{len(here)} configurations are"
        reason = f"{what} not computed of all systems"
        lines.append({"corpus": place.slug, "reason": reason, "command": command})
    return lines


def _import_slug(place: Place) -> str:
    """GRADE's one file makes three corpora, whose names begin alike."""
    is_grade = place.of.how.startswith("grade") and place.slug.startswith("grade-")
    return "grade" if is_grade else place.slug
