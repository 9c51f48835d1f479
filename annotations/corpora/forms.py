"""Adding a corpus in the browser, and who sees it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import validate_slug
from django.db.models import Q
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.corpora import pending_uploads
from annotations.corpora.addresses import BROWSER_BYTES, BROWSER_SECONDS, fetched_file
from annotations.corpora.pending_uploads import PendingUpload
from annotations.formats.importers.column_mapping import USES, Column, TableMapping
from annotations.formats.importers.registry import importers
from annotations.languages import language_fault
from annotations.models import Corpus
from annotations.sources.remote import NotFetched
from common.temporary import temporary_folder
from common.text import text_fault

EVERYBODY, ORGANISERS = "everybody", "organisers"
SEEN_BY = [
    (EVERYBODY, gettext_lazy("everybody, without logging in")),
    (ORGANISERS, gettext_lazy("organisers only, until you show it")),
]


MAX_DESCRIPTION = 20_000
MAX_MAPPED_COLUMNS = 60
"""A wider table is mapped by a file and the command."""


def _longest(field: str) -> int:
    return int(Corpus._meta.get_field(field).max_length or 0)


def mapping_in(data: Mapping[str, str]) -> TableMapping | None:
    """What the columns of a table are, where a form says it."""
    columns: dict[str, Column] = {}
    for place in range(MAX_MAPPED_COLUMNS):
        name, use = data.get(f"column-{place}"), data.get(f"use-{place}")
        if name is None or use not in USES:
            break
        is_judged = use in ("score", "label")
        aspect, rater = (
            data.get(f"{part}-{place}", "").strip()[:100] if is_judged else ""
            for part in ("aspect", "rater")
        )
        columns[name] = Column(use, aspect, rater)
    return TableMapping(columns) if columns else None


class UploadForm(forms.Form):
    """A file that is shown before it is stored, and what the columns of a table are. What the file
    itself must be is said by its importer."""

    file = forms.FileField(
        required=False,
        label=gettext_lazy("File"),
        max_length=None,
        error_messages={"empty": gettext_lazy("The file is empty.")},
    )
    uploaded = forms.CharField(required=False, widget=forms.HiddenInput)

    upload: PendingUpload | None = None
    too_large = gettext_lazy(
        "The file is larger than %(limit)s MB, the most that this site takes in the browser."
    )

    @classmethod
    def most_bytes(cls) -> int:
        return settings.MAX_CORPUS_UPLOAD_BYTES

    def __init__(self, *args: Any, user: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    @property
    def is_new_file(self) -> bool:
        """Whether the file comes with this form, and was not shown before."""
        return bool(self.cleaned_data["file"])

    def mapping(self) -> TableMapping | None:
        """What the columns of a table are, where the form says it of this file."""
        return None if self.is_new_file else mapping_in(self.data)

    def mapping_choices(self) -> dict[str, str]:
        """The same by the names of the form's fields (``mapping_in``)."""
        values: dict[str, str] = {}
        if mapping := self.mapping():
            for place, (name, column) in enumerate(mapping.columns.items()):
                values |= {f"column-{place}": name, f"use-{place}": column.use}
                values |= {f"aspect-{place}": column.aspect, f"rater-{place}": column.rater}
        return values

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file and file.size > self.most_bytes():
            raise forms.ValidationError(
                self.too_large, params={"limit": self.most_bytes() // 1_000_000}
            )
        return file

    def take_the_file(self, cleaned: dict[str, Any]) -> None:
        """A file that was sent is stored for later, whatever else is wrong in the form."""
        if "file" in self.errors:
            return
        if file := cleaned.get("file"):
            self.upload = pending_uploads.store(
                Path(file.temporary_file_path()), file.name, self.user
            )
        elif token := cleaned.get("uploaded"):
            self.upload = pending_uploads.find(token, self.user)
            if self.upload is None:
                self.add_error("file", _("The file is no longer here. Choose it again."))
        else:
            self.add_error("file", _("Choose a file."))
        self.data = self.data.copy()
        self.data["uploaded"] = self.upload.token if self.upload else ""


class FormatField(forms.ChoiceField):
    """A name to type or to choose from the browser's list; empty: detected."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).strip().lower()


class CorpusForm(UploadForm):
    """What the file itself must be is said by its importer."""

    address = forms.CharField(
        required=False,
        max_length=1000,
        label=gettext_lazy("Or a URL"),
        help_text=gettext_lazy(
            "https://… of a file, or a dataset of the Hugging Face Hub: its page's address, or "
            "hf://OWNER/NAME[@REVISION][/FILE or /CONFIG:SPLIT]."
        ),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}
        ),
    )
    good_only = forms.BooleanField(
        required=False,
        label=gettext_lazy("Store the good records and leave out the bad ones"),
        help_text=gettext_lazy(
            "What refers to a bad record is left out, too. The version lists what is not in it."
        ),
    )
    format = FormatField(
        required=False,
        label=gettext_lazy("Format"),
        choices=lambda: [(name, name) for name in importers()],
        help_text=gettext_lazy("Left empty, it is detected. Type a part of a name to search."),
        error_messages={
            "invalid_choice": gettext_lazy(
                "There is no format %(value)s. Choose one from the list, or leave it empty."
            )
        },
        widget=forms.TextInput(
            attrs={
                "list": "formats",
                "placeholder": gettext_lazy("Detect from the file"),
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )
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

    is_large_address = False
    """Whether a worker is to download what the address names."""
    likely_format = ""
    """What the file looks like, where that is not the format that was chosen."""

    @property
    def is_new_file(self) -> bool:
        return super().is_new_file or bool(self.cleaned_data["address"])

    @property
    def is_preview(self) -> bool:
        """Whether the file is shown before it is stored: always where its format is detected, and
        where it takes the place of one that was shown."""
        is_replaced = bool(self.cleaned_data["uploaded"] and self.is_new_file)
        return "preview" in self.data or not self.cleaned_data["format"] or is_replaced

    def choices(self) -> dict[str, str]:
        """What it says of the file, to be stored and shown again (``imports``)."""
        names = ("format", "name", "slug", "language", "seen_by")
        values = {name: str(self.cleaned_data[name]) for name in names}
        values |= {
            name: "on" for name in ("good_only", "is_new_version") if self.cleaned_data[name]
        }
        return values | self.mapping_choices()

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
        self.take_the_file(cleaned)
        if not self.errors and not cleaned["slug"] and self.upload:
            file_name = PurePath(self.upload.name).stem
            # Names in other scripts make none
            slug = slugify(cleaned["name"]) or slugify(file_name) or "corpus"
            cleaned["slug"] = slug[: _longest("slug")]
        if not self.errors and cleaned["is_new_version"] and cleaned["slug"]:
            slug = cleaned["slug"]
            # Or it is the first half of the addresses of a file's several corpora
            known = Q(slug=slug) | Q(slug__startswith=f"{slug}-")
            if not Corpus.objects.filter(known).exists():
                message = _("There is no corpus %(slug)s, so this can be no new version of it.")
                self.add_error("slug", message % {"slug": slug})
        return cleaned

    def take_the_file(self, cleaned: dict[str, Any]) -> None:
        """The same, for a file at an address."""
        address = cleaned.get("address")
        if not address or cleaned.get("file") or "file" in self.errors:
            super().take_the_file(cleaned)
            return
        self._take_the_address(address)
        self.data = self.data.copy()
        self.data["address"] = "" if self.upload else address
        self.data["uploaded"] = self.upload.token if self.upload else ""

    def _take_the_address(self, address: str) -> None:
        with temporary_folder() as folder:
            try:
                path, name, source = fetched_file(
                    address,
                    folder,
                    most_bytes=min(BROWSER_BYTES, self.most_bytes()),
                    seconds=min(BROWSER_SECONDS, settings.IMPORT_SECONDS),
                )
            except NotFetched as problem:
                self.is_large_address = problem.is_over_limit
                if not self.is_large_address:
                    self.add_error("address", _("Nothing was stored: %s.") % problem)
                return
            self.upload = pending_uploads.store(path, name, self.user, source)

    def offer_format(self, likely: str | None, read_as: str) -> None:
        """After the file could not be read: choose the format that it looks like, where that is
        another one, in the form that is shown again."""
        if likely and likely != read_as:
            self.likely_format = likely
            self.data = self.data.copy()
            self.data["format"] = likely


class CorpusSettingsForm(forms.Form):
    name = forms.CharField(
        max_length=_longest("name"),
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("As pages call it. Its address stays."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        required=False,
        max_length=MAX_DESCRIPTION,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy("Where it comes from, how it was rated, how to cite it. Markdown."),
        widget=forms.Textarea(attrs={"rows": 8}),
    )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if fault := text_fault(name, _longest("name")):
            raise forms.ValidationError(_("The name %(fault)s."), params={"fault": fault})
        return name

    def clean_description(self) -> str:
        description = str(self.cleaned_data["description"])
        if fault := text_fault(description, MAX_DESCRIPTION, may_be_empty=True):
            raise forms.ValidationError(_("The description %(fault)s."), params={"fault": fault})
        return description


class SeenByForm(forms.Form):
    seen_by = forms.ChoiceField(
        label=gettext_lazy("Who sees it"), choices=SEEN_BY, widget=forms.RadioSelect
    )
