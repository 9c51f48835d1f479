"""ComperDial's two rating files by a mapping of their fields. The files are made here from what the
paper says of them (section 3): rows of responses and of whole dialogues with six raters' scores
each. The published ones have fields of their own names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from annotations.corpora.queries import version_of
from annotations.models import Rating

pytestmark = pytest.mark.django_db

RATERS = [f"worker_{number}" for number in range(1, 7)]
TURN_SCORES = (5, 4, 4, 3, 5, 3)
"""Their mean is 4."""
DIALOGUE_SCORES = (2, 3, 2, 2, 3, 3)
"""2.5: lower than turn by turn, as in appendix A.8."""


def columns(uses: dict[str, str]) -> str:
    scores = "".join(f"  {one}: {{use: score, aspect: overall, rater: {one}}}\n" for one in RATERS)
    return "columns:\n" + "".join(f"  {name}: {use}\n" for name, use in uses.items()) + scores


def test_both_files_become_one_corpus_with_six_raters_a_response_and_dialogue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [
        {
            "which": "conv-0",
            "nth": turn,
            "from": agent,
            "profile": json.dumps(["I am a beekeeper.", "I am 61 years old."]),
            "before": json.dumps(["Hello!", "Hi, who are you?"][: 1 + turn]),
            "said": f"{agent} answers {turn}",
            **dict(zip(RATERS, TURN_SCORES, strict=True)),
        }
        for agent in ("team-1", "human-1")
        for turn in range(2)
    ]
    dialogues = [
        {"which": "conv-0", "from": agent, **dict(zip(RATERS, DIALOGUE_SCORES, strict=True))}
        for agent in ("team-1", "human-1")
    ]
    files = {"turn_level.json": turns, "dialogue_level.json": dialogues}
    for name, rows in files.items():
        (tmp_path / name).write_text(json.dumps(rows), encoding="utf-8")
    places = {"which": "conversation", "from": "system"}
    of_turns = {"nth": "turn", "profile": "persona", "before": "context", "said": "response"}
    for name, uses in (("turns", {**places, **of_turns}), ("dialogues", places)):
        (tmp_path / f"{name}.yaml").write_text(columns(uses), encoding="utf-8")

    call_command(
        *("import_corpus", "table", str(tmp_path / "turn_level.json"), "--slug", "comperdial"),
        *("--mapping", str(tmp_path / "turns.yaml")),
    )
    call_command(
        *("add_to_corpus", "comperdial", str(tmp_path / "dialogue_level.json")),
        *("--mapping", str(tmp_path / "dialogues.yaml")),
    )

    version = version_of("comperdial")
    dialogue = version.dialogues.get()
    assert dialogue.persona == ["I am a beekeeper.", "I am 61 years old."]
    human = version.systems.get(name="human-1")
    of_responses = Rating.objects.filter(response__system=human)
    of_dialogues = Rating.objects.filter(system=human, dialogue=dialogue)
    for ratings, scores in ((of_responses, TURN_SCORES), (of_dialogues, DIALOGUE_SCORES)):
        found = dict(ratings.values_list("rater__name", "score"))
        assert found == dict(zip(RATERS, map(float, scores), strict=True))
    assert of_responses.count() == 2 * len(RATERS)
    capsys.readouterr()
    call_command("cases", corpus="comperdial", rated_lower=10, format="json")
    lower = json.loads(capsys.readouterr().out)
    assert "team-1" in json.dumps(lower)
