from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from workers.training import actions


class Command(ConsoleCommand):
    help = (
        "Delete a training with its checkpoints and its model, or a model that was copied here. "
        "Scores that were made with it stay. Refused while it trains, and while metric runs or "
        "rounds need it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the trained model's")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            actions.delete(options["name"])
        except actions.Refused as refusal:
            raise CommandError(refusal.message) from None
        retained = actions.scores_with(options["name"])
        self.stdout.write(
            f"{options['name']}: "
            f"deleted{f'; {retained} scores made with it stay' if retained else ''}"
        )
