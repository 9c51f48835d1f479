"""The organiser's pages of teams and submissions over HTTP: what they show, what their buttons
do."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import AuditEntry
from leaderboard.challenges.models import Challenge, Member, Submission
from tests.campaigns.sets import made_user
from tests.challenges.organising import page_of, said
from tests.challenges.sets import (
    good_file,
    open_challenge,
    open_round,
    scored,
    submit,
    taken_in,
    team_with_member,
)

pytestmark = pytest.mark.django_db


# --- teams ----------------------------------------------------------------------------------------


def test_the_page_of_teams_says_who_they_are_and_what_they_took(organiser: Client) -> None:
    """Two handed in, one of them invalid: one attempt is taken."""
    round = open_round(total_limit=42)
    team, _user = team_with_member(round.challenge, "mia", name="Owls")
    submit(round, team)
    bad = submit(round, team, data=b"[]\n")
    Submission.objects.filter(pk=bad.pk).update(
        state="invalid", ended_at=bad.received_at, day_place=None, total_place=None
    )
    page = page_of(organiser, "challenge-teams", round.challenge.slug, team=team.public_id)
    assert "1 of 42" in page
    assert "See its 2 submissions" in page
    assert "mia" in page


def test_a_team_is_disqualified_with_a_reason_and_reinstated(organiser: Client) -> None:
    team, _user = team_with_member(open_challenge(), name="Owls")
    assert "required" in said(organiser, "team-disqualify", team.public_id, reason=" ")
    assert "Owls is disqualified" in said(
        organiser, "team-disqualify", team.public_id, reason="Two accounts."
    )
    assert "Two accounts." in page_of(
        organiser, "challenge-teams", team.challenge.slug, team=team.public_id
    )
    assert "takes part again" in said(organiser, "team-reinstate", team.public_id)
    assert AuditEntry.objects.filter(action__startswith="team.").count() == 2


def test_a_team_that_nobody_knows_is_not_found(organiser: Client) -> None:
    challenge = open_challenge()
    assert (
        organiser.get(reverse("challenge-teams", args=[challenge.slug]), {"team": "x"}).status_code
        == 404
    )
    for public_id in ("x", "%00", "x%00"):
        for button in (f"/teams/{public_id}/disqualify/", f"/submissions/{public_id}/baseline/"):
            assert organiser.post(button, {"reason": "No."}).status_code == 404
        assert organiser.get(f"/submissions/{public_id}/").status_code == 404


# --- submissions ----------------------------------------------------------------------------------


def test_submissions_are_filtered(organiser: Client) -> None:
    challenge = open_challenge()
    first, second = open_round(challenge=challenge), open_round(challenge=challenge)
    team, _user = team_with_member(challenge)
    scored(first, team, name="alpha")
    submit(second, team, name="beta")

    def shown(**query: str) -> set[str]:
        page = page_of(organiser, "challenge-submissions", challenge.slug, **query)
        return {name for name in ("alpha", "beta") if f">{name}</a>" in page}

    assert shown() == {"alpha", "beta"}
    assert shown(round=second.slug) == {"beta"}
    assert shown(state="scored") == {"alpha"}
    assert shown(state="unfinished") == {"beta"}
    assert shown(team=team.public_id) == {"alpha", "beta"}
    assert shown(team="nobody\0") == set()


def test_the_same_bytes_of_two_teams_are_pointed_out(organiser: Client) -> None:
    round = open_round()
    data = good_file(round.version)
    first, _one = team_with_member(round.challenge, name="Owls")
    second, _two = team_with_member(round.challenge, name="Copy cats")
    submit(round, first, data=data, name="alpha")
    twin = submit(round, second, data=data, name="beta")
    page = page_of(organiser, "challenge-submissions", round.challenge.slug, chosen=twin.public_id)
    assert "same bytes as alpha of Owls" in page
    assert "The same bytes came from another team before" in page


def test_the_download_is_safe_for_spreadsheets(organiser: Client) -> None:
    round = open_round()
    team, _user = team_with_member(round.challenge, name="=cmd|' /C calc'!A0")
    submit(round, team, name="@SUM(1+1)")
    address = reverse("challenge-submissions", args=[round.challenge.slug])
    body = organiser.get(address, {"download": "submissions.csv"}).content.decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(body))
    assert (row["team"], row["submission"]) == ("'=cmd|' /C calc'!A0", "'@SUM(1+1)")
    teams = reverse("challenge-teams", args=[round.challenge.slug])
    (team_row,) = organiser.get(teams, {"download": "teams.json"}).json()["rows"]
    assert "=cmd" in str(team_row)


def test_the_buttons_of_a_submission(organiser: Client) -> None:
    round = open_round()
    done = scored(round, team_with_member(round.challenge)[0])
    one = done.public_id
    assert "ended already" in said(organiser, "submission-cancel", one)
    assert "nothing to try again" in said(organiser, "submission-retry", one)
    assert "every metric" in said(organiser, "submission-re-evaluate", one)
    assert said(organiser, "submission-baseline", one, is_baseline="yes") == "Stored."
    assert Submission.objects.get().is_baseline
    assert said(organiser, "submission-baseline", one, is_baseline="no") == "Stored."
    assert "reads your reason" in said(organiser, "submission-disqualify", one, reason="Copied.")
    assert said(organiser, "submission-reinstate", one) == "It is ranked again."


def test_a_waiting_submission_is_cancelled_and_tried_again(organiser: Client) -> None:
    round = open_round()
    one = submit(round, team_with_member(round.challenge)[0]).public_id
    assert said(organiser, "submission-cancel", one).startswith("Cancelled")
    assert Submission.objects.get().state == "cancelled"
    assert said(organiser, "submission-retry", one) == "It is taken up again."
    assert Submission.objects.get().state == "received"


def test_a_member_cancels_what_has_not_begun_and_others_do_not_see_it(client: Client) -> None:
    round = open_round()
    team, member = team_with_member(round.challenge)
    one = submit(round, team).public_id
    client.force_login(made_user("nosy", "participant"))
    assert client.post(reverse("submission-cancel", args=[one])).status_code == 404
    client.force_login(member)
    assert said(client, "submission-cancel", one).startswith("Cancelled")
    assert Member.objects.count() == 1


def test_a_button_leads_back_to_where_it_was_and_nowhere_else(organiser: Client) -> None:
    round = open_round()
    one = submit(round, team_with_member(round.challenge)[0]).public_id
    address = reverse("submission-baseline", args=[one])
    here = f"/challenges/{round.challenge.slug}/submissions/?chosen={one}"
    assert organiser.post(address, {"is_baseline": "yes", "back": here}).headers["Location"] == here
    for elsewhere in (
        "https://example.org/",
        "//example.org/",
        "/\\example.org",
        "javascript:alert(1)",
    ):
        answer = organiser.post(address, {"is_baseline": "no", "back": elsewhere})
        assert answer.headers["Location"] == reverse("submission", args=[one])


def test_deleting_a_challenge_with_submissions_is_refused_with_the_reason(
    organiser: Client,
) -> None:
    round = open_round()
    submit(round, team_with_member(round.challenge)[0])
    assert "kept with their scores" in said(organiser, "challenge-delete", round.challenge.slug)
    empty = open_challenge("empty")
    assert "is deleted" in said(organiser, "challenge-delete", empty.slug)
    assert list(Challenge.objects.values_list("pk", flat=True)) == [round.challenge_id]


def test_an_invalid_submission_says_its_first_problem_and_where_the_report_is(
    organiser: Client,
) -> None:
    """An empty list answers none of three dialogues."""
    round = open_round()
    one = taken_in(submit(round, team_with_member(round.challenge)[0], data=b"[]"))
    page = page_of(organiser, "challenge-submissions", round.challenge.slug, chosen=one.public_id)
    assert "The report names 3 problems" in page
    assert '<p dir="auto">has no response for the dialogue' in page
