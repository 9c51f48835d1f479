"""What a rater's page sends of an item, and what of it is taken."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.actions.work_queue import Judgement
from annotations.campaigns.models import Campaign, Guidelines
from annotations.campaigns.models.assignment import LONGEST_COMMENT
from annotations.campaigns.scale import HIGHEST, LOWEST
from common.text import DIGITS_OF_A_KEY, parse_integer, text_fault

LONGEST_SKIP_REASON = 500
LONGEST_MS = 2**31 - 1
PUBLIC_ID = re.compile(r"\A[A-Za-z0-9_-]{1,24}\Z")
KEY = re.compile(r"\A[A-Za-z0-9_-]{1,64}\Z")
LATEST_SHOWN_MS = 253_402_300_799_000
"""The last millisecond of the year 9999: later ones are no date."""


class TextField(forms.CharField):
    """Text that every database can store."""

    def __init__(self, *, limit: int, **kwargs: Any) -> None:
        self.limit = limit
        super().__init__(**kwargs)
        self.validators = []  # NUL is told with the rest, below

    def clean(self, value: Any) -> str:
        text = str(super().clean(value))
        if fault := text_fault(text, self.limit, may_be_empty=True):
            raise forms.ValidationError(_("The text %(fault)s."), params={"fault": fault})
        return text


class TimingField(forms.Field):
    """Milliseconds. A browser's broken clock does not cost a rating: what cannot be is left out."""

    def __init__(self, highest: int = LONGEST_MS) -> None:
        self.highest = highest
        super().__init__(required=False)

    def clean(self, value: Any) -> int | None:
        number = parse_integer(str(value or "").strip(), DIGITS_OF_A_KEY)
        return None if number is None or number > self.highest else number


class JudgementForm(forms.Form):
    """What is sent with every rating, whatever it answers."""

    item = forms.RegexField(
        PUBLIC_ID, error_messages={"required": gettext_lazy("It is not said which item is rated.")}
    )
    key = forms.RegexField(KEY, error_messages={"required": gettext_lazy("The rating has no key.")})
    flagged = forms.BooleanField(required=False)
    comment = TextField(limit=LONGEST_COMMENT, required=False)
    guidelines = forms.IntegerField(required=False, min_value=1, max_value=LONGEST_MS)
    first_key_ms = TimingField()
    submit_ms = TimingField()
    active_ms = TimingField()
    shown_ms = TimingField(LATEST_SHOWN_MS)
    needs_axes = False

    def __init__(
        self,
        campaign: Campaign,
        *args: Any,
        newest_guidelines: tuple[int | None, int | None] = (None, None),
        **kwargs: Any,
    ) -> None:
        """``newest_guidelines``: their number and key, where known: nearly every rating is made by
        them."""
        super().__init__(*args, **kwargs)
        self.campaign, self.newest_guidelines = campaign, newest_guidelines

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        number = cleaned.get("guidelines")
        newest, newest_id = self.newest_guidelines
        if number is None or number == newest:
            cleaned["guidelines_id"] = None if number is None else newest_id
        else:
            older = Guidelines.objects.filter(campaign=self.campaign, number=number)
            cleaned["guidelines_id"] = older.values_list("pk", flat=True).first()
            if cleaned["guidelines_id"] is None:
                self.add_error("guidelines", _("The campaign has no guidelines of this number."))
        return cleaned

    def judgement(self) -> Judgement:
        given = self.cleaned_data
        shown = given["shown_ms"]
        return Judgement(
            key=given["key"],
            score=given.get("score"),
            low_axes=given.get("low_axes"),
            flagged=given["flagged"],
            comment=given["comment"],
            guidelines_id=given["guidelines_id"],
            first_key_ms=given["first_key_ms"],
            submit_ms=given["submit_ms"],
            active_ms=given["active_ms"],
            shown_at=None if shown is None else datetime.fromtimestamp(shown / 1000, UTC),
            form=given.get("form_version"),
            answers=given.get("answers"),
            question_ms=given.get("question_ms"),
        )


class RatingForm(JudgementForm):
    """One score. ``needs_axes`` after ``is_valid()``: it is low, and the page has not asked for
    axes yet."""

    score = forms.TypedChoiceField(
        coerce=int,
        choices=[(score, score) for score in range(LOWEST, HIGHEST + 1)],
        error_messages={
            "required": gettext_lazy("Choose a score from 1 to 5."),
            "invalid_choice": gettext_lazy("A score is a whole number from 1 to 5."),
        },
    )
    axis = forms.MultipleChoiceField(required=False)
    axes_asked = forms.BooleanField(required=False)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(campaign, *args, **kwargs)
        self.fields["axis"].choices = [(axis["key"], axis["name"]) for axis in campaign.axes]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        score = cleaned.get("score")
        if score is None or "axis" not in cleaned:
            return cleaned
        marked = list(dict.fromkeys(cleaned["axis"]))
        if not has_axes(self.campaign, score):
            if marked:
                self.add_error("axis", _("Axes are marked only where the score asks for them."))
            cleaned["low_axes"] = None
        elif not marked and not cleaned.get("axes_asked"):
            self.needs_axes = True
            self.add_error("axis", _("Say what was low, or that it was none of these."))
        else:
            cleaned["low_axes"] = marked
        return cleaned


def has_axes(campaign: Campaign, score: int) -> bool:
    return bool(campaign.axes) and campaign.axes_below is not None and score < campaign.axes_below


class SkipForm(forms.Form):
    """Why an item is not rated: one of the usual reasons, or other words."""

    item = forms.RegexField(PUBLIC_ID)
    reason = TextField(limit=LONGEST_SKIP_REASON, required=False)
    words = TextField(limit=LONGEST_SKIP_REASON, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        texts = [text for name in ("reason", "words") if (text := cleaned.get(name, ""))]
        if not texts and not self.errors:
            self.add_error("words", _("Say why you skip it."))
        cleaned["why"] = ": ".join(texts)
        if len(cleaned["why"]) > LONGEST_SKIP_REASON:
            self.add_error(
                "words", _("Say it in at most %(n)s characters.") % {"n": LONGEST_SKIP_REASON}
            )
        return cleaned
