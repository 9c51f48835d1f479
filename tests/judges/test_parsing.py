"""A judge's answer is read strictly: the number behind a label, or none."""

import pytest

from tests.judges.prompts import DETAIL, DIALOGUE, OF_THREE, SIMPLE, prompt
from tests.processor_time import at_most
from workers.judges.core.parsing import parse, places, statements

READ = {
    "- Humanness: 4": 4.0,
    "Humanness: 4": 4.0,
    "Humanness: 4.5": 4.5,
    "Humanness: 3.25": 3.25,
    "Humanness: 1": 1.0,
    "Humanness: 5.0": 5.0,
    "Humanness:4": 4.0,
    "Humanness : 4": 4.0,
    "humanness: 4": 4.0,
    "HUMANNESS: 4": 4.0,
    "Humanness - 4": 4.0,
    "Humanness – 4": 4.0,
    "Humanness = 4": 4.0,
    "Humanness：4": 4.0,
    "**Humanness:** 4": 4.0,
    "**Humanness**: 4": 4.0,
    "- **Humanness**: **4**": 4.0,
    "* _Humanness_: `4`": 4.0,
    '{"humanness": 4}': 4.0,
    "### Humanness: 4": 4.0,
    "1. Humanness: 4": 4.0,
    "> Humanness: 4": 4.0,
    "Humanness (1-5): 4": 4.0,
    "Humanness: 4/5": 4.0,
    "Humanness: 4 / 5": 4.0,
    "Humanness: 4 out of 5": 4.0,
    "Humanness: 4.0/5.0": 4.0,
    "Humanness: 4.": 4.0,
    "Humanness: 4, because it fits": 4.0,
    "Humanness: 4; it fits": 4.0,
    "Humanness: 4 (fair enough)": 4.0,
    "Humanness: 4 - it is kind": 4.0,
    "Humanness: 4\n3. The response names 2 dogs.": 4.0,
    "Humanness: 4 on a scale of 1 to 5": 4.0,
    "  \t- Humanness:\t4  ": 4.0,
    "Good.\r\n- Humanness: 4\r\nIt is short.": 4.0,
    "Fluency: 2, Humanness: 4": 4.0,
    "Humanness: 2\nOn second thoughts:\nHumanness: 4": 4.0,
    "Humanness: 1-5\nHumanness: 4": 4.0,
    "Humanness: 4\nHumanness: 1-5": 4.0,
    "Humanness: 4\nHumanness: x": 4.0,
    "Humanness: 4\nthe humanness is high": 4.0,
}
NO_NUMBER = [
    "",
    " \n",
    "4",
    "The response deserves a 4.",
    "Humanness",
    "Humanness:",
    "Humanness: x",
    "Humanness: four",
    "Humanness: ４",
    "Humanness: 四",
    "Humanness: ٤",
    "Humanness: IV",
    "Humanness: ****",
    "Humanness: 0",
    "Humanness: 0.9",
    "Humanness: 5.1",
    "Humanness: 6",
    "Humanness: 8",
    "Humanness: 45",
    "Humanness: 12345",
    "Humanness: -4",
    "Humanness: 4/10",
    "Humanness: 4 out of 10",
    "Humanness: 4 of 10",
    "Humanness: 4 on a scale of 1 to 10",
    "Humanness: 80%",
    "Humanness: 4%",
    "Humanness: 4th",
    "Humanness: 4x",
    "Humanness: 4,5",
    "Humanness: 4-5",
    "Humanness: 4–5",
    "Humanness: 4 to 5",
    "Humanness: 4 or 5",
    "Humanness: 3 + 1",
    "Humanness: (3 + 5) / 2 = 4",
    "Humanness: 1-5",
    "Humanness: 1 to 5",
    "Humanness: nan",
    "Humanness: 1e0",
    "inhumanness: 4",
    "non-humanness: 4",
    "Overall humanness: 4",
    "Humanness score: 4",
    "The humanness: 4",
    "Engagingness: 4",
    "Humanness\n4",
    "Humanness:\n4",
    "| Humanness | 4 |",
    "Humanness: 4\nHumanness: 8",
    "Humanness: 4\nHumanness: 4/10",
    "Humanness: 4\nHumanness: 3-4",
]


@pytest.mark.parametrize(("answer", "score"), READ.items())
def test_a_well_formed_line_is_read(answer, score):
    assert parse(answer, DETAIL) == {"Humanness": score}


@pytest.mark.parametrize("answer", NO_NUMBER)
def test_anything_else_is_no_number(answer):
    assert parse(answer, DETAIL) == {"Humanness": None}


def test_each_label_has_its_own_number():
    answer = (
        "humanness - 4\nfluency - 5\ncoherency - 3\nconsistency - x\nengagingness - 1\noverall - "
        "3.5"
    )
    assert parse(answer, SIMPLE) == {
        "humanness": 4.0,
        "fluency": 5.0,
        "coherency": 3.0,
        "consistency": None,
        "engagingness": 1.0,
        "overall": 3.5,
    }


def test_labels_in_one_line_are_told_apart():
    read = parse("humanness - 4, fluency - 5; coherency - 3 | consistency: 2", SIMPLE)
    assert list(read.values()) == [4.0, 5.0, 3.0, 2.0, None, None]


def test_another_phrase_that_begins_with_a_label_is_not_that_label():
    assert parse("overall quality - 4", SIMPLE)["overall"] is None


def test_of_two_labels_that_begin_alike_each_has_its_number():
    both = prompt(labels="overall, overall quality", score="overall")
    assert parse("overall quality: 2\noverall: 4", both) == {"overall": 4.0, "overall quality": 2.0}


def test_labels_of_several_words_are_read():
    answer = (
        "Overall Dialogue Turn Score - 4.2\ndialogue  interaction score: 3\n**Final Score** - 3.5"
    )
    assert list(parse(answer, DIALOGUE).values()) == [4.2, 3.0, 3.5]


def test_the_scale_is_the_prompts():
    assert parse("Engagingness: 3/3", OF_THREE) == {"Engagingness": 3.0}
    assert parse("Engagingness: 4", OF_THREE) == {"Engagingness": None}
    assert parse("Engagingness: 2/5", OF_THREE) == {"Engagingness": None}
    assert parse("Tone: 0", prompt(labels="Tone", scale="0-100")) == {"Tone": 0.0}
    assert parse("Tone: 100", prompt(labels="Tone", scale="0-100")) == {"Tone": 100.0}
    assert parse("Tone: 100.5", prompt(labels="Tone", scale="0-100")) == {"Tone": None}


def test_a_label_may_hold_what_means_something_to_patterns():
    assert parse("A&B+C: 4", prompt(labels="A&B+C")) == {"A&B+C": 4.0}
    assert parse("AAB+C: 4", prompt(labels="A&B+C")) == {"A&B+C": None}


@pytest.mark.parametrize("written", ["straße: 4", "Straße: 4", "STRASSE: 4"])
def test_a_label_in_any_language_never_stops_the_reading(written):
    assert parse(written, prompt(labels="Straße"))["Straße"] in (4.0, None)


@pytest.mark.parametrize("letter", ["İ", "ı", "ſ", "\u212a"])
def test_letters_that_patterns_take_for_others_never_stop_the_reading(letter):
    """Without regard to case, patterns take the Turkish İ and ı for i, the long ſ for s, the Kelvin
    sign for k."""
    assert parse(f"{letter}: 4", prompt(labels="i, s, k", score="i")).keys() == {"i", "s", "k"}


@pytest.mark.parametrize(
    "answer", ["İ" * 9 + "\nHumanness: 4", "\0\ud800\nHumanness: 4", "🙂\u200f\nHumanness: 4"]
)
def test_odd_characters_around_change_nothing(answer):
    assert parse(answer, DETAIL) == {"Humanness": 4.0}


def test_a_statement_says_where_its_digits_are():
    (one,) = statements("So:\n- Humanness: 4.5/5 ok", DETAIL)
    assert (one.label, one.value, one.number_at) == ("Humanness", 4.5, 17)


def test_the_place_of_a_number_is_known_without_one():
    assert places("- Humanness: four", DETAIL, "Humanness") == [13]


def test_of_an_endless_answer_the_end_is_read():
    assert parse("Humanness: 4\n" + "x" * 49_000, DETAIL) == {"Humanness": 4.0}
    assert parse("Humanness: 4\n" + "x" * 50_000, DETAIL) == {"Humanness": None}
    assert parse("x" * 50_000 + "\nHumanness: 4", DETAIL) == {"Humanness": 4.0}


HOSTILE = [
    "\n" * 1_000_000,
    "*" * 1_000_000,
    "\n****" * 200_000,
    "\n*-*-*-*-*- 1. 2." * 60_000,
    "Humanness: " * 90_000,
    "\nHumanness: 4 " * 70_000,
    "\nHumanness: 1-5" * 70_000,
    "\nHumanness " + "- " * 500_000,
    "\nHumanness ((((((((" * 50_000,
    "\nHumanness: 4 scale " * 50_000,
    "\nHumanness: " + "4" * 1_000_000,
    " " * 1_000_000,
    ",    " * 200_000,
]


@pytest.mark.parametrize("answer", HOSTILE, ids=lambda answer: repr(answer[:18]))
@pytest.mark.parametrize("read_for", [DETAIL, SIMPLE], ids=["one label", "six labels"])
def test_a_megabyte_of_anything_is_read_in_no_time(answer, read_for):
    with at_most(0.2):
        parse(answer, read_for)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4 (out of 10)", None),
        ("4 (/10)", None),
        ("4 [out of 5]", 4.0),
        ("4 (of 10 people, 9 agree)", 4.0),
    ],
)
def test_another_scale_in_brackets_is_another_scale_too(written: str, value: float | None) -> None:
    assert parse(f"- Humanness: {written}", DETAIL)["Humanness"] == value
