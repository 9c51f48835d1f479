"""The form that sets a campaign up. Every field says what it means; what can be known beforehand is
filled in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.actions.setup import RESERVED_SLUGS, CampaignParams
from annotations.campaigns.forms.campaign_values import (
    FIELDS_OF_KIND,
    LABELS,
    TEMPLATE_OF_KIND,
    THRESHOLD_OF_KIND,
    ticked_at_first,
    values_of,
    with_changed_choices,
)
from annotations.campaigns.forms.fields import (
    AxesField,
    PlainText,
    RowsField,
    as_key,
    axes_as_text,
    utc_moment,
)
from annotations.campaigns.forms.spreading import AllocationFields
from annotations.campaigns.models import Campaign
from annotations.campaigns.models.campaign import (
    COMPARED,
    MOST_RATERS_PER_ITEM,
    PAIRED,
    random_seed,
)
from annotations.campaigns.plan.form_changes import is_about, template_named, templates_for
from annotations.campaigns.plan.lists import MOST_SYSTEMS
from annotations.campaigns.queries import overview
from annotations.campaigns.queries.planning import Question
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.scale import DEFAULT_AXES, DEFAULT_LABELS, SCORES
from annotations.models import CorpusVersion, System
from annotations.questions.schema import Form

Kind = Campaign.Kind
LONGEST_LABEL = 60
LARGEST_SEED = 2**31 - 1
ALWAYS = ("kind", "name", "slug", "groups", "opens_at", "closes_at")
ONCE_OPENED = ("name", "groups", "opens_at", "closes_at")
"""What may still change when raters have begun."""


def _label(score: int) -> forms.CharField:
    return PlainText(
        label=str(score), max_length=LONGEST_LABEL, widget=forms.TextInput(attrs={"size": 20})
    )


class CampaignForm(AllocationFields):
    """Which fields it has depends on the kind: a collection has no scale, a chat no responses."""

    kind = forms.ChoiceField(
        choices=Kind.choices,
        widget=forms.RadioSelect,
        label=gettext_lazy("What raters do"),
        initial=Kind.TURN,
    )
    name = PlainText(
        max_length=200,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Raters see it. It should not name a system."),
    )
    slug = PlainText(
        max_length=80,
        required=False,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "The last part of the campaign's address. Raters see it. Left empty, it is made from "
            "the name."
        ),
        validators=[validate_slug],
    )
    version = forms.ModelChoiceField(
        queryset=CorpusVersion.objects.none(),
        label=gettext_lazy("Corpus"),
        empty_label=None,
        help_text=gettext_lazy("The dialogues. A campaign stays with the version it was made for."),
    )
    systems = RowsField(
        queryset=System.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Systems"),
        error_messages={"required": gettext_lazy("Choose at least one system.")},
    )
    chat_systems = RowsField(
        queryset=None,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Chat systems"),
        error_messages={"required": gettext_lazy("Choose at least one chat system.")},
    )
    dialogues = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label=gettext_lazy("Dialogues to draw"),
        help_text=gettext_lazy(
            "Empty: all dialogues. The same dialogues are drawn for every system, so that systems "
            "are compared under the same conditions."
        ),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy(
            "Draws the dialogues and their order. The same seed draws the same ones again."
        ),
    )
    pairs = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label=gettext_lazy("Pairs to draw"),
        help_text=gettext_lazy(
            "Empty: every two systems at every place. Else so many are drawn with the seed: every "
            "two systems equally often, so that all are connected."
        ),
    )
    raters_per_item = forms.IntegerField(
        min_value=1,
        max_value=MOST_RATERS_PER_ITEM,
        initial=2,
        label=gettext_lazy("Raters per item (k)"),
        help_text=gettext_lazy("How many people rate each item. Agreement needs at least 2."),
    )
    template = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Template"),
        help_text=gettext_lazy(
            "A template takes the place of the scale and axes. Its questions can be changed "
            "afterwards, on the campaign's page Questions."
        ),
    )
    label_1, label_2, label_3, label_4, label_5 = (_label(score) for score in SCORES)
    axes_below = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label=gettext_lazy("When axes are asked"),
        help_text=gettext_lazy(
            "After the overall score, the rater marks on which axes the responses are low. Asked "
            "of low scores only, this takes little time."
        ),
    )
    axes = AxesField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 7}),
        label=gettext_lazy("Axes"),
        help_text=gettext_lazy(
            "One a line, as “name: question”. The question helps the rater decide."
        ),
    )
    utterances = forms.IntegerField(
        min_value=2,
        max_value=100,
        initial=14,
        label=gettext_lazy("Utterances at most"),
        help_text=gettext_lazy("Of both speakers together."),
    )
    pass_mark = forms.FloatField(
        required=False,
        min_value=0,
        max_value=100,
        label=gettext_lazy("Pass mark, in percent"),
        help_text=gettext_lazy(
            "Share of training items that a rater must score within their range to go on. Empty: "
            "everyone goes on."
        ),
    )
    attention_every = forms.IntegerField(
        required=False,
        min_value=2,
        max_value=10_000,
        label=gettext_lazy("An attention item every … items"),
        help_text=gettext_lazy(
            "On average, at random places, as long as there are some left. Empty: none."
        ),
    )
    groups = RowsField(
        queryset=None,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Groups that may rate without an invitation"),
        help_text=gettext_lazy("Others need a link, which you make on the campaign's page."),
    )
    opens_at = utc_moment(
        gettext_lazy("Opens at (UTC)"), gettext_lazy("Empty: as soon as you open it.")
    )
    closes_at = utc_moment(
        gettext_lazy("Closes at (UTC)"),
        gettext_lazy("Empty: when you close it. Raters may finish the items they have open."),
    )

    def __init__(
        self, data: Any = None, *, campaign: Campaign | None = None, corpus: str = "", **kwargs: Any
    ) -> None:
        self.campaign = campaign
        super().__init__(
            with_changed_choices(data), initial=self._initial(campaign, corpus), **kwargs
        )
        self.fixed = campaign is not None and campaign.state != Campaign.State.DRAFT
        self.kind_now = self._kind()
        self._offer_choices()
        self._select_fields_of_kind()
        for bound in self:
            if bound.name in LABELS:
                bound.field.widget.attrs["aria-label"] = _("what %(score)s means") % {
                    "score": bound.name[-1]
                }

    # --- what is filled in ---

    def _initial(self, campaign: Campaign | None, corpus: str) -> dict[str, Any]:
        if campaign is not None:
            return values_of(campaign)
        versions = overview.versions_to_choose()
        chosen = next((version for version in versions if version.corpus.slug == corpus), None)
        version = chosen or next(
            (version for version in versions if version.systems.exists()), None
        )
        return {
            "kind": Kind.TURN,
            "version": version or (versions[0] if versions else None),
            "seed": random_seed(),
            "axes": axes_as_text(axis.as_json() for axis in DEFAULT_AXES),
            **dict(zip(LABELS, DEFAULT_LABELS, strict=True)),
        }

    def _kind(self) -> str:
        wanted = self.data.get("kind") if self.is_bound else self.initial["kind"]
        return wanted if wanted in Kind.values else Kind.TURN

    @cached_property
    def version_now(self) -> CorpusVersion | None:
        """The corpus version on the page, whose systems are offered."""
        if not self.is_bound:
            return self.initial.get("version")
        key = as_key(self.data.get("version", ""))
        if key is None:
            return None
        return CorpusVersion.objects.select_related("corpus").filter(pk=key).first()

    def _offer_choices(self) -> None:
        fields = self.fields
        fields["version"].queryset = CorpusVersion.objects.select_related("corpus").order_by(
            "corpus__name", "corpus__slug", "-number"
        )
        fields["version"].label_from_instance = lambda one: f"{one.corpus.name} ({one.label})"
        offered = System.objects.filter(version=self.version_now).order_by("position")
        fields["systems"].queryset = offered
        fields["chat_systems"].queryset = overview.ChatSystem.objects.order_by("name")
        fields["groups"].queryset = overview.Group.objects.order_by("name")
        fields["axes_below"].choices = [
            ("", _("never")),
            *((score, _("for scores below %(score)s") % {"score": score}) for score in SCORES[1:]),
            (SCORES[-1] + 1, _("for every score")),
        ]
        compares = self.kind_now in COMPARED
        fields["template"].choices = [
            *([] if compares else [("", _("Score from 1 to 5, with axes"))]),
            *((one.name, _(one.title)) for one in templates_for(self.kind_now)),
        ]
        fields["template"].required = compares
        fields["template"].initial = TEMPLATE_OF_KIND.get(Kind(self.kind_now), "")
        if self.campaign is None:
            self.initial.setdefault("systems", ticked_at_first(offered))
            self.initial.setdefault("chat_systems", list(fields["chat_systems"].queryset))
            self.initial.setdefault("axes_below", THRESHOLD_OF_KIND.get(Kind(self.kind_now)))

    def _select_fields_of_kind(self) -> None:
        retained = set(ONCE_OPENED if self.fixed else (*ALWAYS, *FIELDS_OF_KIND[self.kind_now]))
        if self.campaign is not None:
            retained.discard("template")
            if self.campaign.form_id is not None:
                retained -= {*LABELS, "axes", "axes_below"}
        for name in list(self.fields):
            if name not in retained:
                del self.fields[name]
        if self.kind_now in PAIRED and not self.fixed:
            self.ask_of_pairs()
        if self.kind_now == Kind.COLLECTION and not self.fixed:
            field = self.fields["dialogues"]
            field.required, field.initial = True, 20
            field.label = _("Dialogues wanted")
            field.help_text = _("No new pairs begin when so many are finished or under way.")
            self.fields["utterances"].help_text = _(
                "Of both speakers together. A dialogue ends with the last of them."
            )

    # --- what is checked ---

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"]
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("This address is taken by the site."))
        taken = Campaign.objects.filter(slug=slug)
        if self.campaign is not None:
            taken = taken.exclude(pk=self.campaign.pk)
        if slug and taken.exists():
            raise forms.ValidationError(_("Another campaign has this address."))
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "version" in self.errors:
            # What is wrong is the corpus; its systems are not there to be chosen
            self.errors.pop("systems", None)
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", _("It must close after it opens."))
        if self.kind_now in COMPARED and not self.fixed and (systems := cleaned.get("systems")):
            self._check_pairs(len(systems), cleaned.get("pairs"))
        if cleaned.get("axes_below") is not None and "axes" in cleaned and not cleaned["axes"]:
            self.add_error("axes", _("There are none to ask. Write some, or choose “never” above."))
        template = template_named(cleaned.get("template", ""), self.kind_now)
        if (
            template is not None
            and not template.scored
            and self.kind_now not in PAIRED
            and "allocation" in self.fields
            and (
                cleaned.get("allocation") == Campaign.Allocation.ADAPTIVE
                or cleaned.get("target") not in (None, "", Campaign.Target.NONE)
            )
        ):
            self.add_error(
                "template",
                _("This template gives no scores: spread ratings evenly and without a target."),
            )
        labels = [cleaned[label].casefold() for label in LABELS if cleaned.get(label)]
        if len(set(labels)) < len(labels):
            self.add_error("label_5", _("Two points of the scale have the same label."))
        return cleaned

    def _check_pairs(self, systems: int, pairs: int | None) -> None:
        if systems < 2:
            self.add_error("systems", _("Choose at least two systems: raters compare them."))
        elif self.kind_now == Kind.SYSTEMS and systems > MOST_SYSTEMS:
            text = _("Choose at most %(most)s systems: raters see all of them at once.")
            self.add_error("systems", text % {"most": MOST_SYSTEMS})
        elif pairs is not None and pairs < systems - 1:
            text = _("At least %(least)s pairs connect %(systems)s systems.")
            self.add_error("pairs", text % {"least": systems - 1, "systems": systems})

    # --- what comes of it ---

    def params(self) -> CampaignParams:
        """Of a valid form. What the kind does not ask has its default."""
        cleaned = self.cleaned_data
        if self.fixed and self.campaign is not None:
            return CampaignParams(
                name=cleaned["name"],
                kind=self.campaign.kind,
                groups=list(cleaned["groups"]),
                opens_at=cleaned["opens_at"],
                closes_at=cleaned["closes_at"],
            )
        given: dict[str, Any] = {
            "name": cleaned["name"],
            "kind": cleaned["kind"],
            "slug": cleaned["slug"],
            "version": cleaned.get("version"),
            "systems": list(cleaned.get("systems", ())),
            "chat_systems": list(cleaned.get("chat_systems", ())),
            "axes_below": cleaned.get("axes_below"),
            "dialogues_per_system": cleaned.get("dialogues"),
            "pairs": cleaned.get("pairs"),
            "seed": cleaned["seed"],
            "groups": list(cleaned["groups"]),
            "opens_at": cleaned["opens_at"],
            "closes_at": cleaned["closes_at"],
            "pass_mark": None if cleaned.get("pass_mark") is None else cleaned["pass_mark"] / 100,
            "attention_every": cleaned.get("attention_every"),
            **self.spread(),
        }
        if LABELS[0] in cleaned:
            given["scale_labels"] = [cleaned[label] for label in LABELS]
            given["axes"] = cleaned["axes"]
        if "raters_per_item" in cleaned:
            given["raters_per_item"] = cleaned["raters_per_item"]
        if "utterances" in cleaned:
            given["utterances"] = cleaned["utterances"]
        return CampaignParams(**given)

    def chosen_form(self) -> Form | None:
        """Of a valid form: what the chosen template asks; None for the scale from 1 to 5."""
        return template_named(self.cleaned_data.get("template", ""), self.kind_now)

    def current_form(self) -> Form | None:
        """What raters would be asked as the page stands; None for the scale from 1 to 5."""
        if self.campaign is None:
            name = self["template"].value() if "template" in self.fields else ""
            return template_named(name or "", self.kind_now)
        form = form_of_campaign(self.campaign)
        return form if form is not None and is_about(form, self.kind_now) else None

    def question(self) -> Question | None:
        """What the form, as it stands, would ask: for the dry run. None where a field that decides
        it is wrong."""
        if self.fixed:
            return None
        try:
            return Question(
                kind=self.kind_now,
                version=self.version_now if self.kind_now != Kind.COLLECTION else None,
                systems=list(self._value("systems", ())),
                chat_systems=list(self._value("chat_systems", ())),
                dialogues=self._value("dialogues", None),
                pairs=self._value("pairs", None),
                raters_per_item=self._value("raters_per_item", 2),
                seed=self._value("seed", 0),
            )
        except forms.ValidationError:
            return None

    def _value(self, name: str, absent: Any) -> Any:
        """One field's value without checking the others."""
        if name not in self.fields:
            return absent
        if not self.is_bound:
            return self.get_initial_for_field(self.fields[name], name)
        field = self.fields[name]
        return field.clean(
            field.widget.value_from_datadict(self.data, self.files, self.add_prefix(name))
        )

    # --- how it stands on the page ---

    def systems_by_kind(self) -> Iterator[tuple[str, list[Any]]]:
        """The checkboxes of the systems, those of one kind together."""
        kinds = {system.pk: system for system in self.fields["systems"].queryset}
        boxes = [
            (kinds[box.data["value"].value], box)
            for box in self["systems"]
            if box.data["value"].value in kinds
        ]
        ordered = sorted(
            boxes, key=lambda pair: (_KIND_ORDER.index(_kind_of(pair[0])), pair[0].position)
        )
        for kind, pairs in groupby(ordered, key=lambda pair: _kind_of(pair[0])):
            yield _KIND_LABELS.get(kind, kind), [box for _, box in pairs]

    @property
    def offers_gold(self) -> bool:
        return any(system.kind == System.Kind.GOLD for system in self.fields["systems"].queryset)

    @property
    def kinds(self) -> list[tuple[Any, str]]:
        return [(radio, _EXPLAINED[radio.data["value"]]) for radio in self["kind"]]

    @property
    def systems_chosen(self) -> int:
        return sum(
            len(self[name].value() or ())
            for name in ("systems", "chat_systems")
            if name in self.fields
        )

    @property
    def systems_offered(self) -> int:
        return sum(len(self[name]) for name in ("systems", "chat_systems") if name in self.fields)

    @property
    def open_sections(self) -> set[str]:
        """What decides what raters do; the others where something was chosen or is wrong."""
        shown = {"task", "items", "questions"}
        if not self.systems_chosen:
            shown.add("chosen-systems")
        if self.fixed or any(
            self[name].value()
            for name in ("groups", "opens_at", "closes_at")
            if name in self.fields
        ):
            shown.add("raters")
        if self.allocation_is_shown:
            shown.add("allocation")
        return shown | {
            key for key, names in SECTIONS.items() if any(name in self.errors for name in names)
        }

    @property
    def allocation_summary(self) -> str:
        fields = [self.fields[name] for name in ("allocation", "target")]
        values = [self[name].value() for name in ("allocation", "target")]
        return ", ".join(
            str(dict(field.choices).get(value, value))
            for field, value in zip(fields, values, strict=True)
            if value
        )

    @property
    def pass_percent(self) -> str:
        mark = self.campaign.pass_mark if self.campaign is not None else None
        return "" if mark is None else f"{mark * 100:g}"

    @property
    def allocation_is_shown(self) -> bool:
        """Whether somebody has chosen anything there: then that part of the form stands open."""
        chosen = (
            (self["allocation"].value(), self["target"].value())
            if "allocation" in self.fields
            else ()
        )
        return any(one not in (None, "", "uniform", "none") for one in chosen)

    @property
    def labels(self) -> list[forms.BoundField]:
        return [self[label] for label in LABELS if label in self.fields]

    @property
    def corpus_is_public(self) -> bool:
        return (
            "version" in self.fields
            and self.version_now is not None
            and self.version_now.corpus.is_public
        )


SECTIONS = {
    "chosen-systems": ("systems", "chat_systems"),
    "scale": (*LABELS, "axes_below", "axes"),
    "allocation": ("allocation", "target", "target_pairs", "target_width", "budget"),
    "raters": ("groups", "opens_at", "closes_at"),
    "checks": ("slug", "seed", "pass_mark", "attention_every"),
}
"""The fields of the page's sections that may be folded."""
_EXPLAINED = {
    Kind.TURN: gettext_lazy("A rater reads a dialogue up to one response and rates that response."),
    Kind.DIALOGUE: gettext_lazy(
        "A rater reads all responses of a system in a dialogue and rates them together."
    ),
    Kind.PAIR: gettext_lazy(
        "A rater reads a dialogue and two systems' responses, and says which is better."
    ),
    Kind.DIALOGUE_PAIR: gettext_lazy(
        "A rater reads all responses of two systems in a dialogue, and compares the two systems."
    ),
    Kind.SYSTEMS: gettext_lazy(
        "A rater reads a dialogue and every system's response, and ranks them or chooses the best "
        "and the worst."
    ),
    Kind.INTERACTIVE: gettext_lazy(
        "A rater chats with a system you registered and then rates the chat."
    ),
    Kind.COLLECTION: gettext_lazy(
        "Two raters meet, each with a persona, and write a dialogue. It becomes a corpus."
    ),
}
_KIND_ORDER = ["agent", "human", "gold", "baseline", "withheld"]
_KIND_LABELS = {
    "agent": gettext_lazy("agents"),
    "human": gettext_lazy("humans"),
    "gold": gettext_lazy("the dialogue's own answers"),
    "baseline": gettext_lazy("baselines"),
    "withheld": gettext_lazy("submitted to a round, not published"),
}


def _kind_of(system: System) -> str:
    """Withheld systems stand apart: the others may be known to raters, these are not."""
    return "withheld" if system.withheld else system.kind
