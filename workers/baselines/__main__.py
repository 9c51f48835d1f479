"""Answers a round's dialogues with a baseline and writes a file to hand in.

DIALOGUES is a file in the CPD challenge's format, as a round's page offers it. In its hidden form,
without what speaker B said, the baseline's own earlier answers take B's place.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from annotations.formats.importers.problems import ImportFailed
from common.temporary import temporary_folder
from common.text import MAX_RESPONSE
from workers.baselines.base import Baseline
from workers.baselines.dialogue_file import RequestedDialogue, known_answers_of, read_dialogues
from workers.baselines.simple import Dull, Echo, Verbose

NAMES = ("echo", "dull", "verbose", "retrieval")


class CannotAnswer(Exception):
    """The message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0, or 1 with the reason on standard error."""
    options = _parser().parse_args(arguments)
    try:
        dialogues = read_dialogues(options.dialogues)
        baseline = baseline_of(options.baseline, dialogues, options.answers, options.seed)
        _write(options.to, answered(dialogues, baseline))
    except (ImportFailed, CannotAnswer, LookupError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"{options.to}: cannot be written: {error.strerror}\n")
        return 1
    turns = sum(len(dialogue.turns) for dialogue in dialogues)
    sys.stderr.write(f"wrote {turns:,} responses of {baseline.name} to {options.to}\n")
    return 0


def baseline_of(
    name: str, dialogues: tuple[RequestedDialogue, ...], answers: Path | None, seed: int
) -> Baseline:
    """Raises ``CannotAnswer`` where retrieval has no gold answers to choose from."""
    if name == "retrieval":
        from workers.baselines.simple import Retrieval, packaged_encode
        from workers.inference.model_files import ModelError

        known = known_answers_of(read_dialogues(answers) if answers else dialogues)
        if not known:
            raise CannotAnswer(
                "retrieval needs gold answers, and this file has none: name one that has with "
                "--answers FILE"
            )
        try:
            return Retrieval(packaged_encode(), known)
        except ModelError as error:
            raise CannotAnswer(str(error)) from error
    baselines: dict[str, Baseline] = {"echo": Echo(), "dull": Dull(seed), "verbose": Verbose(seed)}
    return baselines[name]


def answered(dialogues: Sequence[RequestedDialogue], baseline: Baseline) -> list[dict[str, str]]:
    """The submission: an object for each dialogue with the baseline's answer to every turn."""
    submission = []
    total = sum(len(dialogue.turns) for dialogue in dialogues)
    with tqdm(total=total, unit=" responses", file=sys.stderr, disable=None) as progress:
        for dialogue in dialogues:
            own: dict[int, str] = {}
            for turn in dialogue.turns:
                own[turn.number] = baseline.respond(turn.place(dialogue.id, own))[:MAX_RESPONSE]
                progress.update()
            submission.append(
                {
                    "dialog_id": dialogue.id,
                    **{f"turn_{number}": text for number, text in own.items()},
                }
            )
    return submission


def _write(path: Path, submission: list[dict[str, str]]) -> None:
    """The whole file or none of it."""
    with temporary_folder(beside=path) as folder:
        unfinished = folder / path.name
        unfinished.write_text(
            json.dumps(submission, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
        unfinished.replace(path)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m workers.baselines", description=__doc__)
    parser.add_argument(
        "dialogues", metavar="DIALOGUES", type=Path, help="a round's dialogues (JSON)"
    )
    parser.add_argument("--baseline", choices=NAMES, required=True, help="who answers")
    parser.add_argument(
        "--to", type=Path, required=True, help="the file to write: a JSON list of responses"
    )
    parser.add_argument(
        "--answers",
        type=Path,
        help="for retrieval: dialogues with gold answers to choose from (default: DIALOGUES)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of dull and verbose, which choose by chance (default: 0)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
