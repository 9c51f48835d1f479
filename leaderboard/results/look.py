"""What a page gets to see of a stored statistic."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar

from django.conf import settings
from django.core.signing import Signer
from django.urls import reverse

from annotations.models import CorpusVersion
from common import clock
from common.database import CompiledQuery, Given
from common.jobs.notifications import MAX_NOTIFY_PAUSE
from common.read_only import was_refused_lately
from leaderboard.models import Analysis
from leaderboard.results import answer_cache, rows
from leaderboard.results.kinds import Kind, kind_of
from leaderboard.results.rows import Wanted

LONGEST_QUESTION = 300
MAINTENANCE_RUNS_WAITED = 3
"""A worker tells itself every few seconds of what waits (``dialeval_site.operations.maintenance``).
Where that fell out for so many times, there is none."""

KEYS = Signer(sep=".", salt="the state of an analysis")
"""Who was shown a page knows the addresses of its analyses, and of no others."""

T = TypeVar("T")
State = Literal["present", "stale", "waiting", "failed"]


@dataclass(frozen=True, slots=True)
class Look(Generic[T]):
    """The newest stored answer, if any.

    present: of the present data. stale: of older data, a new one is being computed; show it and say
    so. waiting: nothing is stored yet, it is being computed. failed: it could not be computed,
    ``error`` says why; ``answer`` may be an older one. ``computed_at`` and ``seconds`` are the
    answer's. ``row`` is the key of what is asked for, None where it could not be noted yet;
    ``stamp`` tells two answers apart.
    """

    kind: str
    parameters: dict[str, Any]
    state: State
    answer: T | None
    computed_at: datetime | None = None
    seconds: float | None = None
    error: str = ""
    row: int | None = None
    stamp: str = ""
    is_running: bool = False
    waits_since: datetime | None = None
    nobody_works: bool = False
    """It waits, and no worker seems to run that could take it."""
    is_refused: bool = False
    """A worker should be asked for it, and the database takes no writes."""

    @property
    def is_under_way(self) -> bool:
        return self.state in ("stale", "waiting")

    @property
    def key(self) -> str:
        return "" if self.row is None else KEYS.sign(str(self.row))

    @property
    def address(self) -> str:
        """Where its state is asked for; "" where the row could not be made yet."""
        return reverse("analysis", args=[self.key]) if self.key else ""

    @property
    def mark(self) -> str:
        """Another one whenever a page would show something else."""
        flags = f"{int(self.is_running)}{int(self.nobody_works)}{int(self.is_refused)}"
        return f"{self.row}.{self.stamp}.{self.state}.{flags}"

    @property
    def stored(self) -> str:
        """Another one for every answer that was ever stored; of no answer, too."""
        return "" if self.answer is None else f"{self.row}.{self.stamp}.{self.computed_at}"


def look(version: CorpusVersion, kind: Callable[..., T] | str, **parameters: Any) -> Look[T]:
    """The stored answer of what this function computes (or of the kind of this name). Parameters
    are JSON values; they (as ``Kind.resolved`` completes them) and the version are what the row is
    found by.

    Nothing is computed here. Where the answer is missing, or of older data, a worker is asked for
    it.
    """
    wanted_kind = kind_of(kind)
    parameters = wanted_kind.resolved(version, parameters)
    wanted = wanted_of(wanted_kind, version, parameters)
    question = question_of(parameters)
    row = _stored(version, wanted_kind.name, question)
    if row is None or not is_of(row, wanted):
        row = _requested(version, wanted_kind.name, question, parameters, row, wanted)
    else:
        rows.record_view(row)
    return _seen(wanted_kind, parameters, row, wanted)


def stored_rows(versions: Iterable[CorpusVersion | int], kind: Callable[..., T]) -> list[Analysis]:
    """What is stored of these versions by this release, of the present data or of older: rows with
    their parameters and without their answers (``stored_answers``). No worker is asked for
    anything."""
    wanted = kind_of(kind)
    return list(
        Analysis.objects.defer("answer").filter(
            version__in=versions,
            kind=wanted.name,
            made_by=_made_by(wanted),
            computed_at__isnull=False,
        )
    )


def stored_answers(kind: Callable[..., T], rows: Iterable[Analysis]) -> dict[int, T]:
    """Of ``stored_rows``, by their keys; one that was withdrawn in between is missing."""
    return answer_cache.answers_of(kind_of(kind), rows)


def states_of(versions: Iterable[CorpusVersion], kind: Callable[..., T]) -> dict[int, set[str]]:
    """By version, the states of its statistics of this kind (``Analysis.State``)."""
    found: dict[int, set[str]] = {}
    stored = Analysis.objects.filter(version__in=versions, kind=kind_of(kind).name)
    for version, state in stored.order_by().values_list("version", "state").distinct():
        found.setdefault(version, set()).add(state)
    return found


def whole(found: Look[T]) -> T | None:
    """The answer that was found, with what pages leave out (``Kind.for_files``). None where it was
    replaced since."""
    if found.row is None or found.computed_at is None:
        return None
    answer: T | None = answer_cache.whole_answer(kind_of(found.kind), found.row, found.computed_at)
    return answer


def _requested(
    version: CorpusVersion,
    kind: str,
    question: str,
    parameters: dict[str, Any],
    row: Analysis | None,
    wanted: Wanted,
) -> Analysis | None:
    """The row after a worker was asked."""
    if row is not None and rows.must_wait(row, wanted):
        rows.record_view(row)
        return row
    rows.ask(version, kind, question, parameters, row, wanted)
    return _stored(version, kind, question)


def _seen(
    kind: Kind, parameters: dict[str, Any], row: Analysis | None, wanted: Wanted
) -> Look[Any]:
    if row is None:
        return Look(kind.name, parameters, "waiting", None, is_refused=was_refused_lately())
    # Another release's may have another form.
    answer = answer_cache.answer_of(kind, row) if row.made_by == wanted.made_by else None
    return Look(
        kind.name,
        parameters,
        _state_of(row, answer, wanted),
        answer,
        row.computed_at if answer is not None else None,
        row.seconds if answer is not None else None,
        row.error if row.state == Analysis.State.FAILED else "",
        row.pk,
        row.stamp if answer is not None else "",
        row.state == Analysis.State.RUNNING,
        row.waits_since,
        row.state == Analysis.State.PENDING and _is_forgotten(row),
        row.state == Analysis.State.DONE and was_refused_lately(),
    )


def _state_of(row: Analysis, answer: Any, wanted: Wanted) -> State:
    if answer is not None and is_of(row, wanted):
        return "present"
    if row.state == Analysis.State.FAILED:
        return "failed"
    return "waiting" if answer is None else "stale"


def _is_forgotten(row: Analysis) -> bool:
    run_maintenance = timedelta(seconds=settings.MAINTENANCE_SECONDS)
    notified_at = row.hinted_at or row.waits_since
    pause = min(run_maintenance * 2 ** min(row.hints, 16), MAX_NOTIFY_PAUSE)
    return clock.now() - notified_at > pause + MAINTENANCE_RUNS_WAITED * run_maintenance


def _stored(version: CorpusVersion, kind: str, question: str) -> Analysis | None:
    """Without its answer, which may be kept. There is one at most."""
    return _STORED.first(version=version.pk, kind=kind, question=question)


_STORED: CompiledQuery[Analysis] = CompiledQuery(
    lambda: Analysis.objects.defer("answer").filter(
        version=Given("version"), kind=Given("kind"), question=Given("question")
    )
)


def is_of(row: Analysis, wanted: Wanted) -> bool:
    return row.computed_at is not None and (row.stamp, row.made_by) == (
        wanted.stamp,
        wanted.made_by,
    )


def wanted_of(kind: Kind, version: CorpusVersion, parameters: dict[str, Any]) -> Wanted:
    return Wanted(kind.stamp(version, **parameters), _made_by(kind))


def _made_by(kind: Kind) -> str:
    return f"dialeval {settings.VERSION} {kind.version}"


def question_of(parameters: dict[str, Any]) -> str:
    """What the row is found by; of a long one its digest."""
    text = json.dumps(parameters, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= LONGEST_QUESTION else hashlib.sha256(text.encode()).hexdigest()
