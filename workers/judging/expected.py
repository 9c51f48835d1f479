"""The expected score: what a judge would answer on average, from the probabilities of one answer's
tokens. Pure.

G-EVAL (Liu et al. 2023, eq. 1): score = Σᵢ p(sᵢ) sᵢ over the numbers sᵢ of the scale. There p is
how often a number comes in twenty samples; here it is the probability that the endpoint tells for
the token at the number's place, and is divided by their sum, because an endpoint tells the
likeliest twenty tokens and not all of them are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from common.estimates import Undefined
from workers.judging.calls import Answer, TokenChance
from workers.judging.parsing import loose_statements, places, statements
from workers.judging.prompt_file import JudgePromptFile

LITTLE_MASS = 0.5
"""Below it, what is not a number was likelier than all numbers of the scale together: worth a
remark."""
_DIGITS = tuple("0123456789")
SOME_MASS = 0.05
"""From here on a number is to be expected at a place."""
_AROUND = " \t\r\n\u00a0▁ĠĊ*_`\"':："
"""Blanks, their signs in some tokenisers, and marks: ``" 4"``, ``"▁4"`` and ``"**4"`` are all 4."""


@dataclass(frozen=True, slots=True)
class Expected:
    value: float | Undefined
    mass: float = 0.0
    """Probability of all numbers of the scale together, 0 to 1."""
    by_number: tuple[tuple[int, float], ...] = ()
    """Each number of the scale that was told, with its share of the mass; the shares add up to
    1."""

    @property
    def remark(self) -> str:
        """What to know about the score, or ""."""
        if isinstance(self.value, Undefined) or self.mass >= LITTLE_MASS:
            return ""
        return (
            f"the numbers of the scale have {self.mass:.0%} of the probability; the rest is other "
            "words"
        )


def expected(answer: Answer, prompt: JudgePromptFile, label: str) -> Expected:
    """The expected score of a label. Undefined, with the reason, where there are no probabilities
    or none of a number.

    The number's place: behind the label where the answer states it (the last time), else at its
    beginning, where a model goes on with an answer that was begun for it. Only whole numbers are
    looked for: of ``4.5``, cut into ``4``, ``.`` and ``5``, the place of the 4 counts.
    """
    low, high = prompt.scale
    if high > 9:
        return Expected(
            Undefined(
                f"a scale up to {high} has no expected score: its numbers may be several tokens"
            )
        )
    if answer.state == "refused":
        return Expected(Undefined(f"the endpoint refused the call: {answer.error}"))
    if not answer.chances:
        return Expected(Undefined("the endpoint gave no log-probabilities"))
    return _clearest([_at(place, low, high) for place in _places(answer.chances, prompt, label)])


def _at(place: TokenChance, low: int, high: int) -> Expected:
    sums: dict[int, float] = {}
    for token, logarithm in place.top:
        bare = token.strip(_AROUND)
        if len(bare) == 1 and "0" <= bare <= "9" and low <= int(bare) <= high and logarithm <= 1e-3:
            sums[int(bare)] = sums.get(int(bare), 0.0) + math.exp(min(0.0, logarithm))
    mass = sum(sums.values())
    if not 0.0 < mass < math.inf:
        listed = len(place.top)
        return Expected(
            Undefined(
                f"none of the {listed} likeliest tokens at the number's place is one from {low} to "
                f"{high}"
            )
        )
    shares = tuple((number, sums[number] / mass) for number in sorted(sums))
    return Expected(sum(number * share for number, share in shares), min(1.0, mass), shares)


def _clearest(found: Sequence[Expected]) -> Expected:
    """The first place where a number is to be expected at all. A blank may stand before the number:
    then that is the next place; but where the model chose a blank by chance instead of a number, it
    is the blank's own."""
    if not found:
        return Expected(Undefined("the answer holds no token at the place of the number"))
    return next(
        (one for one in found if one.mass >= SOME_MASS), max(found, key=lambda one: one.mass)
    )


def _places(
    chances: Sequence[TokenChance], prompt: JudgePromptFile, label: str
) -> list[TokenChance]:
    """Blanks and marks from where the number is to stand, and the first token that is neither."""
    text = "".join(chance.token for chance in chances)
    stated = [
        statement.number_at for statement in statements(text, prompt) if statement.label == label
    ]
    # It goes on with the answer, and what comes after its number is another line; "1. Humanness: 4"
    # is an answer anew.
    is_begun = text.lstrip(_AROUND)[:1] in _DIGITS
    if is_begun and not any("\n" not in text[:place].lstrip(_AROUND) for place in stated):
        return _from(chances, 0)
    loosely = [one.number_at for one in loose_statements(text, prompt) if one.label == label]
    behind = stated or loosely or places(text, prompt, label) or [0]
    return _from(chances, behind[-1])


def _from(chances: Sequence[TokenChance], position: int) -> list[TokenChance]:
    found, end = [], 0
    for chance in chances:
        end += len(chance.token)
        if end > position or (end == position and not chance.token):
            found.append(chance)
            if chance.token.strip(_AROUND):
                break
    return found
