from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
    parse_integer,
)
from annotations.formats.importers.problems import ImportFailed
from annotations.personas import Knowledge, NoPersona, Persona, load_knowledge, make_persona

MOST = 100_000


class Command(ConsoleCommand):
    help = (
        "Make personas for dialogues: a name, an age and a family sentence, then two head "
        "personas with their attributes, without contradictions. The same seed and file give the "
        "same personas."
    )
    epilog = """
    Personas are made as a collection's rooms get them: docs/campaigns.md has the rules.

      manage.py make_personas --count 5 --seed 7
      manage.py make_personas --knowledge peacok.json
    """
    reads_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--count",
            type=parse_integer(1, MOST),
            default=1,
            help=f"how many personas, at most {MOST:,}",
        )
        parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the draws")
        parser.add_argument(
            "--knowledge",
            type=Path,
            metavar="FILE",
            help="head personas with attributes, or PeaCoK's triples (default: the project's own)",
        )
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        knowledge = self._knowledge(options["knowledge"])
        random = Random(options["seed"])
        try:
            personas = [make_persona(knowledge, random) for _ in range(options["count"])]
        except NoPersona as refusal:
            raise CommandError(str(refusal)) from None
        if options["format"] == "json":
            self.print_json(
                {"seed": options["seed"], "personas": [_as_json(persona) for persona in personas]}
            )
        else:
            self.print_table(["persona", "sentence"], _rows(personas))
        self.say(
            f"personas: {len(personas)}, from {len(knowledge.heads)} head personas, seed "
            f"{options['seed']}"
        )

    def _knowledge(self, path: Path | None) -> Knowledge:
        try:
            return load_knowledge(path)
        except ImportFailed as failure:
            for problem in failure.problems:
                self.stderr.write(str(problem))
            count = len(failure.problems)
            raise CommandError(
                f"no persona was made: {count} problem{'' if count == 1 else 's'}"
            ) from None


def _as_json(persona: Persona) -> dict[str, Any]:
    return {
        "name": persona.name,
        "age": persona.age,
        "heads": list(persona.heads),
        "sentences": list(persona.sentences),
    }


def _rows(personas: list[Persona]) -> list[list[str]]:
    return [
        ["" if place else str(number), sentence]
        for number, persona in enumerate(personas, 1)
        for place, sentence in enumerate(persona.sentences)
    ]
