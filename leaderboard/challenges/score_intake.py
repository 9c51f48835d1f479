"""A file of metric scores: checked against the corpus version, then stored as a submitted
metric."""

from __future__ import annotations

from pathlib import Path

from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import turn_order
from annotations.formats.importers.problems import Problem
from common.jobs.models import Claim
from leaderboard import actions as meta_evaluation
from leaderboard.actions import Described, NameTaken
from leaderboard.challenges.actions import work
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.scores import (
    CheckedScores,
    MetricLevel,
    check_scores,
    read_scores,
)
from leaderboard.challenges.models import LogLine, Submission
from leaderboard.challenges.uploads import at_hand
from leaderboard.challenges.validation import answered_places, layout_of, reporter
from leaderboard.models import SubmittedMetric
from workers.jobs import LeaseLost

Scores = dict[int, list[float | None]]


def take_in(submission: Submission, claim: Claim) -> None:
    """End as scored or in ``refuse``. Raises ``LeaseLost``. Systems that are withheld are
    unknown here."""
    with at_hand(submission) as path:
        _take_in(path, submission, claim)


def _take_in(path: Path, submission: Submission, claim: Claim) -> None:
    level: MetricLevel = submission.declared["level"]
    layout = layout_of(submission.version_id)
    chosen = select_systems(submission.version)
    systems = {system.name: system.pk for system in chosen}
    places = {"turn": layout.places, "dialogue": layout.dialogues, "system": 1}[level]
    if not work.report(claim, 0, places * len(systems)):
        raise LeaseLost
    checked = check_scores(
        path,
        level,
        layout,
        systems.keys(),
        answered=answered_places(submission.version, chosen, level, layout),
        file=submission.file_name,
        progress=reporter(claim),
    )
    if not checked.is_sound:
        work.refuse(claim, checked.problems, checked.more)
        return
    # In the order in which scores are stored; None where the file has none
    scores: Scores = {}
    for row in read_scores(path, level, layout, systems.keys()):
        scores.setdefault(systems[row.system], [None] * places)[row.place] = row.score
    if level == "dialogue":
        scores = _among_all_dialogues(submission, layout, scores)
    LogLine.write(submission.pk, _coverage(checked, len(systems)))
    try:
        if not work.finish_scores(claim, lambda owned: _store(owned, level, scores)):
            raise LeaseLost
    except NameTaken:
        work.refuse(
            claim,
            [
                Problem(
                    submission.file_name,
                    "",
                    "name",
                    "scores of a metric of this name came first; choose another name",
                )
            ],
        )


def _among_all_dialogues(submission: Submission, layout: Layout, scores: Scores) -> Scores:
    """A layout has no dialogues without turns, but a version may."""
    ids = turn_order(submission.version).dialogue_ids
    if len(ids) == layout.dialogues:
        return scores
    places = [layout.dialogue_of(one) for one in ids]
    return {
        system: [None if place is None else given[place] for place in places]
        for system, given in scores.items()
    }


def _store(submission: Submission, level: MetricLevel, scores: Scores) -> SubmittedMetric:
    return meta_evaluation.store_submitted_metric(
        submission.version,
        submission.user,
        Described(
            submission.name,
            level,
            submission.declared["higher_is_better"],
            submission.declared.get("link", ""),
        ),
        submission.sha256,
        scores,
    )


def _coverage(checked: CheckedScores, systems: int) -> str:
    given, possible = checked.coverage.given, checked.coverage.possible
    if given == possible:
        return f"{given:,} scores of {systems} systems: all there are."
    return (
        f"{given:,} of {possible:,} scores, of {len(checked.coverage.by_system)} of {systems} "
        "systems. What is missing is shown as coverage; nothing is filled in."
    )
