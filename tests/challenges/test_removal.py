"""Members who can be taken out of a team: by its leader and by organisers, at once and for good."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import AuditEntry
from leaderboard.challenges import notices as delivery
from leaderboard.challenges.actions import notices, teams
from leaderboard.challenges.actions.judging import disqualify_team
from leaderboard.challenges.actions.receiving import NotTaken
from leaderboard.challenges.actions.teams import CannotJoin
from leaderboard.challenges.models import Ban, Member, Notice, Submission, Team
from tests.api_client import program_of
from tests.at_once import at_once
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_challenge, open_round, scored, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    return open_round()


@pytest.fixture
def ada() -> Any:
    return made_user("ada")


@pytest.fixture
def mallory() -> Any:
    return made_user("mallory")


@pytest.fixture
def organiser() -> Any:
    return made_user("olga", "organiser")


@pytest.fixture
def team(round, ada, mallory) -> Team:
    """Ada's; Mallory joined through a link that leaked."""
    team = teams.found(round.challenge, ada, "Lake House")
    teams.join(team.invitation, mallory)
    return team


def members(team: Team) -> list[str]:
    return list(
        Member.objects.filter(team=team).order_by("pk").values_list("user__username", flat=True)
    )


def page_of(user: Any, name: str, *args: str) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(reverse(name, args=args))


# --- who may --------------------------------------------------------------------------------------


def test_the_leader_removes_a_member_and_the_log_says_so(
    team: Team, ada: Any, mallory: Any
) -> None:
    teams.remove_member(team, mallory, ada)
    assert members(team) == ["ada"]
    entry = AuditEntry.objects.get(action="team.member_removed")
    assert (entry.actor, entry.subject, entry.details["member"]) == ("ada", "Lake House", "mallory")


def test_whoever_joined_last_cannot_push_out_those_who_were_there(
    team: Team, ada: Any, mallory: Any
) -> None:
    with pytest.raises(CannotJoin, match="leader"):
        teams.remove_member(team, ada, mallory)
    assert members(team) == ["ada", "mallory"]


def test_the_oldest_member_leads_once_the_founder_has_left_or_is_disabled(
    team: Team, ada: Any, mallory: Any
) -> None:
    newest = made_user("nora")
    teams.join(team.invitation, newest)
    type(ada).objects.filter(pk=ada.pk).update(is_active=False)
    teams.remove_member(team, newest, mallory)
    assert members(team) == ["ada", "mallory"]


def test_an_organiser_removes_anybody_even_the_last_one(
    round, team: Team, ada: Any, mallory: Any, organiser: Any
) -> None:
    sent = submit(round, team, ada)
    for user in (ada, mallory):
        teams.remove_member(team, user, organiser, "a shared account")
    assert members(team) == []
    sent.refresh_from_db()
    assert (sent.team, sent.user) == (team, ada), "what they did stays with the team and names them"


def test_a_team_without_members_that_submitted_nothing_is_gone(
    team: Team, ada: Any, mallory: Any, organiser: Any
) -> None:
    for user in (ada, mallory):
        teams.remove_member(team, user, organiser, "never came")
    assert not Team.objects.filter(pk=team.pk).exists()


def test_nobody_is_removed_from_a_disqualified_team_by_its_leader(
    team: Team, ada: Any, mallory: Any
) -> None:
    disqualify_team(team, "read the answers")
    with pytest.raises(CannotJoin, match="disqualified"):
        teams.remove_member(team, mallory, ada)


# --- what a removed member loses ------------------------------------------------------------------


def test_a_removed_member_has_no_access_at_once(round, team: Team, ada: Any, mallory: Any) -> None:
    sent = submit(round, team, mallory)
    slug = round.challenge.slug
    program = program_of(mallory, "read", "submit")
    assert page_of(mallory, "submission", sent.public_id).status_code == 200
    assert program.get(f"/challenges/{slug}/team").status_code == 200
    teams.remove_member(team, mallory, ada)
    assert page_of(mallory, "submission", sent.public_id).status_code == 404
    assert page_of(mallory, "team", slug).status_code == 302
    assert program.get(f"/challenges/{slug}/team").status_code == 404
    assert program.get(f"/submissions/{sent.public_id}").status_code == 404
    assert program.get("/submissions").json()["items"] == []
    assert program.post(f"/submissions/{sent.public_id}/cancel").status_code == 404
    assert Submission.objects.get(pk=sent.pk).user == mallory, "it stays attributed"


def test_a_removed_member_s_webhook_hears_nothing_more(
    round, team: Team, ada: Any, mallory: Any, settings
) -> None:
    settings.WEBHOOK_PRIVATE = True
    notices.add_webhook(mallory, "http://127.0.0.1:9/hook")
    scored(round, team, user=ada)
    waiting = Notice.objects.get(user=mallory)
    teams.remove_member(team, mallory, ada)
    assert delivery.deliver(waiting.pk) is False
    waiting.refresh_from_db()
    assert (waiting.state, waiting.answer) == (
        "failed",
        "the account is no longer a member of the team",
    )
    scored(round, team, user=ada)
    assert Notice.objects.filter(user=mallory).count() == 1


def test_a_removed_member_does_not_come_back_by_the_same_link(
    team: Team, ada: Any, mallory: Any
) -> None:
    link = team.invitation
    teams.remove_member(team, mallory, ada)
    for user in (mallory, made_user("friend")):
        with pytest.raises(CannotJoin, match="not valid"):
            teams.join(link, user)
    assert page_of(mallory, "team-join", link).status_code == 404


def test_a_removed_member_who_submitted_gets_no_second_team_s_attempts(
    round, team: Team, ada: Any, mallory: Any
) -> None:
    submit(round, team, mallory)
    teams.remove_member(team, mallory, ada)
    with pytest.raises(CannotJoin, match="submitted for the team Lake House"):
        teams.found(round.challenge, mallory, "Second wind")
    teams.join(teams.renew_invitation(team, ada).invitation, mallory)
    assert members(team) == ["ada", "mallory"]


# --- bans -----------------------------------------------------------------------------------------


def test_a_banned_person_gets_into_no_team_until_the_ban_is_lifted(
    round, team: Team, ada: Any, mallory: Any, organiser: Any
) -> None:
    teams.ban(round.challenge, mallory, "sells answers", organiser)
    assert members(team) == ["ada"]
    link = teams.renew_invitation(team, ada).invitation
    with pytest.raises(CannotJoin, match="banned"):
        teams.join(link, mallory)
    with pytest.raises(CannotJoin, match="banned"):
        teams.found(round.challenge, mallory, "My own")
    assert teams.lift_ban(round.challenge, mallory, organiser)
    teams.join(link, mallory)
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"challenge.banned", "team.member_removed", "challenge.ban_lifted"} <= actions


def test_a_ban_is_of_one_challenge(round, mallory: Any, organiser: Any) -> None:
    teams.ban(round.challenge, mallory, "sells answers", organiser)
    assert teams.found(open_challenge(), mallory, "Elsewhere").members.count() == 1


# --- links ----------------------------------------------------------------------------------------


def test_a_link_expires_after_fourteen_days(team: Team) -> None:
    assert timedelta(days=13) < team.invitation_expires_at - timezone.now() <= timedelta(days=14)
    Team.objects.filter(pk=team.pk).update(
        invitation_expires_at=timezone.now() - timedelta(seconds=1)
    )
    with pytest.raises(CannotJoin, match="not valid"):
        teams.join(team.invitation, made_user())


def test_a_revoked_link_lets_nobody_in_until_there_is_a_new_one(team: Team, ada: Any) -> None:
    teams.revoke_invitation(team, ada)
    with pytest.raises(CannotJoin, match="not valid"):
        teams.join(team.invitation, made_user())
    teams.join(teams.renew_invitation(team, ada).invitation, made_user("bo"))
    assert members(team) == ["ada", "mallory", "bo"]
    assert AuditEntry.objects.filter(action="team.invitation_revoked").count() == 1


def test_a_link_that_a_disabled_member_knows_lets_nobody_in(
    team: Team, ada: Any, mallory: Any, organiser: Any
) -> None:
    type(mallory).objects.filter(pk=mallory.pk).update(is_active=False)
    with pytest.raises(CannotJoin, match="not valid"):
        teams.join(team.invitation, made_user())
    teams.remove_member(team, mallory, organiser)
    teams.join(teams.renew_invitation(team, ada).invitation, made_user())


def test_whoever_is_no_member_any_more_makes_no_new_link(
    team: Team, ada: Any, mallory: Any
) -> None:
    teams.remove_member(team, mallory, ada)
    with pytest.raises(CannotJoin, match="no member"):
        teams.renew_invitation(team, mallory)


# --- pages and the API ----------------------------------------------------------------------------


def test_the_team_page_removes_a_member_and_says_until_when_the_link_holds(
    round, team: Team, ada: Any, mallory: Any
) -> None:
    client, slug = Client(), round.challenge.slug
    client.force_login(ada)
    text = client.get(reverse("team", args=[slug])).content.decode()
    assert "Remove mallory" in text
    assert "Remove ada" not in text
    assert f"{team.invitation_expires_at:%Y-%m-%d %H:%M} UTC" in text
    assert "Remove" not in page_of(mallory, "team", slug).content.decode()
    answer = client.post(reverse("team-remove", args=[slug]), {"member": "mallory"}, follow=True)
    assert "mallory is removed" in answer.content.decode()
    assert "it was revoked" in answer.content.decode()
    assert members(team) == ["ada"]


def test_an_organiser_s_page_removes_bans_and_lifts(
    round, team: Team, mallory: Any, organiser: Any
) -> None:
    client, slug = Client(), round.challenge.slug
    client.force_login(organiser)
    member = Member.objects.get(user=mallory)
    form = {"removal-member": member.pk, "removal-reason": "a leaked link", "removal-ban": "on"}
    answer = client.post(reverse("team-member-remove", args=[team.public_id]), form, follow=True)
    text = answer.content.decode()
    assert "mallory is removed and banned" in text
    assert "Lift the ban of mallory" in text
    assert Ban.objects.get().reason == "a leaked link"
    client.post(reverse("challenge-bans", args=[slug]), {"lift": "mallory"})
    assert not Ban.objects.exists()
    form = {"ban-account": "mallory", "ban-reason": "again"}
    client.post(reverse("challenge-bans", args=[slug]), form)
    assert Ban.objects.get().reason == "again"
    form = {"ban-account": "no-such", "ban-reason": "again"}
    assert client.post(reverse("challenge-bans", args=[slug]), form).status_code == 422


def test_programs_remove_members_and_renew_and_revoke_links(
    round, team: Team, ada: Any, mallory: Any
) -> None:
    program, path = program_of(ada), f"/challenges/{round.challenge.slug}/team"
    before = program.get(path).json()
    assert (before["leader"], before["invitation"]) == ("ada", team.invitation)
    assert program.post(f"{path}/remove", {"member": "nobody"}).status_code == 422
    refused = program_of(mallory).post(f"{path}/remove", {"member": "ada"})
    assert (refused.status_code, refused.json()["code"]) == (409, "cannot_join")
    after = program.post(f"{path}/remove", {"member": "mallory"}).json()
    assert (after["members"], after["invitation"], after["invitation_url"]) == (["ada"], None, None)
    assert program.post(f"{path}/invitation").json()["invitation_expires_at"] is not None
    assert program.delete(f"{path}/invitation").status_code == 204
    assert program.get(path).json()["invitation"] is None


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_removed_member_s_upload_at_the_same_moment_is_in_whole_or_refused(
    round, team: Team, ada: Any, mallory: Any
) -> None:
    outcomes = at_once(
        partial(teams.remove_member, team, mallory, ada), partial(submit, round, team, mallory)
    )
    assert outcomes[0] is None
    assert members(team) == ["ada"]
    if isinstance(outcomes[1], Submission):
        assert Submission.objects.get().user == mallory
    else:
        assert isinstance(outcomes[1], NotTaken)
        assert outcomes[1].code == "not_member"
        assert not Submission.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_remove_each_other_the_team_keeps_one(
    round, team: Team, ada: Any, mallory: Any
) -> None:
    """The founder removes a member who, were the founder gone first, would lead the team."""
    submit(round, team, ada)
    at_once(
        partial(teams.remove_member, team, mallory, ada),
        partial(teams.remove_member, team, ada, mallory),
    )
    assert members(team) == ["ada"]
    assert AuditEntry.objects.filter(action="team.member_removed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_whoever_joins_while_the_link_is_revoked_is_in_before_or_refused(
    team: Team, ada: Any
) -> None:
    newcomer = made_user("nora")
    revoked, joined = at_once(
        partial(teams.revoke_invitation, team, ada), partial(teams.join, team.invitation, newcomer)
    )
    assert revoked.invitation is None
    assert isinstance(joined, Team | CannotJoin)
    assert ("nora" in members(team)) == isinstance(joined, Team)


@pytest.mark.django_db(transaction=True)
def test_whoever_is_banned_while_joining_is_in_no_team(team: Team, round, organiser: Any) -> None:
    newcomer = made_user("nora")
    at_once(
        partial(teams.ban, round.challenge, newcomer, "sells answers", organiser),
        partial(teams.join, team.invitation, newcomer),
    )
    assert "nora" not in members(team)
    assert Ban.objects.filter(user=newcomer).count() == 1
