"""Every read of trials: what may be drawn, what was drawn, and what came of it beside what people
said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import Avg, Count, Exists, OuterRef, QuerySet

from annotations.corpora.queries import newest_visible_versions, shown_ratings
from annotations.models import CorpusVersion, Rating, Response
from common.correlation.pearson import pearson_estimate, with_fisher_interval
from common.correlation.spearman import spearman_estimate
from common.estimates import Estimate
from workers.judges import prompt_queries
from workers.judges.core.trial_sampling import Rated
from workers.judges.models import StoredAnswer, StoredRequest, Trial
from workers.metrics.base import Example
from workers.metrics.common.judge_samples import JudgeTrace
from workers.runs import queries

# --- what may be drawn ----------------------------------------------------------------------------


def rated_responses(version: CorpusVersion, aspect: str) -> list[Rated]:
    """Every response of a shown system that people rated for the aspect."""
    ratings = (
        Rating.objects.of_corpora()
        .filter(aspect=aspect, response__system__version=version, response__system__withheld=False)
        .order_by()
    )
    means = ratings.values_list("response_id", "response__system_id", "response__turn_id").annotate(
        Avg("score")
    )
    return [Rated(*row) for row in means]


def versions_to_try(user: Any) -> list[CorpusVersion]:
    """The newest version of each visible corpus in which people rated responses, by name."""
    versions = newest_visible_versions(user)
    rated = Rating.objects.of_corpora().filter(
        response__system__version=OuterRef("pk"), response__system__withheld=False
    )
    keys = CorpusVersion.objects.filter(pk__in=[one.pk for one in versions]).filter(Exists(rated))
    with_ratings = set(keys.values_list("pk", flat=True))
    return [one for one in versions if one.pk in with_ratings]


def aspects_to_try(version: CorpusVersion) -> list[str]:
    """Those that responses were rated for, the main one first."""
    used = set(
        shown_ratings(version)
        .filter(response__isnull=False)
        .values_list("aspect", flat=True)
        .distinct()
    )
    ordered = [version.main_aspect, *(one for one in version.aspects if one != version.main_aspect)]
    return [one for one in ordered if one in used] + sorted(used - set(ordered))


# --- what was drawn -------------------------------------------------------------------------------


def trials_of(prompt_id: int) -> QuerySet[Trial]:
    """Newest first."""
    trials = Trial.objects.filter(prompt_version__prompt=prompt_id)
    return trials.select_related("prompt_version", "version__corpus", "budget", "created_by")


def responses_of(trial: Trial) -> list[Response]:
    """In the order of the page."""
    found = Response.objects.select_related("system", "turn__dialogue").in_bulk(trial.responses)
    return [found[key] for key in trial.responses if key in found]


def examples_of(trial: Trial, responses: Sequence[Response]) -> list[Example]:
    return queries.examples_with(trial.version_id, responses)


# --- what came of it ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One call: a sample, asked for the first time or again."""

    sample: int
    ask: int
    text: str
    error: str
    reported_model: str
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A response of the trial: what people said, what the judge said and was asked."""

    response: Response
    human: float | None
    raters: int
    score: float | None = None
    reason: str = ""
    remark: str = ""
    trace: JudgeTrace = field(default_factory=lambda: JudgeTrace(""))
    messages: tuple[tuple[str, str], ...] = ()
    """(role, text) of what was sent."""
    answers: tuple[RawAnswer, ...] = ()

    @property
    def tokens(self) -> int | None:
        counts = [count for one in self.answers for count in (one.input_tokens, one.output_tokens)]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    @property
    def chances(self) -> list[tuple[str, float]]:
        """The scale's numbers with their probabilities, lowest first: of an expected score."""
        return sorted(self.trace.chances.items(), key=lambda one: float(one[0]))

    @property
    def cost(self) -> Decimal | None:
        known = [one.cost for one in self.answers if one.cost is not None]
        return sum(known, Decimal(0)) if known else None

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.answers)


@dataclass(frozen=True)
class TrialOutcome:
    judged: list[Judged]
    spearman: Estimate
    pearson: Estimate
    pairs: int
    """Responses with a score and a human mean."""

    @property
    def scored(self) -> int:
        return sum(1 for one in self.judged if one.score is not None)


def outcome_of(trial: Trial) -> TrialOutcome:
    """Every response with people's mean; of a trial that is done, the scores and how far the two
    agree."""
    responses = responses_of(trial)
    means = _human_means(trial)
    results = dict(zip(trial.responses, trial.results, strict=False))
    traces = {
        key: JudgeTrace.from_json(result.get("trace") or {}) for key, result in results.items()
    }
    prompt = {
        name for trace in traces.values() for name in (trace.request, trace.other_request) if name
    }
    bodies, answers = _messages(prompt), _answers(prompt)
    judged = []
    for one in responses:
        mean, raters = means.get(one.pk, (None, 0))
        result, trace = results.get(one.pk), traces.get(one.pk)
        if result is None or trace is None:
            judged.append(Judged(one, mean, raters))
            continue
        judged.append(
            Judged(
                one,
                mean,
                raters,
                result.get("score"),
                result.get("reason", ""),
                result.get("remark", ""),
                trace,
                bodies.get(trace.request, ()),
                tuple(answers.get(trace.request, ())),
            )
        )
    return TrialOutcome(judged, *_agreement(judged))


def _human_means(trial: Trial) -> dict[int, tuple[float, int]]:
    rows = (
        Rating.objects.of_corpora()
        .filter(response__in=trial.responses, aspect=trial.aspect)
        .order_by()
        .values_list("response_id")
        .annotate(Avg("score"), Count("pk"))
    )
    return {key: (mean, raters) for key, mean, raters in rows}


def _messages(keys: set[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    rows = StoredRequest.objects.filter(key__in=keys).values_list("key", "body")
    return {
        key: tuple((role, text) for role, text in json.loads(body)["messages"])
        for key, body in rows
    }


def _answers(keys: set[str]) -> dict[str, list[RawAnswer]]:
    rows = (
        StoredAnswer.objects.filter(request__key__in=keys)
        .exclude(state=StoredAnswer.State.REQUESTED)
        .select_related("request")
        .order_by("sample", "ask")
    )
    found: dict[str, list[RawAnswer]] = {}
    for row in rows:
        found.setdefault(row.request.key, []).append(
            RawAnswer(
                row.sample, row.ask, row.text, row.error, row.reported_model,
                row.input_tokens, row.output_tokens, row.latency_seconds, row.cost,
            )
        )  # fmt: skip
    return found


def _agreement(judged: Sequence[Judged]) -> tuple[Estimate, Estimate, int]:
    pairs = [
        (one.human, one.score) for one in judged if one.human is not None and one.score is not None
    ]
    human = np.array([pair[0] for pair in pairs], dtype=np.float64)
    metric = np.array([pair[1] for pair in pairs], dtype=np.float64)
    spearman = with_fisher_interval(spearman_estimate(human, metric), len(pairs), "spearman")
    pearson = with_fisher_interval(pearson_estimate(human, metric), len(pairs), "pearson")
    return spearman, pearson, len(pairs)


def human_scale(trial: Trial) -> tuple[float, float] | None:
    """The scale on which people rated, as far as the corpus tells it."""
    low, high = trial.version.scales.get(trial.aspect, (None, None))
    return None if low is None or high is None else (float(low), float(high))


def judge_scale(trial: Trial) -> tuple[int, int] | None:
    """None where this release's checker refuses what an older one took."""
    prompt = prompt_queries.check(trial.prompt_version.text).prompt
    return None if prompt is None else prompt.scale
