"""``manage.py create_organiser``: the first organiser of a site, without the admin."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from annotations.models import AuditEntry
from common.roles import is_organiser

pytestmark = pytest.mark.django_db

PASSWORD = "a lamp in the forest"


def create(name: str, monkeypatch: pytest.MonkeyPatch, typed: str = PASSWORD) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    out = io.StringIO()
    call_command("create_organiser", name, stdout=out)
    return out.getvalue().strip()


def user(name: str) -> Any:
    return get_user_model().objects.get(username=name)


def test_an_account_that_is_not_there_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    assert create("mara", monkeypatch) == "mara is an organiser now"
    assert is_organiser(user("mara"))
    assert user("mara").check_password(PASSWORD)
    assert not user("mara").is_staff


def test_an_account_that_is_there_keeps_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    get_user_model().objects.create_user("mara", password="the one it had before")
    assert create("mara", monkeypatch, typed="") == "mara is an organiser now"
    assert user("mara").check_password("the one it had before")


def test_a_second_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    create("mara", monkeypatch)
    assert create("mara", monkeypatch) == "mara was an organiser already"
    assert AuditEntry.objects.filter(action="account.organiser", subject="mara").count() == 1


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("mara", "short"),
        ("mara", ""),
        ("mara", "demo-organiser"),
        ("a name with blanks", PASSWORD),
        ("", PASSWORD),
        ("x" * 151, PASSWORD),
    ],
)
def test_a_wrong_name_or_password_makes_nothing(
    name: str, password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError):
        create(name, monkeypatch, password)
    assert not get_user_model().objects.exists()


def test_a_name_that_differs_in_capitals_alone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    create("mara", monkeypatch)
    with pytest.raises(CommandError, match="capital"):
        create("Mara", monkeypatch)
