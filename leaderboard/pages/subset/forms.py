"""Which responses of a corpus make a set, and what the set is called."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.corpora.forms import EVERYBODY, ORGANISERS, SEEN_BY
from annotations.corpora.queries import corpora_with_hidden_references
from annotations.models import Corpus, CorpusVersion
from common.text import text_fault
from leaderboard.queries.response_scores import HUMAN, metrics_of_responses
from leaderboard.reproduction.evaluation_sets import Cut

MOST = 1_000_000
_LONGEST_NAME = int(Corpus._meta.get_field("name").max_length or 0)
_LONGEST_SLUG = int(Corpus._meta.get_field("slug").max_length or 0)


class SubsetForm(forms.Form):
    by = forms.ChoiceField(label=gettext_lazy("Score"))
    aspect = forms.ChoiceField(label=gettext_lazy("Aspect of human scores"))
    at_least = forms.FloatField(required=False, label=gettext_lazy("Scores of at least"))
    below = forms.FloatField(required=False, label=gettext_lazy("Scores below"))
    highest = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST,
        label=gettext_lazy("Of these, the highest"),
        help_text=gettext_lazy("How many responses."),
    )
    draw = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST,
        label=gettext_lazy("Of these, drawn at random"),
        help_text=gettext_lazy("How many responses."),
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MOST, initial=0, label=gettext_lazy("Seed of the draw")
    )
    balanced = forms.BooleanField(
        required=False, label=gettext_lazy("Draw as many of every system")
    )
    name = forms.CharField(max_length=_LONGEST_NAME, label=gettext_lazy("Name"))
    slug = forms.CharField(
        max_length=_LONGEST_SLUG,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy("The last part of the new corpus's address."),
        validators=[validate_slug],
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    seen_by = forms.ChoiceField(
        label=gettext_lazy("Who sees it"),
        choices=SEEN_BY,
        initial=ORGANISERS,
        widget=forms.RadioSelect,
    )

    def __init__(self, version: CorpusVersion, data: Any = None) -> None:
        corpus = version.corpus
        initial = {
            "aspect": version.main_aspect,
            "name": _("%(name)s: subset") % {"name": corpus.name[: _LONGEST_NAME - 40]},
            "slug": f"{corpus.slug[: _LONGEST_SLUG - 7]}-subset",
        }
        super().__init__(data, initial=initial)
        self.version = version
        choices: dict[str, list[tuple[str, str]]] = {
            "by": [
                (HUMAN, _("human score")),
                *((one, one) for one in metrics_of_responses(version)),
            ],
            "aspect": [(one, one) for one in version.aspects],
        }
        for field, values in choices.items():
            self.fields[field].choices = values  # type: ignore[attr-defined]
        self.fields["aspect"].required = bool(version.aspects)

    @property
    def cut(self) -> Cut:
        given = self.cleaned_data
        return Cut(
            at_least=given["at_least"],
            below=given["below"],
            highest=given["highest"] or 0,
            draw=given["draw"] or 0,
            balanced=given["balanced"],
            seed=given["seed"],
        )

    @property
    def is_public(self) -> bool:
        return bool(self.cleaned_data["seen_by"] == EVERYBODY)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if fault := text_fault(name, _LONGEST_NAME):
            raise forms.ValidationError(_("The name %(fault)s."), params={"fault": fault})
        return name

    def clean_seen_by(self) -> str:
        seen_by = str(self.cleaned_data["seen_by"])
        hidden = corpora_with_hidden_references().filter(pk=self.version.corpus_id)
        if seen_by == EVERYBODY and hidden.exists():
            message = _(
                "A round hides the references of this corpus: only organisers may see a set of it."
            )
            raise forms.ValidationError(message)
        return seen_by

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        if cleaned["at_least"] is cleaned["below"] is None and not (
            cleaned["highest"] or cleaned["draw"]
        ):
            self.add_error(
                None, _("Say which responses: fill at least one of the first four fields.")
            )
        if cleaned["balanced"] and not cleaned["draw"]:
            self.add_error("balanced", _("This is for responses drawn at random."))
        return cleaned
