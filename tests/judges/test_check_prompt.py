"""``manage.py check_prompt FILE``: what a prompt file asks, or everything that is wrong with it."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.judges.prompts import prompt, written
from workers.judges.core.prompt_file import OUR_PROMPTS, own_prompt
from workers.judges.core.rendering import remarks


def checked(path, *arguments):
    out, err = StringIO(), StringIO()
    call_command("check_prompt", str(path), *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text(
        written("Rate {{Humanness}}\n{history}\nB: {response}", "You judge.", max_tokens="70")
    )
    return path


def test_a_prompt_is_told_with_its_digest(file):
    out, err = checked(file)
    assert [line.split(None, 1) for line in out.splitlines()] == [
        ["name", "one"],
        ["step", "turn"],
        ["labels", "Humanness"],
        ["score", "Humanness"],
        ["scale", "1 to 5"],
        ["form", "- {label}: x"],
        ["max_tokens", "70"],
        ["placeholders", "history, response"],
        [
            "digest",
            prompt(
                "Rate {{Humanness}}\n{history}\nB: {response}", "You judge.", max_tokens="70"
            ).digest,
        ],
    ]
    assert err == f"{file} can be used: write [prompt={file}]\n"


def test_a_prompt_is_shown_filled_in(file):
    out, _ = checked(file, "--show")
    shown = out[out.index("--- system ---") :]
    assert shown.startswith(
        "--- system ---\nYou judge.\n\n--- user ---\nRate {Humanness}\nA: Is that a clock"
    )
    assert shown.endswith(
        "B: Sure, clocks are my trade.\n\n--- assistant, begun for an expected score ---\n- "
        "Humanness: \n"
    )


def test_a_prompt_for_dialogues_is_shown_with_two_turns(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text(written("{turn_scores}\n{responses}", step="dialogue"))
    out, _ = checked(path, "--show")
    assert "Turn 1 Score - 4\nTurn 2 Score - 3.5\nTurn 1: Yes, and" in out


def test_every_fault_is_told_with_file_and_line(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(written("{respnse}", scale="5-1"))
    err = StringIO()
    with pytest.raises(CommandError, match=r"bad\.txt cannot be used: 3 problems$"):
        call_command("check_prompt", str(path), stdout=StringIO(), stderr=err)
    told = [line.removeprefix(f"{path}:") for line in err.getvalue().splitlines()]
    assert [line[:25] for line in told] == [
        " user: holds no {response",
        "4: scale: goes from a low",
        "7: user: there is no plac",
    ]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00"])
def test_what_is_no_prompt_is_refused(tmp_path, content):
    path = tmp_path / "none.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match=r"none\.txt cannot be used: 1 problem$"):
        checked(path)


# --- remarks --------------------------------------------------------------------------------------


def test_a_label_that_the_text_never_names_is_remarked(tmp_path):
    path = tmp_path / "p.txt"
    path.write_text(written("Is it good?\nB: {response}"))
    _, err = checked(path)
    assert err.startswith(
        'note: the text never names the label "Humanness": will a judge write it?\n'
    )


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("Humanness? {response}" + "x" * 399, ""),
        ("Humanness? {response}" + "x" * 400, "400 of 421 characters come after {response}"),
        (
            "Humanness?\n{response}",
            (
                '{response} begins a line, so a response can pass for a heading; "B: {response}" '
                "cannot"
            ),
        ),
    ],
)
def test_what_costs_or_misleads_is_remarked(text, remark):
    assert "".join(remarks(prompt(text))).startswith(remark)
    assert bool(remarks(prompt(text))) == bool(remark)


def test_a_scale_without_expected_scores_is_remarked():
    (remark,) = remarks(prompt("Humanness: {response}", scale="1-10"))
    assert remark == "a scale up to 10 has no expected score; use it with scoring=answer"


@pytest.mark.parametrize("name", OUR_PROMPTS)
def test_nothing_is_to_be_remarked_of_ours(name):
    assert remarks(own_prompt(name)) == []
