from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand, parse_integer
from annotations.corpora.queries import NotFound, resolve_aspects, version_of
from common.database import read_snapshot
from common.temporary import temporary_folder
from leaderboard.reproduction.evaluation_sets import Cut, TooFewError
from leaderboard.subsets import cut_set, write_set
from workers.metrics.common.configuration import ConfigurationError


class Command(ConsoleCommand):
    help = (
        "Write the responses of a corpus that a metric, or people, score high or low as a corpus "
        "of their own, with their turns and ratings: an evaluation set."
    )
    epilog = """
    The file is one of import_corpus jsonl. The sets of CMN (Zhao et al., 2023) are the 200
    responses with the highest BLEU-1, and 600 drawn of those below .2, half of them from either
    corpus; their positive part is what people score 4 or more. Ratings of whole dialogues are left
    out.

      manage.py subset daily --by bleu_1 --highest 100 --to standard.jsonl
      manage.py subset daily --by bleu_1 --below 0.2 --draw 300 --balanced --to diverse.jsonl
      manage.py subset daily-diverse --by human --at-least 4 --to positive.jsonl
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", metavar="CORPUS", help="its slug: its newest version")
        parser.add_argument(
            "--by",
            required=True,
            metavar="human|METRIC",
            help="a configuration that is computed or submitted; human: the mean over raters",
        )
        parser.add_argument("--aspect", help="of human (default: the corpus's main aspect)")
        parser.add_argument("--at-least", type=float, metavar="X", help="scores from X on")
        parser.add_argument("--below", type=float, metavar="X", help="scores under X")
        parser.add_argument(
            "--highest", type=parse_integer(1), default=0, metavar="N", help="the N highest"
        )
        parser.add_argument(
            "--draw", type=parse_integer(1), default=0, metavar="N", help="N of them, at random"
        )
        parser.add_argument(
            "--balanced", action="store_true", help="with --draw: as many of every system"
        )
        parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the draw")
        parser.add_argument(
            "--to", type=Path, required=True, metavar="FILE", help="the file to write"
        )
        parser.add_argument("--replace", action="store_true", help="replace a file that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        cut = _cut(options)
        target: Path = options["to"]
        if target.exists() and not options["replace"]:
            raise CommandError(f"{target} is there already; --replace replaces it")
        try:
            with read_snapshot(), temporary_folder(beside=target) as folder:
                version = version_of(options["corpus"])
                aspect = resolve_aspects(version, options["aspect"])
                chosen = cut_set(version, options["by"], aspect, cut)
                file = folder / "subset.jsonl"
                write_set(version, chosen, file)
                os.replace(file, target)
        except (NotFound, ConfigurationError, TooFewError) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{target} cannot be written: {refusal.strerror}") from None
        self.stdout.write(
            f"{target}: {len(chosen.places):,} of {chosen.of:,} responses, mean {chosen.score} "
            f"{chosen.mean:.3f}; "
            + ", ".join(f"{system} {count:,}" for system, count in chosen.by_system.items())
        )


def _cut(options: dict[str, Any]) -> Cut:
    names = ("at_least", "below", "highest", "draw", "balanced", "seed")
    cut = Cut(**{name: options[name] for name in names})
    if cut == Cut(balanced=cut.balanced, seed=cut.seed):
        raise CommandError("say which: --at-least, --below, --highest or --draw")
    if cut.balanced and not cut.draw:
        raise CommandError("--balanced is for --draw")
    return cut
