"""Every write of meta-evaluation: stored answers."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

from annotations.models import CorpusVersion
from leaderboard.models import Analysis

LONGEST_QUESTION = 300


def stored_answer(
    version: CorpusVersion, kind: str, question: str, compute: Callable[[], dict[str, Any]], made_by: str = ""
) -> Analysis:
    """The answer for the version's present data: read where it is stored, else computed and stored.

    The revision was read with ``version``, before the data: an answer computed while the data changes is stored
    under the older revision and made anew at the next look. ``made_by`` names the code that makes the answer, where
    an answer of other code would not do.
    """
    if len(question) > LONGEST_QUESTION:
        question = hashlib.sha256(question.encode()).hexdigest()
    stored = Analysis.objects.filter(version=version, kind=kind, question=question).first()
    if stored is not None and stored.revision == version.revision and stored.answer.get("made_by", "") == made_by:
        return stored
    started = time.perf_counter()
    answer = compute() | ({"made_by": made_by} if made_by else {})
    stored, _ = Analysis.objects.update_or_create(
        version=version,
        kind=kind,
        question=question,
        defaults={"revision": version.revision, "answer": answer, "seconds": time.perf_counter() - started},
    )
    return stored
