"""An account of one's own: a name, a password and, for who wants to be told of results, an e-mail address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm as DjangoPasswordChangeForm
from django.contrib.auth.forms import SetPasswordForm
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.join import AccountForm
from dialeval_site.demo import is_demo_password

EMAIL_HELP = gettext_lazy("Told only to organisers. Without one you get no messages when a submission is scored.")


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
            "To log in with. Letters, figures and @ . + - _ only. Your team's members and organisers see it; "
            "leaderboards show the team's name alone."
        )

    def clean_password(self) -> str:
        return refuse_demo_password(self.cleaned_data["password"])


class EmailForm(forms.Form):
    email = email_field()


class PasswordChangeForm(DjangoPasswordChangeForm):
    def clean_new_password1(self) -> str:
        return refuse_demo_password(self.cleaned_data["new_password1"])


class NewPasswordForm(SetPasswordForm):
    def clean_new_password1(self) -> str:
        return refuse_demo_password(self.cleaned_data["new_password1"])


def refuse_demo_password(password: str) -> str:
    """In production such a password opens nothing (``dialeval_site.backends``): its owner would be locked out."""
    if is_demo_password(password):
        raise forms.ValidationError(_("This password is printed in the project's pages. Choose another one."))
    return password
