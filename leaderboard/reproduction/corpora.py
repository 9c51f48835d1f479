"""Corpora of papers' tables as far as they are here: by which name, why there is nothing to compute
on one, and of the evaluation sets of a table of trained metrics all that is computed on them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotations.corpora.queries import (
    NotFound,
    aspects_in,
    resolve_aspects,
    select_systems,
    version_of,
)
from annotations.corpora.rating_queries import has_dialogue_ratings, has_turn_ratings
from annotations.models import Corpus as StoredCorpus
from annotations.models import CorpusVersion, System
from leaderboard.answers.metrics import CorrelationRow
from leaderboard.queries.correlations import meta_evaluation
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.submitted import HandedIn, shown_submitted_metrics
from leaderboard.queries.system_choice import ALL, NAMED
from leaderboard.reproduction.published import Corpus, Figure
from leaderboard.statistics.correlation.human_ceiling import CeilingLevel
from workers.metrics.common.cmn_options import error_in_remark
from workers.metrics.common.configuration import Configuration, parse, still_there
from workers.models import MetricRun
from workers.runs import queries

Rated = Literal["turn", "dialogue"]


def first_that_is_here(slugs: Sequence[str]) -> str:
    """Of the names that a paper's corpus may have; the first where none is here."""
    here = set(StoredCorpus.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    return next((slug for slug in slugs if slug in here), slugs[0])


SEVERAL = "several"
"""In a revision's place, where the systems were scored by models that had one name after
another."""


@dataclass(eq=False)
class PaperCorpus:
    """A corpus of a paper, as far as it is here."""

    of: Corpus
    slug: str
    aspect: str = ""
    """Of the human scores; the main one where none was chosen."""
    version: CorpusVersion | None = None
    systems: list[System] = field(default_factory=list)
    known: dict[str, Configuration] = field(default_factory=dict)
    """By their texts, in the present version of the metric: all of which a system has a score."""
    finished: dict[str, int] = field(default_factory=dict)
    """By configuration: of how many systems its score is there."""
    models: dict[str, list[str]] = field(default_factory=dict)
    """By configuration: what made the scores."""
    submitted: list[HandedIn] = field(default_factory=list)
    _rows: dict[tuple[str, ...], list[CorrelationRow]] = field(default_factory=dict)

    @property
    def found(self) -> list[Configuration]:
        """Finished of all systems: a table with some of them would be another table."""
        return [
            one for text, one in self.known.items() if self.finished[text] == len(self.systems) > 0
        ]

    def why_nothing(self, rated: Rated) -> str:
        """Why metrics cannot be held against people's ratings of turns or of dialogues; "" where
        they can."""
        if self.version is None:
            return f"there is no corpus {self.slug}"
        if not self.systems:
            return f"{self.slug} has no systems"
        has_any = has_dialogue_ratings if rated == "dialogue" else has_turn_ratings
        if has_any(self.version, self.aspect):
            return ""
        by_aspect = "" if self.aspect == self.version.main_aspect else f" by {self.aspect}"
        return f"nobody rated {rated}s of {self.slug}{by_aspect}"

    def rows_at(
        self, levels: Sequence[CeilingLevel], rated: Rated | None, resamples: int, seed: int
    ) -> list[CorrelationRow]:
        """Of all that is finished or submitted; made once. Nothing where nobody rated such
        things."""
        key = (*levels, rated or "")
        if key not in self._rows:
            metrics: list[Configuration | str] = [
                *self.found,
                *(one.text for one in self.submitted),
            ]
            self._rows[key] = []
            if metrics and self.version is not None and not (rated and self.why_nothing(rated)):
                are_all = len(self.systems) == len(select_systems(self.version))
                self._rows[key] = meta_evaluation(
                    self.version, self.aspect, levels, metrics, self.systems,
                    rated=rated, variants=False, systems_chosen=ALL if are_all else NAMED,
                    resamples=resamples, seed=seed,
                ).rows  # fmt: skip
        return self._rows[key]

    def revision(self, configuration: Configuration) -> str:
        """Of the trained model that made the scores, "" where no run says; see ``SEVERAL``.

        ``daily@1a2b…, encoder@3c…`` names the trained model and whatever else was used."""
        name = trained_name(configuration)
        found = {
            revision
            for model in self.models.get(configuration.text, ())
            for one in model.split(",")
            for named, _, revision in [one.strip().partition("@")]
            if named == name
        }
        return found.pop() if len(found) == 1 else SEVERAL if found else ""

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
            "aspect": self.aspect,
            "systems": names,
        }


@dataclass(frozen=True)
class Choice:
    """What a table is made of, as it was requested."""

    slugs: Mapping[str, str] = field(default_factory=dict)
    """By a corpus's key in the paper: what it is called here."""
    only: Sequence[str] = ()
    """Of the paper's corpora these alone, by key."""
    exclude: Sequence[str] = ()
    """Systems to leave out, wherever they are."""
    aspect: str = ""
    """Of the human scores, where it is not each corpus's main one."""
    resamples: int = RESAMPLES
    seed: int = SEED
    version: CorpusVersion | None = None
    """Of its corpus, instead of the newest."""


def corpora_of(corpora: Sequence[Corpus], choice: Choice) -> dict[str, PaperCorpus]:
    """The paper's corpora by key, by what they are called here.

    Raises:
        NotFound: the paper has no such corpus.
    """
    keys = [one.key for one in corpora]
    if unknown := {*choice.slugs, *choice.only} - {*keys}:
        known = ", ".join(sorted(keys))
        raise NotFound(f"the paper has no corpus {', '.join(sorted(unknown))}; it has: {known}")
    return {
        one.key: PaperCorpus(one, choice.slugs.get(one.key) or first_that_is_here(one.slugs))
        for one in corpora
        if not choice.only or one.key in choice.only
    }


def look_up_all(corpora: Iterable[PaperCorpus], choice: Choice, metrics: Iterable[str]) -> None:
    """Fill in the versions, the systems, what is finished of ``metrics``, and what was submitted.

    Raises:
        NotFound: a system or an aspect that none of the corpora has.
    """
    versions = []
    for one in corpora:
        _look_up(one, choice, metrics)
        if one.version is not None:
            versions.append(one.version)
    systems = {system.name for one in versions for system in select_systems(one)}
    if unknown := [name for name in choice.exclude if name not in systems]:
        raise NotFound(f"no corpus of the tables has a system {', '.join(map(repr, unknown))}")
    if versions and choice.aspect and not any(_has_aspects(one, choice.aspect) for one in versions):
        raise NotFound(f"no corpus of the tables was rated by {choice.aspect}")


def _has_aspects(version: CorpusVersion, aspects: str) -> bool:
    known = {one.casefold() for one in version.aspects}
    return all(one.strip().casefold() in known for one in aspects_in(version, aspects))


def _look_up(corpus: PaperCorpus, choice: Choice, metrics: Iterable[str]) -> None:
    """Fill in the version, the systems, finished runs and submitted metrics."""
    if choice.version is not None and choice.version.corpus.slug == corpus.slug:
        corpus.version = choice.version
    else:
        try:
            corpus.version = version_of(corpus.slug)
        except NotFound:
            return
    try:
        corpus.aspect = resolve_aspects(corpus.version, choice.aspect or corpus.of.aspect)
    except NotFound:
        corpus.aspect = choice.aspect or corpus.version.main_aspect
    corpus.systems = [
        one for one in select_systems(corpus.version) if one.name not in choice.exclude
    ]
    corpus.submitted = [HandedIn.of(one) for one in shown_submitted_metrics(corpus.version)]
    runs = MetricRun.objects.filter(
        system__in=corpus.systems, state=MetricRun.State.DONE, metric__in=set(metrics)
    ).order_by("configuration", "model")
    for text, metric_version, model in runs.values_list("configuration", "metric_version", "model"):
        configuration = still_there(text, metric_version)
        if configuration is None:
            continue
        corpus.known[text] = configuration
        corpus.finished[text] = corpus.finished.get(text, 0) + 1
        if model and model not in corpus.models.setdefault(text, []):
            corpus.models[text].append(model)


def is_of_row(metric: HandedIn, row: str) -> bool:
    """Whether a metric whose scores were submitted has the name of a paper's row: ``usl_h`` is
    USL-H."""
    ours, theirs = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (metric.name, row))
    return ours == theirs


def agreement(pairs: Iterable[tuple[Figure, Iterable[float | None]]]) -> dict[str, int]:
    """How alike ours are to theirs.

    Args:
        pairs: each printed figure with all that is computed of it here.

    Returns:
        ``printed``; ``figures``: of these how many stand beside something computed; ``same``: of
        these how many are one of ours to the paper's digits.
    """
    printed = figures = same = 0
    for figure, ours in pairs:
        defined = [value for value in ours if value is not None]
        printed += 1
        figures += bool(defined)
        same += any(map(figure.is_same, defined))
    return {"printed": printed, "figures": figures, "same": same}


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


def monte_carlo(corpus: PaperCorpus, configuration: Configuration) -> dict[str, Any] | None:
    """Of scores that are drawn: the mean of their standard errors, the scores' own spread, and the
    share of their variance that is drawing. None where no score is drawn.

    The share is the mean squared error over the scores' variance. Both are estimates, and responses
    share draws: where the first is the larger one, it is no share, and ``share`` is null with the
    ``reason``.
    """
    runs = MetricRun.objects.filter(
        system__in=corpus.systems, configuration=configuration.text,
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


def what_is_missing(
    corpus: PaperCorpus, wanted: Iterable[str], *, listed: bool = False
) -> list[dict[str, str]]:
    """``wanted``: configurations that the table has rows for. What the site cannot compute has a
    reason alone. ``listed``: reasons name what is to be computed, and stand one by one."""
    if corpus.version is None:
        # GRADE's one file makes three corpora, whose names begin alike.
        is_grade = corpus.of.how.startswith("grade") and corpus.slug.startswith("grade-")
        slug = "grade" if is_grade else corpus.slug
        command = f"manage.py import_corpus {corpus.of.how} --slug {slug}"
        reason = f"there is no corpus {corpus.slug}"
        return [{"corpus": corpus.slug, "reason": reason, "command": command}]
    texts = {one.text for one in corpus.found}
    here: list[str] = []
    not_here: dict[tuple[str, str], list[str]] = defaultdict(list)
    for text in dict.fromkeys(wanted):
        configuration = parse(text)
        if configuration.text in texts:
            continue
        if reason := queries.why_not_offered(configuration, corpus.version):
            not_here[reason, text if listed else ""].append(text)
        else:
            here.append(text if listed else configuration.text)
    lines = [
        {"corpus": corpus.slug, "reason": f"{', '.join(names)}: {reason}", "command": ""}
        for (reason, _), names in not_here.items()
    ]
    if here:
        command = f'manage.py score --corpus {corpus.slug} --metrics "{",".join(here)}"'
        what = "1 configuration is" if len(here) == 1 else f"{len(here)} configurations are"
        reason = (
            f"not computed of all systems: {', '.join(here)}"
            if listed
            else f"{what} not computed of all systems"
        )
        lines.append({"corpus": corpus.slug, "reason": reason, "command": command})
    return lines
