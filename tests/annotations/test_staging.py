"""A large corpus comes and goes in short steps: others write meanwhile, and nobody sees half of
it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotations.campaigns.actions import setup
from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.overview import versions_to_choose
from annotations.corpora import actions, staging
from annotations.corpora.queries import counts_of, select_systems, version_of, visible_corpora
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.base import Importer, ImportFailed, Placed
from annotations.formats.importers.problems import Problems
from annotations.formats.records import (
    CorpusRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)
from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Rater,
    Rating,
    Response,
    System,
    Turn,
)
from common.roles import ORGANISER
from common.temporary import lease_token
from dialeval_site.tasks import sweep
from tests.annotations.stored import dialogue, stored, two_systems
from tests.at_once import at_once
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions as runs

pytestmark = pytest.mark.django_db(transaction=True)

DIALOGUES = 400
PARTS = (Dialogue, Turn, System, Response, Rater, Rating)


def large_corpus() -> Iterator[Record]:
    yield CorpusRecord(name="Quartz")
    yield SystemRecord("echo")
    yield RaterRecord("ann")
    for number in range(DIALOGUES):
        name = f"d{number}"
        yield dialogue(name)
        yield ResponseRecord(name, 0, "echo", "yes")
        yield RatingRecord(name, 0, "echo", "ann", "overall", 4)


def importer(in_the_middle: Callable[[], object] = lambda: None, at: int = DIALOGUES) -> Importer:
    """Reads no file. ``in_the_middle`` is done when half of the corpus has been read to be
    stored."""
    reads = iter(("check", "store"))

    def stream(_path: Path, _part: str, _problems: Problems) -> Iterator[Placed]:
        storing = next(reads) == "store"
        for line, record in enumerate(large_corpus()):
            if storing and line == 3 * at // 2:
                in_the_middle()
            yield record, line, ""

    return Importer("test", "", stream, re.compile("test"))


def import_large(reader: Importer, path: Path, **options: object) -> list[actions.ImportOutcome]:
    path.write_text("")
    return actions.import_corpus(reader, path, "quartz", **options)


def elsewhere(call: Callable[[], object]) -> object:
    """Done by another connection."""
    (result,) = at_once(call)
    if isinstance(result, Exception):
        raise result
    return result


def nothing_is_left() -> bool:
    return not CorpusVersion.staged.exists() and not any(part.objects.exists() for part in PARTS)


def test_others_write_while_a_large_corpus_is_imported(tmp_path: Path) -> None:
    """Whoever rates: in one transaction they waited until the import was done, and failed after
    30 s."""

    def write() -> None:
        assert Response.objects.exists()  # the import is under way
        get_user_model().objects.create(username="ann")

    (outcome,) = import_large(importer(lambda: elsewhere(write)), tmp_path / "file")
    assert get_user_model().objects.filter(username="ann").exists()
    assert (outcome.created, outcome.version.corpus.slug, outcome.version.number) == (
        True,
        "quartz",
        1,
    )
    counts = counts_of(version_of("quartz"))
    assert (counts.dialogues, counts.responses, counts.ratings) == (DIALOGUES, DIALOGUES, DIALOGUES)


def test_others_write_while_a_large_corpus_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_large(importer(), tmp_path / "file")
    taken: list[bool] = []
    begin = staging.ShortTransactions.next

    def let_somebody_write_first(self: staging.ShortTransactions, rows: int | None = None):
        if not Corpus.objects.exists():
            elsewhere(lambda: get_user_model().objects.create(username=f"ann {len(taken)}"))
            taken.append(Rating.objects.exists())
        return begin(self, rows)

    monkeypatch.setattr(staging.ShortTransactions, "next", let_somebody_write_first)
    actions.delete_corpus(version_of("quartz").corpus)
    assert len(taken) >= len(PARTS)
    assert taken[0]  # the ratings were still there
    assert nothing_is_left()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has many writers")
def test_the_writer_is_free_for_as_long_as_it_was_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine holds it longer than it should, and who waits asks every 100 ms by then."""
    transactions = staging.ShortTransactions()
    with transactions.next():
        time.sleep(0.3)
    paused: list[float] = []
    monkeypatch.setattr(staging.time, "sleep", paused.append)
    with transactions.next():
        pass
    assert [round(seconds, 1) for seconds in paused] == [0.3]


def organiser() -> Client:
    user = get_user_model().objects.create(username="olga", is_staff=True)
    user.groups.add(Group.objects.get(name=ORGANISER))
    client = Client()
    client.force_login(user)
    return client


LISTS = (
    *("/", "/api/v1/corpora", "/corpora/new/", "/campaigns/new/", "/runs/"),
    *("/admin/annotations/corpus/", "/admin/annotations/corpusversion/"),
    *("/admin/annotations/system/", "/admin/annotations/rater/"),
)


def test_half_an_import_is_seen_by_nobody(tmp_path: Path) -> None:
    """Not even by organisers: in no list, under no address, in no choice; its address stays
    free."""
    stored(two_systems(), tmp_path)
    client = organiser()
    before = {address: client.get(address).status_code for address in LISTS}
    assert set(before.values()) == {200}
    seen: list[object] = []

    def look() -> None:
        half = CorpusVersion.staged.get()
        assert Rating.objects.filter(rater__version=half).exists()
        for address in LISTS:
            page = client.get(address)
            assert page.status_code == 200, address
            assert "quartz" not in page.content.decode().casefold(), address
            assert half.label not in page.content.decode(), address
        assert client.get("/corpora/quartz/").status_code == 404
        assert client.get("/api/v1/corpora/quartz").status_code == 404
        assert not Corpus.objects.filter(slug="quartz").exists()
        assert not CorpusVersion.objects.filter(pk=half.pk).exists()
        assert half not in versions_to_choose()
        assert [corpus.slug for corpus in visible_corpora(get_user_model().objects.get())] == [
            "small"
        ]
        seen.append(half.pk)

    import_large(importer(look), tmp_path / "file")
    assert seen == [version_of("quartz").pk]
    assert "Quartz" in client.get("/").content.decode()


def test_an_import_that_fails_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        assert Response.objects.exists()
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        import_large(importer(fail), tmp_path / "file")
    assert nothing_is_left()
    assert not Corpus.objects.exists()


def test_one_file_imported_again_in_the_middle_of_its_import_is_one_version(tmp_path: Path) -> None:
    again: list[actions.ImportOutcome] = []

    def import_it() -> None:
        again.extend(import_large(importer(), tmp_path / "again"))

    (late,) = import_large(importer(lambda: elsewhere(import_it)), tmp_path / "file")
    assert [one.created for one in again] == [True]
    assert (late.created, late.version) == (False, again[0].version)
    assert list(CorpusVersion.objects.all()) == [late.version]
    assert not CorpusVersion.staged.exists()
    assert Rating.objects.count() == DIALOGUES


def test_an_address_taken_in_the_middle_of_an_import_is_refused(tmp_path: Path) -> None:
    def take() -> None:
        stored(two_systems(), tmp_path, "quartz")

    with pytest.raises(actions.CorpusExists):
        import_large(importer(lambda: elsewhere(take)), tmp_path / "file", may_exist=False)
    assert not CorpusVersion.staged.exists()
    assert Rating.objects.count() == 6


def leave_for(age: timedelta) -> None:
    CorpusVersion.staged.update(lease_expires_at=timezone.now() - age)


def left_behind(number: int = 1) -> CorpusVersion:
    """What an import leaves that was killed a day ago."""
    version = staging.stage(
        large_corpus(), digest=f"{number}" * 64, format="test", main_aspect="overall"
    )
    leave_for(staging.INTERRUPTED)
    return version


def killed(monkeypatch: pytest.MonkeyPatch, path: Path, at: int) -> None:
    """An import is killed after so many dialogues, and its lease runs out."""

    def kill() -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(staging, "remove", lambda _version: None)
        with pytest.raises(SystemExit):
            import_large(importer(kill, 2 * at), path)
    leave_for(timedelta(seconds=1))


@pytest.mark.parametrize("at", [1, 350])
def test_an_import_goes_on_where_it_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    killed(monkeypatch, tmp_path / "file", at)
    half = list(Response.objects.values_list("pk", flat=True))
    whole = max(0, Dialogue.objects.count() - 1)
    told: list[tuple[str, int]] = []
    (outcome,) = import_large(
        importer(), tmp_path / "file", progress=lambda *one: told.append(one), source="https://x"
    )
    assert dict(told)["continued"] == whole
    again = list(records_of(outcome.version))
    assert again[1:] == list(large_corpus())[1:]
    assert (outcome.version.source, outcome.created) == ("https://x", True)
    # Those of the last dialogue that was begun are stored again, and no others
    assert list(Response.objects.values_list("pk", flat=True)[:whole]) == half[:whole]
    assert not CorpusVersion.staged.exists()


def test_an_import_of_other_content_does_not_go_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(monkeypatch, tmp_path / "file", 350)
    half = CorpusVersion.staged.get()
    stored(two_systems(), tmp_path)
    assert CorpusVersion.staged.get() == half
    leave_for(staging.INTERRUPTED)
    assert staging.remove_left_behind() == 1


def test_an_import_does_not_go_on_with_what_a_deletion_left(tmp_path: Path) -> None:
    (outcome,) = import_large(importer(), tmp_path / "file")
    staging.detach(CorpusVersion.objects.filter(pk=outcome.version.pk))
    Response.objects.first().delete()
    leave_for(timedelta(seconds=1))
    (again,) = import_large(importer(), tmp_path / "file")
    assert again.version.pk != outcome.version.pk
    assert counts_of(again.version).responses == DIALOGUES


def test_an_import_leaves_alone_what_another_one_is_storing(tmp_path: Path) -> None:
    with lease_token() as token:
        alive = staging.empty_version(digest="1" * 64, lease_token=token)
        beside = staging.stage(large_corpus(), digest="1" * 64, main_aspect="overall")
    assert beside != alive


def test_the_next_import_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    left_behind()
    stored(two_systems(), tmp_path)
    assert not CorpusVersion.staged.exists()
    assert Rating.objects.count() == 6


def test_the_hourly_sweep_removes_what_a_killed_import_left_and_no_living_one(
    tmp_path: Path,
) -> None:
    left_behind()
    alive = staging.stage(large_corpus(), digest="2" * 64, format="test", main_aspect="overall")
    sweep()
    assert list(CorpusVersion.staged.all()) == [alive]
    assert Rating.objects.count() == DIALOGUES
    staging.remove(alive)
    assert nothing_is_left()


def test_an_import_that_stood_still_too_long_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    """It was taken for killed, and its rows were removed: it does not go on with half of them."""

    def stand_still() -> None:
        leave_for(staging.INTERRUPTED)
        assert elsewhere(staging.remove_left_behind) == 1

    with pytest.raises(ImportFailed, match="stood still for too long"):
        import_large(importer(stand_still), tmp_path / "file")
    assert nothing_is_left()
    assert not Corpus.objects.exists()


def test_a_deletion_with_force_removes_results_before_the_corpus(tmp_path: Path) -> None:
    version = stored(two_systems(), tmp_path)
    runs.request([parse("word_f1")], select_systems(version), hint=False)
    actions.delete_corpus(version.corpus, force=True)
    assert not MetricRun.objects.exists()
    assert not Corpus.objects.exists()
    assert nothing_is_left()


def test_a_campaign_made_while_its_corpus_is_deleted_keeps_it_or_is_refused(tmp_path: Path) -> None:
    """Never a campaign on a corpus that is gone."""
    for number in range(5):
        version = stored(two_systems(), tmp_path, f"corpus-{number}")
        asked = setup.CampaignParams(
            name=f"One {number}", kind="turn", version=version, systems=select_systems(version)
        )
        at_once(lambda: setup.create(asked), lambda: actions.delete_corpus(version.corpus))  # noqa: B023
        kept = Campaign.objects.filter(version=version).exists()
        assert CorpusVersion.objects.filter(pk=version.pk).exists() == kept
        assert not CorpusVersion.staged.exists()
