"""A language model answers in the role of B, told who B is or told nothing: the pair shows what a
persona is worth. Of what it writes, one utterance is taken."""

from __future__ import annotations

import re

from annotations.formats.records import ASSISTANT, TARGET_SPEAKER
from workers.baselines.base import Place
from workers.inference.language_models.client import LanguageModel, Message

MAX_TOKENS = 60
UTTERANCES_REMEMBERED = 5
"""A small model loses the question in a long dialogue; odd, so that the remembered part opens and
ends with A."""
SAMPLING = {"top_p": 0.9, "frequency_penalty": 0.7, "presence_penalty": 0.3}
"""Without the penalties a small model falls into saying one sentence over and over."""
TASK = (
    "You are chatting with a stranger. Answer the stranger's last message in one or two short, "
    "natural sentences. Speak as yourself, in everyday words, and never mention that you are a "
    "computer."
)


class LanguageModelSpeaker:
    """Answers through the one client for language models.

    ``with_persona``: whether the model is told B's persona. ``name`` and ``description``: the
    system's, in the corpus. The seed of an answer is the model's seed plus the turn, so that a
    dialogue does not repeat one draw seven times.
    """

    def __init__(
        self, model: LanguageModel, *, with_persona: bool, name: str, description: str
    ) -> None:
        self._model = model
        self._with_persona = with_persona
        self.name = name
        self.description = description

    def respond(self, place: Place) -> str:
        """Raises ``ValueError`` where the model's text holds no utterance."""
        # The task, B's account of itself where it has one, then the latest utterances with B in the
        # model's place.
        messages = [
            Message(
                "assistant" if utterance.speaker in (TARGET_SPEAKER, ASSISTANT) else "user",
                utterance.text,
            )
            for utterance in place.context[-UTTERANCES_REMEMBERED:]
        ]
        written = self._model.answer(
            [Message("system", TASK), *self._introduction(place), *messages],
            MAX_TOKENS,
            seed=self._model.seed + place.turn,
            **SAMPLING,
        )
        utterance = one_utterance(written)
        if not utterance:
            raise ValueError(
                f"{self.name} said nothing at {place.dialogue_id}, turn {place.turn}: {written!r}"
            )
        return utterance

    def _introduction(self, place: Place) -> list[Message]:
        """The persona as something the model has said itself: small models keep to that better than
        to instructions."""
        if not self._with_persona:
            return []
        return [
            Message("user", "Tell me about yourself."),
            Message("assistant", " ".join(place.persona)),
        ]


SPEAKER_TAG = re.compile(r"^\s*(?:speaker\s+)?(?:[AB]|you|user|assistant|me)\s*:\s*", re.IGNORECASE)
LATER_TAG = re.compile(r"\s(?:speaker\s+)?(?:A|B|You|User|Assistant)\s*:\s")
SENTENCE_END = re.compile(r"[.!?…](?=[\"'”’)]*(?:\s|$))[\"'”’)]*")


def one_utterance(written: str, max_sentences: int = 2) -> str:
    """The first line that says something: no speaker tags, no quotation marks around it, at most
    ``max_sentences``.

    An unfinished sentence at the end is dropped, unless it is all there is. An empty string stays
    empty, and the caller decides what that means.
    """
    spoken = (
        LATER_TAG.split(SPEAKER_TAG.sub("", line), maxsplit=1)[0].strip()
        for line in written.splitlines()
    )
    line = next((words for words in spoken if words), "")
    is_quoted = len(line) > 1 and line[0] in '"“' and line[-1] in '"”'
    return _first_sentences(line[1:-1].strip() if is_quoted else line, max_sentences)


def _first_sentences(line: str, most: int) -> str:
    ends = [match.end() for match in SENTENCE_END.finditer(line)]
    return line[: ends[:most][-1]] if ends else line
