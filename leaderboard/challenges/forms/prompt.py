"""Writing a prompt, or handing in its JSON: both become one document, and one reader says what is
wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.formats.importers.problems import ImportFailed, Problem
from leaderboard.challenges.actions.receiving import LONGEST_DESCRIPTION, LONGEST_NAME
from leaderboard.challenges.prompts.spec import (
    HIGHEST_SEED,
    LARGEST_FILE,
    LONGEST_TEXT,
    MOST_STOPS,
    MOST_TOKENS,
    Prompt,
    Settings,
    read_prompt,
)

STARTING_SYSTEM = (
    "You are speaker B in a conversation. This is who you are:\n{persona}\n\nAnswer A's last "
    "message in one or two short, natural sentences. Stay who you are, and write only what you "
    "say."
)
STARTING_USER = "{history}\nB:"
"""What the form starts from."""
FIELD_OF = {
    "$.system": "system",
    "$.user": "user",
    "$.second": "second_user",
    "$.second.system": "second_system",
    "$.second.user": "second_user",
    "$.settings.temperature": "temperature",
    "$.settings.top_p": "top_p",
    "$.settings.max_tokens": "max_tokens",
    "$.settings.stop": "stop",
    "$.settings.seed": "seed",
}
_with_numbers = lazy(lambda text, **numbers: text % numbers, str)


class TemplateField(forms.CharField):
    """A text that is judged with the whole prompt. Browsers send line ends as two characters; a
    line end is one."""

    def __init__(self, rows: int, **named: Any) -> None:
        super().__init__(
            strip=False,
            widget=forms.Textarea(
                attrs={"rows": rows, "spellcheck": "true", "dir": "auto", "class": "template"}
            ),
            **named,
        )
        self.validators = []

    def to_python(self, value: Any) -> str:
        return super().to_python(value).replace("\r\n", "\n").replace("\r", "\n")


class NameFields(forms.Form):
    """What the submission is called. Its limits are ``actions.receiving.receive``'s to explain."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name of the system"),
        help_text=gettext_lazy("The leaderboard shows it beside your team's name."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        max_length=LONGEST_DESCRIPTION,
        required=False,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy(
            "What is new in this prompt; up to 2,000 characters. Organisers read it, and "
            "everybody once they publish the system."
        ),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class PromptForm(NameFields):
    """``prompt`` is the prompt that was written, where the form is valid. ``most_calls``: what the
    round allows.

    ``is_named`` is False where the prompt is only looked at or downloaded: then a name may be
    missing.
    """

    system = TemplateField(
        7,
        required=False,
        label=gettext_lazy("System message"),
        help_text=gettext_lazy("Empty: none is sent."),
    )
    user = TemplateField(7, label=gettext_lazy("User message"))
    second_system = TemplateField(
        3, required=False, label=gettext_lazy("System message of the second call")
    )
    second_user = TemplateField(
        4,
        required=False,
        label=gettext_lazy("User message of the second call"),
        help_text=gettext_lazy(
            "With text here the model is called twice, and its second answer is the response."
        ),
    )
    temperature = forms.FloatField(
        required=False,
        label=gettext_lazy("Temperature"),
        help_text=gettext_lazy("From 0, the likeliest word, to 2."),
        widget=forms.NumberInput(attrs={"step": "any", "min": 0, "max": 2, "inputmode": "decimal"}),
    )
    top_p = forms.FloatField(
        required=False,
        label=gettext_lazy("Top p"),
        help_text=gettext_lazy("Above 0, at most 1."),
        widget=forms.NumberInput(attrs={"step": "any", "min": 0, "max": 1, "inputmode": "decimal"}),
    )
    max_tokens = forms.IntegerField(
        required=False,
        label=gettext_lazy("Longest answer, in tokens"),
        help_text=_with_numbers(
            gettext_lazy("Of each call, 1 to %(most)s."), most=f"{MOST_TOKENS:,}"
        ),
        widget=forms.NumberInput(attrs={"min": 1, "max": MOST_TOKENS}),
    )
    seed = forms.IntegerField(
        required=False,
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy("Another number, another draw of answers."),
        widget=forms.NumberInput(attrs={"min": 0, "max": HIGHEST_SEED}),
    )
    stop = TemplateField(
        2,
        required=False,
        label=gettext_lazy("Texts at which an answer stops"),
        help_text=_with_numbers(
            gettext_lazy("One a line, up to %(most)s. \\n is a line break."),
            most=str(MOST_STOPS),
        ),
    )

    def __init__(
        self, *arguments: Any, most_calls: int, is_named: bool = True, **named: Any
    ) -> None:
        super().__init__(*arguments, **named)
        self.most_calls = most_calls
        self.fields["name"].required = is_named
        self.prompt: Prompt | None = None
        if most_calls < 2:
            del self.fields["second_system"], self.fields["second_user"]

    @property
    def template_fields(self) -> list[forms.BoundField]:
        return [self["system"], self["user"]]

    @property
    def second_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("second_system", "second_user") if name in self.fields]

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("temperature", "top_p", "max_tokens", "seed")]

    @property
    def has_second(self) -> bool:
        """Whether the second call's fields are worth unfolding."""
        return any(field.value() or field.errors for field in self.second_fields)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if any(name in self.errors for name in ("temperature", "top_p", "max_tokens", "seed")):
            return cleaned
        try:
            self.prompt = read_prompt(_document_of(cleaned), self.most_calls)
        except ImportFailed as failure:
            for problem in failure.problems:
                self._tell(problem)
        return cleaned

    def _tell(self, problem: Problem) -> None:
        path = f"{problem.where}.{problem.field}".partition("[")[0]
        field = FIELD_OF.get(path)
        if field is None or field not in self.errors:
            self.add_error(field, _sentence(problem.message))


def _document_of(cleaned: dict[str, Any]) -> bytes:
    """The form's content as the file that it stands for. What is left empty is the default."""
    numbers = {name: cleaned.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    settings = {name: number for name, number in numbers.items() if number is not None}
    stops = [line.replace("\\n", "\n") for line in cleaned.get("stop", "").split("\n") if line]
    document: dict[str, Any] = {
        "system": cleaned.get("system", ""),
        "user": cleaned.get("user", ""),
        "settings": {**settings, "stop": stops},
    }
    second = {"system": cleaned.get("second_system", ""), "user": cleaned.get("second_user", "")}
    if any(text.strip() for text in second.values()):
        document["second"] = second
    return json.dumps(document).encode()


def _sentence(message: str) -> str:
    """A problem's words, which follow a field's name elsewhere, standing alone."""
    return f"{message[:1].upper()}{message[1:]}."


def initial_of(prompt: Prompt) -> dict[str, Any]:
    """The form's fields with this prompt in them."""
    second = prompt.second
    return {
        "system": prompt.first.system,
        "user": prompt.first.user,
        "second_system": second.system if second else "",
        "second_user": second.user if second else "",
        "stop": "\n".join(stop.replace("\n", "\\n") for stop in prompt.settings.stop),
        **{name: f"{getattr(prompt.settings, name):g}" for name in ("temperature", "top_p")},
        **{name: getattr(prompt.settings, name) for name in ("max_tokens", "seed")},
    }


def starting_values() -> dict[str, Any]:
    settings = Settings()
    return {
        "system": STARTING_SYSTEM,
        "user": STARTING_USER,
        "temperature": f"{settings.temperature:g}",
        "top_p": f"{settings.top_p:g}",
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
    }


class PromptFileForm(NameFields):
    """A prompt's JSON from a file. ``problems`` are told all at once; nothing is stored while there
    are any."""

    file = forms.FileField(
        label=gettext_lazy("Prompt as JSON"),
        allow_empty_file=True,
        help_text=_with_numbers(
            gettext_lazy(
                "With system, user and, where you like, second and settings; each text at most "
                "%(most)s characters."
            ),
            most=f"{LONGEST_TEXT:,}",
        ),
        widget=forms.FileInput(attrs={"accept": ".json,application/json"}),
    )
    field_order = ("file", "name", "description")

    def __init__(self, *arguments: Any, most_calls: int, **named: Any) -> None:
        super().__init__(*arguments, prefix="file", **named)
        self.most_calls = most_calls
        self.prompt: Prompt | None = None
        self.problems: Sequence[Problem] = ()
        self.more_problems = False

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        data = file.read(LARGEST_FILE + 1)
        try:
            self.prompt = read_prompt(data, self.most_calls, str(file.name)[:100])
        except ImportFailed as failure:
            self.problems, self.more_problems = failure.problems, failure.stopped
            raise forms.ValidationError(
                _("This is no prompt that can be run. Please correct the errors below.")
            ) from None
        return file
