from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from dialeval_site.accounts import two_factor


class Command(ConsoleCommand):
    help = (
        "Take two-factor log-in off an account whose owner has lost the phone and the recovery "
        "codes. Make sure first that it is the owner who asks. The audit log notes it."
    )
    epilog = """
    From then on the password alone logs in. The log's action is two_factor.reset.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="NAME", help="what the account logs in with")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["username"]
        user = get_user_model().objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"there is no account {name}")
        if two_factor.take_off(user):
            self.stdout.write(f"{name}: two-factor log-in is off; the password alone logs in")
        else:
            self.stdout.write(f"{name}: two-factor log-in was not on")
