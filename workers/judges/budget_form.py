"""What a judge may cost, as a person types it: for a run on a corpus, for a challenge, for a
trial."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.judges.ledger import Charge, balance_of
from workers.judges.models import Purse

MOST_TOKENS = 10**15
LEAST_USD = Decimal("0.00000001")


class BudgetForm(forms.Form):
    """Two limits, each of which may be left empty: then there is none.

    ``purse``: whose limits they are; a limit below what is spent is refused. ``why_no_usd``: why
    money cannot be counted, such as that the model has no price here; a limit in money is then
    refused with it.
    """

    tokens = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_TOKENS,
        label=gettext_lazy("Tokens"),
        help_text=gettext_lazy("Of prompts and answers together. Empty: no limit."),
        error_messages={"min_value": gettext_lazy("From 1. Left empty, there is no limit.")},
    )
    usd = forms.DecimalField(
        required=False,
        min_value=LEAST_USD,
        max_digits=16,
        decimal_places=8,
        label=gettext_lazy("USD"),
        help_text=gettext_lazy("Empty: no limit."),
        widget=forms.NumberInput(attrs={"step": "any", "min": "0"}),
        error_messages={"min_value": gettext_lazy("More than 0. Left empty, there is no limit.")},
    )

    def __init__(
        self,
        data: Any = None,
        *,
        purse: Purse | None = None,
        why_no_usd: str = "",
        initial: Any = None,
        **kwargs: Any,
    ) -> None:
        self.purse = purse
        self.why_no_usd = why_no_usd
        if purse is not None and initial is None:
            initial = {"tokens": purse.tokens_limit, "usd": plain(purse.cost_limit)}
        super().__init__(data, initial=initial, **kwargs)

    def clean_tokens(self) -> int | None:
        tokens: int | None = self.cleaned_data["tokens"]
        charged = Charge() if self.purse is None else balance_of(self.purse).charged
        if tokens is not None and tokens < charged.tokens:
            spent = f"{charged.tokens:,}"
            raise forms.ValidationError(
                _("%(spent)s are spent already: give at least as many.") % {"spent": spent}
            )
        return tokens

    def clean_usd(self) -> Decimal | None:
        usd: Decimal | None = self.cleaned_data["usd"]
        if usd is None:
            return None
        if self.why_no_usd:
            raise forms.ValidationError(self.why_no_usd)
        charged = Charge() if self.purse is None else balance_of(self.purse).charged
        if usd < charged.cost:
            spent = f"{plain(charged.cost)}"
            raise forms.ValidationError(
                _("%(spent)s USD are spent already: give at least as much.") % {"spent": spent}
            )
        return usd


def plain(amount: Decimal | None) -> str | None:
    """``10`` and ``0.25``, not ``10.00000000``."""
    return None if amount is None else f"{amount.normalize():f}"
