"""``check``, ``submit`` and ``status``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.temporary import temporary_folder
from leaderboard.client import terminal, watching
from leaderboard.client.commands.arguments import (
    Subparsers,
    add_format,
    command,
    connected,
    part,
    round_path,
)
from leaderboard.client.errors import ClientError
from leaderboard.client.texts import one_line

if TYPE_CHECKING:
    from leaderboard.challenges.files.responses import Checked

STATUS_LISTED = 20


def add(parsers: Subparsers) -> None:
    check = command(
        parsers,
        "check",
        "check a file of responses before you submit it",
        _check,
        "Says everything that is wrong with a file, with line or JSON path. With --template no "
        "server is asked.",
    )
    check.add_argument("file", metavar="FILE", type=Path, help="the file of responses")
    check.add_argument(
        "challenge", metavar="CHALLENGE", nargs="?", help="check against this challenge's round"
    )
    check.add_argument("round", metavar="ROUND", nargs="?", help="and this is the round")
    check.add_argument(
        "--template", metavar="FILE", type=Path, help="a template, or the round's dialogues"
    )
    add_format(check, "text", "json")

    submit = command(
        parsers,
        "submit",
        "submit a file",
        _submit,
        "Submits responses or a prompt to a round, or, with --metric-scores, a metric's scores "
        "for a corpus.",
    )
    submit.add_argument(
        "target", metavar="CHALLENGE ROUND FILE", nargs="+", help="only FILE with --metric-scores"
    )
    submit.add_argument("--name", required=True, help="what the system (or the metric) is called")
    submit.add_argument(
        "--description",
        default="",
        help="about it, in a sentence or two; public with the system",
    )
    submit.add_argument(
        "--track", choices=("gpu", "prompt"), help="default: gpu, a file of responses"
    )
    submit.add_argument(
        "--watch", action="store_true", help="wait until it is scored; exit 1 if it is not"
    )
    submit.add_argument(
        "--metric-scores", metavar="CORPUS", help="submit a metric's scores for this corpus"
    )
    submit.add_argument(
        "--level",
        choices=("turn", "dialogue", "system"),
        default="turn",
        help="of metric scores (default: turn)",
    )
    submit.add_argument(
        "--lower-is-better", action="store_true", help="of metric scores: a lower one is better"
    )
    submit.add_argument(
        "--link", default="", help="of metric scores: where the metric is described"
    )
    add_format(submit, "text", "json")

    status = command(parsers, "status", "show a submission, or the latest of your own", _status)
    status.add_argument("submission", metavar="ID", nargs="?", help="without it: a list")
    status.add_argument(
        "--watch", action="store_true", help="wait until it has ended; exit 1 if it was not scored"
    )
    status.add_argument("--log", action="store_true", help="show its log, too")
    add_format(status, "text", "json")


def _check(options: argparse.Namespace) -> int:
    from leaderboard.challenges.files.responses import check_responses

    if not options.file.exists():
        raise ClientError(f"{options.file} does not exist")
    checked = check_responses(options.file, _layout(options), file=one_line(options.file.name, 200))
    if options.format == "json":
        terminal.show_json(
            {
                "file": options.file.name,
                "valid": checked.is_sound,
                "format": checked.counts.format,
                "dialogues": checked.counts.dialogues,
                "responses": checked.counts.responses,
                "empty": checked.counts.empty,
                "folded": dict(checked.counts.foldings),
                "problems": [
                    {
                        "where": str(problem.where),
                        "field": problem.field,
                        "message": problem.message,
                    }
                    for problem in checked.problems
                ],
                "more_problems": checked.more,
            }
        )
    else:
        _show_problems(checked)
    if checked.is_sound:
        return 0
    found = "more than 100 problems" if checked.more else _counted(len(checked.problems), "problem")
    raise ClientError(f"{one_line(options.file.name, 100)} has {found}")


def _show_problems(checked: Checked) -> None:
    from workers.metrics.common.unicode_folding import (
        folding_report,  # as heavy as the checks themselves
    )

    for problem in checked.problems:
        terminal.say(one_line(problem))
    if checked.more:
        terminal.say("and more; stopped")
    if checked.is_sound:
        counts = checked.counts
        empty = f", {counts.empty:,} of them empty" if counts.empty else ""
        terminal.say(
            f"valid: {counts.responses:,} responses in {counts.dialogues:,} dialogues{empty}"
        )
        for sentence in folding_report(counts.foldings):
            terminal.say(sentence)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _layout(options: argparse.Namespace) -> Any:
    from annotations.formats.importers.problems import ImportFailed
    from leaderboard.challenges.files.layout_file import layout_of

    try:
        if options.template is not None:
            return layout_of(options.template)
        if options.challenge is None or options.round is None:
            raise ClientError(
                "name the round (CHALLENGE ROUND), or a template with --template FILE"
            )
        with temporary_folder() as folder, connected() as server:
            template = folder / "template.jsonl"
            server.download(
                f"{round_path(options)}/template", template, lambda _now, _of: None, format="jsonl"
            )
            return layout_of(template)
    except ImportFailed as error:
        raise ClientError(f"the template cannot be read: {one_line(error)}") from error


def _submit(options: argparse.Namespace) -> int:
    path, fields, file = _parcel(options)
    if not file.is_file():
        raise ClientError(f"{file} is no file")
    if file.stat().st_size == 0:
        raise ClientError(f"{file} is empty")
    with connected() as server:
        with terminal.bytes_moved("upload", file.stat().st_size) as moved:
            submission, is_new = server.upload(path, file, fields, moved)
        if options.format == "text":
            known = "" if is_new else ": these bytes were submitted before, so no attempt was used"
            terminal.note(f"submission {one_line(submission.get('id'), 60)}{known}")
        if options.watch:
            submission = watching.until_ended(server, str(submission.get("id", "")))
    watching.show(submission, options.format, must_be_scored=options.watch)
    return 0


def _parcel(options: argparse.Namespace) -> tuple[str, dict[str, str], Path]:
    """Where to, with which fields, which file."""
    if options.metric_scores:
        if len(options.target) != 1:
            raise ClientError("with --metric-scores name one FILE")
        if options.description or options.track:
            raise ClientError(
                "--description and --track are of rounds; say with --link where the metric is "
                "described"
            )
        fields = {
            "name": options.name,
            "level": options.level,
            "higher_is_better": "false" if options.lower_is_better else "true",
            "link": options.link,
        }
        return (
            f"corpora/{part(options.metric_scores)}/metric-scores",
            fields,
            Path(options.target[0]),
        )
    if len(options.target) != 3:
        raise ClientError("name CHALLENGE, ROUND and FILE")
    challenge, round, file = options.target
    fields = {
        "name": options.name,
        "description": options.description,
        "track": options.track or "gpu",
    }
    return f"challenges/{part(challenge)}/rounds/{part(round)}/submissions", fields, Path(file)


def _status(options: argparse.Namespace) -> int:
    with connected() as server:
        if options.submission is None:
            return _list(server, options)
        path = f"submissions/{part(options.submission)}"
        submission = (
            watching.until_ended(server, options.submission) if options.watch else server.get(path)
        )
        log = list(server.items(f"{path}/log")) if options.log else None
    if log is not None:
        submission = {**submission, "log": log}
    watching.show(submission, options.format, must_be_scored=options.watch)
    return 0


def _line(submission: dict[str, Any]) -> tuple[Any, ...]:
    to = " ".join(
        str(submission[key]) for key in ("challenge", "round", "corpus") if submission.get(key)
    )
    times = submission.get("times")
    received = times.get("received_at") if isinstance(times, dict) else None
    return (
        submission.get("id"),
        submission.get("name"),
        to,
        submission.get("state"),
        one_line(received)[:16].replace("T", " "),
    )


def _list(server: Any, options: argparse.Namespace) -> int:
    from itertools import islice

    if options.watch:
        raise ClientError("name the submission that you want to watch")
    found = list(islice(server.items("submissions"), STATUS_LISTED))
    if options.format == "json":
        terminal.show_json(found)
    elif not found:
        terminal.note("Nothing was submitted yet.")
    else:
        terminal.show_table(
            ("submission", "name", "to", "state", "received (UTC)"), [_line(one) for one in found]
        )
    return 0
