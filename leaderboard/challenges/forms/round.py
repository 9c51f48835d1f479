"""The form of a round. What is settled by submissions is shown and told why; what can be known is
filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.fields import PlainText, moment_field
from annotations.campaigns.models import ChatSystem
from annotations.models import CorpusVersion
from common.text import DIGITS_OF_A_KEY, parse_integer
from leaderboard.challenges.actions.plan import DAILY_LIMIT, TOTAL_LIMIT, metrics_to_start_from
from leaderboard.challenges.actions.rounds import (
    NOTED,
    RoundParams,
    locked_fields,
    why_not_released,
)
from leaderboard.challenges.forms.challenge import version_text
from leaderboard.challenges.forms.zones import (
    UTC_KEY,
    NoSuchTime,
    UnknownZone,
    in_utc,
    zone_key,
    zone_keys,
)
from leaderboard.challenges.models import Challenge, Round, Track
from leaderboard.challenges.models.challenge import (
    CALLS_PER_UTTERANCE,
    INPUT_TOKENS_PER_DIALOGUE,
    OUTPUT_TOKENS_PER_DIALOGUE,
    random_seed,
)
from leaderboard.challenges.queries import organising
from leaderboard.challenges.queries.metric_presets import Preset, metric_presets
from workers.metrics.common.configuration import ConfigurationError, parse, still_there
from workers.runs.language_fit import why_hard_to_read
from workers.runs.metric_list import Kind, by_kind

DATES = ("opens_at", "closes_at", "release_at")
LARGEST_LIMIT, LARGEST_SEED, MOST_TOKENS, MOST_METRICS = 1_000_000, 2**31 - 1, 10_000_000, 100


def _date(label: Any, help_text: Any) -> forms.DateTimeField:
    return moment_field(label, help_text, gettext_lazy("Write it as 2026-11-20T18:00."))


def _as_typed(moment: datetime | str | None) -> str:
    """Up to the minute, of a stored moment and of what stands in the form."""
    return str(moment or "").replace("T", " ")[:16]


def _whole(label: Any, most: int, initial: int, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label, min_value=1, max_value=most, initial=initial, help_text=help_text
    )


def _price(label: Any) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=0,
        max_digits=10,
        decimal_places=4,
        help_text=gettext_lazy("USD for a million. Empty: no cost is shown."),
    )


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric on the page, with what is ticked of it."""

    text: str
    summary: str
    why_not: str
    is_shown: bool
    is_private: bool
    ranks: bool

    @property
    def is_chosen(self) -> bool:
        return self.is_shown or self.is_private or self.ranks


class RoundForm(forms.Form):
    name = PlainText(
        max_length=100, label=gettext_lazy("Name"), help_text=gettext_lazy("Such as Round 1.")
    )
    slug = PlainText(
        max_length=40,
        required=False,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "The last part of the round's address. Left empty, it is made from the name."
        ),
        validators=[validate_slug],
    )
    version = forms.ModelChoiceField(
        CorpusVersion.objects.none(),
        empty_label=None,
        label=gettext_lazy("Corpus"),
        help_text=gettext_lazy(
            "The dialogues that teams answer. Corpora without references are not listed."
        ),
    )
    references = forms.ChoiceField(
        choices=Round.References,
        widget=forms.RadioSelect,
        label=gettext_lazy("References"),
        initial=Round.References.PUBLIC,
    )
    zone = PlainText(
        max_length=60,
        label=gettext_lazy("Time zone of these dates"),
        initial=UTC_KEY,
        help_text=gettext_lazy(
            "A city such as Berlin, UTC, or AoE (anywhere on earth, UTC−12). Dates are stored, and "
            "shown to teams, in UTC."
        ),
        widget=forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
    )
    opens_at = _date(gettext_lazy("Opens"), gettext_lazy("Empty: with the challenge."))
    closes_at = _date(gettext_lazy("Closes"), gettext_lazy("Empty: with the challenge."))
    tracks = forms.MultipleChoiceField(
        choices=Track.choices,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Tracks"),
        initial=list(Track.values),
        error_messages={"required": gettext_lazy("Choose at least one track.")},
    )
    daily_limit = _whole(
        gettext_lazy("Submissions of a team a day"),
        LARGEST_LIMIT,
        DAILY_LIMIT,
        gettext_lazy("A day ends at 00:00 UTC."),
    )
    total_limit = _whole(
        gettext_lazy("Submissions of a team in all"),
        LARGEST_LIMIT,
        TOTAL_LIMIT,
        gettext_lazy(
            "In both tracks together. What is invalid, failed or cancelled is not counted."
        ),
    )
    metrics = forms.MultipleChoiceField(
        label=gettext_lazy("Metrics that everybody sees"), required=False, choices=()
    )
    private_metrics = forms.MultipleChoiceField(
        label=gettext_lazy("Metrics that only organisers see before the release"),
        required=False,
        choices=(),
    )
    add_metric = PlainText(
        max_length=300,
        required=False,
        label=gettext_lazy("Add a metric"),
        widget=forms.TextInput(
            attrs={"list": "metric-names", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    more_metrics = PlainText(
        max_length=5000,
        required=False,
        label=gettext_lazy("Metrics with options"),
        help_text=gettext_lazy("One a line, such as bleu_4[normalize=false]. Everybody sees them."),
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    ranking_metric = PlainText(
        max_length=300,
        label=gettext_lazy("Ranking metric"),
        error_messages={"required": gettext_lazy("Choose the metric that decides the rank.")},
    )
    entry = forms.ChoiceField(
        choices=Round.Entry,
        widget=forms.RadioSelect,
        label=gettext_lazy("Which submission counts for a team"),
        initial=Round.Entry.BEST,
    )
    public_share = forms.FloatField(
        min_value=0,
        max_value=100,
        initial=100,
        label=gettext_lazy("Dialogues on the public leaderboard, in percent"),
        help_text=gettext_lazy(
            "The others make the private leaderboard. 100: all, at once. 0: nothing is shown "
            "before the release."
        ),
    )
    split_seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        label=gettext_lazy("Seed"),
        help_text=gettext_lazy(
            "Draws the public leaderboard's dialogues. The same seed draws the same ones again."
        ),
    )
    release_at = _date(
        gettext_lazy("Release of results"),
        gettext_lazy(
            "When everybody sees the private leaderboard, at the closing or later. Empty: when you "
            "press the button for it."
        ),
    )
    shows_corpus_baselines = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy(
            "Show the corpus's own baselines on the leaderboard, marked and without a rank"
        ),
    )
    endpoint = forms.ModelChoiceField(
        ChatSystem.objects.none(),
        required=False,
        empty_label=gettext_lazy("the site's own language model"),
        label=gettext_lazy("Language model that answers prompts"),
        help_text=gettext_lazy(
            "Address, model and key of a registered chat system; its instructions are not used."
        ),
    )
    calls_per_utterance = _whole(
        gettext_lazy("Calls for an utterance"), 2, CALLS_PER_UTTERANCE, gettext_lazy("1 or 2")
    )
    input_tokens_per_dialogue = _whole(
        gettext_lazy("Input tokens for a dialogue"), MOST_TOKENS, INPUT_TOKENS_PER_DIALOGUE
    )
    output_tokens_per_dialogue = _whole(
        gettext_lazy("Output tokens for a dialogue"), MOST_TOKENS, OUTPUT_TOKENS_PER_DIALOGUE
    )
    input_price = _price(gettext_lazy("Price of input tokens"))
    output_price = _price(gettext_lazy("Price of output tokens"))

    def __init__(
        self, data: Any = None, *, challenge: Challenge, round: Round | None = None
    ) -> None:
        self.challenge, self.round = challenge, round
        new = {"split_seed": random_seed(), "references": Round.References.PUBLIC}
        super().__init__(data, initial=new if round is None else _of(round))
        self.settled = {} if round is None else locked_fields(round)
        self.fields["version"].queryset = organising.versions_to_choose()
        self.fields["version"].label_from_instance = version_text
        self.fields["endpoint"].queryset = organising.endpoints()
        self._offer_metrics()
        if self.is_bound:
            self._apply_choices()
        for name, why in self.settled.items():
            self.fields[name].required = False
            self.fields[name].widget.attrs["disabled"] = True
            self.fields[name].settled = why  # the page says it in the place of the help

    # --- what stands on the page ---

    @cached_property
    def version_now(self) -> CorpusVersion | None:
        """The corpus version on the page, on which metrics are offered."""
        requested = self.data.get("version", "") if self.is_bound else ""
        known = organising.versions_to_choose()
        wished = parse_integer(requested, DIGITS_OF_A_KEY)
        if wished is not None and (found := known.filter(pk=wished).first()):
            return found
        return self.initial.get("version") or known.first()

    def _offer_metrics(self) -> None:
        requested = [] if self.round is None else [*self.round.metrics, *self.round.private_metrics]
        self.choices_of_metrics = organising.metrics_to_choose(self.version_now, requested)
        if self.round is None and self.version_now is not None:
            started = metrics_to_start_from(self.version_now)
            self.initial.setdefault("metrics", started)
            self.initial.setdefault("ranking_metric", started[0] if started else "")
            self.initial.setdefault("version", self.version_now)
        offered = [
            (one.text, one.text)
            for one in self.choices_of_metrics
            if not one.why_not or one.text in requested
        ]
        for name in ("metrics", "private_metrics"):
            self.fields[name].choices = offered

    def _apply_choices(self) -> None:
        """A preset that was pressed, and a metric that was named to be added, change what is
        ticked. A name that is not offered stays in its field, with the reason."""
        preset = next((one for one in self.presets if one.key == self.data.get("preset")), None)
        named = self.data.get("add_metric", "").strip()
        if preset is None and not named:
            return
        self.data = self.data.copy()
        if preset is not None:
            self.data.setlist("metrics", preset.metrics)
            self.data.setlist("private_metrics", [])
            self.data["ranking_metric"] = preset.metrics[0] if preset.metrics else ""
            self.data["more_metrics"] = ""
        elif not self._why_not_added(named):
            if "[" in named:
                self.data["more_metrics"] = f"{self.data.get('more_metrics', '')}\n{named}".strip()
            elif named not in self._ticked("metrics") | self._ticked("private_metrics"):
                self.data.setlist("metrics", [*self.data.getlist("metrics"), named])
            self.data["add_metric"] = ""

    def _why_not_added(self, named: str) -> str:
        try:
            text = parse(named).text if "[" in named else named
        except ConfigurationError as problem:
            return str(problem)
        known = {one.text: one for one in self.choices_of_metrics}.get(named.partition("[")[0])
        if known is None:
            return _("There is no metric “%(name)s”. Choose one of the list.") % {"name": text}
        if known.why_not:
            return _("%(name)s cannot be computed: %(why)s.") % {"name": text, "why": known.why_not}
        return ""

    @cached_property
    def presets(self) -> list[Preset]:
        return metric_presets(self.version_now, self.choices_of_metrics)

    @property
    def zones(self) -> tuple[str, ...]:
        return zone_keys()

    def _ticked(self, name: str) -> set[str]:
        return set(self.data.getlist(name)) if self.is_bound else set(self.initial.get(name, ()))

    @property
    def chosen_metrics(self) -> list[MetricRow]:
        """The one that ranks first."""
        rows = [row for row in self._rows() if row.is_chosen]
        return sorted(rows, key=lambda row: not row.ranks)

    @property
    def other_metrics(self) -> list[tuple[Kind, list[MetricRow]]]:
        """Those that can be chosen, by what they look at."""
        rows = [row for row in self._rows() if not row.why_not and not row.is_chosen]
        return by_kind(rows, lambda row: row.text)

    @property
    def metrics_not_offered(self) -> list[MetricRow]:
        return [
            row for row in self._rows() if row.why_not and not row.is_shown and not row.is_private
        ]

    def _rows(self) -> Iterable[MetricRow]:
        shown, private = self._ticked("metrics"), self._ticked("private_metrics")
        ranks = (
            self.data.get("ranking_metric", "")
            if self.is_bound
            else self.initial.get("ranking_metric", "")
        )
        for one in self.choices_of_metrics:
            yield MetricRow(
                one.text,
                one.summary,
                one.why_not,
                one.text in shown,
                one.text in private,
                one.text == ranks,
            )

    @property
    def references_now(self) -> str:
        if "references" in self.settled and self.round is not None:
            return self.round.references
        return self.data.get("references", "") if self.is_bound else self.initial["references"]

    @property
    def warnings(self) -> list[str]:
        """What to know before this is stored: of the ranking metric, of the others, then of the
        references."""
        return [*self._warnings_of_metrics(), *self._warnings_of_references()]

    def _warnings_of_metrics(self) -> list[str]:
        """Which of the chosen metrics cannot read the corpus, the one that ranks first."""
        ranks = str((self.data if self.is_bound else self.initial).get("ranking_metric", ""))
        found = []
        for text in dict.fromkeys(
            [ranks, *sorted(self._ticked("metrics") | self._ticked("private_metrics"))]
        ):
            metric = still_there(text)
            why = why_hard_to_read(metric, self.version_now) if metric and self.version_now else ""
            if why:
                words = (
                    _("%(metric)s, which ranks: %(why)s.")
                    if text == ranks
                    else _("%(metric)s: %(why)s.")
                )
                found.append(words % {"metric": text, "why": why})
        return found

    def _warnings_of_references(self) -> list[str]:
        """What hiding or showing the references would mean where the corpus is known elsewhere."""
        version = self.version_now
        if version is None:
            return []
        others = organising.other_rounds_on(version, self.round)
        name = version.corpus.name
        if self.references_now == Round.References.HIDDEN:
            found = []
            was_hidden = self.round is not None and self.round.references == Round.References.HIDDEN
            if version.corpus.is_public and not was_hidden:
                found.append(
                    _(
                        "Everybody can read the pages of %(corpus)s, with the references, until "
                        "you store this. From then on only organisers see them. Who has read or "
                        "downloaded them knows them."
                    )
                    % {"corpus": name}
                )
            if shown := others.filter(references=Round.References.PUBLIC).first():
                found.append(
                    _(
                        "%(round)s of %(challenge)s shows references of the same corpus to its "
                        "teams."
                    )
                    % {"round": shown.name, "challenge": shown.challenge.name}
                )
            return found
        if hiding := others.filter(references=Round.References.HIDDEN).first():
            return [
                _(
                    "%(round)s of %(challenge)s hides this corpus. Its pages stay hidden, and "
                    "teams of this round would get what is hidden there."
                )
                % {"round": hiding.name, "challenge": hiding.challenge.name}
            ]
        return []

    # --- the sections of the page ---

    @property
    def open_sections(self) -> set[str]:
        """Of a new round, and where a choice has changed the form, those with choices that decide;
        of a stored one none: each says in a line what it holds. Where something is wrong, too."""
        shown = {"task", "metrics"} if self.round is None or self.is_bound else set()
        return shown | {
            key for key, names in SECTIONS.items() if any(name in self.errors for name in names)
        }

    @property
    def section_summaries(self) -> dict[str, str]:
        """What a folded section holds, in a line."""
        value = {name: self[name].value() for name in self.fields}
        version = self.version_now
        chosen = self.chosen_metrics
        return {
            "task": ""
            if version is None
            else _("%(corpus)s, references %(references)s")
            % {
                "corpus": version.corpus.name,
                "references": dict(Round.References.choices).get(self.references_now, "–"),
            },
            "dates": _("%(opens)s – %(closes)s, %(zone)s")
            % {
                "opens": _as_typed(value["opens_at"]) or _("the challenge opens"),
                "closes": _as_typed(value["closes_at"]) or _("the challenge closes"),
                "zone": value["zone"],
            }
            if value["opens_at"] or value["closes_at"]
            else _("as long as the challenge is open"),
            "submissions": _("%(daily)s a day, %(total)s in all")
            % {"daily": value["daily_limit"], "total": value["total_limit"]},
            "metrics": _("%(count)s, ranked by %(first)s")
            % {"first": chosen[0].text, "count": len(chosen)}
            if chosen
            else _("none"),
            "leaderboard": _("%(share)s %% of the dialogues on the public leaderboard")
            % {"share": value["public_share"]},
            "prompt": _("%(calls)s calls per utterance") % {"calls": value["calls_per_utterance"]},
        }

    @property
    def metric_errors(self) -> list[str]:
        return [
            error
            for name in ("metrics", "private_metrics", "ranking_metric")
            for error in self[name].errors
        ]

    # --- what is checked ---

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        zone = cleaned.get("zone") or UTC_KEY
        for name in DATES:
            if isinstance(cleaned.get(name), datetime):
                try:
                    cleaned[name] = in_utc(cleaned[name].replace(tzinfo=None), zone)
                except (NoSuchTime, OverflowError):
                    self.add_error(name, _("Clocks of this time zone never show this time."))
                    cleaned[name] = None
        opens, closes = cleaned.get("opens_at"), cleaned.get("closes_at")
        if opens and closes and closes <= opens:
            self.add_error("closes_at", _("It must close after it opens."))
        if "release_at" not in self.settled and (
            why := why_not_released(cleaned.get("release_at"), closes, self.round)
        ):
            self.add_error("release_at", why)
        return cleaned

    def clean_zone(self) -> str:
        try:
            return zone_key(self.cleaned_data["zone"])
        except UnknownZone as problem:
            raise forms.ValidationError(str(problem)) from None

    def clean_add_metric(self) -> str:
        """What could be added is among the metrics already (``_apply_choices``)."""
        named: str = self.cleaned_data["add_metric"]
        if named and (why := self._why_not_added(named)):
            raise forms.ValidationError(why)
        return named

    def clean_more_metrics(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["more_metrics"].splitlines()]
        found = []
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                found.append(parse(line).text)
            except ConfigurationError as problem:
                raise forms.ValidationError(
                    _("Line %(number)s: %(problem)s") % {"number": number, "problem": problem}
                ) from None
        if len(found) > MOST_METRICS:
            raise forms.ValidationError(_("At most %(most)s.") % {"most": MOST_METRICS})
        return found

    # --- what comes of it ---

    def params(self) -> RoundParams:
        """Of a valid form. What is settled and was not sent, or sent as it was shown, stays as the
        round has it."""
        values = {name: self.cleaned_data.get(name) for name in NOTED}
        values["public_share"] = (values["public_share"] or 0) / 100
        values["slug"] = values["slug"] or ""
        private = set(values["private_metrics"])
        more = [one for one in self.cleaned_data["more_metrics"] if one not in private]
        values["metrics"] = [*values["metrics"], *more]
        if self.round is not None:
            for name in self.settled:
                if name not in self.data or name not in self.changed_data:
                    values[name] = getattr(self.round, name)
        return RoundParams(**values)


SECTIONS = {
    "task": ("name", "slug", "version", "references"),
    "dates": ("zone", *DATES),
    "submissions": ("tracks", "daily_limit", "total_limit"),
    "metrics": ("metrics", "private_metrics", "ranking_metric", "add_metric", "more_metrics"),
    "leaderboard": ("entry", "public_share", "split_seed", "shows_corpus_baselines"),
    "prompt": (
        "endpoint",
        "calls_per_utterance",
        "input_tokens_per_dialogue",
        "output_tokens_per_dialogue",
        "input_price",
        "output_price",
    ),
}
"""The fields of each section of the page."""


def _of(round: Round) -> dict[str, Any]:
    percent = float(f"{round.public_share * 100:.6g}")
    return {name: getattr(round, name) for name in NOTED} | {
        "public_share": int(percent) if percent.is_integer() else percent
    }
