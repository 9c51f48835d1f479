"""The one address of outgoing mail."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from dialeval_site.config.mail_settings import mail_settings


def test_no_address_no_mail() -> None:
    assert mail_settings("") == {"SENDS_EMAIL": False}


def test_every_part_of_the_address() -> None:
    found = mail_settings("smtp://ada%40example.org:p%2Fw@mail.example.org:587/?tls=true")
    assert found == {
        "SENDS_EMAIL": True,
        "EMAIL_HOST": "mail.example.org",
        "EMAIL_PORT": 587,
        "EMAIL_HOST_USER": "ada@example.org",
        "EMAIL_HOST_PASSWORD": "p/w",
        "EMAIL_USE_TLS": True,
        "EMAIL_USE_SSL": False,
        "EMAIL_TIMEOUT": 10,
    }


def test_tls_from_the_first_byte() -> None:
    found = mail_settings("smtps://mail.example.org")
    assert (found["EMAIL_PORT"], found["EMAIL_USE_SSL"], found["EMAIL_USE_TLS"]) == (
        465,
        True,
        False,
    )


@pytest.mark.parametrize(
    "address",
    [
        "mail.example.org",
        "http://secret@x",
        "smtp://:secret@",
        "smtp://h:secret/",
        "smtp://h/?tls=secret",
        "smtp://h/?a=secret",
    ],
)
def test_a_wrong_address_is_told_without_repeating_it(address: str) -> None:
    with pytest.raises(ImproperlyConfigured) as told:
        mail_settings(address)
    assert "secret" not in str(told.value)
    assert "DIALEVAL_EMAIL_URL" in str(told.value)
