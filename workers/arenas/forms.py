"""What visitors of an arena say, and how organisers set one up."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.actions.arena import LIMITS, ArenaParams
from annotations.campaigns.actions.setup import RESERVED_SLUGS
from annotations.campaigns.forms.fields import PlainText, RowsField
from annotations.campaigns.models import Arena, ChatSystem
from annotations.campaigns.models.arena import LARGEST_LIMIT, MOST_EXCHANGES
from annotations.campaigns.models.conversation import LONGEST_MESSAGE
from annotations.models import Corpus, CorpusVersion, System
from workers.chats.forms import KEY, SpokenField


class SayForm(forms.Form):
    text = SpokenField(
        label=gettext_lazy("Your message to both"),
        widget=forms.TextInput(
            attrs={
                "maxlength": LONGEST_MESSAGE,
                "enterkeyhint": "send",
                "dir": "auto",
                "autocomplete": "off",
            }
        ),
    )
    key = forms.RegexField(KEY, required=False, widget=forms.HiddenInput)

    def first_error(self) -> str:
        return next((str(error) for errors in self.errors.values() for error in errors), "")


class ChoiceForm(forms.Form):
    """What an arena is of: the rest of its form depends on it."""

    source = forms.ChoiceField(
        choices=Arena.Source.choices,
        widget=forms.RadioSelect,
        initial=Arena.Source.STORED,
        label=gettext_lazy("What visitors compare"),
    )
    corpus = forms.ModelChoiceField(
        queryset=Corpus.objects.filter(versions__isnull=False).distinct(),
        to_field_name="slug",
        empty_label=None,
        label=gettext_lazy("Corpus"),
        help_text=gettext_lazy(
            "Its responses are compared; in chats both models play the persona of one of its "
            "dialogues."
        ),
    )


def _limit(label: Any, initial: int, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=LARGEST_LIMIT, initial=initial, label=label, help_text=help_text
    )


class LimitsForm(forms.Form):
    """What may change at any time."""

    is_public = forms.BooleanField(
        required=False,
        label=gettext_lazy("Everybody may vote"),
        help_text=gettext_lazy("Without a tick, only those who have the link."),
    )
    battles_per_visitor = _limit(gettext_lazy("Battles a day per visitor"), 50)
    battles_per_address = _limit(
        gettext_lazy("Battles a day per address"),
        200,
        gettext_lazy("People behind one network, such as a university's, may share an address."),
    )
    answers_per_minute = _limit(
        gettext_lazy("Answers a minute"),
        60,
        gettext_lazy("Of all endpoints and visitors together."),
    )
    answers_budget = _limit(
        gettext_lazy("Budget of answers"),
        2000,
        gettext_lazy("How many answers the endpoints are asked for, two for each message."),
    )

    def __init__(self, *args: Any, arena: Arena | None = None, **kwargs: Any) -> None:
        if arena is not None:
            kwargs.setdefault("initial", {name: getattr(arena, name) for name in LIMITS})
        super().__init__(*args, **kwargs)
        if arena is not None and not arena.is_of_chats:
            self._without_answers()

    def _without_answers(self) -> None:
        for name in ("answers_per_minute", "answers_budget"):
            del self.fields[name]

    @property
    def limits(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in LIMITS if name in self.cleaned_data}


class ArenaForm(LimitsForm):
    name = PlainText(
        max_length=200,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Visitors see it. It should not name a system."),
    )
    slug = PlainText(
        max_length=80,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy("The last part of the arena's address."),
        validators=[validate_slug],
    )
    systems = RowsField(
        queryset=System.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Systems"),
        error_messages={"required": gettext_lazy("Choose at least two systems.")},
    )
    exchanges = forms.IntegerField(
        min_value=1,
        max_value=MOST_EXCHANGES,
        initial=5,
        label=gettext_lazy("Messages of a chat"),
        help_text=gettext_lazy("How many a visitor may write; both models answer each."),
    )
    field_order = ("name", "slug", "systems", "exchanges", *LIMITS)

    def __init__(self, *args: Any, source: str, version: CorpusVersion, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.source, self.version = source, version
        if source == Arena.Source.CHAT:
            self.fields["systems"].queryset = ChatSystem.objects.order_by("name")
        else:
            self.fields["systems"].queryset = version.systems.filter(withheld=False)
            del self.fields["exchanges"]
            self._without_answers()

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if slug in RESERVED_SLUGS or Arena.objects.filter(slug=slug).exists():
            raise forms.ValidationError(_("There is an arena with this address. Choose another."))
        return slug

    def clean_systems(self) -> list[Any]:
        systems = list(self.cleaned_data["systems"])
        if len(systems) < 2:
            raise forms.ValidationError(_("Choose at least two systems."))
        return systems

    @property
    def params(self) -> ArenaParams:
        cleaned = self.cleaned_data
        return ArenaParams(
            name=cleaned["name"],
            slug=cleaned["slug"],
            source=self.source,
            version=self.version,
            systems=cleaned["systems"],
            exchanges=cleaned.get("exchanges", 1),
            limits=self.limits,
        )
