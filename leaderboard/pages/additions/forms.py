"""What a table holds that is added to a corpus."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotations.corpora.forms import UploadForm
from annotations.corpora.imports import ADDS_TO
from annotations.models import CorpusVersion
from leaderboard.additions import LOWER, METRIC_SCORES

RATINGS = "ratings"
HOLDS = [
    (RATINGS, gettext_lazy("ratings, labels or responses of systems: they make a new version")),
    (METRIC_SCORES, gettext_lazy("scores of metrics, each named by its aspect")),
]
MOST_BYTES = 20_000_000
"""Its rows are held while they are added."""
HIGHER = "higher"


class AdditionForm(UploadForm):
    holds = forms.ChoiceField(
        label=gettext_lazy("What the table holds"),
        choices=HOLDS,
        initial=RATINGS,
        widget=forms.RadioSelect,
    )
    direction = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Which scores of metrics are better"),
        choices=[(HIGHER, gettext_lazy("higher")), (LOWER, gettext_lazy("lower"))],
        initial=HIGHER,
        widget=forms.RadioSelect,
    )

    too_large = gettext_lazy(
        "The file is larger than %(limit)s MB. Add it on the server: manage.py add_to_corpus."
    )

    @classmethod
    def most_bytes(cls) -> int:
        return MOST_BYTES

    @property
    def is_preview(self) -> bool:
        """A file is shown before it is stored."""
        return "preview" in self.data or bool(self.cleaned_data["file"])

    def choices(self, version: CorpusVersion) -> dict[str, str]:
        """What it says of the file, to be stored and shown again (``add_as_form_says``)."""
        assert version.corpus is not None
        values = {ADDS_TO: str(version.pk), "slug": version.corpus.slug}
        values |= {name: str(self.cleaned_data[name]) for name in ("holds", "direction")}
        return values | self.mapping_choices()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.take_the_file(cleaned)
        return cleaned
