"""A prompt becomes responses: every turn is asked with the gold history, some dialogues at a time.

Threads only ask; this thread reads and writes the rows. Each answer is stored when it is there, so
a worker that dies loses the turns in flight and nothing else, and the next worker asks for what is
missing. A run that needs longer than a task may take is given back at its end with its answers
kept: that is no failed attempt.

The team of a hidden round reads nothing of what was asked and answered: lines of the log hold
numbers, names of dialogues and our own words; what an endpoint says of an error is for organisers,
and not even for them where it repeats what it was asked.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings

from annotations.campaigns.models import ChatSystem
from annotations.formats.importers.problems import ImportFailed
from common.jobs.models import Claim
from leaderboard.challenges.actions import generating, work
from leaderboard.challenges.actions.generating import SavedResponse
from leaderboard.challenges.models import LogLine, Submission
from leaderboard.challenges.prompts.budget import format_cost
from leaderboard.challenges.prompts.prompt_calls import (
    AskFailed,
    Question,
    Questioner,
    TurnResponse,
    signature_of,
)
from leaderboard.challenges.prompts.spec import LARGEST_FILE, Prompt, read_prompt
from leaderboard.challenges.queries import prompting
from leaderboard.challenges.queries.downloads import hides_references
from leaderboard.challenges.queries.prompting import WaitingTurn
from leaderboard.challenges.uploads import opened
from workers.chats.execution import NotReachable, endpoint_of
from workers.inference.language_models.client import Completion, Endpoint, LanguageModel
from workers.inference.language_models.refusals import key_fault
from workers.inference.language_models.usage import Usage, counted
from workers.jobs import FailJob, LeaseLost, RetryJob
from workers.judges.core.retries import may_be_charged, may_pass, parse_retry_after, pause_before
from workers.runs.presence import LEAST_SECONDS, LOOK_SECONDS, raters_wait

logger = logging.getLogger(__name__)

DIALOGUES_AT_ONCE = 4
CALL_SECONDS = 60.0
RETRIES = 5
"""After errors that pass (429, 5xx, no answer in time), with pauses of up to 0.5 s, 1 s, 2 s, … or
as long as it is told. Each attempt is charged."""
SHARE_OF_TASK = 0.8
"""Of the longest time of a task: then no turn is begun any more, and those in flight have the rest
to end."""


def generate(submission: Submission, claim: Claim) -> None:
    """Read the prompt, ask for every turn that has no answer yet, and accept the responses.

    Ends in ``refuse`` or ``accept``, or releases the submission where time is up. Raises
    ``FailJob``, ``RetryJob`` or ``LeaseLost``.
    """
    task_begun_at = time.monotonic()
    round = submission.round
    assert round is not None
    try:
        with opened(submission) as file:
            data = file.read(LARGEST_FILE + 1)
        prompt = read_prompt(data, round.calls_per_utterance, submission.file_name)
    except ImportFailed as failure:
        work.refuse(claim, failure.problems, failure.stopped)
        return
    if not work.begin_generating(claim):
        raise LeaseLost
    try:
        endpoint = endpoint_of(round.endpoint or ChatSystem())  # the round's own, or the site's
        if fault := key_fault(endpoint):
            raise NotReachable(fault)
    except NotReachable as missing:
        # What is missing names variables of this site: organisers mend it.
        LogLine.write(submission.pk, str(missing), "error", for_organisers=True)
        raise FailJob(
            "this site's language model is not set up for prompts; the organisers can read what "
            "is missing."
        ) from missing
    generating.forget_other_models(claim, endpoint.model)
    run = _Run(submission, claim, prompt, endpoint, task_begun_at)
    try:
        finished = run.ask_all()
    except AskFailed as failure:
        run.fail(failure)
    except SoftTimeLimitExceeded:
        run.pause()
    else:
        run.accept() if finished else run.pause()


@dataclass
class _Dialogue:
    """A dialogue that is being asked: one turn at a time, because each may use what the ones before
    have left."""

    pk: int
    name: str
    turns: deque[WaitingTurn]
    used: Usage
    steps: Generator[Question, Completion, TurnResponse] | None = None
    """Of the turn that is being asked."""
    question: Question | None = None
    """The call that is under way."""
    failures: int = 0
    """Times that it came to nothing."""


@dataclass
class _Run:
    submission: Submission
    claim: Claim
    prompt: Prompt
    endpoint: Endpoint
    task_begun_at: float
    asking_since: float = 0.0
    has_requests: bool = False
    answered_before: int = 0
    answered: int = 0
    total: int = 0
    stops: bool = False
    looked_at: float = 0.0

    # --- asking -----------------------------------------------------------------------------------

    def ask_all(self) -> bool:
        """Ask for every turn that has no answer. False where time is up before. Raises
        ``AskFailed``."""
        self.answered = self.answered_before = prompting.turn_texts(self.submission)
        self.total = prompting.turns_in(self.submission.version_id)
        self._report()
        calls = "one call" if self.prompt.calls == 1 else "two calls"
        LogLine.write(
            self.submission.pk,
            f"Goes on after {self.answered:,} of {self.total:,} turns."
            if self.answered
            else f"Asking {self.endpoint.model} at {self.total:,} turns, {calls} each.",
        )
        waiting = deque(prompting.dialogues_to_ask(self.submission))
        round = self.submission.round
        assert round is not None
        # Each attempt is charged
        model = LanguageModel(self.endpoint, timeout_seconds=CALL_SECONDS, max_retries=0)
        with closing(model), _threads() as threads:
            questioner = Questioner(model, self.prompt, prompting.limits_of(round))
            self._ask(waiting, questioner, threads)
        return self.answered == self.total

    def _ask(
        self, waiting: deque[int], questioner: Questioner, threads: ThreadPoolExecutor
    ) -> None:
        self.asking_since = time.monotonic()
        under_way: dict[Future[Completion], _Dialogue] = {}
        failure: AskFailed | None = None

        def send(dialogue: _Dialogue, question: Question, pause: float = 0.0) -> None:
            """Every attempt is charged before it is sent."""
            if not generating.reserve(self.claim, question.most):
                raise LeaseLost
            dialogue.question, self.has_requests = question, True
            under_way[threads.submit(_complete, question, questioner.model, pause)] = dialogue

        def go_on(dialogue: _Dialogue, came: Completion | Exception | None) -> None:
            """To the dialogue's next call, or, where none is to be begun, to the end of its
            turn."""
            while came is not None or (
                dialogue.turns and failure is None and not self._time_is_up()
            ):
                try:
                    send(dialogue, self._next_question(dialogue, questioner, came))
                    return
                except StopIteration as end:
                    dialogue.steps, came = None, None
                    self._keep(dialogue, end.value)

        while True:
            while (
                waiting
                and len(under_way) < DIALOGUES_AT_ONCE
                and failure is None
                and not self._time_is_up()
            ):
                go_on(self._begun(waiting.popleft()), None)
            if not under_way:
                break
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                dialogue = under_way.pop(future)
                question, came = dialogue.question, self._completion_or_problem(dialogue, future)
                assert question is not None
                if (
                    isinstance(came, Exception)
                    and may_pass(came)
                    and dialogue.failures < RETRIES
                    and failure is None
                ):
                    dialogue.failures += 1
                    headers = getattr(getattr(came, "response", None), "headers", {})
                    send(
                        dialogue,
                        question,
                        pause_before(dialogue.failures, parse_retry_after(headers)),
                    )
                    continue
                dialogue.failures = 0
                try:
                    go_on(dialogue, came)
                # The other answers in flight are waited for: they are paid for
                except AskFailed as problem:
                    failure = failure or problem
        if failure is not None:
            raise failure

    def _next_question(
        self, dialogue: _Dialogue, questioner: Questioner, came: Completion | Exception | None
    ) -> Question:
        """Raises ``StopIteration`` with what was said where the turn is over."""
        if dialogue.steps is None:
            turn = dialogue.turns[0]
            dialogue.steps = questioner.turn(dialogue.name, turn.number, turn.place, dialogue.used)
            return next(dialogue.steps)
        if isinstance(came, Exception):
            return dialogue.steps.throw(came)
        assert came is not None
        return dialogue.steps.send(came)

    def _completion_or_problem(
        self, dialogue: _Dialogue, future: Future[Completion]
    ) -> Completion | Exception:
        """What came of the call, which is charged for it."""
        assert dialogue.question is not None
        most = dialogue.question.most
        try:
            completion = future.result()
        except Exception as problem:
            if not may_be_charged(problem):
                generating.release(self.claim, most)
            return problem
        generating.settle(self.claim, most, counted(completion) or most)
        return completion

    def _begun(self, dialogue_pk: int) -> _Dialogue:
        name, turns = prompting.waiting_turns(self.submission, dialogue_pk)
        return _Dialogue(
            dialogue_pk, name, deque(turns), prompting.used_in(self.submission, dialogue_pk)
        )

    def _keep(self, dialogue: _Dialogue, response: TurnResponse) -> None:
        turn = dialogue.turns.popleft()
        rest: list[int] = []
        line = ""
        if response.ended:
            rest = [one.pk for one in dialogue.turns]
            dialogue.turns.clear()
            line = (
                f"Dialogue {dialogue.name} ended at turn {turn.number}: {response.ended}. "
                f"{_left_empty(len(rest))}"
            )
        if not generating.store_response(
            self.claim, SavedResponse(turn.pk, self.endpoint.model, rest), response, line
        ):
            raise LeaseLost
        dialogue.used += response.usage
        self.answered += 1 + len(rest)
        self._report()

    def _report(self) -> None:
        if not work.report(self.claim, self.answered, self.total):
            raise LeaseLost

    def _time_is_up(self) -> bool:
        """Whether no turn is to be begun any more: the task ends soon, or a rater waits for a
        chat's answer that no worker is free to give. Once it is, it stays so.

        A task's time counts from its beginning, because its limit does: loading the client takes
        seconds on a busy machine, and would else be missing at the end, for the turns in flight.
        One turn is begun however late it is.
        """
        if not self.stops and self.has_requests:
            now = time.monotonic()
            ends_soon = now - self.task_begun_at > settings.TASK_SECONDS * SHARE_OF_TASK
            long_enough = (
                now - self.asking_since > LEAST_SECONDS and self.answered > self.answered_before
            )
            self.stops = ends_soon or (long_enough and self._somebody_waits())
        return self.stops

    def _somebody_waits(self) -> bool:
        if time.monotonic() - self.looked_at < LOOK_SECONDS:
            return False
        self.looked_at = time.monotonic()
        return raters_wait(LOOK_SECONDS)

    # --- ending -----------------------------------------------------------------------------------

    def accept(self) -> None:
        signature = signature_of(
            self.prompt, self.endpoint.model, prompting.reported_models(self.submission)
        )
        used = Submission.objects.get(pk=self.submission.pk)
        cost = "" if used.cost is None else f", {format_cost(used.cost)}"
        line = (
            f"Answered: {self.answered:,} turns in {used.calls:,} calls with {used.input_tokens:,} "
            f"input and {used.output_tokens:,} output tokens{cost}. {signature}"
        )
        if not generating.accept(self.claim, signature, line):
            raise LeaseLost

    def pause(self) -> None:
        """Time is up. What was said is kept, and the next worker goes on. Where nothing was said it
        is an attempt that failed, so that it does not go on for ever."""
        if self.answered == self.answered_before:
            seconds = f"{settings.TASK_SECONDS:g} s (DIALEVAL_TASK_SECONDS)"
            raise RetryJob(f"the endpoint gave no answer in the {seconds} that a worker may take.")
        if not Submission.objects.owned(self.claim).release():
            raise LeaseLost
        LogLine.write(
            self.submission.pk,
            f"Paused after {self.answered:,} of {self.total:,} turns; it goes on by itself.",
        )

    def fail(self, failure: AskFailed) -> None:
        hidden = hides_references(self.submission.round)
        if failure.words:
            LogLine.write(
                self.submission.pk,
                f"The endpoint said: {failure.words}",
                "error",
                for_organisers=hidden,
            )
        logger.warning("submission %s: %s", self.submission.public_id, failure.reason)
        preserved = (
            f" {self.answered:,} of {self.total:,} turns are answered and kept for another try."
            if self.answered
            else ""
        )
        raise FailJob(f"{failure.reason}.{preserved}")

    # --- words ------------------------------------------------------------------------------------


def _complete(question: Question, model: LanguageModel, pause: float) -> Completion:
    time.sleep(pause)
    return question.complete(model)


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    """What is in flight when something goes wrong is not waited for: somebody else asks it
    again."""
    threads = ThreadPoolExecutor(DIALOGUES_AT_ONCE, thread_name_prefix="prompt")
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _left_empty(rest: int) -> str:
    if rest == 0:
        return "Its response is empty."
    later = "that of the last turn" if rest == 1 else f"those of the {rest:,} later turns"
    return f"Its response and {later} are empty."
