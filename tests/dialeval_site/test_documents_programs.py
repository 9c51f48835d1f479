"""What the documents say of the API, of notices and of the command ``dialeval`` is what the code
does."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dialeval_site import accounts, api_tokens, backends, tokens
from dialeval_site.api import api
from leaderboard.challenges import notices
from leaderboard.challenges.actions import notices as notice_rows
from leaderboard.challenges.models import Notice, Webhook
from leaderboard.challenges.models.notice import PAUSES
from leaderboard.client.commands.submissions import STATUS_LISTED
from leaderboard.client.main import _parser
from tests.challenges.sets import open_round, submit, team_with_member
from tests.dialeval_site.documents import (
    code_words,
    first_table,
    flat,
    sections,
    table_rows,
    text_of,
)
from tests.site import PROJECT
from workers.baselines.__main__ import _parser as baselines_parser

API, CLI = flat(text_of("api.md")), flat(text_of("cli.md"))

# --- figures --------------------------------------------------------------------------------------


def test_figures_are_those_of_the_code() -> None:
    assert f"ends after at most {tokens.MOST_DAYS} days" in API
    assert f"`Authorization: Bearer {tokens.PREFIX}…`" in API
    assert f"the latest {STATUS_LISTED} of one's own" in CLI


def test_figures_that_stand_in_words() -> None:
    assert (notice_rows.MOST_WEBHOOKS, notice_rows.TESTS_AN_HOUR) == (10, 10)
    assert "(ten a person)" in API
    assert "At most ten tests an hour" in API
    assert (
        api_tokens.GUESSES_OF_A_NAME,
        api_tokens.GUESSES_OF_AN_ADDRESS,
        api_tokens.GUESS_SECONDS,
    ) == (5, 30, 600)
    assert (
        "After five wrong passwords for a name from one address within ten minutes (or thirty for "
        "any names)" in API
    )
    assert (backends.GUESSES_OF_A_NAME, backends.GUESSES_OF_AN_ADDRESS, backends.GUESS_SECONDS) == (
        10,
        300,
        600,
    )
    assert "the log-in page allows ten and 300" in API
    guesses = flat(text_of("endpoints.md"))
    assert (
        "ten log-ins that fail for a name from one address within ten minutes, or 300 for any names"
        in guesses
    )
    assert f"From one address {accounts.SIGN_UPS_AN_HOUR} accounts an hour" in guesses
    assert [pause.total_seconds() for pause in PAUSES] == [
        30,
        120,
        600,
        1800,
        7200,
        21600,
        50400,
    ]
    assert "after 30 s, 2 min, 10 min, 30 min, 2 h, 6 h and 14 h, eight times in all" in API


# --- the API --------------------------------------------------------------------------------------


def operations() -> dict[str, dict[str, Any]]:
    schema = api.get_openapi_schema()
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation
        for path, offered in schema["paths"].items()
        for method, operation in offered.items()
    }


def test_the_table_of_the_api_is_the_api() -> None:
    rows = first_table(sections(text_of("api.md"))["Addresses"])
    assert {row[0].strip("`") for row in rows} == set(operations())


def test_scopes_and_parameters_of_the_table_are_the_api_s() -> None:
    for named, parameters, what, scope in first_table(sections(text_of("api.md"))["Addresses"]):
        operation = operations()[named.strip("`")]
        needs = operation.get("security") or []
        scopes = [one for need in needs for one in need.get("Token", [])]
        assert code_words(scope) == scopes, named
        assert ("none" in scope) == (not needs or {} in needs), named
        in_address = {
            one["name"] for one in operation.get("parameters", []) if one["in"] == "query"
        }
        assert {
            re.sub(r":.*", "", one) for one in code_words(re.sub(r"`: [^|]*", "`", parameters))
        } == in_address, named
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert set(content["schema"].get("properties", {})) <= set(code_words(what)), named


def test_every_code_of_a_refusal_is_documented() -> None:
    sources = [
        *(PROJECT / "dialeval_site").glob("*.py"),
        *(PROJECT / "common" / "api").glob("*.py"),
        PROJECT / "annotations" / "corpora" / "api.py",
        *(PROJECT / package / "api.py" for package in ("workers", "leaderboard")),
        PROJECT / "leaderboard" / "analyses" / "rest.py",
        *(PROJECT / "leaderboard" / "challenges" / "api").glob("*.py"),
    ]
    codes = {
        code
        for path in sources
        for code in re.findall(r'\bcode="(\w+)"', path.read_text(encoding="utf-8"))
    }
    actions = (PROJECT / "leaderboard" / "challenges" / "actions").glob("*.py")
    codes |= {
        code
        for path in actions
        for code in re.findall(r'NotTaken\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    rows = table_rows(sections(text_of("api.md"))["Addresses"])
    documented = {
        word for row in rows if not re.match(r"`[A-Z]", row[0]) for word in code_words(row[0])
    }
    assert codes == documented


def test_every_header_of_a_notice_is_documented() -> None:
    source = Path(notices.__file__).read_text(encoding="utf-8")
    headers = set(re.findall(r'"(X-[A-Za-z-]+)"', source))
    assert headers == set(re.findall(r"\bX-Dialeval-[A-Za-z]+", text_of("api.md"))) != set()


def test_every_event_of_a_notice_is_documented() -> None:
    section = sections(text_of("api.md"))["Notices"]
    for event in notice_rows.EVENTS:
        assert f"submission.{event}" in section
    assert notice_rows.TEST_EVENT in section


@pytest.mark.django_db
def test_a_webhook_s_body_has_the_keys_that_the_page_shows() -> None:
    round = open_round()
    team, owner = team_with_member(round.challenge)
    submission = submit(round, team)
    webhook = Webhook.objects.create(user=owner, url="https://receiver.example/", secret="quiet")
    notice = Notice(
        submission=submission, user=owner, webhook=webhook, event="scored", ending=timezone.now()
    )
    shown = re.search(
        r'^(\{"event".*?\}\})$',
        sections(text_of("api.md"))["Notices"],
        flags=re.MULTILINE | re.DOTALL,
    )
    assert shown
    example, real = json.loads(shown.group(1)), notices.document_of(notice)
    assert example.keys() == real.keys()
    assert example["submission"].keys() == real["submission"].keys()


# --- the command dialeval -------------------------------------------------------------------------


def commands() -> dict[str, argparse.ArgumentParser]:
    found = next(one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    return {**found.choices, "The baselines": baselines_parser()}


def arguments_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    own = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    return {
        action.option_strings[-1] if action.option_strings else str(action.metavar): action
        for action in own
    }


def test_every_command_has_a_section() -> None:
    assert set(sections(text_of("cli.md"))) == set(commands())


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_argument_is_documented(name: str) -> None:
    rows = first_table(sections(text_of("cli.md"))[name])
    assert [code_words(argument) for argument, _ in rows] == [
        [one] for one in arguments_of(commands()[name])
    ]


@pytest.mark.parametrize("name", sorted(commands()))
def test_choices_defaults_and_needs_are_documented(name: str) -> None:
    rows = {
        code_words(argument)[0]: what
        for argument, what in first_table(sections(text_of("cli.md"))[name])
    }
    for argument, action in arguments_of(commands()[name]).items():
        said = code_words(rows[argument])
        assert {str(choice) for choice in action.choices or ()} <= set(said), argument
        assert action.default in (None, "", False) or str(action.default) in said, argument
        if action.option_strings and action.required:
            assert "required" in rows[argument], argument
