"""What is sent is not unpacked, not followed into its depth, and not read past its limit."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dialeval_site.accounts import tokens
from tests.challenges.sets import made_user

pytestmark = pytest.mark.django_db
BOMB = gzip.compress(b'{"username": "' + b"a" * 50_000_000 + b'", "password": "x"}')


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_says_it_is_compressed_is_not_unpacked(coding: str) -> None:
    """50 MB in 50 kB: read as the bytes that they are, which are no JSON."""
    body = zlib.compress(b"a" * 50_000_000) if coding == "deflate" else BOMB
    headers = {"content-encoding": coding}
    answer = Client().post("/api/v1/tokens", body, content_type="application/json", headers=headers)
    assert answer.status_code == 400
    assert answer.json()["detail"] == "The body is no JSON that can be read."


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
def test_deep_json_is_refused_and_not_an_error_of_the_site(opens: str, closes: str) -> None:
    deep = opens * 100_000 + "1" + closes * 100_000
    assert Client().post("/api/v1/tokens", deep, content_type="application/json").status_code in (
        400,
        422,
    )


def test_numbers_of_endless_length_are_refused() -> None:
    body = '{"username": "ada", "password": "x", "days": ' + "9" * 100_000 + "}"
    assert Client().post("/api/v1/tokens", body, content_type="application/json").status_code in (
        400,
        422,
    )


@pytest.mark.parametrize("name", ["answers.zip", "answers.json.gz", "answers.tar"])
def test_an_archive_is_not_opened(name: str, settings: object) -> None:
    """What is handed in is text. A zip is told from it by its first bytes."""
    from tests.challenges.sets import open_round, team_with_member

    round_ = open_round()
    _team, member = team_with_member(round_.challenge, "ada")
    client = Client()
    client.force_login(member)
    starts = {"zip": b"PK\x03\x04" + b"\0" * 100, "gz": BOMB, "tar": b"answers" + b"\0" * 505}
    file = SimpleUploadedFile(name, starts[name.rpartition(".")[2]])
    address = f"/challenges/{round_.challenge.slug}/rounds/{round_.slug}/submit/"
    answer = client.post(
        address, {"name": "mine", "file": file}, headers={"accept": "application/json"}
    )
    assert answer.status_code == 415, answer.content[:200]


@pytest.mark.parametrize(
    "extra", ["is_superuser", "user", "user_id", "digest", "expires_at", "id", "pk"]
)
def test_no_field_is_set_that_was_not_asked_for(extra: str) -> None:
    """Mass assignment: a body with a field more is refused whole."""
    user = made_user("ada")
    user.set_password("a door of seven colours")
    user.save()
    body = {"username": "ada", "password": "a door of seven colours", extra: True}
    answer = Client().post("/api/v1/tokens", json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    assert not tokens.of(user).exists()


def test_every_body_of_the_api_refuses_fields_that_it_does_not_know() -> None:
    from dialeval_site.api.root import document

    schemas = document()["components"]["schemas"]
    taken = set()
    for path in document()["paths"].values():
        for operation in path.values():
            for media in (operation.get("requestBody") or {}).get("content", {}).values():
                name = media["schema"].get("$ref", "").rpartition("/")[2]
                if name:
                    taken.add(name)
    assert taken
    assert {
        name for name in taken if schemas[name].get("additionalProperties") is not False
    } == FORMS


FORMS: set[str] = set()
"""Bodies that are multipart forms: their fields are named one by one in the operation."""
