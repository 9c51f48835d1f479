"""The page and the command that add a table to a corpus, and metrics' scores from a table. The corpus
is ``two_systems``: two dialogues, three turns, systems echo and dull."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotations.formats.importers.problems import ImportFailed
from annotations.models import AuditEntry, CorpusImport, CorpusVersion
from leaderboard.metric_score_tables import add_metric_scores
from leaderboard.models import SubmittedMetric, SubmittedScores
from leaderboard.pages.additions import view
from tests.annotations.stored import stored, two_systems
from tests.campaigns.sets import made_user
from workers import imports as work
from workers.models import MetricRun

pytestmark = pytest.mark.django_db

PAGE = "/corpora/small/add/"
RATINGS = "dialog_id,turn,system,rater,score\nd0,0,echo,cat,3\nd1,0,echo,ann,5\n"
SCORES = """dialog_id,turn,system,bleurt_x,nist
d0,0,echo,0.5,1
d0,1,echo,-0.25,
d1,0,echo,0,3
d0,0,dull,0.125,4
"""


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


@pytest.fixture
def organiser(client: Client) -> Client:
    client.force_login(made_user("olga", "organiser"))
    return client


def written(folder: Path, text: str) -> Path:
    path = folder / "more.csv"
    path.write_text(text, encoding="utf-8")
    return path


class TestMetricScores:
    def test_each_column_is_a_metric_in_the_order_of_turns(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        ann = made_user("ann")
        add_metric_scores(version, written(tmp_path, SCORES), ann)
        found = {
            (one.metric.name, one.system.name): (one.scores, one.system_score)
            for one in SubmittedScores.objects.select_related("metric", "system")
        }
        assert found == {
            ("bleurt_x", "echo"): ([0.5, -0.25, 0.0], pytest.approx(0.25 / 3)),
            ("bleurt_x", "dull"): ([0.125, None, None], 0.125),
            ("nist", "echo"): ([1.0, None, 3.0], 2.0),
            ("nist", "dull"): ([4.0, None, None], 4.0),
        }
        assert {one.level for one in SubmittedMetric.objects.all()} == {"turn"}

    def test_the_versions_records_stay(self, version: CorpusVersion, tmp_path: Path) -> None:
        add_metric_scores(version, written(tmp_path, SCORES), made_user("ann"))
        assert CorpusVersion.objects.get().digest == version.digest

    def test_the_same_file_twice_adds_nothing(self, version: CorpusVersion, tmp_path: Path) -> None:
        path, ann = written(tmp_path, SCORES), made_user("ann")
        first, again = (add_metric_scores(version, path, ann) for _ in range(2))
        assert [one.created for one in first + again] == [True, True, False, False]
        assert SubmittedMetric.objects.count() == 2
        assert AuditEntry.objects.filter(action="metric.added").count() == 2

    def test_rows_without_a_conversation_score_systems(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "system,metric,score\necho,elo,1200\ndull,elo,900\n"
        (added,) = add_metric_scores(version, written(tmp_path, text), made_user("ann"))
        assert (added.metric.name, added.metric.level) == ("elo", "system")
        assert [one.system_score for one in added.metric.scores.order_by("pk")] == [1200, 900]

    def test_rows_with_an_empty_turn_score_a_systems_dialogue(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,metric,score\nd0,,echo,flow,7\n"
        (added,) = add_metric_scores(version, written(tmp_path, text), made_user("ann"))
        assert added.metric.level == "dialogue"
        assert added.metric.scores.get().scores == [7.0, None]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("system,metric,score\nnew,elo,1\n", "2: system: there is no system 'new'"),
            ("system,metric,score\necho,word_f1,1\n", "2: aspect: word_f1 is a built-in metric"),
            ("system,metric,score\necho,a b,1\n", "2: aspect: 'a b' cannot be a metric's name"),
            ("system,score\necho,1\n", "2: aspect: is not named"),
            ("system,metric,score\necho,elo,x\n", "2: score: must be a number, not 'x'"),
            (
                "dialog_id,turn,system,metric,score\nd0,1,dull,m,1\n",
                "2: turn: 'dull' has no response at turn 1 of conversation 'd0'",
            ),
            (
                "dialog_id,turn,system,metric,score\nd0,1,echo,m,1\nd0,,echo,m,1\n",
                "3: m: scores a dialogue, and the rows of m before it score turns",
            ),
            ("system,metric,score\necho,m,1\necho,m,2\n", "3: m: is a second score of the same"),
        ],
    )
    def test_faults_are_named_with_their_line_and_nothing_is_stored(
        self, text: str, fault: str, version: CorpusVersion, tmp_path: Path
    ) -> None:
        with pytest.raises(ImportFailed) as failure:
            add_metric_scores(version, written(tmp_path, text), made_user("ann"))
        assert str(failure.value.problems[0]).startswith(f"more.csv:{fault}")
        assert not SubmittedMetric.objects.exists()

    def test_a_name_that_is_taken_stores_none_of_the_file(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        ann = made_user("ann")
        add_metric_scores(version, written(tmp_path, "system,metric,score\necho,nist,1\n"), ann)
        with pytest.raises(ImportFailed, match="is the name of other scores"):
            add_metric_scores(version, written(tmp_path, SCORES), ann)
        assert [one.name for one in SubmittedMetric.objects.all()] == ["nist"]


class TestScoresThatComeAlong:
    RESPONSE = "dialog_id,turn,system,response\nd0,1,dull,yes\n"

    def newest(self, folder: Path, text: str) -> CorpusVersion:
        call_command("add_to_corpus", "small", str(written(folder, text)))
        return CorpusVersion.objects.latest("number")

    def test_runs_of_unchanged_systems_name_the_new_version(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        call_command("score", corpus="small", metrics="response_length", inline=True)
        newest = self.newest(tmp_path, RATINGS)
        older, newer = (
            MetricRun.objects.filter(system__version=one).order_by("system__position")
            for one in (version, newest)
        )
        assert [run.turn_scores for run in newer] == [run.turn_scores for run in older]
        assert all(f"corpus_version:{newest.label}" in run.signature for run in newer)
        assert all(f"corpus_version:{version.label}" in run.signature for run in older)
        call_command("score", corpus="small", metrics="response_length", inline=True)
        assert newer.count() == 2

    def test_a_system_that_got_a_response_is_scored_again(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        call_command("score", corpus="small", metrics="response_length", inline=True)
        newest = self.newest(tmp_path, self.RESPONSE)
        runs = MetricRun.objects.filter(system__version=newest)
        assert [run.system.name for run in runs] == ["echo"]

    def test_submitted_metrics_keep_the_scores_of_unchanged_systems(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        (bleurt, nist) = add_metric_scores(version, written(tmp_path, SCORES), made_user("ann"))
        newest = self.newest(tmp_path, self.RESPONSE)
        copies = newest.submitted_metrics.all()
        assert [one.sha256 for one in copies] == [bleurt.metric.sha256, nist.metric.sha256]
        (row,) = copies[0].scores.all()
        assert (row.system.name, row.scores) == ("echo", [0.5, -0.25, 0.0])


class TestCommand:
    def test_it_stores_a_version_and_says_of_what(
        self, version: CorpusVersion, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = written(tmp_path, RATINGS)
        call_command("add_to_corpus", "small", str(path))
        newest = CorpusVersion.objects.latest("number")
        expected = f"small: stored {newest.label}, made of {version.label}: 1 raters, 2 ratings\n"
        assert capsys.readouterr().out == expected
        call_command("add_to_corpus", "small", str(path))
        assert f"unchanged, {newest.label} holds" in capsys.readouterr().out

    def test_a_dry_run_stores_nothing(
        self, version: CorpusVersion, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        call_command("add_to_corpus", "small", str(written(tmp_path, RATINGS)), "--dry-run")
        assert "1 raters, 2 ratings" in capsys.readouterr().out
        assert CorpusVersion.objects.count() == 1

    def test_metric_scores(
        self, version: CorpusVersion, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made_user("ann")
        path = str(written(tmp_path, SCORES))
        arguments = ["add_to_corpus", "small", path, "--metric-scores", "--lower-is-better"]
        with pytest.raises(CommandError, match="--user"):
            call_command(*arguments)
        call_command(*arguments, "--user", "ann")
        assert "nist: added to small" in capsys.readouterr().out
        assert not SubmittedMetric.objects.filter(higher_is_better=True).exists()

    def test_the_mapping_that_it_writes_is_one_that_it_takes(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        mapping, path = tmp_path / "columns.yaml", str(written(tmp_path, RATINGS))
        call_command("add_to_corpus", "small", path, "--write-mapping", str(mapping))
        call_command("add_to_corpus", "small", path, "--mapping", str(mapping))
        assert CorpusVersion.objects.count() == 2


class TestPage:
    def test_a_file_is_shown_then_stored(self, version: CorpusVersion, organiser: Client) -> None:
        file = SimpleUploadedFile("more.csv", RATINGS.encode(), "text/csv")
        shown = organiser.post(PAGE, {"file": file, "holds": "ratings", "preview": "1"})
        text = shown.content.decode()
        assert "<dt>Ratings</dt><dd>2</dd>" in text
        assert "cat: overall = 3" in text
        assert CorpusVersion.objects.count() == 1
        fields = {"uploaded": shown.context["form"].data["uploaded"], "holds": "ratings"}
        for place, one in enumerate(shown.context["columns"]):
            fields |= {f"column-{place}": one.name, f"use-{place}": one.column.use}
        stored = organiser.post(PAGE, fields, follow=True)
        assert "is stored, made of" in stored.content.decode()
        newest = CorpusVersion.objects.latest("number")
        assert (newest.number, newest.derived_from) == (2, version)
        assert f"made of {version.label} and <bdi>more.csv</bdi>" in stored.content.decode()

    def test_metric_scores_stand_under_the_organisers_name(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        file = SimpleUploadedFile("more.csv", SCORES.encode(), "text/csv")
        fields = {"file": file, "holds": "metric-scores", "preview": "1"}
        shown = organiser.post(PAGE, fields)
        assert "<bdi>bleurt_x</bdi>: 4 scores, level: turn" in shown.content.decode()
        token = shown.context["form"].data["uploaded"]
        organiser.post(PAGE, {"uploaded": token, "holds": "metric-scores", "direction": "lower"})
        metric = SubmittedMetric.objects.get(name="nist")
        assert (metric.owner.username, metric.higher_is_better) == ("olga", False)

    def test_problems_are_listed_under_the_files_own_name(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        text = "dialog_id,turn,system,rater,score\nd9,0,echo,ann,3\n"
        file = SimpleUploadedFile("more.csv", text.encode(), "text/csv")
        answer = organiser.post(PAGE, {"file": file, "holds": "ratings", "preview": "1"})
        assert answer.status_code == 422
        assert "more.csv:2: conversation: the corpus has no conversation" in (
            answer.content.decode()
        )

    def test_only_organisers_send_one(self, version: CorpusVersion, client: Client) -> None:
        client.force_login(made_user("paul"))
        file = SimpleUploadedFile("more.csv", RATINGS.encode(), "text/csv")
        assert client.post(PAGE, {"file": file, "holds": "ratings"}).status_code == 403
        assert CorpusVersion.objects.count() == 1


class TestLargeOnes:
    """A worker adds them; here every file is large."""

    @pytest.fixture(autouse=True)
    def _every_file_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(view, "IMMEDIATE_BYTES", 0)

    def sent(self, organiser: Client, text: str, holds: str = "ratings") -> CorpusImport:
        file = SimpleUploadedFile("more.csv", text.encode(), "text/csv")
        shown = organiser.post(PAGE, {"file": file, "holds": holds, "preview": "1"})
        assert "a worker checks the file" in shown.content.decode()
        fields = {"uploaded": shown.context["form"].data["uploaded"], "holds": holds}
        for place, one in enumerate(shown.context["columns"]):
            fields |= {f"column-{place}": one.name, f"use-{place}": one.column.use}
            fields |= {f"aspect-{place}": one.column.aspect}
        answer = organiser.post(PAGE, fields)
        job = CorpusImport.objects.get()
        assert answer["Location"] == self.page(job)
        return job

    def page(self, job: CorpusImport) -> str:
        return f"/corpora/new/{job.pk}/"

    def test_a_worker_makes_the_version_and_the_page_leads_to_it(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        job = self.sent(organiser, RATINGS)
        assert "then adds it to small" in organiser.get(self.page(job)).content.decode()
        assert CorpusVersion.objects.count() == 1
        assert work.store(job.pk)
        page = organiser.get(self.page(job), follow=True)
        assert "v2" in page.content.decode()
        assert "is stored, made of" in page.content.decode()
        assert CorpusVersion.objects.latest("number").derived_from == version
        assert AuditEntry.objects.get(action="corpus.extended").actor == "olga"

    def test_a_large_corpus_is_a_worker_s_too(
        self, version: CorpusVersion, organiser: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It has four responses."""
        monkeypatch.setattr(view, "IMMEDIATE_BYTES", 1_000_000)
        monkeypatch.setattr(view, "IMMEDIATE_RESPONSES", 3)
        assert self.sent(organiser, RATINGS).state == "pending"

    def test_metric_scores_are_a_worker_s_too(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        job = self.sent(organiser, SCORES, "metric-scores")
        assert work.store(job.pk)
        assert "Added to the metric leaderboard: bleurt_x, nist." in (
            organiser.get(self.page(job), follow=True).content.decode()
        )

    def test_what_is_wrong_stands_on_the_form_with_the_file_kept(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        job = self.sent(organiser, "dialog_id,turn,system,rater,score\nd9,0,echo,ann,3\n")
        work.store(job.pk)
        page = organiser.get(self.page(job), follow=True)
        assert "more.csv:2: conversation: the corpus has no conversation" in page.content.decode()
        assert page.context["form"].data["uploaded"]
        assert CorpusVersion.objects.count() == 1

    def test_cancelled_it_stores_nothing(
        self, version: CorpusVersion, organiser: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = self.sent(organiser, RATINGS)
        passed = work._Watch.passed

        def cancelled(self: work._Watch, step: str, count: int) -> None:
            organiser.post(f"/corpora/new/{job.pk}/cancel/")
            passed(self, step, count)

        monkeypatch.setattr(work, "PROGRESS_SECONDS", 0)
        monkeypatch.setattr(work._Watch, "passed", cancelled)
        work.store(job.pk)
        assert CorpusImport.objects.get().state == "cancelled"
        assert CorpusVersion.objects.count() == 1
        page = organiser.get(self.page(job), follow=True).content.decode()
        assert "cancelled by olga" in page

    def test_a_corpus_that_was_deleted_meanwhile_is_told(
        self, version: CorpusVersion, organiser: Client
    ) -> None:
        job = self.sent(organiser, RATINGS)
        CorpusVersion.objects.filter(pk=version.pk).delete()
        work.store(job.pk)
        assert "the corpus was deleted meanwhile" in CorpusImport.objects.get().error
        assert organiser.get(self.page(job)).status_code == 404
