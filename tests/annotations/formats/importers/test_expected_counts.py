"""Sample files of public formats against what their folder says of them, word by word."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RatingRecord,
    Record,
    ResponseRecord,
)
from tests.annotations.formats.importers.helpers import of_type

FORMATS = {
    "arena_human_preference_55k.csv": "arena-battles",
    "argilla_datasets.jsonl": "argilla",
    "argilla_records.json": "argilla",
    "doccano": "doccano",
    "google_forms": "google-forms",
    "label_studio_chat.json": "label-studio",
    "label_studio_chat_per_message.json": "label-studio",
    "label_studio_pairwise.json": "label-studio",
    "label_studio_paragraphs.json": "label-studio",
    "mt_metrics_eval": "mt-metrics-eval",
    "mturk_batch.csv": "mturk",
    "potato": "potato",
    "potato_annotations.jsonl": "potato",
    "potato_v1": "potato",
    "prodigy.jsonl": "prodigy",
    "prolific": "prolific",
    "qualtrics": "qualtrics",
    "table_long.csv": "table",
    "table_long.tsv": "table",
    "table_long.xlsx": "table",
    "table_long_excel_semicolon.csv": "table",
    "table_wide.xlsx": "table",
    "table_wide_aspects.csv": "table",
    "table_wide_raters.csv": "table",
    "xdial_dial.csv": "xdial",
    "xdial_turn.csv": "xdial",
}
NOT_RECORDS = {"conversations", "languages", "metric_scores", "error_spans", "raters_count"}
"""Said of a file in other words than counts of records."""


@pytest.fixture
def expected(data: Path) -> dict[str, Any]:
    path = data / "formats" / "expected.json"
    if not path.is_file():
        pytest.skip("the sample files of public formats are not here")
    return dict(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_file_is_recognised(data: Path, expected: dict[str, Any], name: str) -> None:
    assert likely_format(data / "formats" / name) == (FORMATS[name], "")


@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_file_has_the_counts_and_values_that_are_expected(
    data: Path, expected: dict[str, Any], name: str
) -> None:
    path, problems = data / "formats" / name, Problems(name)
    records = list(importers()[FORMATS[name]].read_with(path, "", problems, None))
    counted = {**counts(records), "skipped": problems.skipped_count}
    wanted = {
        key: value
        for key, value in expected[name]["counts"].items()
        if value is not None and key not in NOT_RECORDS
    }
    assert {key: counted[key] for key in wanted} == wanted
    for value in expected[name]["exact"]:
        assert is_there(records, value), value


def values_of(label: LabelRecord) -> tuple[str, ...]:
    return label.value if isinstance(label.value, tuple) else (label.value,)


def counts(records: list[Record]) -> dict[str, Any]:
    dialogues: list[DialogueRecord] = of_type(records, DialogueRecord)
    responses: list[ResponseRecord] = of_type(records, ResponseRecord)
    ratings: list[RatingRecord] = of_type(records, RatingRecord)
    said: list[LabelRecord] = of_type(records, LabelRecord)
    labels = [one for one in said if one.question != "comment"]
    votes: list[PreferenceRecord] = of_type(records, PreferenceRecord)
    outcomes = Counter(vote.preferred for vote in votes)
    texts = [message.text for one in dialogues for message in one.messages]
    texts += [one.text for one in responses]
    return {
        "dialogues": len(dialogues),
        "messages": sum(len(one.messages) for one in dialogues),
        "turns": len({(one.dialogue_id, one.turn) for one in responses}),
        "systems": sorted({one.system for one in responses}),
        "responses": len(responses),
        "empty_responses": sum(not one.text for one in responses),
        "raters": sorted({one.rater for one in (*ratings, *said, *votes)}),
        "aspects": sorted({one.aspect for one in ratings}),
        "scores": len(ratings),
        "label_aspects": sorted({one.question for one in labels}),
        "labels": sum(len(values_of(one)) for one in labels),
        "preferences": {
            "total": len(votes),
            **{outcome: outcomes[outcome] for outcome in ("a", "b", "tie", "both_bad")},
        },
        "references": sum(len(turn.references) for one in dialogues for turn in one.turns),
        "tool_calls": 0,
        "comments": sum(bool(one.comment) for one in (*ratings, *votes)) + len(said) - len(labels),
        "longest_text": max(map(len, texts), default=0),
    }


def is_there(records: list[Record], wanted: dict[str, Any]) -> bool:
    if wanted["what"] == "message":
        [dialogue] = [
            one for one in of_type(records, DialogueRecord) if one.id == wanted["dialogue"]
        ]
        message = dialogue.messages[wanted["index"]]
        speaker = wanted["role_or_speaker"].casefold()
        by = {"", message.role.casefold(), message.speaker.casefold()}
        return message.text == wanted["text"] and speaker in by
    named = {
        "response": (ResponseRecord, ("turn", "system", "text")),
        "score": (RatingRecord, ("turn", "system", "rater", "aspect", "score")),
        "label": (LabelRecord, ("turn", "system", "rater", "aspect")),
        "preference": (PreferenceRecord, ("turn", "a", "b", "winner", "rater", "aspect")),
    }
    kind, keys = named[wanted["what"]]
    field = {"a": "system_a", "b": "system_b", "winner": "preferred"}
    if kind is LabelRecord:
        field["aspect"] = "question"
    unchecked = {"system", "rater"}
    return any(
        one.dialogue_id == wanted["dialogue"]
        and all(
            getattr(one, field.get(key, key)) == wanted.get(key)
            for key in keys
            if key not in unchecked or wanted.get(key) is not None
        )
        and wanted.get("label", "") in ("", *(values_of(one) if kind is LabelRecord else ()))
        for one in of_type(records, kind)
    )
