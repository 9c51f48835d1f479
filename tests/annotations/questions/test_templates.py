"""The templates: each is read, comes back from its data, and says where its protocol comes from."""

from __future__ import annotations

import pytest

from annotations.questions import templates
from annotations.questions.reading import form_of
from annotations.questions.schema import to_data


@pytest.mark.parametrize("name", templates.names())
def test_a_template_comes_back_from_its_data(name: str) -> None:
    form = templates.load(name)
    assert form_of(to_data(form)) == form
    assert form.name == name
    assert form.citation
    assert form.guidelines


def test_an_unknown_template_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        templates.load("../usr")
