from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_slug
from django.utils.text import slugify

from annotations.console import ConsoleCommand
from annotations.corpora import actions
from annotations.corpora.addresses import fetched
from annotations.corpora.queries import language_text
from annotations.formats.importers import table
from annotations.formats.importers.base import Importer, PartSurvey
from annotations.formats.importers.checks import Counts
from annotations.formats.importers.column_mapping import (
    TableMapping,
    mapping_as_yaml,
    mapping_from_yaml,
)
from annotations.formats.importers.left_out import LeftOut, left_out
from annotations.formats.importers.preview import FirstRow, Preview, preview
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format, possible_formats
from annotations.languages import language_fault
from annotations.sources.remote import NotFetched, is_address
from common.temporary import temporary_folder

SECONDS_BETWEEN_LINES = 10
COUNTED = (
    *("dialogue", "message", "turn", "system", "response", "rater", "rating", "label"),
    "preference",
)


class Command(ConsoleCommand):
    help = (
        "Read a corpus from a file, a folder, a zip archive or an address: conversations, systems, "
        "responses and ratings. The format is detected. A file that is known changes nothing; a "
        "changed file makes a new version. A file with a problem stores nothing, unless "
        "--good-only."
    )
    epilog = """
    Up to 100 problems are listed with their place and field. docs/formats.md describes every
    format. In the browser organisers do the same under Corpora, Add a corpus.

      manage.py import_corpus ratings.xlsx --dry-run
      manage.py import_corpus ratings.xlsx --write-mapping ratings.yaml
      manage.py import_corpus ratings.xlsx --mapping ratings.yaml --slug study-1
      manage.py import_corpus usr pc_usr_data.json --slug usr --name "USR Persona-Chat"
      manage.py import_corpus hf://datasets/OWNER/NAME@main/data/test.jsonl --dry-run
      manage.py import_corpus logs.jsonl --good-only --bad-records bad.csv
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
            "path",
            metavar="PATH",
            help="file or folder, https://… or hf://OWNER/NAME[@REVISION][/FILE or "
            "/CONFIG:SPLIT]; at most DIALEVAL_MAX_IMPORT_MB",
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

        parser.add_argument(
            "--good-only",
            action="store_true",
            help="leave out bad records, and what refers to them, and store the others",
        )
        parser.add_argument(
            "--bad-records",
            type=Path,
            metavar="FILE",
            help="write the records that are skipped or left out to this CSV file",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        progress = Progress(self.say)
        if not is_address(options["path"]):
            self._read(Path(options["path"]), options, progress)
            return
        with temporary_folder() as folder:
            try:
                found = fetched(
                    options["path"],
                    folder,
                    most_bytes=settings.MAX_IMPORT_BYTES,
                    seconds=settings.IMPORT_SECONDS,
                    moved=progress.moved,
                )
            except NotFetched as problem:
                raise CommandError(f"nothing was stored: {problem}") from None
            self.say(f"downloaded {found.source}")
            options["slug"] = options["slug"] or found.name
            self._read(found.path, options, progress, found.source)

    def _read(
        self, path: Path, options: dict[str, Any], progress: Progress, source: str = ""
    ) -> None:
        options = {**options, "path": path}
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
                good_only = options["good_only"]
                self._show(importer, path, preview(importer, path, mapping, good_only=good_only))
                return
            outcomes = actions.import_corpus(
                table.with_mapping(mapping) if mapping else importer,
                path,
                slug,
                options["name"],
                is_public=not options["private"],
                language=options["language"],
                good_only=options["good_only"],
                source=source,
                progress=progress.passed,
            )
        except KeyboardInterrupt:
            raise CommandError(
                "cancelled: nothing was stored. The same command begins again"
            ) from None
        except ImportFailed as failure:
            self._refuse(failure, options)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from None
        for outcome in outcomes:
            self.stdout.write(_line(outcome))
            self._list_left_out(outcome.survey)
        if options["bad_records"]:
            self._write_bad_records(options["bad_records"], path, outcomes)

    def _write_bad_records(
        self, target: Path, path: Path, outcomes: list[actions.ImportOutcome]
    ) -> None:
        records = [one for each in outcomes for one in left_out(path, each.survey).records]
        target.write_text(LeftOut(records=tuple(records)).csv(), encoding="utf-8", newline="")
        self.stdout.write(f"{target}: {_number(len(records), 'record')} not stored")

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
            self._list_left_out(part)
        for row in found.rows:
            self.stdout.write(_row(row))
        self.stdout.write("nothing was stored (--dry-run)")

    def _list_left_out(self, part: PartSurvey) -> None:
        listed = (
            ("left out", part.left_out, len(part.left_out), "fault"),
            ("skipped", part.skipped, part.skipped_count, "record"),
        )
        for what, problems, count, noun in listed:
            if count:
                self.stdout.write(f"{what}: {_number(count, noun)}, for example {problems[0]}")


class Progress:
    """A line each ten seconds at most."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.told = time.monotonic()

    def moved(self, there: int, size: int | None) -> None:
        of_all = f" of {size / 1e6:.1f}" if size else ""
        self._say(f"downloaded {there / 1e6:.1f}{of_all} MB")

    def passed(self, what: str, count: int) -> None:
        if what == "continued":
            self.say(f"{count:,} dialogues were stored before the import was killed; it goes on")
        else:
            self._say(f"{what} {count:,} records")

    def _say(self, line: str) -> None:
        if time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            self.told = time.monotonic()
            self.say(line)


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
