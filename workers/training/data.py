"""What a training run learns from: the conversations of a stored corpus or a file, less those that
the site's evaluation corpora hold, where the run says so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotations.corpora.record_stream import records_of
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.records import DialogueRecord, TurnRecord
from annotations.models import CorpusVersion
from workers.training import queries
from workers.training.core.conversations import TrainingDialogue, dialogues_of, read_dialogues
from workers.training.core.overlap import overlap
from workers.training.core.settings import TrainingError
from workers.training.models import Training

Rule = Training.OverlapRule


class DataRefused(TrainingError):
    """The data cannot be had, or may not be trained on; the message is for people."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where conversations come from: a stored corpus's version, or a file on the machine of whoever
    trains."""

    version: CorpusVersion | None
    data: dict[str, str]

    @classmethod
    def of_version(cls, version: CorpusVersion) -> Source:
        return cls(version, {"corpus": version.corpus.slug, "version": version.label})

    @classmethod
    def of_file(cls, path: Path) -> Source:
        """Raises ``DataRefused``."""
        return cls(None, {"file": str(path.resolve()), "sha256": _digest(path)})


def dialogues_to_train_on(
    training: Training, keep: Callable[[dict[str, Any]], None]
) -> list[TrainingDialogue]:
    """Raises ``DataRefused``. The overlap is measured once and handed to ``keep``: who goes on
    later trains on the same dialogues, whatever was imported since."""
    dialogues = conversations(training)
    found = training.overlap
    if not found:
        found = measured(dialogues)
        keep(found)
    if not found["dialogues"] or training.overlap_rule == Rule.ALLOW:
        return dialogues
    if training.overlap_rule == Rule.REFUSE:
        overlaps = "; ".join(
            f"{one['corpus']}: {one['said']}" for one in found["corpora"] if one["contexts"]
        )
        raise DataRefused(
            f"the training data holds what metrics are evaluated on. {overlaps}. Leave those "
            "dialogues out (--leave-out-overlap), or train on them all the same (--allow-overlap)"
        )
    left_out = set(found["dialogues"])
    return [dialogue for path, dialogue in enumerate(dialogues) if path not in left_out]


def conversations(training: Training) -> list[TrainingDialogue]:
    """All of the corpus's or the file's. Raises ``DataRefused``."""
    if "corpus" in training.data:
        if training.version is None:
            raise DataRefused(f"the corpus {queries.data_text(training)} was deleted")
        return dialogues_of(records_of(training.version))
    path = Path(training.data["file"])
    if _digest(path) != training.data["sha256"]:
        raise DataRefused(f"the file {path} is another one than when the training was asked for")
    try:
        return read_dialogues(path)
    except ImportFailed as failure:
        raise DataRefused(str(failure)) from failure


def measured(dialogues: list[TrainingDialogue]) -> dict[str, Any]:
    """What the site's evaluation corpora share with the dialogues, as a row keeps it: "corpora",
    and the places of the "dialogues" that hold an evaluated context."""
    corpora: list[dict[str, Any]] = []
    places: set[int] = set()
    for version in queries.evaluation_versions():
        report = overlap(dialogues, list(_turns(version)))
        shared = report.dialogues_with()
        places.update(shared)
        corpora.append(
            {
                "corpus": version.corpus.slug,
                "version": version.label,
                "contexts": len(report.positions_with()),
                "of": report.places,
                "dialogues": len(shared),
                "said": str(report),
            }
        )
    return {"corpora": corpora, "dialogues": sorted(places), "of": len(dialogues)}


def _turns(version: CorpusVersion) -> Iterator[TurnRecord]:
    """Each with its context, which a conversation of messages holds once for all."""
    return (
        replace(turn, context=one.context_of(turn))
        for one in records_of(version)
        if isinstance(one, DialogueRecord)
        for turn in one.turns
    )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataRefused(f"the file {path} cannot be read: {error.strerror}") from error
