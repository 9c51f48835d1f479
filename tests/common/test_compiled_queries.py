"""Prepared queries: written once, asked with many values, the same rows as the queryset's."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import F

from annotations.models import Corpus, CorpusVersion
from common.database import CompiledQuery, Given

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpora() -> list[Corpus]:
    made = [Corpus.objects.create(slug=slug, name=slug.title()) for slug in ("first", "second")]
    for corpus in made:
        for number in (1, 2):
            CorpusVersion.objects.create(
                corpus=corpus,
                number=number,
                digest=f"{number}",
                main_aspect="overall",
                aspects=["overall"],
            )
    return made


def test_each_question_has_its_own_values(corpora: list[Corpus]) -> None:
    by_slug = CompiledQuery(lambda: Corpus.objects.filter(slug=Given("slug")))
    assert [by_slug.first(slug=slug) for slug in ("first", "second", "third")] == [*corpora, None]


def test_the_queryset_is_put_together_once(corpora: list[Corpus]) -> None:
    made = []

    def queryset() -> object:
        made.append(1)
        return Corpus.objects.filter(slug=Given("slug"))

    by_slug = CompiledQuery(queryset)
    for slug in ("first", "second", "first"):
        by_slug.first(slug=slug)
    assert made == [1]


def test_a_constant_stays_and_order_and_limit_hold(corpora: list[Corpus]) -> None:
    newest = CompiledQuery(
        lambda: CorpusVersion.objects.filter(corpus=Given("corpus"), number__gte=1).order_by(
            "-number"
        )[:1]
    )
    found = newest.rows(corpus=corpora[1].pk)
    assert [(one.corpus_id, one.number) for one in found] == [(corpora[1].pk, 2)]


def test_columns_are_read_as_the_model_reads_them(corpora: list[Corpus]) -> None:
    """JSON is a list again; what is annotated stands there; what is left out is read when somebody
    wants it."""
    one = CompiledQuery(
        lambda: (
            CorpusVersion.objects.filter(corpus=Given("corpus"), number=Given("number"))
            .defer("description")
            .annotate(slug=F("corpus__slug"))
        )
    ).first(corpus=corpora[0].pk, number=1)
    assert one is not None
    assert (one.aspects, one.slug, one.get_deferred_fields(), one.description) == (
        ["overall"],
        "first",
        {"description"},
        "",
    )


def test_a_joined_row_comes_with_its_own(
    corpora: list[Corpus], django_assert_num_queries: Any
) -> None:
    one = CompiledQuery(
        lambda: (
            CorpusVersion.objects.filter(corpus__slug=Given("slug"))
            .select_related("corpus")
            .order_by("number")[:1]
        )
    )
    with django_assert_num_queries(2):
        found = [one.first(slug=slug) for slug in ("first", "second")]
        assert [(row.corpus.name, row.number) for row in found if row] == [
            ("First", 1),
            ("Second", 1),
        ]


def test_a_value_is_never_read_as_sql(corpora: list[Corpus]) -> None:
    by_slug = CompiledQuery(lambda: Corpus.objects.filter(slug=Given("slug")))
    assert by_slug.rows(slug="' OR 1=1 --") == []
    assert by_slug.rows(slug="%s") == []


def test_a_value_that_is_missing_is_an_error(corpora: list[Corpus]) -> None:
    with pytest.raises(KeyError, match="slug"):
        CompiledQuery(lambda: Corpus.objects.filter(slug=Given("slug"))).rows(name="first")


def test_tuples_are_those_of_values_list(corpora: list[Corpus]) -> None:
    numbers = CompiledQuery(
        lambda: (
            CorpusVersion.objects.filter(corpus=Given("corpus"))
            .order_by("number")
            .values_list("number", "digest")
        )
    )
    assert [tuple(one) for one in numbers.tuples(corpus=corpora[0].pk)] == [(1, "1"), (2, "2")]
