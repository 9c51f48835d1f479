"""A corpus whose systems, dialogues and file have unmistakable names, imported as any other;
campaigns on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotations.campaigns.actions import checks, setup
from annotations.campaigns.actions.opening import open_campaign
from annotations.campaigns.models import Campaign, ChatSystem
from annotations.campaigns.plan.check_items import CheckItem
from annotations.corpora import actions
from annotations.formats.importers.registry import importers
from annotations.models import CorpusVersion

SYSTEMS = ("Zephyrquartz", "Obsidianfinch", "Marlowgate")
CORPUS, CORPUS_NAME, FILE_NAME = "vaultbridge", "Talks of Vaultbrook", "thornfield-export.jsonl"
DIALOGUE = "quillmarrow"
SEED = 1_918_273_645
CHAT = {
    "name": "Glasswhistle",
    "model": "obelisk-7b-instruct",
    "base_url": "http://orrery.example:8123/v1",
    "key_variable": "DIALEVAL_CHAT_KEY_TAMBOURINE",
    "instructions": "Lanternmoth rules apply. You are: {persona}",
}
ATTENTION_TEXT = "Purple counts the seven of under."
ATTENTION_FEEDBACK = "Palimpsest: nonsense is never good."
TRAINING_FEEDBACK = "Corduroy: it repeats the question."
ANSWERS = ("We went out early", "Nobody told me so", "It rained all week")
"""How each system's answers begin: texts are shown, and say nothing of who wrote them."""


def imported(
    folder: Path, dialogues: int = 2, turns: int = 2, systems: Sequence[str] = SYSTEMS
) -> CorpusVersion:
    """Public: its pages are what a curious rater would look at first."""
    path = folder / FILE_NAME
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in _records(dialogues, turns, systems)),
        encoding="utf-8",
    )
    (outcome,) = actions.import_corpus(importers()["jsonl"], path, CORPUS, is_public=True)
    return outcome.version


def _records(dialogues: int, turns: int, systems: Sequence[str]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "corpus", "name": CORPUS_NAME}]
    lines += [{"type": "system", "name": name} for name in systems]
    for number in range(dialogues):
        name = f"{DIALOGUE}-{number}"
        said = [
            {"speaker": speaker, "text": f"{speaker} speaks, line {line} of talk {number}."}
            for line in range(turns)
            for speaker in "AB"
        ]
        places = [
            {
                "number": turn,
                "context": said[: 2 * turn + 1],
                "references": [said[2 * turn + 1]["text"]],
            }
            for turn in range(turns)
        ]
        personas = {
            "persona": [f"I have {number + 2} boats."],
            "partner_persona": [f"I have {number + 2} goats."],
        }
        lines.append({"type": "dialogue", "id": name, **personas, "turns": places})
        lines += [
            {
                "type": "response",
                "dialogue_id": name,
                "turn": turn,
                "system": system,
                "text": f"{ANSWERS[place % len(ANSWERS)]}, {place} {turn} {number}.",
            }
            for turn in range(turns)
            for place, system in enumerate(systems)
        ]
    return lines


def campaign_on(version: CorpusVersion | None, kind: str, **asked: Any) -> Campaign:
    """Written down, with training and attention items where it has such, and opened, as by an
    organiser."""
    chat_systems = [ChatSystem.objects.create(**CHAT)] if kind == "interactive" else []
    rated = kind in ("turn", "dialogue")
    wanted: dict[str, Any] = {
        "seed": SEED,
        "raters_per_item": 1,
        "attention_every": 2 if rated else None,
        **asked,
    }
    campaign = setup.create(
        setup.CampaignParams(
            name="Spring ratings",
            kind=kind,
            version=version,
            systems=list(version.systems.all()) if version and rated else [],
            chat_systems=chat_systems,
            **wanted,
        )
    )
    setup.write_guidelines(campaign, "Read *all* of it first.")
    if rated:
        checks.add_checks(campaign, _checks(version, kind))
    open_campaign(campaign)
    return campaign


def _checks(version: CorpusVersion, kind: str) -> list[CheckItem]:
    dialogue = version.dialogues.first()
    turns = dialogue.turns.count()
    turn, texts = (0, 1) if kind == "turn" else (None, turns)
    attention = [
        CheckItem(
            "attention",
            dialogue.external_id,
            turn,
            None,
            (f"{ATTENTION_TEXT} {n}",) * texts,
            1,
            2,
            ATTENTION_FEEDBACK,
        )
        for n in range(3)
    ]
    system = version.systems.first().name
    training = CheckItem(
        "training", dialogue.external_id, turn, system, (), 2, 3, TRAINING_FEEDBACK
    )
    return [training, *attention]


def forbidden_names(version: CorpusVersion | None, campaign: Campaign) -> dict[str, str]:
    """Kind → what no answer to a rater may hold, in any case."""
    names = {f"system {number}": name for number, name in enumerate(SYSTEMS)}
    names |= {f"the chat system's {field}": value for field, value in CHAT.items()}
    names |= {"the chat system's instructions": "Lanternmoth", "the chat system's host": "orrery"}
    names |= {
        "the corpus": CORPUS,
        "the corpus's name": CORPUS_NAME,
        "the file": FILE_NAME,
        "a dialogue": DIALOGUE,
    }
    names |= {
        "attention feedback": ATTENTION_FEEDBACK,
        "the word": "attention",
        "a draw's": "propensity",
    }
    names["the campaign's seed"] = str(campaign.seed)
    for rater in campaign.participations.all():
        names[f"seed of {rater}"] = f"{rater.seed:09d}"
    if version is not None:
        names |= {"the version": version.label, "its digest": version.digest[:12]}
    return names
