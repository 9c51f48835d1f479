"""Every read of metric runs and of what they are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from django.db.models import Count, QuerySet
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from annotations.models import CorpusVersion, Response, System, Turn
from annotations.records import Utterance
from workers.metrics.base import Example
from workers.metrics.configuration import Configuration
from workers.models import MetricRun

NO_RESPONSE = "the system gave no response at this turn"


@lru_cache(maxsize=4)
def _turns_of(version_id: int) -> tuple[tuple[int, Example], ...]:
    """(turn pk, example without a response) in order. A version never changes, so a worker process may keep it."""
    turns = (
        Turn.objects.filter(dialogue__version_id=version_id)
        .select_related("dialogue")
        .order_by("dialogue__position", "number")
    )
    return tuple(
        (
            turn.pk,
            Example(
                dialogue_id=turn.dialogue.external_id,
                turn=turn.number,
                persona=tuple(turn.dialogue.persona),
                partner_persona=tuple(turn.dialogue.partner_persona),
                context=tuple(Utterance(speaker, text) for speaker, text in turn.context),
                references=tuple(turn.references),
                response="",
            ),
        )
        for turn in turns
    )


def examples_of(system: System) -> list[Example | None]:
    """One example a turn of the version, in order; None where the system gave no response."""
    responses = dict(Response.objects.filter(system=system).values_list("turn_id", "text"))
    return [_with_response(example, responses.get(turn_pk)) for turn_pk, example in _turns_of(system.version_id)]


def human_examples_of(version: CorpusVersion) -> list[Example]:
    """The human side that a system is compared with: every reference as the response at its turn, in order."""
    return [
        _with_response(example, reference) for _, example in _turns_of(version.pk) for reference in example.references
    ]


def _with_response(example: Example, response: str | None) -> Example | None:
    if response is None:
        return None
    return Example(
        example.dialogue_id,
        example.turn,
        example.persona,
        example.partner_persona,
        example.context,
        example.references,
        response,
    )


def why_not_offered(configuration: Configuration, version: CorpusVersion) -> str:
    """Why a configuration cannot be computed on this version here, or "" when it can."""
    if reason := configuration.missing():
        return reason
    needs = configuration.metric.needs
    if "reference" in needs and not _has_references(version):
        return "the corpus has no references"
    if "persona" in needs and not version.dialogues.exclude(persona=[]).exists():
        return "the corpus has no personas"
    return ""


def _has_references(version: CorpusVersion) -> bool:
    return Turn.objects.filter(dialogue__version=version).exclude(references=[]).exists()


def runs_of(version: CorpusVersion) -> QuerySet[MetricRun]:
    """Those of the systems that the corpus's pages show. The runs of withheld ones belong to their submissions."""
    return MetricRun.objects.filter(system__version=version, system__withheld=False)


def turn_scores_at(version: CorpusVersion, turn: Turn) -> dict[int, list[tuple[str, float | None, str]]]:
    """For each system (pk): (configuration, score, reason where undefined) at one turn, in the order of configurations.

    The database takes the one score out of each run's list: a page wants one of a hundred.
    """
    place = list(_turn_pks_of(version)).index(turn.pk)
    finished = runs_of(version).filter(state=MetricRun.State.DONE).order_by("configuration")
    rows = list(finished.values_list("pk", "system_id", "configuration", KeyTransform(str(place), "turn_scores")))
    reasons = _reasons_at(place, [pk for pk, _, _, score in rows if score is None])
    scores: dict[int, list[tuple[str, float | None, str]]] = {}
    for pk, system_id, configuration, score in rows:
        if score is not None or pk in reasons:  # a metric that has no turn scores has neither
            scores.setdefault(system_id, []).append((configuration, score, reasons.get(pk, "")))
    return scores


def _turn_pks_of(version: CorpusVersion) -> QuerySet[Turn, int]:
    turns = Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    return turns.values_list("pk", flat=True)


def _reasons_at(place: int, run_pks: Sequence[int]) -> dict[int, str]:
    undefined = MetricRun.objects.filter(pk__in=run_pks).values_list("pk", "undefined")
    return {pk: reasons[str(place)] for pk, reasons in undefined if str(place) in reasons}


def runs_for(configurations: Iterable[Configuration], systems: Sequence[System]) -> QuerySet[MetricRun]:
    """The runs that compute these configurations in their present metric version."""
    wanted = {(configuration.metric.version, configuration.text) for configuration in configurations}
    runs = MetricRun.objects.filter(system__in=systems, configuration__in=[text for _, text in wanted])
    current = [
        pk
        for pk, metric_version, configuration in runs.values_list("pk", "metric_version", "configuration")
        if (metric_version, configuration) in wanted
    ]
    found = MetricRun.objects.filter(pk__in=current).select_related("system")
    return found.order_by("configuration", "system__position")


def states_of(runs: QuerySet[MetricRun]) -> dict[str, int]:
    """How many runs are in each state; every state is named."""
    counts = dict.fromkeys(MetricRun.State.values, 0)
    counts.update(dict(runs.order_by().values_list("state").annotate(Count("pk"))))
    return counts


def is_being_computed(runs: QuerySet[MetricRun]) -> bool:
    """Whether a worker that is alive has one of these runs."""
    return runs.filter(state=MetricRun.State.RUNNING, lease_expires_at__gt=timezone.now()).exists()


def versions_with_run_states() -> list[CorpusVersion]:
    """Corpus versions that have runs, newest first, each with ``run_states``."""
    versions = list(
        CorpusVersion.objects.filter(systems__metric_runs__isnull=False, systems__withheld=False)
        .select_related("corpus")
        .distinct()
        .order_by("-created_at")
    )
    for version in versions:
        version.run_states = states_of(runs_of(version))
    return versions
