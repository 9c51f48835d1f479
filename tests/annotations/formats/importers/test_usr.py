"""The USR importer, on files written here and on the real one."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
)
from tests.annotations.formats.importers.helpers import (
    file_of,
    of_type,
    problems,
    read,
    real_file,
    surveyed,
)

CONTEXT: dict[str, Any] = {
    "context": "hello\nhi , who is there ?\nme\n",
    "fact": "your persona: i own a boat.\nyour persona: i sing.\n",
    "annotators": ["ann", "bob"],
    "responses": [
        {
            "response": "welcome aboard\n",
            "model": "Original Ground Truth",
            "Natural": [3, 3],
            "Overall": [5, 4],
        },
        {"response": "boat\n", "model": "Echo", "Natural": [1, 2], "Overall": [1, 2]},
        {
            "response": "me who ?\n",
            "model": "New Human Generated",
            "Natural": [2, 3],
            "Overall": [3, 4],
        },
    ],
}


def changed(**response: Any) -> list[dict[str, Any]]:
    """The context above with another second response."""
    context = copy.deepcopy(CONTEXT)
    context["responses"][1].update(response)
    return [context]


def test_the_last_line_of_the_context_is_the_partners(tmp_path: Path) -> None:
    (dialogue,) = of_type(read("usr", file_of(tmp_path, [CONTEXT])), DialogueRecord)
    assert [(u.speaker, u.text) for u in dialogue.turns[0].context] == [
        ("A", "hello"),
        ("B", "hi , who is there ?"),
        ("A", "me"),
    ]


def test_facts_are_the_persona_of_the_target_speaker(tmp_path: Path) -> None:
    (dialogue,) = of_type(read("usr", file_of(tmp_path, [CONTEXT])), DialogueRecord)
    assert (dialogue.persona, dialogue.partner_persona) == (("i own a boat.", "i sing."), ())


def test_ground_truth_is_a_system_and_the_reference(tmp_path: Path) -> None:
    records = read("usr", file_of(tmp_path, [CONTEXT]))
    assert of_type(records, DialogueRecord)[0].turns[0].references == ("welcome aboard",)
    assert of_type(records, SystemRecord) == [
        SystemRecord("Original Ground Truth", "gold"),
        SystemRecord("Echo", "agent"),
        SystemRecord("New Human Generated", "human"),
    ]


def test_scores_belong_to_the_annotators_in_their_order(tmp_path: Path) -> None:
    records = read("usr", file_of(tmp_path, [CONTEXT]))
    assert of_type(records, RaterRecord) == [RaterRecord("ann"), RaterRecord("bob")]
    echo = [
        r for r in of_type(records, RatingRecord) if r.system == "Echo" and r.aspect == "Natural"
    ]
    assert [(rating.rater, rating.score) for rating in echo] == [("ann", 1.0), ("bob", 2.0)]


def test_aspects_and_their_scales_come_with_the_corpus(tmp_path: Path) -> None:
    (corpus,) = of_type(read("usr", file_of(tmp_path, [CONTEXT])), CorpusRecord)
    assert (corpus.aspects, corpus.main_aspect) == (("Natural", "Overall"), "Overall")
    assert corpus.scale_of("Natural") == (1.0, 3.0)


def test_responses_are_stripped(tmp_path: Path) -> None:
    records = read("usr", file_of(tmp_path, [CONTEXT]))
    assert of_type(records, ResponseRecord)[1] == ResponseRecord("0", 0, "Echo", "boat")


def test_a_score_that_is_no_number_is_named_by_its_path(tmp_path: Path) -> None:
    assert problems("usr", file_of(tmp_path, changed(Overall=[1, True]))) == [
        "file.json: $[0].responses[1].Overall[1]: must be a number, not true or false"
    ]


def test_a_score_outside_its_aspects_scale_is_refused(tmp_path: Path) -> None:
    assert problems("usr", file_of(tmp_path, changed(Natural=[4, 1]))) == [
        "file.json: $[0].responses[1].Natural[0]: 4 lies outside the scale of 'Natural', 1 to 3"
    ]


def test_scores_must_be_as_many_as_annotators(tmp_path: Path) -> None:
    assert problems("usr", file_of(tmp_path, changed(Overall=[1]))) == [
        "file.json: $[0].responses[1].Overall: has 1 scores for 2 annotators"
    ]


def test_a_system_that_answers_twice_is_refused(tmp_path: Path) -> None:
    found = problems("usr", file_of(tmp_path, changed(model="Original Ground Truth")))
    assert found[0] == (
        "file.json: $[0].responses[1]: the system 'Original Ground Truth' answers turn 0 of "
        "dialogue '0' twice"
    )


def test_a_missing_aspect_and_a_misspelt_one_are_both_named(tmp_path: Path) -> None:
    content = changed(Overal=[1, 1])
    del content[0]["responses"][1]["Overall"]
    assert problems("usr", file_of(tmp_path, content)) == [
        "file.json: $[0].responses[1].Overal: is not a field of this format",
        "file.json: $[0].responses[1].Overall: is missing",
    ]


def test_the_real_file_holds_what_its_paper_says() -> None:
    (part,) = surveyed("usr", real_file("usr/pc_usr_data.json"))
    counts = part.counts
    assert (counts.dialogues, counts.turns, counts.responses) == (60, 60, 300)
    # 300 responses x 6 aspects x 3 of the 4 raters.
    assert (counts.systems, counts.raters, counts.ratings) == (5, 4, 5400)
