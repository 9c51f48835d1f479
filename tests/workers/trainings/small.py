"""A tiny encoder and a file of conversations made by a rule, for runs that take seconds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.workers.training.selecting import THINGS, save_encoder
from workers.training import actions
from workers.training.data import Source
from workers.training.models import Training

STEPS = 12
"""54 of 60 dialogues make 54 pairs: 14 batches of 4 in an epoch, less what is asked for here."""


def talk_file(path: Path, dialogues: int = 60, seed: int = 0) -> Path:
    """As DailyDialog's text files: a dialogue a line. Its number keeps each from being a version of
    another."""
    drawn = random.Random(seed)
    lines = []
    for number in range(dialogues):
        thing = drawn.choice(THINGS)
        lines.append(
            f"well then {number} tell me of {thing} __eou__ yes {number} {thing} is all i want "
            "__eou__"
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def settings(encoder: Path, **more: Any) -> dict[str, Any]:
    """Two epochs of six steps, a checkpoint every two."""
    chosen = {
        "encoder": str(encoder),
        "contexts": 4,
        "negatives": 3,
        "max_tokens": 32,
        "pairs_an_epoch": 24,
    }
    return {
        **chosen,
        "epochs": 2,
        "save_every": 2,
        "curve_every": 2,
        "learning_rate": 0.001,
        **more,
    }


def encoder_in(folder: Path) -> Path:
    return save_encoder(folder / "tiny-encoder")


def started(folder: Path, name: str = "small", **more: Any) -> Training:
    """A run of ``density`` on the file in ``folder``, with the encoder there; made where they are
    not."""
    encoder = more.pop("encoder", folder / "tiny-encoder")
    if encoder == folder / "tiny-encoder" and not encoder.exists():
        encoder_in(folder)
    path = folder / "talk.txt"
    if not path.exists():
        talk_file(path)
    rule = more.pop("overlap_rule", Training.OverlapRule.REFUSE)
    source = more.pop("source", None) or Source.of_file(path)
    return actions.start(
        name, "density", source, settings(encoder, **more), overlap_rule=rule, hint=False
    )


def encoder_in_hub(cache: Path, name: str) -> None:
    """As if it had been fetched from the hub: what a form may name. It takes the recipes' 256
    tokens."""
    import transformers

    revision = "0" * 40
    folder = cache / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / revision
    save_encoder(snapshot)
    config = transformers.BertConfig.from_pretrained(snapshot, max_position_embeddings=256)
    transformers.BertModel(config).save_pretrained(snapshot)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(revision)
