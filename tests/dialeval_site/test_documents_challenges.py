"""What the documents say of challenges is what the code does: figures, settings, actions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields

import pytest
from django.utils import timezone
from scipy import stats

from dialeval_site.demo import challenge as demo_challenge
from leaderboard.challenges import generation
from leaderboard.challenges.actions import plan
from leaderboard.challenges.actions.rounds import NOTED, RoundParams
from leaderboard.challenges.actions.setup import STEPS, ChallengeParams
from leaderboard.challenges.files.scores import COLUMNS_OF_LEVEL
from leaderboard.challenges.models import Submission
from leaderboard.challenges.models.challenge import (
    CALLS_PER_UTTERANCE,
    INPUT_TOKENS_PER_DIALOGUE,
    OUTPUT_TOKENS_PER_DIALOGUE,
)
from leaderboard.challenges.prompts import document, spec
from tests.challenges.sets import open_round, submit, team_with_member
from tests.dialeval_site.documents import (
    code_words,
    first_table,
    flat,
    sections,
    table_rows,
    text_of,
)
from tests.site import PROJECT
from workers.runs.language_fit import FOR_ENGLISH, FOR_OTHERS

CHALLENGES, FORMATS_PAGE = flat(text_of("challenges.md")), flat(text_of("formats.md"))

# --- figures --------------------------------------------------------------------------------------

PROMPT_LIMITS = (
    f"{CALLS_PER_UTTERANCE}, {INPUT_TOKENS_PER_DIALOGUE:,}, {OUTPUT_TOKENS_PER_DIALOGUE:,}"
)
DEFAULTS = {one.name: one.default for one in (*fields(RoundParams), *fields(ChallengeParams))}
OF_CHALLENGES = [
    f"a day ends at 00:00 UTC | {DEFAULTS['daily_limit']}, {DEFAULTS['total_limit']} |",
    f"calls for an utterance (1 or 2), input and output tokens for a dialogue | {PROMPT_LIMITS} |",
    f"({DEFAULTS['largest_team']} at first)",
    f"three rounds of {plan.WEEKS_OF_A_ROUND} weeks each",
    *(
        f"ranks by `{ranking}` and shows `{first}`, `{second}` and `{third}`"
        for ranking, first, second, third in (FOR_ENGLISH, FOR_OTHERS)
    ),
    f"Two dialogues: {stats.t.ppf(0.975, 1):.1f} standard errors",
]
OF_FORMATS = [
    f"of at most {spec.LARGEST_FILE:,} bytes",
    f"up to {spec.LONGEST_TEXT:,} characters",
    f"1 to {spec.MOST_TOKENS:,}, of each answer",
    f"up to {spec.MOST_STOPS} texts of 1 to {spec.LONGEST_STOP} characters",
    f"0 to {spec.HIGHEST_SEED:,}",
    f"more than {document.DEEPEST} levels of nesting",
    f"no answer within {generation.CALL_SECONDS:g} s",
    "Four dialogues are asked at a time",
    *(f"`{{{one}}}`" for one in (*spec.PLACEHOLDERS, spec.FIRST_ANSWER)),
]


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (one, page)
        for page, all in ((CHALLENGES, OF_CHALLENGES), (FORMATS_PAGE, OF_FORMATS))
        for one in all
    ],
    ids=lambda value: value[:60],
)
def test_figures_are_those_of_the_code(words: str, page: str) -> None:
    assert words in page


def test_figures_that_stand_in_words() -> None:
    assert plan.PUBLIC_SHARE == 0.5
    assert "half of the dialogues on the public leaderboard" in CHALLENGES
    assert generation.DIALOGUES_AT_ONCE == 4


def test_every_state_of_a_submission_is_explained() -> None:
    rows = table_rows(sections(text_of("challenges.md"))["Submissions"])
    assert [row[0].strip("`") for row in rows] == Submission.State.values


def test_every_setting_of_a_round_is_in_the_table() -> None:
    rows = {
        row[0]
        for row in first_table(sections(text_of("challenges.md"))["A challenge and its rounds"])
    }
    named = {
        "address": ["slug"],
        "corpus version": ["version"],
        "opens, closes": ["opens_at", "closes_at"],
        "tracks": ["tracks"],
        "references": ["references"],
        "submissions of a team a day, in all": ["daily_limit", "total_limit"],
        "metrics": ["metrics", "ranking_metric"],
        "private metrics": ["private_metrics"],
        "which submission counts for a team": ["entry"],
        "public leaderboard's share, seed": ["public_share", "split_seed"],
        "release": ["release_at"],
        "corpus's baselines": ["shows_corpus_baselines"],
        "language model": ["endpoint"],
        "limits of prompts": [
            "calls_per_utterance",
            "input_tokens_per_dialogue",
            "output_tokens_per_dialogue",
        ],
        "prices": ["input_price", "output_price"],
    }
    assert rows == set(named)
    assert {one for columns in named.values() for one in columns} | {"name"} == set(NOTED)


@pytest.mark.django_db
def test_what_stays_once_something_was_handed_in_is_told() -> None:
    from leaderboard.challenges.actions.rounds import locked_fields

    rows = {
        row[0]: row[3]
        for row in first_table(sections(text_of("challenges.md"))["A challenge and its rounds"])
    }
    round = open_round(release_at=timezone.now())
    submit(round, team_with_member(round.challenge)[0])
    assert set(locked_fields(round)) == {
        "version",
        "slug",
        "references",
        "public_share",
        "split_seed",
        "release_at",
    }
    assert {name for name, later in rows.items() if later.startswith("stay")} == {
        "address",
        "corpus version",
        "public leaderboard's share, seed",
    }
    assert rows["references"] == "hidden may become public, never back"
    assert rows["release"] == "may change until then"


def test_every_step_of_a_challenge_is_in_the_log_s_table() -> None:
    documented = set(code_words(sections(text_of("challenges.md"))["The audit log"]))
    assert {f"challenge.{step}" for step in STEPS} <= documented


def test_every_action_of_the_audit_log_is_documented() -> None:
    documented = set(code_words(sections(text_of("challenges.md"))["The audit log"]))
    kinds = {one.removesuffix("…") for one in documented if one.endswith("…")}
    recorded = {*actions_recorded()}
    for action in recorded:
        assert action in documented or f"{action.split('.')[0]}." in kinds, action
    for one in documented - {f"challenge.{step}" for step in STEPS}:
        if re.fullmatch(r"[a-z]+\.[a-z_-]+", one):
            assert one in recorded, one


ACTION = re.compile(r"[a-z]+\.(?!html$|jsonl?$|csv$)[a-z][a-z_-]+")


def actions_recorded() -> Iterator[str]:
    """What stands in the code as the action of an ``audit.record``, or as a name that is handed to
    one."""
    for package in ("common", "annotations", "workers", "leaderboard", "dialeval_site"):
        for path in (PROJECT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if "audit.record(" not in source and "import record" not in source:
                continue
            for node in ast.walk(ast.parse(source)):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and ACTION.fullmatch(text):
                    yield text


def test_the_demo_s_challenge_is_documented() -> None:
    section = flat(sections(text_of("demo.md"))["The challenge"])
    assert f"`{demo_challenge.SLUG}`" in section
    assert f"seed {demo_challenge.SEED}" in section


# --- files ----------------------------------------------------------------------------------------


def test_every_level_of_metric_scores_has_its_fields_documented() -> None:
    rows = first_table(sections(text_of("formats.md"))["Submitted metric scores"])
    assert {level: tuple(code_words(fields)) for level, fields in rows} == COLUMNS_OF_LEVEL
