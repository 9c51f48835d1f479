"""chrF and chrF++ as sacrebleu computes them for one response: F2 of character (and word) n-grams
(Popović, 2015)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workers.metrics.base import Account, Example, Metric, OptionValue, Progress, Read, Score
from workers.metrics.common.against_references import (
    NO_READABLE_REFERENCE,
    NO_REFERENCE,
    PROGRESS_EVERY,
)
from workers.metrics.common.tokenisation import UNICODE
from workers.metrics.common.unicode_folding import fold

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

CHARACTER_ORDER, BETA = 6, 2


class CharacterF:
    """A ``TurnScorer``; with several references the best one counts. An empty response scores 0."""

    def __init__(self, word_order: int, unicode: str) -> None:
        # Here, because listing the metrics must not load it
        from sacrebleu.metrics.chrf import CHRF

        self._chrf: CHRF = CHRF(char_order=CHARACTER_ORDER, word_order=word_order, beta=BETA)
        self._prepare = fold if unicode == "fold" else str
        self._read: list[Read] = []

    def account(self) -> Account:
        """Run metadata of the last call."""
        return Account(read=self._read)

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """chrF of each response against its best reference; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, in [0, 1]: sacrebleu's divided by 100. ``Undefined``
            where the turn has no reference with a character.
        """
        self._read = []
        scores: list[Score] = []
        for example in examples:
            scores.append(self._score_one(example))
            if progress is not None and (
                len(scores) % PROGRESS_EVERY == 0 or len(scores) == len(examples)
            ):
                progress(len(scores))
        return scores

    def _score_one(self, example: Example) -> Score:
        response = self._prepare(example.response)
        references = [
            self._prepare(reference) for reference in example.references if reference.strip()
        ]
        self._read.append(Read(sum(len("".join(text.split())) for text in (response, *references))))
        if not references:
            return NO_REFERENCE
        readable = [reference for reference in references if reference.strip()]
        if not readable:
            return NO_READABLE_REFERENCE
        return float(self._chrf.sentence_score(response, readable).score / 100)


def _build(word_order: int, options: Mapping[str, OptionValue]) -> CharacterF:
    return CharacterF(word_order, str(options["unicode"]))


_DESCRIPTION = """\
P and R are precision and recall averaged over the orders of n-grams: of 1 to 6 characters, white
space left out{more}. Orders that either text is too short for are left out, as sacrebleu does by
default. Recall counts twice as much as precision. With several references the best one counts.

It needs no tokeniser, so it reads every script, and it forgives another ending of a word. It sees
one good answer of many, as all comparisons with a reference do.

With unicode=none it equals sacrebleu's `sentence_chrf` (with the word order of its name), divided
by 100."""


def _declare(name: str, word_order: int, citation: str, of_what: str, more: str) -> Metric:
    return Metric(
        name=name,
        version="1",
        summary=f"F-measure of {of_what} against the reference, recall counting twice.",
        citation=citation,
        build=partial(_build, word_order),
        needs=frozenset({"reference"}),
        options=(UNICODE,),
        signature_facts=(
            ("implementation", "sacrebleu"),
            ("case", "mixed"),
            ("eff", "yes"),
            ("nc", str(CHARACTER_ORDER)),
            ("nw", str(word_order)),
            ("space", "no"),
            ("references", "best"),
        ),
        equation=r"\text{chrF} = (1 + \beta^2) \frac{P R}{\beta^2 P + R} \qquad \beta = 2",
        description=_DESCRIPTION.replace("{more}", more),
    )


METRICS = (
    _declare(
        "chrf",
        0,
        "Popović (2015), chrF: character n-gram F-score for automatic MT evaluation, WMT",
        "character n-grams",
        "",
    ),
    _declare(
        "chrf_pp",
        2,
        "Popović (2017), chrF++: words helping character n-grams, WMT",
        "character n-grams and of words and pairs of words",
        ", and of 1 to 2 words",
    ),
)
