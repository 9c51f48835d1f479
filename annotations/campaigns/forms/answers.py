"""The answers to a campaign's form as the rating page sends them, and what of them is taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.rating import LONGEST_MS, JudgementForm
from annotations.campaigns.models import Campaign, FormVersion
from annotations.questions.answers import AnswerError, Material, check, from_fields
from annotations.questions.schema import Form, Question

SPANS_AT_ONCE = 5
"""Rows for marked spans, without a script."""
MOST_SPAN_ROWS = 200
_SPAN_FIELD = re.compile(r"\A(\d{1,3})\.(text|label|severity|start|utterance)\Z")


def control_name(key: str, *parts: str) -> str:
    """The name of a control of a question, as ``answers.from_fields`` reads it."""
    return ".".join(("q", key, *parts))


class AnswersForm(JudgementForm):
    """Answers to one version of the campaign's form: the newest, or that of a page loaded before it
    changed. ``raw`` and ``faults`` are by question, for the page that shows them again."""

    form = forms.IntegerField(
        min_value=1,
        max_value=LONGEST_MS,
        error_messages={
            "required": gettext_lazy("It is not said which version of the form is answered.")
        },
    )

    def __init__(
        self, campaign: Campaign, *args: Any, material: Callable[[], Material], **kwargs: Any
    ) -> None:
        """``material``: what the item shows; read only where answers name parts of it."""
        super().__init__(campaign, *args, **kwargs)
        self.material = material
        self.raw: dict[str, Any] = {}
        self.faults: dict[str, str] = {}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        number = cleaned.get("form")
        if number is None:
            return cleaned
        version = self._version(number)
        if version is None:
            self.add_error("form", _("The campaign has no form of this number."))
            return cleaned
        schema = version.parsed()
        material = Material({})
        if any(
            question.type in ("span", "utterance_labels", "correction")
            or (question.type in ("ranking", "best_worst") and not question.options)
            for question in schema.questions
        ):
            material = self.material()
        fields = dict(self.data.lists())
        self.raw = from_fields(schema, fields) | {
            question.key: spans_of(question, fields, material)
            for question in schema.questions
            if question.type == "span"
        }
        for question in schema.questions:
            # The page begins with the response: who leaves it as it is has corrected nothing
            if question.type == "correction":
                sent = str(self.raw.get(question.key) or "").replace("\r\n", "\n").strip()
                if sent in [text.strip() for text in material.utterances.values()]:
                    self.raw[question.key] = None
        cleaned["form_version"] = version
        try:
            cleaned["answers"] = check(schema, self.raw, material)
        except AnswerError as error:
            self.faults = error.messages
            for key, text in error.messages.items():
                self.add_error(None, f"{schema.question(key).name}: {text}" if key else text)
        cleaned["question_ms"] = self._times(schema)
        return cleaned

    def _version(self, number: int) -> FormVersion | None:
        newest = self.campaign.form
        if newest is not None and newest.number == number:
            return newest
        return FormVersion.objects.filter(campaign=self.campaign, number=number).first()

    def _times(self, schema: Form) -> dict[str, int]:
        read = self.fields["submit_ms"].clean
        times = {
            question.key: read(self.data.get(f"ms.{question.key}")) for question in schema.questions
        }
        return {key: time for key, time in times.items() if time is not None}


def spans_of(
    question: Question, fields: Mapping[str, Sequence[str]], material: Material
) -> list[dict[str, Any]] | None:
    """Rows of copied words, with their label, as spans. Words that stand in no utterance shown have
    no place, which ``check`` refuses; None where the question was not on the page."""
    begin = control_name(question.key) + "."
    rows: dict[int, dict[str, str]] = {}
    for name, values in fields.items():
        if name.startswith(begin) and (found := _SPAN_FIELD.match(name[len(begin) :])):
            rows.setdefault(int(found[1]), {})[found[2]] = values[-1]
    if not rows:
        return [] if f"{begin}asked" in fields else None
    written = [rows[number] for number in sorted(rows) if rows[number].get("text", "").strip()]
    return [_span(question, row, material) for row in written[: MOST_SPAN_ROWS + 1]]


def _span(question: Question, row: Mapping[str, str], material: Material) -> dict[str, Any]:
    text = row["text"].replace("\r\n", "\n")
    number, start = _place(text, row, material)
    span = {
        "utterance": number,
        "start": start,
        "end": start + len(text),
        "label": row.get("label", ""),
    }
    return span | ({"severity": row.get("severity", "")} if question.severities else {})


def _place(text: str, row: Mapping[str, str], material: Material) -> tuple[int, int]:
    """(utterance, start): where the page's script says that it is, else where it stands first."""
    utterance, start = row.get("utterance", ""), row.get("start", "")
    if utterance.isdecimal() and start.isdecimal() and len(utterance + start) < 12:
        number, at = int(utterance), int(start)
        if material.utterances.get(number, "")[at : at + len(text)] == text:
            return number, at
    for number, whole in material.utterances.items():
        if (at := whole.find(text)) >= 0:
            return number, at
    return 0, 0
