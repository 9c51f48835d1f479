"""USR's annotations (Mehri & Eskenazi 2020): a JSON array of contexts, each with rated responses.

The file is read twice: the systems and raters, which come first in a stream, are spread over the
whole of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import alternating
from annotations.formats.importers.fields import USR_SCALES, JsonObject
from annotations.formats.importers.json_source import array_elements
from annotations.formats.importers.problems import MAX_PROBLEMS, Problems
from annotations.formats.importers.sample import has_keys
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemKind,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from common.text import MAX_NAME, MAX_TEXT

GOLD = "Original Ground Truth"
MAIN_ASPECT = "Overall"
HUMAN = "New Human Generated"
_KINDS: dict[str, SystemKind] = {GOLD: "gold", HUMAN: "human"}
_PERSONA_PREFIX = "your persona:"
_NOT_ASPECTS = ("response", "model")
# A context has a few thousand characters; several utterances share this limit.
_MAX_NAMES = 10_000


class _Names:
    """The aspects, systems and raters that the file uses, in the order of their first use."""

    def __init__(self) -> None:
        self.aspects: dict[str, None] = {}
        self.systems: dict[str, None] = {}
        self.raters: dict[str, None] = {}

    def collect(self, element: object) -> bool:
        """Takes the names that are well formed; False where the element is one that the second
        reading refuses."""
        if not isinstance(element, dict):
            return False
        annotators, responses = element.get("annotators"), element.get("responses")
        if not isinstance(annotators, list) or not isinstance(responses, list):
            return False
        _take_names(self.raters, annotators)
        for response in responses:
            if isinstance(response, dict):
                _take_names(self.systems, [response.get("model")])
                if not self.aspects:
                    _take_names(self.aspects, [key for key in response if key not in _NOT_ASPECTS])
        return True


def _take_names(names: dict[str, None], candidates: list[object]) -> None:
    for name in candidates:
        if isinstance(name, str) and len(names) < _MAX_NAMES:
            names.setdefault(name)


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read USR's annotations (Mehri & Eskenazi 2020).

    The file is read twice, because the systems and raters come first in the stream.

    Args:
        path: JSON array with one context and its rated responses per element.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records, each with its JSON path and field. Every context is a dialogue with
        one turn, 0; its id is its index in the file, from 0. Scales are those of ``USR_SCALES``,
        open for other aspects.

    Raises:
        ImportFailed: as in ``array_elements``, where the first response lacks the score of
            ``MAIN_ASPECT``, and at the first fault after 100.
    """
    names = _names(path, problems)
    aspects = tuple(names.aspects)
    if names.systems and MAIN_ASPECT not in aspects:
        problems.stop("$[0].responses[0]", MAIN_ASPECT, "is missing: every response has this score")
    yield from _head(names, aspects)
    for index, (where, element) in enumerate(array_elements(path, problems)):
        context = JsonObject.of(element, where, problems)
        if context:
            yield from _dialogue(str(index), context, aspects)


def _names(path: Path, problems: Problems) -> _Names:
    """The names of the whole file, or of its start where the second reading will stop at its faults
    anyway."""
    names = _Names()
    refused = 0
    for _, element in array_elements(path, problems):
        refused += not names.collect(element)
        if refused > MAX_PROBLEMS:
            break
    return names


def _head(names: _Names, aspects: tuple[str, ...]) -> Iterator[Placed]:
    scales = tuple((aspect, *USR_SCALES.get(aspect, (None, None))) for aspect in aspects)
    yield (
        CorpusRecord(aspects=aspects or (MAIN_ASPECT,), main_aspect=MAIN_ASPECT, scales=scales),
        "$",
        "",
    )
    for name in names.systems:
        yield SystemRecord(name, _KINDS.get(name, "agent")), "$", ""
    for name in names.raters:
        yield RaterRecord(name), "$", ""


def _dialogue(dialogue_id: str, context: JsonObject, aspects: tuple[str, ...]) -> Iterator[Placed]:
    utterances = _utterances(context)
    persona = _persona(context)
    raters = context.texts("annotators", MAX_NAME)
    responses = context.children("responses")
    if utterances is None or persona is None or raters is None or responses is None:
        return
    references = tuple(
        text.strip()
        for response in responses
        if response.value.get("model") == GOLD
        and isinstance(text := response.value.get("response"), str)
    )
    turn = TurnRecord(0, utterances, references)
    yield DialogueRecord(dialogue_id, persona, (), (turn,)), context.where, ""
    for response in responses:
        yield from _response(dialogue_id, response, raters, aspects)


def _utterances(context: JsonObject) -> tuple[Utterance, ...] | None:
    text = context.text("context", MAX_TEXT)
    if text is None:
        return None
    lines = [line.strip() for line in text.strip().split("\n")]
    if "" in lines:
        context.complain(
            "context", f"line {lines.index('') + 1} is empty: who speaks after it cannot be told"
        )
        return None
    return alternating(lines)


def _persona(context: JsonObject) -> tuple[str, ...] | None:
    text = context.text("fact", MAX_TEXT, may_be_empty=True)
    if text is None:
        return None
    lines = (line.strip().removeprefix(_PERSONA_PREFIX).strip() for line in text.split("\n"))
    return tuple(line for line in lines if line)


def _response(
    dialogue_id: str, response: JsonObject, raters: tuple[str, ...], aspects: tuple[str, ...]
) -> Iterator[Placed]:
    response.refuse_unknown((*_NOT_ASPECTS, *aspects))
    system = response.text("model", MAX_NAME)
    text = response.text("response", MAX_TEXT, may_be_empty=True)
    if system is None or text is None:
        return
    place = (response.where, response.path)
    yield ResponseRecord(dialogue_id, 0, system, text.strip()), *place
    for aspect in aspects:
        scores = response.numbers(aspect)
        if scores is None:
            continue
        if len(scores) != len(raters):
            response.complain(aspect, f"has {len(scores)} scores for {len(raters)} annotators")
            continue
        for index, (rater, score) in enumerate(zip(raters, scores, strict=True)):
            rating = RatingRecord(dialogue_id, 0, system, rater, aspect, score)
            yield rating, response.where, f"{response.field(aspect)}[{index}]"


_DESCRIPTION = """\
A JSON array of contexts; ids are their places, from 0. A context's lines are utterances by turns,
the last one A's. The lines of `fact` are B's persona, without "your persona:". Every response has
one list of scores for each aspect, in the order of `annotators`, who are the same people
throughout. All responses have the same aspects as the first one; `Overall` must be among them.
The response of `Original Ground Truth` is also the reference (kind `gold`); `New Human Generated`
has the kind `human`. The six aspects of the paper have its scales (`Understandable` and `Uses
Knowledge` 0 to 1, `Overall` 1 to 5, the others 1 to 3); other aspects are only checked for being
finite numbers."""
_EXAMPLE = r"""[{"context": "do you have pets ?\nno , but plants .\nwhich ones ?\n",
  "fact": "your persona: i grow cacti.\n",
  "annotators": ["ann", "bob"],
  "responses": [
    {"response": "twelve cacti .\n", "model": "Original Ground Truth", "Overall": [5, 4]},
    {"response": "i do not know .\n", "model": "Seq2Seq", "Overall": [2, 1]}]}]
"""

IMPORTER = Importer(
    name="usr",
    summary="USR annotations: contexts with rated responses (JSON array)",
    stream=stream,
    detect=has_keys("annotators", "responses", kinds=("json array",)),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
