from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.forms.rating import JudgementForm, RatingForm

LARGEST_RANGE = 1_000_000


class RuleForm(forms.Form):
    """From which difference on an item is adjudicated."""

    points = forms.FloatField(
        min_value=0.001,
        max_value=LARGEST_RANGE,
        label=_("Least difference, in points of the scale"),
        help_text=_(
            "Highest minus lowest score of an item. Yes/no questions and choices without values "
            "are adjudicated wherever raters differ, preferences wherever they prefer another."
        ),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    by_raters = forms.BooleanField(
        required=False,
        label=_("A further rater decides"),
        help_text=_(
            "When all k ratings of an item are there, it goes to a rater of the campaign who has "
            "not rated it, without the others' answers. You can change what was decided."
        ),
    )


class DecidedScoreForm(RatingForm):
    """A score from 1 to 5, without axes."""

    def clean(self) -> dict[str, Any]:
        return JudgementForm.clean(self)
