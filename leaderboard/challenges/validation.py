"""Submission validation: a file of responses is checked against the round's corpus version, then
stored. Memory holds a few numbers a turn.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from annotations.corpora.rating_queries import answered_turns, turn_order
from annotations.models import CorpusVersion, System, Turn
from common.jobs.models import Claim
from leaderboard.challenges.actions import work
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.responses import check_responses, read_responses
from leaderboard.challenges.files.scores import Answered, MetricLevel
from leaderboard.challenges.models import Submission
from leaderboard.challenges.uploads import at_hand
from workers.jobs import LeaseLost

PROGRESS_SECONDS = 1.0
TURNS_A_READ = 10_000


def validate(submission: Submission, claim: Claim) -> None:
    """End in ``accept`` or in ``refuse``. Raises ``LeaseLost``."""
    # A file that this worker cannot open is no fault of the team's: it raises here
    with at_hand(submission) as path:
        _validate(path, submission, claim)


def _validate(path: Path, submission: Submission, claim: Claim) -> None:
    layout = layout_of(submission.version_id)
    _report(claim, 0, layout.places)
    checked = check_responses(path, layout, file=submission.file_name, progress=reporter(claim))
    if not checked.is_sound:
        work.refuse(claim, checked.problems, checked.more)
        return
    if not work.accept(claim, _by_turn(path, layout, submission.version_id)):
        raise LeaseLost


def layout_of(version_id: int) -> Layout:
    turns = Turn.objects.filter(dialogue__version_id=version_id).order_by(
        "dialogue__position", "number"
    )
    return Layout.of(turns.values_list("dialogue__external_id", "number").iterator(TURNS_A_READ))


def answered_places(
    version: CorpusVersion, systems: Sequence[System], level: MetricLevel, layout: Layout
) -> Answered | None:
    """Where each system has a response, in the layout's places; None at system level, which has
    none."""
    if level == "system":
        return None
    order = turn_order(version)
    answered = answered_turns(systems, order)
    if level == "dialogue":
        dialogue = np.array(
            [layout.dialogue_of(order.dialogue_ids[one]) for one in order.dialogue], dtype=np.int64
        )
        of_turns, answered = answered, np.zeros((len(systems), layout.dialogues), dtype=bool)
        system, turn = np.nonzero(of_turns)
        answered[system, dialogue[turn]] = True
    return {system.name: row for system, row in zip(systems, answered, strict=True)}


def _by_turn(path: Path, layout: Layout, version_id: int) -> Iterator[tuple[int, str]]:
    """(primary key of the turn, text) in the file's order."""
    turns = Turn.objects.filter(dialogue__version_id=version_id).order_by(
        "dialogue__position", "number"
    )
    keys = array("q", turns.values_list("pk", flat=True).iterator(TURNS_A_READ))
    for dialogue_id, number, text in read_responses(path, layout):
        place = layout.place_of(dialogue_id, number)
        assert place is not None  # the file was checked against this layout
        yield keys[place], text


def reporter(claim: Claim) -> Callable[[int], None]:
    last = time.monotonic()

    def progress(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_SECONDS:
            last = time.monotonic()
            _report(claim, done)

    return progress


def _report(claim: Claim, done: int, total: int | None = None) -> None:
    if not work.report(claim, done, total):
        raise LeaseLost
