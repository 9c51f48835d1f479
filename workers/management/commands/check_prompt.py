from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.formats.importers.problems import ImportFailed
from workers.judges.core.prompt_file import JudgePromptFile, prompt_at
from workers.judges.core.rendering import begun, remarks, sample_messages


class Command(ConsoleCommand):
    help = (
        "Check a judge's prompt file: everything that is wrong with it, by line; or what it asks, "
        "and its digest."
    )
    epilog = """
    Reads no database and asks no model. Where anything is wrong it ends with status 1.

      manage.py check_prompt my_judge.txt --show
    """

    reads_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", help="the prompt file; docs/judges.md describes the format"
        )
        parser.add_argument(
            "--show", action="store_true", help="print it filled in, for a made-up dialogue"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prompt = prompt_at(options["file"])
        except ImportFailed as failure:
            for line in str(failure).splitlines():
                self.say(line)
            wrong = (
                "1 problem" if len(failure.problems) == 1 else f"{len(failure.problems)} problems"
            )
            raise CommandError(f"{options['file']} cannot be used: {wrong}") from None
        for key, value in _facts(prompt):
            self.stdout.write(f"{key:<13} {value}")
        if options["show"]:
            self._show(prompt)
        for remark in remarks(prompt):
            self.say(f"note: {remark}")
        self.say(f"{options['file']} can be used: write [prompt={options['file']}]")

    def _show(self, prompt: JudgePromptFile) -> None:
        for message in sample_messages(prompt):
            self.stdout.write(f"\n--- {message.role} ---\n{message.text}")
        self.stdout.write(
            f"\n--- assistant, begun for an expected score ---\n{begun(prompt, prompt.score)}"
        )


def _facts(prompt: JudgePromptFile) -> list[tuple[str, str]]:
    low, high = prompt.scale
    return [
        ("name", prompt.name),
        ("step", prompt.step),
        ("labels", ", ".join(prompt.labels)),
        ("score", prompt.score),
        ("scale", f"{low} to {high}"),
        ("form", begun(prompt, "{label}") + "x"),
        ("max_tokens", str(prompt.max_tokens)),
        ("placeholders", ", ".join(prompt.placeholders)),
        ("digest", prompt.digest),
    ]
