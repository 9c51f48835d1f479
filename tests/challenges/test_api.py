"""Challenges over the API: who sees what, taking part, handing in, following, and what hidden
rounds keep."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from leaderboard.challenges.actions import judging
from leaderboard.challenges.api.documents import own_scores
from leaderboard.challenges.models import Round, Submission, Team
from leaderboard.challenges.uploads import incoming_folder
from tests.api_client import Program, all_items, program_of
from tests.campaigns.sets import made_user
from tests.challenges.boards import board_round, scored_with, team_of_one
from tests.challenges.sets import (
    computed,
    good_file,
    open_challenge,
    open_round,
    scored,
    small_version,
    submit,
    taken_in,
    team_with_member,
)

pytestmark = pytest.mark.django_db


def at(round: Round, part: str = "") -> str:
    return f"/challenges/{round.challenge.slug}/rounds/{round.slug}{part}"


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, "ada")[0]


@pytest.fixture
def ada(team: Team):
    return program_of(team.members.get().user, "read", "submit")


@pytest.fixture
def boss():
    return program_of(made_user("boss", "organiser"), "read", "submit", "organise")


# --- challenges and teams -------------------------------------------------------------------------


def test_drafts_are_organisers(boss: Program) -> None:
    open_challenge("shown")
    open_challenge("draft", state="draft")
    assert [one["slug"] for one in all_items(Program(), "/challenges")] == ["shown"]
    assert Program().get("/challenges/draft").status_code == 404
    assert [one["slug"] for one in all_items(boss, "/challenges", limit=1)] == ["draft", "shown"]


def test_a_challenge_says_its_rules_rounds_and_my_team(round: Round, ada: Program) -> None:
    document = ada.get(f"/challenges/{round.challenge.slug}").json()
    assert document["rules"] == "One account a person."
    (shown,) = document["rounds"]
    assert (shown["phase"], shown["dialogues"], shown["turns"]) == ("open", 3, 6)
    assert shown["attempts"]["day_left"] == 5
    assert document["team"]["members"] == ["ada"]
    nobody = Program().get(f"/challenges/{round.challenge.slug}").json()
    assert nobody["team"] is None
    assert nobody["rounds"][0]["attempts"] is None


def test_founding_and_joining_a_team(round: Round) -> None:
    slug = round.challenge.slug
    founder, other = program_of(made_user("bo")), program_of(made_user("cy"))
    made = founder.post(f"/challenges/{slug}/teams", {"name": "North"})
    assert made.status_code == 201
    team = made.json()
    assert team["members"] == ["bo"]
    joined = other.post(f"/challenges/{slug}/teams/join", {"invitation": team["invitation_url"]})
    assert joined.status_code == 200
    assert joined.json()["members"] == ["bo", "cy"]
    assert other.get(f"/challenges/{slug}/team").json()["id"] == team["id"]
    again = other.post(f"/challenges/{slug}/teams", {"name": "South"})
    assert (again.status_code, again.json()["code"]) == (409, "cannot_join")
    taken = program_of(made_user("di")).post(f"/challenges/{slug}/teams", {"name": "north"})
    assert (taken.status_code, taken.json()["errors"][0]["field"]) == (422, "body.name")
    assert Team.objects.count() == 1


def test_an_invitation_of_another_challenge_is_not_valid_here(round: Round) -> None:
    team, _ = team_with_member(open_round().challenge)
    asked = {"invitation": team.invitation}
    answer = program_of(made_user("bo")).post(
        f"/challenges/{round.challenge.slug}/teams/join", asked
    )
    assert answer.status_code == 422
    assert team.members.count() == 1


def test_an_invitation_is_shown_to_members_only(round: Round, team: Team, boss: Program) -> None:
    for program in (Program(), program_of(made_user("bo")), boss):
        answer = program.get(f"/challenges/{round.challenge.slug}")
        assert team.invitation.encode() not in answer.content


# --- handing in -----------------------------------------------------------------------------------


def test_a_file_is_received_and_the_same_bytes_are_known(round: Round, ada: Program) -> None:
    data = good_file(round.version)
    made = ada.upload(at(round, "/submissions"), data, name="first", description="what it is")
    assert made.status_code == 201
    document = made.json()
    assert (document["state"], document["name"], document["team"]) == (
        "received",
        "first",
        "Team of ada",
    )
    assert document["file"]["size"] == len(data)
    assert document["attempts"]["day_left"] == 4
    assert document["may_cancel"] is True
    again = ada.upload(at(round, "/submissions"), data, name="second")
    assert again.status_code == 200
    assert again.json()["id"] == document["id"]
    assert Submission.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "data", "status", "code"),
    [
        ({"opens_at": timezone.now() + timedelta(days=1)}, b"[]", 409, "upcoming"),
        ({"closes_at": timezone.now() - timedelta(days=1)}, b"[]", 409, "closed"),
        ({"tracks": ["prompt"]}, b"[]", 409, "track"),
        ({}, b"", 422, "empty"),
        ({}, b"PK\x03\x04" + b"0" * 50, 415, "not_text"),
    ],
)
def test_what_is_not_taken_says_why_and_is_not_stored(
    fields, data: bytes, status: int, code: str
) -> None:
    round = open_round(**fields)
    _, user = team_with_member(round.challenge)
    answer = program_of(user).upload(at(round, "/submissions"), data, name="x")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Submission.objects.exists()


def test_the_limit_of_the_day_is_a_409_and_not_a_rate(
    round: Round, team: Team, ada: Program
) -> None:
    for number in range(5):
        file = good_file(round.version, f"{number}")
        assert ada.upload(at(round, "/submissions"), file, name="x").status_code == 201
    refused = ada.upload(at(round, "/submissions"), good_file(round.version, "6"), name="x")
    assert (refused.status_code, refused.json()["code"]) == (409, "limit_day")
    assert ada.get(at(round)).json()["attempts"]["day_left"] == 0


def test_who_has_no_team_cannot_hand_in(round: Round) -> None:
    answer = program_of(made_user("bo")).upload(
        at(round, "/submissions"), good_file(round.version), name="x"
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "not_member")


def test_a_file_that_is_too_large_is_a_413(round: Round, ada: Program, settings) -> None:
    settings.MAX_UPLOAD_BYTES = 1000
    answer = ada.upload(at(round, "/submissions"), b"[" + b" " * 1_500_000 + b"]", name="x")
    assert answer.status_code == 413
    assert not Submission.objects.exists()


@pytest.mark.parametrize("name", ["", "a" * 81, "a\0b", "\u202eevil"])
def test_a_name_that_cannot_be_is_an_error_of_its_field(
    round: Round, ada: Program, name: str
) -> None:
    answer = ada.upload(at(round, "/submissions"), good_file(round.version), name=name)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "form.name"
    assert not Submission.objects.exists()


def test_a_form_without_a_file_or_of_another_type(round: Round, ada: Program) -> None:
    missing = ada.client.post(
        f"/api/v1{at(round, '/submissions')}", {"name": "x"}, headers=ada.headers
    )
    assert missing.status_code == 422
    assert missing.json()["errors"][0]["field"] == "form.file"
    wrong = ada.post(at(round, "/submissions"), {"name": "x"})
    assert wrong.status_code == 415


@pytest.mark.parametrize(
    ("more", "field"), [({"trak": "prompt"}, "form.trak"), ({"name": ["one", "two"]}, "form.name")]
)
def test_a_field_that_nobody_hears_is_an_error(
    round: Round, ada: Program, more: dict[str, Any], field: str
) -> None:
    form = {"name": "x", "file": SimpleUploadedFile("a.jsonl", good_file(round.version)), **more}
    answer = ada.client.post(f"/api/v1{at(round, '/submissions')}", form, headers=ada.headers)
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert not Submission.objects.exists()


def test_a_name_is_stored_in_the_form_in_which_it_is_imported_again(
    round: Round, ada: Program
) -> None:
    decomposed = "cafe\N{COMBINING ACUTE ACCENT}"
    assert (
        ada.upload(at(round, "/submissions"), good_file(round.version), name=decomposed).status_code
        == 201
    )
    assert Submission.objects.get().name == "caf\N{LATIN SMALL LETTER E WITH ACUTE}"


# --- following ------------------------------------------------------------------------------------


def test_the_way_from_received_to_a_rank(round: Round, team: Team, ada: Program) -> None:
    submission = submit(round, team)
    path = f"/submissions/{submission.public_id}"
    assert ada.get(path).json()["state"] == "received"
    submission = taken_in(submission)
    waiting = ada.get(path).json()
    assert (waiting["state"], waiting["progress"], waiting["scores"]) == (
        "scoring",
        {"done": 0, "total": 2},
        [],
    )
    computed(submission)
    done = ada.get(path).json()
    assert done["state"] == "scored"
    assert [score["metric"] for score in done["scores"]] == ["word_f1", "bleu_4"]
    assert done["scores"][0]["value"] is not None
    assert done["rank"] == 1
    assert done["times"]["ended_at"] is not None
    lines = all_items(ada, f"{path}/log", limit=1)
    assert lines[0]["text"].startswith("Received")
    assert lines[-1]["text"] == "Scored."


def test_the_report_of_an_invalid_file(round: Round, team: Team, ada: Program) -> None:
    submission = taken_in(
        submit(round, team, data=b'{"dialog_id": "file-0", "turn": 0, "response": 3}\n')
    )
    document = ada.get(f"/submissions/{submission.public_id}").json()
    assert document["state"] == "invalid"
    assert document["problems"]
    assert all(set(problem) == {"where", "field", "message"} for problem in document["problems"])


def test_a_submission_exists_for_its_team_and_organisers(
    round: Round, team: Team, ada: Program, boss: Program
) -> None:
    submission = scored(round, team)
    other = program_of(team_with_member(round.challenge, "bo")[1])
    path = f"/submissions/{submission.public_id}"
    assert ada.get(path).status_code == boss.get(path).status_code == 200
    for part in ("", "/log"):
        assert other.get(path + part).status_code == 404
        assert Program().get(path + part).status_code == 401
    assert other.post(f"{path}/cancel").status_code == 404
    for listed in ("/submissions", at(round, "/submissions")):
        assert all_items(other, listed) == []
        assert [one["id"] for one in all_items(ada, listed)] == [submission.public_id]
        assert [one["id"] for one in all_items(boss, listed)] == [submission.public_id]
    assert all_items(ada, "/submissions", state="failed") == []


def test_lines_for_organisers_are_theirs(
    round: Round, team: Team, ada: Program, boss: Program
) -> None:
    submission = submit(round, team)
    submission.log.create(text="an inner matter", for_organisers=True)
    path = f"/submissions/{submission.public_id}/log"
    assert b"inner" not in ada.get(path).content
    assert b"inner" in boss.get(path).content


def test_an_organiser_s_token_for_handing_in_cancels_nobody_else_s(
    round: Round, team: Team
) -> None:
    waiting = f"/submissions/{submit(round, team).public_id}"
    boss = made_user("boss", "organiser")
    refused = program_of(boss, "read", "submit").post(f"{waiting}/cancel")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope")
    allowed = program_of(boss, "submit", "organise").post(f"{waiting}/cancel")
    assert (allowed.status_code, allowed.json()["state"]) == (200, "cancelled")


def test_cancelling_trying_again_evaluating_anew(
    round: Round, team: Team, ada: Program, boss: Program
) -> None:
    submission = submit(round, team)
    path = f"/submissions/{submission.public_id}"
    assert ada.post(f"{path}/cancel").json()["state"] == "cancelled"
    twice = ada.post(f"{path}/cancel")
    assert (twice.status_code, twice.json()["code"]) == (409, "state")
    assert ada.post(f"{path}/retry").status_code == 403
    assert boss.post(f"{path}/retry").json()["state"] == "received"
    computed(taken_in(submission))
    assert boss.get(path).json()["state"] == "scored"
    round.metrics = [*round.metrics, "rouge_l"]
    round.save()
    assert boss.post(f"{path}/re-evaluate").json()["state"] == "scoring"
    assert ada.post(f"{path}/cancel").status_code == 409  # a score of it is there


# --- boards ---------------------------------------------------------------------------------------


def test_the_leaderboard_is_the_pages_document(round: Round, team: Team, ada: Program) -> None:
    submission = scored(round, team)
    board = ada.get(at(round, "/leaderboard")).json()
    (entry,) = board["entries"]
    assert (entry["submission"], entry["rank"], entry["own"]) == (submission.public_id, 1, True)
    assert len(entry["scores"]) == len(board["metrics"]) == 2
    assert Program().get(at(round, "/leaderboard")).json()["entries"][0]["own"] is False


def test_the_private_board_is_hidden_until_its_date(
    team: Team, round: Round, ada: Program, boss: Program
) -> None:
    round.public_share, round.release_at = 0.5, timezone.now() + timedelta(days=1)
    round.private_metrics = ["rouge_l"]
    round.save()
    submission = scored(round, team)
    unreleased = ada.get(at(round, "/leaderboard"), part="private").json()
    assert (unreleased["unreleased"], unreleased["entries"]) == (True, [])
    assert ada.get(at(round)).json()["private_metrics"] is None
    assert {
        score["part"] for score in ada.get(f"/submissions/{submission.public_id}").json()["scores"]
    } == {"public"}
    assert boss.get(at(round, "/leaderboard"), part="private").json()["entries"]
    assert ada.get(at(round, "/leaderboard")).json()["split"]["seed"] is None
    Round.objects.filter(pk=round.pk).update(release_at=timezone.now() - timedelta(seconds=1))
    assert ada.get(at(round, "/leaderboard"), part="private").json()["entries"]
    assert ada.get(at(round)).json()["private_metrics"] == ["rouge_l"]
    assert {
        score["part"] for score in ada.get(f"/submissions/{submission.public_id}").json()["scores"]
    } == {
        "public",
        "private",
    }


def test_a_disqualified_one_says_so_to_its_team(round: Round, team: Team, ada: Program) -> None:
    submission = scored(round, team)
    judging.disqualify(submission, "two accounts", made_user("judge", "organiser"))
    document = ada.get(f"/submissions/{submission.public_id}").json()
    assert document["disqualified"]["reason"] == "two accounts"
    assert document["rank"] is None
    assert Program().get(at(round, "/leaderboard")).json()["entries"] == []


# --- downloads, hidden references -----------------------------------------------------------------


def body(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_a_template_filled_in_is_taken(round: Round, ada: Program, form: str) -> None:
    template = body(ada.get(at(round, "/template"), format=form))
    assert b"file-0" in template
    made = ada.upload(at(round, "/submissions"), template, name="empty answers")
    assert made.status_code == 201


def test_files_of_a_hidden_round_are_teams(boss: Program) -> None:
    round = open_round(references="hidden")
    _, user = team_with_member(round.challenge)
    for part in ("/dialogues", "/template"):
        assert Program().get(at(round, part)).status_code == 401
        assert program_of(made_user(f"nobody{part[1:]}")).get(at(round, part)).status_code == 403
        assert program_of(user).get(at(round, part)).status_code == 200
        assert boss.get(at(round, part)).status_code == 200


def test_an_upcoming_round_keeps_its_files() -> None:
    round = open_round(references="hidden", opens_at=timezone.now() + timedelta(days=1))
    _, user = team_with_member(round.challenge)
    answer = program_of(user).get(at(round, "/dialogues"))
    assert (answer.status_code, answer.json()["code"]) == (409, "upcoming")


def test_a_hidden_round_names_no_corpus_and_its_corpus_does_not_exist(boss: Program) -> None:
    version = small_version()
    version.corpus.is_public = True
    version.corpus.save()
    round = open_round(version, references="hidden")
    team, user = team_with_member(round.challenge)
    member = program_of(user, "read", "submit", "export")
    scored(round, team)
    slug = version.corpus.slug
    assert member.get(at(round)).json()["corpus"] is None
    assert boss.get(at(round)).json()["corpus"] == slug
    for part in (
        "",
        "/systems",
        "/dialogues",
        "/dialogues/0",
        "/correlations",
        "/agreement",
        "/export",
    ):
        assert member.get(f"/corpora/{slug}{part}").status_code == 404, part
        assert Program().get(f"/corpora/{slug}{part}").status_code in (401, 404), part
    assert slug not in [one["slug"] for one in all_items(member, "/corpora")]
    answer = member.upload(f"/corpora/{slug}/metric-scores", b"x", name="m", level="turn")
    assert answer.status_code == 404


def test_systems_of_a_round_stand_in_no_corpus_before_they_are_published(
    round: Round, team: Team
) -> None:
    round.version.corpus.is_public = True
    round.version.corpus.save()
    submission = scored(round, team)
    slug, name = round.version.corpus.slug, submission.system.name
    program = program_of(made_user("bo"), "read", "export")
    paths = [
        f"/corpora/{slug}{part}"
        for part in ("/systems", "/dialogues/0", "/correlations", "/export")
    ]
    for path in paths:
        assert name.encode() not in body(program.get(path)), path
    judging.publish_systems(round, made_user("judge", "organiser"))
    shown = [path for path in paths[:3] if name.encode() in body(program.get(path))]
    assert shown == paths[:3]


def test_metric_scores_are_handed_in_and_compared() -> None:
    version = small_version(systems=("one", "two"))
    version.corpus.is_public = True
    version.corpus.save()
    rows = [{"system": name, "score": score} for name, score in (("one", 0.2), ("two", 0.4))]
    data = "\n".join(map(json.dumps, rows)).encode()
    user = made_user("bo")
    program = program_of(user)
    path = f"/corpora/{version.corpus.slug}/metric-scores"
    made = program.upload(
        path, data, "scores.jsonl", name="mine", level="system", link="https://example.org/"
    )
    assert made.status_code == 201, made.content
    assert (made.json()["kind"], made.json()["corpus"]) == ("scores", version.corpus.slug)
    taken_in(Submission.objects.get())
    scored = program.get(f"/submissions/{made.json()['id']}").json()
    assert (scored["state"], scored["rank_reason"]) == ("scored", "a metric's scores have no rank")
    wrong = program.upload(path, data, "scores.jsonl", name="bleu_4", level="system")
    assert wrong.status_code == 422


def test_the_same_metric_scores_again_are_known_and_with_another_direction_refused() -> None:
    version = small_version(systems=("one",))
    version.corpus.is_public = True
    version.corpus.save()
    program, path = program_of(made_user("bo")), f"/corpora/{version.corpus.slug}/metric-scores"
    data = b'{"system": "one", "score": 0.2}'
    made, again, turned = (
        program.upload(
            path, data, "scores.jsonl", name="mine", level="system", higher_is_better=higher
        )
        for higher in ("true", "true", "false")
    )
    assert (made.status_code, again.status_code, turned.status_code) == (201, 200, 409)
    assert again.json()["id"] == made.json()["id"]
    assert turned.json()["code"] == "known"
    assert "the same file before, as mine. Withdraw that metric" in turned.json()["detail"]


def test_nothing_is_left_of_a_file_that_was_refused(round: Round, ada: Program) -> None:
    outsider = program_of(made_user("bo"))
    data = good_file(round.version)
    assert outsider.upload(at(round, "/submissions"), data, name="x").status_code == 403
    assert ada.upload(at(round, "/submissions"), data, name="").status_code == 422
    assert ada.upload(at(round, "/submissions"), data, name="x", track="both").status_code == 422
    assert Program().upload(at(round, "/submissions"), data, name="x").status_code == 401
    Round.objects.update(closes_at=timezone.now())
    assert ada.upload(at(round, "/submissions"), data, name="x").status_code == 409
    assert list(incoming_folder().iterdir()) == []


def test_a_score_without_an_interval_says_why() -> None:
    """Of one dialogue: (0.4 + 0.6) / 2 = 0.5, and no second one to leave out."""
    round = board_round(dialogues=1)
    submission = scored_with(round, team_of_one(round, "Ours"), [0.4, 0.6])
    [score] = own_scores(submission, made_user("lead", "organiser"))
    assert (score["value"], score["ci"], score["reason"]) == (0.5, None, None)
    assert score["ci_reason"] == "an interval over dialogues needs at least 2 scored dialogues"
