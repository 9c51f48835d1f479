"""The questions that UniEval puts to its model: ours, or a file's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workers.metrics.base import Example
from workers.metrics.common.named_files import text_of

ASPECTS = ("naturalness", "coherence", "engagingness", "groundedness", "understandability")
OVERALL = "overall"

OWN_QUESTIONS = {
    "naturalness": (
        "question: Could a person have said this response in a conversation? </s> response: "
        "{response}"
    ),
    "coherence": (
        "question: Does this response follow from the dialogue history? </s> response: {response} "
        "</s> dialogue history: {context}"
    ),
    "engagingness": (
        "question: Does this response say something of interest, in view of the dialogue history "
        "and the fact? </s> response: {response} </s> dialogue history: {context} </s> fact: "
        "{persona}"
    ),
    "groundedness": (
        "question: Does this response agree with the fact? </s> response: {response} </s> fact: "
        "{persona}"
    ),
    "understandability": (
        "question: Is it clear what this response means? </s> response: {response}"
    ),
}
"""``</s>`` is the mark that T5 knows between the parts of its input."""

_FIELD = re.compile(r"\{(\w*)\}")
_FIELDS = ("response", "context", "persona")
_LARGEST_FILE = 1_000_000


class QuestionsError(ValueError):
    """A file does not hold questions; the message names it and says what is wrong."""


@dataclass(frozen=True)
class Questions:
    """Question templates by aspect."""

    templates: Mapping[str, str]
    revision: str
    """The first digits of a hash over all templates."""

    @property
    def aspects(self) -> tuple[str, ...]:
        """The aspects that have a question, in the order of ``ASPECTS``."""
        return tuple(aspect for aspect in ASPECTS if aspect in self.templates)

    def asks_persona(self, aspect: str) -> bool:
        """Whether an aspect's question shows the persona."""
        return "{persona}" in self.templates[aspect]

    def question(self, aspect: str, example: Example) -> str:
        """Fill the template of an aspect with the example's texts.

        Args:
            aspect: one of ``aspects``.

        Returns:
            The question, in which utterances and lines of the persona are separated by line breaks;
            blank ones are left out.
        """
        texts = {
            "response": example.response.strip(),
            "context": _lines(utterance.text for utterance in example.context),
            "persona": _lines(example.persona),
        }
        return _FIELD.sub(lambda field: texts[field[1]], self.templates[aspect])


def questions_of(path: str) -> Questions:
    """Questions of a JSON file, or our own.

    Args:
        path: of a JSON object with a template for each aspect; "" for our own.

    Raises:
        QuestionsError: the file cannot be read, has an unknown aspect, or a template without
            ``{response}`` or with an unknown placeholder.
    """
    templates = _checked(path, _read(path)) if path else OWN_QUESTIONS
    written = json.dumps(templates, ensure_ascii=False, sort_keys=True)
    return Questions(
        templates, hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(text.strip() for text in texts if text.strip())


def _read(path: str) -> object:
    try:
        return json.loads(text_of(path, _LARGEST_FILE))
    except RecursionError as error:
        raise QuestionsError(f"the questions {path} cannot be read: not JSON") from error
    except ValueError as error:
        raise QuestionsError(f"the questions {path} cannot be read: {error}") from error


def _checked(path: str, document: object) -> dict[str, str]:
    if not isinstance(document, dict) or not document:
        raise QuestionsError(f"the questions {path} are not a JSON object of aspects and questions")
    for aspect, template in document.items():
        if aspect not in ASPECTS:
            raise QuestionsError(
                f'the questions {path} hold "{aspect[:50]}"; the aspects are {", ".join(ASPECTS)}'
            )
        if not isinstance(template, str) or "{response}" not in template:
            raise QuestionsError(
                f"the questions {path}, {aspect}: a text with {{response}} in it is wanted"
            )
        for name in _FIELD.findall(template):
            if name not in _FIELDS:
                raise QuestionsError(
                    f"the questions {path}, {aspect}: {{{name}}} is none of {', '.join(_FIELDS)}"
                )
    return {str(aspect): str(template) for aspect, template in document.items()}
