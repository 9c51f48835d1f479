"""Every write of meta-evaluation: stored answers."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from annotations.models import CorpusVersion
from leaderboard.models import Analysis

log = logging.getLogger(__name__)

LONGEST_QUESTION = 300


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
    made_by = f"dialeval {settings.VERSION} {made_by}".strip()
    revision = version.revision if revision is None else revision
    if len(question) > LONGEST_QUESTION:
        question = hashlib.sha256(question.encode()).hexdigest()
    stored = Analysis.objects.filter(version=version, kind=kind, question=question).first()
    if stored is not None and (stored.revision, stored.made_by) == (revision, made_by):
        return stored
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
