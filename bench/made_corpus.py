"""A corpus of ComperDial's size, made here with a seed, for what is measured on a whole site.

``home_of_its_own`` comes first: Django reads its settings once, so the folder is set before
anything is imported from the site. That is why the imports of models stand inside functions.
"""

from __future__ import annotations

import os

# As the site's own processes have it; read when numpy is loaded
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from annotations.models import CorpusVersion, System
    from workers.metrics.common.configuration import Configuration

PROJECT = Path(__file__).resolve().parent.parent
SEED = 0
METRICS = 30
BATCH = 5000
WORDS = """
i you we they like love want have see know think go went work live play read cook walk talk dog cat house city music
guitar garden coffee tea weekend family sister brother school job car bike river hill summer winter morning and but or
because so the a my your in on at to from with about really never often today what how where do did
""".split()  # noqa: SIM905  a list of words reads better without its quotation marks


@dataclass(frozen=True)
class Size:
    dialogues: int = 15
    turns: int = 7
    systems: int = 99
    raters: int = 60
    raters_an_item: tuple[int, int] = (3, 6)

    @property
    def responses(self) -> int:
        return self.dialogues * self.turns * self.systems


COMPERDIAL = Size()
CONVERSATIONS = Size(dialogues=10_000, turns=5, systems=2, raters_an_item=(0, 1))
MILLION = Size(raters=100, raters_an_item=(100, 100))
"""The same responses, each rated by a hundred people: 1,039,500 ratings, and 148,500 of whole
dialogues."""


@contextmanager
def home_of_its_own(with_services: bool = False, folder: Path | None = None) -> Iterator[Path]:
    """An empty, migrated site in a temporary folder: SQLite and the folder broker, or PostgreSQL
    and Redis. ``folder`` is used in its place, with what an earlier run left in it, and stays
    (SQLite only)."""
    with ExitStack() as stack:
        home = folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="dialeval-bench-"))
        )
        home.mkdir(parents=True, exist_ok=True)
        settings = {"DIALEVAL_HOME": str(home), "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
        if with_services:
            from tests.services import running_services

            services = stack.enter_context(running_services())
            settings |= {
                "DATABASE_URL": services.database_url,
                "CELERY_BROKER_URL": services.broker_url,
            }
        settings |= {
            "DIALEVAL_MODE": "development",
            "DIALEVAL_LOG_LEVEL": "ERROR",
            "OMP_NUM_THREADS": "1",
        }
        os.environ.update(settings | {"DJANGO_SETTINGS_MODULE": "dialeval_site.settings"})

        import django
        from django.core.management import call_command
        from django.db import connections

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        try:
            yield home
        finally:
            _close_pools(connections)


def _close_pools(connections: Any) -> None:
    """PostgreSQL is stopped next: a pool that still holds connections would try to renew them."""
    connections.close_all()
    for connection in connections.all():
        if hasattr(connection, "close_pool"):
            connection.close_pool()


def make_corpus(
    slug: str, size: Size = COMPERDIAL, rate: Callable[..., None] | None = None
) -> CorpusVersion:
    """Dialogues, systems, responses, raters and ratings at both levels; nothing is scored yet.
    ``rate`` stores ratings another way than ``_rate``, from the same arguments."""
    from django.db import transaction

    from annotations.models import Corpus, CorpusVersion, Dialogue, Rater, Response, System, Turn

    random = np.random.default_rng(SEED)
    with transaction.atomic():
        corpus = Corpus.objects.create(slug=slug, name=f"Made up: {slug}")
        version = CorpusVersion.objects.create(
            corpus=corpus,
            number=1,
            digest="0" * 64,
            format="bench",
            simulated=True,
            aspects=["overall"],
            main_aspect="overall",
            scales={"overall": [1, 5]},
        )
        dialogues = Dialogue.objects.bulk_create(
            Dialogue(
                version=version,
                position=place,
                external_id=f"d{place}",
                persona=[sentence(random) for _ in range(5)],
                partner_persona=[sentence(random) for _ in range(5)],
            )
            for place in range(size.dialogues)
        )
        turns = Turn.objects.bulk_create(
            turn for dialogue in dialogues for turn in _turns(dialogue, size, random)
        )
        systems = System.objects.bulk_create(
            System(version=version, position=place, name=f"system {place}", kind=_kind(place))
            for place in range(size.systems)
        )
        raters = Rater.objects.bulk_create(
            Rater(version=version, position=place, name=f"worker {place}")
            for place in range(size.raters)
        )
        responses = Response.objects.bulk_create(
            (
                Response(system=system, turn=turn, text=sentence(random))
                for system in systems
                for turn in turns
            ),
            batch_size=BATCH,
        )
        (rate or _rate)(responses, systems, dialogues, raters, size, random)
    return version


def sentence(random: np.random.Generator) -> str:
    return " ".join(random.choice(WORDS, random.integers(5, 25))) + "."


def _kind(place: int) -> str:
    return {0: "gold", 1: "human", 2: "human"}.get(place, "agent")


def _turns(dialogue: Any, size: Size, random: np.random.Generator) -> Iterator[Any]:
    """Seven turns as in ComperDial: A speaks, B must answer; the context holds what was said
    before."""
    from annotations.models import Turn

    spoken: list[list[str]] = []
    for number in range(size.turns):
        spoken.append(["A", sentence(random)])
        gold = sentence(random)
        yield Turn(dialogue=dialogue, number=number, context=list(spoken), references=[gold])
        spoken.append(["B", gold])


def _rate(
    responses: list[Any],
    systems: list[System],
    dialogues: list[Any],
    raters: list[Any],
    size: Size,
    random: np.random.Generator,
) -> None:
    """Raters see a system's quality through noise; each item has 3 to 6 of them, drawn anew."""
    from annotations.models import Rating

    quality = {system.pk: 3 + random.normal(scale=0.8) for system in systems}
    low, high = size.raters_an_item

    def given(system_id: int, **item: Any) -> Iterator[Rating]:
        chosen = random.choice(len(raters), random.integers(low, high + 1), replace=False)
        scores = np.clip(np.round(quality[system_id] + random.normal(size=len(chosen))), 1, 5)
        for rater, score in zip(chosen, scores, strict=True):
            yield Rating(rater=raters[rater], aspect="overall", score=float(score), **item)

    of_responses = (
        rating for response in responses for rating in given(response.system_id, response=response)
    )
    of_dialogues = (
        rating
        for system in systems
        for dialogue in dialogues
        for rating in given(system.pk, system=system, dialogue=dialogue)
    )
    for ratings in (of_responses, of_dialogues):
        for batch in _batches(ratings):
            Rating.objects.bulk_create(batch)


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def configurations(count: int = METRICS) -> list[Configuration]:
    """Every registered turn-level metric, then each with its switches turned, up to ``count``
    configurations."""
    from workers.metrics.common.configuration import Configuration
    from workers.metrics.registry import all_metrics

    found: list[tuple[int, Configuration]] = []
    for metric in all_metrics().values():
        switches = [option for option in metric.options if isinstance(option.default, bool)]
        if metric.queue != "cpu" or "turn" not in metric.levels:
            continue
        for turned in product((False, True), repeat=len(switches)):
            chosen = {
                option.name: option.default ^ turn
                for option, turn in zip(switches, turned, strict=True)
            }
            found.append((sum(turned), Configuration.of(metric, **chosen)))
    found.sort(key=lambda pair: pair[0])
    return [configuration for _, configuration in found[:count]]


def store_scores(version: CorpusVersion, wanted: list[Configuration]) -> int:
    """Finished runs with made-up scores that agree with people more or less; no metric is
    computed."""
    from django.db.models import Avg
    from django.utils import timezone

    from annotations.corpora.actions import data_changed
    from annotations.models import Rating
    from workers.models import MetricRun

    random = np.random.default_rng(SEED + 1)
    turns = sum(dialogue.turns.count() for dialogue in version.dialogues.all())
    systems = list(version.systems.order_by("position"))
    human = dict(
        Rating.objects.filter(response__system__version=version)
        .values_list("response__system")
        .annotate(mean=Avg("score"))
    )
    now = timezone.now()
    runs = [
        MetricRun(
            system=system,
            metric=configuration.metric.name,
            metric_version=configuration.metric.version,
            configuration=configuration.text,
            queue=configuration.metric.queue,
            state=MetricRun.State.DONE,
            started_at=now,
            finished_at=now,
            examples_done=turns,
            examples_total=turns,
            signature=configuration.signature(
                corpus=version.corpus.slug, corpus_version=version.label, n=turns
            ),
            system_score=float(scores.mean()),
            turn_scores=scores.tolist(),
        )
        for place, configuration in enumerate(wanted)
        for system in systems
        for scores in [
            np.clip(
                human[system.pk] / 5 + random.normal(scale=0.1 + 0.02 * place, size=turns), 0, 1
            )
        ]
    ]
    MetricRun.objects.bulk_create(runs, batch_size=500)
    data_changed([version.pk])
    return len(runs)
