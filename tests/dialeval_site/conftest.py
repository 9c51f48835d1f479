from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import reverse

from common.roles import ORGANISER
from tests.conftest import lookers_compute
from tests.dialeval_site.addresses import STATISTICS, client_of
from tests.dialeval_site.challenge_pages import files, pages_of_all, pages_of_the_hidden_corpus
from tests.dialeval_site.small_challenges import Stage, make_stage, remove_stage
from tests.dialeval_site.small_corpora import (
    PRIVATE,
    PUBLIC,
    make_people,
    remove_everything,
    store_corpus,
)


@pytest.fixture(scope="module")
def kitchens(
    django_db_setup: None, django_db_blocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Both small corpora and a person of each role, made once for the module's tests."""
    folder = tmp_path_factory.mktemp("corpora")
    with django_db_blocker.unblock():
        store_corpus(folder, PUBLIC, is_public=True)
        store_corpus(folder, PRIVATE, is_public=False)
        make_people()
    yield
    with django_db_blocker.unblock():
        remove_everything()


@pytest.fixture(scope="module")
def answered(kitchens: None, django_db_blocker) -> None:
    """The statistics of both corpora are stored before the first test: what a test has computed,
    its rollback takes back, and the next test would compute it anew."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        lookers_compute(patch)
        organiser = client_of(ORGANISER)
        for slug in (PUBLIC, PRIVATE):
            for name in STATISTICS:
                assert organiser.get(reverse(name, args=[slug])).status_code == 200, name


@pytest.fixture(scope="module")
def stage(kitchens: None, django_db_blocker) -> Iterator[Stage]:
    """The small challenges on top of both corpora, made once for the module's tests."""
    with django_db_blocker.unblock():
        made = make_stage()
    yield made
    with django_db_blocker.unblock():
        remove_stage()


@pytest.fixture(scope="module")
def offered(stage: Stage, django_db_blocker) -> dict[str, list[str]]:
    """The downloads that a page offers to organisers, by its address. Looked for once: then the
    statistics of both corpora are stored, too, which a test would compute anew and take back with
    its transaction."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        lookers_compute(patch)
        organiser = client_of(ORGANISER)
        return {
            place: files(organiser, place)
            for place in [*pages_of_all(), *pages_of_the_hidden_corpus()]
        }


@pytest.fixture
def often(settings) -> None:
    """Rates have tests of their own."""
    settings.API_RATE = 10**9
