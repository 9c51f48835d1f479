"""Pages of who takes part: the challenge, the team, the round and what one hands in there, over HTTP."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.challenges import uploads
from leaderboard.challenges.actions.teams import found, join
from leaderboard.challenges.files.responses import check_responses
from leaderboard.challenges.models import Challenge, Round, Submission, Team
from leaderboard.challenges.queries.downloads import layout_of
from tests.browser.stage import HOSTILE_TEXTS
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.challenges.sets import good_file, open_challenge, open_round, scored, small_version, submit, team_with_member

pytestmark = pytest.mark.django_db
SCRIPT = "<script>document.title = 'taken over'</script>"


@pytest.fixture
def round() -> Round:
    return open_round()


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, "ada", "Lake")[0]


@pytest.fixture
def member(client: Client, team: Team) -> Client:
    client.force_login(team.members.get().user)
    return client


def address(name: str, round: Round, **query: str) -> str:
    return reverse(name, args=[round.challenge.slug, round.slug]) + (
        "?" + "&".join(f"{key}={value}" for key, value in query.items()) if query else ""
    )


def text_of(answer: Any) -> str:
    return b"".join(answer).decode() if answer.streaming else answer.content.decode()


def file_of(data: bytes, name: str = "responses.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def hand_in(client: Client, round: Round, data: bytes | None = None, name: str = "first", **changes: Any) -> Any:
    """``accept="json"`` asks as the page's script does."""
    headers = {"accept": "application/json"} if changes.pop("json", False) else {}
    fields = {"file": file_of(data if data is not None else good_file(round.version)), "name": name, **changes}
    return client.post(address("round-submit", round), fields, headers=headers)


# --- the list and the challenge ---------------------------------------------------------------------------------


def test_a_draft_exists_for_organisers_only(client: Client) -> None:
    draft = open_challenge(state="draft", name="Secret plan")
    page = reverse("challenge", args=[draft.slug])
    assert "Secret plan" not in text_of(client.get(reverse("challenges")))
    assert client.get(page).status_code == 404
    client.force_login(made_user("", "organiser"))
    assert "Secret plan" in text_of(client.get(reverse("challenges")))
    assert client.get(page).status_code == 200


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


def test_the_next_step_of_a_visitor_is_an_account_and_then_a_team(client: Client, round: Round) -> None:
    page = reverse("challenge", args=[round.challenge.slug])
    assert f"{reverse('sign-up')}?next={page}".replace("/", "%2F") in text_of(client.get(page)).replace("/", "%2F")
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
    round = open_round(name=hostile[:100], challenge=open_challenge(name=hostile[:200], summary=hostile[:300]))
    team, user = team_with_member(round.challenge, name=hostile[:80])
    submission = submit(round, team, user)
    Submission.objects.update(name=hostile[:80], description=hostile, file_name=hostile[:200], error=hostile)
    client.force_login(user)
    pages = [
        reverse("challenges"),
        *(reverse(name, args=[round.challenge.slug]) for name in ("challenge", "challenge-rules", "team")),
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


# --- teams ------------------------------------------------------------------------------------------------------


def test_a_team_is_made_and_its_link_shown_to_members_only(client: Client, round: Round) -> None:
    slug = round.challenge.slug
    client.force_login(made_user("ada"))
    answer = client.post(reverse("team-new", args=[slug]), {"name": "Lake"}, follow=True)
    link = reverse("team-join", args=[Team.objects.get().invitation])
    assert link in text_of(answer)
    client.force_login(made_user("eve"))
    for page in (reverse("team", args=[slug]), reverse("challenge", args=[slug]), address("round", round)):
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
    fields = {"username": "grace", "password": "a door of seven colours", "again": "a door of seven colours"}
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


# --- the round's files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["json", "jsonl", "csv"])
def test_a_filled_in_template_is_a_valid_file(member: Client, round: Round, tmp_path: Any, format: str) -> None:
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
def test_dialogues_of_a_hidden_round_hold_nothing_that_b_said(client: Client, hidden_by: str) -> None:
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
        client.force_login({"member": user, "stranger": made_user(), "organiser": made_user("", "organiser")}[who])
    for name in ("round-dialogues", "round-template"):
        assert client.get(address(name, round)).status_code == outcome


def test_files_of_a_public_corpus_are_everybodys(client: Client, round: Round) -> None:
    round.version.corpus.is_public = True
    round.version.corpus.save()
    assert client.get(address("round-dialogues", round)).status_code == 200


# --- handing in -------------------------------------------------------------------------------------------------


def test_a_file_is_taken_in_and_its_page_shown(member: Client, round: Round, team: Team) -> None:
    answer = hand_in(member, round, description="A small model.")
    submission = Submission.objects.get()
    assert answer["Location"] == reverse("submission", args=[submission.public_id])
    assert (submission.team, submission.track, submission.name) == (team, "gpu", "first")
    assert uploads.stored_path(submission).read_bytes() == good_file(round.version)
    assert "has arrived" in text_of(member.get(answer["Location"]))


def test_the_pages_script_is_told_where_to_go(member: Client, round: Round) -> None:
    answer = hand_in(member, round, json=True)
    assert answer.status_code == 201
    assert answer.json()["location"] == reverse("submission", args=[Submission.objects.get().public_id])


def test_the_same_bytes_lead_to_the_known_submission(member: Client, round: Round) -> None:
    first = hand_in(member, round)["Location"]
    member.get(first)
    again = hand_in(member, round, name="renamed")
    assert again["Location"] == first
    assert "the very same file before, as first" in text_of(member.get(first))
    assert hand_in(member, round, json=True).status_code == 200
    assert Submission.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"file": None}, "Choose a file"),
        ({"file": b""}, "The file is empty"),
        ({"file": b"PK\x03\x04 and so on"}, "zip"),
        ({"name": ""}, "Give the system a name"),
        ({"name": "a\0b"}, "Null characters are not allowed"),
        ({"name": "a\u202eb"}, "cannot be seen"),
        ({"name": "n" * 81}, "at most 80"),
        ({"description": "d" * 2001}, "at most 2"),
    ],
    ids=["no-file", "empty", "zip", "no-name", "nul", "override", "long-name", "long-description"],
)
@pytest.mark.parametrize("as_json", [True, False], ids=["script", "form"])
def test_bad_input_is_told_and_nothing_is_stored(
    member: Client, round: Round, changes: dict[str, Any], words: str, as_json: bool
) -> None:
    file = changes.get("file", good_file(round.version))
    fields = {"name": "first", **changes, "file": "" if file is None else file_of(file)}
    headers = {"accept": "application/json"} if as_json else {}
    answer = member.post(address("round-submit", round), fields, headers=headers)
    assert answer.status_code == 422
    assert words in (json.dumps(answer.json(), ensure_ascii=False) if as_json else text_of(answer))
    assert not Submission.objects.exists()
    assert list(uploads.uploads_folder().iterdir()) == [] or not Submission.objects.exists()


def test_what_was_written_is_still_there_after_a_refusal(member: Client, round: Round) -> None:
    page = text_of(hand_in(member, round, b"", name="my system", description="seven words"))
    assert 'value="my system"' in page
    assert "seven words" in page


@pytest.mark.parametrize(
    ("fields", "words", "status"),
    [
        ({"opens_at": timedelta(hours=1)}, "opens", 409),
        ({"closes_at": -timedelta(hours=1)}, "closed", 409),
        ({"tracks": ["prompt"]}, "takes prompts", 409),
        ({"daily_limit": 1}, "attempts of today", 429),
        ({"total_limit": 1}, "all its attempts", 429),
    ],
    ids=["upcoming", "closed", "prompts-only", "limit-of-the-day", "limit-of-the-round"],
)
def test_where_nothing_can_be_handed_in_the_page_says_why_and_the_form_is_refused(
    client: Client, fields: dict[str, Any], words: str, status: int
) -> None:
    now = timezone.now()
    round = open_round(
        **{name: now + value if isinstance(value, timedelta) else value for name, value in fields.items()}
    )
    user = team_with_member(round.challenge)[1]
    client.force_login(user)
    if status == 429:
        assert hand_in(client, round).status_code == 302
    before = Submission.objects.count()
    page = text_of(client.get(address("round", round)))
    assert words in page
    assert 'type="file"' not in page
    assert hand_in(client, round, good_file(round.version, "Something else.")).status_code == status
    assert Submission.objects.count() == before


def test_attempts_are_counted_on_the_page(member: Client, round: Round) -> None:
    """5 a day, 100 in the round: after one, 4 and 99 are left."""
    hand_in(member, round)
    page = text_of(member.get(address("round", round)))
    assert '<dd>4 <span class="of">of 5</span>' in page
    assert '<dd>99 <span class="of">of 100</span>' in page


def test_who_has_no_team_is_led_to_one(client: Client, round: Round) -> None:
    client.force_login(made_user())
    assert "make a team or join one" in text_of(client.get(address("round", round)))
    assert hand_in(client, round).status_code == 403
    assert hand_in(client, round, json=True).json()["errors"][0]["message"] == "Make or join a team first."


def test_who_was_logged_out_is_told(client: Client, round: Round) -> None:
    assert hand_in(client, round)["Location"].startswith(reverse("login"))
    assert hand_in(client, round, json=True).status_code == 401


def test_who_rates_the_hidden_corpus_reads_why_not(client: Client) -> None:
    campaign = made_campaign()
    round = open_round(campaign.version, references="hidden")
    client.force_login(made_raters(campaign, 1)[0].user)
    for page in (address("round", round), reverse("challenge", args=[round.challenge.slug])):
        assert "cannot take part" in text_of(client.get(page))


def test_submissions_of_the_team_are_on_the_page_and_in_its_files(member: Client, round: Round, team: Team) -> None:
    scored(round, team, name="=1+1")
    other, _ = team_with_member(round.challenge, name="Hill")
    submit(round, other, name="theirs")
    page = text_of(member.get(address("round", round)))
    assert "=1+1" in page
    assert "theirs" not in page
    for listing in (address("round", round), reverse("team", args=[round.challenge.slug]), reverse("my-submissions")):
        csv = text_of(member.get(listing, {"download": "submissions.csv"}))
        assert csv.startswith("submission,state,")
        assert "'=1+1" in csv, "no spreadsheet takes it for a formula"


def test_a_round_of_a_hidden_corpus_links_no_page_of_it(client: Client) -> None:
    version = small_version()
    version.corpus.is_public = True
    version.corpus.save()
    round = open_round(version, references="hidden")
    client.force_login(team_with_member(round.challenge)[1])
    assert reverse("corpus", args=[version.corpus.slug]) not in text_of(client.get(address("round", round)))
