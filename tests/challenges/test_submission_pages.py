"""The page of one submission, from its arrival to its rank: who sees it, what it says, and what it
never says."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.models import Response
from leaderboard.challenges.actions import work
from leaderboard.challenges.models import LogLine, Round, Submission, Team
from leaderboard.challenges.queries import submissions
from leaderboard.challenges.queries.submissions import metric_states, stages_of
from leaderboard.results.computing import compute_waiting
from tests.campaigns.sets import made_user
from tests.challenges.boards import around, board_round, scored_with, team_of_one
from tests.challenges.sets import (
    computed,
    good_file,
    open_round,
    scored,
    small_version,
    submit,
    taken_in,
    team_with_member,
)
from workers.models import MetricRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(round: Round) -> Team:
    return team_with_member(round.challenge, "ada", "Lake")[0]


def page_of(client: Client, submission: Submission, name: str = "submission", **more: Any) -> Any:
    return client.get(reverse(name, args=[submission.public_id]), **more)


def text_of(answer: Any) -> str:
    return b"".join(answer).decode() if answer.streaming else answer.content.decode()


def marks(submission: Submission) -> list[tuple[str, str]]:
    return [(stage.state, stage.mark) for stage in stages_of(submission)]


# --- what metrics read ----------------------------------------------------------------------------


def test_the_page_says_which_characters_metrics_read_as_others(
    round: Round, team: Team, member: Client
) -> None:
    one = taken_in(
        submit(round, team, data=good_file(round.version, "I don’t know, turn {turn}\u200b."))
    )
    said = text_of(page_of(member, one))
    assert "Curly quotes in 6 responses are read as straight ones by the metrics." in said
    assert "Invisible characters in 6 responses are passed over by the metrics." in said
    assert "Long dashes" not in said


# --- the stages -----------------------------------------------------------------------------------


def test_the_stages_of_a_file_from_its_arrival_to_its_score(round: Round, team: Team) -> None:
    one = submit(round, team)
    assert marks(one) == [
        ("received", "now"),
        ("validating", "later"),
        ("scoring", "later"),
        ("scored", "later"),
    ]
    one = taken_in(one)
    assert marks(one) == [
        ("received", "done"),
        ("validating", "done"),
        ("scoring", "now"),
        ("scored", "later"),
    ]
    one = computed(one)
    assert marks(one) == [
        ("received", "done"),
        ("validating", "done"),
        ("scoring", "done"),
        ("scored", "done"),
    ]


def test_the_stages_of_an_invalid_file_stop_at_the_check(round: Round, team: Team) -> None:
    one = taken_in(
        submit(round, team, data=b'{"dialog_id": "nobody", "turn": 0, "response": "x"}\n')
    )
    assert marks(one) == [("received", "done"), ("validating", "done"), ("invalid", "stopped")]
    assert [str(stage.label) for stage in stages_of(one)] == ["received", "checked", "invalid"]


def test_a_prompt_has_a_stage_of_being_run(round: Round, team: Team) -> None:
    one = submit(round, team, track="prompt", data=b'{"user": "{history}"}')
    assert [state for state, _ in marks(one)] == [
        "received",
        "validating",
        "generating",
        "scoring",
        "scored",
    ]


def test_one_cancelled_before_a_worker_came_was_only_received(round: Round, team: Team) -> None:
    one = submit(round, team)
    work.cancel(one, team.members.get().user)
    one.refresh_from_db()
    assert marks(one) == [("received", "done"), ("cancelled", "stopped")]


# --- what the page says ---------------------------------------------------------------------------


def test_while_it_is_at_work_the_page_asks_again_and_then_no_more(
    member: Client, round: Round, team: Team
) -> None:
    one = submit(round, team)
    again = f'hx-get="{reverse("submission-progress", args=[one.public_id])}"'
    assert again in text_of(page_of(member, one))
    assert again in text_of(page_of(member, taken_in(one), "submission-progress"))
    assert again not in text_of(page_of(member, computed(taken_in(one)), "submission-progress"))


def test_nothing_is_sent_while_nothing_has_changed(
    member: Client, round: Round, team: Team
) -> None:
    one = submit(round, team)
    (stamp,) = re.findall(
        r"X-Seen&quot;: &quot;([^&]+)|\"X-Seen\": \"([^\"]+)\"", text_of(page_of(member, one))
    )
    headers = {"X-Seen": "".join(stamp)}
    assert page_of(member, one, "submission-progress", headers=headers).status_code == 204
    taken_in(one)
    assert page_of(member, one, "submission-progress", headers=headers).status_code == 200


def test_each_finished_metric_is_news(member: Client, round: Round, team: Team) -> None:
    """2 metrics: none computed, then one of them."""
    one = taken_in(submit(round, team))
    assert "0 of 2" in text_of(page_of(member, one))
    assert [state for _, state in metric_states(one)] == ["pending", "pending"]
    MetricRun.objects.filter(system=one.system, configuration="word_f1").update(
        state="done", signature="s", system_score=0.5, finished_at=timezone.now()
    )
    assert "1 of 2" in text_of(page_of(member, one, "submission-progress"))


def test_the_open_page_hears_that_the_attempt_is_given_back(
    member: Client, round: Round, team: Team
) -> None:
    one = submit(round, team)
    assert re.search(r"<dd>1 of \d+ on", text_of(page_of(member, one)))
    work.cancel(one, team.members.get().user)
    news = text_of(page_of(member, one, "submission-progress"))
    assert 'id="submission-attempt" hx-swap-oob="true"' in news
    assert "not counted: it ended without a score" in news


def test_a_scored_one_has_its_rank(member: Client, round: Round, team: Team) -> None:
    """No other stands on the board."""
    page = text_of(page_of(member, scored(round, team)))
    assert "Rank 1" in page
    assert "of 1 on the public leaderboard" in page
    assert reverse("board", args=[round.challenge.slug, round.slug]) in page


def test_one_that_is_right_throughout_has_its_scores_and_in_a_few_dialogues_no_rank(
    member: Client, round: Round, team: Team
) -> None:
    """Every answer is the reference: word F1 is 1."""
    gold = "I went out by bicycle number {turn} in talk {dialogue}."
    data = good_file(round.version, gold).replace(b"talk file-", b"talk ")
    page = text_of(page_of(member, scored(round, team, data=data)))
    assert re.search(r"word_f1.*?1\.000", page, re.DOTALL)
    assert "No rank: no interval: the dialogues agree to the digit" in page


def test_a_metric_that_is_begun_or_fails_is_news_to_the_page(
    member: Client, round: Round, team: Team
) -> None:
    """Though no metric more is done than before."""
    one = taken_in(submit(round, team))
    run = MetricRun.objects.filter(system=one.system).earliest("pk")
    seen = {"X-Seen": re.findall(r'"X-Seen": "([^"]*)"', text_of(page_of(member, one)))[0]}
    claim = MetricRun.objects.claim(run.pk)
    assert claim is not None
    answer = page_of(member, one, "submission-progress", headers=seen)
    assert answer.status_code == 200
    assert "running" in text_of(answer)


@pytest.mark.by_workers
def test_while_the_board_is_being_computed_it_asks_on_until_its_rank_is_there(
    member: Client, round: Round, team: Team
) -> None:
    one = scored(round, team)
    page = text_of(page_of(member, one))
    assert "Its rank is being computed." in page
    assert 'hx-trigger="every 2s"' in page
    seen = {"X-Seen": re.findall(r'"X-Seen": "([^"]*)"', page)[0]}
    assert page_of(member, one, "submission-progress", headers=seen).status_code == 204
    compute_waiting()
    news = text_of(page_of(member, one, "submission-progress", headers=seen))
    assert "Rank 1" in news
    assert "hx-trigger" not in news


@pytest.mark.by_workers
def test_a_board_that_is_computed_while_the_page_is_written_is_news_to_that_page(
    member: Client, round: Round, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the page would say for ever that its rank is being computed."""
    one, standing_of = scored(round, team), submissions.standing_of

    def and_then_it_is_computed(*arguments: Any) -> Any:
        found = standing_of(*arguments)
        compute_waiting()
        return found

    monkeypatch.setattr(submissions, "standing_of", and_then_it_is_computed)
    page = text_of(page_of(member, one))
    assert "Its rank is being computed." in page
    seen = {"X-Seen": re.findall(r'"X-Seen": "([^"]*)"', page)[0]}
    assert "Rank 1" in text_of(page_of(member, one, "submission-progress", headers=seen))


def test_the_second_best_of_a_team_points_to_its_best(
    member: Client, round: Round, team: Team
) -> None:
    data = good_file(
        round.version, "I went out by bicycle number {turn} in talk {dialogue}."
    ).replace(b"file-", b"")
    data = data.replace(b'"dialog_id": "', b'"dialog_id": "file-')
    best = scored(round, team, data=data)
    worse = scored(round, team, data=good_file(round.version, "Hm."))
    page = text_of(page_of(member, worse))
    assert "Another submission of your team is on the board" in page
    assert reverse("submission", args=[best.public_id]) in page


@pytest.mark.parametrize(("share", "word"), [(1.0, "best"), (0.0, "latest")])
def test_what_stands_for_the_team_is_called_what_it_is(
    client: Client, share: float, word: str
) -> None:
    """A board that counts nothing shows each team's latest; a baseline or a disqualified one stands
    for nobody."""
    round = board_round(public_share=share)
    team = team_of_one(round, "Lake")
    baseline = scored_with(round, team, around(0.9), is_baseline=True)
    cheated = scored_with(
        round, team, around(0.8), 1, disqualified_at=timezone.now(), disqualification="Copied."
    )
    low, high = (
        scored_with(round, team, around(score), hours) for score, hours in ((0.3, 2), (0.5, 3))
    )
    client.force_login(team.members.get().user)
    page = text_of(page_of(client, low))
    assert f"Another submission of your team is on the board: its {word}." in page
    linked = [
        reverse("submission", args=[one.public_id]) in page for one in (baseline, cheated, high)
    ]
    assert linked == [False, False, True]


def test_before_the_release_only_the_public_part_is_shown(client: Client) -> None:
    """4 dialogues of 2 turns, half of them public: 4 of the 8 turns are counted."""
    round = open_round(
        small_version(dialogues=4),
        public_share=0.5,
        private_metrics=["rouge_l"],
        release_at=timezone.now().replace(year=2099),
    )
    team, user = team_with_member(round.challenge)
    one = scored(round, team)
    client.force_login(user)
    page = text_of(page_of(client, one))
    assert "4 / 4" in page
    assert "private-scores" not in page
    assert "rouge_l" not in page
    client.force_login(made_user("", "organiser"))
    assert "rouge_l" in text_of(page_of(client, one))
    Round.objects.update(release_at=timezone.now())
    client.force_login(user)
    assert "rouge_l" in text_of(page_of(client, one))


def test_a_round_that_shows_nothing_before_the_release_says_when(client: Client) -> None:
    round = open_round(public_share=0.0, release_at=timezone.now().replace(year=2099))
    team, user = team_with_member(round.challenge)
    client.force_login(user)
    page = text_of(page_of(client, scored(round, team)))
    assert "shows no scores before the release" in page
    assert "2099" in page
    assert "/ 6" not in page


def test_an_invalid_one_has_a_report_to_read_and_to_download(
    member: Client, round: Round, team: Team
) -> None:
    data = good_file(round.version).replace(b'"dialog_id": "file-0"', b'"dialog_id": "=cmd()"')
    one = taken_in(submit(round, team, data=data))
    page = text_of(page_of(member, one))
    assert "line 1" in page
    assert "Fix the file and submit again" in page
    assert "5 attempts left today" in page, "an invalid one is not counted"
    csv = text_of(page_of(member, one, data={"download": "problems.csv"}))
    assert csv.splitlines()[0] == '\ufeff"where","field","message"'
    assert not any(
        cell.strip('"').startswith("=") for line in csv.splitlines() for cell in line.split(",")
    )


def test_a_failed_one_says_why(member: Client, round: Round, team: Team) -> None:
    one = submit(round, team)
    Submission.objects.owned(Submission.objects.claim(one.pk)).fail("the <b>moon</b> was away")
    page = text_of(page_of(member, one))
    assert "the &lt;b&gt;moon&lt;/b&gt; was away" in page
    assert "not counted" in page


def test_lines_for_organisers_are_for_organisers(client: Client, round: Round, team: Team) -> None:
    one = submit(round, team)
    LogLine.write(one.pk, "only for you", for_organisers=True)
    client.force_login(team.members.get().user)
    assert "only for you" not in text_of(page_of(client, one))
    client.force_login(made_user("", "organiser"))
    assert "only for you" in text_of(page_of(client, one))


@pytest.mark.parametrize(
    ("state", "buttons"), [("received", "cancel"), ("failed", "retry"), ("scored", "re-evaluate")]
)
def test_the_buttons_follow_state_and_role(
    client: Client, round: Round, team: Team, state: str, buttons: str
) -> None:
    one = scored(round, team) if state == "scored" else submit(round, team)
    if state == "failed":
        Submission.objects.owned(Submission.objects.claim(one.pk)).fail("no luck")
    button = f'action="{reverse(f"submission-{buttons}", args=[one.public_id])}"'
    client.force_login(made_user("", "organiser"))
    assert button in text_of(page_of(client, one))
    client.force_login(team.members.get().user)
    assert (button in text_of(page_of(client, one))) is (buttons == "cancel")


@pytest.mark.parametrize(
    ("button", "judged"),
    [("submission-disqualify", ("copied", False)), ("submission-baseline", ("", True))],
)
def test_organisers_judge_on_the_submission_itself(
    client: Client, round: Round, team: Team, button: str, judged: tuple[str, bool]
) -> None:
    one = submit(round, team)
    address = f'action="{reverse(button, args=[one.public_id])}"'
    client.force_login(team.members.get().user)
    assert address not in text_of(page_of(client, one))
    client.force_login(made_user("", "organiser"))
    assert address in text_of(page_of(client, one))
    answer = client.post(
        reverse(button, args=[one.public_id]),
        {"reason": "copied", "is_baseline": "yes", "back": ""},
    )
    assert answer["Location"] == reverse("submission", args=[one.public_id])
    one.refresh_from_db()
    assert (one.disqualification, one.is_baseline) == judged


def test_another_prompt_begins_with_this_one(client: Client, round: Round, team: Team) -> None:
    one = submit(round, team, data=b'{"user": "{history} as Ada would"}', track="prompt")
    Submission.objects.owned(Submission.objects.claim(one.pk)).fail("no luck")
    client.force_login(team.members.get().user)
    again = f"{reverse('prompt-new', args=[round.challenge.slug, round.slug])}?from={one.public_id}"
    assert f'href="{again}"' in text_of(page_of(client, one))
    assert "as Ada would" in client.get(again).content.decode()


# --- who sees it ----------------------------------------------------------------------------------

NAMES = ("submission", "submission-progress", "submission-file")


@pytest.mark.parametrize("name", NAMES)
def test_it_exists_for_its_team_and_organisers_only(
    client: Client, round: Round, team: Team, name: str
) -> None:
    one = submit(round, team)
    other = team_with_member(round.challenge, name="Hill")[1]
    outcomes = {}
    for who in (None, made_user(), other, team.members.get().user, made_user("", "organiser")):
        client.logout()
        if who is not None:
            client.force_login(who)
        outcomes[str(who)] = page_of(client, one, name).status_code
    assert list(outcomes.values()) == [
        401 if name == "submission-progress" else 302,
        404,
        404,
        200,
        200,
    ]


def test_the_file_comes_back_as_an_attachment_and_is_never_shown(
    member: Client, round: Round, team: Team
) -> None:
    data = b"<html><script>alert(1)</script>"
    one = submit(round, team, data=data)
    Submission.objects.update(file_name='evil"\N{RIGHT-TO-LEFT OVERRIDE}.html')
    answer = page_of(member, one, "submission-file")
    assert b"".join(answer) == data
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"] == f'attachment; filename="{one.public_id}.txt"'


def test_a_broken_download_of_the_file_goes_on(member: Client, round: Round, team: Team) -> None:
    one = submit(round, team, data=b"0123456789")
    address = reverse("submission-file", args=[one.public_id])
    headers = {"Range": "bytes=4-", "If-Range": f'"{one.sha256}"', "Accept-Encoding": "gzip"}
    answer = member.get(address, headers=headers)
    assert (answer.status_code, b"".join(answer)) == (206, b"456789")
    assert (answer["Content-Range"], answer["Content-Length"]) == ("bytes 4-9/10", "6")


def test_a_file_that_is_gone_is_not_an_error_of_the_site(
    member: Client, round: Round, team: Team
) -> None:
    one = submit(round, team)
    from tests.stored_uploads import stored_path

    stored_path(one).unlink()
    assert page_of(member, one, "submission-file").status_code == 404


def test_a_hidden_round_shows_no_text_of_anybody(client: Client) -> None:
    """Neither the gold answers nor, of a prompt, what the model said: it may repeat the history."""
    round = open_round(references="hidden")
    team, user = team_with_member(round.challenge)
    one = scored(round, team)
    Submission.objects.filter(pk=one.pk).update(
        kind="prompt", track="prompt", calls=6, input_tokens=1234
    )
    Response.objects.filter(system=one.system).update(text="I repeat: I went out by bicycle")
    client.force_login(user)
    for name in ("submission", "submission-progress"):
        page = text_of(page_of(client, one, name))
        assert "bicycle" not in page
        assert "1,234" in page


def test_my_submissions_are_those_of_all_my_teams(client: Client) -> None:
    user = None
    for number in range(2):
        round = open_round()
        team, someone = team_with_member(round.challenge, name=f"Team {number}")
        user = user or someone
        if someone != user:
            team.members.update(user=user)
        submit(round, team, user, name=f"own {number}")
    round = open_round()
    submit(round, team_with_member(round.challenge)[0], name="not mine")
    client.force_login(user)
    page = text_of(client.get(reverse("my-submissions")))
    assert "own 0" in page
    assert "own 1" in page
    assert "not mine" not in page


def test_a_long_log_shows_its_end(member: Client, round: Round, team: Team) -> None:
    one = submit(round, team)
    LogLine.objects.bulk_create(
        LogLine(submission=one, text=f"line {number}.") for number in range(300)
    )
    page = text_of(page_of(member, one))
    assert "line 299." in page
    assert "line 99." not in page
