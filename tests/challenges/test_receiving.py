"""What is taken in, what is refused, and that a refusal leaves nothing behind."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations import orphans
from annotations.models import AuditEntry
from annotations.site_identity import MARKER
from leaderboard.challenges import uploads
from leaderboard.challenges.actions.receiving import NotTaken, receive
from leaderboard.challenges.actions.teams import found, join
from leaderboard.challenges.models import LogLine, Round, Submission, Team
from leaderboard.challenges.prompts.spec import canonical, read_prompt
from tests.campaigns.sets import made_campaign, made_raters, made_user
from tests.challenges.sets import (
    good_file,
    open_challenge,
    open_round,
    submit,
    team_with_member,
    upload_of,
)
from tests.stored_uploads import files_below, stored_path

pytestmark = pytest.mark.django_db

DETAILS = {"track": "gpu", "name": "bicycle", "description": "fine-tuned"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings) -> None:
    files_below(settings, tmp_path / "files")


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge)[0]


def member(team: Team):
    return team.members.get().user


def files_left() -> list[str]:
    files = (path for path in settings.UPLOAD_FOLDER.rglob("*") if path.is_file())
    return sorted(str(path.parent.name) for path in files if path.name != MARKER)


def refusal(
    round: Round, team: Team, user=None, data: bytes = b"one line\n", **details: str
) -> str:
    """The code of the refusal, once it is sure that nothing was stored."""
    before = Submission.objects.count()
    files_before = files_left()
    with pytest.raises(NotTaken) as refused:
        receive(round, team, user or member(team), upload=upload_of(data), **{**DETAILS, **details})
    assert refused.value.message
    assert Submission.objects.count() == before
    assert files_left() == files_before
    return refused.value.code


def test_an_upload_becomes_a_submission_with_its_file_its_place_and_its_log(
    round: Round, team: Team
) -> None:
    data = good_file(round.version)
    received = receive(
        round, team, member(team), upload=upload_of(data, "answers.jsonl"), **DETAILS
    )
    stored = Submission.objects.get(pk=received.submission.pk)
    assert received.is_new
    assert (stored.state, stored.kind, stored.track, stored.version) == (
        "received",
        "responses",
        "gpu",
        round.version,
    )
    assert (stored.file_name, stored.size, stored.sha256) == (
        "answers.jsonl",
        len(data),
        hashlib.sha256(data).hexdigest(),
    )
    assert stored_path(stored).read_bytes() == data
    assert (stored.day, stored.day_place, stored.total_place) == (timezone.now().date(), 1, 1)
    assert LogLine.objects.filter(submission=stored).count() == 1
    assert files_left() == ["uploads"]


def test_who_handed_in_what_is_in_the_audit_log(round: Round, team: Team) -> None:
    submission = submit(round, team)
    entry = AuditEntry.objects.get(action="submission.received")
    assert (entry.actor, entry.challenge) == (member(team).username, round.challenge.slug)
    assert entry.details["sha256"] == submission.sha256


def test_a_prompt_is_a_submission_of_another_kind(round: Round, team: Team) -> None:
    assert submit(round, team, data=b"{}", track="prompt").kind == "prompt"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"opens_at": timedelta(hours=1)}, "upcoming"),
        ({"closes_at": timedelta(hours=-1)}, "closed"),
        ({"tracks": ["prompt"]}, "track"),
    ],
)
def test_a_round_takes_only_what_is_open(round: Round, team: Team, fields: dict, code: str) -> None:
    now = timezone.now()
    given = {
        name: now + value if isinstance(value, timedelta) else value
        for name, value in fields.items()
    }
    Round.objects.filter(pk=round.pk).update(**given)
    assert refusal(round, team) == code


@pytest.mark.parametrize(("references", "may"), [("hidden", False), ("public", True)])
def test_who_rates_a_corpus_that_a_later_round_hides_hands_in_no_more(
    client: Client, references: str, may: bool
) -> None:
    campaign = made_campaign()
    rater, colleague = made_raters(campaign, 1)[0].user, made_user()
    challenge = open_challenge()
    team = found(challenge, rater, "Lake")
    join(team.invitation, colleague)
    round = open_round(campaign.version, challenge, references=references)
    if may:
        assert submit(round, team, rater).pk
        return
    assert refusal(round, team, rater) == "rater"
    client.force_login(rater)
    text = client.get(reverse("round", args=[challenge.slug, round.slug])).content.decode()
    assert "You have seen them, and cannot submit." in text
    assert submit(round, team, colleague).pk


@pytest.mark.parametrize(("state", "code"), [("draft", "upcoming"), ("closed", "closed")])
def test_a_challenge_that_is_not_open_takes_nothing(
    round: Round, team: Team, state: str, code: str
) -> None:
    round.challenge.state = state
    round.challenge.save()
    assert refusal(round, team) == code


@pytest.mark.parametrize("track", ["", "cpu", "gpu\0", "GPU"])
def test_a_track_that_there_is_not_is_refused(round: Round, team: Team, track: str) -> None:
    assert refusal(round, team, track=track) == "track"


def test_only_members_hand_in_for_a_team(round: Round, team: Team) -> None:
    assert refusal(round, team, user=made_user()) == "not_member"


def test_a_team_of_another_challenge_hands_in_nothing(round: Round) -> None:
    other, user = team_with_member(open_round().challenge)
    assert refusal(round, other, user=user) == "not_member"


def test_a_disqualified_team_reads_why(round: Round, team: Team) -> None:
    Team.objects.filter(pk=team.pk).update(
        disqualified_at=timezone.now(), disqualification="trained on the test set"
    )
    with pytest.raises(NotTaken, match="trained on the test set") as refused:
        submit(round, team)
    assert refused.value.code == "disqualified"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 and so on", "not_text"),
        (b"\x1f\x8b\x08\x00", "not_text"),
        (b"%PDF-1.7", "not_text"),
        (b"\x7fELF\x02", "not_text"),
        (b"MZ\x90\x00\x03", "not_text"),
        (b"\x89PNG\r\n", "not_text"),
        (b'{"dialog_id": "1"\x00}', "not_text"),
        ("dialog_id".encode("utf-16"), "not_text"),
    ],
)
def test_what_is_no_text_is_refused_by_its_first_bytes(
    round: Round, team: Team, data: bytes, code: str
) -> None:
    assert refusal(round, team, data=data) == code


def test_a_text_that_begins_like_a_program_is_a_text(round: Round, team: Team) -> None:
    assert submit(round, team, data=b"MZ is how this text begins").state == "received"


def test_a_file_above_the_limit_is_refused(round: Round, team: Team, settings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    assert refusal(round, team, data=b"12345678901") == "too_large"
    assert submit(round, team, data=b"1234567890").size == 10


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b", "a\u202eb", "a\nb", "\ud800"])
def test_a_name_that_cannot_be_read_is_refused(round: Round, team: Team, name: str) -> None:
    assert refusal(round, team, name=name) == "name"


@pytest.mark.parametrize("description", ["x" * 2001, "a\0b", "\ud800"])
def test_a_description_that_cannot_be_stored_is_refused(
    round: Round, team: Team, description: str
) -> None:
    assert refusal(round, team, description=description) == "description"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\answers\\mine.csv", "mine.csv"),
        ("a\u202egpj.exe", "agpj.exe"),
        ("a\r\nb.csv", "ab.csv"),
        ("x" * 300 + ".jsonl", "x" * 194 + ".jsonl"),
        ("", "unnamed"),
        (None, "unnamed"),
    ],
)
def test_a_file_name_is_for_reading_only(given: str | None, read: str) -> None:
    assert uploads.readable_name(given) == read


# --- the same bytes -------------------------------------------------------------------------------


def test_the_same_bytes_again_are_the_submission_that_is_known(round: Round, team: Team) -> None:
    first = submit(round, team, data=b"the same")
    again = receive(round, team, member(team), upload=upload_of(b"the same"), **DETAILS)
    assert (again.submission, again.is_new) == (first, False)
    assert Submission.objects.count() == 1
    assert files_left() == ["uploads"]


def test_the_same_bytes_are_recognised_after_the_round_has_closed(round: Round, team: Team) -> None:
    first = submit(round, team, data=b"the same")
    Round.objects.filter(pk=round.pk).update(closes_at=timezone.now() - timedelta(seconds=1))
    assert submit(round, team, data=b"the same") == first


def test_the_same_prompt_is_known_however_its_file_is_laid_out(round: Round, team: Team) -> None:
    first = submit(round, team, data=b'{"user": "{history}", "system": ""}', track="prompt")
    again = submit(
        round, team, data=b'{\n "settings": {"seed": 0},\r\n "user": "{history}"}\n', track="prompt"
    )
    assert again == first
    stored = stored_path(first).read_bytes()
    assert (stored, first.size) == (canonical(read_prompt(b'{"user": "{history}"}')), len(stored))
    assert first.sha256 == hashlib.sha256(stored).hexdigest()
    assert files_left() == ["uploads"]


def test_a_prompt_that_cannot_be_read_stays_as_it_came(round: Round, team: Team) -> None:
    broken = b'{"user": "{nobody}"}  '
    assert stored_path(submit(round, team, data=broken, track="prompt")).read_bytes() == broken


def test_the_same_bytes_in_another_track_are_another_submission(round: Round, team: Team) -> None:
    assert submit(round, team, data=b"the same") != submit(
        round, team, data=b"the same", track="prompt"
    )


def test_what_ended_without_a_score_may_be_handed_in_again(round: Round, team: Team) -> None:
    first = submit(round, team, data=b"the same")
    places = {"day_place": None, "total_place": None}
    Submission.objects.filter(pk=first.pk).update(
        state="invalid", ended_at=timezone.now(), **places
    )
    again = submit(round, team, data=b"the same")
    assert again != first
    assert again.twin is None  # a twin is another team's


def test_the_same_bytes_of_another_team_are_noted(round: Round, team: Team) -> None:
    first = submit(round, team, data=b"the same")
    other, _ = team_with_member(round.challenge)
    second = submit(round, other, data=b"the same")
    assert second.twin == first
    assert first.twin is None


# --- files ----------------------------------------------------------------------------------------


def test_a_file_that_django_kept_in_memory_is_hashed_too() -> None:
    upload = uploads.uploaded(SimpleUploadedFile("a.csv", b"abc"))
    assert (upload.size, upload.sha256) == (3, hashlib.sha256(b"abc").hexdigest())
    assert upload.path.read_bytes() == b"abc"


def test_files_without_a_row_are_taken_away_after_an_hour(round: Round, team: Team) -> None:
    kept = submit(round, team)
    upload_of(b"the client vanished")
    lost = upload_of(b"the process died before its commit")
    uploads.move_in(lost)
    now = timezone.now().timestamp()
    orphans.collect(now + 3500)
    assert files_left() == ["incoming", "uploads", "uploads"]
    orphans.collect(now + 3700)
    assert stored_path(kept).exists()
    assert files_left() == ["uploads", "uploads"]  # one of them in quarantine
    orphans.collect(now + 3700 + 9 * 24 * 3600)
    assert files_left() == ["uploads"]


def test_a_round_that_is_deleted_while_the_file_comes_takes_nothing(
    round: Round, team: Team
) -> None:
    Round.objects.filter(pk=round.pk).delete()
    assert refusal(round, team) == "round"


def test_a_team_that_is_gone_when_the_file_is_there_hands_in_nothing(
    round: Round, team: Team
) -> None:
    user = member(team)
    Team.objects.filter(pk=team.pk).delete()
    assert refusal(round, team, user) == "not_member"
