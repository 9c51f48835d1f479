"""Reads from a text what the demo corpus's simulated raters look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from annotations.demo.simulated_raters import ResponseFeatures
from workers.baselines.base import Place
from workers.baselines.simple import Encode

WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def share_copied(response: str, utterance: str) -> float:
    """The share of the response's words, 0..1, that stand in the utterance in the same order; runs
    of three or more only, because shared single words are no copying."""
    response_words, heard = words_of(response), words_of(utterance)
    if not response_words:
        return 0.0
    runs = SequenceMatcher(None, response_words, heard, autojunk=False).get_matching_blocks()
    return sum(run.size for run in runs if run.size >= 3) / len(response_words)


def shares_repeated(responses: Sequence[str]) -> list[float]:
    """For each of a system's responses in one dialogue the share of the others, 0..1, that are the
    same text."""
    others = len(responses) - 1
    return [(responses.count(response) - 1) / others if others else 0.0 for response in responses]


def features_of_dialogue(
    places: Sequence[Place], responses: Sequence[str], written_by_person: bool, encode: Encode
) -> list[ResponseFeatures]:
    """The features of one system's responses in one dialogue, in the order of its places."""
    persona = encode(places[0].persona)  # the speaker is the same at every place
    vectors = encode(responses)
    heard = encode([place.last_utterance for place in places])
    return [
        ResponseFeatures(
            relevance=float(vectors[row] @ heard[row]),
            persona_use=float((persona @ vectors[row]).max()),
            words=len(words_of(response)),
            copied=share_copied(response, place.last_utterance),
            repeated=repeated,
            written_by_person=written_by_person,
        )
        for row, (place, response, repeated) in enumerate(
            zip(places, responses, shares_repeated(responses), strict=True)
        )
    ]
