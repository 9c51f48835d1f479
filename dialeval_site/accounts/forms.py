"""An account of one's own: a name, a password and, for who wants to be told of results, an e-mail
address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.join import AccountForm
from dialeval_site.accounts.two_factor_forms import AsksWhoIsThere

EMAIL_HELP = gettext_lazy(
    "Only organisers see it. Without one you get no messages when a submission is scored."
)


def email_field() -> forms.EmailField:
    return forms.EmailField(
        required=False,
        max_length=254,
        label=gettext_lazy("E-mail address"),
        help_text=EMAIL_HELP,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class SignUpForm(AccountForm):
    """The same name and password as of a rater who follows an invitation, and an address."""

    email = email_field()

    field_order = ("username", "email", "password", "again")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = gettext_lazy(
            "To log in with. Letters, digits and @ . + - _ only. Your team's members and "
            "organisers see it; leaderboards show the team's name alone."
        )


class EmailForm(AsksWhoIsThere):
    """Where the links to a new password go: with another's address in it a browser left open is an
    account lost."""

    email = email_field()
