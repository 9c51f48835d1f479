from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotations.console import ConsoleCommand, add_format_argument, figure, parse_integer
from annotations.corpora.queries import NotFound, resolve_aspects, version_of
from annotations.models import CorpusVersion
from common.tables.numerals import Dash
from leaderboard.queries.case_study import DRAWN, case_study
from leaderboard.queries.response_scores import HUMAN, human_scores
from leaderboard.queries.submitted import named_metrics
from leaderboard.reproduction.evaluation_sets import rated_lower_as_a_whole
from workers.metrics.common.configuration import ConfigurationError

EVERY = 1_000_000
"""Of a dialogue's responses."""


class Command(ConsoleCommand):
    help = (
        "Single responses with what people and metrics give them, on one scale: the case studies "
        "of papers. Or the dialogues that people rate lower as a whole than turn by turn."
    )
    epilog = """
    Every score is put between the ends of --scale: the worst of the whole corpus at the lower end,
    the best at the upper one. In parentheses stands its rank share: its rank among all, the best
    one last, divided by their number. DEnsity's case study (Park et al., 2023) has both on 0-1,
    CMN's (Zhao et al., 2023) the first on 1-5. --rated-lower is ComperDial's comparison (Wakaki et
    al., 2024, A.8).

      manage.py cases --corpus usr --metrics bleu_2,density[trained=daily] --draw 4 --scale 0-1
      manage.py cases --corpus pilot --rated-lower 10
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--corpus", required=True, metavar="S", help="the corpus's slug: its newest version"
        )
        parser.add_argument("--aspect", help="the human score (default: the corpus's main aspect)")
        parser.add_argument(
            "--metrics", default="", metavar="a,b", help="configurations that are computed"
        )
        parser.add_argument("--dialogue", metavar="ID", help="the responses of one dialogue")
        parser.add_argument(
            "--draw", type=parse_integer(1), default=DRAWN, metavar="N", help="responses drawn"
        )
        parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the draw")
        parser.add_argument(
            "--scale", choices=["1-5", "0-1"], default="1-5", help="what all scores are put on"
        )
        parser.add_argument(
            "--rated-lower",
            type=parse_integer(1),
            metavar="N",
            help="instead: the N dialogues that are rated lowest beside their turns",
        )
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            version = version_of(options["corpus"])
            aspect = resolve_aspects(version, options["aspect"])
            if options["rated_lower"]:
                self._rated_lower(version, aspect, options)
            else:
                self._cases(version, aspect, options)
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None

    def _cases(self, version: CorpusVersion, aspect: str, options: dict[str, Any]) -> None:
        low, high = map(float, options["scale"].split("-"))
        metrics = list(named_metrics(version, options["metrics"]))
        study = case_study(
            version,
            aspect,
            metrics,
            dialogue=_position(version, options["dialogue"]),
            most=EVERY if options["dialogue"] else options["draw"],
            seed=options["seed"],
        )
        if not study.cases:
            of_dialogue = f"nobody rated responses of a dialogue {options['dialogue']}"
            raise CommandError(study.reason or of_dialogue)
        cases = [
            {
                "dialogue": case.dialogue,
                "turn": case.turn,
                "system": case.system,
                "context": [{"speaker": speaker, "text": text} for speaker, text in case.context],
                "references": list(case.references),
                "response": case.response,
                "scores": [
                    {"of": of, "value": None, "reason": one.reason}
                    if one.score is None
                    else {
                        "of": of,
                        "score": one.score,
                        "value": one.on_scale(low, high),
                        "rank_share": one.rank_share,
                        **({"reason": one.reason} if one.reason else {}),
                    }
                    for of, one in zip((HUMAN, *metrics), case.scores, strict=True)
                ],
            }
            for case in study.cases
        ]
        document = {
            "corpus": study.corpus,
            "corpus_version": study.corpus_version,
            "aspect": aspect,
            "scale": [low, high],
            "cases": cases,
        }
        if options["format"] == "json":
            self.print_json(document)
            return
        for case in cases:
            self._print_case(case)

    def _print_case(self, case: dict[str, Any]) -> None:
        self.stdout.write(f"{case['dialogue']}, turn {case['turn']}")
        for utterance in case["context"]:
            self.stdout.write(f"  {utterance['speaker']}: {utterance['text']}")
        for reference in case["references"]:
            self.stdout.write(f"  reference: {reference}")
        self.stdout.write(f"  {case['system']}: {case['response']}")
        rows = [
            [
                one["of"],
                Dash(one["reason"]) if one["value"] is None else figure(one["value"], 2),
                figure(one["rank_share"], 2) if "rank_share" in one else Dash(one["reason"]),
            ]
            for one in case["scores"]
        ]
        self.print_table(["score of", "on the scale", "rank share"], rows)
        self.stdout.write("")

    def _rated_lower(self, version: CorpusVersion, aspect: str, options: dict[str, Any]) -> None:
        turns = human_scores(version, aspect, "turn")
        dialogues = human_scores(version, aspect, "dialogue")
        if not turns or not dialogues:
            what = "turns" if not turns else "dialogues"
            raise CommandError(f"nobody rated {what} of {version.corpus.slug}")
        found = rated_lower_as_a_whole(turns, dialogues)
        shown = found[: options["rated_lower"]]
        if options["format"] == "json":
            self.print_json(
                {
                    "corpus": version.corpus.slug,
                    "corpus_version": version.label,
                    "aspect": aspect,
                    "rated_lower": len(found),
                    "of": len(dialogues),
                    "dialogues": [
                        {
                            "dialogue": one.dialogue,
                            "system": one.system,
                            "turns": one.turns,
                            "whole": one.whole,
                            "difference": one.difference,
                        }
                        for one in shown
                    ],
                }
            )
        else:
            self.print_table(
                ["dialogue", "system", "mean of turns", "as a whole", "difference"],
                [
                    [one.dialogue, one.system, *map(figure, (one.turns, one.whole, one.difference))]
                    for one in shown
                ],
            )
        self.say(f"{len(found):,} of {len(dialogues):,} dialogues are rated lower as a whole")


def _position(version: CorpusVersion, dialogue: str | None) -> int | None:
    if not dialogue:
        return None
    found = version.dialogues.filter(external_id=dialogue).values_list("position", flat=True)
    position: int | None = found.first()
    if position is None:
        raise NotFound(f"nobody rated responses of a dialogue {dialogue}")
    return position
