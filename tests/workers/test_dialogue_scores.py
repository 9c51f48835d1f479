"""Scores of whole dialogues: how runs keep them, and that everybody who reads scores reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotations.corpora.queries import select_systems
from annotations.corpora.rating_queries import turn_order
from annotations.models import CorpusVersion
from common.estimates import Undefined
from leaderboard.challenges.queries.board_entries import _board_metric, _by_turn
from leaderboard.pages.dialogue.view import dialogue_context
from leaderboard.pages.metric.query import score_spread
from leaderboard.queries.finished_runs import metric_scores
from tests.annotations.stored import dialogue, rated_corpus, stored
from tests.workers.conftest import forget
from tests.workers.lengths import Scorer, SystemLengths, lengths, metric
from workers.management.commands.score import _all_but_judges
from workers.metrics import registry
from workers.metrics.base import Account, Example, Level, Metric, Score
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution, scoring
from workers.runs.queries import dialogue_scores_at, turn_scores_at
from workers.runs.score_records import score_records_of

pytestmark = pytest.mark.django_db


class Words:
    """How many words the system said in the dialogue; nothing is said of one in which it said
    "no"."""

    def __init__(self) -> None:
        self.calls: list[list[list[str]]] = []

    def score_dialogues(
        self, dialogues: Sequence[Sequence[Example]], progress: Any = None
    ) -> list[Score]:
        self.calls.append([[one.response for one in each] for each in dialogues])
        return [self._of(each) for each in dialogues]

    def _of(self, each: Sequence[Example]) -> Score:
        if any(one.response == "no" for one in each):
            return Undefined("it says no")
        return float(sum(len(one.response.split()) for one in each))

    def account(self) -> Account:
        places = range(len(self.calls[-1]))
        return Account(
            "counter@1",
            "cpu",
            remarks={place: f"remark {place}" for place in places},
            traces={place: {"said": self.calls[-1][place]} for place in places},
        )


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> Words:
    made = Words()
    words = Metric(
        name="words",
        version="1",
        summary="For tests.",
        citation="for tests",
        build=lambda options: made,
        levels=frozenset({"dialogue", "system"}),
        value_range=(None, None),
        systems_at_once=8,
    )
    forget()
    catalogue = registry.assemble([*registry.built_in_metrics(), words], [])
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)
    return made


@pytest.fixture
def version(tmp_path: Path, scorer: Words) -> CorpusVersion:
    """Three dialogues of two turns. ``silent`` says nothing at d1's second turn, ``curt`` says no
    in d2."""
    said = {
        (f"d{number}", turn, name): " ".join([name] * (number + turn + 1))
        for number in range(3)
        for turn in range(2)
        for name in ("curt", "silent")
    }
    del said["d1", 1, "silent"]
    said["d2", 0, "curt"] = "no"
    return stored(
        rated_corpus([dialogue(f"d{number}", turns=2) for number in range(3)], said), tmp_path
    )


@pytest.fixture
def done(version: CorpusVersion) -> dict[str, MetricRun]:
    actions.request([parse("words"), parse("word_f1")], select_systems(version), hint=False)
    for run in MetricRun.objects.order_by("pk"):
        execution.compute(run.pk)
    return {
        run.system.name: run
        for run in MetricRun.objects.filter(metric="words").select_related("system")
    }


@pytest.mark.parametrize(
    ("levels", "made", "error"),
    [
        (
            {"dialogue", "system"},
            Scorer(lengths),
            "misfit has the levels dialogue, system: its scorer needs score_dialogues",
        ),
        (
            {"dialogue", "system"},
            SystemLengths(),
            "misfit has the levels dialogue, system: its scorer needs score_dialogues",
        ),
        (
            {"system"},
            Scorer(lengths),
            "misfit has the levels system: its scorer needs score_dialogues or score_system",
        ),
        (
            {"turn", "dialogue", "system"},
            Words(),
            "misfit has the levels turn, dialogue, system: its scorer needs score",
        ),
    ],
)
def test_a_metric_whose_methods_do_not_fit_its_levels_fails_its_run_and_says_so(
    version: CorpusVersion,
    monkeypatch: pytest.MonkeyPatch,
    levels: set[Level],
    made: Any,
    error: str,
) -> None:
    misfit = replace(
        metric("misfit", lengths), levels=frozenset(levels), build=lambda options: made
    )
    monkeypatch.setattr(registry, "_catalogue", lambda: registry.assemble([misfit], []))
    actions.request([parse("misfit")], select_systems(version, ["curt"]), hint=False)
    execution.compute(MetricRun.objects.get().pk)
    run = MetricRun.objects.get()
    assert (run.state, run.error) == ("failed", f"ValueError: {error}")
    assert run.dialogue_scores == []


def test_dialogue_scores_that_are_not_one_a_dialogue_fail_their_run(
    version: CorpusVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be scored has an entry too many: a score a turn, say."""
    whole = scoring._whole_dialogues
    monkeypatch.setattr(
        scoring, "_whole_dialogues", lambda task: [*whole(task), Undefined("no dialogue")]
    )
    actions.request([parse("words")], select_systems(version, ["curt"]), hint=False)
    execution.compute(MetricRun.objects.get().pk)
    run = MetricRun.objects.get()
    assert (run.state, run.error) == (
        "failed",
        "ValueError: words has 4 dialogue scores for 3 dialogues",
    )


def test_a_run_keeps_a_score_a_dialogue_and_their_mean(done: dict[str, MetricRun]) -> None:
    """curt: 1 + 2 and 2 + 3 words, so (3 + 5) / 2; the third dialogue has no score and is left
    out."""
    curt = done["curt"]
    assert curt.dialogue_scores == [3.0, 5.0, None]
    assert curt.turn_scores == []
    assert curt.undefined == {"2": "it says no"}
    assert curt.system_score == 4.0
    assert "|n:2" in curt.signature


def test_a_dialogue_with_a_silent_turn_is_not_put_before_the_scorer(
    done: dict[str, MetricRun], scorer: Words
) -> None:
    silent = done["silent"]
    assert silent.dialogue_scores == [3.0, None, 7.0]
    assert silent.undefined == {"1": "the system gave no response at turn 1"}
    assert [len(call) for call in scorer.calls] == [3 + 2], "both systems in one call"


def test_a_scorer_of_dialogues_sees_all_turns_of_the_corpus_first(
    version: CorpusVersion, scorer: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(
        scorer,
        "see_corpus",
        lambda turns: seen.append((len(turns), len(scorer.calls))),
        raising=False,
    )
    actions.request([parse("words")], select_systems(version), hint=False)
    execution.compute(MetricRun.objects.order_by("pk")[0].pk)
    assert seen == [(6, 0)]  # three dialogues of two turns, before any was scored
    assert len(scorer.calls) == 1


def test_remarks_and_traces_are_each_run_s_own_by_the_dialogue_s_place(
    done: dict[str, MetricRun],
) -> None:
    assert done["curt"].remarks == {"0": "remark 0", "1": "remark 1", "2": "remark 2"}
    assert done["silent"].remarks == {"0": "remark 3", "2": "remark 4"}
    assert done["silent"].details["traces"]["2"] == {
        "said": ["silent " * 2 + "silent", "silent " * 3 + "silent"]
    }


def test_a_scorer_that_gives_too_few_scores_fails_the_run(
    version: CorpusVersion, scorer: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorer, "_of", lambda each: 1.0)
    monkeypatch.setattr(Words, "score_dialogues", lambda self, dialogues, progress=None: [1.0])
    actions.request([parse("words")], select_systems(version), hint=False)
    execution.compute(MetricRun.objects.order_by("pk")[0].pk)
    run = MetricRun.objects.order_by("pk")[0]
    assert run.state == MetricRun.State.FAILED
    assert "gave 1 scores for 3 dialogues" in run.error


def test_leaderboards_read_them_as_scores_of_dialogues(
    version: CorpusVersion, done: dict[str, MetricRun]
) -> None:
    systems = select_systems(version)
    found = metric_scores(systems, len(turn_order(version).turn_pks))
    assert found.texts == ("word_f1", "words")
    assert found.finest(1) == "dialogue"
    assert found.dialogue is not None
    assert found.dialogue[1].tolist()[0][:2] == [3.0, 5.0]
    assert found.system[1].tolist() == [4.0, 5.0]


def test_the_spread_is_that_of_dialogues(
    version: CorpusVersion, done: dict[str, MetricRun]
) -> None:
    spread = score_spread(version, "words")
    assert (spread["level"], spread["summary"]["n"]) == ("dialogue", 4)
    assert {reason for reason, _ in spread["undefined"]} == {
        "it says no",
        "the system gave no response at turn 1",
    }


def test_the_dialogue_s_page_shows_them_with_the_dialogue_and_not_at_a_turn(
    version: CorpusVersion, done: dict[str, MetricRun]
) -> None:
    """The undefined one's number is a dialogue's, not a turn's."""
    third = version.dialogues.get(external_id="d2")
    curt = done["curt"].system_id
    assert dialogue_scores_at(version, third)[curt] == [("words", None, "it says no", "remark 2")]
    shown = dialogue_context(version, third, "", "overall")["dialogue_scores"]
    assert [(name, scores[0].score) for name, _, scores in shown] == [
        ("curt", None),
        ("silent", 7.0),
    ]
    turn = version.dialogues.get(external_id="d1").turns.get(number=0)
    assert [one.configuration for one in turn_scores_at(version, turn)[curt]] == ["word_f1"]


def test_exports_hold_them_by_dialogue(version: CorpusVersion, done: dict[str, MetricRun]) -> None:
    records = {
        record.system: record for record in score_records_of(version) if record.metric == "words"
    }
    assert records["silent"].dialogue_scores == {"d0": 3.0, "d1": None, "d2": 7.0}
    assert records["silent"].turn_scores == {}
    by_turns = next(record for record in score_records_of(version) if record.metric == "word_f1")
    assert set(by_turns.dialogue_scores) == {"d0", "d1", "d2"}


def test_score_prints_them(version: CorpusVersion, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("score", corpus=version.corpus.slug, metrics="words", inline=True, format="json")
    curt, _ = json.loads(capsys.readouterr().out)["runs"]
    assert curt["dialogue_scores"] == [
        {"dialogue": "d0", "score": 3.0},
        {"dialogue": "d1", "score": 5.0},
        {"dialogue": "d2", "score": None, "reason": "it says no"},
    ]
    assert curt["turn_scores"] == []
    assert curt["remarks"][0] == {"dialogue": "d0", "remark": "remark 0"}


def test_all_metrics_are_those_that_cost_no_money() -> None:
    assert "words" not in _all_but_judges()
    assert "word_f1" in _all_but_judges()
    assert not [name for name in _all_but_judges() if name.startswith(("cpdscore", "judge"))]


def test_a_challenge_s_board_places_a_dialogue_s_score_at_its_first_turn(
    version: CorpusVersion, done: dict[str, MetricRun]
) -> None:
    """So that means and intervals over turns are those over dialogues."""
    order = turn_order(version)
    found = metric_scores(select_systems(version), len(order.turn_pks), only=["words"])
    curt = _by_turn(found, 0, order)[0]
    assert [None if score != score else score for score in curt] == [
        3.0,
        None,
        5.0,
        None,
        None,
        None,
    ]
    assert _board_metric("words").of_dialogues
    assert not _board_metric("word_f1").of_dialogues
