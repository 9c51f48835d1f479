"""What a scorer makes of runs: their examples in one call, the scores handed back to each run, and
all that belongs to a score: signature, model, device, remarks."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, SupportsFloat

from annotations.corpora.queries import language_of
from common.estimates import Undefined
from common.text import storable
from workers.judges.core.response_cache import NoScore
from workers.metrics.base import Account, Example, Read, Score, methods_for, ordered
from workers.metrics.common import configuration as configurations
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.readability import unknown_remark
from workers.models import MetricRun
from workers.runs import queries
from workers.runs.actions import RunResult

LONGEST_REASON = 300
LONGEST_DEVICE = 120
LONGEST_MODEL = 300
PREPARED_SHARE = 0.9
"""The share of the work that preparing several systems counts as: encoding them, where comparing
them is quick."""

Progress = Callable[[int], None]
Outcome = RunResult | Exception
"""Of one run among several: its result, or why it has none."""


@dataclass(frozen=True)
class Task:
    """A run with its examples, one a turn of the corpus version; None where the system gave no
    response."""

    run: MetricRun
    by_turn: list[Example | None]

    @classmethod
    def of(cls, run: MetricRun) -> Task:
        return cls(run, queries.examples_of(run.system))

    @property
    def given(self) -> list[Example]:
        return [example for example in self.by_turn if example is not None]


def configuration_of(run: MetricRun) -> Configuration:
    """Raises ``ValueError`` where this machine has another version of the metric, or none."""
    configuration = _configuration(run.configuration)
    if configuration.metric.version != run.metric_version:
        raise ValueError(
            f"the run asks for {configuration.metric.name} version {run.metric_version}; "
            f"this worker has version {configuration.metric.version}"
        )
    return configuration


@lru_cache(maxsize=64)
def _configuration(text: str) -> Configuration:
    return configurations.parse(text)


@lru_cache(maxsize=64)
def scorer_of(text: str) -> Any:
    """A model is loaded once a worker process, not once a run."""
    return _configuration(text).scorer()


def forget() -> None:
    """What a process keeps of configurations. For tests, whose registries differ."""
    scorer_of.cache_clear()
    _configuration.cache_clear()


def account_of(scorer: Any) -> Account:
    """What the scorer says of its last call, or nothing."""
    return scorer.account() if hasattr(scorer, "account") else Account()


def outcomes(
    configuration: Configuration, tasks: Sequence[Task], progress: Progress
) -> list[Outcome]:
    """One for each task, in order. Raises what the scorer raises over all of them together, and
    ``ValueError`` where the scorer has no method for the metric's levels."""
    scorer = scorer_of(configuration.text)
    # Else scores of turns would be stored as those of dialogues, each at an index not its own, and
    # scores of systems alone would count as those of dialogues without any
    fitting = methods_for(configuration.levels)
    if not any(hasattr(scorer, name) for name in fitting):
        levels = ", ".join(ordered(configuration.levels))
        raise ValueError(
            f"{configuration.text} has the levels {levels}: its scorer needs {' or '.join(fitting)}"
        )
    if tasks and hasattr(scorer, "see_corpus"):
        scorer.see_corpus(queries.turns_of(tasks[0].run.system.version_id))
    if tasks and hasattr(scorer, "see_language"):
        scorer.see_language(language_of(tasks[0].run.system.version))
    if "turn" not in configuration.levels and hasattr(scorer, "score_dialogues"):
        return _of_dialogues(configuration, scorer, tasks, progress)
    if "turn" not in configuration.levels and hasattr(scorer, "score_system"):
        return list(_of_systems(configuration, scorer, tasks, progress))
    no_response = Undefined(queries.NO_RESPONSE)
    places = [[no_response if one is None else one for one in task.by_turn] for task in tasks]
    return _scored_together(configuration, scorer, scorer.score, tasks, places, progress)


def _of_dialogues(
    configuration: Configuration, scorer: Any, tasks: Sequence[Task], progress: Progress
) -> list[Outcome]:
    """A metric of whole dialogues: a score for each dialogue in which the system said something at
    every turn."""
    places = [_whole_dialogues(task) for task in tasks]
    return _scored_together(configuration, scorer, scorer.score_dialogues, tasks, places, progress)


def _whole_dialogues(task: Task) -> list[tuple[Example, ...] | Undefined]:
    version_id = task.run.system.version_id
    examples_of: dict[str, list[Example]] = {
        name: [] for name in queries.dialogue_ids_of(version_id)
    }
    silent: dict[str, int] = {}
    for turn, example in zip(queries.turns_of(version_id), task.by_turn, strict=True):
        if example is None:
            silent.setdefault(turn.dialogue_id, turn.turn)
        else:
            examples_of[turn.dialogue_id].append(example)
    nothing = Undefined(queries.NO_RESPONSE_IN_DIALOGUE)
    return [
        (Undefined(f"the system gave no response at turn {silent[name]}") if examples else nothing)
        if name in silent
        else tuple(examples) or Undefined("the dialogue has no turns")
        for name, examples in examples_of.items()
    ]


def _scored_together(
    configuration: Configuration,
    scorer: Any,
    score: Callable[..., Sequence[Score]],
    tasks: Sequence[Task],
    places: Sequence[Sequence[Any]],
    progress: Progress,
) -> list[Outcome]:
    """``places``: for each task what is to be scored (responses, dialogues), in the version's
    order, or why one cannot be. All of it goes to the scorer in one call."""
    given = [one for of_task in places for one in of_task if not isinstance(one, Undefined)]
    scores = list(score(given, progress))
    if len(scores) != len(given):
        kind = "responses" if "turn" in configuration.levels else "dialogues"
        raise ValueError(f"{configuration.text} gave {len(scores)} scores for {len(given)} {kind}")
    account = account_of(scorer)
    found: list[Outcome] = []
    begin = 0
    for task, of_task in zip(tasks, places, strict=True):
        end = begin + sum(not isinstance(one, Undefined) for one in of_task)
        own = _part(account, begin, end)
        found.append(_or_problem(_result, configuration, task, of_task, scores[begin:end], own))
        begin = end
    return found


def _part(account: Account, begin: int, end: int) -> Account:
    """Of one run among several: what is said of its own places, which begin with 0."""
    return replace(
        account,
        facts=account.facts if account.facts_of is None else account.facts_of(slice(begin, end)),
        remarks={
            place - begin: one for place, one in account.remarks.items() if begin <= place < end
        },
        traces={
            place - begin: one for place, one in account.traces.items() if begin <= place < end
        },
        read=account.read[begin:end],
    )


def _of_systems(
    configuration: Configuration, scorer: Any, tasks: Sequence[Task], progress: Progress
) -> Iterator[Outcome]:
    """A metric of whole systems (a distance between distributions): one score, and none for a
    turn."""
    prepared = len(tasks) > 1 and hasattr(scorer, "prepare")
    if prepared:
        _prepare(configuration, scorer, tasks, progress)
    whole = sum(len(task.given) for task in tasks)
    before = 0
    for task in tasks:
        begun = before

        def tell(done: int, begun: int = begun, most: int = len(task.given)) -> None:
            so_far = begun + min(done, most)
            progress(
                int(whole * PREPARED_SHARE + so_far * (1 - PREPARED_SHARE)) if prepared else so_far
            )

        yield _or_problem(_system_result, configuration, scorer, task, tell)
        before += len(task.given)


def _prepare(
    configuration: Configuration, scorer: Any, tasks: Sequence[Task], progress: Progress
) -> None:
    """``tasks`` are of one corpus version, and so have the same human references."""
    examples = [example for task in tasks for example in task.given]
    human = queries.human_reference_of(configuration, tasks[0].run.system.version)

    def tell(done: int) -> None:
        progress(int(len(examples) * PREPARED_SHARE * done / (len(examples) + len(human))))

    scorer.prepare([*examples, *human], tell)


def _or_problem(make: Callable[..., RunResult], *arguments: Any) -> Outcome:
    try:
        return make(*arguments)
    # What this one system's scores are; the others' may be sound
    except (ValueError, NoScore) as problem:
        return problem


def _result(
    configuration: Configuration,
    task: Task,
    places: Sequence[Any],
    scores: Sequence[Score],
    account: Account,
) -> RunResult:
    account = _with_what_was_read(account)
    in_order = iter([_checked(configuration, score) for score in scores])
    by_position = [one if isinstance(one, Undefined) else next(in_order) for one in places]
    defined = [score for score in by_position if not isinstance(score, Undefined)]
    undefined = {
        str(place): storable(one.reason)
        for place, one in enumerate(by_position)
        if isinstance(one, Undefined)
    }
    scored = [place for place, one in enumerate(places) if not isinstance(one, Undefined)]
    of_turns = "turn" in configuration.levels
    stored = [None if isinstance(score, Undefined) else score for score in by_position]
    level = "turn" if of_turns else "dialogue"
    if not defined and any(map(_was_requested, account.traces.values())):
        raise NoScore(_what_was_answered([undefined[str(place)] for place in scored], account))
    if not of_turns:
        # A dialogue's score is found by its place alone.
        dialogues = len(queries.dialogue_ids_of(task.run.system.version_id))
        if len(stored) != dialogues:
            raise ValueError(
                f"{configuration.text} has {len(stored)} dialogue scores for {dialogues} dialogues"
            )
    if account.traces:
        traces = {str(scored[place]): trace for place, trace in sorted(account.traces.items())}
        account = replace(account, details={**account.details, "traces": traces})
    return RunResult(
        signature=_signature(configuration, task.run, account, n=len(defined)),
        system_score=math.fsum(defined) / len(defined) if defined else None,
        system_reason="" if defined else _common_reason(undefined, level),
        turn_scores=stored if of_turns else [],
        dialogue_scores=[] if of_turns else stored,
        undefined=undefined,
        remarks={
            str(scored[place]): storable(remark)
            for place, remark in sorted(account.remarks.items())
        },
        **_provenance(configuration, account),
    )


def _was_requested(trace: dict[str, Any]) -> bool:
    return bool(trace["request"]) or any(map(_was_requested, trace.get("turns", ())))


def _what_was_answered(reasons: Sequence[str], account: Account) -> str:
    """Why a judge has no score of anything that it was asked: the commonest reason, and an
    answer."""
    reason = Counter(reasons).most_common(1)[0][0]
    answer_text = next((one["said"] for one in account.traces.values() if one.get("said")), "")
    quoted = f'; an answer: "{answer_text}"' if answer_text and answer_text not in reason else ""
    return f"the judge was asked and gave no score: {reason}{quoted}"


def _with_what_was_read(account: Account) -> Account:
    """A remark on each score of which the model did not know too many tokens; of all together, how
    many tokens there were, and a warning where too many were unknown."""
    if not account.read:
        return account
    remarks = dict(account.remarks)
    for place, read in enumerate(account.read):
        if remark := unknown_remark(read):
            remarks[place] = "; ".join(filter(None, [remarks.get(place, ""), remark]))
    whole = Read(
        sum(read.tokens for read in account.read), sum(read.unknown for read in account.read)
    )
    details = {**account.details, "read": whole._asdict()}
    if warning := unknown_remark(whole):
        details["warning"] = "; ".join(filter(None, [details.get("warning", ""), warning]))
    return replace(account, remarks=remarks, details=details)


def _system_result(
    configuration: Configuration, scorer: Any, task: Task, progress: Progress
) -> RunResult:
    version = task.run.system.version
    human = queries.people_beside(configuration, version, task.given)
    score = _checked(configuration, scorer.score_system(task.given, human, progress))
    account = _with_what_was_read(account_of(scorer))
    return RunResult(
        signature=_signature(
            configuration, task.run, account, n=len(task.given), n_human=len(human)
        ),
        system_score=None if isinstance(score, Undefined) else score,
        system_reason=storable(score.reason)[:LONGEST_REASON]
        if isinstance(score, Undefined)
        else "",
        turn_scores=[],
        undefined={},
        **_provenance(configuration, account),
    )


def _checked(configuration: Configuration, score: Score) -> Score:
    """A score as it may be stored. Metrics are other people's code too: what they hand back is not
    taken on trust."""
    if isinstance(score, Undefined) or (type(score) is float and math.isfinite(score)):
        return score
    if isinstance(score, str) or not isinstance(score, SupportsFloat) or not math.isfinite(score):
        raise ValueError(
            f"{configuration.text} gave {score!r}; a score must be a finite number or undefined"
        )
    return float(score)


def _signature(
    configuration: Configuration, run: MetricRun, account: Account, **counts: int
) -> str:
    """Metric, version, options and fixed facts; then what only loading could tell; then the corpus
    and the counts."""
    version, facts = run.system.version, loaded_model_fields(configuration, account)
    return configuration.signature(
        **facts, corpus=version.corpus.slug, corpus_version=version.label, **counts
    )


def loaded_model_fields(configuration: Configuration, account: Account) -> dict[str, object]:
    """Of a signature: what only loading could tell, the model's revision among it."""
    options = configuration.options
    facts: dict[str, object] = {}
    for name, value in account.facts:
        if name not in options:
            facts[name] = value
        elif value != str(options[name]):  # such as a layer that was left to the model to choose
            facts[f"{name}_used"] = value
    if "@" in account.model:
        facts["model_revision"] = account.model.rpartition("@")[2]
    return facts


def names_of(account: Account) -> dict[str, str]:
    """Model and device as a run's row holds them."""
    model = storable(account.model)
    # A long folder: its end and the revision tell more than its beginning
    if len(model) > LONGEST_MODEL:
        model = f"…{model[-LONGEST_MODEL + 1 :]}"
    return {"model": model, "device": storable(account.device)[:LONGEST_DEVICE]}


def _provenance(configuration: Configuration, account: Account) -> dict[str, Any]:
    return {**names_of(account), "details": _as_json(configuration, account.details)}


def _as_json(configuration: Configuration, details: Any) -> dict[str, Any]:
    try:
        written = json.dumps(dict(details), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"{configuration.text} gave details that are no JSON: {problem}") from None
    read: dict[str, Any] = json.loads(written)
    return _texts_storable(read) if "\\u" in written else read


def _texts_storable(document: Any) -> Any:
    """Texts and keys as a database keeps them. One by one: what JSON writes for a NUL may stand in
    a text as it is."""
    if isinstance(document, str):
        return storable(document)
    if isinstance(document, list):
        return [_texts_storable(one) for one in document]
    if isinstance(document, dict):
        return {storable(key): _texts_storable(one) for key, one in document.items()}
    return document


def _common_reason(undefined: dict[str, str], of: str) -> str:
    reasons = sorted(set(undefined.values()))
    if not reasons:
        return f"the corpus has no {of}s"
    return f"no {of} has a score: {reasons[0]}"[:LONGEST_REASON]
