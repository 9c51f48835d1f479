from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import (
    ConsoleCommand,
    add_format_argument,
    figure,
    parse_integer,
)
from annotations.corpora.queries import NotFound, version_of
from common.tables.numerals import Dash
from workers.training import actions, execution, queries
from workers.training.core import processes
from workers.training.core.settings import Precision, TrainingError
from workers.training.data import Source
from workers.training.models import Training

POLL_SECONDS = 0.5
LONELY_SECONDS = 10
CONTRASTIVE = {"0": "none", "1": "paper", "released": "released"}
SETTINGS = (
    *(
        "encoder",
        "decoder",
        "epochs",
        "seconds",
        "negatives",
        "contrastive_weight",
        "temperature",
        "learning_rate",
        "pairs_an_epoch",
        "freeze",
        "turns",
    ),
    *(
        "objective",
        "perturbed",
        "max_tokens",
        "free_bits",
        "validation_share",
        "validation_pairs",
        "patience",
    ),
    *("save_every", "precision"),
)
"""Options that are a setting of the recipe or of the training, by its name."""
OBJECTIVES = ("selection", "binary")
YES_OR_NO = {"0": False, "1": True}
BATCH = {"density": "contexts", "cmn": "batch"}
"""What the recipe calls the pairs of a batch."""


class Command(ConsoleCommand):
    help = (
        "Train a metric's model on a corpus of conversations between people: density (DEnsity) or "
        "cmn. A worker of the queue gpu does it, and a progress bar follows; Ctrl-C stops "
        "following, not the work. With --inline this process trains. The same command again goes "
        "on with a training that was stopped or failed."
    )
    epilog = """
    The model is a folder DIALEVAL_HOME/trained/NAME. The same name with other settings is refused,
    unless the first training failed before its first checkpoint.

    Before training, the data is compared with every corpus that holds systems' responses (its
    newest version): contexts that occur in a training dialogue as a whole, with their last
    utterances or with a long one. Where there are any, training fails and names the corpora, unless
    --leave-out-overlap or --allow-overlap says what to do. It is measured once: a training that
    goes on uses the same dialogues, whatever was imported since. docs/training.md has the losses
    and the figures.

      manage.py train density --corpus dailydialog --name daily --leave-out-overlap
      manage.py train density --corpus dailydialog --name noise --objective binary --perturbed 6
      manage.py train cmn --corpus dailydialog --name quick --pairs-an-epoch 2000 --seconds 600
    """

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "recipe", choices=["density", "cmn"], metavar="RECIPE", help="density or cmn"
        )
        parser.add_argument(
            "--corpus",
            required=True,
            metavar="S",
            help="a corpus's slug (its newest version), or a file: DailyDialog as JSON lines or "
            "__eou__ "
            "text, PersonaChat/ConvAI2, jsonl, CPDC, told by its first line; it is read where the "
            "training runs",
        )
        parser.add_argument(
            "--name",
            required=True,
            help="the trained model's, as in density[trained=NAME]: lower-case letters, digits, "
            "hyphens",
        )
        parser.add_argument(
            "--encoder",
            metavar="M",
            help="what training begins from: a folder or a hub id (default: the packaged MiniLM)",
        )
        parser.add_argument(
            "--decoder",
            metavar="M",
            help="cmn: a pretrained GPT-2, a folder or a hub id, that writes the responses "
            "(default: a small untrained one)",
        )
        parser.add_argument(
            "--epochs",
            type=parse_integer(1),
            metavar="E",
            help="times over the pairs (default: 10; cmn 20)",
        )
        parser.add_argument(
            "--seconds",
            type=float,
            metavar="T",
            help="the time that training, validations and checkpoints may take in all; the "
            "learning "
            "rate decays over the steps that fit (default: any)",
        )
        parser.add_argument(
            "--negatives",
            type=parse_integer(1),
            metavar="K",
            help="density: sampled responses for each answer (default: 15)",
        )
        parser.add_argument(
            "--contrastive",
            choices=list(CONTRASTIVE),
            help="density: the loss L_CL as the paper has it (1, the default), as the released "
            "code "
            "has it (released), or none (0)",
        )
        parser.add_argument(
            "--contrastive-weight",
            type=float,
            metavar="W",
            help="density: what L_CL weighs beside L_RS, the paper's λ (default: 1)",
        )
        parser.add_argument(
            "--temperature",
            type=float,
            metavar="T",
            help="density: of L_CL, the paper's τ (default: 0.1)",
        )
        parser.add_argument(
            "--objective",
            choices=OBJECTIVES,
            help="density: tell the answer from all others of a context (selection, the "
            "default), or "
            "each by itself from noise (binary, the loss of maude_style)",
        )
        parser.add_argument(
            "--perturbed",
            type=parse_integer(0, 100),
            metavar="K",
            help="density: so many more negatives of each answer that are the answer itself, its "
            "words in another order, left out or repeated (default: 0)",
        )
        parser.add_argument(
            "--learning-rate",
            type=float,
            metavar="R",
            help="the highest (default: 0.00005)",
        )
        parser.add_argument(
            "--batch",
            type=parse_integer(1),
            metavar="P",
            help="pairs whose mean loss makes one step, each with its negatives (default: 16; "
            "cmn 32)",
        )
        parser.add_argument(
            "--precision",
            choices=get_args(Precision),
            help="auto (default): bf16 where the accelerator has it, else float32, which is no",
        )
        parser.add_argument(
            "--pairs-an-epoch",
            type=parse_integer(0),
            metavar="P",
            help="pairs that an epoch goes over, the next one over the next ones (default: 0, all)",
        )
        parser.add_argument(
            "--freeze",
            type=parse_integer(0),
            metavar="L",
            help="so many of the lowest layers, and the embeddings, are not trained",
        )
        parser.add_argument(
            "--turns",
            type=parse_integer(0),
            metavar="N",
            help="last utterances of a context that are looked at (default: 0, all)",
        )
        parser.add_argument(
            "--max-tokens",
            type=parse_integer(1),
            metavar="N",
            help="longest input (default: 256)",
        )
        parser.add_argument(
            "--free-bits",
            type=float,
            metavar="B",
            help="cmn: nats of KL in each latent dimension that cost nothing (default: 0.5)",
        )
        parser.add_argument(
            "--next-sentence",
            choices=list(YES_OR_NO),
            help="cmn: train with the next-sentence loss and negatives (1, the default) or without "
            'both (0), which the paper\'s ablation "w/o NSP" does not ask for (cmn_no_nsp is that)',
        )
        parser.add_argument(
            "--validation-share",
            type=float,
            metavar="V",
            help="of the dialogues, drawn by the seed (default: 0.1)",
        )
        parser.add_argument(
            "--validation-pairs",
            type=parse_integer(0),
            metavar="P",
            help="pairs drawn of these (default: 0, all)",
        )
        parser.add_argument(
            "--patience",
            type=parse_integer(0),
            metavar="N",
            help="validations in a row without a better figure, after which it stops (default: "
            "never)",
        )
        parser.add_argument(
            "--save-every",
            type=parse_integer(0),
            metavar="N",
            help="steps between checkpoints, beside those after each epoch (default: 200)",
        )
        parser.add_argument(
            "--seed",
            type=parse_integer(0),
            default=0,
            help="of first weights, order, negatives and validation",
        )
        rules = parser.add_mutually_exclusive_group()
        rules.add_argument(
            "--leave-out-overlap",
            action="store_true",
            help="train without the dialogues that an evaluation corpus of the site holds",
        )
        rules.add_argument(
            "--allow-overlap",
            action="store_true",
            help="train on them all the same; the run and the model say so",
        )
        parser.add_argument(
            "--inline",
            action="store_true",
            help="train in this process, without workers; in several, one a device, where "
            "accelerate launch or torchrun starts the command",
        )
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if processes.are_several() and not options["inline"]:
            raise CommandError("several processes train together with --inline only")
        if processes.is_helper():
            from workers.training.core.making import help_others

            help_others(settings.DEVICE)
            return
        try:
            self._train(options)
        finally:
            processes.let_go(settings.DEVICE)

    def _train(self, options: Mapping[str, Any]) -> None:
        started = time.monotonic()
        try:
            training = self._wanted(options)
        except (NotFound, TrainingError) as refusal:
            raise CommandError(str(refusal)) from None
        except actions.Refused as refusal:
            raise CommandError(refusal.message) from None
        with tqdm(total=0, unit="step", file=self.stderr._out, disable=None) as bar:
            try:
                (self._compute if options["inline"] else self._follow)(training, bar)
            except KeyboardInterrupt:
                raise CommandError(
                    "stopped following; the training waits for the workers or goes on there"
                ) from None
        training.refresh_from_db()
        self._print(training, options["format"])
        if training.state != Training.State.DONE:
            raise CommandError(f"{training.name}: {training.error}")
        self.say(
            f"{training.name}: trained on {queries.data_text(training)}, {training.device}; "
            f"revision {training.revision}; {time.monotonic() - started:.1f} s"
        )

    def _wanted(self, options: Mapping[str, Any]) -> Training:
        """A new training, or the one of this name, where it is the same: stopped or failed, it goes
        on."""
        source = _source(options["corpus"])
        chosen = {name: options[name] for name in SETTINGS if options[name] is not None}
        if options["batch"] is not None:
            chosen[BATCH[options["recipe"]]] = options["batch"]
        if options["contrastive"] is not None:
            chosen["contrastive"] = CONTRASTIVE[options["contrastive"]]
        if options["next_sentence"] is not None:
            chosen["next_sentence"] = YES_OR_NO[options["next_sentence"]]
        rule = Training.OverlapRule.REFUSE
        if options["allow_overlap"]:
            rule = Training.OverlapRule.ALLOW
        elif options["leave_out_overlap"]:
            rule = Training.OverlapRule.LEAVE_OUT
        known = queries.training_of(options["name"])
        notify = not options["inline"]
        same = known is not None and (
            known.recipe == options["recipe"]
            and known.data == source.data
            and known.chosen == {"save_every": actions.SAVE_EVERY, **chosen}
            and (known.seed, known.overlap_rule) == (options["seed"], rule)
        )
        if known is None or (not same and queries.failed_at_once(known)):
            return actions.start(
                options["name"],
                options["recipe"],
                source,
                chosen,
                options["seed"],
                rule,
                hint=notify,
            )
        if not same:
            raise actions.Refused(
                f"there is a training {known.name} with other settings: choose another name"
            )
        if actions.go_on(known, hint=notify):
            self.say(f"{known.name} goes on at its last checkpoint")
        return known

    def _compute(self, training: Training, bar: Any) -> None:
        """One that a worker has is waited for, and taken over when that worker fell silent."""

        def show_progress(progress: Mapping[str, Any]) -> None:
            _show(bar, progress)

        while Training.objects.filter(pk=training.pk, state__in=queries.UNDER_WAY).exists():
            if not execution.compute(training.pk, show_progress):
                Training.objects.reap()
                time.sleep(POLL_SECONDS)

    def _follow(self, training: Training, bar: Any) -> None:
        last_change = time.monotonic()
        while True:
            row = Training.objects.filter(pk=training.pk).values("state", "progress").first()
            if row is None:
                raise CommandError("the training was deleted")
            if row["state"] not in queries.UNDER_WAY:
                return
            if row["state"] == Training.State.RUNNING:
                last_change = time.monotonic()
            _show(bar, row["progress"])
            if time.monotonic() - last_change > LONELY_SECONDS:
                self.say(
                    "No worker has taken the training yet. It waits; start one with: manage.py run"
                )
                last_change = float("inf")
            time.sleep(POLL_SECONDS)

    def _print(self, training: Training, form: str) -> None:
        if form == "json":
            self.print_json(document_of(training))
            return
        shown = {name: figure(value) for name, value in queries.best_figures(training).items()}
        header = ["name", "recipe", "state", "seed", "revision", "best step", *shown]
        cells = [training.name, training.recipe, training.state, str(training.seed)]
        nothing = Dash("it was not validated before it ended")
        revision = training.revision or Dash("no model was made")
        step = str(training.best["step"]) if "step" in training.best else nothing
        self.print_table(header, [[*cells, revision, step, *shown.values()]])


def document_of(training: Training) -> dict[str, Any]:
    return {
        "name": training.name,
        "recipe": training.recipe,
        "state": training.state,
        "error": training.error,
        "settings": training.chosen,
        "seed": training.seed,
        "data": training.data,
        "data_signature": training.data_signature,
        "overlap_rule": training.overlap_rule,
        "overlap": training.overlap.get("corpora", []),
        "revision": training.revision,
        "device": training.device,
        "best": training.best,
        "validations": training.validations,
        "curves": training.curves,
        "progress": training.progress,
        "metrics": queries.metrics_of(training) if training.revision else [],
    }


def _source(text: str) -> Source:
    """A file goes before a corpus of the same name where it is written as a path."""
    path = Path(text).expanduser()
    if path.is_file() and ("/" in text or path.suffix):
        return Source.of_file(path)
    return Source.of_version(version_of(text))


def _show(bar: Any, progress: Mapping[str, Any]) -> None:
    if progress.get("phase") == "fitting":
        bar.set_postfix_str(f"features {progress.get('done', 0):,} of {progress.get('of', 0):,}")
        return
    bar.total = progress.get("steps", 0)
    bar.n = progress.get("step", 0)
    loss = progress.get("loss")
    bar.set_postfix_str(progress.get("phase", "") if loss is None else f"loss {loss:.3f}")
    bar.refresh()
