from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_slug
from django.utils.text import slugify

from annotations.console import ConsoleCommand
from annotations.corpora import actions
from annotations.corpora.queries import language_text
from annotations.formats.importers import table
from annotations.formats.importers.base import Importer
from annotations.formats.importers.checks import Counts
from annotations.formats.importers.column_mapping import (
    TableMapping,
    mapping_as_yaml,
    mapping_from_yaml,
)
from annotations.formats.importers.preview import FirstRow, Preview, preview
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format, possible_formats
from annotations.languages import language_fault

COUNTED = (
    *("dialogue", "message", "turn", "system", "response", "rater", "rating", "label"),
    "preference",
)


class Command(ConsoleCommand):
    help = (
        "Read a corpus from a file, a folder or a zip archive: conversations, systems, responses "
        "and ratings. The format is detected. A file that is known changes nothing; a changed "
        "file makes a new version. A file with a problem stores nothing."
    )
    epilog = """
    Up to 100 problems are listed with their place and field. docs/formats.md describes every
    format. In the browser organisers do the same under Corpora, Add a corpus.

      manage.py import_corpus ratings.xlsx --dry-run
      manage.py import_corpus ratings.xlsx --write-mapping ratings.yaml
      manage.py import_corpus ratings.xlsx --mapping ratings.yaml --slug study-1
      manage.py import_corpus usr pc_usr_data.json --slug usr --name "USR Persona-Chat"
    """

    def add_arguments(self, parser: CommandParser) -> None:
        known = importers()
        parser.add_argument(
            "format",
            metavar="FORMAT",
            nargs="?",
            choices=sorted(known),
            help=f"default: detected. One of {', '.join(sorted(known))}",
        )
        parser.add_argument(
            "path", metavar="PATH", type=Path, help="at most DIALEVAL_MAX_IMPORT_MB"
        )
        parser.add_argument(
            "--slug",
            help="the corpus's short name in commands and addresses (default: made from the "
            "file's name); a file with several corpora makes SLUG-part of each, such as "
            "grade-dailydialog",
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
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="print the format, counts and first rows; store nothing",
        )
        parser.add_argument(
            "--mapping",
            type=Path,
            metavar="FILE",
            help="YAML that says what each column of a table is",
        )
        parser.add_argument(
            "--write-mapping",
            type=Path,
            metavar="FILE",
            help="write the guessed mapping of a table to this file; store nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        slug = options["slug"]
        if slug is None:
            slug = slugify(path.name.partition(".")[0])[:80]
        try:
            validate_slug(slug)
        except ValidationError:
            raise CommandError("--slug: letters, figures, hyphens and underscores only") from None
        if fault := language_fault(options["language"]):
            raise CommandError(f"--language {fault}")
        try:
            importer, mapping = _importer_and_mapping(options)
            if options["write_mapping"]:
                self._write_mapping(options["write_mapping"], preview(importer, path, mapping))
                return
            if options["dry_run"]:
                self._show(importer, path, preview(importer, path, mapping))
                return
            outcomes = actions.import_corpus(
                table.with_mapping(mapping) if mapping else importer,
                path,
                slug,
                options["name"],
                is_public=not options["private"],
                language=options["language"],
            )
        except ImportFailed as failure:
            self._refuse(failure, options)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from None
        for outcome in outcomes:
            self.stdout.write(_line(outcome))
            self._list_skipped(outcome.survey.skipped, outcome.survey.skipped_count)

    def _refuse(self, failure: ImportFailed, options: dict[str, Any]) -> None:
        for problem in failure.problems:
            self.stderr.write(str(problem))
        if failure.stopped:
            self.stderr.write("and more; stopped")
        count = _number(len(failure.problems), "problem") + (" or more" if failure.stopped else "")
        likely, _ = likely_format(options["path"])
        looks = ""
        if options["format"] and likely not in (None, options["format"]):
            looks = f"; the file looks like {likely}"
        raise CommandError(f"nothing was stored: {count}{looks}") from None

    def _write_mapping(self, target: Path, found: Preview) -> None:
        if found.mapping is None:
            raise CommandError("only a table has a mapping; name the format: table")
        target.write_text(mapping_as_yaml(found.mapping), encoding="utf-8")
        self.stdout.write(f"{target}: what each column is. Correct it, then use --mapping")

    def _show(self, importer: Importer, path: Path, found: Preview) -> None:
        others = [one.name for one in possible_formats(path) if one.name != importer.name]
        also = f" (also possible: {', '.join(others)})" if others else ""
        self.stdout.write(f"format: {importer.name}{also}")
        for name, column in (found.mapping.columns if found.mapping else {}).items():
            of = ", ".join(part for part in (column.aspect, column.rater) if part)
            self.stdout.write(f"  {name or '(no name)'}: {column.use}{f' ({of})' if of else ''}")
        for part in found.parts:
            self.stdout.write(f"{part.part or 'corpus'}: {_counts(part.counts)}")
            self._list_skipped(part.skipped, part.skipped_count)
        for row in found.rows:
            self.stdout.write(_row(row))
        self.stdout.write("nothing was stored (--dry-run)")

    def _list_skipped(self, skipped: Any, count: int) -> None:
        if count:
            self.stdout.write(f"skipped: {_number(count, 'record')}, for example {skipped[0]}")


def _importer_and_mapping(options: dict[str, Any]) -> tuple[Importer, TableMapping | None]:
    """Raises CommandError where the format is not known, or the mapping is not one."""
    mapping = None
    if options["mapping"]:
        try:
            mapping = mapping_from_yaml(options["mapping"].read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise CommandError(f"--mapping {options['mapping']}: {error}") from None
        if options["format"] not in (None, table.IMPORTER.name):
            raise CommandError("--mapping is for the format table")
        return table.IMPORTER, mapping
    name = options["format"]
    if name is None:
        path: Path = options["path"]
        if not path.exists():
            raise CommandError(f"{path} does not exist")
        name, reason = likely_format(path)
        if name is None:
            raise CommandError(f"{path.name}: {reason}; name the format: import_corpus FORMAT PATH")
    return importers()[name], mapping


def _line(outcome: actions.ImportOutcome) -> str:
    version = outcome.version
    if not outcome.created:
        still = (
            ""
            if outcome.newest == version
            else f"; the newest version is still {outcome.newest.label}"
        )
        return f"{version.corpus.slug}: unchanged, {version.label} holds this content{still}"
    return (
        f"{version.corpus.slug}: stored {version.label} with {_counts(outcome.survey.counts)}; "
        f"language: {language_text(version)}"
    )


def _counts(counts: Counts) -> str:
    return ", ".join(
        _number(getattr(counts, f"{kind}s"), kind)
        for kind in COUNTED
        if getattr(counts, f"{kind}s")
    )


def _row(row: FirstRow) -> str:
    turn = "" if row.turn is None else f" turn {row.turn}"
    lines = [f"{row.dialogue}{turn}{f', {row.system}' if row.system else ''}"]
    lines += [f"  context: {row.context}"] if row.context else []
    lines += [f"  response: {row.response}"] if row.system else []
    lines += [f"  {one}" for one in row.judgements[:5]]
    return "\n".join(line.replace("\n", " ⏎ ") for line in lines)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
