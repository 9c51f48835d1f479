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
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from workers.judging.prompt_file import JudgePromptFile

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
