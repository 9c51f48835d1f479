"""USR's annotations of Topical-Chat (Mehri & Eskenazi 2020, ACL): contexts with a fact and rated
responses.

Those of PersonaChat, whose facts are a persona, are ``usr``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.conversations import alternating
from annotations.formats.importers.crossed import CrossedDialogue
from annotations.formats.importers.fields import USR_SCALES, JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.people import spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.usr import GOLD, HUMAN, MAIN_ASPECT
from annotations.formats.records import RatingRecord
from common.text import MAX_NAME, MAX_TEXT

NO_FACT = "_nofact"


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for number, row in numbered_objects(path, problems):
        context = row.text("context", MAX_TEXT)
        raters = row.texts("annotators", MAX_NAME)
        responses = row.children("responses")
        has_fact = row.value.get("fact") is not None
        fact = row.text("fact", MAX_TEXT, may_be_empty=True) if has_fact else ""
        if context is None or raters is None or responses is None or fact is None:
            continue
        lines = alternating([line.strip() for line in context.strip().split("\n")])
        dialogue = CrossedDialogue(
            str(number),
            row.where,
            tuple(spoken(line.speaker, line.text) for line in lines),
            rest_of(row, ("context", "annotators", "responses", "fact")),
            tuple(fact.strip() for fact in (fact,) if fact.strip() not in ("", NO_FACT)),
        )
        dialogue.add_turn(0)
        for response in responses:
            _add_response(response, dialogue, raters)
        yield from dialogue.records()


def _add_response(response: JsonObject, dialogue: CrossedDialogue, raters: tuple[str, ...]) -> None:
    system = response.text("model", MAX_NAME)
    text = response.text("response", MAX_TEXT, may_be_empty=True)
    if system is None or text is None:
        return
    text = text.strip()
    if system == GOLD and text:
        dialogue.add_turn(0, references=(text,))
    dialogue.add_response(0, system, text, response.where, field=response.field("response"))
    for aspect, value in response.value.items():
        if aspect in ("model", "response") or value is None:
            continue
        scores = response.numbers(aspect)
        if scores is None:
            continue
        if len(scores) != len(raters):
            response.complain(aspect, f"has {len(scores)} scores for {len(raters)} annotators")
            continue
        for index, (rater, score) in enumerate(zip(raters, scores, strict=True)):
            rating = RatingRecord(dialogue.id, 0, system, rater, aspect, score)
            place = f"{response.field(aspect)}[{index}]"
            dialogue.judgements.append((rating, response.where, place))


def _detect(sample: FileSample) -> float:
    fact = sample.record.get("fact")
    is_persona = isinstance(fact, str) and fact.lstrip().startswith("your persona:")
    is_usr = sample.kind == "json array" and sample.keys >= {"annotators", "responses"}
    return 0.95 if is_usr and isinstance(fact, str) and not is_persona else 0.0


_DESCRIPTION = """\
A JSON array of contexts, numbered from 1. A context's lines are messages by turns, the last one
A's; `fact` is the dialogue's knowledge, `_nofact` is none. Every response has one list of scores
for each aspect, in the order of `annotators`, on the scales of `usr`. The response of `Original
Ground Truth` is also the reference (kind `gold`); `New Human Generated` has the kind `human`."""
_EXAMPLE = r"""[{"context": "is the oven hot ?\n", "fact": "ovens take ten minutes .\n",
  "annotators": ["ann", "bob"],
  "responses": [
    {"response": "in ten minutes .\n", "model": "Original Ground Truth", "Overall": [5, 4]},
    {"response": "i do not know .\n", "model": "Seq2Seq", "Overall": [2, 1]}]}]
"""

IMPORTER = Importer(
    name="usr-topical-chat",
    summary="USR annotations of Topical-Chat: contexts, a fact, rated responses (JSON array)",
    stream=with_head(
        _body,
        scales=USR_SCALES,
        main_aspect=MAIN_ASPECT,
        system_kinds={GOLD: "gold", HUMAN: "human"},
    ),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
