"""From an upload to its score, and a file of a million responses: ``python -m bench.submissions
[--million]``.

Without an option: a site of its own (SQLite, folder broker, gunicorn, one worker with two
processes, as ``manage.py run`` starts it), a round on 15 dialogues × 7 turns with all lexical
metrics. Files are uploaded over HTTP, one after the other, from the first one that a ready worker
has; measured is the time from the first byte sent to the moment at which the row says ``scored``.

``--million``: a file of 1,000,000 responses (142,858 dialogues of seven turns) is validated as the
worker does it, in a process of its own: seconds and peak memory, for each format. Beside it, in the
same run, a plain check that loads the file with ``json`` (or ``csv``) into a dictionary and
compares it with the set of places: what one would write in ten minutes, with no report of what is
wrong. ``--responses`` for another number.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.made_corpus import PROJECT, WORDS, Size, home_of_its_own, make_corpus

LEXICAL = [
    *("word_f1", "word_precision", "word_recall", "bleu_1", "bleu_2", "bleu_3", "bleu_4"),
    *("rouge_1", "rouge_2", "rouge_l", "meteor"),
]
TURNS = 7
PATIENCE_SECONDS = 300
FORMATS = ("jsonl", "json", "csv")


# --- from an upload to its score ------------------------------------------------------------------


def latency(uploads: int, with_services: bool) -> int:
    with home_of_its_own(with_services) as home:
        _word_lists_into(home)
        version = make_corpus("made", Size(systems=1, raters=1, raters_an_item=(1, 1)))
        metrics = _that_run_here(LEXICAL)
        session, round = _round_with_a_team(version, metrics, uploads)
        with ExitStack() as stack:
            from tests.challenges.http_participant import HttpParticipant

            address = stack.enter_context(_web(home))
            ready = stack.enter_context(_worker(home))
            sender = HttpParticipant(address, session, round.challenge.slug, round.slug)
            in_turn = [_scored_after(sender, round, number) for number in range(uploads)]
    seconds = sorted(in_turn)
    half, high = (
        seconds[len(seconds) // 2],
        seconds[min(len(seconds) - 1, int(len(seconds) * 0.95))],
    )
    print(
        f"15 × 7 responses, {len(metrics)} metrics, {uploads} uploads in turn, load average "
        f"{os.getloadavg()[0]:.1f}"
    )
    print(
        f"upload to scored: p50 {half:.2f} s, p95 {high:.2f} s, longest {seconds[-1]:.2f} s "
        "(wanted: within 2 s)"
    )
    print(
        f"the first one that the worker had: {in_turn[0]:.2f} s; it was ready {ready:.1f} s after "
        "its start"
    )
    return 0 if high <= 2 else 1


def _word_lists_into(home: Path) -> None:
    lists = PROJECT / "var" / "nltk_data"
    if lists.exists():
        (home / "nltk_data").symlink_to(lists.resolve())


def _that_run_here(names: list[str]) -> list[str]:
    from workers.metrics.common.configuration import parse

    return [name for name in names if not parse(name).missing()]


def _round_with_a_team(version: Any, metrics: list[str], uploads: int) -> tuple[str, Any]:
    from tests.campaigns.http_rater import sessions_of
    from tests.challenges.sets import open_round, team_with_member

    limits = {"daily_limit": uploads, "total_limit": uploads}
    round = open_round(version, metrics=metrics, ranking_metric=metrics[0], **limits)
    _, user = team_with_member(round.challenge)
    return sessions_of([user])[0], round


@contextmanager
def _web(home: Path) -> Iterator[str]:
    from tests.services import free_port
    from tests.site import answers, wait_until

    address = f"http://127.0.0.1:{free_port()}"
    options = [
        "--config",
        "deploy/gunicorn.conf.py",
        "--bind",
        address.removeprefix("http://"),
        "--workers",
        "2",
        "--threads",
        "2",
    ]
    with _running(home / "web.log", "gunicorn", "dialeval_site.wsgi", *options):
        wait_until(lambda: answers(f"{address}/health/"), 60, "the web server answers")
        yield address


@contextmanager
def _worker(home: Path) -> Iterator[float]:
    """A worker that is ready; the seconds that it took to be."""
    from tests.site import wait_until

    options = [
        "--queues",
        "cpu,gpu,llm",
        "--concurrency",
        "2",
        "--loglevel",
        "INFO",
        "--without-mingle",
    ]
    log, began = home / "worker.log", time.perf_counter()
    with _running(log, "celery", "-A", "dialeval_site", "worker", *options):
        wait_until(lambda: " ready." in log.read_text(errors="replace"), 60, "the worker is ready")
        yield time.perf_counter() - began


@contextmanager
def _running(log: Path, module: str, *arguments: str) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=PROJECT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _scored_after(sender: Any, round: Any, number: int) -> float:
    """Seconds from the first byte sent to the row's own time of ending."""
    from leaderboard.challenges.models import Submission
    from tests.challenges.sets import good_file

    data = good_file(
        round.version, f"I rode bicycle {number} with my sister to the house, turn {{turn}}."
    )
    began = time.time()
    answer = sender.submit(data, f"system {number}")
    assert answer.status == 201, answer
    while time.time() < began + PATIENCE_SECONDS:
        row = Submission.objects.get(public_id=answer.public_id)
        if row.ended_at is not None:
            assert row.state == "scored", (row.state, row.error)
            return row.ended_at.timestamp() - began
        time.sleep(0.02)
    raise TimeoutError("the submission was not scored in time")


# --- a million responses --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    seconds: float
    megabytes: float


def million(responses: int) -> int:
    dialogues = -(-responses // TURNS)
    missed = 0
    with home_of_its_own() as home:
        start = time.perf_counter()
        version_id = _long_corpus(dialogues)
        print(
            f"a corpus of {dialogues:,} dialogues × {TURNS} turns, made in "
            f"{time.perf_counter() - start:.0f} s"
        )
        for format in FORMATS:
            path = home / f"responses.{format}"
            _write(path, format, dialogues)
            ours, plain = (
                _in_a_process(kind, path, format, version_id) for kind in ("ours", "plain")
            )
            missed += ours.seconds > 60 or ours.megabytes > 300
            print(
                f"{format:>6} {path.stat().st_size / 1e6:5.0f} MB: validated in "
                f"{ours.seconds:5.1f} s, {ours.megabytes:4.0f} MB; plain check "
                f"{plain.seconds:5.1f} s, {plain.megabytes:4.0f} MB; ratio "
                f"{ours.seconds / plain.seconds:.2f} in time, "
                f"{ours.megabytes / plain.megabytes:.2f} in memory",
                flush=True,
            )
        whole = _in_a_process("whole", home / "responses.jsonl", "jsonl", version_id)
        print(f"checked, then stored as a system: {whole.seconds:.1f} s, {whole.megabytes:.0f} MB")
    print("wanted: within 60 s and 300 MB")
    return 1 if missed else 0


def _long_corpus(dialogues: int) -> int:
    from django.db import transaction

    from annotations.models import Corpus, CorpusVersion, Dialogue, Turn

    with transaction.atomic():
        corpus = Corpus.objects.create(slug="long", name="Long")
        version = CorpusVersion.objects.create(
            corpus=corpus, number=1, digest="1" * 64, format="bench", main_aspect="overall"
        )
        for first in range(0, dialogues, 5000):
            batch = Dialogue.objects.bulk_create(
                Dialogue(version=version, position=place, external_id=f"dialogue-{place}")
                for place in range(first, min(first + 5000, dialogues))
            )
            Turn.objects.bulk_create(
                Turn(dialogue=dialogue, number=number, context=[])
                for dialogue in batch
                for number in range(TURNS)
            )
    return version.pk


def _answer(dialogue: int, turn: int) -> str:
    return (
        " ".join(WORDS[(dialogue * 7 + turn * 3 + place) % len(WORDS)] for place in range(12)) + "."
    )


def _write(path: Path, format: str, dialogues: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        if format == "csv":
            rows = csv.writer(file)
            rows.writerow(["dialog_id", "turn", "response"])
            rows.writerows(
                [f"dialogue-{d}", t, _answer(d, t)] for d in range(dialogues) for t in range(TURNS)
            )
        elif format == "jsonl":
            for dialogue in range(dialogues):
                for turn in range(TURNS):
                    line = {
                        "dialog_id": f"dialogue-{dialogue}",
                        "turn": turn,
                        "response": _answer(dialogue, turn),
                    }
                    file.write(json.dumps(line) + "\n")
        else:
            for dialogue in range(dialogues):
                element: dict[str, str] = {"dialog_id": f"dialogue-{dialogue}"}
                element |= {f"turn_{turn}": _answer(dialogue, turn) for turn in range(TURNS)}
                file.write(("[" if dialogue == 0 else ",\n") + json.dumps(element))
            file.write("]\n")


def _in_a_process(kind: str, path: Path, format: str, version_id: int) -> Cost:
    again = [
        sys.executable,
        "-m",
        "bench.submissions",
        "--one",
        kind,
        str(path),
        format,
        str(version_id),
    ]
    finished = subprocess.run(again, cwd=PROJECT, check=True, capture_output=True, text=True)
    return Cost(**json.loads(finished.stdout.splitlines()[-1]))


def one(kind: str, path: Path, format: str, version_id: int) -> int:
    import django

    django.setup()
    start = time.perf_counter()
    if kind == "ours":
        _validate(path, version_id)
    elif kind == "plain":
        _plain_check(path, format, version_id)
    else:
        _take_in(path, version_id)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": _peak_megabytes()}))
    return 0


def _peak_megabytes() -> float:
    """Of this process alone: ``ru_maxrss`` begins with what the process had that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def _validate(path: Path, version_id: int) -> None:
    from leaderboard.challenges.files.responses import check_responses
    from leaderboard.challenges.validation import layout_of

    checked = check_responses(path, layout_of(version_id))
    assert checked.is_sound, checked.problems[:3]


def _take_in(path: Path, version_id: int) -> None:
    """From the upload to the metrics' being asked for."""
    from django.core.files.uploadedfile import UploadedFile

    from annotations.models import CorpusVersion
    from leaderboard.challenges import execution
    from leaderboard.challenges.actions.receiving import receive
    from leaderboard.challenges.models import Submission
    from leaderboard.challenges.uploads import uploaded
    from tests.challenges.sets import open_round, team_with_member

    round = open_round(CorpusVersion.objects.get(pk=version_id))
    team, user = team_with_member(round.challenge)
    with path.open("rb") as file:
        upload = uploaded(UploadedFile(file, path.name))
    submission = receive(
        round, team, user, track="gpu", name="long", description="", upload=upload
    ).submission
    assert execution.process(submission.pk)
    assert Submission.objects.get(pk=submission.pk).state == "scoring"


def _plain_check(path: Path, format: str, version_id: int) -> None:
    from annotations.models import Turn

    places = set(
        Turn.objects.filter(dialogue__version=version_id).values_list(
            "dialogue__external_id", "number"
        )
    )
    with path.open(encoding="utf-8", newline="") as file:
        if format == "csv":
            found = {
                (row["dialog_id"], int(row["turn"])): row["response"]
                for row in csv.DictReader(file)
            }
        elif format == "jsonl":
            lines = [json.loads(line) for line in file]
            found = {(line["dialog_id"], line["turn"]): line["response"] for line in lines}
        else:
            elements = json.load(file)
            found = {
                (e["dialog_id"], turn): e[f"turn_{turn}"] for e in elements for turn in range(TURNS)
            }
    assert found.keys() == places
    assert all(len(text) <= 4000 for text in found.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--million", action="store_true", help="validate a file of a million responses"
    )
    parser.add_argument("--responses", type=int, default=1_000_000)
    parser.add_argument("--uploads", type=int, default=20)
    parser.add_argument("--services", action="store_true", help="PostgreSQL and Redis")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, path, format, version_id = options.one
        return one(kind, Path(path), format, int(version_id))
    return (
        million(options.responses)
        if options.million
        else latency(options.uploads, options.services)
    )


if __name__ == "__main__":
    sys.exit(main())
