"""Makes personas: fictional personal information, then two persona profiles (ComperDial, section
3.1 and A.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random

from annotations.personas.contradictions import contradiction_with_facts, fault_with_age
from annotations.personas.knowledge import ASPECTS, Head, Knowledge, Name, Sentence

YEAR = 2026
"""From which ages and decades of birth are counted. Fixed, so that a seed gives the same persona in
every year."""
TRIES = 200


class NoPersona(Exception):
    """The knowledge file has no two head personas that one person could be, or no family sentence
    for their age."""


@dataclass(frozen=True, slots=True)
class Persona:
    """``gender`` and ``parts`` are how it was made; only ``sentences`` is shown."""

    sentences: tuple[str, ...]
    name: str
    age: int
    gender: str
    heads: tuple[str, ...]
    parts: tuple[Sentence, ...]
    """The family sentence, the heads and the attributes with their ages and tags."""


@dataclass
class _Profile:
    """A person in the making. A sentence is taken in only where it contradicts nothing that is
    already there."""

    age: int
    parts: list[Sentence] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def takes(self, sentence: Sentence) -> bool:
        if fault_with_age(sentence, self.age) or contradiction_with_facts(sentence, self.facts):
            return False
        if any(sentence.text == part.text for part in self.parts):
            return False
        self.parts.append(sentence)
        self.facts.update(sentence.tags)
        return True


def make_pair(knowledge: Knowledge, seed: int | str) -> tuple[Persona, Persona]:
    """Two personas with different names and heads; the same seed gives the same two. Raises
    ``NoPersona``."""
    random = Random(seed)
    first = make_persona(knowledge, random)
    return first, make_persona(knowledge, random, not_heads=first.heads, not_names=(first.name,))


def make_persona(
    knowledge: Knowledge,
    random: Random,
    not_heads: Collection[str] = (),
    not_names: Collection[str] = (),
) -> Persona:
    """One persona without a contradiction: what does not fit is drawn again or left out. Raises
    ``NoPersona``."""
    heads = [head for head in knowledge.heads if head.text not in not_heads]
    for _ in range(TRIES):
        persona = _try(knowledge, heads, random, not_names)
        if persona is not None:
            return persona
    raise NoPersona(
        f"no persona without a contradiction was found in {TRIES} draws from {len(heads)} head "
        "personas"
    )


def _try(
    knowledge: Knowledge, heads: Sequence[Head], random: Random, not_names: Collection[str]
) -> Persona | None:
    if len(heads) < 2:
        return None
    first, second = random.sample(heads, 2)
    youngest = max(first.sentence.min_age, second.sentence.min_age)
    oldest = min(first.sentence.max_age, second.sentence.max_age)
    if youngest > oldest:
        return None
    profile = _Profile(random.randint(youngest, oldest))
    if not (profile.takes(first.sentence) and profile.takes(second.sentence)):
        return None
    name = _name(knowledge, profile.age, random, not_names)
    family = _first_that_fits(knowledge.family, profile, random)
    if name is None or family is None:
        return None
    attributes = {head.text: _attributes(head, profile, random) for head in (first, second)}
    return Persona(
        sentences=(
            f"My name is {name.text}.",
            f"I'm {profile.age} years old.",
            family.text,
            *(text for head in (first, second) for text in (head.text, *attributes[head.text])),
        ),
        name=name.text,
        age=profile.age,
        gender=name.gender,
        heads=(first.text, second.text),
        parts=tuple(profile.parts),
    )


def _name(
    knowledge: Knowledge, age: int, random: Random, not_names: Collection[str]
) -> Name | None:
    born = (YEAR - age) // 10 * 10
    decade = min(
        (name.decade for name in knowledge.names), key=lambda known: abs(known - born), default=born
    )
    fitting = [
        name for name in knowledge.names if name.decade == decade and name.text not in not_names
    ]
    if not fitting:
        return None
    genders = sorted({name.gender for name in fitting})
    gender = random.choice(genders)
    return random.choice([name for name in fitting if name.gender == gender])


def _attributes(head: Head, profile: _Profile, random: Random) -> list[str]:
    """One of each aspect that has one which fits."""
    chosen = (
        _first_that_fits(head.attributes.get(aspect, ()), profile, random) for aspect in ASPECTS
    )
    return [attribute.text for attribute in chosen if attribute is not None]


def _first_that_fits(
    sentences: Sequence[Sentence], profile: _Profile, random: Random
) -> Sentence | None:
    shuffled = random.sample(sentences, len(sentences))
    return next((sentence for sentence in shuffled if profile.takes(sentence)), None)
