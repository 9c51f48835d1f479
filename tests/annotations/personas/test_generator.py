from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.personas import (
    Knowledge,
    NoPersona,
    Persona,
    load_knowledge,
    make_pair,
    make_persona,
)
from annotations.personas.contradictions import contradiction_with_facts, fault_with_age
from annotations.personas.generator import YEAR
from annotations.personas.knowledge import ASPECTS, Head, Name, Sentence

OWN = load_knowledge()
NAMES = tuple(
    Name(f"{gender}{decade}", gender, decade) for decade in range(1930, 2010, 10) for gender in "fm"
)


def contradictions(persona: Persona) -> list[str]:
    facts: dict[str, str] = {}
    found = []
    for sentence in persona.parts:
        fault = fault_with_age(sentence, persona.age) or contradiction_with_facts(sentence, facts)
        if fault:
            found.append(f"{sentence.text!r} {fault}")
        facts.update(sentence.tags)
    return found


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**40))
def test_no_persona_of_the_own_knowledge_contradicts_itself(seed: int) -> None:
    for persona in make_pair(OWN, seed):
        assert contradictions(persona) == []


def test_a_persona_may_be_fifteen() -> None:
    heads = tuple(
        Head(Sentence(f"I run race {number}.", 15, 17), {"experience": (Sentence("I won.", 15),)})
        for number in range(4)
    )
    persona = make_persona(Knowledge(heads, OWN.names, OWN.family), Random(0))
    assert 15 <= persona.age <= 17
    assert "I won." in persona.sentences


def sentences(prefix: str) -> st.SearchStrategy[Sentence]:
    tags = st.dictionaries(
        st.sampled_from(["home", "work", "dog"]), st.sampled_from(["a", "b"]), max_size=2
    )
    texts = st.integers(0, 10**6).map(lambda number: f"{prefix} {number} for {number % 60} years.")
    ages = st.tuples(st.integers(18, 99), st.integers(18, 99)).map(sorted)
    return st.builds(
        lambda text, age, tag: Sentence(text, age[0], age[1], tuple(sorted(tag.items()))),
        texts,
        ages,
        tags,
    )


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(
            Head,
            sentences("head"),
            st.dictionaries(st.sampled_from(ASPECTS), st.tuples(sentences("tail")), min_size=1),
        ),
        min_size=2,
        max_size=8,
        unique_by=lambda head: head.text,
    ),
    st.lists(sentences("family"), min_size=1, max_size=6),
    st.integers(0, 1000),
)
def test_whatever_the_knowledge_says_no_broken_persona_is_emitted(
    heads: list[Head], family: list[Sentence], seed: int
) -> None:
    """The rules are counted again here, without the generator's own code."""
    try:
        persona = make_persona(Knowledge(tuple(heads), NAMES, tuple(family)), Random(seed))
    except NoPersona:
        return
    values: dict[str, set[str]] = {}
    for part in persona.parts:
        assert part.min_age <= persona.age <= part.max_age
        years = int(part.text.split(" for ")[1].split()[0])
        assert persona.age - years >= 15
        for key, value in part.tags:
            values.setdefault(key, set()).add(value)
    assert all(len(found) == 1 for found in values.values())
    assert len(set(persona.sentences)) == len(persona.sentences)


def test_a_seed_gives_the_same_pair_again_and_another_seed_another() -> None:
    assert make_pair(OWN, "7/1") == make_pair(OWN, "7/1")
    assert make_pair(OWN, "7/1") != make_pair(OWN, "7/2")


def test_a_persona_begins_with_name_age_and_family_and_then_tells_two_profiles() -> None:
    persona = make_persona(OWN, Random(1))
    name, age, family = persona.sentences[:3]
    assert (name, age) == (f"My name is {persona.name}.", f"I'm {persona.age} years old.")
    assert family in {sentence.text for sentence in OWN.family}
    first, second = persona.heads
    assert persona.sentences[3] == first
    tails = {
        head.text: {tail.text for tails in head.attributes.values() for tail in tails}
        for head in OWN.heads
    }
    place = persona.sentences.index(second)
    assert set(persona.sentences[4:place]) <= tails[first]
    assert set(persona.sentences[place + 1 :]) <= tails[second]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_name_is_of_the_decade_of_birth(seed: int) -> None:
    persona = make_persona(OWN, Random(seed))
    born = (YEAR - persona.age) // 10 * 10
    assert (persona.name, born) in {(name.text, name.decade) for name in OWN.names}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_a_pair_has_two_names_and_four_heads(seed: int) -> None:
    first, second = make_pair(OWN, seed)
    assert first.name != second.name
    assert len({*first.heads, *second.heads}) == 4


def test_all_head_personas_come_up() -> None:
    random = Random(0)
    met = {head for _ in range(2000) for head in make_persona(OWN, random).heads}
    assert met == {head.text for head in OWN.heads}


def test_heads_that_no_one_person_could_be_are_refused() -> None:
    young = Head(Sentence("I am young.", 18, 20), {"experience": (Sentence("I began."),)})
    old = Head(Sentence("I am old.", 70, 90), {"experience": (Sentence("I stopped."),)})
    with pytest.raises(NoPersona, match="200 draws from 2 head personas"):
        make_persona(Knowledge((young, old), NAMES, (Sentence("I live here."),)), Random(0))
