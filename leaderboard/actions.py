"""Every write of meta-evaluation: stored answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from annotations.models import CorpusVersion
from leaderboard.models import Analysis


def stored_answer(version: CorpusVersion, kind: str, question: str, compute: Callable[[], dict[str, Any]]) -> Analysis:
    """The answer for the version's present data: read where it is stored, else computed and stored.

    The revision was read with ``version``, before the data: an answer computed while the data changes is stored
    under the older revision and made anew at the next look.
    """
    stored = Analysis.objects.filter(version=version, kind=kind, question=question).first()
    if stored is not None and stored.revision == version.revision:
        return stored
    started = time.perf_counter()
    answer = compute()
    stored, _ = Analysis.objects.update_or_create(
        version=version,
        kind=kind,
        question=question,
        defaults={"revision": version.revision, "answer": answer, "seconds": time.perf_counter() - started},
    )
    return stored
