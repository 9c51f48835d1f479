"""The commands as a shell sees them: standard output, standard error, exit status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.annotations.stored import two_systems, written
from tests.conftest import made_site
from tests.plug_in import plug_in
from tests.site import Site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One site with one scored corpus for the module. A shell is the same on every database, so
    once is enough."""
    folder = tmp_path_factory.mktemp("site")
    with made_site(folder) as site:
        path = written(two_systems(), folder / "corpus.jsonl")
        site.manage("import_corpus", "jsonl", path, "--slug", "small")
        site.manage("score", "--corpus", "small", "--metrics", "word_f1,bleu_1", "--inline")
        yield site


@pytest.mark.parametrize(
    "arguments",
    [
        ("metrics",),
        ("score", "--corpus", "small", "--metrics", "word_f1", "--inline"),
        ("score", "--corpus", "small", "--metrics", "word_recall", "--inline"),
        ("agreement", "--corpus", "small"),
        ("correlate", "--corpus", "small"),
    ],
)
def test_standard_output_holds_the_json_and_nothing_else(
    shell: Site, arguments: tuple[str, ...]
) -> None:
    finished = shell.manage(*arguments, "--format", "json")
    json.loads(finished.stdout)
    assert len(finished.stderr.strip().splitlines()) >= 1  # what was done


def test_a_command_that_loads_the_site_itself_prints_the_same(
    shell: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an operator's does; those of the tests around it are forks of what is loaded."""
    command = ("agreement", "--corpus", "small", "--format", "json")
    forked = shell.manage(*command)
    monkeypatch.setattr(shell, "from_nothing", True)
    by_itself = shell.manage(*command)
    assert (by_itself.stdout, by_itself.stderr) == (forked.stdout, forked.stderr)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("score", "--corpus", "small"),
            "--metrics",
        ),  # usage errors too: argparse alone would end with 2
        (
            ("score", "--corpus", "small", "--metrics", "word_f1", "--format", "xml"),
            "invalid choice: 'xml'",
        ),
        (
            ("score", "--corpus", "large", "--metrics", "word_f1"),
            "there is no corpus large. Corpora: small",
        ),
        (("correlate", "--corpus", "small", "--aspect", "Grammar"), "Aspects: overall"),
        (("agreement", "--corpus", "small", "--resamples", "-1"), "must be 0 or more, not -1"),
        (
            ("agreement", "--corpus", "small", "--resamples", "1000000000000"),
            "must be at most 100,000",
        ),
        (("correlate", "--corpus", "\udcff"), "is not UTF-8"),
        (
            ("correlate", "--corpus", "small", "--resamples", "1000000000000"),
            "must be at most 100,000",
        ),
        (
            ("import_corpus", "jsonl", "no-such-file", "--slug", "x", "--name", "\udcff"),
            "is not UTF-8",
        ),
        (("run", "--port", "99999999"), "must be at most 65,535"),
        (("run", "--port", "0"), "must be 1 or more"),
        (("run", "--host", ""), "--host names nothing"),
        (("run", "--concurrency", "0"), "must be 1 or more"),
        (("import_corpus", "jsonl", "no-such-file", "--slug", "x"), "no-such-file: does not exist"),
        (("delete_corpus", "small"), "Use --force"),
        (("export_corpus", "small"), "--to"),
    ],
)
def test_a_refusal_is_one_message_on_standard_error_and_exit_1(
    shell: Site, arguments: tuple[str, ...], says: str
) -> None:
    finished = shell.manage(*arguments, check=False)
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert says in finished.stderr
    assert "Traceback" not in finished.stderr


def test_a_metric_that_fails_ends_with_1_and_still_prints_its_json(
    shell: Site,
) -> None:
    code = "from tests.workers.lengths import metric, raises\nbad = metric('bad', raises)\n"
    before = dict(shell.settings)
    shell.settings["PYTHONPATH"] = str(plug_in("bad_metric", code, "bad = bad_metric:bad"))
    try:
        finished = shell.manage(
            "score",
            "--corpus",
            "small",
            "--metrics",
            "bad",
            "--inline",
            "--format",
            "json",
            check=False,
        )
    finally:
        shell.settings.clear()
        shell.settings.update(before)
    assert finished.returncode == 1
    assert {run["state"] for run in json.loads(finished.stdout)["runs"]} == {"failed"}
    assert finished.stderr.rstrip().endswith("bad: RuntimeError: the model has no opinion")


def test_without_a_worker_score_says_what_it_waits_for(shell: Site) -> None:
    """The rows wait; the command is stopped as Ctrl-C stops it, and a worker that comes later does
    the work."""
    import signal

    from tests.site import wait_until

    follower = shell.start(
        "score", "manage.py", "score", "--corpus", "small", "--metrics", "rouge_1"
    )
    wait_until(
        lambda: "start one with: manage.py run" in shell.logs(),
        60,
        "the command says that no worker is there",
    )
    follower.send_signal(signal.SIGINT)
    assert follower.wait(20) == 1
    assert "stopped; what is not computed yet waits" in shell.logs()
    assert "Traceback" not in shell.logs()
    assert shell.python(HOW_MANY.format(state="pending", seconds=0)) == "2"
    shell.start_worker()
    assert shell.python(HOW_MANY.format(state="done", seconds=60)) == "2", (
        "the worker that came later did it"
    )


HOW_MANY = """
import time
from workers.models import MetricRun

runs, end = MetricRun.objects.filter(metric="rouge_1", state="{state}"), time.monotonic() + {seconds}
while runs.count() < 2 and time.monotonic() < end:
    time.sleep(0.1)
print(runs.count())
"""
"""Runs in a state, as soon as there are two; a process that asks anew loads the site anew."""


def test_two_first_commands_at_once_make_one_database(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    settings = {"DATABASE_URL": "", "CELERY_BROKER_URL": ""}
    site = Site(tmp_path / "home", settings, from_nothing=True)
    with ThreadPoolExecutor(2) as pool:
        said = list(
            pool.map(
                lambda _: site.manage("import_corpus", "jsonl", path, "--slug", "small").stdout,
                range(2),
            )
        )
    assert sorted(line.split()[1] for line in said) == ["stored", "unchanged,"]
