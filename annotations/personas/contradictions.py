"""When two things that a persona says cannot both be true. The rules of ComperDial's appendix A.3,
made mechanical:

* two sentences that give one fact different values ("I live alone", "I share a house": the tag
  ``home``),
* a sentence that is not for this age,
* years of something that began too early in life ("for 20 years" at 25),
* an age in the past that has not come yet ("when I was 30" at 25).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from annotations.personas.knowledge import Sentence

EARLIEST_START = 15
"""Nobody has done for N years what would have begun before this age."""

_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen "
)
_ONES += "eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: number for number, word in enumerate(_ONES.split(), 1)}
_NUMBER_WORDS |= {word: 10 * number for number, word in enumerate(_TENS.split(), 2)}
_NUMBER = (
    r"(\d{1,3}|(?:"
    + "|".join(_TENS.split())
    + r")(?:[- ](?:"
    + "|".join(_ONES.split()[:9])
    + r"))?|"
)
_NUMBER += "|".join(sorted(_ONES.split(), key=len, reverse=True)) + ")"
_YEARS_OF = re.compile(
    rf"\bfor (?:over |more than |almost |about |the (?:last|past) )?{_NUMBER} years\b",
    re.IGNORECASE,
)
_AGE_IN_THE_PAST = re.compile(
    rf"\b(?:since|when) I was {_NUMBER}\b|\bat the age of {_NUMBER}\b", re.IGNORECASE
)


def fault_with_age(sentence: Sentence, age: int) -> str:
    """Why a person of this age cannot say it; "" where they can."""
    if not sentence.min_age <= age <= sentence.max_age:
        return f"is for ages {sentence.min_age} to {sentence.max_age}"
    for years in _numbers(_YEARS_OF, sentence.text):
        if age - years < EARLIEST_START:
            return f"would have begun at {age - years}"
    for past in _numbers(_AGE_IN_THE_PAST, sentence.text):
        if past > age:
            return f"speaks of an age above {age}"
    return ""


def contradiction_with_facts(sentence: Sentence, facts: Mapping[str, str]) -> str:
    """Which fact it contradicts; "" where none."""
    for key, value in sentence.tags:
        if facts.get(key, value) != value:
            return f"says {key} is {value}, which is {facts[key]}"
    return ""


def _numbers(pattern: re.Pattern[str], text: str) -> list[int]:
    return [_number(word) for match in pattern.finditer(text) for word in match.groups() if word]


def _number(word: str) -> int:
    if word.isdigit():
        return int(word)
    return sum(_NUMBER_WORDS[part] for part in re.split(r"[- ]", word.lower()))
