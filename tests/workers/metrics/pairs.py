"""Examples for tests: own ones, and the real corpora where DIALEVAL_DATA says where they are."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from workers.metrics.base import Example, Score
from workers.metrics.common.configuration import parse


def example(response: str, *references: str) -> Example:
    return Example("d", 0, (), (), (), references, response)


def score(configuration: str, response: str, *references: str) -> Score:
    (one,) = parse(configuration).scorer().score([example(response, *references)])
    return one


def data_folder() -> Path:
    given = os.environ.get("DIALEVAL_DATA")
    if not given:
        pytest.skip("DIALEVAL_DATA is not set: the real corpora are not here")
    return Path(given)


def golden(name: str) -> Any:
    return json.loads((data_folder().parent / "golden" / name).read_text(encoding="utf-8"))


def usr_examples() -> list[Example]:
    """The 300 USR responses in file order; the reference is the original answer of the same
    context."""
    contexts = json.loads((data_folder() / "usr" / "pc_usr_data.json").read_text(encoding="utf-8"))
    examples = []
    for context in contexts:
        answers = {answer["model"]: answer["response"] for answer in context["responses"]}
        reference = answers["Original Ground Truth"].strip()
        examples += [example(answer["response"], reference) for answer in context["responses"]]
    return examples


def fbd_systems(corpus: str) -> list[list[Example]]:
    """One list of examples per system, in file order."""
    lines = (
        (data_folder() / "fbd" / f"{corpus}_annotation.json")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    rows = [json.loads(line) for line in lines]
    return [
        [example(row["hyps"][k], *row["refs"]) for row in rows] for k in range(len(rows[0]["hyps"]))
    ]


LONG = " ".join(f"word{n % 37} w{n % 11}" for n in range(400))

OWN: Sequence[Example] = (
    example("I like green tea.", "I really like green tea"),
    example("the the the the", "the cat is on the mat"),
    example("no no no yes", "no yes no"),
    example("completely different", "nothing in common here"),
    example("tea", "tea"),
    example("tea", "coffee"),
    example("", "hello there"),
    example("?!", "hello there"),
    example("Ein schöner Tag, Größe 43", "ein schöner tag in Größe 44"),
    example("日本 の お茶 tea", "日本 の お茶 が tea"),
    example("naïve café 😀 😀", "café naïve 😀"),
    example("İstanbul is big", "istanbul is big"),
    example("a’la carte isn’t it", "à la carte isn’t it"),
    example(LONG, LONG[::-1] + " " + LONG[:500]),
    example(LONG[:1500], LONG),
    example("cats running quickly home", "the cat runs quick to homes"),
    # Several references: clipping takes the largest count in any one, the brevity penalty the
    # closest length.
    example("we go to the the park today", "we went to the park", "today we go", "the the the"),
    example("one two three", "one two", "one two three four"),
    example("one two three", "nothing", "three two one"),
)
