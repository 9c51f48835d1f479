"""FED: what a partner would say next tells how good a response was (Mehri & Eskenazi, 2020).

The follow-up utterances, what the partner says after good and after bad responses by aspect: the
project's own are in ``fed_followups.json``; the published ones, or others, come from a file of the
same form: ``{"interesting": {"positive": ["…"], "negative": ["…"]}, …}``. One of the two lists may
be empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.formats.records import Utterance, target_of
from common.estimates import Undefined
from workers.inference.encoders.feature_store import feature_store
from workers.inference.language_models.likelihood import CausalModel, Continuation, causal_model_for
from workers.metrics.base import Account, Example, Progress, Score
from workers.metrics.common.likelihood_scorers import EMPTY_RESPONSE
from workers.metrics.common.named_files import text_of
from workers.metrics.common.options import account_of
from workers.metrics.common.readability import read_of_responses
from workers.metrics.common.responses import before_utterance

OURS = "ours"
_OURS_FILE = Path(__file__).with_name("fed_followups.json")
_LARGEST_FILE = 1_000_000
_MOST = 100
TURN_ASPECTS = (
    "interesting",
    "engaging",
    "specific",
    "relevant",
    "correct",
    "semantically_appropriate",
    "understandable",
    "fluent",
)
DIALOGUE_ASPECTS = (
    "coherent",
    "error_recovery",
    "consistent",
    "diverse",
    "depth",
    "likeable",
    "understanding",
    "flexible",
    "informative",
    "inquisitive",
)


class FollowUpsError(ValueError):
    """The file is not there or says something else than follow-ups; the message says where and
    what."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """What a partner says after good (positive) and after bad (negative) responses; one may be
    empty."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


def read_follow_ups(name: str) -> dict[str, FollowUps]:
    """Read the follow-ups of FED's aspects.

    Args:
        name: ``ours``, or the path of a JSON file: ``{"interesting": {"positive": ["…"],
            "negative": ["…"]}, …}``.

    Returns:
        Follow-ups by aspect, for the aspects that the file has; each has at least one follow-up.

    Raises:
        FollowUpsError: no such file, not of this form, an unknown aspect, or one without
            follow-ups. The message never shows what else a file holds.
    """
    return dict(_ours()) if name == OURS else _read(name, name)


@cache
def _ours() -> Mapping[str, FollowUps]:
    """A part of the project: read once, for each of eighteen aspects asks whether it is in it."""
    return _read(OURS, str(_OURS_FILE))


def _read(name: str, file: str) -> dict[str, FollowUps]:
    try:
        document = json.loads(text_of(file, _LARGEST_FILE))
    except json.JSONDecodeError as error:
        raise FollowUpsError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON"
        ) from error
    except RecursionError as error:
        raise FollowUpsError(f"{name}: not JSON") from error
    except ValueError as error:
        raise FollowUpsError(f"{name}: {error}") from error
    if not isinstance(document, Mapping) or not document:
        raise FollowUpsError(f"{name}: $: must be an object with an entry per aspect")
    return {_aspect(name, key): _of_aspect(name, key, entry) for key, entry in document.items()}


def fingerprint(follow_ups: FollowUps) -> str:
    """Hash of the wording, for signatures: scores with different ones are not comparable.

    Returns:
        The first 12 hexadecimal digits of the SHA-256 of the follow-ups in their order.
    """
    document = json.dumps([follow_ups.positive, follow_ups.negative])
    return hashlib.sha256(document.encode()).hexdigest()[:12]


def _aspect(name: str, key: str) -> str:
    aspect = key.strip().lower().replace(" ", "_").replace("-", "_")
    if aspect not in TURN_ASPECTS + DIALOGUE_ASPECTS:
        raise FollowUpsError(f"{name}: $.{key[:50]}: no such aspect")
    return aspect


def _of_aspect(name: str, key: str, entry: object) -> FollowUps:
    if not isinstance(entry, Mapping):
        raise FollowUpsError(
            f"{name}: $.{key}: must be an object with the lists positive and negative"
        )
    if unknown := sorted(set(entry) - {"positive", "negative"}):
        raise FollowUpsError(
            f"{name}: $.{key}.{unknown[0][:50]}: only positive and negative belong here"
        )
    positive, negative = (
        _texts(name, key, side, entry.get(side, [])) for side in ("positive", "negative")
    )
    if not positive and not negative:
        raise FollowUpsError(f"{name}: $.{key}: has no follow-up")
    return FollowUps(positive, negative)


def _texts(name: str, key: str, side: str, entry: object) -> tuple[str, ...]:
    where = f"{name}: $.{key}.{side}"
    if not isinstance(entry, list) or len(entry) > _MOST:
        raise FollowUpsError(f"{where}: must be a list of at most {_MOST} texts")
    for index, text in enumerate(entry):
        if not isinstance(text, str) or not text.strip() or len(text) > 1000:
            raise FollowUpsError(f"{where}[{index}]: must be a text of 1 to 1,000 characters")
    return tuple(text.strip() for text in entry)


PARTNER = "A"
NOT_LAST = Undefined("scored at the dialogue's last turn")
CUT = "the beginning of the dialogue was cut: the model takes no more tokens"
_EXAMPLES_AT_ONCE = 512


class FollowUpScorer:
    """Mean of log p(f | context, response) / |f| over the positive follow-ups, less that over the
    negative ones.

    All ``aspects`` of a level are computed together: the dialogue is read once for all their
    follow-ups, and what is found is remembered, so that the next aspect's metric only looks it up.
    """

    def __init__(
        self,
        model: str,
        style: str,
        file: str,
        aspect: str,
        aspects: Sequence[str],
        at_the_end: bool,
    ) -> None:
        known = read_follow_ups(file)
        self._model_name = model
        self._style = style
        self._aspect = aspect
        self._follow_ups = {name: known[name] for name in aspects if name in known}
        self._at_the_end = at_the_end
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """FED of each response, or of each dialogue at its last turn; see ``TurnScorer.score``.

        Returns:
            One score per example, in order: any real number, natural logarithms per token; higher
            is better. ``Undefined`` without a response, where the model cannot read the texts, and,
            for aspects of dialogues, at all turns but the last that has a response.
        """
        model = causal_model_for(self._model_name)
        self._account = account_of(model, {})  # now, too: a run shows with what it is computed
        scored = self._scored(examples)
        texts = {index: self._text_before(model, examples[index]) for index in scored}
        scores: list[Score] = [
            NOT_LAST if one.response.strip() else EMPTY_RESPONSE for one in examples
        ]
        remarks: dict[int, str] = {}
        for start in range(0, len(scored), _EXAMPLES_AT_ONCE):
            part = scored[start : start + _EXAMPLES_AT_ONCE]
            found = self._of_texts(
                model, [texts[index] for index in part], _further(progress, start, len(part))
            )
            for index in part:
                value, cut = found[texts[index]]
                scores[index] = value
                if cut:
                    remarks[index] = CUT
        if progress is not None and examples:
            progress(len(examples))
        mine = self._follow_ups[self._aspect]
        shown = [
            [one.response.strip(), *(utterance.text for utterance in one.context)]
            for one in examples
        ]
        self._account = replace(
            account_of(model, remarks, (("followups_sha256", fingerprint(mine)),)),
            read=read_of_responses(model, shown, scores),
        )
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _scored(self, examples: Sequence[Example]) -> list[int]:
        answered = [index for index, one in enumerate(examples) if one.response.strip()]
        if not self._at_the_end:
            return answered
        last: dict[str, int] = {}
        for index in answered:
            dialogue = examples[index].dialogue_id
            if dialogue not in last or examples[index].turn > examples[last[dialogue]].turn:
                last[dialogue] = index
        return sorted(last.values())

    def _text_before(self, model: CausalModel, example: Example) -> tuple[str, str]:
        utterances = (*example.context, Utterance(target_of(example.context), example.response))
        before = before_utterance(self._style, PARTNER, utterances, (), model)
        return before.text, before.lead

    def _of_texts(
        self, model: CausalModel, texts: Sequence[tuple[str, str]], progress: Progress | None
    ) -> dict[tuple[str, str], tuple[float, bool]]:
        """By text the aspect's score and whether the text was cut."""
        store = feature_store()
        wording = "-".join(fingerprint(self._follow_ups[name]) for name in sorted(self._follow_ups))
        namespace = f"{model.namespace}/followups/{wording}"
        columns = self._columns()
        known = store.get_many(namespace, [text for text, _ in texts])
        known = {text: row for text, row in known.items() if row.shape == (len(columns) + 1,)}
        unknown = [one for one in dict.fromkeys(texts) if one[0] not in known]
        inputs = [
            Continuation(text, lead + follow_up) for text, lead in unknown for follow_up in columns
        ]
        found = model.likelihoods(inputs, _scaled(progress, len(texts), len(inputs)))
        new: dict[str, NDArray[np.float32]] = {}
        for number, (text, _) in enumerate(unknown):
            here = found[number * len(columns) : (number + 1) * len(columns)]
            new[text] = np.array(
                [*(one.per_token for one in here), any(one.cut for one in here)], dtype=np.float32
            )
        store.put_many(namespace, new)
        rows = {**known, **new}
        return {
            one: (self._score_of(rows[one[0]], columns), bool(rows[one[0]][-1])) for one in texts
        }

    def _columns(self) -> dict[str, int]:
        """Every follow-up of the level once, with its place in a row."""
        columns = [
            text
            for _name, follow_ups in sorted(self._follow_ups.items())
            for text in (*follow_ups.positive, *follow_ups.negative)
        ]
        return {text: index for index, text in enumerate(dict.fromkeys(columns))}

    def _score_of(self, row: NDArray[np.float32], columns: dict[str, int]) -> float:
        mine = self._follow_ups[self._aspect]
        good, bad = (
            [float(row[columns[text]]) for text in side] for side in (mine.positive, mine.negative)
        )
        return _mean(good) - _mean(bad)


def _mean(values: Sequence[float]) -> float:
    """0 for a side without follow-ups: the published aspects include such."""
    return sum(values) / len(values) if values else 0.0


def _further(progress: Progress | None, start: int, most: int) -> Progress | None:
    return None if progress is None else lambda done: progress(start + min(done, most))


def _scaled(progress: Progress | None, texts: int, continuations: int) -> Progress | None:
    return (
        None
        if progress is None or not continuations
        else lambda done: progress(done * texts // continuations)
    )
