"""Which fields a campaign's form has for its kind, and what stands in them before and after another
choice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotations.campaigns.forms.fields import as_key, axes_as_text
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries import overview
from annotations.campaigns.scale import DEFAULT_AXES, DEFAULT_LABELS, DEFAULT_THRESHOLD, SCORES
from annotations.models import System

Kind = Campaign.Kind
THRESHOLD_OF_KIND = {
    Kind.TURN: None,
    Kind.DIALOGUE: DEFAULT_THRESHOLD,
    Kind.INTERACTIVE: DEFAULT_THRESHOLD,
}
LABELS = tuple(f"label_{score}" for score in SCORES)
RATED = ("template", "axes", "axes_below", "raters_per_item", *LABELS)
SPREAD = ("allocation", "target", "target_pairs", "target_width")
PAIRS = (
    *("version", "systems", "dialogues", "pairs", "seed", "template", "raters_per_item"),
    *(*SPREAD, "budget", "pass_mark", "attention_every"),
)
TEMPLATE_OF_KIND = {
    Kind.PAIR: "pairwise",
    Kind.DIALOGUE_PAIR: "acute-eval",
    Kind.SYSTEMS: "ranking",
}
"""What is chosen at first; of the others, the score from 1 to 5."""
FIELDS_OF_KIND: dict[str, tuple[str, ...]] = {
    Kind.TURN: (
        "version",
        "systems",
        "dialogues",
        "seed",
        *RATED,
        *SPREAD,
        "pass_mark",
        "attention_every",
    ),
    Kind.DIALOGUE: (
        "version",
        "systems",
        "dialogues",
        "seed",
        *RATED,
        *SPREAD,
        "pass_mark",
        "attention_every",
    ),
    Kind.PAIR: PAIRS,
    Kind.DIALOGUE_PAIR: PAIRS,
    Kind.SYSTEMS: (
        *("version", "systems", "dialogues", "seed", "template", "raters_per_item"),
        *("pass_mark", "attention_every"),
    ),
    Kind.INTERACTIVE: ("version", "chat_systems", "dialogues", "seed", *RATED, "utterances"),
    Kind.COLLECTION: ("dialogues", "seed", "utterances"),
}


def with_changed_choices(data: Any) -> Any:
    """Where another kind or corpus was chosen, what goes with the old one gives way to what goes
    with the new one."""
    if data is None:
        return None
    data = data.copy()
    kind, version = data.get("kind", ""), data.get("version", "")
    if data.get("shown_kind", kind) != kind and kind in Kind.values:
        data["axes_below"] = THRESHOLD_OF_KIND.get(Kind(kind)) or ""
        data["template"] = TEMPLATE_OF_KIND.get(Kind(kind), "")
        _fill(data, kind)
    new_corpus = data.get("shown_version", version) != version
    if new_corpus or ("systems" not in data and data.get("shown_kind", kind) != kind):
        key = as_key(version)
        systems = () if key is None else System.objects.filter(version=key)
        data.setlist("systems", [str(system.pk) for system in ticked_at_first(systems)])
    return data


def ticked_at_first(systems: Iterable[System]) -> list[System]:
    """All that the corpus shows; where it shows none, what teams have handed in: a campaign on it
    is about those."""
    offered = list(systems)
    return [system for system in offered if not system.withheld] or offered


def _fill(data: Any, kind: str) -> None:
    """Fields that the other kind did not have come with what they would have had from the start."""
    start = {
        "axes": axes_as_text(axis.as_json() for axis in DEFAULT_AXES),
        "raters_per_item": "2",
        "utterances": "14",
        "allocation": Campaign.Allocation.UNIFORM.value,
        "target": Campaign.Target.NONE.value,
        **dict(zip(LABELS, DEFAULT_LABELS, strict=True)),
    }
    for name, value in start.items():
        if name in FIELDS_OF_KIND[kind] and name not in data:
            data[name] = value
    if kind == Kind.COLLECTION and not data.get("dialogues"):
        data["dialogues"] = "20"
    if kind == Kind.INTERACTIVE and "chat_systems" not in data:
        data.setlist("chat_systems", [str(one.pk) for one in overview.chat_systems()])
    if (
        kind != Kind.COLLECTION
        and "version" not in data
        and (versions := overview.versions_to_choose())
    ):
        first = next((version for version in versions if version.systems.exists()), versions[0])
        data["version"] = str(first.pk)


def values_of(campaign: Campaign) -> dict[str, Any]:
    return {
        "kind": campaign.kind,
        "name": campaign.name,
        "slug": campaign.slug,
        "version": campaign.version,
        "systems": list(campaign.systems.all()),
        "chat_systems": list(campaign.chat_systems.all()),
        "dialogues": campaign.dialogues_per_system,
        "pairs": campaign.pairs,
        "budget": campaign.budget,
        "seed": campaign.seed,
        "raters_per_item": campaign.raters_per_item,
        "axes_below": campaign.axes_below,
        "axes": axes_as_text(campaign.axes),
        "utterances": campaign.utterances,
        "pass_mark": None if campaign.pass_mark is None else round(campaign.pass_mark * 100, 6),
        "attention_every": campaign.attention_every,
        **allocation_of(campaign),
        "groups": list(campaign.groups.all()),
        "opens_at": campaign.opens_at,
        "closes_at": campaign.closes_at,
        **dict(zip(LABELS, campaign.scale_labels, strict=False)),
    }


def allocation_of(campaign: Campaign) -> dict[str, Any]:
    """The target's value stands in the field of its own unit."""
    given = {"allocation": campaign.allocation, "target": campaign.target}
    if campaign.target != Campaign.Target.NONE:
        given[f"target_{campaign.target}"] = campaign.target_value
    return given
