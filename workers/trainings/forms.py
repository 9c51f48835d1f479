"""The form with which organisers start a training. What it leaves empty is the recipe's default."""

from __future__ import annotations

from typing import Any

from django import forms

from annotations.models import CorpusVersion
from annotations.queries import newest_visible_versions
from workers.trainings import data
from workers.trainings.models import Training

RECIPES = (("density", "DEnsity"), ("cmn", "CMN"))
CONTRASTIVE = (("paper", "with L_CL, as the paper has it"), ("released", "with L_CL, as released"), ("none", "without"))
_OF_DENSITY = ("negatives", "contrastive")
_CHOSEN = ("encoder", "epochs", "seconds", "pairs_an_epoch", "freeze", *_OF_DENSITY)


class TrainingForm(forms.Form):
    name = forms.CharField(max_length=60, help_text="Small letters, digits and hyphens: density[trained=NAME].")
    recipe = forms.ChoiceField(choices=RECIPES)
    corpus = forms.ChoiceField(help_text="Its newest version; one of conversations between people.")
    overlap = forms.ChoiceField(
        label="Dialogues that an evaluation corpus holds", choices=Training.OverlapRule, initial="refuse"
    )
    encoder = forms.CharField(
        required=False, max_length=300, help_text="A folder on the worker's machine or a hub id; empty: MiniLM."
    )
    epochs = forms.IntegerField(required=False, min_value=1, max_value=1000)
    seconds = forms.IntegerField(required=False, min_value=1, help_text="The time that it may take; empty: any.")
    negatives = forms.IntegerField(required=False, min_value=1, max_value=1000, help_text="DEnsity; empty: 15.")
    contrastive = forms.ChoiceField(choices=CONTRASTIVE, label="DEnsity's contrastive loss")
    pairs_an_epoch = forms.IntegerField(required=False, min_value=1, help_text="Empty: all.")
    freeze = forms.IntegerField(
        required=False, min_value=0, max_value=100, label="Frozen layers", help_text="Lowest ones that are not trained."
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)

    def __init__(self, user: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._versions: dict[str, CorpusVersion] = {one.corpus.slug: one for one in newest_visible_versions(user)}
        choices = [(slug, f"{one.corpus.name} {one.label}") for slug, one in self._versions.items()]
        self.fields["corpus"].choices = choices  # type: ignore[attr-defined]

    @property
    def source(self) -> data.Source:
        return data.Source.of_version(self._versions[self.cleaned_data["corpus"]])

    @property
    def chosen(self) -> dict[str, Any]:
        """What was filled in, and is a setting of the recipe."""
        found = {name: self.cleaned_data[name] for name in _CHOSEN if self.cleaned_data[name] not in (None, "")}
        if self.cleaned_data["recipe"] != "density":
            found = {name: value for name, value in found.items() if name not in _OF_DENSITY}
        return found
