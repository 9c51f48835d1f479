"""Topical-Chat (Gopalakrishnan et al. 2019, Interspeech): conversations of two people, who rate
them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import object_members
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import LabelRecord, Message, RaterKind
from common.text import MAX_TEXT

_TURN, _WHOLE = "turn_rating", "conversation_rating"
_RATERS: dict[str, RaterKind] = {"agent_1": "anonymous", "agent_2": "anonymous"}
"""Other people in each conversation."""


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    for file in files_of(path, ".json"):
        own = problems_of(problems, path, file)
        split = {} if file == path else {"split": file.stem}
        for where, name, value in object_members(file, own):
            row = JsonObject.of(value, where if file == path else f"{own.file}:{where}", own)
            if row is not None:
                yield from _records_of(clean_name(name), row, split)


def _records_of(name: str, row: JsonObject, split: dict[str, str]) -> Iterator[Placed]:
    messages: list[Message] = []
    ratings: list[tuple[str, str]] = []
    for one in row.children("content") or ():
        text, agent = one.text("message", MAX_TEXT, may_be_empty=True), one.name("agent")
        if text is None or agent is None:
            return
        ratings.append((agent, clean_name(one.value.get(_TURN))))
        metadata = rest_of(one, ("message", "agent", _TURN))
        messages.append(spoken(agent, text, metadata))
    agents = list(dict.fromkeys(agent for agent, _ in ratings))
    metadata = {**rest_of(row, ("content", _WHOLE)), **split}
    yield from people_talking(name, tuple(messages), row.where, metadata=metadata)
    for place, (agent, rating) in enumerate(ratings):
        partners = [one for one in agents if one != agent]
        if rating and len(partners) == 1:
            label = LabelRecord(name, None, "", partners[0], _TURN, rating, place)
            yield label, row.where, f"content[{place}]"
    whole = row.value.get(_WHOLE)
    for agent, rating in whole.items() if isinstance(whole, dict) else ():
        if clean_name(rating):
            yield LabelRecord(name, None, "", agent, _WHOLE, str(rating)), row.where, _WHOLE


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        files = [one for one in sample.members if one.endswith(".json")]
        return _detect(sample.member(files[0])) if files else 0.0
    is_chat = '"content":' in sample.text and '"agent":' in sample.text
    is_rated = f'"{_TURN}":' in sample.text and sample.kind.startswith("json")
    return 0.9 if is_chat and is_rated else 0.0


_DESCRIPTION = """\
Topical-Chat's JSON of conversations by id, or its folder of splits. The speakers are the agents;
their `turn_rating` of a partner's message and their `conversation_rating` are labels. All other
fields are metadata of the conversation or of the message."""
_EXAMPLE = (
    '{"t_1": {"config": "A", "content": [{"message": "Did you know that ovens are old?", "agent": '
    '"agent_1", "sentiment": "Curious", "turn_rating": "Good"}, {"message": "No, how old?", '
    '"agent": "agent_2", "turn_rating": "Excellent"}], "conversation_rating": {"agent_1": "Good", '
    '"agent_2": "Good"}}}\n'
)

IMPORTER = Importer(
    name="topical-chat",
    summary="Topical-Chat: two people's conversations, with their ratings",
    stream=with_head(_body, rater_kinds=_RATERS),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
