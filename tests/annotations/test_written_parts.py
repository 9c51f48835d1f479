"""Parts of pages that are kept: equal answers and addresses are written once, and nothing else is ever shown."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from annotations import written_parts


@pytest.fixture(autouse=True)
def nothing_is_kept():
    written_parts.forget()
    yield
    written_parts.forget()


def written(address, marks, text):
    """The part as a page writes it, and how often its text was asked for."""
    calls = []
    template = Template("{% load dialeval %}{% kept marks %}<p>{{ words }}</p>{% endkept %}")

    def words():
        calls.append(text)
        return text

    context = Context({"request": RequestFactory().get(address), "marks": marks, "words": words})
    return template.render(context), len(calls)


def test_the_same_answer_at_the_same_address_is_written_once():
    assert written("/board/?sort=n", ["1.a"], "first") == ("<p>first</p>", 1)
    assert written("/board/?sort=n", ["1.a"], "second") == ("<p>first</p>", 0)


@pytest.mark.parametrize(
    ("address", "marks"), [("/board/?sort=-n", ["1.a"]), ("/other/?sort=n", ["1.a"]), ("/board/?sort=n", ["1.b"])]
)
def test_another_arrangement_page_or_answer_is_written_anew(address, marks):
    written("/board/?sort=n", ["1.a"], "first")
    assert written(address, marks, "second") == ("<p>second</p>", 1)


def test_two_parts_of_one_template_are_two():
    template = Template("{% load dialeval %}{% kept marks %}a{% endkept %}{% kept marks %}b{% endkept %}")
    for _ in range(2):
        assert template.render(Context({"request": RequestFactory().get("/"), "marks": ["1"]})) == "ab"


def test_without_marks_nothing_is_kept():
    written("/", None, "first")
    assert written("/", None, "second") == ("<p>second</p>", 1)


def test_text_is_escaped_when_it_is_written_and_when_it_is_kept():
    for _ in range(2):
        assert written("/", ["1"], "<script>")[0] == "<p>&lt;script&gt;</p>"


def test_what_nobody_asks_for_falls_out_first_and_the_rest_stays_within_its_bound(monkeypatch):
    monkeypatch.setattr(written_parts, "MOST_BYTES", 80)
    for key in "abcdefgh":
        written_parts.part(key, lambda key=key: key * 10)
    written_parts.part("a", lambda: "anew")
    written_parts.part("i", lambda: "i" * 10)
    assert written_parts.part("a", lambda: "anew").written == b"a" * 10
    assert written_parts.part("b", lambda: "anew").written == b"anew"


def test_one_that_is_too_large_is_not_kept(monkeypatch):
    monkeypatch.setattr(written_parts, "MOST_BYTES", 80)
    written_parts.part("large", lambda: "x" * 11)
    assert written_parts.part("large", lambda: "anew").written == b"anew"


def test_endless_addresses_of_small_parts_do_not_fill_the_memory(monkeypatch):
    """The part of an empty board is a few bytes; its address may be eight thousand."""
    monkeypatch.setattr(written_parts, "MOST_PARTS", 3)
    for number in range(50):
        written(f"/board/?x={number}{'x' * 8000}", ["1"], "small")
    assert len(written_parts._parts) == 3
    assert all(len(place) == 32 for place in written_parts._parts)
