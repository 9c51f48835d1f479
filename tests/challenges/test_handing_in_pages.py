"""Handing in a file on a round's page: what is taken, what is refused and why, and what the page
says before."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.challenges import uploads
from leaderboard.challenges.models import Round, Submission, Team
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.challenges.pages import address, file_of, hand_in, text_of
from tests.challenges.sets import (
    good_file,
    open_round,
    scored,
    small_version,
    submit,
    taken_in,
    team_with_member,
)
from tests.stored_uploads import stored_path, uploads_folder

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, "ada", "Lake")[0]


def files() -> set[str]:
    """All that lies on the disk of what was sent."""
    return {
        path.name
        for folder in (uploads.incoming_folder(), uploads_folder())
        for path in folder.iterdir()
    }


def test_a_file_is_taken_in_and_its_page_shown(member: Client, round: Round, team: Team) -> None:
    answer = hand_in(member, round, description="A small model.")
    submission = Submission.objects.get()
    assert answer["Location"] == reverse("submission", args=[submission.public_id])
    assert (submission.team, submission.track, submission.name) == (team, "gpu", "first")
    assert stored_path(submission).read_bytes() == good_file(round.version)
    assert "It waits for a worker." in text_of(member.get(answer["Location"]))


def test_no_message_claims_a_state_that_has_passed(member: Client, round: Round) -> None:
    """The file is invalid before the page is opened for the first time."""
    answer = hand_in(member, round, data=b"not JSON\n")
    taken_in(Submission.objects.get())
    page = member.get(answer["Location"])
    assert list(page.context["messages"]) == []
    assert "Invalid" in text_of(page)


def test_the_pages_script_is_told_where_to_go(member: Client, round: Round) -> None:
    answer = hand_in(member, round, json=True)
    assert answer.status_code == 201
    assert answer.json()["location"] == reverse(
        "submission", args=[Submission.objects.get().public_id]
    )


def test_the_same_bytes_lead_to_the_known_submission(member: Client, round: Round) -> None:
    first = hand_in(member, round)["Location"]
    member.get(first)
    again = hand_in(member, round, name="renamed")
    assert again["Location"] == first
    assert "the same file before, as first" in text_of(member.get(first))
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
    before = files()
    file = changes.get("file", good_file(round.version))
    fields = {"name": "first", **changes, "file": "" if file is None else file_of(file)}
    headers = {"accept": "application/json"} if as_json else {}
    answer = member.post(address("round-submit", round), fields, headers=headers)
    assert answer.status_code == (415 if words == "zip" else 422)
    assert words in (json.dumps(answer.json(), ensure_ascii=False) if as_json else text_of(answer))
    assert not Submission.objects.exists()
    assert files() == before


def test_a_round_that_is_deleted_while_the_file_comes_is_told_as_gone(
    member: Client, round: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leaderboard.challenges.views import rounds as page

    def deletes_the_round(*arguments: Any, **named: Any) -> Any:
        Round.objects.filter(pk=round.pk).delete()
        return receive(*arguments, **named)

    receive, before = page.receive, files()
    monkeypatch.setattr(page, "receive", deletes_the_round)
    answer = hand_in(member, round, json=True)
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (
        404,
        "This round has been deleted.",
    )
    assert files() == before


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
        ({"daily_limit": 1}, "attempts of today", 409),
        ({"total_limit": 1}, "all its attempts", 409),
    ],
    ids=["upcoming", "closed", "prompts-only", "limit-of-the-day", "limit-of-the-round"],
)
def test_where_nothing_can_be_handed_in_the_page_says_why_and_the_form_is_refused(
    client: Client, fields: dict[str, Any], words: str, status: int
) -> None:
    now = timezone.now()
    round = open_round(
        **{
            name: now + value if isinstance(value, timedelta) else value
            for name, value in fields.items()
        }
    )
    user = team_with_member(round.challenge)[1]
    client.force_login(user)
    if "limit" in str(fields):
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
    assert "create a team or join one" in text_of(client.get(address("round", round)))
    assert hand_in(client, round).status_code == 403
    assert (
        hand_in(client, round, json=True).json()["errors"][0]["message"]
        == "Make or join a team first."
    )


def test_who_was_logged_out_is_told(client: Client, round: Round) -> None:
    assert hand_in(client, round)["Location"].startswith(reverse("login"))
    assert hand_in(client, round, json=True).status_code == 401


def test_who_rates_the_hidden_corpus_reads_why_not(client: Client) -> None:
    campaign = made_campaign()
    round = open_round(campaign.version, references="hidden")
    client.force_login(made_raters(campaign, 1)[0].user)
    for page in (address("round", round), reverse("challenge", args=[round.challenge.slug])):
        assert "cannot take part" in text_of(client.get(page))


def test_submissions_of_the_team_are_on_the_page_and_in_its_files(
    member: Client, round: Round, team: Team
) -> None:
    scored(round, team, name="=1+1")
    other, _ = team_with_member(round.challenge, name="Hill")
    submit(round, other, name="theirs")
    page = text_of(member.get(address("round", round)))
    assert "=1+1" in page
    assert "theirs" not in page
    for listing in (
        address("round", round),
        reverse("team", args=[round.challenge.slug]),
        reverse("my-submissions"),
    ):
        csv = text_of(member.get(listing, {"download": "submissions.csv"}))
        assert csv.startswith('\ufeff"submission","state",')
        assert "'=1+1" in csv, "no spreadsheet takes it for a formula"


def test_a_round_of_a_hidden_corpus_links_no_page_of_it(client: Client) -> None:
    version = small_version()
    version.corpus.is_public = True
    version.corpus.save()
    round = open_round(version, references="hidden")
    client.force_login(team_with_member(round.challenge)[1])
    assert reverse("corpus", args=[version.corpus.slug]) not in text_of(
        client.get(address("round", round))
    )
