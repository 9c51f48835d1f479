from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError, CommandParser
from numpy.typing import NDArray

from annotations.console import ConsoleCommand, parse_integer
from annotations.corpora.queries import NotFound, resolve_aspects, version_of
from annotations.formats.subset import Place
from common.database import read_snapshot
from common.tables.csv_text import csv_heading, csv_line
from common.temporary import temporary_folder
from leaderboard.queries.response_scores import HUMAN, response_scores
from leaderboard.statistics.metric_regression import (
    TooFewScoresError,
    fit,
    predict,
    predict_held_out,
)
from workers.metrics.common.configuration import ConfigurationError, parts_of_list


class Command(ConsoleCommand):
    help = (
        "Fit a linear regression of human scores on several metrics and write what it says of "
        "every response as the scores of one metric."
    )
    epilog = """
    So USR (Mehri and Eskenazi, 2020) makes one score of its parts. The file is one of add_to_corpus
    --metric-scores. Each response is predicted by a regression that has seen no rating of its
    dialogue: of a corpus's own ratings those of the other folds, with --fit-on those of another
    corpus alone, where one regression holds for all. Responses without a score by each metric are
    left out.

      manage.py combine usr --metrics "usr_mlm[model=mlm],usr_retrieval[trained=daily]" --name usr
          --to usr.csv
      manage.py add_to_corpus usr usr.csv --metric-scores --user ann
      manage.py combine usr --metrics bleu_4,meteor --name both --fit-on topical --to both.csv
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", metavar="CORPUS", help="its slug: its newest version")
        parser.add_argument(
            "--metrics",
            required=True,
            metavar="A,B",
            help="configurations that are computed or submitted, two or more",
        )
        parser.add_argument("--name", required=True, help="of the new metric")
        parser.add_argument("--aspect", help="fitted to (default: the corpus's main aspect)")
        parser.add_argument(
            "--fit-on",
            metavar="S",
            help="the corpus whose ratings are fitted (default: CORPUS, by folds of dialogues)",
        )
        parser.add_argument(
            "--folds",
            type=parse_integer(2),
            default=10,
            metavar="N",
            help="parts of the dialogues, without --fit-on",
        )
        parser.add_argument(
            "--to", type=Path, required=True, metavar="FILE", help="the CSV file to write"
        )
        parser.add_argument("--replace", action="store_true", help="replace a file that is there")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["to"]
        if target.exists() and not options["replace"]:
            raise CommandError(f"{target} is there already; --replace replaces it")
        try:
            metrics = parts_of_list(options["metrics"])
            if len(metrics) < 2:
                raise CommandError("name two metrics or more, with a comma between them")
            with read_snapshot():
                places, features, targets = _scores(options["corpus"], metrics, options["aspect"])
                fitted = (
                    _scores(options["fit_on"], metrics, options["aspect"])[1:]
                    if options["fit_on"]
                    else (features, targets)
                )
            rated = ~np.isnan(fitted[1])
            coefficients = fit(fitted[0][rated], fitted[1][rated])
            predicted = (
                predict(features, coefficients)
                if options["fit_on"]
                else predict_held_out(
                    features, targets, [dialogue for dialogue, _, _ in places], options["folds"]
                )
            )
            with temporary_folder(beside=target) as folder:
                (folder / "scores.csv").write_text(
                    _csv(options["name"], places, predicted), encoding="utf-8", newline=""
                )
                os.replace(folder / "scores.csv", target)
        except (NotFound, ConfigurationError, TooFewScoresError) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{target} cannot be written: {refusal.strerror}") from None
        terms = " + ".join(
            f"{weight:.4g} {metric}"
            for weight, metric in zip(coefficients[1:], metrics, strict=True)
        )
        self.stdout.write(
            f"{target}: {len(places):,} responses, fitted to {int(rated.sum()):,} rated ones of "
            f"{options['fit_on'] or options['corpus']}: {coefficients[0]:.4g} + {terms}"
        )


def _scores(
    slug: str, metrics: list[str], aspect: str | None
) -> tuple[list[Place], NDArray[np.float64], NDArray[np.float64]]:
    """Responses that every metric scores, their scores (responses × metrics), and their human
    scores, NaN where nobody rated one."""
    version = version_of(slug)
    chosen = resolve_aspects(version, aspect)
    columns = [response_scores(version, metric, chosen).by_place for metric in metrics]
    people = response_scores(version, HUMAN, chosen).by_place
    places = [place for place in columns[0] if all(place in column for column in columns)]
    features = np.array([[column[place] for column in columns] for place in places])
    targets = np.array([people.get(place, np.nan) for place in places])
    return places, features.reshape(len(places), len(metrics)), targets


def _csv(name: str, places: list[Place], predicted: NDArray[np.float64]) -> str:
    rows = zip(places, predicted.tolist(), strict=True)
    return csv_heading(("dialog_id", "turn", "system", name)) + "".join(
        csv_line((*place, None if np.isnan(value) else value)) for place, value in rows
    )
