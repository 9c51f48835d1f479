"""The form with which organisers start a training. What it leaves empty is the recipe's default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django import forms

from annotations.corpora.queries import newest_visible_versions
from annotations.models import CorpusVersion
from workers.training import data
from workers.training.actions import LARGEST_SEED
from workers.training.models import Training

LONGEST_SECONDS = 30 * 24 * 3600
MOST_PAIRS = 10**7
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)

RECIPES = (("density", "DEnsity"), ("cmn", "CMN"))
CONTRASTIVE = (
    ("paper", "with L_CL, as the paper has it"),
    ("released", "with L_CL, as released"),
    ("none", "without"),
)
OBJECTIVES = (
    ("", "the answer among all candidates (L_RS)"),
    ("binary", "each candidate by itself (MAUDE)"),
)
_OF = {"density": ("negatives", "contrastive", "objective", "perturbed"), "cmn": ("next_sentence",)}
"""Fields that are settings of one recipe."""
_FIRST = ("name", "recipe", "corpus", "overlap", "seconds")
_CHOSEN = ("encoder", "epochs", "seconds", "pairs_an_epoch", "freeze", *_OF["density"], *_OF["cmn"])


class TrainingForm(forms.Form):
    name = forms.CharField(
        max_length=60, help_text="Small letters, digits and hyphens: density[trained=NAME]."
    )
    recipe = forms.ChoiceField(choices=RECIPES)
    corpus = forms.ChoiceField(
        help_text="Its newest version. It has to hold conversations between people."
    )
    overlap = forms.ChoiceField(
        label="Dialogues that an evaluation corpus holds",
        choices=Training.OverlapRule,
        initial="refuse",
    )
    encoder = forms.CharField(
        required=False,
        max_length=200,
        help_text="A hub id, such as bert-base-uncased; empty: the packaged MiniLM.",
    )
    epochs = forms.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="Empty: 10 of DEnsity, 20 of CMN."
    )
    seconds = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LONGEST_SECONDS,
        help_text="Time limit. Empty: none. The learning rate decays over the steps that fit.",
    )
    negatives = forms.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="DEnsity; empty: 15."
    )
    contrastive = forms.ChoiceField(choices=CONTRASTIVE, label="DEnsity's contrastive loss")
    objective = forms.ChoiceField(required=False, choices=OBJECTIVES, label="DEnsity’s objective")
    perturbed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=100,
        label="Perturbed answers",
        help_text="DEnsity: negatives that are the answer, its words shuffled, left out or "
        "repeated; empty: 0.",
    )
    next_sentence = forms.TypedChoiceField(
        required=False,
        choices=(("", "with"), ("0", "without")),
        coerce=lambda value: value != "0",
        empty_value=None,
        label="CMN’s next-sentence loss",
    )
    pairs_an_epoch = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_PAIRS,
        help_text="A context with its answer is a pair; empty: all.",
    )
    freeze = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=100,
        label="Frozen layers",
        help_text="The lowest so many layers are not trained.",
    )
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0)

    def __init__(self, user: Any, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._versions: dict[str, CorpusVersion] = {
            one.corpus.slug: one for one in newest_visible_versions(user)
        }
        choices = [(slug, f"{one.corpus.name} {one.label}") for slug, one in self._versions.items()]
        self.fields["corpus"].choices = choices  # type: ignore[attr-defined]

    @property
    def first_requested(self) -> list[forms.BoundField]:
        return [self[name] for name in _FIRST]

    @property
    def also_requested(self) -> list[forms.BoundField]:
        """What can be left as it is."""
        return [self[name] for name in self.fields if name not in _FIRST]

    @property
    def has_more(self) -> bool:
        """Whether something is filled in, or wrong, among these."""
        return any(
            field.errors or (self.is_bound and field.value()) for field in self.also_requested
        )

    def clean_encoder(self) -> str:
        """Whoever may only use the pages names no folder of the machine, and learns of none."""
        name: str = self.cleaned_data["encoder"]
        if name and (not _HUB_ID.fullmatch(name) or ".." in name or Path(name).exists()):
            raise forms.ValidationError(
                "Give a hub id: name, or owner/name. An encoder in a folder is for manage.py "
                "train --encoder."
            )
        return name

    @property
    def source(self) -> data.Source:
        return data.Source.of_version(self._versions[self.cleaned_data["corpus"]])

    @property
    def chosen(self) -> dict[str, Any]:
        """What was filled in, and is a setting of the recipe."""
        found = {
            name: self.cleaned_data[name]
            for name in _CHOSEN
            if self.cleaned_data[name] not in (None, "")
        }
        others = {
            name
            for recipe, names in _OF.items()
            if recipe != self.cleaned_data["recipe"]
            for name in names
        }
        return {name: value for name, value in found.items() if name not in others}
