"""Sentences of a persona from PeaCoK's triples of head, relation and tail, by the rules of
ComperDial (section 3.1, A.3): a form of sentence for each aspect, no head of negative impression,
no gender.

The lists of words are our own.
"""

from __future__ import annotations

import re

_FORMS = {
    "characteristic": "My character trait: {}.",
    "routine_or_habit": "I regularly or consistently {}.",
    "goal_or_plan": "I intend to {} in the future.",
    "experience": "I {} in the past.",
}
_RELATIONS = {
    "characteristic": "characteristic",
    "routine": "routine_or_habit",
    "habit": "routine_or_habit",
    "goal": "goal_or_plan",
    "plan": "goal_or_plan",
    "experience": "experience",
}
_NEGATIVE = re.compile(
    r"\b(?:abus\w+|addict\w*|alcoholics?|arrogant|arsonists?|assassins?|blackmail\w*|bull(?:y|ies)|"
    r"burglars?|cheat\w*|con (?:artist|man)|convicts?|corrupt|counterfeit\w*|criminals?|cruel|"
    r"dishonest|drunks?|forgers?|frauds?|fraudsters?|gangsters?|greedy|hitm[ae]n|hypocrites?|"
    r"kidnap\w+|killers?|lazy|liars?|mobsters?|murder\w*|nazis?|pickpockets?|pimps?|racists?|"
    r"robbers?|rude|selfish|sexists?|smugglers?|stalkers?|swindlers?|terrorists?|thie(?:f|ves)|"
    r"traitors?|vandals?|violent)\b",
    re.IGNORECASE,
)
_NEUTRAL = {
    "actress": "actor",
    "barmaid": "bartender",
    "barman": "bartender",
    "businessman": "business person",
    "businesswoman": "business person",
    "cameraman": "camera operator",
    "chairman": "chairperson",
    "chairwoman": "chairperson",
    "congressman": "member of congress",
    "congresswoman": "member of congress",
    "cowboy": "cattle herder",
    "cowgirl": "cattle herder",
    "craftsman": "craftsperson",
    "fireman": "firefighter",
    "fisherman": "fisher",
    "garbage man": "waste collector",
    "hostess": "host",
    "housewife": "homemaker",
    "mailman": "mail carrier",
    "policeman": "police officer",
    "police man": "police officer",
    "policewoman": "police officer",
    "police woman": "police officer",
    "postman": "mail carrier",
    "repairman": "repairer",
    "saleslady": "salesperson",
    "salesman": "salesperson",
    "saleswoman": "salesperson",
    "spokesman": "spokesperson",
    "spokeswoman": "spokesperson",
    "sportsman": "athlete",
    "sportswoman": "athlete",
    "stewardess": "flight attendant",
    "waitress": "server",
    "weatherman": "weather forecaster",
    "he or she": "they",
    "him or her": "them",
    "his or her": "their",
}
_GENDERED = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, _NEUTRAL), key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)


def aspect_of(relation: str) -> str | None:
    """Aspect of a relation, however its words are written and joined.

    Args:
        relation: such as ``routine_habit``, ``Goal or Plan`` or ``experience relationship``.

    Returns:
        One of ``knowledge.ASPECTS``; None where it is no relation of PeaCoK's.
    """
    words = re.split(r"[^a-z]+", relation.lower())
    aspects = {_RELATIONS[word] for word in words if word in _RELATIONS}
    if len(aspects) != 1:
        return None
    return aspects.pop() + ("_relationship" if "relationship" in words else "")


def sentence_of(aspect: str, tail: str) -> str:
    """Sentence in the first person for a tail, in gender-neutral words.

    Args:
        aspect: one of ``knowledge.ASPECTS``.
        tail: a phrase such as *increase my cattle herd*, with or without a *to*, *I* or full stop.
    """
    phrase = tail.strip().rstrip(".").strip()
    if not aspect.startswith("characteristic"):
        phrase = re.sub(r"^(?:i|to)\s+", "", phrase, flags=re.IGNORECASE)
    return neutral(_FORMS[aspect.removesuffix("_relationship")].format(phrase))


def head_sentence(head: str) -> str:
    """Head persona as a sentence in gender-neutral words: *i am a policeman* ends with a stop."""
    phrase = head.strip().rstrip(".").strip()
    return neutral(f"{phrase[:1].upper()}{phrase[1:]}.")


def is_negative(head: str) -> bool:
    """Whether a head persona is one that people may not want to play, by a list of words."""
    return _NEGATIVE.search(head) is not None


def neutral(text: str) -> str:
    """The text with words for women or men replaced where there is a word for both.

    Words without one, such as king and queen, stay.
    """
    return _GENDERED.sub(lambda found: _as_written(found[0]), text)


def _as_written(word: str) -> str:
    plain = _NEUTRAL[word.lower()]
    return plain.capitalize() if word[0].isupper() else plain
