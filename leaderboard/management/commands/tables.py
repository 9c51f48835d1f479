from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import MAX_DRAWS, ConsoleCommand, comma_list, whole_number
from annotations.queries import NotFound
from leaderboard.published import fbd
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.queries.fbd_table import fbd_table
from leaderboard.tables_fbd import header, text_rows, to_csv, to_latex
from workers.metrics.configuration import ConfigurationError


class Command(ConsoleCommand):
    help = (
        "A published table with what is computed here beside each of its figures. fbd: correlations of nine metrics "
        "with people on six corpora, at system level (Xiang et al., 2021)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = ", ".join(corpus.slug for corpus in fbd.CORPORA)
        parser.add_argument("table", choices=["fbd"], metavar="TABLE", help="fbd")
        parser.add_argument(
            "--corpora",
            type=_renamed,
            default={},
            metavar="personam=S,…",
            help=f"corpora that have other names here than {names}",
        )
        parser.add_argument(
            "--model", default="", metavar="M", help="the encoder, where it is not each metric's default"
        )
        parser.add_argument(
            "--resamples",
            type=whole_number(0, MAX_DRAWS),
            default=RESAMPLES,
            help=f"bootstrap draws of dialogues, up to {MAX_DRAWS:,}; 0: no intervals",
        )
        parser.add_argument("--seed", type=whole_number(0), default=SEED, help="of the draws")
        parser.add_argument("--format", choices=["table", "json", "csv", "latex"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            document = fbd_table(
                options["corpora"], options["model"], resamples=options["resamples"], seed=options["seed"]
            )
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None
        self._print(document, options["format"])
        for line in document["missing"]:
            self.say(f"{line['corpus']}: {line['reason']}. Next: {line['command']}")
        cells = [cell for row in document["rows"] for cell in row["cells"]]
        here = sum(cell["spearman"]["value"] is not None for cell in cells)
        self.say(f"{here} of {len(cells)} cells are computed here. Published: {document['published']}")

    def _print(self, document: dict[str, Any], form: str) -> None:
        if not self.print_as(form, document, to_csv, to_latex):
            self.print_table(header(document), text_rows(document))
            for note in document["notes"]:
                self.stdout.write(note)


def _renamed(text: str) -> dict[str, str]:
    """``personam=a,dailyz=b``."""
    renamed = {}
    for part in comma_list(text):
        name, equals, slug = (piece.strip() for piece in part.partition("="))
        if not (name and equals and slug):
            raise ArgumentTypeError(f"{part!r} is not name=slug")
        renamed[name] = slug
    return renamed
