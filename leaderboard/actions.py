"""Every write of meta-evaluation: stored answers, and metrics whose scores were handed in."""

from __future__ import annotations

import hashlib
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from annotations.actions import data_changed
from annotations.importers.texts import text_fault
from annotations.models import CorpusVersion
from leaderboard.models import Analysis, SubmittedMetric, SubmittedScores

log = logging.getLogger(__name__)

LONGEST_QUESTION = 300
LONGEST_WITHDRAWAL = 500
ROWS_AT_A_TIME = 20
"""A system's scores are one row, which may hold a hundred thousand of them."""


class NameTaken(Exception):
    """A submitted metric of this corpus version has the name, in whatever case."""


@dataclass(frozen=True, slots=True)
class Described:
    """What its sender says of a metric, checked."""

    name: str
    level: str
    higher_is_better: bool = True
    link: str = ""


def stored_answer(
    version: CorpusVersion,
    kind: str,
    question: str,
    compute: Callable[[], dict[str, Any]],
    made_by: str = "",
    revision: int | None = None,
) -> Analysis:
    """The answer for the version's present data: read where it is stored, else computed and stored.

    The revision was read with ``version``, before the data: an answer computed while the data changes is stored
    under the older revision and made anew at the next look. An answer of another release of dialeval does not count;
    ``made_by`` names the code more closely where answers depend on it from day to day (drawings). ``revision`` is for
    questions about data that do not belong to the version, such as a campaign's ratings: their own count of writes,
    read before them, in the place of the version's.
    """
    revision = version.revision if revision is None else revision
    stored = present_answer(version, kind, question, made_by, revision)
    if stored is not None:
        return stored
    made_by, question = _release(made_by), _kept_question(question)
    started = time.perf_counter()
    answer = compute()
    made = {
        "revision": revision,
        "made_by": made_by,
        "answer": answer,
        "seconds": time.perf_counter() - started,
    }
    asked = {"version": version, "kind": kind, "question": question}
    try:
        stored, _ = Analysis.objects.update_or_create(**asked, defaults=made)
    except (OperationalError, IntegrityError) as problem:
        # SQLite has one writer, and a long import may be at it; or the corpus was deleted meanwhile. The answer stands.
        log.warning("the %s of %s were computed but not stored (%s)", kind, version, problem)
        return Analysis(**asked, **made, computed_at=timezone.now())
    return stored


def present_answer(
    version: CorpusVersion, kind: str, question: str, made_by: str = "", revision: int | None = None
) -> Analysis | None:
    """The stored answer for the version's present data, or None where it is not computed yet; see ``stored_answer``."""
    stored = Analysis.objects.filter(version=version, kind=kind, question=_kept_question(question)).first()
    wanted = version.revision if revision is None else revision, _release(made_by)
    return stored if stored is not None and (stored.revision, stored.made_by) == wanted else None


def _release(made_by: str) -> str:
    return f"dialeval {settings.VERSION} {made_by}".strip()


def _kept_question(question: str) -> str:
    return question if len(question) <= LONGEST_QUESTION else hashlib.sha256(question.encode()).hexdigest()


def store_submitted_metric(
    version: CorpusVersion,
    owner: Any,
    described: Described,
    sha256: str,
    scores: Mapping[int, Sequence[float | None]],
) -> SubmittedMetric:
    """``scores``: by the system's key, in the order of the version's turns or dialogues, None where none was given; at
    system level a list of one. Raises ``NameTaken``. Call it in a transaction with what else must be true of it."""
    try:
        with transaction.atomic():
            metric = SubmittedMetric.objects.create(
                version=version,
                owner=owner,
                sha256=sha256,
                name=described.name,
                level=described.level,
                higher_is_better=described.higher_is_better,
                link=described.link,
            )
    except IntegrityError:
        raise NameTaken(described.name) from None
    is_of_systems = described.level == SubmittedMetric.Level.SYSTEM
    SubmittedScores.objects.bulk_create(
        (
            SubmittedScores(
                metric=metric,
                system_id=system,
                scores=[] if is_of_systems else list(given),
                system_score=_mean(given),
            )
            for system, given in scores.items()
        ),
        batch_size=ROWS_AT_A_TIME,
    )
    data_changed([version.pk])
    return metric


def _mean(scores: Sequence[float | None]) -> float | None:
    """As of a metric run: over what is scored."""
    defined = [score for score in scores if score is not None]
    return math.fsum(defined) / len(defined) if defined else None


def withdraw_submitted_metric(metric: SubmittedMetric, reason: str) -> bool:
    """It stands on no leaderboard any more; its row and its scores are kept, and its name is free. False where it was
    withdrawn before. Raises ``ValueError`` for a reason that is empty or too long."""
    reason = reason.strip()
    if fault := text_fault(reason, LONGEST_WITHDRAWAL):
        raise ValueError(f"the reason {fault}")
    with transaction.atomic():
        withdrawn = SubmittedMetric.objects.filter(pk=metric.pk, withdrawn_at__isnull=True).update(
            withdrawn_at=timezone.now(), withdrawal=reason
        )
        if withdrawn:
            data_changed([metric.version_id])
    return bool(withdrawn)
