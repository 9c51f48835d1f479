from __future__ import annotations

import pytest

from annotations.personas.contradictions import contradiction_with_facts, fault_with_age
from annotations.personas.knowledge import Sentence


@pytest.mark.parametrize(
    ("text", "age", "fault"),
    [
        ("I worked for a company for 20 years.", 25, "would have begun at 5"),
        ("I worked for a company for 20 years.", 35, ""),  # 35 − 20 = 15, the earliest start
        ("I worked for a company for 20 years.", 34, "would have begun at 14"),
        ("I have sung for more than thirty-five years.", 49, "would have begun at 14"),
        ("I have sung for more than thirty-five years.", 50, ""),
        ("I have sung for the last eleven years.", 25, "would have begun at 14"),
        ("I moved here when I was 30.", 29, "speaks of an age above 29"),
        ("I moved here when I was 30.", 30, ""),
        ("I have painted since I was nineteen.", 18, "speaks of an age above 18"),
        ("It was the worst storm in 30 years.", 20, ""),  # not years of the speaker's own
    ],
)
def test_years_and_ages_in_a_sentence_must_fit_the_age(text: str, age: int, fault: str) -> None:
    assert fault_with_age(Sentence(text), age) == fault


def test_a_sentence_is_for_its_ages_only() -> None:
    sentence = Sentence("I retired last year.", min_age=60, max_age=70)
    assert [fault_with_age(sentence, age) == "" for age in (59, 60, 70, 71)] == [
        False,
        True,
        True,
        False,
    ]


def test_one_fact_cannot_have_two_values() -> None:
    facts = {"home": "alone"}
    shared = Sentence("I share a flat.", tags=(("home", "shared"),))
    siblings = Sentence("I have a brother.", tags=(("siblings", "some"),))
    assert contradiction_with_facts(siblings, facts) == ""
    assert contradiction_with_facts(shared, facts) == "says home is shared, which is alone"
