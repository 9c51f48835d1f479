"""Cuts what a language model wrote down to the one utterance that was asked for."""

from __future__ import annotations

import re

SPEAKER_TAG = re.compile(r"^\s*(?:speaker\s+)?(?:[AB]|you|user|assistant|me)\s*:\s*", re.IGNORECASE)
LATER_TAG = re.compile(r"\s(?:speaker\s+)?(?:A|B|You|User|Assistant)\s*:\s")
SENTENCE_END = re.compile(r"[.!?…](?=[\"'”’)]*(?:\s|$))[\"'”’)]*")


def one_utterance(written: str, max_sentences: int = 2) -> str:
    """The first line that says something: no speaker tags, no quotation marks around it, at most
    ``max_sentences``.

    An unfinished sentence at the end is dropped, unless it is all there is. An empty string stays
    empty, and the caller decides what that means.
    """
    spoken = (_without_tags(line) for line in written.splitlines())
    line = next((words for words in spoken if words), "")
    return _first_sentences(_without_quotation_marks(line), max_sentences)


def _without_tags(line: str) -> str:
    return LATER_TAG.split(SPEAKER_TAG.sub("", line), maxsplit=1)[0].strip()


def _without_quotation_marks(line: str) -> str:
    is_quoted = len(line) > 1 and line[0] in '"“' and line[-1] in '"”'
    return line[1:-1].strip() if is_quoted else line


def _first_sentences(line: str, most: int) -> str:
    ends = [match.end() for match in SENTENCE_END.finditer(line)]
    return line[: ends[:most][-1]] if ends else line
