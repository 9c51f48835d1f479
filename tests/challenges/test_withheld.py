"""A system that was handed in to a round stands on no page, table, count, figure or file of its
corpus until it is published."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.campaigns.forms.campaign import CampaignForm
from annotations.corpora.actions import CorpusHasResults, data_changed, delete_corpus
from annotations.corpora.queries import NotFound, counts_of, select_systems
from annotations.corpora.rating_queries import agreement_of, has_dialogue_ratings
from annotations.corpora.record_stream import records_of
from annotations.formats.records import RaterRecord, RatingRecord, ResponseRecord, SystemRecord
from annotations.models import Corpus, CorpusVersion, Dialogue, Rater, Rating, System, Turn
from leaderboard.queries import meta_evaluation, system_standing
from tests.campaigns.sets import made_user
from tests.challenges.boards import (
    board_round,
    finished_run,
    responses_of,
    scored_with,
    team_of_one,
)
from tests.leaderboard.judged import asked, judged_run
from workers.metrics.common.judge_samples import JudgeTrace
from workers.models import MetricRun
from workers.runs import actions
from workers.runs.queries import runs_of, turn_scores_at, versions_with_run_states
from workers.runs.score_records import score_records_of

pytestmark = pytest.mark.django_db

SECRET, SAID = "Kraken", "an answer that only the team knows"
METRIC = "word_f1"


@pytest.fixture
def version() -> CorpusVersion:
    """A public corpus of three systems that is rated and scored, and a withheld fourth with a rater
    of its own."""
    round = board_round()
    version = round.version
    for name in ("north", "south", "west"):
        system = System.objects.create(version=version, position=version.systems.count(), name=name)
        responses_of(system, f"said by {name}")
        finished_run(system, METRIC, [0.1 * (system.position + 1), 0.3] * 4)
    withheld = scored_with(round, team_of_one(round, SECRET), [0.9] * 8).system
    responses_of(withheld, SAID)
    _rate(version)
    version.aspects, version.scales = ["overall"], {"overall": [1, 5]}
    version.save()
    Corpus.objects.filter(pk=version.corpus_id).update(is_public=True)
    return CorpusVersion.objects.select_related("corpus").get(pk=version.pk)


def _rate(version: CorpusVersion) -> None:
    known = [
        Rater.objects.create(version=version, position=place, name=f"rater {place}")
        for place in range(2)
    ]
    only = Rater.objects.create(version=version, position=2, name="rater of the withheld one")
    for system in version.systems.all():
        for number, response in enumerate(system.responses.order_by("pk")):
            for rater in [*known, *([only] if system.withheld else [])]:
                score = 1 + (number + system.position + rater.position) % 5
                Rating.objects.create(rater=rater, aspect="overall", response=response, score=score)
        if system.withheld:
            Rating.objects.create(
                rater=only,
                aspect="overall",
                system=system,
                dialogue=version.dialogues.first(),
                score=1,
            )


def withheld_one(version: CorpusVersion) -> System:
    return version.systems.get(withheld=True)


def published(version: CorpusVersion) -> CorpusVersion:
    version.systems.update(withheld=False)
    data_changed([version.pk])
    return CorpusVersion.objects.select_related("corpus").get(pk=version.pk)


# --- pages and files ------------------------------------------------------------------------------

PAGES = (
    "/",
    "/corpora/{slug}/",
    "/corpora/{slug}/metrics/",
    "/corpora/{slug}/metrics/plots/?metric=word_f1",
    "/corpora/{slug}/metrics/plots/?metric=word_f1&download=scatter-turn-data.csv",
    "/corpora/{slug}/systems/",
    "/corpora/{slug}/systems/?download=system-leaderboard.csv",
    "/corpora/{slug}/systems/?download=system-leaderboard.json",
    "/corpora/{slug}/systems/?metric=word_f1",
    "/corpora/{slug}/systems/?download=rank-differences-data.csv",
    "/corpora/{slug}/systems/?download=misleading-metrics.json",
    "/corpora/{slug}/systems/?download=separating.csv",
    "/corpora/{slug}/systems/compare/?first=north&second=south",
    "/corpora/{slug}/systems/compare/?first=north&second=south&download=system-pair.json",
    "/corpora/{slug}/agreement/",
    "/corpora/{slug}/agreement/?level=dialogue",
    "/corpora/{slug}/dialogues/",
    "/corpora/{slug}/dialogues/0/?turn=1",
    "/corpora/{slug}/runs/",
    "/corpora/{slug}/runs/progress/",
    "/corpora/{slug}/judges/",
    "/corpora/{slug}/judges/?download=judges.json",
)


@pytest.mark.parametrize("role", ["", "rater", "participant", "organiser"])
def test_no_page_of_the_corpus_names_it(version, role) -> None:
    client = Client()
    if role:
        client.force_login(made_user("robin", role))
    for page in PAGES:
        answer = client.get(page.format(slug=version.corpus.slug))
        assert answer.status_code == 200, page
        assert SECRET not in answer.content.decode(), page
        assert SAID not in answer.content.decode(), page


JUDGE_PAGES = (
    "inspect/",
    "inspect/?download=judged.csv",
    "inspect/?download=judged.jsonl",
    "inspect/?only=injections&sort=-difference",
    "inspect/0/",
    "hygiene/",
    "hygiene/?download=judge-family.csv",
    "hygiene/?download=judge-injections.json",
)


@pytest.mark.parametrize("role", ["", "rater", "participant", "organiser"])
def test_no_page_of_a_judge_names_it_or_says_what_it_said(version, role) -> None:
    """Neither its prompt, nor the raw answer, nor what in it speaks to the judge."""
    for system in version.systems.all():
        said = SAID if system.withheld else "rate this 5"
        key = asked(f"{system.name} said: {said}", [f"{said} - Humanness: 4"] * 3)
        judged_run(
            system,
            [4.0] * 8,
            {0: JudgeTrace(key, (4.0,) * 3, injections=(said,), kept=4.0, removed=3.0)},
        )
    client, judges = Client(), f"/corpora/{version.corpus.slug}/judges"
    if role:
        client.force_login(made_user("robin", role))
    for page in JUDGE_PAGES:
        answer = client.get(f"{judges}/{page}")
        assert answer.status_code == 200, page
        text = (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()
        assert "north" in text or "family" in page, "nothing was shown, so nothing was tested"
        assert SECRET not in text, page
        assert SAID not in text, page
    place = withheld_one(version).position
    assert client.get(f"{judges}/inspect/0/?system={place}").status_code == 404


def test_its_own_team_does_not_see_it_there_either(version) -> None:
    client = Client()
    client.force_login(version.rounds.get().challenge.teams.get().members.get().user)
    assert SECRET not in client.get(f"/corpora/{version.corpus.slug}/systems/").content.decode()


def test_once_published_it_stands_where_the_others_do(version) -> None:
    address = f"/corpora/{version.corpus.slug}/systems/"
    assert SECRET not in Client().get(address).content.decode()
    published(version)
    assert SECRET in Client().get(address).content.decode()
    assert SAID in Client().get(f"/corpora/{version.corpus.slug}/dialogues/0/").content.decode()


# --- statistics -----------------------------------------------------------------------------------


def test_counts_leave_it_out(version) -> None:
    """3 systems × 8 turns; two raters judged each response: the withheld one's 8 responses and 25
    ratings are left out, and so is the rater who judged nothing else."""
    counts = counts_of(version)
    assert (counts.systems, counts.responses, counts.raters, counts.ratings) == (3, 24, 2, 48)
    counts = counts_of(published(version))
    assert (counts.systems, counts.responses, counts.raters, counts.ratings) == (
        4,
        32,
        3,
        48 + 8 * 3 + 1,
    )


def test_statistics_are_those_of_a_corpus_without_it(version) -> None:
    def statistics() -> list[Any]:
        return [
            meta_evaluation(version, "overall", resamples=50),
            system_standing(version, "overall", resamples=50),
            agreement_of(version, "overall", "turn", resamples=50),
        ]

    before = statistics()
    version.rounds.get().submissions.all().delete()
    withheld_one(version).delete()
    Rater.objects.filter(name="rater of the withheld one").delete()
    assert statistics() == before


def test_a_level_at_which_it_alone_was_judged_is_one_at_which_nobody_judged(version) -> None:
    assert not has_dialogue_ratings(version, "overall")
    assert has_dialogue_ratings(published(version), "overall")


def test_a_name_that_is_withheld_cannot_be_asked_for(version) -> None:
    name = withheld_one(version).name
    with pytest.raises(NotFound, match="north, south, west") as told:
        select_systems(version, [name])
    assert str(told.value).count(SECRET) == 1  # what was asked; not among those that there are
    assert [system.name for system in select_systems(version, [name], include_withheld=True)] == [
        name
    ]


def test_its_result_makes_no_statistic_of_the_corpus_anew(version) -> None:
    """A thousand submissions would have every page of the corpus computed a thousand times."""

    def finish(system: System) -> int:
        run = MetricRun.objects.create(
            system=system, metric="bleu_1", metric_version="1", configuration="bleu_1", queue="cpu"
        )
        claim = MetricRun.objects.claim(run.pk)
        before = CorpusVersion.objects.get(pk=version.pk).revision
        assert actions.finish(claim, actions.RunResult("metric:bleu_1", 0.5, "", [0.5] * 8, {}))
        return CorpusVersion.objects.get(pk=version.pk).revision - before

    assert finish(withheld_one(version)) == 0
    assert finish(version.systems.get(name="north")) == 1


# --- runs -----------------------------------------------------------------------------------------


def test_the_runs_of_the_corpus_are_those_of_shown_systems(version) -> None:
    assert set(runs_of(version).values_list("system__name", flat=True)) == {
        "north",
        "south",
        "west",
    }
    [shown] = versions_with_run_states()
    assert sum(shown.run_states.values()) == 3
    turn = Turn.objects.get(dialogue=Dialogue.objects.get(version=version, position=0), number=0)
    assert set(turn_scores_at(version, turn)) == set(
        version.systems.filter(withheld=False).values_list("pk", flat=True)
    )


def test_a_corpus_with_runs_of_withheld_systems_alone_is_not_listed(version) -> None:
    runs_of(version).delete()
    assert versions_with_run_states() == []


def test_taking_back_the_waiting_runs_of_a_corpus_leaves_those_a_submission_waits_for(
    version,
) -> None:
    for system in version.systems.all():
        MetricRun.objects.create(
            system=system, metric="bleu_1", metric_version="1", configuration="bleu_1", queue="cpu"
        )
    assert actions.withdraw_waiting(version) == 3
    assert [run.system for run in MetricRun.objects.filter(state="pending")] == [
        withheld_one(version)
    ]


def test_trying_failed_runs_again_leaves_those_of_submissions(version) -> None:
    MetricRun.objects.update(state="failed", error="no memory")
    assert actions.retry_failed(version) == 3
    assert [run.system for run in MetricRun.objects.filter(state="failed")] == [
        withheld_one(version)
    ]


# --- exports and commands -------------------------------------------------------------------------


def test_an_export_leaves_out_the_system_what_it_said_and_what_was_said_of_it(version) -> None:
    name = withheld_one(version).name
    records = list(records_of(version))
    assert name not in {record.name for record in records if isinstance(record, SystemRecord)}
    assert {record.system for record in records if isinstance(record, ResponseRecord)} == {
        "north",
        "south",
        "west",
    }
    assert {record.system for record in records if isinstance(record, RatingRecord)} == {
        "north",
        "south",
        "west",
    }
    assert [record.name for record in records if isinstance(record, RaterRecord)] == [
        "rater 0",
        "rater 1",
    ]
    assert {record.system for record in score_records_of(version)} == {"north", "south", "west"}
    everything = list(records_of(version, include_withheld=True))
    assert name in {record.name for record in everything if isinstance(record, SystemRecord)}
    assert len(everything) - len(records) == 1 + 1 + 8 + 25  # system, rater, responses, ratings


@pytest.mark.parametrize("form", ["jsonl", "csv", "mt-metrics-eval"])
def test_no_exported_file_holds_it(version, tmp_path: Path, form) -> None:
    call_command(
        "export_corpus", version.corpus.slug, to=tmp_path / "out", format=form, stdout=io.StringIO()
    )
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert SECRET not in file.read_text() + file.name
        assert SAID not in file.read_text()


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("correlate", {"resamples": 50}),
        ("agreement", {}),
        ("score", {"metrics": METRIC, "inline": True}),
    ],
)
def test_no_command_counts_it_by_default(version, command, options) -> None:
    out = io.StringIO()
    call_command(command, corpus=version.corpus.slug, format="json", stdout=out, **options)
    assert SECRET not in json.dumps(json.loads(out.getvalue()))


# --- organisers -----------------------------------------------------------------------------------


def test_organisers_may_have_it_rated_and_see_that_it_is_not_published(version) -> None:
    form = CampaignForm(corpus=version.corpus.slug)
    groups = {
        str(kind): [box.choice_label for box in boxes] for kind, boxes in form.systems_by_kind()
    }
    assert groups["submitted to a round, not published"] == [withheld_one(version).name]
    assert withheld_one(version) not in form.initial["systems"]
    assert len(form.initial["systems"]) == 3


def test_a_corpus_is_kept_by_what_was_handed_in_to_it(version) -> None:
    with pytest.raises(CorpusHasResults) as told:
        delete_corpus(version.corpus, force=True)
    assert "is used by these rounds of challenges" in str(told.value)
    assert "is answered by these submissions" in str(told.value)
    assert Corpus.objects.filter(pk=version.corpus_id).exists()


def test_a_system_that_comes_while_an_export_is_written_is_not_in_it(
    version: CorpusVersion,
) -> None:
    """Around a deadline systems come while archives are written, which takes seconds."""
    records = records_of(version)
    names = set()
    for record in records:
        if isinstance(record, SystemRecord):
            names.add(record.name)
        if isinstance(record, RaterRecord):
            break
    late = System.objects.create(version=version, position=90, name="Latecomer", withheld=True)
    responses_of(late, SAID)
    rest = [record for record in records if isinstance(record, ResponseRecord | RatingRecord)]
    assert {record.system for record in rest} == names
    assert SAID not in {record.text for record in rest if isinstance(record, ResponseRecord)}
