"""Every read of metric runs and of what they are computed from; of a distribution metric, which
people systems are compared with: the corpus's own references, or those of another corpus in a
version that the configuration names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Case, Count, F, Func, Q, QuerySet, TextField, Value, When

from annotations.corpora.queries import (
    NotFound,
    counts_of,
    public_corpora,
    turns_in,
    version_of,
)
from annotations.formats.records import Utterance
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from common import clock
from workers.metrics.base import Example
from workers.metrics.common.configuration import Configuration, ConfigurationError
from workers.metrics.common.options import HUMAN, REFERENCES
from workers.models import MetricRun, ScoreChunk

_NAMED = re.compile(r"([^@]+)(?:@v(\d+)(?:-([0-9a-f]+))?)?")


def takes_one(configuration: Configuration) -> bool:
    return HUMAN.name in configuration.options


def pinned(configuration: Configuration, version: CorpusVersion) -> Configuration:
    """The configuration with the human references written as ``slug@version label``, so that it
    says whom it compares with when a new version is imported. Raises ``ConfigurationError`` where
    there is no such corpus."""
    if not takes_one(configuration) or configuration.options[HUMAN.name] == REFERENCES:
        return configuration
    side = corpus_of(configuration, version)
    written = REFERENCES if side.pk == version.pk else f"{side.corpus.slug}@{side.label}"
    return Configuration.of(configuration.metric, **{**configuration.options, HUMAN.name: written})


def with_human_reference(configuration: Configuration, side: str) -> Configuration:
    """The configuration against these human references, where its metric takes one."""
    if not takes_one(configuration):
        return configuration
    return Configuration.of(configuration.metric, **{**configuration.options, HUMAN.name: side})


def corpus_of(configuration: Configuration, version: CorpusVersion) -> CorpusVersion:
    """The corpus version whose references the systems of ``version`` are compared with."""
    written = str(configuration.options.get(HUMAN.name, REFERENCES))
    return version if written == REFERENCES else _named(configuration, written)


def _named(configuration: Configuration, written: str) -> CorpusVersion:
    match = _NAMED.fullmatch(written.strip())
    if match is None:
        raise ConfigurationError(
            f'{configuration.metric.name}: human references "{written}" are not slug or slug@v1'
        )
    slug, number, digest = match.groups()
    try:
        found = version_of(slug, int(number) if number else None)
    except (NotFound, ValueError, OverflowError) as problem:
        raise ConfigurationError(
            f"{configuration.metric.name}: human references {written}: {problem}"
        ) from None
    if digest and not found.digest.startswith(digest):
        raise ConfigurationError(
            f"{configuration.metric.name}: human references {written}: version {number} of "
            f"{slug} here is {found.label}"
        )
    return found


NO_RESPONSE = "the system gave no response at this turn"
NO_RESPONSE_IN_DIALOGUE = "the system gave no response in this dialogue"


NOTHING_TO_SCORE = frozenset({NO_RESPONSE, NO_RESPONSE_IN_DIALOGUE})
"""Reasons of undefined scores where none is missing. Where every system has dialogues of its own,
these are most."""


def absent_responses(undefined: Mapping[str, str]) -> int:
    """How many of a run's undefined places hold nothing to score."""
    return sum(reason in NOTHING_TO_SCORE for reason in undefined.values())


@lru_cache(maxsize=4)
def _turns_of(version_id: int) -> tuple[tuple[int, Example], ...]:
    """(turn pk, example without a response) in order. A version never changes, so a worker process
    may keep it."""
    utterances: dict[int, tuple[Utterance, ...]] = {}
    """By dialogue: contexts that are beginnings of one conversation share its utterances."""

    def context_of(turn: Turn) -> tuple[Utterance, ...]:
        if turn.after is None:
            return tuple(Utterance(speaker, text) for speaker, text in turn.own_context)
        if turn.dialogue_id not in utterances:
            spoken = turn.dialogue.spoken
            utterances[turn.dialogue_id] = tuple(Utterance(*one) for one in spoken)
        return utterances[turn.dialogue_id][: turn.after]

    dialogues = Dialogue.objects.filter(version_id=version_id).defer("knowledge", "metadata")
    return tuple(
        (
            turn.pk,
            Example(
                dialogue_id=turn.dialogue.external_id,
                turn=turn.number,
                persona=tuple(turn.dialogue.persona),
                partner_persona=tuple(turn.dialogue.partner_persona),
                context=context_of(turn),
                references=tuple(turn.references),
                response="",
            ),
        )
        for turn in turns_in(dialogues)
    )


def turns_of(version_id: int) -> list[Example]:
    """Every turn of a version in order, without a response."""
    return [example for _, example in _turns_of(version_id)]


@lru_cache(maxsize=4)
def dialogue_ids_of(version_id: int) -> tuple[str, ...]:
    """Every dialogue of a version in order, those without turns too: what ``dialogue_scores``
    follow."""
    dialogues = Dialogue.objects.filter(version_id=version_id).order_by("position")
    return tuple(dialogues.values_list("external_id", flat=True))


def examples_of(system: System) -> list[Example | None]:
    """One example a turn of the version, in order; None where the system gave no response."""
    responses = dict(Response.objects.filter(system=system).values_list("turn_id", "text"))
    return [
        _with_response(example, responses.get(turn_pk))
        for turn_pk, example in _turns_of(system.version_id)
    ]


def examples_with(version_id: int, responses: Iterable[Response]) -> list[Example]:
    """These responses of the version, in the order given, each in its place."""
    places = dict(_turns_of(version_id))
    return [replace(places[one.turn_id], response=one.text) for one in responses]


def human_reference_of(configuration: Configuration, version: CorpusVersion) -> list[Example]:
    """What people said, to hold systems of ``version`` against: every reference of the
    configuration's human references as the response at its turn, in order. Raises
    ``ConfigurationError`` where that corpus is gone."""
    return list(_answers_of_people(corpus_of(configuration, version).pk))


def people_beside(
    configuration: Configuration, version: CorpusVersion, given: Sequence[Example]
) -> list[Example]:
    """``human_reference_of`` in the dialogues that the system answered, ``given``: beside people
    who talked of other things each system whose dialogues are its own would lie far from them. The
    answers of another corpus, whose dialogues nobody here answered, stay whole."""
    people = human_reference_of(configuration, version)
    if corpus_of(configuration, version).pk != version.pk:
        return people
    answered = {one.dialogue_id for one in given}
    return [one for one in people if one.dialogue_id in answered]


@lru_cache(maxsize=4)
def _answers_of_people(version_id: int) -> tuple[Example, ...]:
    return tuple(
        replace(example, response=reference)
        for _, example in _turns_of(version_id)
        for reference in example.references
    )


def forget() -> None:
    """What this process keeps of versions. For tests, whose versions go away and whose keys come
    again."""
    _turns_of.cache_clear()
    dialogue_ids_of.cache_clear()
    _answers_of_people.cache_clear()


def _with_response(example: Example, response: str | None) -> Example | None:
    return None if response is None else replace(example, response=response)


def why_not_offered(configuration: Configuration, version: CorpusVersion) -> str:
    """Why a configuration cannot be computed on this version here, or "" when it can."""
    if reason := configuration.missing():
        return reason
    held, needs = counts_of(version), configuration.needs
    if "reference" in needs and not held.references:
        return "the corpus has no references"
    if "persona" in needs and not held.personas:
        return "the corpus has no personas"
    if "context" in needs and not held.contexts:
        return "the corpus has no contexts"
    if takes_one(configuration):
        return _why_no_human_reference(configuration, version)
    return "" if "human_corpus" not in needs or held.references else "the corpus has no references"


def _why_no_human_reference(configuration: Configuration, version: CorpusVersion) -> str:
    try:
        side = corpus_of(configuration, version)
    except ConfigurationError as problem:
        return str(problem).removeprefix(f"{configuration.metric.name}: ")
    if _would_be_named_in_public(side, version):
        return (
            f"{side} is not public, and the pages of {version.corpus.slug}, which is, would name it"
        )
    held = counts_of(version if side.pk == version.pk else side)
    which = "the corpus" if side.pk == version.pk else str(side)
    if not held.references:
        return f"{which} has no references"
    if "context" in configuration.metric.needs and not held.contexts:
        return f"{which} has no contexts"
    return ""


def _would_be_named_in_public(side: CorpusVersion, version: CorpusVersion) -> bool:
    """A configuration is written on the pages of the corpus that it scores, with the corpus that it
    compares with."""
    if side.corpus_id == version.corpus_id:
        return False
    public = (
        public_corpora()
        .filter(pk__in=[side.corpus_id, version.corpus_id])
        .values_list("pk", flat=True)
    )
    return version.corpus_id in public and side.corpus_id not in public


def runs_of(version: CorpusVersion) -> QuerySet[MetricRun]:
    """Those of the systems that the corpus's pages show. The runs of withheld ones belong to their
    submissions."""
    return MetricRun.objects.filter(system__version=version, system__withheld=False)


class TurnScore(NamedTuple):
    """What one configuration says of one response, or of a system's whole dialogue."""

    configuration: str
    score: float | None
    reason: str
    """Why there is no score."""
    remark: str
    """What to know about the score: "the text was cut at 512 tokens"."""


def turn_scores_at(
    version: CorpusVersion, turn: Turn, systems: Collection[int] | None = None
) -> dict[int, list[TurnScore]]:
    """For each system (pk), or each of ``systems``, the scores at one turn, in the order of
    configurations."""
    earlier = Turn.objects.filter(
        dialogue__version=version, dialogue__position__lt=turn.dialogue.position
    )
    in_dialogue = [one for one in turn.dialogue.turns.all() if one.number < turn.number]
    return _scores_at("turn", earlier.count() + len(in_dialogue), version, systems)


def dialogue_scores_at(
    version: CorpusVersion, dialogue: Dialogue, systems: Collection[int] | None = None
) -> dict[int, list[TurnScore]]:
    """The same of a whole dialogue: what metrics that score dialogues say of each system in it."""
    earlier = version.dialogues.filter(position__lt=dialogue.position)
    return _scores_at("dialogue", earlier.count(), version, systems)


def _scores_at(
    level: str, place: int, version: CorpusVersion, systems: Collection[int] | None
) -> dict[int, list[TurnScore]]:
    """The database takes the one score out of its chunk: a page wants one of a hundred thousand."""
    runs = runs_of(version).filter(state=MetricRun.State.DONE)
    if systems is not None:
        runs = runs.filter(system__in=systems)
    number, index = divmod(place, ScoreChunk.SIZE)
    rows = list(
        runs.filter(chunks__level=level, chunks__number=number)
        .order_by("configuration")
        .values_list(
            *("pk", "system_id", "configuration"),
            _TextUnder(str(index), "chunks__scores"),
            _TextUnder(str(place), "remarks"),
        )
    )
    without = runs.filter(pk__in=[row[0] for row in rows if row[3] is None])
    reasons = dict(without.values_list("pk", _TextUnder(str(place), "undefined")))
    scores: dict[int, list[TurnScore]] = {}
    for pk, system_id, configuration, written, remark in rows:
        score = None if written is None else float(written)
        reason = reasons.get(pk) or ""
        if score is not None or reason:
            turn_score = TurnScore(configuration, score, reason, remark or "")
            scores.setdefault(system_id, []).append(turn_score)
    return scores


class _TextUnder(Func):
    """What an object of a JSON column has under a key of digits, which ``KeyTransform`` takes for a
    place in a list; None where it has nothing. A number is a text on PostgreSQL alone."""

    function = "JSONB_EXTRACT_PATH_TEXT"

    def __init__(self, key: str, column: str) -> None:
        super().__init__(F(column), Value(key), output_field=TextField())

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        path = {"template": "JSON_EXTRACT(%(expressions)s || '\"')", "arg_joiner": ", '$.\"' || "}
        return super().as_sql(compiler, connection, **path, **context)


def runs_for(
    configurations: Iterable[Configuration], systems: Sequence[System]
) -> QuerySet[MetricRun]:
    """The runs that compute these configurations in their present metric version."""
    wanted = {
        (configuration.metric.version, configuration.text) for configuration in configurations
    }
    runs = MetricRun.objects.filter(
        system__in=systems, configuration__in=[text for _, text in wanted]
    )
    current = [
        pk
        for pk, metric_version, configuration in runs.values_list(
            "pk", "metric_version", "configuration"
        )
        if (metric_version, configuration) in wanted
    ]
    found = MetricRun.objects.filter(pk__in=current).select_related("system")
    return found.order_by("configuration", "system__position")


def states_of(runs: QuerySet[MetricRun]) -> dict[str, int]:
    """How many runs are in each state; every state is named."""
    counts = dict.fromkeys(MetricRun.State.values, 0)
    counts.update(dict(runs.order_by().values_list("state").annotate(Count("pk"))))
    return counts


def failed_by_version(most: int) -> list[tuple[CorpusVersion, int]]:
    """Corpus versions with runs that failed, and how many, the newest version first."""
    failed = MetricRun.objects.filter(state=MetricRun.State.FAILED, system__withheld=False)
    counts = dict(failed.order_by().values_list("system__version").annotate(Count("pk")))
    versions = (
        CorpusVersion.objects.filter(pk__in=counts)
        .select_related("corpus")
        .order_by("-created_at", "-pk")
    )
    return [(version, counts[version.pk]) for version in versions[:most]]


@dataclass(frozen=True, slots=True)
class RunsNow:
    """Runs of one corpus version that are not finished. ``judges``: of metrics that ask a language
    model."""

    version: CorpusVersion
    judges: bool
    done: int
    running: int
    queued: int

    @property
    def total(self) -> int:
        return self.done + self.running + self.queued


def runs_now(most: int) -> list[RunsNow]:
    """Corpus versions with queued or running runs, the newest first, runs of judges apart. Finished
    ones are counted beside them: how far the version is."""
    unfinished = Q(state__in=[MetricRun.State.PENDING, MetricRun.State.RUNNING])
    shown = MetricRun.objects.filter(system__withheld=False).order_by()
    groups = (
        shown.filter(unfinished)
        .values("system__version", is_judge=Case(When(queue="llm", then=True), default=False))
        .annotate(
            running=Count("pk", filter=Q(state=MetricRun.State.RUNNING)),
            queued=Count("pk", filter=Q(state=MetricRun.State.PENDING)),
        )
        .order_by("-system__version", "is_judge")[:most]
    )
    found = list(groups)
    pks = {one["system__version"] for one in found}
    versions = CorpusVersion.objects.select_related("corpus").in_bulk(pks)
    finished = (
        shown.filter(state=MetricRun.State.DONE, system__version__in=pks)
        .values_list("system__version", Case(When(queue="llm", then=True), default=False))
        .annotate(Count("pk"))
    )
    done = {(version, judges): count for version, judges, count in finished}
    return [
        RunsNow(
            versions[one["system__version"]],
            one["is_judge"],
            done.get((one["system__version"], one["is_judge"]), 0),
            one["running"],
            one["queued"],
        )
        for one in found
    ]


def is_being_computed(runs: QuerySet[MetricRun]) -> bool:
    """Whether a worker that is alive has one of these runs."""
    return runs.filter(state=MetricRun.State.RUNNING, lease_expires_at__gt=clock.now()).exists()


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
