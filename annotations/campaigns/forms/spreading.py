"""How ratings are spread over systems, and when enough are there: the form's part that says so."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.models import Campaign
from annotations.campaigns.scale import HIGHEST_RATING_WIDTH, HIGHEST_WIDTH

Target = Campaign.Target
TARGETS = (
    (Target.NONE.value, gettext_lazy("until every item has all its ratings")),
    (Target.PAIRS.value, gettext_lazy("until enough pairs of systems differ significantly")),
    (Target.WIDTH.value, gettext_lazy("until every system's interval is narrow enough")),
)


class _Preset(forms.ChoiceField):
    """Who leaves it out has what stands there from the start."""

    def clean(self, value: Any) -> Any:
        return super().clean(value or self.initial)


class AllocationFields(forms.Form):
    """Of responses, dialogues and pairs of them: a chat's systems and a collection's pairs are not
    drawn from slots by system."""

    allocation = _Preset(
        choices=Campaign.Allocation.choices,
        initial=Campaign.Allocation.UNIFORM,
        label=gettext_lazy("How ratings are spread over systems"),
        help_text=gettext_lazy(
            "Where the order is least sure: each item is of a system drawn with a probability "
            "that is stored with the rating. A fifth of the draws stays even, so no system is "
            "given up. It takes fewer ratings to the right order of systems; for "
            "significant differences between pairs it takes about as many."
        ),
    )
    target = _Preset(
        choices=TARGETS,
        initial=Target.NONE,
        label=gettext_lazy("How long raters work"),
        help_text=gettext_lazy(
            "With a target the ratings are looked at 20 times, with intervals that allow for it. "
            "When the target is met, raters get no more items, and you may close the campaign or "
            "let it go on to all ratings."
        ),
    )
    target_pairs = forms.FloatField(
        required=False,
        min_value=1,
        max_value=100,
        label=gettext_lazy("Pairs of systems that differ significantly, in percent"),
        help_text=gettext_lazy(
            "Of all pairs, those whose difference has an interval without 0. All of them is much: "
            "two systems that are equally good never differ."
        ),
    )
    target_width = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=HIGHEST_WIDTH,
        label=gettext_lazy("Width of the widest interval, in points of the scale"),
        help_text=gettext_lazy("From end to end: 0.5 is the mean ± 0.25."),
    )
    budget = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label=gettext_lazy("Comparisons at most"),
        help_text=gettext_lazy("The budget. Empty: all pairs, by k raters each."),
    )

    def ask_of_pairs(self) -> None:
        """What is spread are comparisons, and systems have ratings, not means."""
        fields = self.fields
        fields["allocation"].label = _("How comparisons are spread over pairs of systems")
        fields["allocation"].help_text = _(
            "Where the order is least sure: the two systems of each comparison are drawn with a "
            "probability that is stored with it, in proportion to what the comparison is expected "
            "to narrow. A fifth of the draws stays even, so every pair may come."
        )
        fields["target_width"] = forms.FloatField(
            required=False,
            min_value=1,
            max_value=HIGHEST_RATING_WIDTH,
            label=_("Width of the widest interval, in points of the rating"),
            help_text=_("From end to end: 100 is the rating ± 50. 400 points are odds of 10."),
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        target = cleaned.get("target")
        if target not in (None, "", Target.NONE):
            field = f"target_{target}"
            if cleaned.get(field) is None and field not in self.errors:
                self.add_error(field, _("Say how much is enough."))
        for other in ("target_pairs", "target_width"):
            if other != f"target_{target}":
                self.errors.pop(other, None)  # nobody asks for it
        return cleaned

    def spread(self) -> dict[str, Any]:
        """Of a valid form, as ``CampaignParams`` takes it."""
        cleaned = self.cleaned_data
        if "allocation" not in cleaned:
            return {}
        target = cleaned["target"]
        value = None if target == Target.NONE else cleaned[f"target_{target}"]
        return {
            "allocation": cleaned["allocation"],
            "target": target,
            "target_value": value,
            "budget": cleaned.get("budget"),
        }
