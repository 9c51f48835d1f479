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

from dialeval_site import backends
from dialeval_site.accounts import api as api_tokens
from dialeval_site.accounts import tokens
from dialeval_site.accounts import views as accounts
from dialeval_site.api.root import api
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
        "ten failed log-ins for a name from one address within ten minutes, or 300 for any names"
        in guesses
    )
    assert f"more than {accounts.SIGN_UPS_AN_HOUR} new accounts an hour from one address" in guesses
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


def test_the_api_s_own_pages_say_what_each_operation_and_parameter_is() -> None:
    """``/api/v1/docs/`` is the reference; the page in ``docs/`` links there."""
    for address, operation in operations().items():
        assert operation["summary"], address
        for parameter in operation.get("parameters", []):
            assert parameter["in"] == "path" or parameter.get("description"), (address, parameter)


def test_the_api_s_own_pages_say_what_each_field_of_a_metric_is() -> None:
    schemas = api.get_openapi_schema()["components"]["schemas"]
    for schema in (schemas["MetricOut"], schemas["OptionOut"]):
        for name, field in schema["properties"].items():
            assert field.get("description"), name


def test_the_table_of_the_api_names_all_that_it_offers() -> None:
    rows = first_table(text_of("api.md"))
    named = {word.strip("/").split("/")[0] for row in rows for word in code_words(row[0])}
    assert named == {address.split(" /")[1].split("/")[0] for address in operations()}


def test_every_code_of_a_refusal_is_documented() -> None:
    sources = [
        *(PROJECT / "dialeval_site").rglob("*.py"),
        *(PROJECT / "common" / "api").glob("*.py"),
        *(PROJECT / "annotations").glob("*/*api.py"),
        *(PROJECT / "workers").glob("*/api.py"),
        PROJECT / "leaderboard" / "api.py",
        PROJECT / "leaderboard" / "results" / "rest.py",
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
    rows = table_rows(sections(text_of("api.md"))["Codes"])
    documented = {word for row in rows for word in code_words(row[0])}
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


def test_the_table_names_every_command() -> None:
    rows = first_table(text_of("cli.md"))
    assert {code_words(row[0])[0] for row in rows} == set(commands()) - {"The baselines"}


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_says_what_every_argument_is(name: str) -> None:
    """``--help`` is the reference; the page links there."""
    for argument, action in arguments_of(commands()[name]).items():
        assert action.help, argument
