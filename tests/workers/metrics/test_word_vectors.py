"""A file in GloVe's format: what is found in it, and what is said of a broken one."""

from pathlib import Path

import numpy as np
import pytest

from workers.metrics.common.word_vectors import (
    WordVectors,
    WordVectorsError,
    text_in,
    word_vectors_at,
)

GLOVE = "the 0.5 -1 2\ntea 1 0 0\nn't 0 1e-1 0\nTea 9 9 9\n"


def file_of(folder: Path, content: str | bytes) -> str:
    file = folder / "vectors.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(file)


def found(folder: Path, content: str | bytes, *words: str) -> list[list[float] | None]:
    vectors = WordVectors(file_of(folder, content))
    vectors.look_up(words)
    looked_up = [vectors.of(word) for word in words]
    return [None if one is None else np.round(one, 6).tolist() for one in looked_up]


def test_words_are_looked_up_as_written_else_in_lower_case(tmp_path: Path) -> None:
    assert found(tmp_path, GLOVE, "tea", "Tea", "TEA", "coffee") == [
        [1, 0, 0],
        [9, 9, 9],
        [1, 0, 0],
        None,
    ]


def test_the_first_of_two_lines_for_a_word_counts(tmp_path: Path) -> None:
    assert found(tmp_path, "tea 1 2\ntea 3 4\n", "tea") == [[1, 2]]


def test_the_number_of_words_and_dimensions_on_the_first_line_is_passed_over(
    tmp_path: Path,
) -> None:
    assert found(tmp_path, "2 3\ntea 1 2 3\nthe 4 5 6\n", "tea", "2") == [[1, 2, 3], None]


def test_an_entry_of_several_words_is_passed_over(tmp_path: Path) -> None:
    assert found(tmp_path, "tea 1 2\nat home 3 4\n. . . 5 6\n", "tea", "at", ".") == [
        [1, 2],
        None,
        None,
    ]


def test_blank_lines_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    assert found(tmp_path, "tea 1 2\r\n\r\nthe 3 4\r\n", "the") == [[3, 4]]


def test_words_of_other_scripts_are_found(tmp_path: Path) -> None:
    assert found(tmp_path, "お茶 1 2\nقهوة 3 4\n", "お茶", "قهوة") == [[1, 2], [3, 4]]


def test_a_word_that_was_asked_for_before_costs_no_reading(tmp_path: Path) -> None:
    vectors = WordVectors(file_of(tmp_path, GLOVE))
    vectors.look_up(["tea", "coffee"])
    vectors.path.unlink()
    vectors.look_up(["tea", "coffee", "Coffee".lower()])
    assert vectors.of("tea") is not None


def test_the_mean_is_of_all_vectors(tmp_path: Path) -> None:
    vectors = WordVectors(file_of(tmp_path, "a 1 2\nb 3 6\n"))
    assert vectors.mean().tolist() == [2, 4]


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    import os

    path = file_of(tmp_path, "tea 1 2\n")
    first = word_vectors_at(path)
    assert word_vectors_at(path) is first
    file_of(tmp_path, "tea 3 4\n")
    os.utime(path, ns=(1, 1))
    second = word_vectors_at(path)
    second.look_up(["tea"])
    assert np.array_equal(second.of("tea"), [3, 4])
    assert second.revision != first.revision


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "holds no word vectors"),
        ("\n\n", "holds no word vectors"),
        ("tea\n", "line 1: a word and its numbers"),
        ("the 1 2\ntea 1\n", "line 2: 1 numbers where the first line has 2"),
        ("the 1 2\nother 1\ntea 1 2\n", "line 2: 1 numbers where the first line has 2"),
        ("the 1 2\ntea 1 2 3\n", "line 2: 3 numbers where the first line has 2"),
        ("the 1 2\ntea 1 x\n", "line 2: what should be the word's number 2 is none"),
        ("the 1 2\ntea 1 nan\n", "line 2: a number is NaN or infinite"),
        ("the 1 2\ntea 1 1e999\n", "line 2: a number is NaN or infinite"),
        (b"the 1 2\ntea 1 \xff\n", "line 2: is not UTF-8"),
        ("the 1 2\ntea 1 2 " + "3 " * 600_000, "line 2: the line is longer"),
    ],
)
def test_a_broken_file_is_an_error_that_names_the_line(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    with pytest.raises(WordVectorsError, match=says):
        found(tmp_path, content, "tea")


@pytest.mark.parametrize("path", ["", "nowhere"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, path: str) -> None:
    with pytest.raises(WordVectorsError, match="cannot be read"):
        word_vectors_at(str(tmp_path / path))  # the folder itself, and a name in it that is none


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't like it.", ["I", "do", "n't", "like", "it", "."]),
        ("It's we'll, they’re!", ["It", "'s", "we", "'ll", ",", "they", "'re", "!"]),
        ("e-mail 3.5 (ok)", ["e-mail", "3.5", "(", "ok", ")"]),
        ("naïve 日本 😀", ["naïve", "日本", "😀"]),
        ("\0 \n", ["\0"]),
        ("", []),
    ],
)
def test_marks_and_contractions_are_words_of_their_own(text: str, words: list[str]) -> None:
    assert text_in(text) == words
