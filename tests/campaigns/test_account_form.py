"""The account of a rater who follows an invitation."""

from __future__ import annotations

import pytest

from annotations.campaigns.forms.join import AccountForm

pytestmark = pytest.mark.django_db
PASSWORD = {"password": "three green rivers", "again": "three green rivers"}


@pytest.mark.parametrize(
    ("name", "fault"), [("ada", ""), ("\u0430da", "mixes alphabets"), ("...", "one letter")]
)
def test_a_name_cannot_be_taken_for_another(name: str, fault: str) -> None:
    form = AccountForm({"username": name, **PASSWORD})
    assert form.is_valid() is (fault == "")
    assert fault in str(form.errors)
