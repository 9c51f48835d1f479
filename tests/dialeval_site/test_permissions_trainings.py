"""Who may do what with trainings: every address × every role."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import Corpus
from tests.dialeval_site.addresses import METHODS, client_of, in_turn, outcome
from tests.dialeval_site.small_corpora import PUBLIC, ROLE_NAMES, person
from tests.dialeval_site.training_matrix import MATRIX, Address
from workers.training import actions
from workers.training.data import Source
from workers.training.models import Training

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kitchens", "waiting")]
NAME = "quiet-model"


@pytest.fixture
def waiting(notified: list[int]) -> None:
    """A training that waits for a worker."""
    source = Source.of_version(Corpus.objects.get(slug=PUBLIC).versions.get())
    actions.start(NAME, "density", source, {"epochs": 2}, check=False)


def path(address: Address) -> str:
    return reverse(address.name, args=[NAME] if address.of_one else [])


CASES = [
    pytest.param(address, role, what, id=f"{address.method} {address.name} {role}")
    for place, address in enumerate(MATRIX)
    for role, what in in_turn(place, zip(ROLE_NAMES, address.roles, strict=True))
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(address: Address, role: str, what: str) -> None:
    assert outcome(client_of(role).generic(address.method, path(address))) == what


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
    assert client.post(path(address)).status_code == 403
    assert Training.objects.get().state == "pending"


@pytest.mark.parametrize("role", ["anonymous", "participant", "rater"])
def test_who_may_not_train_learns_of_none(role: str) -> None:
    client = client_of(role)
    for address in MATRIX:
        if address.method == "GET":
            for headers in ({}, {"HX-Request": "true"}):
                assert NAME.encode() not in client.get(path(address), headers=headers).content
    missing, there = (
        client.get(reverse("training", args=["nothing"])),
        client.get(reverse("training", args=[NAME])),
    )
    assert missing.status_code == there.status_code in (302, 403)
