"""A conversation of roles on the page of its dialogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotations.corpora.shown_messages import SHOWN_AT_ONCE, shown_message, shown_text
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    Message,
    PreferenceRecord,
    Record,
    TurnRecord,
)
from tests.annotations.formats.test_conversations import CONVERSATION, RECORDS
from tests.annotations.stored import stored, two_systems

pytestmark = pytest.mark.django_db

MARKED = "**Leeks**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n<b>code</b>\n```"


def page_of(records: list[Record], folder: Path, query: str = "") -> str:
    version = stored(records, folder)
    version.corpus.is_public = True
    version.corpus.save()
    answer = Client().get(f"/corpora/small/dialogues/0/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def with_dialogue(dialogue: DialogueRecord) -> list[Record]:
    return [*RECORDS[:4], dialogue, *RECORDS[5:]]


def bubbles(page: str) -> list[str]:
    return re.findall(r'<li class="bubble ([^"]*)"', page)


def test_roles_stand_at_two_sides_and_prompts_are_folded(tmp_path: Path) -> None:
    page = page_of(RECORDS, tmp_path, "?turn=1")
    assert bubbles(page) == ["a folded", "a", "b", "a folded", "b target"]
    assert "<b>ann (user)</b>" in page
    assert '<details class="message-part">\n  <summary dir="auto">tool_call: look</summary>' in page


@pytest.mark.parametrize(
    ("references", "label"), [(("Leeks.",), "the gold answer"), ((), "the recorded answer")]
)
def test_an_answer_of_the_log_is_gold_only_where_the_turn_has_a_reference(
    tmp_path: Path, references: tuple[str, ...], label: str
) -> None:
    turns = tuple(replace(turn, references=references) for turn in CONVERSATION.turns)
    page = page_of(with_dialogue(replace(CONVERSATION, turns=turns)), tmp_path, "?turn=1")
    assert re.findall(r"<span>(the \w+ answer)</span>", page) == [label]


def test_without_personas_there_is_no_panel(tmp_path: Path) -> None:
    assert 'class="personas"' not in page_of(RECORDS, tmp_path)


def test_with_personas_there_is_one(tmp_path: Path) -> None:
    assert 'class="personas"' in page_of(two_systems(), tmp_path)


def test_what_else_is_known_is_shown(tmp_path: Path) -> None:
    page = page_of(RECORDS, tmp_path, "?turn=1")
    for text in (
        '<li dir="auto">Leeks are green.</li>',
        '<dt dir="auto">topic</dt><dd dir="auto">food</dd>',
        "Sample 1",
        '<li dir="auto">tone: warm</li>',
        '<li dir="auto">topic: food</li>',
    ):
        assert text in page
    rows = re.findall(r"<td>(\w+)</td><td>([\w, ]+)</td>", page)
    assert rows == [("cook", "guest"), ("cook", "cook, sample 1"), ("cook", "guest")]


def test_markdown_is_formatted_unless_raw_text_is_asked_for(tmp_path: Path) -> None:
    messages = (*CONVERSATION.messages[:4], Message("assistant", MARKED))
    records = with_dialogue(replace(CONVERSATION, messages=messages))
    page = page_of(records, tmp_path)
    assert "<strong>Leeks</strong>" in page
    assert "<td>1</td>" in page
    assert "<code>&lt;b&gt;code&lt;/b&gt;\n</code>" in page
    raw = Client().get("/corpora/small/dialogues/0/?raw=1").content.decode()
    assert "**Leeks**" in raw
    assert "<strong>Leeks</strong>" not in raw


@pytest.mark.parametrize(
    "text",
    ["![x](https://example.org/x.png)\n", "<img src=x onerror=a()>\n", "[a](javascript:b())\n*x*"],
)
def test_markdown_loads_and_runs_nothing(text: str) -> None:
    html = shown_text(text).html
    assert html
    assert not re.search(r'<img|<script|href="(?!https://example)', html)


@pytest.mark.parametrize("text", ["so $x^2$", r"so \(x^2\)"])
def test_mathematics_in_a_message_is_drawn(text: str) -> None:
    power = "<mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>"
    assert shown_text(text).html == f'<p>so <math display="inline">{power}</math></p>\n'


@pytest.mark.parametrize("text", ["$$\na\n\n- b\n$$", "\\[\na\n\n- b\n\\]"])
def test_a_formula_on_lines_of_its_own_holds_no_list(text: str) -> None:
    sum_ = "<mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow>"
    assert shown_text(text).html == f'<p><math display="block">{sum_}</math></p>\n'


@pytest.mark.parametrize("text", ["$5 and $10.", "`$x$`", r"\$x\$", "$ x $", "    $$x$$"])
def test_prices_code_and_escaped_signs_are_no_mathematics(text: str) -> None:
    assert "<math" not in shown_text(text).html


@pytest.mark.parametrize(
    "text", [r"$\text{<script>a()</script>}$", r"$\href{javascript:a()}{x}$", r"$\frac{$"]
)
def test_mathematics_brings_neither_script_nor_address(text: str) -> None:
    html = shown_text(text).html
    assert html
    assert not re.search(r"<script|href|javascript:a\(\)\}", re.sub(r"\\href\{.*?\}", "", html))


def test_headings_of_a_message_are_none_of_the_page() -> None:
    assert shown_text("# One\n").html == '<p class="markdown-heading">One</p>\n'


def test_a_text_without_markdown_is_not_parsed() -> None:
    assert shown_text("I am 3 years old. Really!").html == ""


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert shown_text("*a* " * 5001).html == ""


def test_raters_do_not_read_the_name_of_a_system() -> None:
    message = {"role": "assistant", "name": "model-9", "text": "hi"}
    assert shown_message(message).speaker == "model-9 (assistant)"
    assert shown_message(message, blind=True).speaker == "assistant"


def test_a_gold_answer_that_is_no_message_is_shown_at_its_place(tmp_path: Path) -> None:
    dialogue = replace(
        CONVERSATION,
        messages=CONVERSATION.messages[:2],
        turns=(TurnRecord(0, after=2), TurnRecord(1, after=2, references=("Only leeks.",))),
    )
    records: list[Record] = [*RECORDS[:4], dialogue, RECORDS[5]]
    page = page_of(records, tmp_path, "?turn=1")
    assert bubbles(page) == ["a folded", "a", "b target"]
    assert "Only leeks." in page


def test_of_a_long_conversation_messages_around_the_turn_are_shown(tmp_path: Path) -> None:
    """Turn 100 stands after message 201: 177 to 226 are shown of 0 to 599."""
    messages = tuple(
        Message("assistant" if place % 2 else "user", f"line {place}.") for place in range(600)
    )
    turns = tuple(TurnRecord(number, after=2 * number + 1) for number in range(300))
    records: list[Record] = [CorpusRecord(), DialogueRecord("d", (), (), turns, messages)]
    page = page_of(records, tmp_path, "?turn=100")
    assert len(bubbles(page)) == SHOWN_AT_ONCE
    assert "line 176." not in page
    assert page.index("line 177.") < page.index("line 226.")
    assert ">177 earlier messages</a>" in page
    assert ">373 later messages</a>" in page
    whole = Client().get("/corpora/small/dialogues/0/?turn=100&messages=all").content.decode()
    assert len(bubbles(whole)) == 600


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL reads small tables whole")
def test_labels_and_preferences_are_found_by_index(tmp_path: Path) -> None:
    """Else each page reads those of the whole site."""
    with CaptureQueriesContext(connection) as captured:
        page_of(RECORDS, tmp_path, "?turn=1")
    with connection.cursor() as cursor:
        for table in ("annotations_label", "annotations_preference"):
            (sql,) = (
                one["sql"]
                for one in captured
                if one["sql"].startswith("SELECT")
                and f'{table}"."' in one["sql"]
                and "UNION" in one["sql"]
            )
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plan = [step for *_, step in cursor.fetchall()]
            assert any(step.startswith(f"SEARCH {table} ") for step in plan), plan
            assert not any(step.startswith("SCAN annotations_") for step in plan), plan


def test_a_conversation_without_turns_is_shown(tmp_path: Path) -> None:
    dialogue = DialogueRecord("d", (), (), (), (Message("user", "anybody?"),))
    page = page_of([CorpusRecord(), dialogue], tmp_path)
    assert bubbles(page) == ["a"]
    assert 'id="responses"' not in page


def test_a_comparison_formats_responses_and_folds_what_was_said_before(tmp_path: Path) -> None:
    records = [*RECORDS[:5], replace(RECORDS[5], text="**Leeks**"), *RECORDS[6:]]  # type: ignore[type-var]
    records.append(replace(RECORDS[8], system="guest", score=2.0))  # type: ignore[type-var]
    version = stored(sorted(records, key=lambda one: isinstance(one, PreferenceRecord)), tmp_path)
    version.corpus.is_public = True
    version.corpus.save()
    answer = Client().get("/corpora/small/systems/compare/?first=cook&second=guest")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<strong>Leeks</strong>" in page
    assert "<b>Speaker system:</b> Be brief." in page.partition('<details class="pair-context">')[2]
