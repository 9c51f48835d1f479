"""Pages of who takes part: the challenge, the team, the round and what one hands in there, over
HTTP."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.challenges.actions.teams import found, join
from leaderboard.challenges.files.responses import check_responses
from leaderboard.challenges.models import Challenge, Round, Submission, Team
from leaderboard.challenges.queries.downloads import layout_of
from tests.browser.stage import HOSTILE_TEXTS
from tests.campaigns.sets import made_user
from tests.challenges.pages import address, hand_in, text_of
from tests.challenges.sets import open_challenge, open_round, submit, team_with_member

pytestmark = pytest.mark.django_db
SCRIPT = "<script>document.title = 'taken over'</script>"


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, "ada", "Lake")[0]


# --- the list and the challenge -------------------------------------------------------------------


def test_a_draft_exists_for_organisers_only(client: Client) -> None:
    draft = open_challenge(state="draft", name="Secret plan")
    page = reverse("challenge", args=[draft.slug])
    assert "Secret plan" not in text_of(client.get(reverse("challenges")))
    assert client.get(page).status_code == 404
    client.force_login(made_user("", "organiser"))
    assert "Secret plan" in text_of(client.get(reverse("challenges")))
    assert client.get(page).status_code == 200


def test_a_challenge_counts_its_teams_and_submissions(client: Client, round: Round) -> None:
    submit(round, team_with_member(round.challenge, "ada", "Lake")[0])
    team_with_member(round.challenge, "ben", "River")
    page = client.get(reverse("challenge", args=[round.challenge.slug]))
    assert (page.context["team_count"], page.context["submission_count"]) == (2, 1)
    assert "Ranked by <b>word_f1</b>" in page.content.decode()


@pytest.mark.parametrize(
    ("state", "opens", "closes", "words"),
    [
        ("open", -1, 1, "is open"),
        ("open", 1, 2, "comes next"),
        ("open", -2, -1, "All rounds are over"),
        ("closed", -1, 1, "The challenge is closed"),
    ],
)
def test_the_next_step_of_a_member_follows_the_dates(
    client: Client, state: str, opens: int, closes: int, words: str
) -> None:
    now = timezone.now()
    round = open_round(opens_at=now + timedelta(days=opens), closes_at=now + timedelta(days=closes))
    client.force_login(team_with_member(round.challenge)[1])
    Challenge.objects.update(state=state)
    assert words in text_of(client.get(reverse("challenge", args=[round.challenge.slug])))


def test_the_next_step_of_a_visitor_is_an_account_and_then_a_team(
    client: Client, round: Round
) -> None:
    page = reverse("challenge", args=[round.challenge.slug])
    assert f"{reverse('sign-up')}?next={page}".replace("/", "%2F") in text_of(
        client.get(page)
    ).replace("/", "%2F")
    client.force_login(made_user())
    assert reverse("team-new", args=[round.challenge.slug]) in text_of(client.get(page))


def test_a_disqualified_team_reads_the_reason(member: Client, team: Team, round: Round) -> None:
    Team.objects.update(disqualified_at=timezone.now(), disqualification=f"Copied. {SCRIPT}")
    for name in ("challenge", "team"):
        page = text_of(member.get(reverse(name, args=[team.challenge.slug])))
        assert "Copied. &lt;script&gt;" in page
    answer = hand_in(member, round)
    assert answer.status_code == 403
    assert not Submission.objects.exists()


def test_rules_are_markdown_without_code_of_ours(client: Client) -> None:
    one = open_challenge(rules=f"# Be fair\n\n{SCRIPT}\n\n[away](javascript:alert(1))")
    page = text_of(client.get(reverse("challenge-rules", args=[one.slug])))
    assert "<h2>Be fair</h2>" in page
    assert SCRIPT not in page
    assert 'href="javascript' not in page


@pytest.mark.parametrize("hostile", [*HOSTILE_TEXTS, "‮gnp.exe"], ids=range(len(HOSTILE_TEXTS) + 1))
def test_hostile_names_stay_text_on_every_page(client: Client, hostile: str) -> None:
    round = open_round(
        name=hostile[:100], challenge=open_challenge(name=hostile[:200], summary=hostile[:300])
    )
    team, user = team_with_member(round.challenge, name=hostile[:80])
    submission = submit(round, team, user)
    Submission.objects.update(
        name=hostile[:80], description=hostile, file_name=hostile[:200], error=hostile
    )
    client.force_login(user)
    pages = [
        reverse("challenges"),
        *(
            reverse(name, args=[round.challenge.slug])
            for name in ("challenge", "challenge-rules", "team")
        ),
        address("round", round),
        reverse("submission", args=[submission.public_id]),
        reverse("submission-progress", args=[submission.public_id]),
        reverse("my-submissions"),
        reverse("account"),
        reverse("team-join", args=[team.invitation]),
    ]
    for page in pages:
        answer = client.get(page, follow=True)
        assert answer.status_code == 200, page
        assert "<script>document.title" not in text_of(answer), page
        assert "<img src=x" not in text_of(answer), page


# --- teams ----------------------------------------------------------------------------------------


def test_a_team_is_made_and_its_link_shown_to_members_only(client: Client, round: Round) -> None:
    slug = round.challenge.slug
    client.force_login(made_user("ada"))
    answer = client.post(reverse("team-new", args=[slug]), {"name": "Lake"}, follow=True)
    link = reverse("team-join", args=[Team.objects.get().invitation])
    assert link in text_of(answer)
    client.force_login(made_user("eve"))
    for page in (
        reverse("team", args=[slug]),
        reverse("challenge", args=[slug]),
        address("round", round),
    ):
        assert link not in text_of(client.get(page, follow=True))


def test_a_refused_name_stands_under_its_field(client: Client, round: Round) -> None:
    client.force_login(made_user())
    answer = client.post(reverse("team-new", args=[round.challenge.slug]), {"name": "a\u202eb"})
    assert answer.status_code == 422
    assert "U+202E" in text_of(answer)
    assert not Team.objects.exists()


def test_the_link_leads_who_has_no_account_to_one_and_back(client: Client, team: Team) -> None:
    link = reverse("team-join", args=[team.invitation])
    page = text_of(client.get(link))
    assert "Lake" in page
    assert f"{reverse('sign-up')}?next=" in page
    fields = {
        "username": "grace",
        "password": "a door of seven colours",
        "again": "a door of seven colours",
    }
    answer = client.post(reverse("sign-up"), {**fields, "email": "", "next": link})
    assert answer["Location"] == link
    answer = client.post(link)
    assert answer["Location"] == reverse("team", args=[team.challenge.slug])
    assert team.members.filter(user__username="grace").exists()


def test_an_unknown_link_tells_nothing(client: Client, team: Team) -> None:
    answer = client.get(reverse("team-join", args=["A" * 32]))
    assert answer.status_code == 404
    assert "Lake" not in text_of(answer)


def test_the_link_into_a_draft_tells_nothing(client: Client, team: Team) -> None:
    Challenge.objects.update(state="draft")
    assert client.get(reverse("team-join", args=[team.invitation])).status_code == 404


def test_joining_needs_a_click_not_a_look(client: Client, team: Team) -> None:
    client.force_login(made_user())
    assert client.get(reverse("team-join", args=[team.invitation])).status_code == 200
    assert team.members.count() == 1


def test_a_full_team_says_so(client: Client) -> None:
    team = found(open_challenge(largest_team=1), made_user(), "Lake")
    client.force_login(made_user())
    answer = client.post(reverse("team-join", args=[team.invitation]))
    assert answer.status_code == 409
    assert "full" in text_of(answer)


def test_a_new_link_and_leaving_are_for_members(client: Client, team: Team) -> None:
    slug = team.challenge.slug
    client.force_login(made_user("", "organiser"))
    for name in ("team-invitation", "team-leave"):
        assert client.post(reverse(name, args=[slug])).status_code == 404
    assert Team.objects.get().invitation == team.invitation


def test_leaving_and_the_refusal_to(client: Client, team: Team, round: Round) -> None:
    other = made_user()
    join(team.invitation, other)
    submit(round, team, team.members.first().user)
    leave = reverse("team-leave", args=[team.challenge.slug])
    client.force_login(team.members.first().user)
    assert "stay its member" in text_of(client.post(leave, follow=True))
    client.force_login(other)
    assert "You have left" in text_of(client.post(leave, follow=True))
    assert team.members.count() == 1


# --- the round's files ----------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["json", "jsonl", "csv"])
def test_a_filled_in_template_is_a_valid_file(
    member: Client, round: Round, tmp_path: Any, format: str
) -> None:
    """3 dialogues of 2 turns: 6 places."""
    answer = member.get(address("round-template", round, format=format))
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    empty = text_of(answer)
    full = empty.replace("null", '"yes"') if format != "csv" else empty.replace(",\r\n", ",yes\r\n")
    path = tmp_path / f"full.{format}"
    path.write_text(full)
    checked = check_responses(path, layout_of(round.version))
    assert checked.problems == ()
    assert checked.counts.responses == 6


def test_there_is_no_template_in_another_format(member: Client, round: Round) -> None:
    assert member.get(address("round-template", round, format="xlsx")).status_code == 404


def test_dialogues_hold_the_history_and_the_references(member: Client, round: Round) -> None:
    document = json.loads(text_of(member.get(address("round-dialogues", round))))
    assert [entry["dialog_id"] for entry in document] == ["file-0", "file-1", "file-2"]
    turn = document[1]["turn_1"]
    assert turn["gold_reference"] == "I went out by bicycle number 1 in talk 1."
    assert [said["persona_id"] for said in turn["dialogue"]] == ["A", "B", "A"]


@pytest.mark.parametrize("hidden_by", ["this round", "another round on the corpus"])
def test_dialogues_of_a_hidden_round_hold_nothing_that_b_said(
    client: Client, hidden_by: str
) -> None:
    round = open_round(references="hidden" if hidden_by == "this round" else "public")
    if hidden_by != "this round":
        open_round(round.version, references="hidden")
    client.force_login(team_with_member(round.challenge)[1])
    file = text_of(client.get(address("round-dialogues", round)))
    assert "What did you do on day 1" in file, "A's words are the task"
    assert "I went out by bicycle" not in file


@pytest.mark.parametrize(
    ("who", "phase", "outcome"),
    [
        ("nobody", "open", 302),
        ("stranger", "open", 403),
        ("member", "open", 200),
        ("member", "upcoming", 403),
        ("member", "closed", 200),
        ("organiser", "upcoming", 200),
    ],
)
def test_files_of_a_private_corpus_are_for_teams_from_the_opening_on(
    client: Client, who: str, phase: str, outcome: int
) -> None:
    now, hour = timezone.now(), timedelta(hours=1)
    opens = {"open": -hour, "upcoming": hour, "closed": -2 * hour}[phase]
    round = open_round(opens_at=now + opens, closes_at=now + opens + hour + timedelta(minutes=1))
    if phase == "closed":
        Round.objects.update(closes_at=now - hour)
    user = team_with_member(round.challenge)[1]
    if who != "nobody":
        client.force_login(
            {"member": user, "stranger": made_user(), "organiser": made_user("", "organiser")}[who]
        )
    for name in ("round-dialogues", "round-template"):
        assert client.get(address(name, round)).status_code == outcome


def test_files_of_a_public_corpus_are_everybodys(client: Client, round: Round) -> None:
    round.version.corpus.is_public = True
    round.version.corpus.save()
    assert client.get(address("round-dialogues", round)).status_code == 200
