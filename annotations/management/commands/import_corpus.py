from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_slug

from annotations.console import ConsoleCommand
from annotations.corpora import actions
from annotations.corpora.queries import language_text
from annotations.formats.importers.base import ImportFailed
from annotations.formats.importers.registry import importers, likely_format, what_to_do
from annotations.languages import language_fault

COUNTED = (
    "dialogue",
    "message",
    "turn",
    "system",
    "response",
    "rater",
    "rating",
    "label",
    "preference",
)


class Command(ConsoleCommand):
    help = (
        "Read a corpus from a file: dialogues, systems, responses and ratings. A file that is "
        "known changes nothing; a changed file makes a new version. A file with a problem stores "
        "nothing."
    )
    epilog = """
    Up to 100 problems are told with their place and field. docs/formats.md describes every format.
    In the browser organisers do the same under Corpora, Add a corpus.

      manage.py import_corpus usr pc_usr_data.json --slug usr --name "USR Persona-Chat"
      manage.py import_corpus grade human_judgement.json --slug grade --private
    """

    def add_arguments(self, parser: CommandParser) -> None:
        known = importers()
        parser.add_argument(
            "format", metavar="FORMAT", choices=sorted(known), help=", ".join(sorted(known))
        )
        parser.add_argument(
            "path", metavar="PATH", type=Path, help="at most DIALEVAL_MAX_IMPORT_MB"
        )
        parser.add_argument(
            "--slug",
            required=True,
            help="the corpus's short name in commands and addresses; a file with several corpora "
            "makes SLUG-part of each, such as grade-dailydialog",
        )
        parser.add_argument(
            "--name", default="", help="a new corpus's name on pages (default: the file's, or SLUG)"
        )
        parser.add_argument(
            "--language",
            default="",
            metavar="CODE",
            help="the language's code, such as en, zh or ja (default: what the file says, else "
            "guessed from the texts)",
        )
        parser.add_argument(
            "--private",
            action="store_true",
            help="only organisers see the corpus (new corpora only)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            validate_slug(options["slug"])
        except ValidationError:
            raise CommandError("--slug: letters, figures, hyphens and underscores only") from None
        if fault := language_fault(options["language"]):
            raise CommandError(f"--language {fault}")
        try:
            outcomes = actions.import_corpus(
                importers()[options["format"]],
                options["path"],
                options["slug"],
                options["name"],
                is_public=not options["private"],
                language=options["language"],
            )
        except ImportFailed as failure:
            for problem in failure.problems:
                self.stderr.write(str(problem))
            if failure.stopped:
                self.stderr.write("and more; stopped")
            count = _number(len(failure.problems), "problem") + (
                " or more" if failure.stopped else ""
            )
            likely, _ = likely_format(options["path"])
            looks = (
                f"; the file looks like {likely}" if likely not in (None, options["format"]) else ""
            )
            if hint := what_to_do(options["path"]):
                looks = f"; {hint}"
            raise CommandError(f"nothing was stored: {count}{looks}") from None
        except OSError as error:
            raise CommandError(f"{options['path']} cannot be read: {error.strerror}") from None
        for outcome in outcomes:
            self.stdout.write(_line(outcome))


def _line(outcome: actions.ImportOutcome) -> str:
    version = outcome.version
    if not outcome.created:
        still = (
            ""
            if outcome.newest == version
            else f"; the newest version is still {outcome.newest.label}"
        )
        return f"{version.corpus.slug}: unchanged, {version.label} holds this content{still}"
    counts = outcome.survey.counts
    parts = [
        _number(getattr(counts, f"{kind}s"), kind)
        for kind in COUNTED
        if getattr(counts, f"{kind}s")
    ]
    language = language_text(version)
    return (
        f"{version.corpus.slug}: stored {version.label} with {', '.join(parts)}; language: "
        f"{language}"
    )


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
