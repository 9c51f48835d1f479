"""Fields of the organisers' forms: text that every database can store, rows, axes, moments in
UTC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.queries.ratings import OVERALL
from common.text import DIGITS_OF_A_KEY, parse_integer, text_fault

MOST_AXES = 12
LONGEST_AXIS_NAME, LONGEST_QUESTION = 60, 200


class PlainText(forms.CharField):
    """Text that every database can store."""

    def to_python(self, value: Any) -> str:
        text = super().to_python(value)
        if fault := text_fault(text, self.max_length or 20_000, may_be_empty=True):
            raise forms.ValidationError(_("This text %(fault)s.") % {"fault": fault})
        return text


class RowsField(forms.ModelMultipleChoiceField):
    """A key longer than any row's is told as one that is not there; SQLite would raise."""

    def clean(self, value: Any) -> Any:
        wrong = next((key for key in value or () if as_key(str(key)) is None), None)
        if wrong is not None:
            raise forms.ValidationError(
                self.error_messages["invalid_pk_value"], params={"pk": wrong}
            )
        return super().clean(value)


class AxesField(PlainText):
    """A line for each axis, "name: question"; cleaned to [{key, name, question}, …]."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_length=MOST_AXES * (LONGEST_AXIS_NAME + LONGEST_QUESTION + 4), strip=True, **kwargs
        )

    def clean(self, value: Any) -> list[dict[str, str]]:  # type: ignore[override]
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(lines) > MOST_AXES:
            raise forms.ValidationError(
                _("At most %(most)s axes; these are %(count)s.")
                % {"most": MOST_AXES, "count": len(lines)}
            )
        axes: list[dict[str, str]] = []
        for number, line in enumerate(lines, start=1):
            axis = _axis(line, number)
            if axis["key"] == OVERALL:
                raise forms.ValidationError(
                    _(
                        "Line %(number)s: the score itself is called %(name)s; an axis needs "
                        "another name."
                    )
                    % {"number": number, "name": OVERALL}
                )
            if axis["key"] in {other["key"] for other in axes}:
                raise forms.ValidationError(
                    _("Line %(number)s names an axis again.") % {"number": number}
                )
            axes.append(axis)
        return axes


def _axis(line: str, number: int) -> dict[str, str]:
    name, _colon, question = (part.strip() for part in line.partition(":"))
    if not name:
        raise forms.ValidationError(
            _("Line %(number)s has no name before the colon.") % {"number": number}
        )
    if len(name) > LONGEST_AXIS_NAME or len(question) > LONGEST_QUESTION:
        raise forms.ValidationError(
            _(
                "Line %(number)s is too long: a name has at most %(name)s characters, a question "
                "%(question)s."
            )
            % {"number": number, "name": LONGEST_AXIS_NAME, "question": LONGEST_QUESTION}
        )
    return {"key": axis_key(name, number), "name": name, "question": question}


def axis_key(name: str, number: int) -> str:
    """What forms and files call the axis: the name in plain letters, or its number where it has
    none."""
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_") or f"axis_{number}"


def axes_as_text(axes: Iterable[dict[str, Any]]) -> str:
    return "\n".join(
        f"{axis['name']}: {axis['question']}" if axis["question"] else axis["name"] for axis in axes
    )


def utc_moment(label: str, help_text: str) -> forms.DateTimeField:
    return moment_field(label, help_text, gettext_lazy("Write it as 2026-11-20T18:00, in UTC."))


def moment_field(label: str, help_text: str, how_to_write: str) -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label,
        help_text=help_text,
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        error_messages={"invalid": how_to_write},
    )


def as_key(text: str) -> int | None:
    return parse_integer(text, DIGITS_OF_A_KEY)
