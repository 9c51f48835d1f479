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
from leaderboard.reproduction.adversarial import (
    adversarial_check,
    given_cases_check,
    selection_figures,
)
from leaderboard.reproduction.output import adversarial
from workers.inference.model_files import ModelError
from workers.metrics.common.configuration import (
    Configuration,
    ConfigurationError,
    MetricUnavailableError,
    parse_list,
)
from workers.training.core.conversations import TrainingDialogue, dialogues_of, read_dialogues
from workers.training.core.given_cases import read_cases
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
        "Figure 3); or above what others have made of them. It computes in this process."
    )
    epilog = """
    Stores nothing. Three kinds are derived from each answer: repetition, one of its
    words said again one to five times; speaker, the context's last utterance put before it; random,
    an answer of another dialogue. The paper's fourth, a contradiction, is not made: it takes more
    than a rule. --cases reads what Khalid and Lee (2022) release, a folder for each kind,
    contradiction among them. accuracy is the share of pairs whose true answer scores higher; a tie
    is a failure, a pair of which one side has no score is left out (undefined). Its 95 % interval
    is over dialogues: the spread that leaving out one dialogue at a time measures, on Wilson's
    scale, which ends at 0 and 1. A metric that looks at a reference too (cmn, bert_ruber) is shown
    the true answer as one, which makes the question easy; a note says so. --histogram shows how the
    scores of answers and of each kind are distributed (DEnsity's Figure 5): with two models, one
    trained without L_CL, side by side. --candidates N asks the metric to find the answer among N
    answers of other dialogues instead, and prints R@1 and MRR (Table 5).

      manage.py adversarial --metrics "density[trained=daily]" --corpus dailydialog/test.json
      manage.py adversarial --metrics "density[trained=daily]" --cases test_conversations
      manage.py adversarial --metrics "density[trained=daily]" --candidates 15 --corpus t.json
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--metrics",
            required=True,
            metavar="a,b",
            help="configurations that score a response in its context: density[trained=NAME]; "
            "refused, with the reason, are others, and LLM judges, which have a budget",
        )
        data = parser.add_mutually_exclusive_group(required=True)
        data.add_argument(
            "--cases",
            type=Path,
            metavar="DIR",
            help="cases that others have made, in Khalid and Lee's layout: docs/formats.md",
        )
        data.add_argument(
            "--corpus",
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
        parser.add_argument(
            "--candidates",
            type=parse_integer(1, 1000),
            metavar="N",
            help="instead: R@1 and MRR of the answers among N others (the paper: 15, or 19)",
        )
        parser.add_argument(
            "--histogram", action="store_true", help="how the scores of each kind are distributed"
        )
        add_format_argument(parser, "csv", "latex")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            configurations = parse_list(options["metrics"])
            if options["cases"] is not None:
                self._given(configurations, options)
                return
            data, dialogues = _conversations(options["corpus"])
            if not dialogues:
                raise CommandError(
                    f"{options['corpus']} holds no conversation: nobody answers anybody in it"
                )
            if options["candidates"]:
                self._selection(configurations, dialogues, data, options)
                return
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
        self._print(document, options)
        self.say(
            f"{adversarial.data_text(document)}: {document['pairs']:,} of {document['of']:,} "
            f"answers, {document['dialogues']:,} dialogues, seed {document['seed']}"
        )

    def _given(self, configurations: list[Configuration], options: dict[str, Any]) -> None:
        if options["candidates"]:
            raise CommandError("--candidates is for --corpus")
        cases = read_cases(options["cases"])
        with tqdm(total=0, unit="text", file=self.stderr._out, disable=None) as bar:
            found = given_cases_check(configurations, cases, _progress(bar))
        document = {"data": {"folder": str(options["cases"])}, **found}
        self._print(document, options)
        self.say(f"{adversarial.data_text(document)}: {document['pairs']:,} cases")

    def _selection(
        self,
        configurations: list[Configuration],
        dialogues: list[TrainingDialogue],
        data: dict[str, str],
        options: dict[str, Any],
    ) -> None:
        if options["format"] not in ("table", "json"):
            raise CommandError("--candidates is printed as a table or json")
        with tqdm(total=0, unit="text", file=self.stderr._out, disable=None) as bar:
            rows = selection_figures(
                configurations,
                dialogues,
                options["candidates"],
                options["seed"],
                options["pairs"],
                _progress(bar),
            )
        document = {"data": data, "seed": options["seed"], "rows": rows}
        if options["format"] == "json":
            self.print_json(document)
        else:
            header = ["metric", "R@1", "MRR", "candidates", "contexts", "undefined"]
            self.print_table(header, adversarial.selection_rows(rows))
        self.say(f"{adversarial.data_text(document)}, seed {options['seed']}")

    def _print(self, document: dict[str, Any], options: dict[str, Any]) -> None:
        if self.print_as(options["format"], document, adversarial.to_csv, adversarial.to_latex):
            return
        self.print_table(adversarial.header(document), adversarial.text_rows(document))
        if options["histogram"]:
            for title, header, rows in adversarial.histogram_tables(document):
                self.stdout.write(title)
                if rows:
                    self.print_table(header, rows)
        self.stdout.write(
            "Shares of answers that score higher, with 95 % intervals over dialogues."
        )
        for note in (*adversarial.undefined_text(document), *document["notes"]):
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
