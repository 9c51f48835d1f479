"""What people do to trials of a prompt: ask for one, stop it, ask for it again."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotations import audit
from annotations.models import CorpusVersion
from workers.judges import trial_queries
from workers.judges.core.trial_sampling import drawn
from workers.judges.models import Budget, PromptVersion, Trial
from workers.metrics.common.configuration import Configuration

RESPONSES = 10
"""Enough to read one by one, too few to conclude from."""
TOKENS, USD = 100_000, Decimal("0.50")
"""What a trial may cost where nobody says otherwise."""
STARTED, STOPPED, AGAIN = "judge_trial.started", "judge_trial.stopped", "judge_trial.resumed"

State = Trial.State


class TrialRefused(Exception):
    """Why there is no such trial, in words for the person who asked for it."""


@dataclass(frozen=True, slots=True)
class Limits:
    tokens: int | None = TOKENS
    usd: Decimal | None = USD


# --- asking for one -------------------------------------------------------------------------------


def start(
    prompt_version: PromptVersion,
    version: CorpusVersion,
    configuration: Configuration,
    aspect: str,
    seed: int = 0,
    limits: Limits | None = None,
    by: Any = None,
) -> Trial:
    """A trial on responses drawn with the ``seed`` (``trial_draw``). The same one, where it is
    under way: two presses of a button make one trial. Raises ``TrialRefused``."""
    limits = limits or Limits()
    chosen = drawn(trial_queries.rated_responses(version, aspect), RESPONSES, seed)
    if not chosen:
        message = _("People have rated no response of %(corpus)s for %(aspect)s.")
        raise TrialRefused(message % {"corpus": version.corpus.name, "aspect": aspect})
    same = {
        "prompt_version": prompt_version,
        "version": version,
        "configuration": configuration.text,
    }
    with transaction.atomic():
        # Of two who press at once the second waits here, and finds what the first made.
        if not PromptVersion.objects.select_for_update().filter(pk=prompt_version.pk).exists():
            raise TrialRefused(_("The prompt was deleted meanwhile."))
        under_way = Trial.objects.filter(
            **same, aspect=aspect, seed=seed, state__in=[State.PENDING, State.RUNNING]
        )
        if (known := under_way.first()) is not None:
            return known
        trial = Trial.objects.create(
            **same,
            aspect=aspect,
            seed=seed,
            budget=Budget.objects.create(tokens_limit=limits.tokens, cost_limit=limits.usd),
            responses=[one.key for one in chosen],
            created_by=by,
        )
        audit.record(
            by,
            STARTED,
            configuration.text,
            trial=trial.pk,
            corpus=str(version),
            aspect=aspect,
            seed=seed,
            **_of(limits),
        )
        Trial.objects.notify_on_commit(trial.pk)
    return trial


def resume(trial: Trial, limits: Limits, by: Any = None) -> bool:
    """Try a failed trial again, with these limits; what is stored is not asked again. False where
    it had not failed."""
    with transaction.atomic():
        failed = Trial.objects.filter(pk=trial.pk, state=State.FAILED)
        again = failed.wait(attempts=0, error="", finished_at=None)
        if again:
            Budget.objects.filter(pk=trial.budget_id).update(
                tokens_limit=limits.tokens, cost_limit=limits.usd
            )
            audit.record(by, AGAIN, trial.configuration, trial=trial.pk, **_of(limits))
            Trial.objects.notify_on_commit(trial.pk)
    return bool(again)


def stop(trial: Trial, by: Any = None) -> bool:
    """The worker notices at the next answer. False where the trial has ended."""
    who = by.get_username() if by is not None else ""
    with transaction.atomic():
        under_way = Trial.objects.filter(pk=trial.pk, state__in=[State.PENDING, State.RUNNING])
        error = _("Stopped by %(who)s.") % {"who": who} if who else _("Stopped.")
        stopped = under_way.end(State.FAILED, error=f"{error} {_(Trial.NOTHING_LOST)}")
        if stopped:
            audit.record(by, STOPPED, trial.configuration, trial=trial.pk)
    return bool(stopped)


def _of(limits: Limits) -> dict[str, Any]:
    return {
        "tokens": limits.tokens,
        "usd": None if limits.usd is None else f"{limits.usd.normalize():f}",
    }
