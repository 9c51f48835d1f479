from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
    parse_integer,
)
from annotations.corpora.queries import NotFound, version_of
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.problems import ImportFailed
from leaderboard.reproduction.adversarial import adversarial_check
from leaderboard.reproduction.output import adversarial
from workers.inference.model_files import ModelError
from workers.metrics.common.configuration import (
    Configuration,
    ConfigurationError,
    MetricUnavailableError,
    parse_list,
)
from workers.training.core.conversations import TrainingDialogue, dialogues_of, read_dialogues
from workers.training.core.settings import TrainingError
from workers.training.data import Source

PAIRS = 1000
REFUSALS = (
    NotFound,
    ConfigurationError,
    MetricUnavailableError,
    ModelError,
    TrainingError,
    ImportFailed,
)


class Command(ConsoleCommand):
    help = (
        "Whether metrics score people's answers above the same answers spoilt by rules: a "
        "repeated word, the last utterance said back, an answer of another dialogue (DEnsity's "
        "Figure 3). It computes in this process."
    )
    epilog = """
    Stores nothing. Three kinds are derived from each answer: repetition, one of its words said
    again one to five times; speaker, the context's last utterance put before it; random, an answer
    of another dialogue. The paper's fourth, a contradiction, is not made: it takes more than a
    rule. accuracy is the share of pairs whose true answer scores higher; a tie is a failure, a pair
    of which one side has no score is left out (undefined). Its 95 % interval is over dialogues: the
    spread that leaving out one dialogue at a time measures, on Wilson's scale, which ends at 0 and
    1. A metric that looks at a reference too (cmn, bert_ruber) is shown the true answer as one,
    which makes the question easy; a note says so.

      manage.py adversarial --metrics "density[trained=daily]" --corpus dailydialog/test.json
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--metrics",
            required=True,
            metavar="a,b",
            help="configurations that score a response in its context: density[trained=NAME]; "
            "refused, with the reason, are others, and LLM judges, which have a budget",
        )
        parser.add_argument(
            "--corpus",
            required=True,
            metavar="S",
            help="a corpus's slug (its newest version), or a file of conversations as for train; "
            "all "
            "its answers count, by either speaker",
        )
        parser.add_argument(
            "--pairs",
            type=parse_integer(0),
            default=PAIRS,
            metavar="P",
            help="answers drawn by the seed; 0: all",
        )
        parser.add_argument(
            "--seed",
            type=parse_integer(0),
            default=0,
            help="of the draws and of what is spoilt how",
        )
        add_format_argument(parser, "csv", "latex")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            configurations = parse_list(options["metrics"])
            data, dialogues = _conversations(options["corpus"])
            if not dialogues:
                raise CommandError(
                    f"{options['corpus']} holds no conversation: nobody answers anybody in it"
                )
            with tqdm(total=0, unit="text", file=self.stderr._out, disable=None) as bar:
                progress = _progress(bar)
                document = {
                    "data": data,
                    **adversarial_check(
                        configurations, dialogues, options["seed"], options["pairs"], progress
                    ),
                }
        except REFUSALS as refusal:
            raise CommandError(str(refusal)) from None
        self._print(document, options["format"])
        self.say(
            f"{adversarial.data_text(document)}: {document['pairs']:,} of {document['of']:,} "
            f"answers, {document['dialogues']:,} dialogues, seed {document['seed']}"
        )

    def _print(self, document: dict[str, Any], form: str) -> None:
        if self.print_as(form, document, adversarial.to_csv, adversarial.to_latex):
            return
        self.print_table(adversarial.header(), adversarial.text_rows(document))
        self.stdout.write(
            "Shares of answers that score higher, with 95 % intervals over dialogues."
        )
        for note in document["notes"]:
            self.stdout.write(note)


def _conversations(text: str) -> tuple[dict[str, str], list[TrainingDialogue]]:
    """A file goes before a corpus of the same name where it is written as a path."""
    path = Path(text).expanduser()
    if path.is_file() and ("/" in text or path.suffix):
        return Source.of_file(path).data, read_dialogues(path)
    version = version_of(text)
    return Source.of_version(version).data, dialogues_of(records_of(version))


def _progress(bar: Any) -> Any:
    def report(configuration: Configuration, done: int, of: int) -> None:
        bar.set_description_str(configuration.text)
        bar.total, bar.n = of, done
        bar.refresh()

    return report
