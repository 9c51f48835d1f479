"""What the document of a round's leaderboard says, and to whom."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from common.estimates import Estimate
from leaderboard.challenges.board.answer import BoardAnswer
from leaderboard.challenges.board.split import PartName, split_dialogues
from leaderboard.challenges.board.standing import Score
from leaderboard.challenges.models import Round
from leaderboard.challenges.queries.board import RoundBoard, round_board
from leaderboard.models import Analysis
from leaderboard.results import rows as analysis_rows
from leaderboard.results.answer_cache import forget
from leaderboard.results.computing import compute_waiting
from tests.campaigns.sets import made_user
from tests.challenges.boards import (
    around,
    baseline_of,
    board_round,
    finished_run,
    scored_with,
    team_of_one,
)
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions

pytestmark = pytest.mark.django_db

NOBODY = AnonymousUser()


def rows(document: RoundBoard) -> list[tuple[str, int | None]]:
    return [(entry.team or entry.name, entry.rank) for entry in document.entries]


def shown_to(viewer: Any, round: Round, part: PartName = "public", **now: Any) -> BoardAnswer:
    found = round_board(round, viewer, part, **now).answer
    assert found is not None
    return found


def changed(round: Round) -> Round:
    """As whoever changes what the board shows leaves it."""
    Round.objects.filter(pk=round.pk).update(revision=round.revision + 1)
    return Round.objects.select_related("challenge", "version__corpus").get(pk=round.pk)


# --- who stands where -----------------------------------------------------------------------------


def test_teams_stand_by_their_mean_with_rank_and_interval() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Low"), around(0.15))
    scored_with(round, team_of_one(round, "High"), around(0.85))
    document = round_board(round, NOBODY)
    assert rows(document) == [("High", 1), ("Low", 2)]
    score = document.entries[0].scores[0]
    assert score.mean.value == pytest.approx(0.85)
    # Means of dialogues 0.82, 0.84, 0.86, 0.88: se = √(0.002 / 3 / 4) = 0.0129, t(3) = 3.1824.
    assert score.mean.ci == pytest.approx((0.85 - 0.04108, 0.85 + 0.04108), abs=1e-5)
    assert (score.scored, score.turns) == (8, 8)


def test_the_best_submission_stands_for_its_team() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    for hours, score in enumerate([0.3, 0.6, 0.5]):
        scored_with(round, team, [score] * 8, hours, name=f"take {hours}")
    [entry] = round_board(round, NOBODY).entries
    assert (entry.name, entry.submissions) == ("take 1", 3)


def test_the_latest_submission_stands_for_its_team_where_the_round_says_so() -> None:
    round = board_round(entry="latest")
    team = team_of_one(round, "Ours")
    for hours, score in enumerate([0.3, 0.6, 0.5]):
        scored_with(round, team, [score] * 8, hours, name=f"take {hours}")
    [entry] = round_board(round, NOBODY).entries
    assert entry.name == "take 2"


def test_the_best_is_chosen_by_the_public_dialogues_on_both_boards() -> None:
    """Take 0 is better in public (0.6 to 0.5), take 1 in private (0.9 to 0.1) and over all."""
    round = board_round(public_share=0.5, release_at=timezone.now())
    team = team_of_one(round, "Ours")
    public = split_dialogues(
        [f"file-{place}" for place in range(4)], 0.5, round.split_seed
    ).public.counted
    first = [score for is_public in public for score in [0.6 if is_public else 0.1] * 2]
    second = [score for is_public in public for score in [0.5 if is_public else 0.9] * 2]
    scored_with(round, team, first, 0, name="take 0")
    scored_with(round, team, second, 1, name="take 1")
    shown = {part: round_board(round, NOBODY, part).entries[0] for part in ("public", "private")}
    assert [entry.name for entry in shown.values()] == ["take 0", "take 0"]
    assert shown["public"].scores[0].mean.value == pytest.approx(0.6)
    assert shown["private"].scores[0].mean.value == pytest.approx(0.1)


def test_submissions_that_are_not_scored_do_not_stand_on_it() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    places = {"day_place": None, "total_place": None}
    scored_with(round, team, [0.5] * 8, state="failed", error="no such luck", **places)
    scored_with(round, team, [0.5] * 8, state="cancelled", **places)
    scored_with(round, team, [0.5] * 8, state="scoring", ended_at=None)
    assert round_board(round, NOBODY).entries == ()


def test_an_undefined_ranking_metric_is_never_ranked_and_stands_last_with_its_reason() -> None:
    round = board_round()
    scored_with(round, team_of_one(round, "Without"), [None] * 8)
    scored_with(round, team_of_one(round, "Low"), around(0.1))
    first, last = round_board(round, NOBODY).entries
    assert (first.team, first.rank) == ("Low", 1)
    assert (last.team, last.rank, last.order) == ("Without", None, None)
    assert last.reason == "no turn has a score"
    assert last.scores[0] == Score(Estimate.undefined("no turn has a score"), scored=0, turns=8)


def test_a_run_that_is_missing_failed_or_of_an_older_version_is_told() -> None:
    round = board_round(metrics=["word_f1", "bleu_1", "bleu_2", "bleu_3", "rouge_1"])
    system = scored_with(round, team_of_one(round, "Ours"), around(0.5)).system
    finished_run(system, "bleu_2", [0.5] * 8, metric_version="0")
    finished_run(system, "bleu_3", [], state="failed", error="gold answer 17", finished_at=None)
    finished_run(system, "rouge_1", [], state="pending", finished_at=None)
    [entry] = round_board(round, NOBODY).entries
    assert [score.mean.reason or score.mean.value for score in entry.scores] == [
        pytest.approx(0.5),
        "not computed for this system",
        "computed by another version of the metric; evaluate it again",
        "the metric failed on this system",
        "not computed yet",
    ]
    assert entry.rank == 1


def test_what_a_metric_says_of_a_response_stays_hidden_with_the_references() -> None:
    round = board_round(references="hidden")
    submission = scored_with(round, team_of_one(round, "Ours"), [None] * 8)
    submission.system.metric_runs.update(system_reason="the gold answer was: by bicycle")
    [entry] = round_board(round, NOBODY).entries
    assert entry.scores[0].mean.reason == "no turn of these dialogues has a score"


def test_a_metric_that_is_no_longer_installed_has_a_column_without_scores() -> None:
    round = board_round(metrics=["word_f1", "gone_plugin"])
    scored_with(round, team_of_one(round, "Ours"), [0.5] * 8)
    document = round_board(round, NOBODY)
    assert document.entries[0].scores[1].mean.reason == "the metric is not installed here"


# --- baselines and the disqualified ---------------------------------------------------------------


def test_baselines_are_flagged_and_not_ranked() -> None:
    round = board_round()
    baseline_of(round.version, "echo", [0.9] * 8)
    scored_with(round, team_of_one(round, "Organisers"), [0.7] * 8, is_baseline=True)
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    document = round_board(round, NOBODY)
    assert rows(document) == [("echo", None), ("Organisers", None), ("Ours", 1)]
    assert [entry.is_baseline for entry in document.entries] == [True, True, False]
    assert document.entries[0].reason == "a baseline: shown beside the others, not ranked"


def test_the_corpus_baselines_may_be_left_out() -> None:
    round = board_round(shows_corpus_baselines=False)
    baseline_of(round.version, "echo", [0.9] * 8)
    assert round_board(round, NOBODY).entries == ()


def test_a_published_baseline_of_the_round_stands_on_it_once() -> None:
    round = board_round()
    submission = scored_with(
        round, team_of_one(round, "Organisers"), [0.7] * 8, is_baseline=True, withheld=False
    )
    submission.system.kind = "baseline"
    submission.system.save()
    assert rows(round_board(round, NOBODY)) == [("Organisers", None)]


DISQUALIFIED = {"disqualified_at": timezone.now(), "disqualification": "copied the gold answers"}


def test_a_disqualified_submission_is_seen_by_organisers_and_its_team_with_the_reason() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.9] * 8, **DISQUALIFIED)
    scored_with(round, team_of_one(round, "Others"), around(0.5))
    assert rows(round_board(round, NOBODY)) == [("Others", 1)]
    assert rows(round_board(round, team_of_others(round))) == [("Others", 1)]
    for viewer in (team.members.get().user, made_user("lead", "organiser")):
        document = round_board(round, viewer)
        assert rows(document) == [("Ours", None), ("Others", 1)]
        assert document.entries[0].reason == "disqualified: copied the gold answers"


def team_of_others(round: Round) -> Any:
    return round.challenge.teams.get(name="Others").members.get().user


def test_another_submission_of_the_team_competes_when_one_is_disqualified() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.9] * 8, name="copied", **DISQUALIFIED)
    scored_with(round, team, around(0.5), name="honest")
    [entry] = round_board(round, NOBODY).entries
    assert (entry.name, entry.rank) == ("honest", 1)


def test_a_disqualified_team_is_not_ranked() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.9] * 8)
    round.challenge.teams.update(**DISQUALIFIED)
    assert round_board(round, NOBODY).entries == ()
    assert rows(round_board(round, made_user("lead", "organiser"))) == [("Ours", None)]


# --- the two boards -------------------------------------------------------------------------------


def unreleased_round(**fields: Any) -> Round:
    fields = {"public_share": 0.5, "release_at": timezone.now() + timedelta(days=1), **fields}
    round = board_round(**fields)
    scored_with(round, team_of_one(round, "Ours"), around(0.1))
    return round


def test_the_private_board_is_empty_before_its_release_but_for_organisers() -> None:
    round = unreleased_round()
    member = round.challenge.teams.get().members.get().user
    for viewer in (NOBODY, member, made_user("rita", "rater")):
        document = round_board(round, viewer, "private")
        assert document.unreleased
        assert document.answer is None
    document = round_board(round, made_user("lead", "organiser"), "private")
    assert not document.unreleased
    assert rows(document) == [("Ours", 1)]


@pytest.mark.parametrize(("seconds", "unreleased"), [(-1, True), (0, False)])
def test_the_private_board_is_everybodys_from_the_release_on(
    seconds: int, unreleased: bool
) -> None:
    round = unreleased_round()
    moment = round.release_at + timedelta(seconds=seconds)
    assert round_board(round, NOBODY, "private", now=moment).unreleased is unreleased


def test_a_round_without_a_release_never_shows_its_private_board() -> None:
    round = unreleased_round(release_at=None)
    later = timezone.now() + timedelta(days=10_000)
    assert round_board(round, NOBODY, "private", now=later).unreleased


def test_private_metrics_stand_on_the_private_board_alone() -> None:
    round = unreleased_round(private_metrics=["bleu_4"])
    organiser = made_user("lead", "organiser")
    assert [one.metric for one in shown_to(organiser, round).metrics] == ["word_f1"]
    metrics = shown_to(organiser, round, "private").metrics
    assert [(metric.metric, metric.private) for metric in metrics] == [
        ("word_f1", False),
        ("bleu_4", True),
    ]


def test_the_public_board_of_a_round_with_a_share_of_0_has_entries_and_no_scores() -> None:
    round = unreleased_round(public_share=0.0)
    document = round_board(round, NOBODY)
    assert document.reason == "this round shows no scores before the release"
    assert rows(document) == [("Ours", None)]
    assert document.entries[0].scores == (Score(Estimate.undefined(document.reason)),)


def test_a_public_board_without_scores_does_not_tell_which_submission_is_the_best() -> None:
    """It would tell of the private dialogues: hand in, look which one stands there, hand in
    again."""
    round = board_round(public_share=0.0, release_at=timezone.now() + timedelta(days=1))
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.9] * 8, 0, name="the best")
    scored_with(round, team, [0.1] * 8, 1, name="the latest")
    [public] = round_board(round, NOBODY).entries
    assert public.name == "the latest"
    [private] = round_board(round, NOBODY, "private", now=round.release_at).entries
    assert private.name == "the best"


def test_which_dialogues_are_public_is_told_to_organisers_until_the_release() -> None:
    round = unreleased_round()
    assert shown_to(NOBODY, round).split.seed is None
    assert shown_to(made_user("lead", "organiser"), round).split.seed == round.split_seed
    assert shown_to(NOBODY, round, now=round.release_at).split.seed == round.split_seed


def test_the_mean_over_one_turn_is_not_told_while_the_references_are_hidden() -> None:
    """Two dialogues of one turn each: the mean of the public one would be the score of its turn."""
    hidden = board_round(2, 1, public_share=0.5, references="hidden")
    scored_with(hidden, team_of_one(hidden, "Ours"), [0.25, 0.75])
    document = round_board(hidden, NOBODY)
    assert document.entries[0].scores[0].mean.value is None
    assert "would be that turn's score" in document.reason


def test_a_board_has_two_parts() -> None:
    with pytest.raises(ValueError, match="public or private"):
        round_board(board_round(), NOBODY, "secret")  # type: ignore[arg-type]


# --- whose it is, and how fresh -------------------------------------------------------------------


def test_entries_of_the_viewers_team_are_marked() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.5] * 8)
    scored_with(round, team_of_one(round, "Others"), [0.4] * 8)
    baseline_of(round.version, "echo", [0.1] * 8)
    own = round_board(round, team.members.get().user)
    assert [own.is_own(entry) for entry in own.entries] == [True, False, False]
    others = round_board(round, NOBODY)
    assert not any(others.is_own(entry) for entry in others.entries)


def test_the_answer_is_stored_and_read_until_the_board_changes() -> None:
    round = board_round()
    team = team_of_one(round, "Ours")
    scored_with(round, team, [0.5] * 8)
    before = round_board(round, NOBODY)
    scored_with(round, team, [0.6] * 8, 1)
    assert round_board(round, NOBODY).updated == before.updated
    after = round_board(changed(round), NOBODY)
    assert after.entries[0].scores[0].mean.value == pytest.approx(0.6)
    assert Analysis.objects.filter(kind="board").count() == 1


def test_a_new_result_of_the_corpus_makes_it_anew() -> None:
    """A baseline's run ends: the corpus's revision counts it, the round's does not."""
    round = board_round()
    system = baseline_of(round.version, "echo")
    assert round_board(round, NOBODY).entries[0].scores[0].mean.value is None
    finished_run(system, "word_f1", [0.5] * 8)
    round.version.revision += 1
    assert round_board(round, NOBODY).entries[0].scores[0].mean.value == 0.5


def test_a_board_that_older_code_computed_is_not_shown() -> None:
    """Its intervals may be made otherwise, and its document may have another form."""
    round = board_round()
    scored_with(round, team_of_one(round, "Ours"), around(0.5))
    round_board(round, NOBODY)
    Analysis.objects.update(
        answer={"resamples": 1000, "seed": 0, "entries": []}, made_by="dialeval 0.1.0 0123456789ab"
    )
    forget()
    assert round_board(round, NOBODY).entries[0].scores[0].mean.ci is not None


def test_every_number_says_how_it_was_made() -> None:
    round = unreleased_round()
    document = shown_to(NOBODY, round)
    signature = document.metrics[0].signature
    assert "metric:word_f1|version:" in signature
    assert "|board:public|dialogues:2|" in signature
    assert (document.dialogues, document.dialogues_in_corpus, document.turns) == (2, 4, 4)
    assert signature.endswith("|ci:jackknife-t95-over-dialogues")
    assert document.ci == "jackknife-t95-over-dialogues"


@pytest.mark.by_workers
def test_why_a_baseline_has_no_score_follows_its_run(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had not been computed yet; then it failed."""
    monkeypatch.setattr(analysis_rows, "BACKOFF", 0)
    monkeypatch.setattr(analysis_rows, "MIN_BACKOFF", timedelta(0))
    round = board_round(metrics=["word_f1"])
    baseline = baseline_of(round.version, "echo")
    actions.request([parse("word_f1")], [baseline], hint=False)
    run = MetricRun.objects.get(system=baseline)

    def reason() -> str:
        present = Round.objects.select_related("version__corpus", "challenge").get(pk=round.pk)
        round_board(present, AnonymousUser())
        compute_waiting()
        (entry,) = [
            one
            for one in round_board(present, AnonymousUser()).entries
            if one.name == baseline.name
        ]
        return str(entry.scores[0].mean.reason)

    assert reason() == "not computed yet"
    claim = MetricRun.objects.claim(run.pk)
    assert claim is not None
    with django_capture_on_commit_callbacks(execute=True):
        MetricRun.objects.owned(claim).fail("no such model")
    assert reason() == "the metric failed on this system"
