"""Echo, dull and verbose: what they say, and that it is what the demo file holds."""

from __future__ import annotations

import json

import pytest

from annotations.formats.records import ResponseRecord, Utterance
from workers.baselines.base import Baseline, Place, places_of
from workers.baselines.build_demo import DEMO_FILE, SEED, answers_of, as_json_line, fixed_baselines
from workers.baselines.demo_source import read_source
from workers.baselines.simple import SAFE_ANSWERS, Dull, Echo, Verbose

PLACE = Place(
    dialogue_id="d",
    turn=1,
    persona=("I am a potter.",),
    partner_persona=("I am a pilot.",),
    context=(Utterance("A", "Hello."), Utterance("B", "Hi."), Utterance("A", "Is that your bag?")),
)


def test_echo_says_the_last_utterance() -> None:
    assert Echo().respond(PLACE) == "Is that your bag?"


def test_dull_picks_from_its_safe_answers_and_not_always_the_same() -> None:
    said = {Dull(seed).respond(PLACE) for seed in range(40)}
    assert said <= set(SAFE_ANSWERS)
    assert len(said) > 1


def test_verbose_says_five_different_sentences() -> None:
    sentences = Verbose(seed=3).respond(PLACE).rstrip(".").split(". ")
    assert len(sentences) == len(set(sentences)) == 5


@pytest.mark.parametrize("baseline", [Dull(5), Verbose(5)], ids=lambda baseline: baseline.name)
def test_an_answer_does_not_depend_on_what_was_asked_before(baseline: Baseline) -> None:
    places = [place for dialogue in read_source()[:2] for place in places_of(dialogue.record)]
    forwards = [baseline.respond(place) for place in places]
    assert [baseline.respond(place) for place in reversed(places)] == forwards[::-1]


@pytest.mark.parametrize("baseline", fixed_baselines(SEED), ids=lambda baseline: baseline.name)
def test_the_demo_file_holds_what_the_code_says_byte_for_byte(baseline: Baseline) -> None:
    in_file = [
        line
        for line in DEMO_FILE.read_text(encoding="utf-8").splitlines()
        if json.loads(line)["type"] == "response" and json.loads(line)["system"] == baseline.name
    ]
    from_code = [
        as_json_line(ResponseRecord(dialogue_id, turn, baseline.name, text))
        for dialogue_id, answers in answers_of(baseline, read_source()).answers.items()
        for turn, text in enumerate(answers)
    ]
    assert len(from_code) == 56  # 8 dialogues × 7 turns
    assert in_file == from_code
