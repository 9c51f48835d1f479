from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora.additions import addition_to
from annotations.corpora.queries import NotFound, version_of
from annotations.formats.importers.base import survey
from annotations.formats.importers.column_mapping import (
    TableMapping,
    mapping_as_yaml,
    mapping_from_yaml,
)
from annotations.formats.importers.preview import table_columns
from annotations.formats.importers.problems import ImportFailed
from annotations.models import CorpusVersion
from leaderboard.additions import add_table
from leaderboard.metric_score_tables import add_metric_scores, read_metric_scores


class Command(ConsoleCommand):
    help = (
        "Add ratings, labels and responses from a table to a corpus: a new version of it. Or, with "
        "--metric-scores, add the scores of metrics to its newest version. What the corpus holds "
        "is not changed; the same file twice adds nothing. A file with a problem stores nothing."
    )
    epilog = """
    A row names the conversation, the turn and the system by the names that the corpus has for
    them; docs/formats.md says which columns are known by name, and what a row without a turn or
    system means. In the browser organisers do the same on the corpus's page.

      manage.py add_to_corpus usr more-ratings.csv --dry-run
      manage.py add_to_corpus usr more-ratings.xlsx --mapping columns.yaml
      manage.py add_to_corpus usr scores.csv --metric-scores --user ann
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="CORPUS", help="its slug")
        parser.add_argument(
            "path",
            metavar="FILE",
            type=Path,
            help="CSV, TSV, XLSX, Parquet, Arrow or JSON rows; at most DIALEVAL_MAX_IMPORT_MB",
        )
        parser.add_argument(
            "--to-version",
            type=int,
            metavar="N",
            help="the version that the file adds to (default: the newest)",
        )
        parser.add_argument(
            "--mapping",
            type=Path,
            metavar="FILE",
            help="YAML that says what each column is (default: guessed)",
        )
        parser.add_argument(
            "--write-mapping",
            type=Path,
            metavar="FILE",
            help="write the guessed mapping to this file; store nothing",
        )
        parser.add_argument(
            "--metric-scores",
            action="store_true",
            help="the columns of scores are metrics', named by their aspects",
        )
        parser.add_argument(
            "--lower-is-better",
            action="store_true",
            help="of all metrics in the file; with --metric-scores",
        )
        parser.add_argument(
            "--user",
            metavar="NAME",
            help="whose account the metrics stand under; with --metric-scores",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print what the file adds; store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            version = version_of(options["slug"], options["to_version"])
            if options["write_mapping"]:
                columns = table_columns(path)
                guess = TableMapping({one.name: one.column for one in columns})
                options["write_mapping"].write_text(mapping_as_yaml(guess), encoding="utf-8")
                self.stdout.write(
                    f"{options['write_mapping']}: what each column is. Correct it, then use "
                    "--mapping"
                )
            elif options["metric_scores"]:
                self._add_metric_scores(version, path, options)
            else:
                self._add(version, path, options)
        except NotFound as unknown:
            raise CommandError(str(unknown)) from None
        except ImportFailed as failure:
            for problem in failure.problems:
                self.stderr.write(str(problem))
            if failure.stopped:
                self.stderr.write("and more; stopped")
            raise CommandError("nothing was stored") from None
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from None

    def _add(self, version: CorpusVersion, path: Path, options: dict[str, Any]) -> None:
        mapping = _mapping(options["mapping"])
        if options["dry_run"]:
            addition = addition_to(version, mapping)
            survey(addition.importer, path)
            self._list_columns(addition.mapping or TableMapping())
            self.stdout.write(_counted(addition.counts.as_json()))
            self.stdout.write("nothing was stored (--dry-run)")
            return
        outcome = add_table(version, path, mapping)
        slug, label = options["slug"], outcome.version.label
        counts = _counted(outcome.added.as_json())
        if outcome.created:
            self.stdout.write(f"{slug}: stored {label}, made of {version.label}: {counts}")
        else:
            self.stdout.write(f"{slug}: unchanged, {label} holds this content")

    def _add_metric_scores(
        self, version: CorpusVersion, path: Path, options: dict[str, Any]
    ) -> None:
        mapping = _mapping(options["mapping"])
        if options["dry_run"]:
            for one in read_metric_scores(version, path, mapping):
                self.stdout.write(f"{one.name}: {one.given:,} scores of {one.level}s")
            self.stdout.write("nothing was stored (--dry-run)")
            return
        owner = get_user_model().objects.filter(username=options["user"] or "").first()
        if owner is None:
            raise CommandError("--user: name the account that the metrics stand under")
        higher = not options["lower_is_better"]
        for added in add_metric_scores(version, path, owner, mapping, higher):
            what = "added to" if added.created else "unchanged in"
            name = f"{options['slug']} {version.label}"
            self.stdout.write(f"{added.metric.name}: {what} {name}")

    def _list_columns(self, mapping: TableMapping) -> None:
        for name, column in mapping.columns.items():
            of = ", ".join(part for part in (column.aspect, column.rater) if part)
            self.stdout.write(f"  {name or '(no name)'}: {column.use}{f' ({of})' if of else ''}")


def _mapping(path: Path | None) -> TableMapping | None:
    if path is None:
        return None
    try:
        return mapping_from_yaml(path.read_text(encoding="utf-8"), to_add=True)
    except (ValueError, OSError) as error:
        raise CommandError(f"--mapping {path}: {error}") from None


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing new"
