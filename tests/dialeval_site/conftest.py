from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, make_people, remove_everything, store_corpus


@pytest.fixture(scope="module")
def kitchens(django_db_setup: None, django_db_blocker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Both small corpora and a person of each role, made once for the module's tests."""
    folder = tmp_path_factory.mktemp("corpora")
    with django_db_blocker.unblock():
        store_corpus(folder, PUBLIC, is_public=True)
        store_corpus(folder, PRIVATE, is_public=False)
        make_people()
    yield
    with django_db_blocker.unblock():
        remove_everything()
