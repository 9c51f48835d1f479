"""Teams: who makes, joins and leaves one, what they may be called, and that members never rate
their own systems."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Conflict
from annotations.models import AuditEntry
from leaderboard.challenges.actions.judging import disqualify_team
from leaderboard.challenges.actions.teams import CannotJoin, found, join, leave, renew_invitation
from leaderboard.challenges.models import Challenge, Member, Submission, Team
from tests.at_once import at_once
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.challenges.sets import (
    open_challenge,
    open_round,
    scored,
    submit,
    taken_in,
    team_with_member,
)

HEBREW_OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"


@pytest.fixture
def challenge() -> Challenge:
    return open_challenge()


# --- making one -----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_founder_is_its_first_member_and_a_participant(challenge: Challenge) -> None:
    user = made_user("ada")
    team = found(challenge, user, "  Lake   House ")
    assert team.name == "Lake House"
    assert [member.user for member in team.members.all()] == [user]
    assert [group.name for group in user.groups.all()] == ["participant"]
    assert AuditEntry.objects.get(action="team.founded", subject="Lake House").actor == "ada"


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["draft", "closed"])
def test_teams_are_made_while_the_challenge_is_open(state: str) -> None:
    with pytest.raises(CannotJoin):
        found(open_challenge(state=state), made_user(), "Lake")
    assert not Team.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 81,
        "two\0lines",
        f"abc{HEBREW_OVERRIDE}def",
        "zero\N{ZERO WIDTH SPACE}width",
        "half \ud800 pair",
        "---",
        "\N{CYRILLIC SMALL LETTER ER}aypal",
        "\u0441\u043e\u0440\u0435",  # four Cyrillic letters that look like "cope"
        "z\N{COMBINING ACUTE ACCENT}\N{COMBINING GRAVE ACCENT}\N{COMBINING CEDILLA}\N{COMBINING DIAERESIS}",
    ],
    ids=[
        "empty",
        "blank",
        "long",
        "nul",
        "override",
        "zero-width",
        "half",
        "no-letter",
        "mixed",
        "all-alike",
        "stacked",
    ],
)
def test_a_name_that_could_mislead_is_refused(challenge: Challenge, name: str) -> None:
    with pytest.raises(CannotJoin) as refusal:
        found(challenge, made_user(), name)
    assert refusal.value.field == "name"
    assert not Team.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    ["β-VAE", "Команда Луна", "東京 NLP", "naïve-Bayes", "O'Neil & Søns", "R2 D2", "\N{SNOWMAN} 1"],
)
def test_names_of_every_alphabet_are_taken(challenge: Challenge, name: str) -> None:
    assert found(challenge, made_user(), name).name == name


@pytest.mark.django_db
@pytest.mark.parametrize("other", ["LAKE HOUSE", "lake-house", " Lake_House", "ＬＡＫＥ house"])
def test_a_name_like_another_teams_is_refused(challenge: Challenge, other: str) -> None:
    found(challenge, made_user(), "Lake House")
    with pytest.raises(CannotJoin, match="Another team"):
        found(challenge, made_user(), other)
    assert found(open_challenge(), made_user(), other), "another challenge has names of its own"


@pytest.mark.django_db
def test_one_team_a_person_and_challenge(challenge: Challenge) -> None:
    user = made_user()
    found(challenge, user, "First")
    with pytest.raises(CannotJoin, match="First"):
        found(challenge, user, "Second")
    other = found(challenge, made_user(), "Third")
    with pytest.raises(CannotJoin, match="First"):
        join(other.invitation, user)
    assert found(open_challenge(), user, "Elsewhere")


@pytest.mark.django_db
def test_the_database_knows_one_team_a_person(challenge: Challenge) -> None:
    user = made_user()
    found(challenge, user, "First")
    second = Team.objects.create(challenge=challenge, name="Second")
    with pytest.raises(IntegrityError), transaction.atomic():
        Member.objects.create(team=second, challenge=challenge, user=user)


# --- joining --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_link_lets_in_and_joining_twice_changes_nothing(challenge: Challenge) -> None:
    team = found(challenge, made_user(), "Lake")
    user = made_user()
    assert join(team.invitation, user) == join(team.invitation, user) == team
    assert team.members.count() == 2
    assert AuditEntry.objects.filter(action="team.joined").count() == 1


@pytest.mark.django_db
def test_a_renewed_link_makes_the_old_one_void(challenge: Challenge) -> None:
    founder = made_user()
    team = found(challenge, founder, "Lake")
    new = renew_invitation(team, founder).invitation
    assert new != team.invitation
    with pytest.raises(CannotJoin, match="not valid"):
        join(team.invitation, made_user())
    assert join(new, made_user()) == team
    assert new not in str(list(AuditEntry.objects.values())), (
        "the log is read by all organisers, and exported"
    )


@pytest.mark.django_db
def test_a_full_team_takes_nobody() -> None:
    team = found(open_challenge(largest_team=2), made_user(), "Lake")
    join(team.invitation, made_user())
    with pytest.raises(CannotJoin, match="full"):
        join(team.invitation, made_user())
    assert team.members.count() == 2


@pytest.mark.django_db
def test_a_disqualified_team_takes_nobody(challenge: Challenge) -> None:
    team = found(challenge, made_user(), "Lake")
    Team.objects.filter(pk=team.pk).update(
        disqualified_at=team.created_at, disqualification="Two accounts."
    )
    with pytest.raises(CannotJoin, match="disqualified"):
        join(team.invitation, made_user())


@pytest.mark.django_db(transaction=True)
def test_of_ten_who_join_at_once_as_many_get_in_as_there_is_room() -> None:
    """Room for 4 members, 1 is there: 3 of 10 get in."""
    team = found(open_challenge(largest_team=4), made_user(), "Lake")
    joined = at_once(*[partial(join, team.invitation, made_user()) for _ in range(10)])
    assert sum(isinstance(one, CannotJoin) for one in joined) == 7
    assert team.members.count() == 4


@pytest.mark.django_db(transaction=True)
def test_one_person_who_makes_five_teams_at_once_has_one(challenge: Challenge) -> None:
    user = made_user()
    made = at_once(*[partial(found, challenge, user, f"Team {number}") for number in range(5)])
    assert sum(isinstance(one, CannotJoin) for one in made) == 4
    assert Team.objects.count() == Member.objects.count() == 1


# --- hidden references ----------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(("references", "may"), [("hidden", False), ("public", True)])
def test_who_rates_a_hidden_corpus_cannot_take_part(references: str, may: bool) -> None:
    campaign = made_campaign()
    rater = made_raters(campaign, 1)[0].user
    round = open_round(campaign.version, references=references)
    team = found(round.challenge, made_user(), "Lake")
    if may:
        assert join(team.invitation, rater) == team
        return
    with pytest.raises(CannotJoin, match="rate"):
        join(team.invitation, rater)
    with pytest.raises(CannotJoin, match="rate"):
        found(round.challenge, rater, "Own")


@pytest.mark.django_db
def test_who_joins_is_kept_from_rating_the_teams_systems() -> None:
    round = open_round()
    team, member = team_with_member(round.challenge)
    submission = scored(round, team)
    newcomer = made_user()
    join(team.invitation, newcomer)
    kept = Conflict.objects.filter(system=submission.system).values_list("user", flat=True)
    assert set(kept) == {member.pk, newcomer.pk}


@pytest.mark.django_db
def test_who_is_a_member_when_a_system_is_accepted_is_kept_from_rating_it() -> None:
    round = open_round()
    team, member = team_with_member(round.challenge)
    newcomer = made_user()
    join(team.invitation, newcomer)
    submission = taken_in(submit(round, team))
    kept = Conflict.objects.filter(system=submission.system).values_list("user", flat=True)
    assert set(kept) == {member.pk, newcomer.pk}


# --- leaving --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_team_without_members_and_submissions_is_gone_and_its_name_free(
    challenge: Challenge,
) -> None:
    user = made_user()
    team = found(challenge, user, "Lake")
    leave(team, user)
    assert not Team.objects.exists()
    assert found(challenge, made_user(), "Lake")


@pytest.mark.django_db
def test_who_has_handed_in_stays() -> None:
    round = open_round()
    team, user = team_with_member(round.challenge)
    join(team.invitation, made_user())
    submit(round, team, user)
    with pytest.raises(CannotJoin, match="submitted"):
        leave(team, user)
    assert team.members.count() == 2


@pytest.mark.django_db
def test_the_last_member_of_a_team_that_handed_in_stays() -> None:
    round = open_round()
    team, user = team_with_member(round.challenge)
    other = made_user()
    join(team.invitation, other)
    submit(round, team, user)
    user.delete()
    with pytest.raises(CannotJoin, match="last member"):
        leave(team, other)
    assert Submission.objects.filter(team=team).count() == 1


@pytest.mark.django_db
def test_another_member_may_leave_and_is_still_kept_from_rating() -> None:
    round = open_round()
    team, user = team_with_member(round.challenge)
    other = made_user()
    join(team.invitation, other)
    system = scored(round, team, user=user).system
    leave(team, other)
    leave(team, other)  # a second click
    assert [member.user for member in team.members.all()] == [user]
    assert Conflict.objects.filter(user=other, system=system).exists()


@pytest.mark.django_db
def test_nobody_leaves_a_disqualified_team_to_take_part_anew(
    challenge: Challenge, client: Client
) -> None:
    user = made_user()
    team = found(challenge, user, "Lake")
    join(team.invitation, other := made_user())
    disqualify_team(team, "Two accounts.")
    for member in (user, other):
        with pytest.raises(CannotJoin, match="disqualified"):
            leave(team, member)  # the row in hand does not know yet
    assert Team.objects.get().disqualification == "Two accounts."
    client.force_login(user)
    page = client.get(reverse("team", args=[challenge.slug])).content.decode()
    assert "Its members stay as they are." in page
    assert reverse("team-leave", args=[challenge.slug]) not in page


@pytest.mark.django_db
def test_teams_of_a_closed_challenge_stay_as_they_are(challenge: Challenge) -> None:
    user = made_user()
    team = found(challenge, user, "Lake")
    Challenge.objects.update(state="closed")
    with pytest.raises(CannotJoin, match="closed"):
        leave(team, user)
    with pytest.raises(CannotJoin, match="closed"):
        join(team.invitation, made_user())
