"""The database itself refuses what may not be, whatever code asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Rater,
    Rating,
    Response,
    System,
    Turn,
)
from tests.annotations.stored import stored, two_systems

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


def refused(constraint: str, write: Callable[[], object], *columns: str) -> None:
    """The write fails; PostgreSQL names the constraint, SQLite names it or the columns."""
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write()
    message = str(refusal.value)
    assert constraint in message or (columns and all(column in message for column in columns)), (
        message
    )


def again(model: type, **changes: object) -> Callable[[], object]:
    """Stores a copy of the model's first row."""

    def write() -> None:
        row = model.objects.order_by("pk").first()
        row.pk = None
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(force_insert=True)

    return write


@pytest.mark.parametrize(
    ("model", "changes", "constraint", "columns"),
    [
        (Corpus, {}, "annotations_corpus_slug", ("slug",)),
        (CorpusVersion, {"digest": "other"}, "version_number_once", ("corpus_id", "number")),
        (CorpusVersion, {"number": 2}, "version_content_once", ("corpus_id", "digest")),
        (Dialogue, {"external_id": "other"}, "dialogue_position_once", ("version_id", "position")),
        (Dialogue, {"position": 99}, "dialogue_id_once", ("version_id", "external_id")),
        (Turn, {}, "turn_number_once", ("dialogue_id", "number")),
        (System, {"position": 99}, "system_name_once", ("version_id", "name")),
        (System, {"name": "other"}, "system_position_once", ("version_id", "position")),
        (Response, {}, "response_once", ("system_id", "turn_id")),
        (Rater, {"position": 99}, "rater_name_once", ("version_id", "name")),
        (Rater, {"name": "other"}, "rater_position_once", ("version_id", "position")),
        (Rating, {"score": 3.0}, "turn_rating_once", ("response_id", "rater_id", "aspect")),
    ],
)
def test_nothing_is_stored_twice(
    version: CorpusVersion,
    model: type,
    changes: dict[str, object],
    constraint: str,
    columns: tuple[str, ...],
) -> None:
    refused(constraint, again(model, **changes), *columns)


@pytest.mark.parametrize(
    ("model", "changes", "constraint"),
    [
        (CorpusVersion, {"number": 0, "digest": "other"}, "version_number_from_1"),
        (System, {"position": 99, "name": "other", "kind": "robot"}, "system_kind"),
        (Rater, {"position": 99, "name": "other", "kind": "ghost"}, "rater_kind"),
    ],
)
def test_only_known_kinds_and_numbers_from_one(
    version: CorpusVersion, model: type, changes: dict[str, object], constraint: str
) -> None:
    refused(constraint, again(model, **changes))


KIND_OF_RATING = "rating_is_of_a_response_or_of_a_system_in_a_dialogue"


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("response", "system"),
        ("response", "dialogue"),
        ("response", "system", "dialogue"),
        ("system",),
        ("dialogue",),
    ],
)
def test_a_rating_is_of_a_response_or_of_a_system_in_a_dialogue_never_both_or_neither(
    version: CorpusVersion, given: tuple[str, ...]
) -> None:
    items = {
        "response": Response.objects.first(),
        "system": version.systems.first(),
        "dialogue": version.dialogues.first(),
    }
    chosen = {name: items[name] for name in given}
    rater = version.raters.first()
    refused(
        KIND_OF_RATING,
        lambda: Rating.objects.create(rater=rater, aspect="other", score=3, **chosen),
    )


def test_a_rater_rates_a_system_in_a_dialogue_once(version: CorpusVersion) -> None:
    def rate(score: float) -> None:
        Rating.objects.create(
            rater=version.raters.first(),
            aspect="overall",
            system=version.systems.first(),
            dialogue=version.dialogues.first(),
            score=score,
        )

    rate(3)
    refused(
        "dialogue_rating_once", lambda: rate(4), "system_id", "dialogue_id", "rater_id", "aspect"
    )


def test_a_rater_may_score_another_aspect_of_the_same_response(version: CorpusVersion) -> None:
    again(Rating, aspect="Engaging")()
    assert Rating.objects.filter(aspect="Engaging").count() == 1
