"""Files of a campaign's ratings: each fault with its place, without a database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotations.campaigns.plan.rating_lines import ExportedCampaign, read_campaign, read_ratings
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.questions.reading import form_of

CAMPAIGN: dict[str, Any] = {
    "name": "Pilot",
    "kind": "turn",
    "raters_per_item": 2,
    "scale_labels": ["bad", "poor", "fair", "good", "great"],
    "axes": [{"key": "dull", "name": "Dull", "question": "Is it dull?"}],
    "axes_below": 3,
    "guidelines": [{"version": 1, "text": "Read."}],
    "forms": [],
    "simulated": False,
}
FORM: dict[str, Any] = {"name": "f", "title": "F", "level": "response"}
FORM |= {"questions": [{"key": "fun", "type": "scale", "text": "How funny?"}]}
REVISION: dict[str, Any] = {
    "revision": 1,
    "flagged": False,
    "comment": "",
    "created_at": "2026-03-01T10:00:00Z",
    "guidelines": 1,
    "score": 2,
    "low_axes": ["dull"],
}
LINE: dict[str, Any] = {
    "dialogue": "d",
    "turn": 0,
    "system": "cook",
    "rater": "rater 1",
    "rater_state": "active",
    "counts": True,
    "position": 0,
    "propensity": None,
    "system_propensity": None,
    "revisions": [REVISION],
}
VERSIONS = [{"version": 1, "form": FORM}]


def faults_of_campaign(folder: Path, document: object) -> list[str]:
    problems = Problems("campaign.json")
    (folder / "campaign.json").write_text(json.dumps(document), encoding="utf-8")
    assert read_campaign(folder / "campaign.json", problems) is None
    return [str(one).removeprefix("campaign.json: ") for one in problems.found]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"kind": "chat"},
            [
                "$.kind: must be one of turn, dialogue, pair, dialogue_pair, systems: others have no ratings here"
            ],
        ),
        ({"raters_per_item": 0}, ["$.raters_per_item: must lie between 1 and 50"]),
        ({"scale_labels": ["bad", "good"]}, ["$.scale_labels: must be 5 texts"]),
        ({"axes_below": 1}, ["$.axes_below: must lie between 2 and 6"]),
        ({"axes": CAMPAIGN["axes"] * 2}, ["$.axes: have two of one key"]),
        (
            {"axes": [{**CAMPAIGN["axes"][0], "key": f"a{n}"} for n in range(13)]},
            ["$.axes: are more than 12"],
        ),
        (
            {"guidelines": [{"version": 0, "text": ""}]},
            ["$.guidelines[0].version: must be 1 or more, once each"],
        ),
        (
            {"guidelines": CAMPAIGN["guidelines"] * 2},
            ["$.guidelines[1].version: must be 1 or more, once each"],
        ),
        ({"forms": VERSIONS * 2}, ["$.forms[1].version: must be 1 or more, once each"]),
        (
            {"forms": [{"version": 0, "form": FORM}]},
            ["$.forms[0].version: must be 1 or more, once each"],
        ),
        (
            {"forms": [{"version": 1, "form": {**FORM, "level": "turn"}}]},
            [
                "$.forms[0].form.level: 'turn' is none of utterance, response, conversation, pair, systems"
            ],
        ),
        ({"kind": "pair"}, ["$.forms: must hold a form: pairs are compared by one"]),
        (
            {"kind": "systems", "target": "pairs", "target_value": 5},
            [
                "$.forms: must hold a form: pairs are compared by one",
                "$.allocation: must be uniform, without a target: lists show all systems",
            ],
        ),
        ({"budget": 9}, ["$.budget: must be 1 to 2,147,483,647, and of pairs"]),
        ({"simulated": None}, ["$.simulated: must be true or false, not null"]),
    ],
)
def test_a_fault_in_what_was_asked_has_its_path(
    tmp_path: Path, changes: dict[str, Any], expected: list[str]
) -> None:
    assert faults_of_campaign(tmp_path, CAMPAIGN | changes) == expected


def test_what_is_no_json_or_too_large_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "campaign.json"
    path.write_bytes(b"{\xff}")
    with pytest.raises(ImportFailed, match=r"^campaign\.json: is not JSON in UTF-8$"):
        read_campaign(path, Problems(path.name))
    monkeypatch.setattr("annotations.campaigns.plan.rating_lines.LARGEST_DOCUMENT", 2)
    with pytest.raises(ImportFailed, match=r"^campaign\.json: has more than 2 bytes$"):
        read_campaign(path, Problems(path.name))


def faults_of_ratings(folder: Path, *lines: object, **changes: Any) -> list[str]:
    """Where the ratings are of the campaign with other fields."""
    problems = Problems("ratings.jsonl")
    path = folder / "ratings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    fields: dict[str, Any] = {
        "name": "Pilot",
        "kind": "turn",
        "raters_per_item": 2,
        "labels": (),
        "axes": tuple(CAMPAIGN["axes"]),
        "axes_below": 3,
        "guidelines": {1: "Read."},
        "forms": {},
    }
    assert list(read_ratings(path, ExportedCampaign(**fields | changes), problems)) == []
    return [str(one).removeprefix("ratings.jsonl:") for one in problems.found]


OF_FORM = {**REVISION, "form": 1, "answers": {"fun": 3}, "question_ms": {"fun": 5}}


@pytest.mark.parametrize(
    ("line", "changes", "expected"),
    [
        ([], {}, ["1: must be an object, not a list"]),
        ({"rater": "Ann"}, {}, ["1: rater: must be a pseudonym, as rater 3"]),
        ({"rater_state": "gone"}, {}, ["1: rater_state: must be active or excluded"]),
        ({}, {"kind": "dialogue"}, ["1: turn: must be null: whole dialogues are rated"]),
        ({"system_b": "cook"}, {"kind": "pair"}, ["1: system_b: is the system itself"]),
        (
            {"systems": ["cook", "cook"]},
            {"kind": "systems"},
            ["1: systems: must be 2 to 10 names, each once"],
        ),
        ({"propensity": 2}, {}, ["1: propensity: must be above 0 and at most 1"]),
        ({"revisions": []}, {}, ["1: revisions: is empty"]),
        (
            {"revisions": [{**REVISION, "revision": 2}]},
            {},
            ["1: revisions: must be numbered from 1"],
        ),
        (
            {"revisions": [{**REVISION, "score": 6}]},
            {},
            ["1: revisions[0].score: must lie between 1 and 5"],
        ),
        (
            {"revisions": [{**REVISION, "low_axes": ["odd"]}]},
            {},
            ["1: revisions[0].low_axes: the campaign has no axis 'odd'"],
        ),
        (
            {"revisions": [{**REVISION, "guidelines": 2}]},
            {},
            ["1: revisions[0].guidelines: the campaign has no version 2 of them"],
        ),
        (
            {"revisions": [{**REVISION, "created_at": "2026-03-01T10:00:00"}]},
            {},
            ["1: revisions[0].created_at: must be a moment in ISO 8601 with its zone"],
        ),
        (
            {"revisions": [{**REVISION, "shown_at": "noon"}]},
            {},
            ["1: revisions[0].shown_at: must be a moment in ISO 8601 with its zone"],
        ),
        (
            {"revisions": [{**OF_FORM, "form": 2}]},
            {"forms": {1: form_of(FORM)}},
            ["1: revisions[0].form: the campaign has no version 2 of its form"],
        ),
        (
            {"revisions": [{**OF_FORM, "answers": []}]},
            {"forms": {1: form_of(FORM)}},
            ["1: revisions[0].answers: must be an object, not a list"],
        ),
        (
            {"revisions": [{**OF_FORM, "question_ms": {"fun": -1}}]},
            {"forms": {1: form_of(FORM)}},
            ["1: revisions[0].question_ms.fun: must be 0 or more and below 2,147,483,648"],
        ),
    ],
)
def test_a_fault_of_a_rating_has_its_line_and_field(
    tmp_path: Path, line: Any, changes: dict[str, Any], expected: list[str]
) -> None:
    whole = {**LINE, **line} if isinstance(line, dict) else line
    assert faults_of_ratings(tmp_path, whole, **changes) == expected


def test_a_file_has_so_many_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotations.campaigns.plan.rating_lines.MOST_RATINGS", 1)
    trained = {**LINE, "role": "training"}
    with pytest.raises(ImportFailed, match=r"^ratings\.jsonl:2: is beyond the 1 ratings"):
        faults_of_ratings(tmp_path, trained, trained)
