"""SODA (Kim et al. 2023, EMNLP): conversations between people with names, and what they grew
from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import DistinctIds, rest_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.people import people_talking, spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import has_keys
from common.text import MAX_NAME, MAX_TEXT


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    ids = DistinctIds()
    for number, row in numbered_objects(path, problems):
        texts = row.texts("dialogue", MAX_TEXT, may_be_empty=True)
        speakers = row.texts("speakers", MAX_NAME)
        has_index = row.value.get("original_index") is not None
        dialogue_id = row.name("original_index") if has_index else str(number)
        if texts is None or speakers is None or dialogue_id is None:
            continue
        if len(texts) != len(speakers):
            row.complain("speakers", f"has {len(speakers)} names for {len(texts)} utterances")
            continue
        messages = tuple(spoken(*one) for one in zip(speakers, texts, strict=True))
        yield from people_talking(
            ids.distinct(dialogue_id),
            messages,
            row.where,
            metadata=rest_of(row, ("dialogue", "speakers", "original_index")),
        )


_DESCRIPTION = """\
A JSON array or JSON lines: `dialogue`, a list of texts, and `speakers`, who says each. People talk;
there are no systems. `original_index` is the dialogue's id; `narrative`, `head`, `relation` and all
other fields are metadata."""
_EXAMPLE = (
    '{"dialogue": ["Is the oven hot?", "Not yet."], "speakers": ["Ann", "Bob"], "original_index": '
    '1, "narrative": "Ann wants to bake."}\n'
)

IMPORTER = Importer(
    name="soda",
    summary="SODA: conversations between people with names",
    stream=with_head(_body),
    detect=has_keys("dialogue", "speakers"),
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
