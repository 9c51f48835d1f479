"""From a metric run's row to its result: read the examples, score them, hand the scores back."""

from __future__ import annotations

import logging
import math
import time
from functools import lru_cache
from typing import SupportsFloat

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from annotations.estimates import Undefined
from annotations.models import CorpusVersion
from workers import queries, runs
from workers.leases import lease_kept
from workers.metrics import configuration as configurations
from workers.metrics.base import Example, Score
from workers.metrics.configuration import Configuration
from workers.models import MetricRun

log = logging.getLogger(__name__)
PROGRESS_SECONDS = 1.0


class LeaseLost(Exception):
    """Another worker owns the run now; whatever we computed is not wanted."""


def compute(run_id: int) -> bool:
    """Claim and compute one run. False when there was nothing to do: not waiting, or somebody else has it."""
    claim = runs.claim(run_id)
    if claim is None:
        return False
    run = MetricRun.objects.select_related("system__version__corpus").get(pk=run_id)
    try:
        with lease_kept(lambda: runs.keep(claim), f"run {run_id}"):
            result = score_run(run, _Reporter(claim))
    except LeaseLost:
        log.warning("metric run %s was taken over by another worker", run_id)
        return False
    except SoftTimeLimitExceeded:
        runs.fail(claim, f"it took longer than {settings.TASK_SECONDS:g} s (DIALEVAL_TASK_SECONDS)")
        return False
    except Exception as problem:  # whatever a metric does wrong belongs in its row, not only in a worker's log
        log.exception("metric run %s failed", run_id)
        runs.fail(claim, f"{type(problem).__name__}: {problem}".replace("\0", "")[:2000])
        return False
    except KeyboardInterrupt:
        runs.give_back(claim)
        raise
    return runs.finish(claim, result)


def score_run(run: MetricRun, reporter: _Reporter) -> runs.RunResult:
    configuration = _configuration(run.configuration)
    if configuration.metric.version != run.metric_version:
        raise ValueError(
            f"the run asks for {configuration.metric.name} version {run.metric_version}; "
            f"this worker has version {configuration.metric.version}"
        )
    examples = queries.examples_of(run.system)
    given = [example for example in examples if example is not None]
    reporter.start(len(given))
    if "turn" not in configuration.metric.levels:
        return _system_result(configuration, run.system.version, given, reporter)
    scores = list(_scorer(run.configuration).score(given, reporter.progress))
    if len(scores) != len(given):
        raise ValueError(f"{configuration.text} gave {len(scores)} scores for {len(given)} responses")
    in_order = iter(scores)
    by_turn = [
        Undefined(queries.NO_RESPONSE) if example is None else _checked(configuration, next(in_order))
        for example in examples
    ]
    return _result(configuration, run.system.version, by_turn)


def _system_result(
    configuration: Configuration, version: CorpusVersion, given: list[Example], reporter: _Reporter
) -> runs.RunResult:
    """A metric of whole systems (a distance between distributions): one score, and none for a turn."""
    human = queries.human_examples_of(version)
    score = _checked(configuration, _scorer(configuration.text).score_system(given, human, reporter.progress))
    return runs.RunResult(
        signature=configuration.signature(
            corpus=version.corpus.slug, corpus_version=version.label, n=len(given), n_human=len(human)
        ),
        system_score=None if isinstance(score, Undefined) else score,
        system_reason=score.reason[:300] if isinstance(score, Undefined) else "",
        turn_scores=[],
        undefined={},
    )


def _checked(configuration: Configuration, score: Score) -> Score:
    """A score as it may be stored. Metrics are other people's code too: what they hand back is not taken on trust."""
    if isinstance(score, Undefined):
        return score
    if isinstance(score, str) or not isinstance(score, SupportsFloat) or not math.isfinite(score):
        raise ValueError(f"{configuration.text} gave {score!r}; a score must be a finite number or undefined")
    return float(score)


def _result(configuration: Configuration, version: CorpusVersion, by_turn: list[Score]) -> runs.RunResult:
    defined = [score for score in by_turn if not isinstance(score, Undefined)]
    undefined = {str(turn): score.reason for turn, score in enumerate(by_turn) if isinstance(score, Undefined)}
    return runs.RunResult(
        signature=configuration.signature(corpus=version.corpus.slug, corpus_version=version.label, n=len(defined)),
        system_score=math.fsum(defined) / len(defined) if defined else None,
        system_reason="" if defined else _common_reason(undefined),
        turn_scores=[None if isinstance(score, Undefined) else score for score in by_turn],
        undefined=undefined,
    )


def _common_reason(undefined: dict[str, str]) -> str:
    reasons = sorted(set(undefined.values()))
    if not reasons:
        return "the corpus has no turns"
    return f"no turn has a score: {reasons[0]}"[:300]


@lru_cache(maxsize=64)
def _configuration(text: str) -> Configuration:
    return configurations.parse(text)


@lru_cache(maxsize=32)
def _scorer(text: str):
    """A model is loaded once a worker process, not once a run."""
    return _configuration(text).scorer()


class _Reporter:
    """Writes progress to the row at most once a second."""

    def __init__(self, claim: runs.Claim) -> None:
        self.claim = claim
        self.last = time.monotonic()

    def start(self, total: int) -> None:
        if not runs.keep(self.claim, examples_done=0, examples_total=total):
            raise LeaseLost

    def progress(self, examples_done: int) -> None:
        if time.monotonic() - self.last < PROGRESS_SECONDS:
            return
        self.last = time.monotonic()
        if not runs.keep(self.claim, examples_done=examples_done):
            raise LeaseLost
