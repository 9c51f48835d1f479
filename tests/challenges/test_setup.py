"""From a draft to an open challenge, a round before and after the first submission: what is stored
and refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from annotations.models import AuditEntry, CorpusVersion, System, Turn
from leaderboard.challenges.actions import rounds, setup
from leaderboard.challenges.actions.plan import create_from_plan
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.actions.rounds import RoundParams
from leaderboard.challenges.actions.setup import ChallengeParams
from leaderboard.challenges.forms.zones import NoSuchTime, in_utc
from leaderboard.challenges.models import Challenge, Round, Submission, Team
from tests.at_once import at_once
from tests.campaigns.sets import made_user
from tests.challenges.sets import (
    as_requested,
    open_challenge,
    open_round,
    small_version,
    submit,
    team_with_member,
)
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


def asked(version: CorpusVersion | None = None, **fields: Any) -> RoundParams:
    given = {
        "name": "Round 1",
        "metrics": ["word_f1", "bleu_4"],
        "ranking_metric": "word_f1",
        **fields,
    }
    return RoundParams(version=version or small_version(), **given)


def handed_in(round: Round) -> Submission:
    team, _user = team_with_member(round.challenge)
    return submit(round, team)


# --- challenges -----------------------------------------------------------------------------------


def test_the_address_is_made_from_the_name_and_made_once() -> None:
    slugs = [setup.create(ChallengeParams("Über Talk!")).slug for _ in range(3)]
    assert slugs == ["uber-talk", "uber-talk-2", "uber-talk-3"]


def test_the_name_new_is_not_the_address_of_the_form() -> None:
    assert setup.create(ChallengeParams("New")).slug == "new-2"


def test_an_address_that_is_taken_is_refused_and_nothing_is_stored() -> None:
    setup.create(ChallengeParams("One", "talk"))
    with pytest.raises(Refused, match="taken") as refusal:
        setup.create(ChallengeParams("Two", "talk"))
    assert refusal.value.field == "slug"
    assert Challenge.objects.count() == 1
    assert AuditEntry.objects.filter(action="challenge.created").count() == 1


def test_the_address_of_an_open_challenge_stays() -> None:
    challenge = open_challenge("first")
    with pytest.raises(Refused, match="people have links"):
        setup.edit(challenge, ChallengeParams("First", "second"))
    assert setup.edit(challenge, ChallengeParams("Renamed", "first")).name == "Renamed"


def test_a_change_is_in_the_audit_log_with_before_and_after() -> None:
    challenge, olga = open_challenge("talk", name="Before"), made_user("olga")
    setup.edit(challenge, ChallengeParams("After", largest_team=3), olga)
    entry = AuditEntry.objects.get(action="challenge.changed")
    assert (entry.actor, entry.challenge) == ("olga", "talk")
    assert entry.details == {"changes": {"name": ["Before", "After"], "largest_team": [10, 3]}}


def test_storing_what_is_there_already_leaves_no_entry() -> None:
    challenge = open_challenge("talk")
    setup.edit(challenge, ChallengeParams(challenge.name, "talk"))
    assert not setup.write_rules(challenge, challenge.rules)
    assert not AuditEntry.objects.exists()


def test_the_audit_log_keeps_the_rules_before_and_after() -> None:
    challenge = open_challenge(rules="Old.")
    assert setup.write_rules(challenge, "New.\r\n")
    assert AuditEntry.objects.get().details == {"before": "Old.", "after": "New."}


@pytest.mark.parametrize(
    "text", ["a\0b", "\ud800", "x" * 50_001], ids=["NUL", "half a pair", "too long"]
)
def test_rules_that_no_database_takes_are_refused(text: str) -> None:
    challenge = open_challenge(rules="Old.")
    with pytest.raises(Refused):
        setup.write_rules(challenge, text)
    assert Challenge.objects.get().rules == "Old."


def test_a_challenge_opens_with_rules_and_a_round_and_says_what_is_missing() -> None:
    challenge = setup.create(ChallengeParams("Talk"))
    with pytest.raises(Refused, match=r"no rules yet.*no round yet"):
        setup.step(challenge, "open")
    setup.write_rules(challenge, "Be kind.")
    rounds.create_round(challenge, asked())
    assert setup.step(challenge, "open").state == "open"
    assert AuditEntry.objects.get(action="challenge.open").details == {
        "before": "draft",
        "after": "open",
    }


def test_the_second_who_presses_is_told_and_nothing_changes() -> None:
    challenge = open_challenge()
    setup.step(challenge, "close")
    with pytest.raises(Refused, match="closed now"):
        setup.step(challenge, "close")
    assert AuditEntry.objects.count() == 1


def test_a_closed_challenge_can_be_opened_again() -> None:
    challenge = open_round().challenge
    setup.step(challenge, "close")
    assert setup.step(challenge, "open").state == "open"


def test_back_to_the_draft_only_while_nobody_takes_part() -> None:
    challenge = open_challenge()
    assert setup.step(challenge, "draft").state == "draft"
    Challenge.objects.update(state="open")
    team_with_member(challenge)
    with pytest.raises(Refused, match="Teams have been made"):
        setup.step(challenge, "draft")


def test_a_challenge_with_submissions_is_not_deleted() -> None:
    round = open_round()
    handed_in(round)
    with pytest.raises(Refused, match="1 submissions, which are kept"):
        setup.delete(round.challenge, round.challenge.slug)
    assert Challenge.objects.count() == Submission.objects.count() == 1


def test_a_challenge_with_teams_is_deleted_only_by_its_name() -> None:
    challenge = open_round().challenge
    team_with_member(challenge, name="Owls")
    with pytest.raises(Refused, match="Type the challenge's address"):
        setup.delete(challenge, "something")
    setup.delete(challenge, challenge.slug, made_user("olga"))
    assert not Challenge.objects.exists()
    assert not Team.objects.exists()
    assert AuditEntry.objects.get(action="challenge.deleted").details["teams"] == ["Owls"]


# --- the plan -------------------------------------------------------------------------------------


def test_the_plan_makes_three_rounds_one_after_the_other() -> None:
    """The warm-up ends at the first midnight after 28 whole days, the others 28 days later each."""
    version = small_version()
    now = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
    challenge = create_from_plan(ChallengeParams("CPD"), version, version, now=now)
    warm_up, first, second = challenge.rounds.order_by("position")
    assert (warm_up.opens_at, warm_up.closes_at) == (None, datetime(2026, 12, 20, tzinfo=UTC))
    assert (first.opens_at, first.closes_at) == (
        warm_up.closes_at,
        datetime(2027, 1, 17, tzinfo=UTC),
    )
    assert (second.opens_at, second.closes_at) == (
        first.closes_at,
        datetime(2027, 2, 14, tzinfo=UTC),
    )
    assert [one.release_at for one in (warm_up, first, second)] == [
        None,
        first.closes_at,
        second.closes_at,
    ]
    assert challenge.state == "draft"
    assert setup.what_is_missing(challenge) == []


def test_the_plan_has_the_limits_of_the_cpd_challenge() -> None:
    version = small_version()
    challenge = create_from_plan(ChallengeParams("CPD"), version, version)
    for round in challenge.rounds.all():
        limits = (
            round.calls_per_utterance,
            round.input_tokens_per_dialogue,
            round.output_tokens_per_dialogue,
        )
        assert limits == (2, 10_000, 1_000)
        assert (round.ranking_metric, round.tracks) == ("word_f1", ["gpu", "prompt"])
        assert (round.daily_limit, round.total_limit) == (5, 100)


@pytest.mark.parametrize(("same", "references"), [(True, "public"), (False, "hidden")])
def test_the_plan_hides_references_only_of_a_corpus_that_the_warm_up_does_not_show(
    same: bool, references: str
) -> None:
    practice = small_version()
    challenge = create_from_plan(
        ChallengeParams("CPD"), practice, practice if same else small_version()
    )
    assert [one.references for one in challenge.rounds.order_by("position")] == [
        "public",
        references,
        references,
    ]


def test_a_plan_that_cannot_be_made_leaves_nothing() -> None:
    without = small_version()
    Turn.objects.filter(dialogue__version=without).update(references=[])
    with pytest.raises(Refused):
        create_from_plan(ChallengeParams("CPD"), small_version(), without)
    assert not Challenge.objects.exists()
    assert not AuditEntry.objects.exists()


# --- rounds ---------------------------------------------------------------------------------------


def test_rounds_stand_in_the_order_they_were_made_with_addresses_of_their_own() -> None:
    challenge, version = open_challenge(), small_version()
    made = [rounds.create_round(challenge, asked(version)) for _ in range(3)]
    assert [(one.slug, one.position) for one in made] == [
        ("round-1", 0),
        ("round-1-2", 1),
        ("round-1-3", 2),
    ]


def test_the_corpus_s_baselines_are_scored_by_what_the_round_asks_for() -> None:
    version = small_version()
    baseline = System.objects.create(
        version=version, position=0, name="echo", kind=System.Kind.BASELINE
    )
    System.objects.create(version=version, position=1, name="an agent")
    round = rounds.create_round(
        open_challenge("first"), asked(version, private_metrics=["rouge_l"])
    )
    wanted = MetricRun.objects.filter(system__version=version)
    assert sorted(wanted.values_list("system_id", "configuration")) == [
        (baseline.pk, "bleu_4"),
        (baseline.pk, "rouge_l"),
        (baseline.pk, "word_f1"),
    ]
    rounds.edit_round(round, replace(as_requested(round), metrics=["word_f1", "rouge_1"]))
    assert wanted.filter(system=baseline, configuration="rouge_1").count() == 1


def test_baselines_that_are_not_shown_yet_name_no_private_metric() -> None:
    """On a corpus that everybody sees; shown after the release, they are scored by what is
    missing."""
    version = small_version()
    System.objects.create(version=version, position=0, name="echo", kind=System.Kind.BASELINE)
    params = asked(version, private_metrics=["rouge_l"], shows_corpus_baselines=False)
    round = rounds.create_round(open_challenge(), params)
    assert not MetricRun.objects.filter(configuration="rouge_l").exists()
    rounds.edit_round(round, replace(as_requested(round), shows_corpus_baselines=True))
    assert MetricRun.objects.filter(configuration="rouge_l").count() == 1


def test_a_round_is_not_called_as_its_form() -> None:
    assert rounds.create_round(open_challenge(), asked(name="New")).slug == "new-2"


def test_metrics_are_stored_in_their_one_spelling_and_once() -> None:
    written = ["bleu_4[normalize=false]", " word_f1 ", "word_f1[]", "word_f1"]
    round = rounds.create_round(open_challenge(), asked(metrics=written, ranking_metric=" word_f1"))
    assert round.metrics == ["bleu_4[normalize=false]", "word_f1"]
    assert round.ranking_metric == "word_f1"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"metrics": ["word_f2"]}, "metrics"),
        ({"metrics": []}, "metrics"),
        ({"metrics": ["bleu_4"]}, "ranking_metric"),
        ({"ranking_metric": "nothing"}, "ranking_metric"),
        ({"private_metrics": ["bleu_4"]}, "private_metrics"),
        ({"tracks": []}, "tracks"),
        ({"tracks": ["gpu", "quantum"]}, "tracks"),
        (
            {
                "opens_at": datetime(2027, 1, 2, tzinfo=UTC),
                "closes_at": datetime(2027, 1, 1, tzinfo=UTC),
            },
            "closes_at",
        ),
    ],
)
def test_a_round_that_makes_no_sense_is_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused) as refusal:
        rounds.create_round(open_challenge(), asked(**fields))
    assert refusal.value.field == field
    assert not Round.objects.exists()


def test_a_corpus_without_references_takes_no_round() -> None:
    version = small_version()
    Turn.objects.filter(dialogue__version=version).update(references=[])
    with pytest.raises(Refused, match="no references"):
        rounds.create_round(open_challenge(), asked(version))


def test_before_the_first_submission_all_of_a_round_may_change() -> None:
    round, other = open_round(), small_version()
    changed = rounds.edit_round(
        round,
        replace(
            as_requested(round),
            version=other,
            references="hidden",
            public_share=0.5,
            split_seed=1,
            slug="x",
        ),
    )
    assert (changed.version, changed.references, changed.public_share, changed.slug) == (
        other,
        "hidden",
        0.5,
        "x",
    )
    assert changed.revision == round.revision + 1
    entry = AuditEntry.objects.get(action="round.changed")
    assert entry.details["changes"]["references"] == ["public", "hidden"]
    assert entry.details["changes"]["version"] == [str(round.version), str(other)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("references", "hidden"),
        ("public_share", 0.5),
        ("split_seed", 8),
        ("slug", "other"),
        ("version", None),
    ],
)
def test_what_submissions_were_made_for_stays(name: str, value: Any) -> None:
    round = open_round()
    handed_in(round)
    with pytest.raises(Refused) as refusal:
        rounds.edit_round(round, replace(as_requested(round), **{name: value or small_version()}))
    assert refusal.value.field == name
    assert not AuditEntry.objects.filter(action="round.changed").exists()


def test_what_submissions_were_not_made_for_may_change() -> None:
    round = open_round(references="hidden")
    handed_in(round)
    params = replace(
        as_requested(round),
        references="public",
        metrics=["word_f1", "rouge_l"],
        private_metrics=["bleu_4"],
        daily_limit=1,
        closes_at=timezone.now() + timedelta(days=1),
        tracks=["gpu"],
    )
    changed = rounds.edit_round(round, params)
    assert (changed.references, changed.metrics, changed.daily_limit) == (
        "public",
        ["word_f1", "rouge_l"],
        1,
    )


def test_what_was_released_is_not_hidden_again() -> None:
    past = timezone.now() - timedelta(hours=1)
    round = open_round(public_share=0.5, release_at=past)
    handed_in(round)
    for params in (None, past + timedelta(days=2)):
        with pytest.raises(Refused, match="cannot be hidden again"):
            rounds.edit_round(round, replace(as_requested(round), release_at=params))
    rounds.edit_round(
        round,
        replace(
            as_requested(round), release_at=past.replace(second=0, microsecond=0), daily_limit=9
        ),
    )


def test_a_metric_that_became_impossible_here_does_not_lock_the_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    round = open_round()
    monkeypatch.setattr(
        rounds,
        "why_not_offered",
        lambda one, _version: "gone" if one.metric.name == "bleu_4" else "",
    )
    assert rounds.edit_round(round, replace(as_requested(round), daily_limit=2)).metrics == [
        "word_f1",
        "bleu_4",
    ]
    with pytest.raises(Refused, match="bleu_4: gone"):
        rounds.create_round(round.challenge, asked())


def test_a_round_with_submissions_is_not_deleted() -> None:
    round = open_round()
    handed_in(round)
    with pytest.raises(Refused, match="1 submissions to this round"):
        rounds.delete_round(round)


def test_the_last_round_of_an_open_challenge_stays() -> None:
    round = open_round()
    with pytest.raises(Refused, match="only round"):
        rounds.delete_round(round)
    second = rounds.create_round(round.challenge, asked())
    rounds.delete_round(second)
    assert Round.objects.get() == round


def test_prices_that_are_the_same_are_no_change() -> None:
    """The form says 0.5, the row holds 0.5000."""
    from decimal import Decimal

    round = open_round(input_price=Decimal("0.5"))
    round.refresh_from_db()
    rounds.edit_round(round, replace(as_requested(round), input_price=Decimal("0.5")))
    assert not AuditEntry.objects.exists()


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_two_who_make_the_same_address_at_once_one_is_told() -> None:
    told = at_once(*[lambda: setup.create(ChallengeParams("Talk", "talk"))] * 2)
    assert Challenge.objects.count() == 1
    assert [str(one) for one in told if isinstance(one, Exception)] == ["This address is taken."]


@pytest.mark.django_db(transaction=True)
def test_a_submission_and_a_change_of_the_corpus_never_both_happen() -> None:
    """Whichever is first, the submission's corpus is the round's."""
    for _ in range(4):
        round, other = open_round(), small_version()
        team, user = team_with_member(round.challenge)
        at_once(
            partial(submit, round, team, user),
            partial(rounds.edit_round, round, replace(as_requested(round), version=other)),
        )
        submission = Submission.objects.get(round=round)
        assert submission.version_id == submission.round.version_id


# --- time zones -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("UTC", "2026-11-20T18:00", "2026-11-20T18:00"),
        ("AoE", "2026-11-20T23:59", "2026-11-21T11:59"),  # UTC-12
        ("Asia/Tokyo", "2026-11-21T03:00", "2026-11-20T18:00"),  # UTC+9
        ("Europe/Zurich", "2026-10-25T02:30", "2026-10-25T00:30"),  # shown twice: the first, UTC+2
    ],
)
def test_dates_are_stored_in_utc(zone: str, local: str, utc: str) -> None:
    assert in_utc(datetime.fromisoformat(local), zone) == datetime.fromisoformat(utc).replace(
        tzinfo=UTC
    )


def test_a_time_that_clocks_jump_over_is_refused() -> None:
    with pytest.raises(NoSuchTime):
        in_utc(datetime(2026, 3, 29, 2, 30), "Europe/Zurich")
