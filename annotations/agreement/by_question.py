"""Agreement on one question of a form: the coefficients that its type and level of measurement ask
for, each with an interval or the reason why it is undefined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from annotations.agreement.cohen import Weighting, cohen_kappas
from annotations.agreement.fleiss import fleiss_kappa
from annotations.agreement.icc import intraclass_correlation
from annotations.agreement.intervals import Jackknife
from annotations.agreement.krippendorff import (
    RELIABLE,
    TENTATIVE,
    Measurement,
    krippendorff_alphas,
)
from annotations.agreement.matrix import RatingMatrix
from annotations.agreement.preferences import (
    CHANCE_WITH_TIES,
    CHANCE_WITHOUT_TIES,
    agreeing_votes,
)
from annotations.agreement.rankings import ranking_agreement
from annotations.agreement.sets import masi_alpha
from annotations.agreement.spans import MarkedItem, Span, span_agreement
from annotations.agreement.tabulation import FloatArray, IntArray, Tabulation, tabulate
from annotations.questions.answers import degree, numeric
from annotations.questions.schema import CANNOT_JUDGE, Question
from common.estimates import Estimate, OwnJson


@dataclass(frozen=True, slots=True)
class Unit:
    """What several raters judged: an item of a campaign.

    ``answers``: canonical answers to the question (``annotations.questions.answers``) by rater; of
    preferences, turned so that a is the same response for all raters. ``lengths``: characters of
    each utterance, for spans. ``candidates``: keys of what was ranked, the same for all raters,
    where the question has no options.
    """

    dialogue: str
    answers: Mapping[str, Any]
    lengths: Mapping[int, int] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()


Band = Literal["reliable", "tentative", "low"]


@dataclass(frozen=True, slots=True)
class Coefficient(OwnJson):
    """``name``: as in ``schema.CONSEQUENCES``; ``label``: for a page. ``option``: of which option,
    where each has its own. ``chance``: what raters who guess reach, where that is not 0."""

    name: str
    label: str
    estimate: Estimate
    option: str = ""
    chance: float | None = None

    @property
    def bands(self) -> tuple[Band, ...]:
        """What a value of α is good for: its own band first, then those that its interval reaches.

        Reliable from .8, tentative conclusions from .667 (Krippendorff 2004, p. 241). None of
        other coefficients, for which no limits are agreed, and where α is undefined.
        """
        if not self.name.startswith("alpha_") or self.estimate.value is None:
            return ()
        ends = (self.estimate.value, *(self.estimate.ci or ()))
        return tuple(dict.fromkeys(_band(value) for value in ends))

    def as_json(self) -> dict[str, Any]:
        """The coefficient with its interval, what it is of, and what it is good for."""
        document: dict[str, Any] = {
            "name": self.name,
            "label": self.label,
            **self.estimate.as_json(),
            "option": self.option,
            "bands": list(self.bands),
        }
        if self.chance is not None:
            document["chance"] = self.chance
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Coefficient:
        """What ``as_json`` wrote."""
        return cls(
            document["name"],
            document["label"],
            Estimate.from_json(document),
            document["option"],
            document.get("chance"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAgreement:
    """``question``: its key; ``items``: with the answers of two raters or more."""

    question: str
    name: str
    type: str
    items: int
    coefficients: tuple[Coefficient, ...]


def agreement_of(
    question: Question, units: Sequence[Unit], *, intervals: bool = True
) -> tuple[Coefficient, ...]:
    """All coefficients of agreement on one question, the one to read first at the front.

    Args:
        question: the question.
        units: what raters answered. Answers "cannot judge" count as missing.
        intervals: whether each coefficient has its 95 % jackknife interval over dialogues.

    Returns:
        Where an answer is one value, by the level of measurement. Ordinal and interval:
        Krippendorff's α, κ with quadratic weights (mean over pairs of raters), ICC(2,1); nominal:
        nominal α, κ, Fleiss' κ; rankings: mean τ-b and Kendall's W, of best–worst with the others
        tied between; preferences: nominal, ordinal and interval α over b < tie < a, nominal α
        without ties, κ, S1 and S2, of those without ties and degrees nominal α, κ and S2; text:
        none. By type where it is several values: α of sets
        (MASI) and nominal α of each option, of labels the same over utterances; of spans, F1 and α
        over characters.
    """
    context = _Context(question, units, intervals)
    match question.type:
        case "choices":
            return (context.numbers() if question.scores else ()) + context.sets()
        case "utterance_labels":
            return _of_utterances(question, units, intervals)
        case "span":
            return context.spans() + (context.numbers() if question.scores else ())
    match question.measurement:
        case "ordinal" | "interval":
            return context.numbers()
        case "nominal":
            return context.categories()
        case "ranking":
            return context.rankings()
        case "preference":
            return context.preferences()
        case "text":
            return ()


def _of_utterances(
    question: Question, units: Sequence[Unit], intervals: bool
) -> tuple[Coefficient, ...]:
    """Labels of utterances are a choice for each utterance."""
    by_utterance: dict[tuple[int, str], dict[str, Any]] = {}
    for position, unit in enumerate(units):
        for rater, answer in unit.answers.items():
            for number, labels in answer.items():
                by_utterance.setdefault((position, number), {})[rater] = labels
    parts = [
        Unit(units[position].dialogue, answers) for (position, _), answers in by_utterance.items()
    ]
    if question.max_choices != 1:
        return _Context(question, parts, intervals).sets()
    singles = [
        Unit(part.dialogue, {rater: labels[0] for rater, labels in part.answers.items() if labels})
        for part in parts
    ]
    values = {option.key: option.value for option in question.options}
    context = _Context(question, singles, intervals)
    return context.numbers(values.get) if question.scores_utterances else context.categories()


class _Context:
    """The answers to one question, and which dialogues are left out for its intervals."""

    def __init__(self, question: Question, units: Sequence[Unit], intervals: bool) -> None:
        self.question, self.units = question, units
        numbers = {name: number for number, name in enumerate(sorted({u.dialogue for u in units}))}
        self.dialogue: IntArray = np.array([numbers[u.dialogue] for u in units], dtype=np.int64)
        self.intervals = intervals
        self.raters = sorted({rater for unit in units for rater in unit.answers})

    @property
    def jackknife(self) -> Jackknife:
        return self._jackknife(int(self.dialogue.max(initial=-1)) + 1)

    def _jackknife(self, dialogues: int) -> Jackknife:
        make = Jackknife.over if self.intervals and dialogues else Jackknife.none
        return make(dialogues)

    def matrix(self, value_of: Callable[[Any], float | None]) -> FloatArray:
        """Raters × units, NaN for no answer, and for "cannot judge"."""
        rows = {rater: row for row, rater in enumerate(self.raters)}
        matrix = np.full((len(self.raters), len(self.units)), np.nan)
        for column, unit in enumerate(self.units):
            for rater, answer in unit.answers.items():
                value = None if answer == CANNOT_JUDGE else value_of(answer)
                if value is not None:
                    matrix[rows[rater], column] = value
        return matrix

    def table(self, scores: FloatArray) -> tuple[Tabulation, Jackknife]:
        table = tabulate(RatingMatrix(scores, self.dialogue, tuple(self.raters)))
        return table, self._jackknife(table.dialogues)

    def numbers(
        self, value_of: Callable[[Any], float | None] | None = None
    ) -> tuple[Coefficient, ...]:
        question = self.question
        table, jackknife = self.table(
            self.matrix(value_of or (lambda answer: numeric(question, answer)))
        )
        alphas = krippendorff_alphas(table, jackknife)
        order: tuple[Measurement, ...] = ("ordinal", "interval")
        if question.measurement != "ordinal":
            order = ("interval",)
        return (
            *(_alpha(one, alphas[one]) for one in order),
            _kappa(table, jackknife, "quadratic"),
            Coefficient("icc2_1", "ICC(2,1)", intraclass_correlation(table, jackknife).single),
        )

    def categories(self) -> tuple[Coefficient, ...]:
        codes = {value: float(code) for code, value in enumerate(self.question.values)}
        table, jackknife = self.table(self.matrix(codes.get))
        return (
            _alpha("nominal", krippendorff_alphas(table, jackknife)["nominal"]),
            _kappa(table, jackknife, "unweighted"),
            Coefficient("fleiss_kappa", "Fleiss’ κ", fleiss_kappa(table, jackknife).kappa),
        )

    def sets(self) -> tuple[Coefficient, ...]:
        chosen = {frozenset(answer) for unit in self.units for answer in unit.answers.values()}
        sets = tuple(sorted(chosen, key=sorted))
        index = {one: float(number) for number, one in enumerate(sets)}
        table, jackknife = self.table(self.matrix(lambda answer: index[frozenset(answer)]))
        found = [Coefficient("alpha_masi", "α of sets (MASI)", masi_alpha(table, sets, jackknife))]
        for option in self.question.options:
            table, jackknife = self.table(self.matrix(partial(_holds, option.key)))
            alpha = krippendorff_alphas(table, jackknife)["nominal"]
            found.append(Coefficient("alpha_nominal", "nominal α", alpha, option.key))
        return tuple(found)

    def rankings(self) -> tuple[Coefficient, ...]:
        options = tuple(option.key for option in self.question.options)
        items = []
        for unit in self.units:
            ranked = options or unit.candidates
            ranks = [[_rank(answer, key) for key in ranked] for answer in unit.answers.values()]
            items.append(np.array(ranks, dtype=np.float64).reshape(len(ranks), len(ranked)))
        found = ranking_agreement(items, self.dialogue, self.jackknife)
        return (
            Coefficient("mean_tau", "mean τ-b of pairs of raters", found.mean_tau),
            Coefficient("kendall_w", "Kendall’s W", found.kendall_w),
        )

    def preferences(self) -> tuple[Coefficient, ...]:
        degrees = self.matrix(degree)
        signs = np.sign(degrees)
        table, jackknife = self.table(signs)
        nominal = krippendorff_alphas(table, jackknife)["nominal"]
        graded = krippendorff_alphas(*self.table(degrees))
        decisive = krippendorff_alphas(*self.table(np.where(signs == 0, np.nan, signs)))
        with_ties, without_ties = agreeing_votes(signs, self.dialogue, self.jackknife)
        kappa = _kappa(table, jackknife, "unweighted")
        if self.question.values == ("a", "b"):  # the others would say the same twice
            votes = Coefficient("s2", "agreeing votes", without_ties, chance=CHANCE_WITHOUT_TIES)
            return (_alpha("nominal", nominal), kappa, votes)
        return (
            _alpha("nominal", nominal),
            _alpha("ordinal", graded["ordinal"]),
            _alpha("interval", graded["interval"]),
            Coefficient("alpha_without_ties", "nominal α without ties", decisive["nominal"]),
            kappa,
            Coefficient("s1", "agreeing votes (S1)", with_ties, chance=CHANCE_WITH_TIES),
            Coefficient(
                "s2", "agreeing votes without ties (S2)", without_ties, chance=CHANCE_WITHOUT_TIES
            ),
        )

    def spans(self) -> tuple[Coefficient, ...]:
        items = [
            MarkedItem(
                tuple(
                    tuple(
                        Span(one["utterance"], one["start"], one["end"], one["label"])
                        for one in answer
                    )
                    for answer in unit.answers.values()
                ),
                unit.lengths,
            )
            for unit in self.units
        ]
        found = span_agreement(items, self.dialogue, self.jackknife)
        return (
            Coefficient("f1_characters", "F1 of labelled characters", found.f1_characters),
            Coefficient("f1_exact", "F1 of equal spans", found.f1_exact),
            Coefficient("alpha_marked", "α: is it marked", found.alpha_marked),
            Coefficient("alpha_label", "α: which label", found.alpha_label),
        )


def _holds(key: str, answer: Any) -> float:
    return float(key in answer)


def _band(alpha: float) -> Band:
    if alpha >= RELIABLE:
        return "reliable"
    return "tentative" if alpha >= TENTATIVE else "low"


def _rank(answer: Mapping[str, Any], key: str) -> float:
    """Of best–worst 1 and 3; what is named by neither stands between them, at 2."""
    if isinstance(answer.get("best"), str):  # else a rank
        return 1.0 if key == answer["best"] else 3.0 if key == answer["worst"] else 2.0
    return float(answer[key])


def _alpha(measurement: Measurement, alpha: Estimate) -> Coefficient:
    return Coefficient(f"alpha_{measurement}", f"{measurement} α", alpha)


def _kappa(table: Tabulation, jackknife: Jackknife, weighting: Weighting) -> Coefficient:
    mean = cohen_kappas(table, jackknife)[weighting].mean
    if weighting == "quadratic":
        return Coefficient("kappa_quadratic", "mean κ of pairs of raters, quadratic weights", mean)
    return Coefficient("kappa", "mean κ of pairs of raters", mean)
