"""Adding a corpus in the browser, and who sees it."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import validate_slug
from django.db.models import Q
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.formats.importers.registry import importers, likely_format, what_to_do
from annotations.languages import language_fault
from annotations.models import Corpus
from common.text import text_fault

EVERYBODY, ORGANISERS = "everybody", "organisers"
SEEN_BY = [
    (EVERYBODY, gettext_lazy("everybody, without logging in")),
    (ORGANISERS, gettext_lazy("organisers only, until you show it")),
]


def _longest(field: str) -> int:
    return int(Corpus._meta.get_field(field).max_length or 0)


class CorpusForm(forms.Form):
    """What the file itself must be is said by its importer."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        max_length=None,
        error_messages={
            "required": gettext_lazy("Choose a file."),
            "empty": gettext_lazy("The file is empty."),
        },
    )
    format = forms.ChoiceField(label=gettext_lazy("Format"), initial="jsonl")
    name = forms.CharField(
        required=False,
        max_length=_longest("name"),
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("As pages call it. Left empty, what the file says."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    slug = forms.CharField(
        required=False,
        max_length=_longest("slug"),
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "The last part of the corpus's address, which commands use, too. Left empty, it is "
            "made from the name above or, without one, from the file's."
        ),
        validators=[validate_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    language = forms.CharField(
        required=False,
        max_length=3,
        label=gettext_lazy("Language"),
        help_text=gettext_lazy(
            "Its two- or three-letter code, such as en, zh or ja: words are counted by it. Left "
            "empty, what the file says, else it is guessed from the texts."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    seen_by = forms.ChoiceField(
        label=gettext_lazy("Who sees it"),
        choices=SEEN_BY,
        initial=ORGANISERS,
        widget=forms.RadioSelect,
    )
    is_new_version = forms.BooleanField(
        required=False,
        label=gettext_lazy("A new version of a corpus that is here"),
        help_text=gettext_lazy("The older versions stay. Its name and who sees it stay, too."),
    )

    likely_format = ""
    """What the file looks like, where that is not what it was said to be."""
    what_to_do = ""
    """With a file of another program that no importer takes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            (one.name, f"{one.name}: {one.summary}") for one in reversed(importers().values())
        ]

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > settings.MAX_CORPUS_UPLOAD_BYTES:
            raise forms.ValidationError(
                _(
                    "The file is larger than %(limit)s MB. Import it on the server: manage.py "
                    "import_corpus."
                ),
                params={"limit": settings.MAX_CORPUS_UPLOAD_BYTES // 1_000_000},
            )
        return file

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if fault := text_fault(name, _longest("name"), may_be_empty=True):
            raise forms.ValidationError(_("The name %(fault)s."), params={"fault": fault})
        return name

    def clean_language(self) -> str:
        language = str(self.cleaned_data["language"]).strip().lower()
        if fault := language_fault(language):
            raise forms.ValidationError(_("The language %(fault)s."), params={"fault": fault})
        return language

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned["slug"]:
            file_name = PurePath(cleaned["file"].name).stem
            slug = slugify(cleaned["name"]) or slugify(file_name)
            cleaned["slug"] = slug[: _longest("slug")]
            if not cleaned["slug"]:
                self.add_error("slug", _("Give it an address of letters, figures and hyphens."))
        if not self.errors and cleaned["is_new_version"]:
            slug = cleaned["slug"]
            # Or it is the first half of the addresses of a file's several corpora
            known = Q(slug=slug) | Q(slug__startswith=f"{slug}-")
            if not Corpus.objects.filter(known).exists():
                message = _("There is no corpus %(slug)s, so this can be no new version of it.")
                self.add_error("slug", message % {"slug": slug})
        return cleaned

    def offer_the_format_that_the_file_has(self) -> None:
        """After the file could not be read: where its beginning is that of another format, that one
        is chosen in the form that is shown again, and said. Where it is another program's, what to
        do with it is said."""
        path = Path(self.cleaned_data["file"].temporary_file_path())
        likely, self.what_to_do = likely_format(path)[0], what_to_do(path)
        if not likely or likely == self.cleaned_data["format"]:
            return
        self.likely_format = likely
        self.data = self.data.copy()
        self.data["format"] = likely


class SeenByForm(forms.Form):
    seen_by = forms.ChoiceField(
        label=gettext_lazy("Who sees it"), choices=SEEN_BY, widget=forms.RadioSelect
    )
