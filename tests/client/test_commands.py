"""Each sub-command against a server that stands in: what is asked, what is printed, how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.client import server as requests
from tests.challenges.files.helpers import good_csv, good_lines, good_list, written
from tests.client.stand_in import Answer, StandIn

FIELDS_OF_METRIC_SCORES = {"file", "name", "level", "higher_is_better", "link"}
Run = Callable[..., tuple[int, str, str]]
TEMPLATE = "".join(json.dumps({**line, "response": None}) + "\n" for line in good_lines())


def submission(state: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": "s1",
        "name": "Echo",
        "challenge": "cup",
        "round": "one",
        "state": state,
        **fields,
    }


# --- look -----------------------------------------------------------------------------------------


def test_challenges_as_a_table_and_as_json(dialeval: Run, server: StandIn) -> None:
    server.gives(
        "challenges",
        {"items": [{"slug": "cup", "name": "The\x1b[2J Cup", "state": "open"}], "next": None},
    )
    status, out, _ = dialeval("challenges")
    assert status == 0
    assert out.splitlines()[2].split() == ["cup", "The\N{REPLACEMENT CHARACTER}[2J", "Cup", "open"]
    status, out, _ = dialeval("challenges", "--format", "json")
    assert json.loads(out)[0]["name"] == "The\x1b[2J Cup"
    assert "\x1b" not in out


def test_one_challenge_shows_rules_and_rounds(dialeval: Run, server: StandIn) -> None:
    round = {
        "slug": "one",
        "phase": "open",
        "tracks": ["gpu"],
        "daily_limit": 5,
        "ranking_metric": "word_f1",
    }
    server.gives(
        "challenges/cup",
        {"name": "Cup", "state": "open", "rules": "# Be kind\n", "rounds": [round]},
    )
    status, out, _ = dialeval("challenges", "cup")
    assert status == 0
    assert "# Be kind" in out
    assert "one" in out


@pytest.mark.parametrize(
    ("arguments", "path", "document"),
    [
        (["--team", "Lovelace"], "challenges/cup/teams", {"name": "Lovelace"}),
        (
            ["--invitation", "https://x.example/teams/join/abc/"],
            "challenges/cup/teams/join",
            {"invitation": "abc"},
        ),
    ],
)
def test_join(
    dialeval: Run, server: StandIn, arguments: list[str], path: str, document: Any
) -> None:
    server.gives(path, {"name": "Lovelace"})
    assert dialeval("join", "cup", *arguments)[:2] == (0, "in team Lovelace of cup\n")
    assert server.asked[0].document == document


def test_team_shows_members_and_removes_one(dialeval: Run, server: StandIn) -> None:
    team = {"name": "Lovelace", "members": ["ada", "mallory"], "leader": "ada"}
    link = {
        "invitation_url": "https://x.example/teams/join/abc/",
        "invitation_expires_at": "2026-12-09T00:00:00Z",
    }
    server.gives("challenges/cup/team", {**team, **link})
    status, out, _ = dialeval("team", "cup")
    assert status == 0
    assert "ada, team leader" in out
    assert "join/abc/, until 2026-12-09T00:00:00Z" in out
    server.gives("challenges/cup/team/remove", {**team, "members": ["ada"], "invitation_url": None})
    status, out, _ = dialeval("team", "cup", "--remove", "mallory")
    assert (status, out) == (0, "Lovelace; no invitation holds now\n  ada, team leader\n")
    assert server.asked[-1].document == {"member": "mallory"}


def test_a_name_never_leads_to_another_address(dialeval: Run, server: StandIn) -> None:
    assert dialeval("challenges", "../me")[0] == 1
    assert dialeval("status", "..")[0] == 1
    assert [asked.path for asked in server.asked] == [
        "/api/v1/challenges/..%2Fme",
        "/api/v1/submissions/%2E%2E",
    ]


def test_dialogues_template_and_export_are_written(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives("challenges/cup/rounds/one/dialogues", Answer(b"[]"))
    server.gives("challenges/cup/rounds/one/template", Answer(TEMPLATE.encode()))
    server.gives("corpora/demo/export", Answer(b"PK"))
    assert dialeval("dialogues", "cup", "one", "--to", tmp_path / "d")[0] == 0
    assert dialeval("template", "cup", "one", "--format", "jsonl", "--to", tmp_path / "t")[0] == 0
    assert dialeval("export", "demo", "--format", "csv", "--to", tmp_path / "e")[0] == 0
    assert [(tmp_path / name).read_bytes() for name in "dte"] == [b"[]", TEMPLATE.encode(), b"PK"]
    assert [asked.query for asked in server.asked] == [{}, {"format": "jsonl"}, {"format": "csv"}]


def test_an_export_may_take_longer_than_other_answers(
    dialeval: Run, server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LONGEST_SILENCE", 0.1)
    server.gives("corpora/demo/export", Answer(b"PK", after=0.5))
    assert dialeval("export", "demo", "--to", tmp_path / "e")[0] == 0
    assert len(server.asked) == 1


def test_an_export_that_took_too_long_is_not_asked_for_again(
    dialeval: Run, server: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "LONGEST_EXPORT", 0.1)
    server.gives("corpora/demo/export", Answer(b"PK", after=60))
    status, _, err = dialeval("export", "demo", "--to", tmp_path / "e")
    assert (status, err) == (1, f"dialeval: {server.address} does not answer: timed out\n")
    assert len(server.asked) == 1


BOARD = {
    "name": "Round 1",
    "part": "public",
    "phase": "open",
    "unreleased": False,
    "metrics": [{"metric": "word_f1"}, {"metric": "fbd"}],
    "entries": [
        {
            "rank": 1,
            "team": "=Lovelace",
            "name": "Echo",
            "own": True,
            "track": "gpu",
            "reason": "",
            "scores": [{"value": 0.25, "ci": [0.2, 0.3]}, {"value": None, "reason": "too few"}],
        },
        {
            "rank": None,
            "team": None,
            "name": "dull",
            "is_baseline": True,
            "reason": "a baseline",
            "scores": [{"value": 0.5}, {"value": 3}],
        },
    ],
}


def test_a_leaderboard_shows_undefined_as_a_dash_and_says_why_something_has_no_rank(
    dialeval: Run, server: StandIn
) -> None:
    server.gives("challenges/cup/rounds/one/leaderboard", BOARD)
    status, out, _ = dialeval("leaderboard", "cup", "one")
    lines = [line.split() for line in out.splitlines()]
    assert status == 0
    assert lines[3] == ["1", "=Lovelace", "(yours)", "Echo", "0.2500", "[0.2000,", "0.3000]", "–"]
    assert lines[4] == ["–", "[1]", "baseline", "dull", "0.5000", "3.0000"]
    assert lines[5] == ["[1]", "a", "baseline"]


@pytest.mark.parametrize("nonsense", ["1", True, 10**400, [1], {}, None])
@pytest.mark.parametrize("format", ["table", "csv"])
def test_a_score_that_is_no_number_is_undefined(
    dialeval: Run, server: StandIn, nonsense: Any, format: str
) -> None:
    entry = {
        "rank": 1,
        "team": "t",
        "name": "n",
        "scores": [{"value": nonsense, "ci": [nonsense, 1]}, nonsense],
    }
    server.gives("challenges/cup/rounds/one/leaderboard", {**BOARD, "entries": [entry]})
    status, out, _ = dialeval("leaderboard", "cup", "one", "--format", format)
    assert status == 0
    last = out.splitlines()[-1]
    assert (
        last.split() == ["1", "t", "n", "–", "–"]
        if format == "table"
        else last == '1,"t","n","",0,"",,'
    )


def test_a_leaderboard_as_csv_has_empty_cells_and_no_formula(
    dialeval: Run, server: StandIn
) -> None:
    server.gives("challenges/cup/rounds/one/leaderboard", BOARD)
    status, out, _ = dialeval("leaderboard", "cup", "one", "--format", "csv")
    assert status == 0
    assert list(csv.reader(io.StringIO(out)))[1:] == [
        ["1", "'=Lovelace", "Echo", "gpu", "0", "", "0.25", ""],
        ["", "baseline", "dull", "", "1", "a baseline", "0.5", "3"],
    ]


def test_a_leaderboard_as_csv_has_names_in_full(dialeval: Run, server: StandIn) -> None:
    team, name, metric, why = "t" * 80, "n" * 80, "m" * 300, "r" * 600
    entry = {"rank": None, "team": team, "name": name, "reason": why, "scores": [{"value": 1}]}
    board = {**BOARD, "metrics": [{"metric": metric}], "entries": [entry]}
    server.gives("challenges/cup/rounds/one/leaderboard", board)
    _, out, _ = dialeval("leaderboard", "cup", "one", "--format", "csv")
    header, row = csv.reader(io.StringIO(out))
    assert header[-1] == metric
    assert row == ["", team, name, "", "0", why, "1"]


def test_an_unreleased_leaderboard_as_csv_says_why_it_is_empty(
    dialeval: Run, server: StandIn
) -> None:
    unreleased = {
        "name": "R",
        "unreleased": True,
        "reason": "Not yet.",
        "metrics": [],
        "entries": [],
    }
    server.gives("challenges/cup/rounds/one/leaderboard", unreleased)
    status, out, err = dialeval("leaderboard", "cup", "one", "--part", "private", "--format", "csv")
    assert (status, out, err) == (
        0,
        '"rank","team","system","track","baseline","reason"\n',
        "Not yet.\n",
    )


def test_the_private_part_is_asked_for(dialeval: Run, server: StandIn) -> None:
    server.gives(
        "challenges/cup/rounds/one/leaderboard",
        {"name": "R", "unreleased": True, "reason": "Not yet.", "entries": []},
    )
    status, out, _ = dialeval("leaderboard", "cup", "one", "--part", "private")
    assert (status, out) == (0, "R\nNot yet.\n")
    assert server.asked[0].query == {"part": "private"}


# --- check ----------------------------------------------------------------------------------------


def test_check_against_a_template_asks_no_server(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    template = written(tmp_path, TEMPLATE, "template.jsonl")
    path = written(tmp_path, good_list(), "mine.json")
    assert dialeval("check", path, "--template", template) == (
        0,
        "valid: 4 responses in 2 dialogues\n",
        "",
    )
    assert server.asked == []


def test_check_says_what_metrics_read_as_other_characters(dialeval: Run, tmp_path: Path) -> None:
    template = written(tmp_path, TEMPLATE, "template.jsonl")
    answers = [
        {"dialog_id": "d1", "turn_0": "I don’t — no", "turn_1": "It’s “late”"},
        {"dialog_id": "d2", "turn_0": "ılık 👨\u200d👩\u200d👧", "turn_1": "cafe\u0301"},
    ]
    path = written(tmp_path, answers, "mine.json")
    _, out, _ = dialeval("check", path, "--template", template)
    assert out.splitlines() == [
        "valid: 4 responses in 2 dialogues",
        "Curly quotes in 2 responses are read as straight ones by the metrics.",
        "Long dashes in 1 response are read as hyphens by the metrics.",
        "Letters with combining marks in 1 response are read as composed ones.",
    ]
    _, out, _ = dialeval("check", path, "--template", template, "--format", "json")
    assert json.loads(out)["folded"] == {"quotes": 2, "dashes": 1, "composition": 1}


def test_check_against_a_round_fetches_its_template(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives("challenges/cup/rounds/one/template", Answer(TEMPLATE.encode()))
    assert dialeval("check", written(tmp_path, good_csv()), "cup", "one")[0] == 0


def test_check_lists_every_problem_with_its_place(dialeval: Run, tmp_path: Path) -> None:
    template = written(tmp_path, TEMPLATE, "template.jsonl")
    path = written(
        tmp_path, [{"dialog_id": "d1", "turn_0": "x"}, {"dialog_id": "\x1b[2J"}], "mine.json"
    )
    status, out, err = dialeval("check", path, "--template", template)
    assert status == 1
    assert out.splitlines() == [
        "mine.json: $[0].turn_1: is missing",
        r"mine.json: $[1].dialog_id: there is no dialogue '\x1b[2J'",
        "mine.json: has no response for the dialogue 'd2'",
    ]
    assert err == "dialeval: mine.json has 3 problems\n"


def test_check_as_json(dialeval: Run, tmp_path: Path) -> None:
    template = written(tmp_path, TEMPLATE, "template.jsonl")
    status, out, err = dialeval(
        "check", written(tmp_path, b"no"), "--template", template, "--format", "json"
    )
    found = json.loads(out)
    assert (status, err) == (1, "dialeval: file has 1 problem\n")
    assert (found["valid"], found["problems"][0]["where"], found["more_problems"]) == (
        False,
        "1",
        False,
    )


@pytest.mark.parametrize(
    "arguments", [["nowhere.json"], ["FILE"], ["FILE", "cup"], ["FILE", "--template", "FILE"]]
)
def test_check_says_what_it_lacks(dialeval: Run, tmp_path: Path, arguments: list[str]) -> None:
    path = written(tmp_path, "[]")
    status, _, err = dialeval(
        "check", *(path if argument == "FILE" else argument for argument in arguments)
    )
    assert status == 1
    assert err.startswith("dialeval: ")
    assert err.count("\n") == 1


# --- hand in and watch ----------------------------------------------------------------------------


def test_submit_sends_the_file_with_its_name_and_track(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives(
        "challenges/cup/rounds/one/submissions",
        Answer(json.dumps(submission("received")).encode(), 201),
    )
    path = written(tmp_path, good_list(), "mine.json")
    status, out, err = dialeval("submit", "cup", "one", path, "--name", "Écho", "--track", "prompt")
    assert status == 0
    assert "state: received" in out
    assert err == "submission s1\n"
    body = server.asked[0].body
    assert path.read_bytes() in body
    assert 'name="name"\r\n\r\nÉcho\r\n'.encode() in body
    assert b'name="track"\r\n\r\nprompt\r\n' in body
    assert b'filename="mine.json"' in body


def test_the_same_bytes_again_are_said_to_be_known(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives("challenges/cup/rounds/one/submissions", submission("scored"))
    _, _, err = dialeval("submit", "cup", "one", written(tmp_path, good_list()), "--name", "x")
    assert "no attempt was used" in err


def test_watching_tells_each_state_once_and_then_the_scores(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives(
        "challenges/cup/rounds/one/submissions",
        Answer(json.dumps(submission("received")).encode(), 201),
    )
    scores = [
        {"metric": "word_f1", "part": "public", "value": 0.25, "ci": [0.2, 0.3]},
        {"metric": "meteor", "part": "public", "value": None, "reason": "no reference"},
    ]
    server.gives(
        "submissions/s1",
        submission("validating", progress={"done": 5, "total": 10}),
        submission("validating", progress={"done": 9, "total": 10}),
        submission("scoring", progress={"done": 1, "total": 2}),
        submission("scored", scores=scores, rank=2, attempts={"day_left": 4, "day_limit": 5}),
    )
    path = written(tmp_path, good_list())
    status, out, err = dialeval("submit", "cup", "one", path, "--name", "x", "--watch")
    assert status == 0
    assert err.split() == ["submission", "s1", "validating", "scoring", "scored"]
    assert "word_f1: 0.2500 [0.2000, 0.3000]\nmeteor: – (no reference)\nrank: 2\n" in out


def test_watching_goes_on_until_the_board_has_its_rank(dialeval: Run, server: StandIn) -> None:
    server.gives(
        "submissions/s1",
        submission("scored", rank_reason="the board is being computed", is_settling=True),
        submission("scored", rank=2, is_settling=False),
    )
    status, out, err = dialeval("status", "s1", "--watch")
    assert (status, err) == (0, "scored\n")
    assert "rank: 2\n" in out


def test_a_board_that_no_worker_computes_is_not_waited_for_without_end(
    dialeval: Run, server: StandIn
) -> None:
    server.gives(
        "submissions/s1",
        submission("scored", rank_reason="the board is being computed", is_settling=True),
    )
    status, out, _ = dialeval("status", "s1", "--watch")
    assert status == 0
    assert "no rank: the board is being computed\n" in out


def test_an_invalid_file_ends_with_its_report(dialeval: Run, server: StandIn) -> None:
    problems = [{"where": "$[0]", "field": "turn_1", "message": "is missing\x1b[2J"}]
    server.gives("submissions/s1", submission("invalid", problems=problems, more_problems=True))
    status, out, err = dialeval("status", "s1", "--watch")
    assert status == 1
    assert "  $[0]: turn_1: is missing\N{REPLACEMENT CHARACTER}[2J\n  and more\n" in out
    assert err == "invalid\ndialeval: the file is invalid: 1 problem, and more\n"


@pytest.mark.parametrize(("state", "status"), [("failed", 1), ("cancelled", 1), ("scored", 0)])
def test_watching_ends_with_1_unless_it_is_scored(
    dialeval: Run, server: StandIn, state: str, status: int
) -> None:
    server.gives("submissions/s1", submission(state, error="the model did not answer"))
    assert dialeval("status", "s1", "--watch")[0] == status
    ended, out, err = dialeval("status", "s1", "--watch", "--format", "json")
    assert (ended, json.loads(out)["state"]) == (status, state)
    assert bool([line for line in err.splitlines() if line.startswith("dialeval: ")]) == (
        status == 1
    )


def test_the_log_is_shown_where_it_is_asked_for(dialeval: Run, server: StandIn) -> None:
    server.gives("submissions/s1", submission("scored"))
    line = {"at": "2026-01-01T00:00:00Z", "level": "info", "text": "received"}
    server.gives("submissions/s1/log", {"items": [line], "next": None})
    assert "  2026-01-01T00:00:00Z info received\n" in dialeval("status", "s1", "--log")[1]


def test_metric_scores_go_to_their_corpus(dialeval: Run, server: StandIn, tmp_path: Path) -> None:
    server.gives(
        "corpora/demo/metric-scores",
        Answer(json.dumps({"id": "s2", "state": "received"}).encode(), 201),
    )
    options = [
        "--metric-scores",
        "demo",
        "--level",
        "system",
        "--lower-is-better",
        "--name",
        "mine",
    ]
    assert dialeval("submit", written(tmp_path, "system,score\n"), *options)[0] == 0
    body = server.asked[0].body
    assert b'name="level"\r\n\r\nsystem\r\n' in body
    assert b'name="higher_is_better"\r\n\r\nfalse\r\n' in body
    assert set(re.findall(rb' name="(\w+)"', body)) == {
        name.encode() for name in FIELDS_OF_METRIC_SCORES
    }


def test_the_fields_of_metric_scores_are_those_that_the_api_knows() -> None:
    """It refuses every other, and the server of these tests none."""
    from dialeval_site.api.root import _fields_of

    known = _fields_of()["api/v1/corpora/<slug:slug>/metric-scores", "POST"]["form"]
    assert known == FIELDS_OF_METRIC_SCORES


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["submit", "cup", "one", "nowhere.json", "--name", "x"], "nowhere.json is no file"),
        (["submit", "cup", "one", "--name", "x"], "name CHALLENGE, ROUND and FILE"),
        (["submit", "a", "b", "--name", "x", "--metric-scores", "demo"], "name one FILE"),
        (
            ["submit", "a", "--name", "x", "--metric-scores", "demo", "--track", "gpu"],
            "are of rounds",
        ),
        (
            ["submit", "a", "--name", "x", "--metric-scores", "demo", "--description", "y"],
            "are of rounds",
        ),
        (["status", "--watch"], "name the submission"),
        (["submit", "cup", "one", "EMPTY", "--name", "x"], "is empty"),
        (["submit", "cup", "one", "x"], "the following arguments are required: --name"),
        (["join", "cup"], "one of the arguments --team --invitation is required"),
        (["nonsense"], "invalid choice"),
        (["leaderboard", "cup", "one", "--format", "xml"], "invalid choice"),
    ],
)
def test_wrong_arguments_end_with_1_and_one_line(
    dialeval: Run, tmp_path: Path, arguments: list[str], said: str
) -> None:
    empty = written(tmp_path, b"")
    status, out, err = dialeval(
        *(empty if argument == "EMPTY" else argument for argument in arguments)
    )
    assert (status, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["challenges", "a\udcff"], r"challenge: 'a\udcff' is not UTF-8"),
        (["join", "cup", "--team", "a\udcff"], r"team: 'a\udcff' is not UTF-8"),
        (
            ["submit", "cup", "one", "bad\udcff.json", "--name", "x"],
            r"target: 'bad\udcff.json' is not UTF-8",
        ),
        (["status", "a\udcff"], r"submission: 'a\udcff' is not UTF-8"),
    ],
)
def test_an_argument_that_is_not_utf_8_is_refused(
    dialeval: Run, server: StandIn, arguments: list[str], said: str
) -> None:
    assert dialeval(*arguments) == (1, "", f"dialeval: {said}\n")
    assert server.asked == []


def test_a_file_whose_name_is_not_utf_8_can_be_written(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.gives("challenges/cup/rounds/one/dialogues", Answer(b"[]"))
    path = tmp_path / "bad\udcff.json"
    status, _, err = dialeval("dialogues", "cup", "one", "--to", path)
    assert (status, path.read_bytes()) == (0, b"[]")
    assert r"bad\udcff.json" in err


def test_a_refusal_of_the_server_is_one_line(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.refuses(
        "challenges/cup/rounds/one/submissions", 409, "5 of 5 attempts of today are used."
    )
    path = written(tmp_path, good_list())
    assert dialeval("submit", "cup", "one", path, "--name", "x") == (
        1,
        "",
        "dialeval: 5 of 5 attempts of today are used.\n",
    )


# --- campaigns ------------------------------------------------------------------------------------


def test_campaigns_as_a_table_and_one_as_json(dialeval: Run, server: StandIn) -> None:
    one = {"slug": "pilot", "name": "Pilot\x1b[2J", "kind": "turn", "state": "open"}
    server.gives("campaigns", {"items": [{**one, "done": 3, "wanted": 12}], "next": None})
    server.gives("campaigns/pilot", {**one, "forms": []})
    status, out, _ = dialeval("campaigns")
    assert status == 0
    assert out.splitlines()[2].split() == ["pilot", "Pilot�[2J", "turn", "open", "3", "12"]
    assert json.loads(dialeval("campaigns", "pilot")[1]) == {**one, "forms": []}


def test_ratings_are_written_page_by_page(dialeval: Run, server: StandIn, tmp_path: Path) -> None:
    pages = [{"items": [{"answers": {"why": "ä"}}], "next": "c"}, {"items": [{}], "next": None}]
    server.gives("campaigns/pilot/ratings", *pages)
    path = tmp_path / "ratings.jsonl"
    status, _, err = dialeval("ratings", "pilot", "--all", "--to", path)
    assert (status, err) == (0, f"wrote 2 ratings to {path}\n")
    assert path.read_text(encoding="utf-8") == '{"answers": {"why": "ä"}}\n{}\n'
    query = {"all": "true", "limit": "200"}
    assert [asked.query for asked in server.asked] == [query, {**query, "cursor": "c"}]


def test_ratings_of_a_campaign_that_is_not_there_leave_no_file(
    dialeval: Run, server: StandIn, tmp_path: Path
) -> None:
    server.refuses("campaigns/pilot/ratings", 404, "There is no such campaign.")
    status, _, err = dialeval("ratings", "pilot", "--to", tmp_path / "r")
    assert (status, err) == (1, "dialeval: There is no such campaign.\n")
    assert not list(tmp_path.iterdir())


# --- the command itself ---------------------------------------------------------------------------

COMMANDS = [
    "login",
    "logout",
    "challenges",
    "join",
    "dialogues",
    "template",
    "check",
    "submit",
    "status",
    "leaderboard",
    "export",
    "import",
    "campaigns",
    "ratings",
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(dialeval: Run, name: str) -> None:
    status, out, _ = dialeval(name, "--help")
    assert status == 0
    assert out.startswith(f"usage: dialeval {name}")


def test_without_a_command_it_shows_what_there_is(dialeval: Run) -> None:
    status, out, _ = dialeval()
    assert status == 1
    assert all(f" {name}" in out for name in COMMANDS)


def test_it_starts_at_once_and_without_django() -> None:
    code = (
        "import sys; from leaderboard.client.main import main; main(['--version']); "
        "print(*sys.modules)"
    )
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime < 1  # it takes 0.1 s
    loaded = finished.stdout.split()
    assert not {"django", "httpx2", "numpy", "torch"} & set(loaded)


def in_encoding(
    encoding: str, server: StandIn, *arguments: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "leaderboard.client", *arguments],
        env={**os.environ, "PYTHONIOENCODING": encoding, "DIALEVAL_SERVER": server.address},
        capture_output=True,
        check=True,
    )


@pytest.mark.usefixtures("config")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_an_encoding_lacks_is_written_as_an_escape(server: StandIn, encoding: str) -> None:
    server.gives(
        "challenges", {"items": [{"slug": "cup", "name": "評", "state": "open"}], "next": None}
    )
    header, rule, row = (
        in_encoding(encoding, server, "challenges").stdout.decode(encoding).splitlines()
    )
    assert header.split() == ["challenge", "name", "state"]
    assert set(rule) == {"-", " "}
    assert row.split() == ["cup", r"\u8a55", "open"]


@pytest.mark.usefixtures("config")
def test_json_is_json_in_every_encoding(server: StandIn) -> None:
    name = "é評\N{GRINNING FACE}"
    server.gives("challenges", {"items": [{"slug": "cup", "name": name}], "next": None})
    finished = in_encoding("ascii", server, "challenges", "--format", "json")
    assert json.loads(finished.stdout.decode("ascii")) == [{"slug": "cup", "name": name}]


def test_a_reader_that_has_enough_is_no_error(server: StandIn, config: Path) -> None:
    items = [{"slug": f"c{number}", "name": "x" * 50, "state": "open"} for number in range(5_000)]
    server.gives("challenges", {"items": items, "next": None})
    finished = subprocess.run(
        f"DIALEVAL_SERVER={server.address} {sys.executable} -m leaderboard.client challenges | "
        "head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stderr == ""
