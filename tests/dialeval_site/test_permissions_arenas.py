"""Who may do what with arenas: every address × every role."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.campaigns.models import Arena, Battle
from tests.campaigns.arenas import made_arena, made_battle
from tests.dialeval_site.addresses import METHODS, client_of, in_turn, outcome
from tests.dialeval_site.arena_matrix import MATRIX, Address
from tests.dialeval_site.small_corpora import ROLE_NAMES, person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kitchens", "arenas")]


@pytest.fixture
def arenas(notified: list[int]) -> None:
    """One with a battle of somebody else's, and one that was never opened."""
    made_battle(made_arena(slug="open", dialogues=9))
    made_arena(slug="closed", is_public=False, is_open=False, opened_at=None)


def path(address: Address) -> str:
    named = {
        "": [],
        "arena": ["open"],
        "closed": ["closed"],
        "battle": ["open", Battle.objects.get(number=1).public_id],
        "visitor": ["open", 1],
        "token": [Arena.objects.get(slug="open").token],
    }
    return reverse(address.name, args=named[address.of])


CASES = [
    pytest.param(address, role, what, id=f"{address.method} {address.name} {address.of} {role}")
    for place, address in enumerate(MATRIX)
    for role, what in in_turn(place, zip(ROLE_NAMES, address.roles.split(), strict=True))
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(address: Address, role: str, what: str) -> None:
    client = client_of(role)
    ask = client.get if address.method == "GET" else client.post
    assert outcome(ask(path(address), dict(address.data))) == what


@pytest.mark.parametrize("name", dict.fromkeys(address.name for address in MATRIX))
def test_other_methods_are_refused_to_everybody(name: str) -> None:
    named = [address for address in MATRIX if address.name == name]
    for method in METHODS - {address.method for address in named}:
        for role in ("anonymous", "superuser"):
            assert client_of(role).generic(method, path(named[0])).status_code == 405, (
                role,
                method,
            )


@pytest.mark.parametrize(
    "address", [one for one in MATRIX if one.method == "POST"], ids=lambda one: one.name
)
def test_a_form_without_the_page_s_token_is_refused(address: Address) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("organiser"))
    assert client.post(path(address), dict(address.data)).status_code == 403
    assert Battle.objects.get().state == "open"
