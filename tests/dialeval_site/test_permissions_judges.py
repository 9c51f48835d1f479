"""Who may do what with judges that organisers write: every address × every role."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import Corpus
from tests.dialeval_site.addresses import METHODS, client_of, in_turn, outcome
from tests.dialeval_site.judge_matrix import MATRIX, Address
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, ROLE_NAMES, person
from tests.judges.written import configuration_of, written
from workers.judges import trial_actions
from workers.judges.models import Trial

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("kitchens")]
ROLES_WITHOUT = ("anonymous", "participant", "rater")


class Names(NamedTuple):
    slug: str
    trial: int


@pytest.fixture
def names(notified: list[int]) -> Names:
    """A prompt and a trial of it on the private corpus that waits for a worker."""
    version = written()
    corpus = Corpus.objects.get(slug=PRIVATE).versions.get()
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
    return Names(version.prompt.slug, trial.pk)


def path(names: Names, address: Address) -> str:
    places = {"": [], "prompt": [names.slug], "trial": [names.slug, names.trial]}[address.of]
    return reverse(address.name, args=places)


CASES = [
    pytest.param(address, role, what, id=f"{address.method} {address.name} {role}")
    for place, address in enumerate(MATRIX)
    for role, what in in_turn(place, zip(ROLE_NAMES, address.roles.split(), strict=True))
]


@pytest.mark.parametrize(("address", "role", "what"), CASES)
def test_each_role_gets_what_the_matrix_says(
    names: Names, address: Address, role: str, what: str
) -> None:
    answer = client_of(role).generic(
        address.method,
        path(names, address),
        "&".join(f"{key}={value}" for key, value in address.data),
        "application/x-www-form-urlencoded",
    )
    assert outcome(answer) == what


@pytest.mark.parametrize("name", dict.fromkeys(address.name for address in MATRIX))
def test_other_methods_are_refused_to_everybody(names: Names, name: str) -> None:
    named = [address for address in MATRIX if address.name == name]
    for method in METHODS - {address.method for address in named}:
        for role in ("anonymous", "superuser"):
            assert client_of(role).generic(method, path(names, named[0])).status_code == 405, (
                role,
                method,
            )


@pytest.mark.parametrize(
    "address", [one for one in MATRIX if one.method == "POST"], ids=lambda one: one.name
)
def test_a_form_without_the_page_s_token_is_refused(names: Names, address: Address) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("organiser"))
    assert client.post(path(names, address), dict(address.data)).status_code == 403
    assert Trial.objects.get().state == "pending"


@pytest.mark.parametrize("role", ROLES_WITHOUT)
def test_who_may_not_write_judges_learns_of_none(names: Names, role: str) -> None:
    client = client_of(role)
    for address in MATRIX:
        if address.method == "GET":
            for headers in ({}, {"HX-Request": "true"}):
                body = client.get(path(names, address), headers=headers).content
                assert b"Kind words" not in body, address.name
    assert reverse("judge-prompts").encode() not in client.get(reverse("home")).content
    assert b"Kind words" not in client.get(reverse("corpus", args=[PUBLIC])).content
    missing = client.get(reverse("judge-prompt", args=["nothing-there"]))
    there = client.get(reverse("judge-prompt", args=[names.slug]))
    assert missing.status_code == there.status_code in (302, 403)


def test_who_must_log_in_to_a_form_comes_back_to_the_list(names: Names) -> None:
    """Not to the form's own address, which cannot be opened."""
    answer = client_of("anonymous").post(reverse("judge-prompt-delete", args=[names.slug]))
    assert answer["Location"] == f"{reverse('login')}?next={reverse('judge-prompts')}"
