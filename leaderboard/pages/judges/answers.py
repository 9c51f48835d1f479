"""One judged response, or dialogue, with all that its judge was sent and said; the raw answers of
many, for files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from annotations.models import CorpusVersion, Dialogue, Rating, Response, System, Turn
from leaderboard.queries.metric_runs import finished_runs_of
from workers.judges.models import StoredAnswer, StoredRequest
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.judge_samples import JudgeTrace
from workers.models import MetricRun


@dataclass(frozen=True)
class JudgeAnswerText:
    """One call's answer as it is stored."""

    sample: int
    ask: int
    state: str
    text: str
    error: str
    finish_reason: str
    reported_model: str
    endpoint: str
    input_tokens: int | None
    output_tokens: int | None
    latency_seconds: float
    cost: Decimal | None
    attempts: int
    sent: dict[str, Any]
    """How it was asked, where not as the request is stored (``workers.judges.core.dialects``)."""
    score: float | None = None
    """What was read from it; None where nothing could be, or where it was asked again."""


@dataclass(frozen=True)
class SentRequest:
    """What was sent, and every answer to it that this score has to do with."""

    key: str
    model: str
    messages: tuple[tuple[str, str], ...]
    """(role, text)"""
    parameters: tuple[tuple[str, Any], ...]
    answers: tuple[JudgeAnswerText, ...]

    @property
    def tokens(self) -> int:
        return sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in self.answers)

    @property
    def cost(self) -> Decimal | None:
        known = [one.cost for one in self.answers if one.cost is not None]
        return sum(known, Decimal(0)) if known else None


@dataclass(frozen=True)
class TurnOfDialogue:
    """A turn of a judged dialogue, as the first step saw it."""

    number: int
    response: str
    score: float | None
    trace: JudgeTrace


@dataclass(frozen=True)
class OneJudged:
    system: System
    dialogue: Dialogue
    turn: Turn | None
    """None of a whole dialogue."""
    response: str
    run: MetricRun
    score: float | None
    reason: str
    remark: str
    trace: JudgeTrace
    request: SentRequest | None
    """None where nothing was asked, or what was asked is no longer stored."""
    other: SentRequest | None
    """Of the response without what speaks to the judge (or with it, where that does not count)."""
    ratings: tuple[tuple[str, float], ...]
    """(rater, score); of an anonymous rater the name is empty."""
    turns: tuple[TurnOfDialogue, ...] = field(default=())


def one_judged(
    version: CorpusVersion,
    aspect: str,
    configuration: Configuration,
    dialogue: int,
    system: int | None = None,
    turn: int | None = None,
) -> OneJudged | None:
    """``dialogue`` and ``system``: positions in the version; ``turn``: its number. Where none is
    named, the first system that was judged and the first turn that it answered. None where there is
    no such place or no finished run."""
    index_of = version.dialogues.filter(position=dialogue).first()
    runs = (
        finished_runs_of(configuration, [version])
        .select_related("system")
        .order_by("system__position")
    )
    run = (runs if system is None else runs.filter(system__position=system)).first()
    if index_of is None or run is None:
        return None
    if "turn" in configuration.metric.levels:
        return _one_turn(version, aspect, run, index_of, turn)
    return _one_dialogue(version, aspect, run, index_of)


def _one_turn(
    version: CorpusVersion, aspect: str, run: MetricRun, dialogue: Dialogue, number: int | None
) -> OneJudged | None:
    answered = Response.objects.filter(system=run.system, turn__dialogue=dialogue).select_related(
        "turn"
    )
    chosen = answered if number is None else answered.filter(turn__number=number)
    response = chosen.order_by("turn__number").first()
    if response is None:
        return None
    place = _turn_index(version, dialogue, response.turn.number)
    ratings = Rating.objects.of_corpora().filter(response=response, aspect=aspect)
    return _one(run, run.turn_scores, place, dialogue, response.turn, response.text, ratings)


def _turn_index(version: CorpusVersion, dialogue: Dialogue, number: int) -> int:
    turns = Turn.objects.filter(dialogue__version=version)
    before = turns.filter(dialogue__position__lt=dialogue.position).count()
    return before + turns.filter(dialogue=dialogue, number__lt=number).count()


def _one_dialogue(
    version: CorpusVersion, aspect: str, run: MetricRun, dialogue: Dialogue
) -> OneJudged | None:
    place = version.dialogues.filter(position__lt=dialogue.position).count()
    if place >= len(run.dialogue_scores):
        return None
    of_dialogue = {"response__isnull": True, "system": run.system, "dialogue": dialogue}
    ratings = Rating.objects.of_corpora().filter(**of_dialogue, aspect=aspect)
    return _one(run, run.dialogue_scores, place, dialogue, None, "", ratings)


def _one(
    run: MetricRun,
    scores: Sequence[float | None],
    place: int,
    dialogue: Dialogue,
    turn: Turn | None,
    response: str,
    ratings: Any,
) -> OneJudged:
    trace = JudgeTrace.from_json((run.details.get("traces") or {}).get(str(place)) or {})
    return OneJudged(
        system=run.system,
        dialogue=dialogue,
        turn=turn,
        response=response,
        run=run,
        score=scores[place] if place < len(scores) else None,
        reason=run.undefined.get(str(place), ""),
        remark=run.remarks.get(str(place), ""),
        trace=trace,
        request=sent_request(trace.request, trace.samples),
        other=sent_request(trace.other_request, trace.samples) if trace.other_request else None,
        ratings=tuple(
            (rating.rater.pseudonym if rating.rater.kind == "identified" else "", rating.score)
            for rating in ratings.select_related("rater").order_by("rater__position")
        ),
        turns=_turns_of(trace, run.system, dialogue) if turn is None else (),
    )


def _turns_of(trace: JudgeTrace, system: System, dialogue: Dialogue) -> tuple[TurnOfDialogue, ...]:
    texts = dict(
        Response.objects.filter(system=system, turn__dialogue=dialogue).values_list(
            "turn__number", "text"
        )
    )
    return tuple(
        TurnOfDialogue(
            number=int(one.get("turn", place)),
            response=texts.get(int(one.get("turn", place)), ""),
            score=one.get("score"),
            trace=JudgeTrace.from_json(one),
        )
        for place, one in enumerate(trace.turns)
    )


# --- the store ------------------------------------------------------------------------------------

_COLUMNS = (
    "sample", "ask", "state", "text", "error", "finish_reason", "reported_model", "endpoint",
    "input_tokens", "output_tokens", "latency_seconds", "cost", "attempts", "sent",
)  # fmt: skip


def sent_request(key: str, samples: Sequence[float | None]) -> SentRequest | None:
    """What was sent under the key, with the answers to the samples that count here: another
    configuration may have drawn more of the same request."""
    if not key:
        return None
    row = StoredRequest.objects.filter(key=key).first()
    if row is None:
        return None
    document = json.loads(row.body)
    return SentRequest(
        key=key,
        model=row.model,
        messages=tuple((str(role), str(text)) for role, text in document["messages"]),
        parameters=tuple(sorted(document["parameters"].items())),
        answers=answers_of([key], {key: samples}).get(key, ()),
    )


def answers_of(
    keys: Iterable[str], samples: Mapping[str, Sequence[float | None]]
) -> dict[str, tuple[JudgeAnswerText, ...]]:
    """By the request's key, the answers to its first ``len(samples[key])`` samples, with the score
    that each gave."""
    rows = (
        StoredAnswer.objects.filter(request__key__in=list(keys))
        .exclude(state=StoredAnswer.State.REQUESTED)
        .order_by("sample", "ask")
        .values_list("request__key", *_COLUMNS)
    )
    by_key: dict[str, list[JudgeAnswerText]] = {}
    for key, *columns in rows:
        if columns[0] < len(samples[key]):
            by_key.setdefault(key, []).append(JudgeAnswerText(*columns))
    return {key: tuple(_with_scores(answers, samples[key])) for key, answers in by_key.items()}


def _with_scores(
    answers: Sequence[JudgeAnswerText], samples: Sequence[float | None]
) -> list[JudgeAnswerText]:
    """A sample's score is that of the last time that it was asked."""
    last = {one.sample: one.ask for one in answers}
    return [
        JudgeAnswerText(*(getattr(one, name) for name in _COLUMNS), score=samples[one.sample])
        if one.ask == last[one.sample]
        else one
        for one in answers
    ]
