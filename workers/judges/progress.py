"""How far the judges of a corpus version are: one line for each configuration, with its budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from django.db.models import Count, QuerySet

from annotations.models import CorpusVersion, Turn
from workers.judges.budgets import spent_figures
from workers.judges.models import Budget, JudgeRun
from workers.metrics.common.configuration import Configuration, still_there
from workers.models import MetricRun
from workers.runs import progress as pace
from workers.runs import queries
from workers.runs.metric_list import page_of

State = Literal["running", "waiting", "stopped", "failed", "done", "incomplete", "nothing"]
QUEUE = "llm"
BUDGET_TOO_SMALL = "has no room for the next call"
"""What the error of a run says that stopped for want of money (``money.format_spent``)."""
WORDS: dict[State, str] = {
    "running": "running",
    "waiting": "waiting",
    "stopped": "stopped",
    "failed": "failed",
    "done": "done",
    "incomplete": "incomplete",
    "nothing": "not asked for",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong alike with several systems."""

    error: str
    systems: int


@dataclass(frozen=True)
class JudgeProgress:
    """One judge on one corpus version: the metric runs of the systems that its pages show, and what
    it may cost."""

    configuration: str
    known: Configuration | None
    """None where this site does not have the metric any more."""
    run: JudgeRun | None
    """None before the first call: who asked on the command line or by the API named no budget."""
    systems: int
    """Of the version."""
    done: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    examples_done: int = 0
    examples_total: int = 0
    places: int = 0
    """Of each system: turns of the version, or dialogues."""
    absent: int = 0
    """Of these, of the systems that are done, those where the system gave no response: nothing is
    to be scored."""
    undefined: int = 0
    """Of these, those without a score."""
    models: tuple[str, ...] = ()
    """As the finished runs name them, with the revision where it is known."""
    failures: tuple[Failure, ...] = ()
    pace: str = ""

    @property
    def metric(self) -> str:
        return self.configuration.partition("[")[0]

    @property
    def model(self) -> str:
        """The one that is asked."""
        return "" if self.known is None else str(self.known.options.get("model", ""))

    @property
    def budget(self) -> Budget | None:
        return None if self.run is None else self.run.budget

    @property
    def state(self) -> State:
        if self.running:
            return "running"
        if self.waiting:
            return "waiting"
        if self.is_stopped and self.done < self.systems:
            return "stopped"
        if self.failed:
            return "failed"
        if not self.done:
            return "nothing"
        return "done" if self.done >= self.systems else "incomplete"

    @property
    def state_word(self) -> str:
        return WORDS[self.state]

    @property
    def is_stopped(self) -> bool:
        return self.run is not None and self.run.stopped_at is not None

    @property
    def under_way(self) -> bool:
        return self.state in ("running", "waiting")

    @property
    def is_spent(self) -> bool:
        """Whether it waits for a greater budget: systems were given up for want of room in a
        budget."""
        return self.state == "failed" and any(
            BUDGET_TOO_SMALL in one.error for one in self.failures
        )

    @property
    def may_resume(self) -> bool:
        return self.known is not None and self.state in ("stopped", "failed", "incomplete")

    @property
    def responses(self) -> int:
        """Of the systems that are done: what was to be scored."""
        return self.done * self.places - self.absent

    @property
    def scored(self) -> int:
        return self.responses - self.undefined

    @property
    def coverage(self) -> float | None:
        """Share of the responses of finished systems that have a score."""
        return self.scored / self.responses if self.responses else None

    @property
    def anchor(self) -> str:
        """Unique on a page, and usable as an id."""
        return f"judge-{crc32(self.configuration.encode()):08x}"

    @property
    def page(self) -> str:
        return page_of(self.configuration)

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        return [] if self.budget is None else spent_figures(self.budget)

    @property
    def what_is_judged(self) -> str:
        return "Dialogues judged" if self.is_of_dialogues else "Responses judged"

    @property
    def is_of_dialogues(self) -> bool:
        return self.known is not None and "turn" not in self.known.levels

    @property
    def to_do(self) -> int:
        """What is to be scored of all systems: responses, or dialogues."""
        return self.systems * self.places

    @property
    def done_now(self) -> int:
        return int(self.share_done * self.to_do)

    @property
    def share_done(self) -> float:
        """Of all systems, those under way counted by what is done of them."""
        if not self.systems:
            return 0.0
        at_work = (
            self.running * self.examples_done / self.examples_total if self.examples_total else 0.0
        )
        return min((self.done + at_work) / self.systems, 1.0)


def judge_lines(
    version: CorpusVersion, only: str = "", budgets: bool = True
) -> list[JudgeProgress]:
    """Of every judge that was asked for here, and with ``budgets`` of those that have one alone;
    ``only`` one configuration. A budget alone may be that of a judge that only a challenge's
    organisers are to know of."""
    runs = queries.runs_of(version).filter(queue=QUEUE)
    of_judges = (
        JudgeRun.objects.filter(version=version)
        .select_related("budget", "stopped_by")
        .prefetch_related("budget__holds")
    )
    if only:
        runs, of_judges = runs.filter(configuration=only), of_judges.filter(configuration=only)
    counts: dict[str, dict[str, int]] = {}
    grouped = runs.order_by().values_list("configuration", "state").annotate(Count("pk"))
    for configuration, state, number in grouped:
        counts.setdefault(configuration, {})[state] = number
    known_runs = {one.configuration: one for one in of_judges}
    names = sorted({*counts, *(known_runs if budgets else ())})
    if not names:
        return []
    facts = _RunFields.of(version, runs)
    return [_line(name, known_runs.get(name), counts.get(name, {}), facts) for name in names]


@dataclass(frozen=True, slots=True)
class _RunFields:
    """What the lines of a version share, each read once."""

    systems: int
    turns: int
    dialogues: int
    undefined: dict[str, int]
    absent: dict[str, int]
    models: dict[str, set[str]]
    failures: dict[str, dict[str, int]]
    progress: dict[str, tuple[int, int]]
    under_way: dict[str, list[pace.UnderWay]]

    @classmethod
    def of(cls, version: CorpusVersion, runs: QuerySet[MetricRun]) -> _RunFields:
        undefined: dict[str, int] = {}
        absent: dict[str, int] = {}
        models: dict[str, set[str]] = {}
        failures: dict[str, dict[str, int]] = {}
        progress: dict[str, tuple[int, int]] = {}
        states = MetricRun.State
        fields = (
            "configuration",
            "state",
            "undefined",
            "model",
            "error",
            "examples_done",
            "examples_total",
        )
        rows = runs.order_by("pk").values_list(*fields)
        for configuration, state, reasons, model, error, done, total in rows:
            if state == states.DONE:
                without = queries.absent_responses(reasons)
                absent[configuration] = absent.get(configuration, 0) + without
                undefined[configuration] = undefined.get(configuration, 0) + len(reasons) - without
                models.setdefault(configuration, set()).add(model)
            elif state == states.FAILED:
                similar = failures.setdefault(configuration, {})
                similar[error] = similar.get(error, 0) + 1
            elif state == states.RUNNING:
                before = progress.get(configuration, (0, 0))
                progress[configuration] = (before[0] + done, before[1] + total)
        return cls(
            systems=version.systems.filter(withheld=False).count(),
            turns=Turn.objects.filter(dialogue__version=version).count(),
            dialogues=version.dialogues.count(),
            undefined=undefined,
            absent=absent,
            models=models,
            failures=failures,
            progress=progress,
            under_way=pace.runs_under_way(version),
        )


def _line(
    name: str, run: JudgeRun | None, counts: dict[str, int], facts: _RunFields
) -> JudgeProgress:
    states = MetricRun.State
    known = still_there(name)
    is_of_dialogues = known is not None and "turn" not in known.levels
    done, running, waiting = (
        counts.get(one, 0) for one in (states.DONE, states.RUNNING, states.PENDING)
    )
    examples_done, examples_total = facts.progress.get(name, (0, 0))
    return JudgeProgress(
        configuration=name,
        known=known,
        run=run,
        systems=facts.systems,
        done=done,
        running=running,
        waiting=waiting,
        failed=counts.get(states.FAILED, 0),
        examples_done=examples_done,
        examples_total=examples_total,
        places=facts.dialogues if is_of_dialogues else facts.turns,
        absent=facts.absent.get(name, 0),
        undefined=facts.undefined.get(name, 0),
        models=tuple(sorted(one for one in facts.models.get(name, ()) if one)),
        failures=tuple(
            Failure(error, number) for error, number in facts.failures.get(name, {}).items()
        ),
        pace=pace.text_of(facts.under_way.get(name, ()), waiting, running),
    )
