from __future__ import annotations

import sys
from getpass import getpass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from annotations.accounts import NameTaken, may_act, open_account
from annotations.console import ConsoleCommand
from dialeval_site.accounts.actions import make_organiser


class Command(ConsoleCommand):
    help = (
        "Create an account an organiser's: it adds corpora, opens challenges and campaigns, starts "
        "metrics. An account that is not there is made; its password is asked for, or read from "
        "standard input where that is no terminal."
    )
    epilog = """
    The first step on a site without the demo. An account that is disabled, or in production one
    that the demo made, is refused: it may not act.

      manage.py create_organiser mara
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="what the account logs in with")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        user = get_user_model().objects.filter(username=name).first()
        if user is None:
            user = _new_account(name)
        if not may_act(user):
            raise CommandError(
                f"{name} is disabled, or was made by the demo, which opens nothing in production: "
                "take another name; nothing was changed"
            )
        done = "is an organiser now" if make_organiser(user) else "was an organiser already"
        self.stdout.write(f"{name} {done}")


def _new_account(name: str) -> Any:
    try:
        user = get_user_model()(username=name)
        user.clean_fields(exclude=["password"])
        password = _password(name)
        validate_password(password, user)
        return open_account(name, password)
    except ValidationError as wrong:
        raise CommandError(" ".join(wrong.messages)) from None
    except NameTaken:
        raise CommandError(
            f"{name!r} differs only in capital letters from an account that is there"
        ) from None


def _password(name: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass(f"Password of the new account {name}: ")
    if password != getpass("Again: "):
        raise CommandError("the two passwords differ; nothing was made")
    return password
