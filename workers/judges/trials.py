"""Every write to trials of a prompt: asked for, claimed, kept, ended, stopped, asked for again,
swept. Rows as in ``workers.runs``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from annotations import audit, clock
from annotations.models import CorpusVersion
from workers import claims
from workers.claims import NO_OWNER, WAITS_ANEW, Claim, Swept
from workers.judges import trial_queries
from workers.judges.models import PromptVersion, Purse, Trial
from workers.judging.trial_draw import drawn
from workers.metrics.configuration import Configuration
from workers.notifications import notify_workers

TRIAL_TASK = "workers.judges.tasks.try_prompt"
QUEUE = "llm"
RESPONSES = 10
"""Enough to read one by one, too few to conclude from."""
TOKENS, USD = 100_000, Decimal("0.50")
"""What a trial may cost where nobody says otherwise."""
STARTED, STOPPED, AGAIN = "judge_trial.started", "judge_trial.stopped", "judge_trial.resumed"
NOTHING_LOST = "What was answered is stored and is not paid for again."

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
        said = _("People have rated no response of %(corpus)s for %(aspect)s.")
        raise TrialRefused(said % {"corpus": version.corpus.name, "aspect": aspect})
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
            purse=Purse.objects.create(tokens_limit=limits.tokens, cost_limit=limits.usd),
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
        _notify_on_commit(trial)
    return trial


def resume(trial: Trial, limits: Limits, by: Any = None) -> bool:
    """Try a failed trial again, with these limits; what is stored is not asked again. False where
    it had not failed."""
    with transaction.atomic():
        failed = Trial.objects.filter(pk=trial.pk, state=State.FAILED)
        again = failed.update(
            state=State.PENDING,
            attempts=0,
            error="",
            finished_at=None,
            examples_done=0,
            **WAITS_ANEW,
        )
        if again:
            Purse.objects.filter(pk=trial.purse_id).update(
                tokens_limit=limits.tokens, cost_limit=limits.usd
            )
            audit.record(by, AGAIN, trial.configuration, trial=trial.pk, **_of(limits))
            _notify_on_commit(trial)
    return bool(again)


def stop(trial: Trial, by: Any = None) -> bool:
    """The worker notices at the next answer. False where the trial has ended."""
    who = by.get_username() if by is not None else ""
    with transaction.atomic():
        under_way = Trial.objects.filter(pk=trial.pk, state__in=[State.PENDING, State.RUNNING])
        error = _("Stopped by %(who)s.") % {"who": who} if who else _("Stopped.")
        stopped = under_way.update(
            state=State.FAILED,
            finished_at=clock.now(),
            error=f"{error} {_(NOTHING_LOST)}",
            **NO_OWNER,
        )
        if stopped:
            audit.record(by, STOPPED, trial.configuration, trial=trial.pk)
    return bool(stopped)


def _of(limits: Limits) -> dict[str, Any]:
    return {
        "tokens": limits.tokens,
        "usd": None if limits.usd is None else f"{limits.usd.normalize():f}",
    }


def _notify_on_commit(trial: Trial) -> None:
    transaction.on_commit(lambda: send_hints([trial.pk]))


def send_hints(trial_ids: Iterable[int]) -> int:
    """Tell workers of trials that wait. Where the broker cannot be reached they wait for the
    sweeper."""
    sent = notify_workers(TRIAL_TASK, ((pk, QUEUE) for pk in trial_ids))
    Trial.objects.filter(pk__in=sent).update(hinted_at=clock.now(), hints=F("hints") + 1)
    return len(sent)


# --- doing it -------------------------------------------------------------------------------------


def claim(trial_id: int) -> Claim | None:
    """Take a trial that waits, or whose worker fell silent. None when somebody else has it or it
    has ended."""
    trials = Trial.objects.filter(attempts__lt=settings.MAX_ATTEMPTS)
    return claims.take(
        trials,
        trial_id,
        Q(state=State.PENDING),
        [State.RUNNING],
        state=State.RUNNING,
        examples_done=0,
    )


def keep(claim: Claim, **changes: Any) -> bool:
    """Renew the lease. False when the trial is no longer ours: stopped, deleted, or another
    worker's."""
    return claims.keep(_owned(claim), **changes)


def finish(claim: Claim, results: Sequence[Mapping[str, Any]]) -> bool:
    """Store what came of each response. False, and nothing stored, when the lease was lost."""
    return bool(
        _owned(claim).update(
            state=State.DONE,
            results=list(results),
            examples_done=len(results),
            error="",
            finished_at=clock.now(),
            **NO_OWNER,
        )
    )


def fail(claim: Claim, error: str) -> bool:
    return claims.fail(_owned(claim), State.FAILED, error)


def give_back(claim: Claim) -> bool:
    """Leave the trial to whoever takes it next, as if it had not been begun."""
    return claims.give_back(_owned(claim), State.PENDING, examples_done=0)


def wait_again(claim: Claim) -> bool:
    """As ``give_back``, but the attempt counts."""
    return bool(_owned(claim).update(state=State.PENDING, **WAITS_ANEW, examples_done=0))


def _owned(claim: Claim) -> QuerySet[Trial]:
    return Trial.objects.filter(pk=claim.row_id, state=State.RUNNING, lease_token=claim.token)


# --- looking after them ---------------------------------------------------------------------------


def sweep() -> Swept:
    """Give back the trials of silent workers, give up those tried too often, tell workers of those
    that wait."""
    error = f"the worker stopped without a word {settings.MAX_ATTEMPTS} times. {NOTHING_LOST}"
    return claims.sweep(
        Trial.objects.all(),
        State.PENDING,
        State.RUNNING,
        State.FAILED,
        error,
        send_hints,
        examples_done=0,
    )
