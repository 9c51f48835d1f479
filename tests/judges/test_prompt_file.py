"""Reading a judge's prompt file: what it holds, and everything that can be wrong with it."""

from dataclasses import replace

import pytest

from annotations.formats.importers.problems import ImportFailed
from tests.judges.prompts import prompt, written
from tests.processor_time import at_most
from workers.judges.core.prompt_file import canonical, digest_of, own_prompt, prompt_at, read_prompt


def problems(text):
    """What is wrong with a prompt; nothing where it can be used."""
    try:
        read_prompt(text, "p.txt")
    except ImportFailed as failure:
        return [str(problem) for problem in failure.problems]
    return []


def only(text):
    (problem,) = problems(text)
    return problem


def test_a_prompt_is_its_header_and_its_sections():
    read = prompt(
        "Judge:\n{response}",
        "You are strict.",
        labels="tone, overall",
        score="overall",
        max_tokens="70",
    )
    assert (read.name, read.step, read.labels, read.score) == (
        "one",
        "turn",
        ("tone", "overall"),
        "overall",
    )
    assert (read.scale, read.begin, read.separator, read.max_tokens) == ((1, 5), "- ", ": ", 70)
    assert (read.system, read.user) == ("You are strict.", "Judge:\n{response}")


def test_what_may_be_left_out_has_a_default():
    read = prompt(form=None)
    assert (read.score, read.begin, read.separator, read.max_tokens, read.system) == (
        "Humanness",
        "",
        ": ",
        300,
        "",
    )


def test_comments_and_blank_lines_of_the_header_say_nothing():
    assert read_prompt("# of whom\n\n" + written()) == prompt()


def test_line_ends_of_windows_and_blanks_at_line_ends_change_nothing():
    assert read_prompt(written("a  \n{response} \n\n").replace("\n", "\r\n")) == prompt(
        "a\n{response}"
    )


def test_a_line_of_equals_signs_is_text():
    assert prompt("=====\n{response}\n=== ===").user == "=====\n{response}\n=== ==="


@pytest.mark.parametrize(
    ("form", "begin", "separator"),
    [
        ('"- {label}: "', "- ", ": "),
        ("{label} -", "", " -"),
        ('"{label} - "', "", " - "),
        ('"* {label} = "', "* ", " = "),
        ('"**{label}: "', "**", ": "),
    ],
)
def test_the_form_says_what_stands_around_a_label(form, begin, separator):
    read = prompt(form=form)
    assert (read.begin, read.separator) == (begin, separator)


def test_placeholders_are_told_in_order_and_once_and_braces_are_none():
    read = prompt("{{fact}} {response} {history} {response}", "{fact}")
    assert read.placeholders == ("fact", "response", "history")


def test_a_reference_is_needed_where_the_text_has_its_placeholder():
    assert prompt("{reference} {response}").needs_reference
    assert not prompt("{{reference}} {response}").needs_reference
    assert prompt("{fact} {response}").needs_fact
    assert not prompt().needs_fact


# --- what is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": None}, 'p.txt: name: is missing: write "name: …" above the first section'),
        ({"name": "n" * 101}, "p.txt:1: name: is to be one line of at most 100 characters"),
        ({"name": "a\u200fb"}, "p.txt:1: name: is to be one line of at most 100 characters"),
        ({"name": " "}, "p.txt:1: name: is empty"),
        ({"step": "turns"}, 'p.txt:2: step: is "turn" or "dialogue", not "turns"'),
        ({"labels": "a,"}, 'p.txt:3: labels: "" cannot be a label'),
        ({"labels": "1a"}, 'p.txt:3: labels: "1a" cannot be a label'),
        ({"labels": "a: b"}, 'p.txt:3: labels: "a: b" cannot be a label'),
        ({"labels": "{a}"}, 'p.txt:3: labels: "{a}" cannot be a label'),
        ({"labels": "x" * 61}, f'p.txt:3: labels: "{"x" * 60}" cannot be a label'),
        ({"labels": "Tone, tone", "score": "Tone"}, 'p.txt:3: labels: names "tone" twice'),
        (
            {"labels": ", ".join(f"l{n}" for n in range(21)), "score": "l1"},
            "p.txt:3: labels: names 21; at most 20",
        ),
        ({"labels": "a, b"}, "p.txt: score: is missing: say which label counts: a, b"),
        ({"score": "other"}, 'p.txt:6: score: "other" is none of the labels: Humanness'),
        ({"scale": "5"}, 'p.txt:4: scale: is written as lowest-highest, for instance 1-5, not "5"'),
        (
            {"scale": "5-1"},
            "p.txt:4: scale: goes from a lower to a higher number, at most 100; 5-1 does not",
        ),
        (
            {"scale": "1-101"},
            "p.txt:4: scale: goes from a lower to a higher number, at most 100; 1-101 does not",
        ),
        (
            {"scale": "１-５"},
            'p.txt:4: scale: is written as lowest-highest, for instance 1-5, not "１-５"',
        ),
        (
            {"form": '"{label}"'},
            "p.txt:5: form: is a mark or none, {label}, then a colon, a dash or =",
        ),
        (
            {"form": '"Label: "'},
            "p.txt:5: form: is a mark or none, {label}, then a colon, a dash or =",
        ),
        ({"form": '"{label}: '}, "p.txt:5: form: is not one text in quotation marks"),
        ({"max_tokens": "0"}, "p.txt:6: max_tokens: is a whole number from 1 to 4,000"),
        ({"max_tokens": "1e3"}, "p.txt:6: max_tokens: is a whole number from 1 to 4,000"),
        ({"max_tokens": "9" * 5000}, "p.txt:6: max_tokens: is a whole number from 1 to 4,000"),
        (
            {"other": "x"},
            (
                "p.txt:6: other: is no key of a prompt; there are name, step, labels, score, "
                "scale, form"
            ),
        ),
        ({"name": "a\nname: b"}, "p.txt:2: name: is there twice"),
        (
            {"name": "a\nhello"},
            'p.txt:2: is no header line: write "key: value", then "=== user" and the text',
        ),
    ],
)
def test_a_fault_of_the_header_is_told_with_its_line_and_key(changed, told):
    assert only(written(**changed)).startswith(told)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (written(""), "p.txt:6: user: is empty"),
        (written(" \n\t\n"), "p.txt:6: user: is empty"),
        (
            written("Judge."),
            "p.txt: user: holds no {response}: the judge would not see what it is to judge",
        ),
        (
            written("{{response}}"),
            "p.txt: user: holds no {response}: the judge would not see what it is to judge",
        ),
        (
            written("\nab\n{respnse} {response}"),
            "p.txt:9: user: there is no placeholder {respnse} in this step; there are",
        ),
        (
            written("{response}", "a\n{b"),
            "p.txt:8: system: a single { opens or closes no placeholder; write {{ for",
        ),
        (
            written("{response} }"),
            "p.txt:7: user: a single } opens or closes no placeholder; write }} for",
        ),
        (
            written("{turn_scores}{response}"),
            "p.txt:7: user: there is no placeholder {turn_scores} in this step",
        ),
        (
            written("{response}", step="dialogue").replace("{response}", "{responses}{reference}"),
            "p.txt:7: user: there is",
        ),
        (written("{response}\n=== user\nb"), "p.txt:8: user: is there twice"),
        (
            written("{response}\n=== usr\nb"),
            'p.txt:8: there is no section "usr"; there are system and user',
        ),
        (
            written("{response}" + "a" * 40_000),
            "p.txt:6: user: has 40,010 characters; at most 40,000 are allowed",
        ),
        (
            written().partition("=== user")[0],
            'p.txt: user: is missing: write the text below a line "=== user"',
        ),
        ("", "p.txt: is empty"),
        (" \n", "p.txt: is empty"),
        ("a" * 200_001, "p.txt: has 200,001 characters; a prompt has at most 200,000"),
        (written("\0{response}"), "p.txt: holds a NUL character"),
        (written("\ud800{response}"), "p.txt: holds half of a surrogate pair"),
    ],
    ids=lambda value: value[:30] if value.startswith("p.txt") else "",
)
def test_a_fault_of_the_texts_is_told_with_its_line(text, told):
    assert only(text).startswith(told)


def test_all_faults_are_told_at_once_in_the_order_of_their_lines():
    text = written("{a}\n{", name=None, step="x", scale="9-1", other="x")
    assert [problem.split(": ")[0] for problem in problems(text)] == [
        "p.txt",  # no name
        "p.txt:1",
        "p.txt:3",
        "p.txt:5",
        "p.txt:7",
        "p.txt:8",
    ]


def test_a_file_of_garbage_is_told_a_hundred_faults_of_and_no_more():
    with pytest.raises(ImportFailed) as failure:
        read_prompt("x\n" * 5000)
    assert len(failure.value.problems) == 100
    assert failure.value.stopped


def test_a_hostile_file_is_read_in_no_time():
    with at_most(0.5):
        for text in (
            "{" * 40_000, "{a}" * 60_000, "=== a\n" * 33_000, "a:" * 99_000, "\n" * 199_000,
        ):  # fmt: skip
            problems(f"{written()}\n{text}"[:199_999])


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_read_with_a_byte_order_mark_too(tmp_path):
    path = tmp_path / "p.txt"
    path.write_bytes(b"\xef\xbb\xbf" + written().encode())
    assert prompt_at(str(path)) == prompt()


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"a" * 200_001])
def test_what_is_no_file_of_text_is_refused_with_its_name(tmp_path, content):
    path = tmp_path / "p.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ImportFailed, match=r"p\.txt: "):
        prompt_at(str(path))


def test_a_name_that_is_none_of_ours_opens_no_file():
    with pytest.raises(KeyError):
        own_prompt("../prompts/detail")


# --- the digest -----------------------------------------------------------------------------------


def test_reading_the_canonical_text_gives_the_prompt_again():
    read = prompt(
        " a\n\n{response} {{x}}",
        "s",
        labels="Tone, Final Score",
        score="Tone",
        form='"* {label} - "',
    )
    assert read_prompt(canonical(read)) == read


def test_the_digest_is_of_the_words_and_not_of_how_the_file_is_laid_out():
    tidy = prompt("{response}", form='"{label}: "', max_tokens="300", score="Humanness")
    untidy = read_prompt(
        "scale: 1-5\n# why\nlabels:   Humanness\nstep: turn\nname: other\n\n=== "
        "user\n\n{response}  \n\n"
    )
    assert untidy.digest == tidy.digest == digest_of(tidy)


@pytest.mark.parametrize(
    "changed",
    [
        {"step": "dialogue"},
        {"labels": ("Tone",)},
        {"score": "Tone"},
        {"scale": (1, 4)},
        {"separator": " - "},
        {"begin": "* "},
        {"max_tokens": 3},
        {"system": "s"},
        {"user": "{response}."},
    ],
)
def test_whatever_decides_an_answer_changes_the_digest(changed):
    assert digest_of(replace(prompt(), **changed)) != prompt().digest
