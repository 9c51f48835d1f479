from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import ConsoleCommand, parse_integer
from annotations.corpora.queries import NotFound, version_of
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.problems import ImportFailed
from common.temporary import temporary_folder
from workers.inference.model_files import ModelError, model_files
from workers.training.core.conversations import TrainingDialogue, dialogues_of, read_dialogues
from workers.training.core.fine_tuning import FineTuning, fine_tune
from workers.training.core.settings import TrainingError

EPOCHS = {"masked": 1, "causal": 10}


class Command(ConsoleCommand):
    help = (
        "Fine-tune a pretrained language model on conversations between people, as the baselines "
        "of DEnsity's paper are made: a masked one for usr_mlm, a causal one for gpt2_coherency. "
        "It computes in this process."
    )
    epilog = """
    AdamW with warm-up over 1,000 steps, or a tenth of all, then linear decay. A masked model learns
    15 % of the tokens of each utterance after all before it; a causal one all tokens of each
    dialogue, whose utterances end with its end token: score with format=eos. Overlap with
    evaluation sets is not looked for: use the training split.

      manage.py fine_tune masked --model bert-base-uncased --corpus dailydialog/train.json \\
        --to /srv/models/mlm-daily
      manage.py score --corpus usr --metrics "usr_mlm[model=/srv/models/mlm-daily]"
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "kind", choices=list(EPOCHS), metavar="KIND", help=f"one of {', '.join(EPOCHS)}"
        )
        parser.add_argument(
            "--model", required=True, metavar="M", help="to begin with: a folder or a hub id"
        )
        parser.add_argument(
            "--corpus",
            required=True,
            metavar="S",
            help="a corpus's slug (its newest version), or a file of conversations as for train",
        )
        parser.add_argument(
            "--to", type=Path, required=True, metavar="DIR", help="the folder to write"
        )
        parser.add_argument(
            "--epochs", type=parse_integer(1), metavar="E", help="default: masked 1, causal 10"
        )
        parser.add_argument("--learning-rate", type=float, default=5e-5, help="the highest")
        parser.add_argument("--batch", type=parse_integer(1), default=16, help="texts in one step")
        parser.add_argument(
            "--max-tokens", type=parse_integer(8), default=256, help="of the longest text"
        )
        parser.add_argument("--seed", type=parse_integer(0), default=0, help="of the order")

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path = options["to"]
        if target.exists():
            raise CommandError(f"{target} is there already")
        if not 0 < options["learning_rate"] < float("inf"):
            raise CommandError("--learning-rate must be more than 0")
        settings = FineTuning(
            options["kind"],
            options["epochs"] or EPOCHS[options["kind"]],
            options["learning_rate"],
            options["batch"],
            options["max_tokens"],
            options["seed"],
        )
        try:
            dialogues = _conversations(options["corpus"])
            files = model_files(options["model"])
            with (
                temporary_folder(beside=target) as folder,
                tqdm(total=0, unit="step", file=self.stderr._out, disable=None) as bar,
            ):

                def report(done: int, of: int, loss: float) -> None:
                    bar.set_description_str(f"loss {loss:.3f}")
                    bar.total, bar.n = of, done
                    bar.refresh()

                made = folder / "model"
                made.mkdir()
                losses = fine_tune(files, dialogues, made, settings, report)
                os.replace(made, target)
        except (NotFound, ImportFailed, ModelError, TrainingError) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as refusal:
            raise CommandError(f"{target} cannot be written: {refusal.strerror}") from None
        self.stdout.write(
            f"{target}: {len(dialogues):,} dialogues, loss a token by epoch "
            + ", ".join(f"{loss:.3f}" for loss in losses)
        )


def _conversations(text: str) -> list[TrainingDialogue]:
    """A file goes before a corpus of the same name where it is written as a path."""
    path = Path(text).expanduser()
    if path.is_file() and ("/" in text or path.suffix):
        return read_dialogues(path)
    return dialogues_of(records_of(version_of(text)))
