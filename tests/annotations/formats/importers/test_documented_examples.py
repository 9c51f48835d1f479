"""Each importer says what it reads, and its example is a file that can be imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotations.formats.importers.registry import importers
from tests.annotations.formats.importers.helpers import file_of, surveyed
from tests.dialeval_site.documents import blocks

IMPORTERS = importers()
HUMAN_DIALOGUES = (
    *("dailydialog", "personachat", "soda", "dailydialog-hub", "parlai", "dstc11"),
    *("parlai-conversations", "personachat-candidates", "squad"),
)
LOGS = (
    *("messages", "sharegpt", "message-rows", "lmsys-chat", "wildchat", "openai-batch"),
    *("otel-genai", "chatgpt", "multiwoz", "request-logs", "chat-text", "helm", "slack"),
)


@pytest.mark.parametrize(
    "name", [name for name, one in IMPORTERS.items() if one.example and name != "cpdc"]
)
def test_the_example_can_be_imported(tmp_path: Path, name: str) -> None:
    (part,) = surveyed(name, file_of(tmp_path, IMPORTERS[name].example))
    counts = part.counts
    assert counts.turns or counts.messages
    assert (counts.responses > 0) == (name not in (*HUMAN_DIALOGUES, "topical-chat"))
    judged = counts.ratings + counts.labels + counts.preferences > 0
    assert judged == (name not in (*HUMAN_DIALOGUES, *LOGS))


def test_a_dialogue_of_the_challenge_can_be_imported(tmp_path: Path) -> None:
    """The example has one turn: with six more like it, it is whole."""
    (dialogue,) = json.loads(IMPORTERS["cpdc"].example)
    whole = {**dialogue, **{f"turn_{turn}": dialogue["turn_0"] for turn in range(7)}}
    (part,) = surveyed("cpdc", file_of(tmp_path, [whole]))
    assert part.counts.turns == 7


def test_the_same_dialogue_as_text(tmp_path: Path) -> None:
    text = "Is the kiln hot ? __eou__ Not yet . __eou__"
    assert f"`{text}`" in IMPORTERS["dailydialog"].description
    (as_text,) = surveyed("dailydialog", file_of(tmp_path, text + "\n", "dialogues.txt"))
    example = file_of(tmp_path, IMPORTERS["dailydialog"].example, "dialogues.json")
    (as_json,) = surveyed("dailydialog", example)
    assert as_text.counts == as_json.counts


def test_the_document_s_examples_are_the_importers() -> None:
    shown = {
        block.mark.removeprefix("example: "): block.text
        for block in blocks()
        if block.mark.startswith("example: ")
    }
    assert shown.keys() == {"table", "jsonl"}, "the formats for data of one's own"
    assert shown == {name: IMPORTERS[name].example for name in shown}


@pytest.mark.parametrize("name", IMPORTERS)
def test_every_format_is_described(name: str) -> None:
    assert IMPORTERS[name].description.strip()
