"""Parts of pages that are kept: equal answers and addresses are written once, and nothing else is
ever shown."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from common import cache
from common.cache import lru_cache_of_bytes


@pytest.fixture(autouse=True)
def nothing_is_kept():
    cache.forget()
    yield
    cache.forget()


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
    ("address", "marks"),
    [("/board/?sort=-n", ["1.a"]), ("/other/?sort=n", ["1.a"]), ("/board/?sort=n", ["1.b"])],
)
def test_another_arrangement_page_or_answer_is_written_anew(address, marks):
    written("/board/?sort=n", ["1.a"], "first")
    assert written(address, marks, "second") == ("<p>second</p>", 1)


def test_two_parts_of_one_template_are_two():
    template = Template(
        "{% load dialeval %}{% kept marks %}a{% endkept %}{% kept marks %}b{% endkept %}"
    )
    for _ in range(2):
        assert (
            template.render(Context({"request": RequestFactory().get("/"), "marks": ["1"]})) == "ab"
        )


def test_without_marks_nothing_is_kept():
    written("/", None, "first")
    assert written("/", None, "second") == ("<p>second</p>", 1)


def test_text_is_escaped_when_it_is_written_and_when_it_is_kept():
    for _ in range(2):
        assert written("/", ["1"], "<script>")[0] == "<p>&lt;script&gt;</p>"


def test_a_part_counts_with_what_was_written(monkeypatch):
    """Four of 5,000 bytes fit into 20,000; the fifth takes the place of the first."""
    monkeypatch.setattr(cache, "_parts", lru_cache_of_bytes(20_000))
    for key in "abcde":
        cache.part(key, lambda key=key: key * 5_000)
    assert [cache.part(key, lambda: "anew").written[:1] for key in "bcde"] == [
        b"b",
        b"c",
        b"d",
        b"e",
    ]
    assert cache.part("a", lambda: "anew").written == b"anew"


def test_endless_addresses_of_small_parts_do_not_fill_the_memory(monkeypatch):
    """The part of an empty board is a few bytes; its address may be eight thousand."""
    monkeypatch.setattr(cache, "_parts", place := lru_cache_of_bytes(20_000))
    for number in range(50):
        written(f"/board/?x={number}{'x' * 8000}", ["1"], "small")
    assert len(place.cache) == 10
    assert all(len(key) == 32 for key in place.cache)
