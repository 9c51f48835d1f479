"""Follows a submission until it has ended, and says what became of it."""

from __future__ import annotations

import sys
from typing import Any

from leaderboard.client import boards, terminal
from leaderboard.client.commands.arguments import part
from leaderboard.client.errors import ClientError
from leaderboard.client.server import Server
from leaderboard.client.texts import one_line

ENDED = ("scored", "invalid", "failed", "cancelled")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds between two questions; each is half as long again as the one before."""
MAX_FINALISING = 120.0
"""Seconds after its end in which the board may still be computed; then the submission is shown
without a rank."""
MOST_COUNTED = 10**12


def until_ended(server: Server, submission_id: str) -> dict[str, Any]:
    """Poll a submission until it has ended and its rank is known, as far as it gets one.

    Each state is printed once on standard error; a progress bar counts what is done in it.

    Args:
        server: connection to the API.
        submission_id: id of the submission.

    Returns:
        The API's document of the submission, in one of the states ``ENDED``. It has no rank where
        the board is not computed within ``MAX_FINALISING`` seconds.

    Raises:
        Refused: the server refused the request.
        ClientError: no answer came.
    """
    from tqdm import tqdm

    pause, state, finalising = FIRST_PAUSE, "", 0.0
    with tqdm(total=None, file=sys.stderr, disable=None, leave=False, bar_format="{desc}") as bar:
        while True:
            submission = server.get(f"submissions/{part(submission_id)}")
            now = one_line(submission.get("state"), 40)
            if now != state:
                state, pause = now, FIRST_PAUSE
                bar.bar_format = "{desc}"
                bar.write(now, file=sys.stderr)
            if now in ENDED:
                if submission.get("is_settling") is not True or finalising >= MAX_FINALISING:
                    return submission
                finalising += pause
            _show_progress(bar, now, submission.get("progress"))
            server.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)


def _show_progress(bar: Any, state: str, progress: Any) -> None:
    if not isinstance(progress, dict):
        return
    done, total = progress.get("done"), progress.get("total")
    if isinstance(done, int) and isinstance(total, int) and 0 < total < MOST_COUNTED:
        bar.bar_format = "{desc} {bar} {n_fmt}/{total_fmt}"
        bar.set_description_str(state, refresh=False)
        bar.total, bar.n = total, min(done, total)
        bar.refresh()


def show(submission: dict[str, Any], format: str, must_be_scored: bool) -> None:
    """Print a submission.

    Args:
        submission: the API's document of a submission.
        format: "json", or anything else for plain text.
        must_be_scored: treat a cancelled submission as a failure, too.

    Raises:
        ClientError: after printing: the submission is invalid or failed, or was cancelled and
            ``must_be_scored`` is True.
    """
    if format == "json":
        terminal.show_json(submission)
    else:
        _show_text(submission)
    state = submission.get("state")
    if state in ("invalid", "failed") or (must_be_scored and state == "cancelled"):
        raise ClientError(_why(submission))


def _show_text(submission: dict[str, Any]) -> None:
    where = " ".join(
        one_line(submission[key], 80) for key in ("challenge", "round") if submission.get(key)
    )
    key, name = one_line(submission.get("id"), 60), one_line(submission.get("name"), 80)
    terminal.say(f"{key}  {name}  {where}".rstrip())
    terminal.say(f"state: {one_line(submission.get('state'))}")
    attempts = submission.get("attempts")
    if isinstance(attempts, dict) and "day_left" in attempts:
        terminal.say(
            f"attempts left: {one_line(attempts.get('day_left'))} of "
            f"{one_line(attempts.get('day_limit'))} today, {one_line(attempts.get('total_left'))} "
            f"of {one_line(attempts.get('total_limit'))} in all"
        )
    for name, value in _scores(submission.get("scores")):
        terminal.say(f"{name}: {value}")
    if submission.get("rank") is not None:
        terminal.say(f"rank: {one_line(submission['rank'])}")
    elif submission.get("state") == "scored" and submission.get("rank_reason"):
        terminal.say(f"no rank: {one_line(submission['rank_reason'])}")
    for problem in submission.get("problems") or []:
        if isinstance(problem, dict):
            terminal.say(
                "  "
                + ": ".join(
                    one_line(problem.get(k))
                    for k in ("where", "field", "message")
                    if problem.get(k) not in (None, "")
                )
            )
    if submission.get("more_problems"):
        terminal.say("  and more")
    for line in submission.get("log") or []:
        if isinstance(line, dict):
            terminal.say(
                f"  {one_line(line.get('at'), 40)} {one_line(line.get('level'), 10)} "
                f"{one_line(line.get('text'), 1000)}"
            )


def _scores(scores: Any) -> list[tuple[str, str]]:
    """Each metric's name, with the board's part where there are several, and its mean."""
    given = [one for one in scores or [] if isinstance(one, dict)]
    several = len({one.get("part") for one in given}) > 1
    return [
        (
            one_line(one.get("metric"), 80)
            + (f" ({one_line(one.get('part'), 20)})" if several else ""),
            _value(one),
        )
        for one in given
    ]


def _value(score: dict[str, Any]) -> str:
    written = boards.value_of(score)
    reason = one_line(score.get("reason"))
    return f"{written} ({reason})" if written == boards.UNDEFINED and reason else written


def _why(submission: dict[str, Any]) -> str:
    state = one_line(submission.get("state"), 40)
    if state == "invalid":
        number = len(submission.get("problems") or [])
        more = ", and more" if submission.get("more_problems") else ""
        return f"the file is invalid: {number} problem{'' if number == 1 else 's'}{more}"
    error = one_line(submission.get("error"))
    return (
        "the submission "
        f"{'was cancelled' if state == 'cancelled' else 'failed'}{': ' + error if error else ''}"
    )
