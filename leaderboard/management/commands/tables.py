from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import (
    MAX_DRAWS,
    ConsoleCommand,
    add_format_argument,
    comma_list,
    figure,
    figure_with_interval,
    parse_integer,
)
from annotations.corpora.queries import NotFound
from common.tables.numerals import Dash
from leaderboard.queries.defaults import RESAMPLES, SEED
from leaderboard.reproduction.cmn import cmn_table
from leaderboard.reproduction.corpora import Choice
from leaderboard.reproduction.cpdscore import cpdscore_table
from leaderboard.reproduction.data_sets import AGREEMENT, agreement_table, benchmarks_table
from leaderboard.reproduction.density import density_table
from leaderboard.reproduction.fbd import FINE_GRAINED, fbd_table
from leaderboard.reproduction.output import cmn as cmn_forms
from leaderboard.reproduction.output import cpdscore, fbd_figures
from leaderboard.reproduction.output import density as density_forms
from leaderboard.reproduction.output import fbd as fbd_forms
from leaderboard.reproduction.output.comparison import comparison_text
from leaderboard.reproduction.published import paper
from workers.metrics.common.configuration import ConfigurationError


class Command(ConsoleCommand):
    help = (
        "A published table with what is computed here beside each of its figures. fbd: "
        "correlations of nine metrics with people on six corpora, at system level (Xiang et al., "
        "2021). cpdscore: ComperDial's tables 4, 5, 6 and 3, with every finished configuration of "
        "their metrics (Wakaki et al., 2024). density: DEnsity's tables 1, 2, 4 and 5 (Park et "
        "al., 2023), and cmn: CMN's tables 1 and 2 (Zhao et al., 2023), with all that models "
        "trained here make; those that differ by their seed are gathered. agreement: how far "
        "raters agree, and benchmarks: how large rated corpora are, in these papers and here."
    )
    epilog = """
    Computes no metric: for what is missing it says, corpus by corpus, which command comes next (in
    the JSON missing, with corpus, reason and command). A cell is filled where the score of every
    system is there. First comes how many printed figures have something of ours beside them, and
    how many of these are, in at least one configuration, ours to the paper's digits (in the JSON
    agreement). What differs from the paper by its making is in why_not and notes.

    fbd prints sizes of correlations, as the paper does; † marks one that goes against the metric's
    own direction. The JSON has the sign (value), the size (absolute) and against_direction, and of
    each corpus the systems and the decoding that the paper names. Beneath a row's own configuration
    stand the other finished ones of its metric and what was submitted under its name, so that
    encoders can be compared. --aspect has the paper's fine-grained table of Daily(Z) instead of the
    six corpora; --format svg draws its figures: the mean over encoders by corpus, and the mean over
    corpora by encoder, printed and ours.

    cpdscore has a row's published lines first, each with its judge, then every finished
    configuration of its metric that is there of all systems. * marks p ≥ .05, in the paper and
    here. A published row is alone where nothing of ours is there. Where no metric here is its own
    (RADE, GRADE, USR, USL-H) scores that were submitted under its name stand beside it, in density
    and cmn, too. Table 5 holds metrics against ratings of whole dialogues alone;
    its row Human is people who rated turns against people who rated dialogues. CPDS-Dial's
    intermediate score is cpdscore_dialogue[report=overall_turn]. Below the paper's tables every
    other corpus that a judge has scored has Tables 4 and 5 of its own.

    density and cmn have a table for each evaluation set. Models that differ by nothing but their
    seed are gathered: the mean with the lowest and the highest, then each seed. First comes whether
    ours is like theirs, seed by seed beside the paper's; last, the models with their data. As text
    the tables that hold something of ours are shown, or all where none does; JSON, CSV and LaTeX
    have all. CMN's evaluation sets are its authors' own, so its figures are next to other responses
    to the same sources; sets that subset cuts stand beside the paper's standard or diverse set
    alone. An aspect may be the mean of several: appropriateness+coherence is theirs.

      manage.py tables cpdscore --corpora usr-persona=usr --exclude "Original Ground Truth"
      manage.py tables density --exclude "Original Ground Truth"
      manage.py tables cmn --corpora dailydialog-standard=near,dailydialog-diverse=far
      manage.py tables agreement --corpora cmn-dailydialog=far --aspect coherence
    """

    def add_arguments(self, parser: CommandParser) -> None:
        keys = {
            table: ", ".join(one.key for one in paper(name).corpora)
            for table, name in {
                "fbd": "fbd", "cpdscore": "comperdial", "density": "density", "cmn": "cmn"
            }.items()
        }  # fmt: skip
        keys["agreement"] = ", ".join(dict.fromkeys(one.slug for one in AGREEMENT))
        of_tables = "; ".join(f"of {table}: {names}" for table, names in keys.items())
        parser.add_argument(
            "table", choices=list(_TABLES), metavar="TABLE", help=f"one of {', '.join(_TABLES)}"
        )
        parser.add_argument(
            "--corpora",
            type=_renamed,
            default={},
            metavar="personam=S,…",
            help=f"corpora that have other names here: {of_tables}. usr-persona may be called usr, "
            "and dailydialog-zhao dailyz",
        )
        parser.add_argument(
            "--corpus",
            type=comma_list,
            default=[],
            metavar="a,b",
            help="of the paper's corpora these alone, by the names that --corpora takes",
        )
        parser.add_argument(
            "--model",
            type=comma_list,
            default=[],
            metavar="M,…",
            help="fbd: the encoders, where they are not each metric's default; cpdscore: of "
            "judges, only this one",
        )
        parser.add_argument(
            "--aspect",
            type=comma_list,
            default=[],
            metavar="a,b",
            help="of the human scores, where it is not a corpus's main one; fbd: instead of the "
            "corpora these aspects of Daily(Z), of " + ", ".join(FINE_GRAINED.columns),
        )
        parser.add_argument(
            "--exclude",
            type=comma_list,
            default=[],
            metavar="x,y",
            help="systems to leave out, wherever they are",
        )
        parser.add_argument(
            "--resamples",
            type=parse_integer(0, MAX_DRAWS),
            default=RESAMPLES,
            help=f"bootstrap draws of dialogues, up to {MAX_DRAWS:,}; 0: no intervals",
        )
        parser.add_argument("--seed", type=parse_integer(0), default=SEED, help="of the draws")
        add_format_argument(parser, "csv", "latex", "svg")

    def handle(self, *args: Any, **options: Any) -> None:
        table = options["table"]
        if table != "fbd" and options["format"] == "svg":
            raise CommandError("--format svg is for fbd")
        if table != "fbd" and len(options["aspect"]) > 1:
            raise CommandError("several aspects are for fbd")
        if table in ("agreement", "benchmarks"):
            for name in ("corpus", "aspect", "exclude"):
                if options[name] and (table, name) != ("agreement", "aspect"):
                    raise CommandError(f"--{name} is not for {table}")
        if options["model"] and table not in ("fbd", "cpdscore"):
            raise CommandError(f"--model is not for {table}")
        if table != "fbd" and len(options["model"]) > 1:
            raise CommandError("several models are for fbd")
        choice = Choice(
            options["corpora"],
            options["corpus"],
            options["exclude"],
            "" if table == "fbd" else ",".join(options["aspect"]),
            options["resamples"],
            options["seed"],
        )
        try:
            _TABLES[table](self, options, choice)
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None

    def _fbd(self, options: dict[str, Any], choice: Choice) -> None:
        if options["aspect"] and options["corpus"]:
            raise CommandError("the aspects are of Daily(Z): --corpus is for the six corpora")
        document = fbd_table(choice, options["model"], options["aspect"])
        if options["format"] == "svg":
            self.stdout.write(fbd_figures.to_svg(document))
        elif not self.print_as(options["format"], document, fbd_forms.to_csv, fbd_forms.to_latex):
            self._print_comparison(document)
            self.print_table(fbd_forms.header(document), fbd_forms.text_rows(document))
            for note in document["notes"]:
                self.stdout.write(note)
        self._say_what_is_missing(document)
        cells = [cell for row in document["rows"] for cell in row["cells"] if cell["published"]]
        here = sum(cell["spearman"]["value"] is not None for cell in cells)
        self.say(
            f"{here} of {len(cells)} cells are computed here. Published: {document['published']}"
        )

    def _cpdscore(self, options: dict[str, Any], choice: Choice) -> None:
        document = cpdscore_table(choice, ",".join(options["model"]))
        if not self.print_as(options["format"], document, cpdscore.to_csv, cpdscore.to_latex):
            self._print_comparison(document)
            self._print_tables(cpdscore.text_tables(document), document["notes"])
        self._say_what_is_missing(document)
        for judged in document["worth"]:
            self.say(f"{', '.join(judged['configurations'])}: {judged['worth']}.")
        ours = [
            ours for table in document["tables"] for row in table["rows"] for ours in row["ours"]
        ]
        self.say(f"{len(ours)} lines are computed here. Published: {document['published']}")

    def _density(self, options: dict[str, Any], choice: Choice) -> None:
        self._trained(options, density_table(choice), density_forms)

    def _cmn(self, options: dict[str, Any], choice: Choice) -> None:
        self._trained(options, cmn_table(choice), cmn_forms)

    def _agreement(self, options: dict[str, Any], choice: Choice) -> None:
        document = agreement_table(choice.slugs, choice.aspect)
        if self._printed_as_json(options, document):
            return
        rows = []
        for row in document["rows"]:
            printed, ours = row["published"], row["ours"]
            rows.append(
                [
                    row["title"],
                    row["coefficient"],
                    figure(printed["value"], 2),
                    printed["band"],
                    Dash(ours["reason"]) if ours["value"] is None else figure_with_interval(ours),
                    ours.get("band") or Dash(ours["reason"]),
                ]
            )
        self.print_table(["data", "coefficient", "published", "band", "ours", "band"], rows)
        self.stdout.write("\n".join(document["notes"]))

    def _benchmarks(self, options: dict[str, Any], _choice: Choice) -> None:
        document = benchmarks_table()
        if self._printed_as_json(options, document):
            return
        rows = [
            [
                f"{row['benchmark']}, {row['data']}",
                f"{row['turns']:,}",
                Dash("not rated") if row["dialogues"] is None else f"{row['dialogues']:,}",
                f"{row['systems']:,}",
                row["evaluation"],
            ]
            for row in document["rows"]
        ]
        rows += [
            [
                row["corpus"],
                f"{row['turns']:,}",
                f"{row['dialogues']:,}",
                f"{row['systems']:,}",
                row["corpus_version"],
            ]
            for row in document["corpora"]
        ]
        self.print_table(["data", "rated turns", "rated dialogues", "systems", ""], rows)
        self.say(f"{len(document['corpora'])} corpora here. Published: {document['published']}")

    def _printed_as_json(self, options: dict[str, Any], document: dict[str, Any]) -> bool:
        if options["format"] not in ("table", "json"):
            raise CommandError(f"{options['table']} is printed as a table or json")
        if options["format"] == "json":
            self.print_json(document)
        return bool(options["format"] == "json")

    def _trained(
        self, options: dict[str, Any], document: dict[str, Any], forms: ModuleType
    ) -> None:
        if not self.print_as(options["format"], document, forms.to_csv, forms.to_latex):
            self._print_comparison(document)
            for line in forms.text_head(document):
                self.stdout.write(line)
            self._print_tables(forms.text_tables(document), forms.text_notes(document))
        self._say_what_is_missing(document)
        for model in document["models"]:
            if "reason" in model:
                self.say(f"{model['reason']}.")
        here = sum(
            len(ours["scored"])
            for table in document["tables"]
            for row in table["rows"]
            for ours in row["ours"]
        )
        self.say(f"{here} lines are computed here. Published: {document['published']}")

    def _print_tables(
        self, tables: Iterable[tuple[str, list[str], list[list[str]]]], notes: list[str]
    ) -> None:
        for title, header, rows in tables:
            self.stdout.write(title)
            self.print_table(header, rows)
            self.stdout.write("")
        self.stdout.write("\n".join(notes))

    def _print_comparison(self, document: dict[str, Any]) -> None:
        self.stdout.write(comparison_text(document))
        self.stdout.write("")

    def _say_what_is_missing(self, document: dict[str, Any]) -> None:
        for line in document["missing"]:
            following = f". Next: {line['command']}" if line["command"] else ""
            self.say(f"{line['corpus']}: {line['reason']}{following}")


_TABLES = {
    "fbd": Command._fbd,
    "cpdscore": Command._cpdscore,
    "density": Command._density,
    "cmn": Command._cmn,
    "agreement": Command._agreement,
    "benchmarks": Command._benchmarks,
}


def _renamed(text: str) -> dict[str, str]:
    """``personam=a,dailyz=b``."""
    renamed = {}
    for part in comma_list(text):
        name, equals, slug = (piece.strip() for piece in part.partition("="))
        if not (name and equals and slug):
            raise ArgumentTypeError(f"{part!r} is not name=slug")
        renamed[name] = slug
    return renamed
