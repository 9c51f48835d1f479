"""What a page gets to see of a stored statistic."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from annotations.models import CorpusVersion
from leaderboard import actions
from leaderboard.analyses.kinds import all_kinds

State = Literal["present", "stale", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class Look:
    """The newest stored answer, if any.

    present: of the present data. stale: of older data, a new one is being computed; show it and say so. waiting:
    nothing is stored yet, it is being computed. failed: it could not be computed, ``error`` says why; ``answer`` may
    be an older one.
    """

    kind: str
    parameters: dict[str, Any]
    state: State
    answer: dict[str, Any] | None
    computed_at: datetime | None = None
    seconds: float | None = None
    error: str = ""


def look(version: CorpusVersion, kind: str, **parameters: Any) -> Look:
    """The stored answer of this kind. Parameters are JSON values; they and the version are what the row is found by."""
    asked = all_kinds()[kind]
    question = json.dumps(parameters, sort_keys=True, ensure_ascii=False)
    stored = actions.stored_answer(
        version, kind, question, lambda: asked.compute(version, **parameters), asked.made_by
    )  # E: to be computed by workers
    return Look(kind, parameters, "present", stored.answer, stored.computed_at, stored.seconds)
