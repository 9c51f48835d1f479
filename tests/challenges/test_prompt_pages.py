"""The page on which prompts are written: what it shows to whom, what it refuses, and that nothing
hidden is on it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.challenges import uploads
from leaderboard.challenges.models import Submission
from leaderboard.challenges.prompts.spec import canonical, read_prompt
from tests.campaigns.sets import made_user
from tests.challenges.prompted import PROMPT, prompt_endpoint, prompt_round
from tests.challenges.sets import open_round, small_version, submit, taken_in, team_with_member
from tests.stored_uploads import stored_path

pytestmark = pytest.mark.django_db
WRITTEN = {"name": "my prompt", "system": "You are: {persona}", "user": "{history}\r\nB:"}


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


def address(round: Any, ending: str = "") -> str:
    return f"/challenges/{round.challenge.slug}/rounds/{round.slug}/prompt/{ending}"


def member_of(round: Any) -> Client:
    client = Client()
    client.force_login(team_with_member(round.challenge)[1])
    return client


def files_left() -> list[str]:
    return [path.name for path in uploads.incoming_folder().iterdir()]


# --- who sees it ----------------------------------------------------------------------------------


def test_who_is_not_logged_in_is_led_to_the_log_in_page_and_back() -> None:
    round = open_round()
    response = Client().get(address(round))
    assert response.url == f"/accounts/login/?next={address(round)}"
    assert Client().post(address(round), WRITTEN).url == f"/accounts/login/?next={address(round)}"
    assert (
        Client().post(address(round, "try/"), WRITTEN).url
        == f"/accounts/login/?next={address(round)}"
    )


def test_a_round_without_the_track_has_no_such_page() -> None:
    round = open_round(tracks=["gpu"])
    client = member_of(round)
    assert client.get(address(round)).status_code == 404
    assert client.post(address(round, "try/"), WRITTEN).status_code == 404


def test_who_has_no_team_may_look_and_not_hand_in() -> None:
    round = open_round()
    client = Client()
    client.force_login(made_user("nobody", "participant"))
    page = client.get(address(round)).content.decode()
    assert "Create a team" in page
    assert "Submit the file" not in page
    assert client.post(address(round), WRITTEN).status_code == 403
    assert Submission.objects.count() == 0


def test_the_page_shows_limits_and_what_was_used() -> None:
    with prompt_endpoint() as stub:
        round = prompt_round(stub, small_version(1, 2), input_price=100, output_price=1000)
        team, user = team_with_member(round.challenge)
        taken_in(submit(round, team, user, json.dumps(PROMPT).encode(), track="prompt"))
    client = Client()
    client.force_login(user)
    page = " ".join(client.get(address(round)).content.decode().split())
    assert ">10,000<small>at most, in a dialogue" in page
    assert ">1,000<small>at most, in a dialogue" in page
    # two calls of 20 + 5 tokens: (40 × 100 + 10 × 1,000) / 1,000,000 = 0.014 USD
    assert "40 tokens in, 10 out, 0.014 USD" in page
    assert '4 <span class="of">of 5' in page


# --- handing in -----------------------------------------------------------------------------------


def test_what_is_written_becomes_a_submission_with_canonical_bytes() -> None:
    round = open_round()
    client = member_of(round)
    settings = {
        "temperature": "0.2",
        "top_p": "1",
        "max_tokens": "50",
        "seed": "7",
        "stop": "\\n\r\nA:",
    }
    response = client.post(address(round), {**WRITTEN, **settings, "description": "first try"})
    submission = Submission.objects.get()
    assert response.url == f"/submissions/{submission.public_id}/"
    assert (submission.kind, submission.track, submission.name) == ("prompt", "prompt", "my prompt")
    assert (submission.description, submission.file_name) == ("first try", "prompt.json")
    wanted = {
        "system": "You are: {persona}",
        "user": "{history}\nB:",
        "settings": {
            "temperature": 0.2,
            "top_p": 1.0,
            "max_tokens": 50,
            "stop": ["\n", "A:"],
            "seed": 7,
        },
    }
    assert json.loads(stored_path(submission).read_bytes()) == wanted
    assert stored_path(submission).read_bytes() == canonical(
        read_prompt(json.dumps(wanted).encode())
    )


def test_a_file_and_the_form_give_the_same_bytes_so_the_second_is_recognised() -> None:
    round = open_round()
    client = member_of(round)
    client.post(address(round), WRITTEN)
    file = SimpleUploadedFile(
        "mine.json", b'{"user":"{history}\\nB:","system":"You are: {persona}"}'
    )
    response = client.post(
        address(round), {"from_file": "1", "file-name": "again", "file-file": file}, follow=True
    )
    assert Submission.objects.count() == 1
    assert "the same prompt before, as my prompt" in response.content.decode()
    assert files_left() == []


def test_a_second_call_is_part_of_it() -> None:
    round = open_round()
    member_of(round).post(address(round), {**WRITTEN, "second_user": "Better: {first_answer}"})
    document = json.loads(stored_path(Submission.objects.get()).read_bytes())
    assert document["second"] == {"system": "", "user": "Better: {first_answer}"}


def test_a_round_of_one_call_has_no_fields_for_a_second_and_takes_none() -> None:
    round = open_round(calls_per_utterance=1)
    client = member_of(round)
    assert "second_user" not in client.get(address(round)).content.decode()
    client.post(address(round), {**WRITTEN, "second_user": "x"})
    assert "second" not in json.loads(stored_path(Submission.objects.get()).read_bytes())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"user": ""}, "This field is required."),
        ({"user": " \r\n"}, "Is empty."),
        ({"user": "{name}"}, "There is no placeholder {name}"),
        ({"system": "a\0b"}, "Holds a NUL character (character 2)."),
        ({"user": "x" * 20_001}, "Has 20,001 characters; at most 20,000 are allowed."),
        ({"temperature": "3"}, "Must lie between 0 and 2."),
        ({"temperature": "nan"}, "Enter a number."),
        ({"max_tokens": "1.5"}, "Enter a whole number."),
        ({"seed": "-1"}, "Must lie between 0 and 2,147,483,647."),
        ({"stop": "a\nb\nc\nd\ne"}, "Has 5 entries; at most 4 are allowed."),
        ({"second_system": "x"}, "Is empty."),
        ({"name": ""}, "This field is required."),
        ({"name": "‮evil"}, "The name holds characters that cannot be seen."),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_stored(
    changes: dict[str, str], words: str
) -> None:
    round = open_round()
    response = member_of(round).post(address(round), {**WRITTEN, **changes})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert Submission.objects.count() == 0
    assert files_left() == []


def test_what_was_written_stays_where_it_is_wrong_and_is_only_text() -> None:
    round = open_round()
    hostile = "<script>alert(1)</script>\"'></textarea><b>{name}"
    page = member_of(round).post(address(round), {**WRITTEN, "user": hostile}).content.decode()
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;b&gt;{name}" in page


def test_a_file_s_problems_are_told_all_at_once() -> None:
    round = open_round()
    file = SimpleUploadedFile("mine.json", b'{"uzer": "<b>", "settings": {"seed": 1.5}}')
    response = member_of(round).post(
        address(round), {"from_file": "1", "file-name": "x", "file-file": file}
    )
    page = " ".join(response.content.decode().split())
    assert response.status_code == 422
    assert "<code>$.uzer</code> is not a field of this format" in page
    assert "<code>$.user</code> is missing" in page
    assert "<code>$.settings.seed</code> must be a whole number, not a fraction" in page
    assert Submission.objects.count() == 0
    assert files_left() == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04\0\0", "holds a NUL byte"),
        (b"x" * 1_000_001, "at most 1,000,000"),
        (b"[" * 1000, "is nested more than 20 levels deep"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused(data: bytes, words: str) -> None:
    round = open_round()
    file = SimpleUploadedFile("mine.json", data)
    response = member_of(round).post(
        address(round), {"from_file": "1", "file-name": "x", "file-file": file}
    )
    assert response.status_code == 422
    assert words in response.content.decode()
    assert Submission.objects.count() == 0


def test_without_a_file_one_is_asked_for() -> None:
    round = open_round()
    response = member_of(round).post(address(round), {"from_file": "1", "file-name": "x"})
    assert response.status_code == 422
    assert "This field is required." in response.content.decode()


def test_a_used_up_limit_is_told_and_nothing_is_stored() -> None:
    round = open_round(daily_limit=1)
    client = member_of(round)
    client.post(address(round), WRITTEN)
    response = client.post(address(round), {**WRITTEN, "system": "Another."})
    assert response.status_code == 409
    assert Submission.objects.count() == 1
    assert files_left() == []
    assert "Your team has used its attempts of today" in client.get(address(round)).content.decode()


def test_a_closed_round_takes_none_and_shows_why() -> None:
    round = open_round(closes_at=timezone.now() - timedelta(hours=1))
    client = member_of(round)
    assert "This round closed" in client.get(address(round)).content.decode()
    assert client.post(address(round), WRITTEN).status_code == 409


# --- looking at it --------------------------------------------------------------------------------


def test_the_preview_is_the_first_turn_of_a_public_round() -> None:
    round = open_round(small_version(2, 2))
    page = (
        member_of(round)
        .post(address(round, "try/"), WRITTEN, headers={"HX-Request": "true"})
        .content.decode()
    )
    first = round.version.dialogues.get(position=0).turns.get(number=0)
    assert "You are: I have 2 bicycles.\nI live by a lake." in page
    assert f"A: {first.context[0][1]}\nB:" in page
    assert "At the first turn of the first dialogue." in page
    assert "<html" not in page


def test_the_preview_of_a_hidden_round_is_made_up() -> None:
    round = open_round(small_version(2, 2), references="hidden")
    page = member_of(round).post(address(round, "try/"), WRITTEN).content.decode()
    assert "Is that a clock you are carrying through the rain?" in page
    assert "made-up dialogue" in page
    assert "bicycles" not in page


def test_the_preview_before_the_opening_is_made_up_too() -> None:
    round = open_round(opens_at=timezone.now() + timedelta(hours=1))
    page = member_of(round).post(address(round, "try/"), WRITTEN).content.decode()
    assert "made-up dialogue" in page
    assert "bicycles" not in page


def test_the_preview_of_two_calls_shows_both() -> None:
    round = open_round(references="hidden")
    sent = {**WRITTEN, "second_user": "Better: {first_answer}"}
    page = (
        member_of(round)
        .post(address(round, "try/"), sent, headers={"HX-Request": "true"})
        .content.decode()
    )
    assert "Call 2" in page
    assert "Better: [the first answer]" in page


def test_the_preview_says_what_is_wrong_and_needs_no_name() -> None:
    round = open_round()
    client = member_of(round)
    sent = {"user": "{name}"}
    page = client.post(
        address(round, "try/"), sent, headers={"HX-Request": "true"}
    ).content.decode()
    assert "There is no placeholder {name}" in page
    assert "required" not in page


def test_looking_stores_nothing_and_calls_nobody() -> None:
    with prompt_endpoint() as stub:
        round = prompt_round(stub)
        member_of(round).post(address(round, "try/"), WRITTEN)
        assert stub.asked == []
    assert Submission.objects.count() == 0


def test_the_prompt_can_be_had_as_json_and_handed_in_as_it_is() -> None:
    round = open_round()
    client = member_of(round)
    response = client.post(address(round), {**WRITTEN, "name": "", "download": "1"})
    assert response["Content-Disposition"] == 'attachment; filename="prompt.json"'
    assert read_prompt(response.content).first.user == "{history}\nB:"
    assert Submission.objects.count() == 0


def test_an_earlier_prompt_can_be_gone_on_from_by_its_team_alone() -> None:
    round = open_round()
    client = member_of(round)
    client.post(address(round), {**WRITTEN, "stop": "\\n", "second_user": "Again: {first_answer}"})
    known = Submission.objects.get().public_id
    page = client.get(f"{address(round)}?from={known}").content.decode()
    assert "Again: {first_answer}" in page
    assert ">\n\\n</textarea>" in page
    assert member_of(round).get(f"{address(round)}?from={known}").status_code == 404
    assert client.get(f"{address(round)}?from=nonsense%00").status_code == 404


def test_going_on_from_what_is_no_prompt_begins_with_the_starting_text() -> None:
    round = open_round()
    team, user = team_with_member(round.challenge)
    broken = submit(round, team, user, b'{"user": 7}', track="prompt", name="broken")
    client = Client()
    client.force_login(user)
    page = client.get(f"{address(round)}?from={broken.public_id}").content.decode()
    assert "That prompt cannot be read" in page
    assert 'value="broken"' in page
    responses = submit(round, team, user)
    assert client.get(f"{address(round)}?from={responses.public_id}").status_code == 404


@pytest.mark.parametrize("method", ["put", "delete"])
def test_other_methods_are_refused(method: str) -> None:
    round = open_round()
    assert getattr(member_of(round), method)(address(round)).status_code == 405
    assert member_of(round).get(address(round, "try/")).status_code == 405
