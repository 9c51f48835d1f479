"""Exports to Label Studio and Argilla: what comes back is the corpus that went out, with what people
said there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.base import PartSurvey, survey
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)
from tests.annotations.formats.exporters.helpers import small_corpus
from tests.annotations.formats.importers.helpers import real_file

TOOLS = ("label-studio", "argilla")


def everything() -> list[Record]:
    """All that can be said of a response, a message, a conversation and a pair, out of order."""
    messages = (
        Message("system", "Be brief."),
        Message("user", "Weather?", name="Kari", metadata={"n": 1}),
        Message("assistant", "Rain.", parts=({"type": "tool_call", "id": "c"},)),
    )
    turn = TurnRecord(0, after=2, references=("Wet.",))
    log = DialogueRecord("log", (), (), (turn,), messages, interactive=True)
    return [
        CorpusRecord(aspects=("overall", "Überzeugt", "ease"), scales=(("ease", 0.0, 1.0),)),
        SystemRecord("one", "baseline", "first"),
        SystemRecord("two"),
        RaterRecord("ann"),
        RaterRecord("mean", "aggregate"),
        RaterRecord("who never rated"),
        DialogueRecord("d", (), (), (turn,), messages, metadata={"split": "dev"}),
        ResponseRecord("d", 0, "two", "Snow.", metadata={"seed": 1.5}),
        ResponseRecord("d", 0, "one", ""),
        ResponseRecord("d", 0, "one", "Sun <b>.", sample=1, parts=({"type": "image"},)),
        RatingRecord("d", 0, "one", "mean", "ease", 0.25, "half & half"),
        RatingRecord("d", 0, "two", "ann", "overall", 5.0, "yes\nindeed"),
        RatingRecord("d", 0, "one", "ann", "overall", 1.0),
        RatingRecord("d", None, "one", "ann", "Überzeugt", 2.0, "whole"),
        LabelRecord("d", 0, "one", "ann", "overall", "short"),
        LabelRecord("d", 0, "two", "ann", "faults", ("rude",)),
        LabelRecord("d", 0, "two", "mean", "faults", ("rude", "long\ttext")),
        LabelRecord("d", 0, "one", "ann", "why", "because " * 30),
        LabelRecord("d", None, "", "ann", "topic", "weather"),
        LabelRecord("d", None, "", "ann", "tone", "calm", message=1),
        LabelRecord("d", None, "", "ann", "tone", "curt", message=0),
        PreferenceRecord("d", 0, "one", "two", "b", "ann", metadata={"model": "j"}),
        PreferenceRecord("d", 0, "two", "one", "tie", "ann", sample_b=1, comment="hm"),
        PreferenceRecord("d", None, "one", "two", "both_bad", "mean", "ease"),
        DialogueRecord("silent", (), (), (), messages[:2]),
        log,
        ResponseRecord("log", 0, "two", "Rain."),
    ]


def survey_of(tool: str, path: Path) -> PartSurvey:
    (part,) = survey(importers()[tool], path)
    return part


def digest_of(records: list[Record], folder: Path) -> str:
    exporters()["jsonl"].export(records, folder)
    return survey_of("jsonl", folder / "corpus.jsonl").digest


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("records", [small_corpus(), everything()], ids=["persona", "messages"])
def test_what_comes_back_is_the_same_version(
    tmp_path: Path, records: list[Record], tool: str
) -> None:
    exporters()[tool].export(records, tmp_path / tool)
    assert likely_format(tmp_path / tool) == (tool, "")
    assert survey_of(tool, tmp_path / tool).digest == digest_of(records, tmp_path / "plain")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_zip_of_it_comes_back_the_same(tmp_path: Path, tool: str) -> None:
    exporters()[tool].export(small_corpus(), tmp_path / tool)
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, tool))
    assert likely_format(archive) == (tool, "")
    assert survey_of(tool, archive).digest == digest_of(small_corpus(), tmp_path / "plain")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_real_corpus_comes_back_with_its_digest(tmp_path: Path, tool: str) -> None:
    file = real_file("usr/pc_usr_data.json")
    (part,) = survey(importers()["usr"], file)
    exporters()[tool].export(importers()["usr"].read(file), tmp_path)
    again = survey_of(tool, tmp_path)
    assert (again.digest, again.counts) == (part.digest, part.counts)


# --- what people add and change -------------------------------------------------------------------


def changed(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> Path:
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(change(values) or values), encoding="utf-8")
    return path


def ratings_in(tool: str, path: Path) -> list[tuple[Any, ...]]:
    return [
        (one.dialogue_id, one.turn, one.system, one.rater, one.aspect, one.score, one.comment)
        for one in importers()[tool].read(path)
        if isinstance(one, RatingRecord)
    ]


def test_a_new_annotation_of_label_studio_is_a_rating_by_its_annotator(tmp_path: Path) -> None:
    exporters()["label-studio"].export(small_corpus(), tmp_path)

    def annotate(tasks: list[dict[str, Any]]) -> None:
        (task,) = (one for one in tasks if one["data"]["dialogue_id"] == "d2")
        result = [
            {"type": "number", "from_name": "uses_knowledge", "value": {"number": 3}},
            {"type": "textarea", "from_name": "comment_on_overall", "value": {"text": ["Alone."]}},
        ]
        task["annotations"].append({"completed_by": 7, "result": result, "was_cancelled": False})

    path = changed(tmp_path / "responses.json", annotate)
    assert ("d2", 0, "echo", "7", "Uses Knowledge", 3.0, "") in ratings_in("label-studio", path)


def test_a_rating_that_was_corrected_in_the_tool_is_the_corrected_one(tmp_path: Path) -> None:
    exporters()["label-studio"].export(small_corpus(), tmp_path)

    def correct(tasks: list[dict[str, Any]]) -> None:
        tasks[0]["annotations"][0]["result"][0]["value"] = {"number": 5}

    path = changed(tmp_path / "responses.json", correct)
    assert ratings_in("label-studio", path)[0] == (
        *("d 1", 0, "echo", "r1", "overall", 5.0, "@home"),
    )


def test_a_new_response_in_argilla_is_a_rating_by_its_user(tmp_path: Path) -> None:
    exporters()["argilla"].export(small_corpus(), tmp_path)

    def answer(records: list[dict[str, Any]]) -> None:
        records[-1]["responses"]["overall"] = [
            {"value": 2, "user_id": "u-9", "status": "submitted"},
            {"value": 1, "user_id": "u-8", "status": "draft"},
        ]

    path = changed(tmp_path / "responses" / "records.json", answer)
    found = [one for one in ratings_in("argilla", path) if one[0] == "d2"]
    assert found == [("d2", 0, "echo", "u-9", "overall", 2.0, "")]
    assert survey_of("argilla", path).skipped_count == 1


@pytest.mark.parametrize("tool", TOOLS)
def test_a_part_of_the_items_is_read_with_the_contexts_that_they_show(
    tmp_path: Path, tool: str
) -> None:
    """Label Studio exports annotated tasks alone unless told otherwise."""
    exporters()[tool].export(small_corpus(), tmp_path)
    path = tmp_path / ("responses.json" if tool == "label-studio" else "responses/records.json")
    records = list(importers()[tool].read(changed(path, lambda items: items[1:2])))
    (dialogue,) = (one for one in records if isinstance(one, DialogueRecord))
    assert [one.text for one in dialogue.messages] == ["hi", "hello", "bye"]
    (rating,) = (one for one in records if isinstance(one, RatingRecord))
    assert (rating.turn, rating.score) == (1, 2.0)


# --- what the tools show --------------------------------------------------------------------------


def test_the_labelling_configuration_asks_for_each_aspect_on_its_scale(tmp_path: Path) -> None:
    exporters()["label-studio"].export(everything(), tmp_path)
    view = ElementTree.parse(tmp_path / "responses.xml").getroot()
    controls = {one.get("name"): one for one in view if one.get("toName")}
    assert controls["overall"].tag == "Rating"
    assert controls["overall"].get("maxRating") == "5"
    assert (controls["ease"].tag, controls["ease"].get("min"), controls["ease"].get("max")) == (
        *("Number", "0", "1"),
    )
    assert [one.get("value") for one in controls["faults"]] == ["rude", "long\ttext"]
    assert controls["faults"].get("choice") == "multiple"
    assert controls["why"].tag == "TextArea"


def test_every_object_of_the_configuration_is_in_every_task(tmp_path: Path) -> None:
    exporters()["label-studio"].export(everything(), tmp_path)
    for file in tmp_path.glob("*.xml"):
        view = ElementTree.parse(file).getroot()
        shown = [str(one.get("value"))[1:] for one in view if str(one.get("value"))[:1] == "$"]
        tasks = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        assert [task["id"] for task in tasks if not set(shown) <= set(task["data"])] == []


def test_no_page_of_the_tools_shows_a_system(tmp_path: Path) -> None:
    exporters()["label-studio"].export(everything(), tmp_path)
    for file in tmp_path.glob("*.xml"):
        assert "system" not in file.read_text(encoding="utf-8")
    exporters()["argilla"].export(everything(), tmp_path / "argilla")
    settings = json.loads(
        (tmp_path / "argilla/responses/.argilla/settings.json").read_text(encoding="utf-8")
    )
    assert [one["name"] for one in settings["fields"]] == ["persona", "context", "response"]


def test_argilla_gets_names_that_it_takes(tmp_path: Path) -> None:
    exporters()["argilla"].export(everything(), tmp_path)
    settings = json.loads((tmp_path / "responses/.argilla/settings.json").read_text())
    kinds = {one["name"]: one["type"] for one in settings["questions"]}
    assert kinds == {
        "overall": "rating",
        "_berzeugt": "rating",
        "ease": "text",  # 0.25 is no whole number
        "comment_on_ease": "text",
        "comment_on_overall": "text",
        "overall_2": "text",  # a label with one category: Argilla wants two
        "faults": "multi_label_selection",
        "why": "text",
        "tone": "label_selection",
    }


# --- hostile --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        ({"dialogue": "d"}, "records"),
        ({"dialogue": 3, "records": []}, "dialogue"),
        ({"dialogue": "d", "records": [{"type": "rating"}]}, "records[0]"),
        ({"dialogue": "d", "records": [], "turn": "x"}, "turn"),
        ({"dialogue": "d", "records": [], "turn": None}, "export all of them"),
    ],
)
def test_an_origin_that_was_changed_is_told(tmp_path: Path, origin: Any, told: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"dialeval": origin}, "annotations": []}]))
    with pytest.raises(ImportFailed) as failure:
        survey_of("label-studio", path)
    assert told in str(failure.value)
