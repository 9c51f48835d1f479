"""What people bring along: their own dialogues, what their systems answer, practice for raters."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

WARM_UP, FINAL = "Warm-up talks", "Final talks"
TALKS = {
    "ferry": (
        ["i repair ferries.", "i am afraid of deep water."],
        [
            ("Is the morning boat on time today?", "It is, the engine was mended last night."),
            (
                "You work on the boats yourself?",
                "Yes, I repair them, though I never look over the side.",
            ),
            ("Why ever not?", "Deep water frightens me, odd as that is for my trade."),
        ],
    ),
    "orchard": (
        ["i grow pears.", "i get up at four."],
        [
            (
                "Are these pears from around here?",
                "From my own trees, picked before the sun was up.",
            ),
            ("You must be an early riser.", "Four o'clock, every single day."),
            ("And what do you do in winter?", "I prune the trees and sleep until five."),
        ],
    ),
    "clocks": (
        ["i collect clocks.", "i live above a bakery."],
        [
            ("What is ticking in your flat?", "About forty clocks, I collect them."),
            ("How can you sleep with that?", "The bakery below wakes me long before they strike."),
            ("Could one of them help me be on time?", "I can lend you the loudest that I have."),
        ],
    ),
    "goats": (
        ["i have three goats.", "i play the trumpet."],
        [
            ("Did your goats eat my roses again?", "Only one of them did, and I am sorry."),
            ("And who was that at midnight?", "That was my trumpet, I practise for the parade."),
            ("Could you practise somewhere else?", "I could play to the goats in the far meadow."),
        ],
    ),
}
IN_WARM_UP = ("ferry", "orchard")


def corpus(name: str, dialogues: tuple[str, ...] = tuple(TALKS)) -> str:
    records: list[dict[str, Any]] = [
        {"type": "corpus", "name": name, "description": "Short talks of neighbours."}
    ]
    for key in dialogues:
        persona, lines = TALKS[key]
        said: list[dict[str, str]] = []
        turns = []
        for number, (question, answer) in enumerate(lines):
            said = [*said, {"speaker": "A", "text": question}]
            turns.append({"number": number, "context": said, "references": [answer]})
            said = [*said, {"speaker": "B", "text": answer}]
        records.append(
            {
                "type": "dialogue",
                "id": key,
                "persona": persona,
                "partner_persona": ["i live next door."],
                "turns": turns,
            }
        )
    return "".join(json.dumps(record) + "\n" for record in records)


# --- what systems say -----------------------------------------------------------------------------


def answers(template: str, words_of: Any) -> str:
    """The template (CSV) with ``words_of(dialogue, turn)`` in every row."""
    rows = list(csv.DictReader(io.StringIO(template)))
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(
        {**row, "response": words_of(row["dialog_id"], int(row["turn"]))} for row in rows
    )
    return file.getvalue()


def nearly_gold(dialogue: str, turn: int) -> str:
    """All but the last two words of the reference: the best of the three systems."""
    return " ".join(TALKS[dialogue][1][turn][1].split()[:-2])


def vague(dialogue: str, turn: int) -> str:
    return f"Well, I am not sure about {['that', 'this', 'it'][(turn + len(dialogue)) % 3]}."


def model(_asked: dict[str, Any]) -> str:
    """The language model that answers the prompt."""
    return "I am glad that you ask, it is a fine day."


def tokens(_asked: dict[str, Any]) -> dict[str, int]:
    """What an answer of it is said to take."""
    return {"prompt_tokens": 60, "completion_tokens": 10, "total_tokens": 70}


# --- for raters -----------------------------------------------------------------------------------

PRACTICE = "".join(
    json.dumps(item) + "\n"
    for item in (
        {
            "role": "training",
            "dialogue": "ferry",
            "turn": 0,
            "text": "It is, and the engine runs like new.",
            "lowest": 4,
            "highest": 5,
            "feedback": "It answers the question.",
        },
        {
            "role": "training",
            "dialogue": "goats",
            "turn": 0,
            "text": "Seven spoons under Tuesday, and and.",
            "lowest": 1,
            "highest": 2,
            "feedback": "It makes no sense.",
        },
    )
)


def scores(template: str) -> str:
    """The template of a metric's turn scores, filled in: here with the number of words."""
    rows = list(csv.DictReader(io.StringIO(template)))
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    for number, row in enumerate(rows):
        writer.writerow({**row, "score": (number * 7) % 11})
    return file.getvalue()
