"""What is withdrawn from view is in no stored answer from that moment on, not even in one marked as
older."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from annotations.models import CorpusVersion
from leaderboard.actions import Described, store_submitted_metric, withdraw_submitted_metric
from leaderboard.challenges.actions import judging, rounds
from leaderboard.challenges.actions.interventions import cancel, re_evaluate
from leaderboard.challenges.models import Round, Submission
from leaderboard.challenges.queries.board import round_board
from leaderboard.results import look
from leaderboard.results.computing import compute_waiting
from tests.campaigns.sets import made_user
from tests.challenges.boards import board_round, scored_with, team_of_one

pytestmark = [pytest.mark.django_db, pytest.mark.by_workers]

METRICS = {"aspect": "overall"}


@pytest.fixture
def round() -> Round:
    return board_round(public_share=1.0)


@pytest.fixture
def submission(round: Round) -> Submission:
    made = scored_with(round, team_of_one(round, "Kraken"), [0.9] * 8)
    judging.publish_systems(round)
    return made


def fresh(version: CorpusVersion) -> CorpusVersion:
    return CorpusVersion.objects.select_related("corpus").get(pk=version.pk)


def shown(round: Round) -> tuple[Any, Any]:
    """The answers of the corpus's and of the round's boards, as anybody gets them now."""
    round = Round.objects.select_related("version__corpus", "challenge").get(pk=round.pk)
    organiser = made_user("organiser", "organiser")
    board = round_board(round, organiser)
    organiser.delete()
    return look(fresh(round.version), "systems", **METRICS).answer, list(board.entries)


def all_computed(round: Round) -> None:
    shown(round)
    compute_waiting()
    systems, entries = shown(round)
    assert systems is not None
    assert entries


WITHDRAWALS: dict[str, Callable[[Round, Submission], Any]] = {
    "withheld": lambda round, _submission: judging.withhold_systems(round),
    "disqualified": lambda _round, submission: judging.disqualify(submission, "copied"),
    "team disqualified": lambda _round, submission: judging.disqualify_team(
        submission.team, "copied"
    ),
}


@pytest.mark.parametrize("name", WITHDRAWALS)
def test_a_system_that_leaves_the_corpus_leaves_its_stored_answers(
    round: Round, submission: Submission, name: str
) -> None:
    all_computed(round)
    WITHDRAWALS[name](round, submission)
    systems, entries = shown(round)
    assert systems is None
    assert name == "withheld" or entries == []


def test_a_published_system_that_is_cancelled_leaves_them(
    round: Round, submission: Submission
) -> None:
    all_computed(round)
    Submission.objects.filter(pk=submission.pk).update(state="scoring")
    cancel(submission, made_user("boss", "organiser"))
    assert shown(round)[0] is None


def test_a_round_that_is_edited_shows_no_board_of_before(
    round: Round, submission: Submission
) -> None:
    all_computed(round)
    asked = rounds.RoundParams(
        **{one.name: getattr(round, one.name) for one in fields(rounds.RoundParams)}
    )
    rounds.edit_round(round, replace(asked, name="Another name"))
    assert shown(round)[1] == []


def test_a_metric_that_is_withdrawn_leaves_them(round: Round, submission: Submission) -> None:
    version = fresh(round.version)
    system = version.systems.get(withheld=False, name=submission.system.name)
    metric = store_submitted_metric(
        version, None, Described("mine", "system"), "0" * 64, {system.pk: [0.5]}
    )
    all_computed(round)
    look(fresh(version), "correlations", **METRICS)
    compute_waiting()
    assert look(fresh(version), "correlations", **METRICS).answer is not None
    withdraw_submitted_metric(metric, "wrong file")
    assert look(fresh(version), "correlations", **METRICS).answer is None


def test_a_new_result_leaves_the_older_board_to_be_read(
    round: Round, submission: Submission
) -> None:
    all_computed(round)
    scored_with(round, team_of_one(round, "Leviathan"), [0.4] * 8)
    Round.objects.filter(pk=round.pk).update(revision=99)
    assert len(shown(round)[1]) == 1


def test_what_is_cancelled_while_it_is_evaluated_anew_leaves_the_older_board(
    round: Round, submission: Submission
) -> None:
    judging.withhold_systems(round)  # only the board has it then
    all_computed(round)
    organiser = made_user("olga", "organiser")
    # So that it is not scored at once
    Round.objects.filter(pk=round.pk).update(metrics=[*round.metrics, "rouge_2"])
    re_evaluate(submission, organiser)
    cancel(submission, organiser)
    assert not shown(round)[1]
