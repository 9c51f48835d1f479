"""Parsing a judge's answer, lines or JSON, strictly: the number behind each label, or none. Pure.

What is read is a *statement*: a label, a separator, and digits.

* It begins a line, or a part of a line after ``,`` ``;`` ``|`` or ``{``. Before the label there may
  be a bullet (``-``, ``*``, ``•``, ``>``, ``#``, ``1.``, ``1)``) and marks (``*``, ``_``,
  backticks, quotation marks). The label is read in any case, with any blanks between its words; a
  bracket may follow it (``Humanness (1-5): 4``). A label inside another word or phrase
  (``inhumanness``, ``Overall humanness``) is none.
* The separator is ``:``, ``=`` or a dash, whichever the form shows, and may stand in marks:
  ``**Humanness:** 4``.
* The number is written in digits, ``4`` or ``4.5``, at most six decimals. ``/5`` or ``out of 5``
  may follow, with the scale's own highest number. Then the line ends, or a blank, a bracket or a
  full stop, comma or semicolon follows.

**The last statement about a label counts.** Where its number is no score of the scale (``8``,
``0``, ``4/10``, ``4 out of 10``, ``80%``, ``4-5``, ``4 or 5``, ``4,5``, ``4th``) there is no
number: an earlier one is not taken instead, because it is not what the judge ended with. The scale
itself, quoted from the form (``Humanness: 1-5``), is no statement. Nor is what has no digits there:
``x``, ``four``, ``４``, ``-4``, ``(3 + 4) / 2``. Nothing is guessed, rounded or moved into the
scale.

The expected score is what a judge would answer on average, from the probabilities of one answer's
tokens.

G-EVAL (Liu et al. 2023, eq. 1): score = Σᵢ p(sᵢ) sᵢ over the numbers sᵢ of the scale. There p is
how often a number comes in twenty samples; here it is the probability that the endpoint tells for
the token at the number's place, and is divided by their sum, because an endpoint tells the
likeliest twenty tokens and not all of them are numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from common.estimates import Undefined
from workers.judges.core.calls import Answer, TokenChance
from workers.judges.core.prompt_file import JudgePromptFile

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


_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
LONGEST_READ = 50_000
"""Characters of an answer that are read, from its end: what counts stands last, and no judge writes
as much."""
_BLANK = r"[ \t\u00a0]{0,9}"
_BLANKS_WITHIN = r"[ \t\u00a0]{1,9}"
_MARKS = r"[*_`\"'“”]{0,4}"
_START = (
    rf"(?:^|[,;|{{]){_BLANK}(?:(?:[-*•>#–]{{1,4}}+|\d{{1,2}}[.)]){_BLANK}){{0,3}}[_`\"'“”]{{0,4}}"
)
_SEPARATOR = rf"{_MARKS}{_BLANK}[:：=–—-]{_BLANK}{_MARKS}{_BLANK}"
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)(?![\d])", re.ASCII)
_OF = re.compile(
    rf"{_BLANK}(?:[(\[]?(?:/|out of)|of){_BLANK}(\d{{1,4}}(?:\.0{{1,6}})?)",
    re.ASCII | re.IGNORECASE,
)
_RANGE = re.compile(
    rf"{_BLANK}{_MARKS}{_BLANK}(?:[-–—~+*/×x=&]|to\b|or\b|and\b|through\b){_BLANK}[~]?\d",
    re.ASCII | re.IGNORECASE,
)
_AFTER = re.compile(rf"{_MARKS}(?:$|[\s)\]}}|]|[.,;:!](?!\d))", re.MULTILINE)
_ON_A_SCALE = re.compile(
    r"[^\n\d]{0,40}\bscale\b[^\n\d]{0,20}(?:\d{1,3}[^\n\d]{1,6})?(\d{1,4})\b",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What an answer says about a label. ``value`` is None where it says something that is no score
    of the scale."""

    label: str
    value: float | None
    number_at: int
    """Where its digits begin in the text."""
    end: int


def parse(text: str, prompt: JudgePromptFile) -> dict[str, float | None]:
    """The number behind each of the prompt's labels, in their order; None where the answer states
    none."""
    found: dict[str, float | None] = dict.fromkeys(prompt.labels)
    for statement in statements(text, prompt):
        found[statement.label] = statement.value
    return found


def statements(text: str, prompt: JudgePromptFile) -> Iterator[Statement]:
    """All that is stated, in the order of the text. Takes time in proportion to the text's
    length."""
    low, high = prompt.scale
    for label, place in _heads(text, prompt.labels):
        number = _NUMBER.match(text, place)
        if number is None:
            if place < len(text) and "0" <= text[place] <= "9":
                yield Statement(label, None, place, place + 1)  # no score has so many digits
            continue
        value, end = _value(text, number, low, high)
        if end is not None:
            yield Statement(label, value, number.start(), end)


def loose_statements(text: str, prompt: JudgePromptFile) -> Iterator[Statement]:
    """What says a label's number in another form than the prompt's, but leaves no doubt: ``|
    overall | 4 |``, a heading ``### overall`` with ``**4/5**`` below it, ``its overall a 4 out of
    5``, ``overall: four``.

    Of a label about which different numbers are said, nothing is taken.
    """
    low, high = prompt.scale
    found: dict[str, list[Statement]] = {}
    for statement in _loose_pattern(prompt.labels).finditer(text, max(0, len(text) - LONGEST_READ)):
        label = prompt.labels[
            next(place for place, one in enumerate(prompt.labels) if _same(one, statement["label"]))
        ]
        word, of = statement["number"].casefold(), statement["of"]
        value = float(_NUMERALS.index(word) if word in _NUMERALS else word)
        if (of and float(of) != high) or not (of or statement["by"] or word in _NUMERALS):
            continue
        scored = value if low <= value <= high else None
        found.setdefault(label, []).append(
            Statement(label, scored, statement.start("number"), statement.end("number"))
        )
    for stated in found.values():
        if len({one.value for one in stated}) == 1:
            yield stated[-1]


def places(text: str, prompt: JudgePromptFile, label: str) -> list[int]:
    """Where a number of the label is to stand: behind each separator, whether or not there is
    one."""
    return [place for found, place in _heads(text, prompt.labels) if found == label]


def _value(
    text: str, number: re.Match[str], low: int, high: int
) -> tuple[float | None, int | None]:
    """The score and where it ends; no score where it is none of the scale; no end where the scale
    itself is quoted."""
    end = number.end()
    if spread := _RANGE.match(text, end):
        upper = _NUMBER.match(text, spread.end() - 1)
        if (
            number[1] == str(low)
            and upper is not None
            and upper[1] == str(high)
            and "/" not in spread[0]
        ):
            return None, None
    if of := _OF.match(text, end):
        if float(of[1]) != high:
            return None, of.end()
        end = of.end()
    elif spread:
        return None, spread.end()
    if not _AFTER.match(text, end):
        return None, end
    if (scale := _ON_A_SCALE.match(text, end)) and int(scale[1]) != high:
        return None, end
    score = float(number[1])
    return (score if low <= score <= high else None), end


def _same(label: str, written: str) -> bool:
    return label.casefold().split() == written.casefold().split()


def _heads(text: str, labels: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Each label with a separator, and where it ends."""
    for head in _pattern(labels).finditer(text, max(0, len(text) - LONGEST_READ)):
        yield labels[(head.lastindex or 1) - 1], head.end()


@lru_cache(maxsize=256)
def _loose_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """A label, then its number: in the next cell of a table or below a heading (``by``), in the
    same sentence with "out of" and the highest score (``of``), or as a word after a separator."""
    longest_first = sorted(labels, key=len, reverse=True)
    names = "|".join(_BLANKS_WITHIN.join(map(re.escape, label.split())) for label in longest_first)
    cell = rf"{_MARKS}{_BLANK}\|{_BLANK}{_MARKS}"
    below = rf"{_MARKS}{_BLANK}:?{_BLANK}{_MARKS}{_BLANK}\r?\n\s{{0,9}}{_MARKS}"
    sentence = r"[^\d\n.;:|]{1,30}?"
    words = "|".join(_NUMERALS)
    of = rf"{_BLANK}(?:/|out of|of){_BLANK}(?P<of>\d{{1,4}})"
    after = rf"{_MARKS}{_BLANK}(?=$|[\s|.,;!)])(?!{_BLANK}[-–—~]{_BLANK}\d)"
    return re.compile(
        rf"(?<![\w-])(?P<label>{names})(?:(?P<by>{cell}|{below})|{_SEPARATOR}|{sentence})(?P<"
        rf"number>\d{{1,2}}(?:\.\d{{1,6}})?|\b(?:{words})\b)(?![\d])(?:{of}(?![\d.]\d))?{after}",
        re.ASCII | re.IGNORECASE | re.MULTILINE,
    )


@lru_cache(maxsize=256)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """One group a label."""
    names = "|".join(f"({_BLANKS_WITHIN.join(map(re.escape, label.split()))})" for label in labels)
    bracket = rf"(?:{_BLANK}\([^()\n]{{0,20}}\))?"
    pattern = rf"{_START}(?:{names}){_MARKS}{bracket}{_SEPARATOR}"
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)
