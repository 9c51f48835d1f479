"""A language model answers in the role of B, told who B is or told nothing: the pair shows what a
persona is worth."""

from __future__ import annotations

from workers.baselines.base import Place
from workers.baselines.one_utterance import one_utterance
from workers.language_models.client import LanguageModel, Message

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
        written = self._model.answer(
            self._conversation(place), MAX_TOKENS, seed=self._model.seed + place.turn, **SAMPLING
        )
        utterance = one_utterance(written)
        if not utterance:
            raise ValueError(
                f"{self.name} said nothing at {place.dialogue_id}, turn {place.turn}: {written!r}"
            )
        return utterance

    def _conversation(self, place: Place) -> list[Message]:
        """The task, B's account of itself where it has one, then the latest utterances with B in
        the model's place."""
        messages = [
            Message("user" if utterance.speaker == "A" else "assistant", utterance.text)
            for utterance in place.context[-UTTERANCES_REMEMBERED:]
        ]
        return [Message("system", TASK), *self._introduction(place), *messages]

    def _introduction(self, place: Place) -> list[Message]:
        """The persona as something the model has said itself: small models keep to that better than
        to instructions."""
        if not self._with_persona:
            return []
        return [
            Message("user", "Tell me about yourself."),
            Message("assistant", " ".join(place.persona)),
        ]
