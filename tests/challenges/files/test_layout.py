"""Which places a file must fill."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.problems import ImportFailed
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.layout_file import layout_of
from tests.challenges.files.helpers import written


def test_places_count_from_zero_in_corpus_order() -> None:
    layout = Layout.of([("b", 0), ("b", 3), ("a", 1)])
    assert list(layout) == [("b", (0, 3)), ("a", (1,))]
    assert (layout.dialogues, layout.places) == (2, 3)
    assert [layout.place_of(*place) for place in (("b", 0), ("b", 3), ("a", 1))] == [0, 1, 2]


def test_what_the_corpus_does_not_have_has_no_place() -> None:
    layout = Layout.of([("a", 0)])
    assert layout.place_of("a", 1) is None
    assert layout.place_of("b", 0) is None
    assert "b" not in layout


@pytest.mark.parametrize("pairs", [[("a", 0), ("a", 0)], [("a", 0), ("b", 0), ("a", 1)]])
def test_a_turn_or_a_dialogue_that_comes_twice_is_refused(pairs: list[tuple[str, int]]) -> None:
    with pytest.raises(ValueError, match="twice"):
        Layout.of(pairs)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "file: names no dialogue with turns: it is no template and no file of dialogues"),
        (
            [{"dialog_id": "d1", "persona": []}],
            "file: names no dialogue with turns: it is no template and no file of dialogues",
        ),
        ([1], "file: $[0]: must be an object, not a number"),
        (({"dialog_id": "d1", "turn": 0}, {"dialog_id": "d1"}), "file:2: turn: is missing"),
        ("dialog_id,turn,response\nd1,one,\n", "file:2: turn: must be a whole number"),
    ],
)
def test_a_file_that_shows_no_layout_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ImportFailed) as failure:
        layout_of(written(tmp_path, content))
    assert message in str(failure.value).split("\n")


def test_dialogues_of_seven_turns_share_one_shape() -> None:
    layout = Layout.of((f"d{dialogue}", turn) for dialogue in range(1000) for turn in range(7))
    assert len({id(layout.shape_of(dialogue)) for dialogue in range(1000)}) == 1
    # 8 bytes a dialogue for its first place, not an object.
    assert sys.getsizeof(layout._starts) < 1000 * 8 + 2000
