"""The form with which a person makes a token."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.roles import is_organiser
from dialeval_site.accounts.tokens import LONGEST_NAME, USUAL_DAYS, NotMade, check
from dialeval_site.accounts.two_factor_forms import AsksWhoIsThere

DAYS = ((7, gettext_lazy("7 days")), (30, gettext_lazy("30 days")), (90, gettext_lazy("90 days")))
LONGEST_DAYS = (365, gettext_lazy("365 days, the most"))
WORDS = {
    "read": gettext_lazy("read: what your pages show"),
    "submit": gettext_lazy("submit: join teams, submit, cancel"),
    "export": gettext_lazy("export: download whole corpora"),
    "organise": gettext_lazy("organise: what organisers do, as long as you are one"),
}


class TokenForm(AsksWhoIsThere):
    """As the API does, it asks who is there: a token outlives the log-in that it was made from."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("What you will know it by, such as the machine that uses it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("What it may be used for"),
        widget=forms.CheckboxSelectMultiple,
        initial=["read", "submit"],
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("It ends after"),
        choices=[*DAYS, LONGEST_DAYS],
        coerce=int,
        initial=USUAL_DAYS,
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        self.user = user
        known = [name for name in WORDS if name != "organise" or is_organiser(user)]
        self.fields["scopes"].choices = [(name, WORDS[name]) for name in known]
        self.fields["scopes"].error_messages["required"] = _("Choose at least one.")

    @property
    def params(self) -> dict[str, Any]:
        """What a sound form asks for."""
        return {name: self.cleaned_data[name] for name in ("name", "scopes", "days")}

    def clean(self) -> dict[str, Any]:
        """Before the code is looked at, which is good for one token."""
        cleaned = super().clean() or {}
        if not self.errors.keys() & {"name", "scopes", "days"}:
            try:
                check(self.user, **self.params)
            except NotMade as refusal:
                self.add_error(refusal.field, refusal.message)
        return cleaned
