from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand
from annotations.corpora import actions
from annotations.corpora.queries import NotFound, version_of


class Command(ConsoleCommand):
    help = (
        "Delete a corpus with all its versions, ratings and scores. Refused while it has metric "
        "runs, unless --force."
    )
    epilog = """
    Works in short transactions, so others may write meanwhile: scores go first, then the corpus at
    once, then its rows. Stopped before the corpus goes, it is a corpus without some of its scores;
    stopped later, a worker removes the rest.
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="CORPUS", help="its slug")
        parser.add_argument("--force", action="store_true", help="delete its metric runs too")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            corpus = version_of(options["slug"]).corpus
            actions.delete_corpus(corpus, force=options["force"])
        except (NotFound, actions.CorpusHasResults) as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{options['slug']}: deleted")
