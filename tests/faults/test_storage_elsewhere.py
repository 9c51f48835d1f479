"""Submissions of a site whose files lie on S3-compatible storage: web server and worker share no
folder."""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.challenges.http_participant import HttpParticipant
from tests.faults.test_submissions import SET_UP, WAIT_FOR_ENDS, bad_file, good_file
from tests.migrated import migrated_file
from tests.object_storage import ObjectStorage, object_storage, storage_url
from tests.services import free_port
from tests.site import Site, kill
from tests.workers.trainings.small import encoder_in, talk_file

pytestmark = pytest.mark.slow

ROWS = """
import json
from leaderboard.challenges.models import Submission
fields = "public_id", "state", "stored_as", "attempts", "error", "sha256", "file_name"
rows = [{**row, "log": list(Submission.objects.get(public_id=row["public_id"]).log.values_list("text", flat=True))}
        for row in Submission.objects.order_by("pk").values(*fields)]
print(json.dumps(rows))
"""


WAIT_FOR_SECOND_TRY = """
import time
from leaderboard.challenges.models import Submission
log, deadline = Submission.objects.get().log, time.monotonic() + 180
while log.filter(text="Reading the file.").count() < 2 and time.monotonic() < deadline:
    time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStorage]:
    with object_storage() as storage:
        yield storage


@pytest.fixture
def storage(server: ObjectStorage) -> ObjectStorage:
    """There and empty, whatever the test before did to it."""
    if not server.is_running:
        server.start()
    server.empty()
    return server


@pytest.fixture
def machines(
    site: Site, storage: ObjectStorage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Site, Site]]:
    """The site's own machine, and one for workers with an empty DIALEVAL_HOME; one database and one
    broker."""
    broker = site.settings.get("CELERY_BROKER_URL", "")
    database = site.settings.get("DATABASE_URL") or f"sqlite:///{site.home / 'dialeval.sqlite3'}"
    shared = {
        "DATABASE_URL": database,
        "CELERY_BROKER_URL": broker,
        "SECRET_KEY": "x" * 50,
        **storage.settings,
    }
    site.settings |= shared
    other = Site(tmp_path_factory.mktemp("other-machine"), dict(shared))
    try:
        yield site, other
    finally:
        other.stop()


def rows(site: Site) -> list[dict[str, Any]]:
    return json.loads(site.python(ROWS))


def all_ended(site: Site) -> None:
    assert site.python(WAIT_FOR_ENDS.format(seconds=400)) == "0"


def downloaded(
    address: str, sender: HttpParticipant, public_id: str
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request(
        "GET", f"/submissions/{public_id}/file/", headers=sender.headers("text/plain", 0)
    )
    answer = connection.getresponse()
    return answer, answer.read()


def test_a_submission_s_whole_life_with_web_and_worker_on_machines_that_share_no_folder(
    machines: tuple[Site, Site], storage: ObjectStorage
) -> None:
    web, other = machines
    address = web.start_web()
    sender = HttpParticipant(address, web.python(SET_UP.format(limit=5)), "cup", "one")
    other.start_worker()
    files = [good_file(1), good_file(2), bad_file(3)]
    with ThreadPoolExecutor(3) as pool:  # at once
        answers = list(pool.map(sender.submit, files))
    assert [answer.status for answer in answers] == [201, 201, 201]
    assert sender.submit(files[0]).status == 200  # known already: nothing is stored again
    all_ended(web)
    found = {row["public_id"]: row for row in rows(web)}
    assert [found[answer.public_id]["state"] for answer in answers] == [
        "scored",
        "scored",
        "invalid",
    ]

    kept = storage.objects("uploads/")
    assert kept == {
        f"uploads/{found[one.public_id]['stored_as']}": data
        for one, data in zip(answers, files, strict=True)
    }
    for home in (web.home, other.home):
        assert not list((home / "files" / "uploads").glob("*"))
        assert not list((home / "files" / "incoming").glob("*"))

    answer, data = downloaded(address, sender, answers[0].public_id)
    assert (answer.status, data) == (200, files[0])
    assert answer.headers["Content-Length"] == str(len(files[0]))
    assert (
        answer.headers["Content-Disposition"]
        == f'attachment; filename="{answers[0].public_id}.jsonl"'
    )
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"

    storage.client().put_object(Bucket="cup", Key="site/uploads/nobodys", Body=b"x")
    swept = "import time; from annotations import orphans; orphans.collect({now})"
    web.python(swept.format(now="time.time()"))
    assert "uploads/nobodys" in storage.objects("uploads/")  # it is not an hour old
    web.python(swept.format(now="time.time() + 4000"))
    assert storage.objects("uploads/") == kept


def test_while_the_storage_is_away_nothing_is_counted_and_it_is_said(
    machines: tuple[Site, Site], storage: ObjectStorage
) -> None:
    web, _ = machines
    address = web.start_web()
    sender = HttpParticipant(address, web.python(SET_UP.format(limit=1)), "cup", "one")
    storage.stop()
    answer = sender.submit(good_file(1))
    assert answer.status == 503
    assert "Submit it again in some minutes" in json.dumps(answer.content)
    assert rows(web) == []
    assert not list((web.home / "files" / "incoming").iterdir())
    storage.start()
    again = sender.submit(good_file(1))
    assert again.status == 201  # the only place of the round was not used up
    storage.stop()
    assert downloaded(address, sender, again.public_id)[0].status == 503


def test_a_worker_that_cannot_reach_the_storage_uses_up_no_attempt(
    machines: tuple[Site, Site], storage: ObjectStorage
) -> None:
    web, other = machines
    sender = HttpParticipant(web.start_web(), web.python(SET_UP.format(limit=5)), "cup", "one")
    assert sender.submit(good_file(1)).status == 201
    lost = other.start_worker(DIALEVAL_STORAGE_URL=storage_url(f"http://127.0.0.1:{free_port()}"))
    said = "The site cannot read its files at the moment. It goes on by itself."
    web.python(WAIT_FOR_SECOND_TRY)
    (waiting,) = rows(web)
    assert waiting["log"].count("Reading the file.") >= 2
    assert waiting["log"].count(said) == 1
    assert waiting["error"] == ""
    kill(lost)
    other.start_worker()
    all_ended(web)
    assert [row["state"] for row in rows(web)] == ["scored"]


def test_the_site_says_whether_its_storage_answers(
    machines: tuple[Site, Site], storage: ObjectStorage
) -> None:
    web, _ = machines
    ask = "from dialeval_site.config.storage import storage_answers; print(storage_answers())"
    assert web.python(ask).splitlines()[-1] == "True"
    assert storage.objects() == {}  # what it tried with is gone
    storage.stop()
    assert web.python(ask).splitlines()[-1] == "False"


def test_a_backup_holds_what_lies_on_the_storage_and_restores_it_to_a_disk(
    machines: tuple[Site, Site], tmp_path: Path
) -> None:
    web, _ = machines
    sender = HttpParticipant(web.start_web(), web.python(SET_UP.format(limit=5)), "cup", "one")
    assert sender.submit(good_file(1)).status == 201
    web.manage("backup", "--to", tmp_path / "b")
    (row,) = rows(web)
    disk = Site(tmp_path / "disk", {"DATABASE_URL": "", "CELERY_BROKER_URL": ""})
    disk.home.mkdir()
    shutil.copy(migrated_file(), disk.home / "dialeval.sqlite3")
    disk.manage("restore", tmp_path / "b")
    assert (disk.home / "files" / "uploads" / row["stored_as"]).read_bytes() == good_file(1)


TRAIN = """
from pathlib import Path
from tests.workers.trainings.small import settings
from workers.training import actions
from workers.training.data import Source
actions.start("small", "density", Source.of_file(Path({talk!r})), settings(Path({encoder!r})))
"""
SCORE = """
from annotations.models import CorpusVersion
from annotations.corpora.queries import select_systems
from workers.runs import actions as runs
from workers.metrics.common.configuration import parse
runs.request([parse({name!r})], select_systems(CorpusVersion.objects.latest("pk"), include_withheld=True))
"""
WAIT = """
import time
from workers.models import MetricRun
from workers.training.models import Training
deadline = time.monotonic() + 200
def open():
    return (MetricRun.objects.filter(state__in=["pending", "running"]).exists()
            or Training.objects.filter(state__in=["pending", "running"]).exists())
while open() and time.monotonic() < deadline:
    time.sleep(0.2)
print(sorted(MetricRun.objects.values_list("configuration", "state", "error")))
print(list(Training.objects.values_list("state", "error")))
"""


def test_a_machine_joins_by_its_environment_alone(
    machines: tuple[Site, Site], storage: ObjectStorage, tmp_path: Path
) -> None:
    """Its DIALEVAL_HOME is empty and its own. It checks a submission, computes a metric with a
    model and trains; then a third machine, as empty as it was, scores with what it trained."""
    web, other = machines
    sender = HttpParticipant(web.start_web(), web.python(SET_UP.format(limit=5)), "cup", "one")
    assert sender.submit(good_file(1)).status == 201
    talk, encoder = talk_file(tmp_path / "talk.txt"), encoder_in(tmp_path)
    gpu = other.start_worker()
    train = TRAIN.format(talk=str(talk), encoder=str(encoder))
    said = web.python(
        WAIT_FOR_ENDS.format(seconds=400) + SCORE.format(name="context_similarity") + train + WAIT
    )
    assert said.startswith("0\n")  # no submission is under way
    assert "('context_similarity', 'done', '')" in said
    assert said.endswith("[('done', '')]")
    assert any(
        name.startswith("trained/small-") and name.endswith("config.json")
        for name in storage.objects()
    )
    kill(gpu)

    third = Site(tmp_path / "third", dict(other.settings))
    third.home.mkdir()
    try:
        third.start_worker()
        said = web.python(SCORE.format(name="density[trained=small]") + WAIT)
        assert "('density[trained=small]', 'done', '')" in said
    finally:
        third.stop()
    assert not (third.home / "trained").exists()
    assert [path.name for path in (third.home / "fetched").glob("small-*/small")] == ["small"]
    assert not (web.home / "trained").exists()
