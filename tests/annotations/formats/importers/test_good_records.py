"""Bad records that are left out: the good ones remain, nothing refers to what is gone, and what is
gone is listed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.left_out import MOST, LeftOut, left_out
from annotations.formats.importers.problems import MAX_LEFT_OUT, ImportFailed
from annotations.formats.importers.registry import importers
from annotations.formats.records import DialogueRecord, RatingRecord, ResponseRecord

Line = dict[str, Any]


def dialogue(name: str = "d", **more: Any) -> Line:
    messages = [{"role": "user", "text": "hi"}]
    turns = [{"number": 0, "after": 1}]
    return {"type": "dialogue", "id": name, "messages": messages, "turns": turns, **more}


def response(name: str = "d", system: str = "s", **more: Any) -> Line:
    return {
        "type": "response",
        "dialogue_id": name,
        "turn": 0,
        "system": system,
        "text": "x",
    } | more


def rating(name: str = "d", score: Any = 3, **more: Any) -> Line:
    who = {"system": "s", "rater": "r", "aspect": "overall"}
    return {"type": "rating", "dialogue_id": name, "turn": 0, **who, "score": score, **more}


HEAD = [{"type": "corpus"}, {"type": "system", "name": "s"}, {"type": "rater", "name": "r"}]


def file(folder: Path, *lines: Line | str) -> Path:
    path = folder / "corpus.jsonl"
    written = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_text("\n".join(written) + "\n", encoding="utf-8")
    return path


def kept(path: Path) -> list[Any]:
    return list(importers()["jsonl"].read(path, good_only=True))


def problems(path: Path) -> list[tuple[Any, str]]:
    (part,) = survey(importers()["jsonl"], path, good_only=True)
    return [(one.where, one.message) for one in part.left_out]


def test_a_rating_off_the_scale_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    path = file(
        *(tmp_path, *HEAD, dialogue(), response(), rating(score=9)),
        *(dialogue("e"), response("e"), rating("e", 4)),
    )
    assert [one.score for one in kept(path) if isinstance(one, RatingRecord)] == [4.0]
    assert [where for where, _ in problems(path)] == [6]


def test_without_it_the_same_file_stores_nothing(tmp_path: Path) -> None:
    path = file(tmp_path, *HEAD, dialogue(), response(), rating(score=9))
    with pytest.raises(ImportFailed, match="outside the scale"):
        survey(importers()["jsonl"], path)


def test_what_refers_to_a_bad_dialogue_is_left_out_too(tmp_path: Path) -> None:
    bad = dialogue("bad", turns=[{"number": 0, "after": 7}])
    path = file(
        *(tmp_path, *HEAD, dialogue(), response(), bad, response("bad"), rating("bad")),
        *(dialogue("e"), response("e")),
    )
    found = kept(path)
    assert [one.id for one in found if isinstance(one, DialogueRecord)] == ["d", "e"]
    assert [one.dialogue_id for one in found if isinstance(one, ResponseRecord)] == ["d", "e"]
    assert [where for where, _ in problems(path)] == [6, 7, 8]


def test_a_dialogue_line_that_cannot_be_read_takes_its_own_and_not_the_next(tmp_path: Path) -> None:
    path = file(
        *(tmp_path, *HEAD, dialogue(), response(), '{"type": "dialogue", "id": 5}', response("5")),
        *(dialogue("e"), response("e"), "{half a reco"),
    )
    assert [one.id for one in kept(path) if isinstance(one, DialogueRecord)] == ["d", "e"]
    assert [where for where, _ in problems(path)][-2:] == [7, 10]


def test_what_a_bad_system_or_rater_says_is_left_out(tmp_path: Path) -> None:
    long = "x" * 300
    path = file(
        *(tmp_path, *HEAD, {"type": "system", "name": long}, {"type": "rater", "name": " r2"}),
        *(dialogue(), response(), response(system=long), rating(rater=" r2"), rating()),
    )
    found = kept(path)
    assert [one.system for one in found if isinstance(one, ResponseRecord)] == ["s"]
    assert [one.rater for one in found if isinstance(one, RatingRecord)] == ["r"]


def test_the_first_of_two_that_contradict_stays(tmp_path: Path) -> None:
    path = file(tmp_path, *HEAD, dialogue(), response(), rating(score=2), rating(score=3))
    assert [one.score for one in kept(path) if isinstance(one, RatingRecord)] == [2.0]
    (part,) = survey(importers()["jsonl"], path, good_only=True)
    assert part.counts.ratings == 1


def test_a_second_dialogue_of_an_id_does_not_take_the_first_away(tmp_path: Path) -> None:
    path = file(tmp_path, *HEAD, dialogue(), response(), dialogue(), response(), dialogue("e"))
    assert [one.id for one in kept(path) if isinstance(one, DialogueRecord)] == ["d", "e"]
    assert len([one for one in kept(path) if isinstance(one, ResponseRecord)]) == 1


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([{"type": "corpus", "aspects": ["a", "a"], "main_aspect": "a"}, dialogue()], "twice"),
        ([{"type": "corpus"}, dialogue(turns=[{"number": 0, "after": 9}])], "holds no dialogue"),
        (["[" * 10], "holds no corpus"),
    ],
)
def test_a_file_of_which_nothing_remains_is_refused(
    tmp_path: Path, lines: list[Any], told: str
) -> None:
    with pytest.raises(ImportFailed, match=told):
        kept(file(tmp_path, *lines))


def test_garbage_without_end_is_refused(tmp_path: Path) -> None:
    path = file(tmp_path, *HEAD, dialogue(), *(["{}"] * (MAX_LEFT_OUT + 1)))
    with pytest.raises(ImportFailed) as failure:
        kept(path)
    assert (len(failure.value.problems), failure.value.stopped) == (100, True)


def test_bad_records_are_listed_as_they_stand_in_the_file(tmp_path: Path) -> None:
    bad = json.dumps(rating(score=9, comment="=1+1"))
    path = file(tmp_path, *HEAD, dialogue(), response(), bad)
    (part,) = survey(importers()["jsonl"], path, good_only=True)
    found = left_out(path, part)
    assert (found.bad, found.skipped) == (1, 0)
    (row,) = csv.DictReader(io.StringIO(found.csv().removeprefix("\ufeff")))
    assert (row["place"], row["field"]) == ("6", "score")
    assert row["record"].startswith('{"type": "rating"')
    assert LeftOut.of_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("format_name", ["preferences", "system-columns"])
def test_bad_elements_of_a_list_are_listed_as_they_stand_in_it(
    tmp_path: Path, format_name: str
) -> None:
    good = {"prompt": "Hello", "chosen": "Hi.", "rejected": "Hey."}
    good |= {"baker_response": "Hi.", "cook_response": "Hey."}
    path = tmp_path / "list.json"
    path.write_text(json.dumps([good, 7, good, 8]))
    (part,) = survey(importers()[format_name], path, good_only=True)
    records = left_out(path, part).records
    assert [(one.place, one.record) for one in records] == [("$[1]", "7"), ("$[3]", "8")]


def test_the_list_is_bounded_and_the_count_is_not(tmp_path: Path) -> None:
    path = file(
        tmp_path, *HEAD, dialogue(), response(), *(rating(aspect=f"a{n}") for n in range(MOST + 5))
    )
    (part,) = survey(importers()["jsonl"], path, good_only=True)
    found = left_out(path, part)
    assert (found.bad, len(found.records)) == (MOST + 5, MOST)
