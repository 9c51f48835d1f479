"""Every read of training runs, and where their files are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from annotations.models import CorpusVersion, System
from workers.training.core import checkpoint
from workers.training.core.checkpoint import TrainedModel
from workers.training.models import Training

State = Training.State
WORK_FOLDER = "training"
"""In DIALEVAL_HOME: checkpoints to go on from."""
UNDER_WAY = (State.PENDING, State.RUNNING)
FIGURES = ("R@1", "MRR", "NSP accuracy", "KL", "reconstruction", "active dimensions", "bound")
"""Of the recipes' validations, in the order in which they are told."""


def trainings() -> QuerySet[Training]:
    return Training.objects.select_related("created_by").defer("curves", "validations", "overlap")


def training_of(name: str) -> Training | None:
    return (
        Training.objects.select_related("created_by", "version__corpus").filter(name=name).first()
    )


def best_figures(training: Training) -> dict[str, float]:
    """Of the best validation, the known ones first: PostgreSQL keeps JSON in an order of its
    own."""
    found = training.best.get("figures", {})
    names = [*(name for name in FIGURES if name in found), *sorted(set(found).difference(FIGURES))]
    return {name: found[name] for name in names}


def work_folder(training: Training) -> Path:
    return Path(settings.HOME) / WORK_FOLDER / training.work


def has_checkpoint(training: Training) -> bool:
    """Whether there is something to go on from, as far as the folder tells."""
    return any(work_folder(training).glob("step-*"))


def failed_at_once(training: Training) -> bool:
    """Whether there is nothing to go on from: such a row keeps its name from nobody."""
    return training.state == State.FAILED and not has_checkpoint(training)


def model_folder(name: str) -> Path:
    return Path(settings.HOME) / checkpoint.FOLDER / name


def model_of(name: str) -> TrainedModel | None:
    return checkpoint.model_in(Path(settings.HOME) / checkpoint.FOLDER, name)


def evaluation_versions() -> list[CorpusVersion]:
    """The newest version of each corpus that holds systems' responses: what trained metrics are
    evaluated on."""
    newest = (
        CorpusVersion.objects.filter(corpus=OuterRef("corpus"))
        .filter(Exists(System.objects.filter(version=OuterRef("pk"))))
        .order_by("-number")
    )
    return list(
        CorpusVersion.objects.filter(pk=newest.values("pk")[:1])
        .select_related("corpus")
        .order_by("corpus__slug")
    )


def data_text(training: Training) -> str:
    """What it learns from, for people."""
    data: dict[str, Any] = training.data
    if "corpus" in data:
        return f"{data['corpus']} {data['version']}"
    return f"{Path(data['file']).name} (SHA-256 {data['sha256'][:12]}…)"


def metrics_of(training: Training) -> list[str]:
    """Configurations that the trained model makes possible."""
    from workers.metrics.registry import all_metrics

    names = {
        "density": (
            "density",
            "density_dialogue",
            "density_euclidean",
            "density_classifier",
            "usr_retrieval",
            "bert_ruber",
            *(("maude_style",) if training.chosen.get("objective") == "binary" else ()),
        ),
        "cmn": ("cmn", "cmn_no_nsp", "cmn_no_mi"),
    }.get(training.recipe, ())
    return [f"{name}[trained={training.name}]" for name in names if name in all_metrics()]
