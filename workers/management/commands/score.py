from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from annotations.console import (
    ConsoleCommand,
    add_corpus_argument,
    add_format_argument,
    comma_list,
    figure,
)
from annotations.corpora.queries import NotFound, select_systems, version_of
from annotations.corpora.rating_queries import turn_order
from annotations.models import CorpusVersion, System
from workers.metrics.common.configuration import Configuration, ConfigurationError, parse_list
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import actions, execution, queries

POLL_SECONDS = 0.2
LONELY_SECONDS = 10


class Command(ConsoleCommand):
    help = (
        "Compute metrics for a corpus's systems. The workers do it, and a progress bar follows "
        "them; Ctrl-C stops following, not the work. With --inline this process computes. What is "
        "computed already is not computed again."
    )
    epilog = """
    What failed before is tried again. If a run fails, the command ends with status 1 and the
    reason. The first run of a process with a model loads it, which takes seconds.

    In the JSON a run's state is done or failed; a failed one has error and no scores. Where a score
    is null, reason is beside it. A metric of whole dialogues has dialogue_scores and no
    turn_scores; one of whole systems has neither. docs/metrics.md says what remarks and details
    are.

      manage.py score --corpus demo --metrics all
      manage.py score --corpus demo --metrics "bertscore_f1[model=roberta-large],prd[seeds=20]"
      manage.py score --corpus usr --metrics fbd,prd --human people@v1
    """

    def add_arguments(self, parser: CommandParser) -> None:
        add_corpus_argument(parser)
        parser.add_argument(
            "--metrics",
            required=True,
            metavar="a,b",
            help="configurations such as bleu_4,rouge_l[stem=true]; all: every metric in its "
            "default "
            "configuration that can be computed here, but for LLM judges",
        )
        parser.add_argument("--systems", type=comma_list, metavar="x,y", help="only these systems")
        parser.add_argument(
            "--references",
            "--human",
            dest="human",
            metavar="S",
            help="the human references that fbd and prd compare a system's responses with: another "
            "corpus's slug, slug@v1, or references, those of the corpus itself (the default); "
            "--human is the older name, until 0.4.0",
        )
        parser.add_argument(
            "--inline", action="store_true", help="compute in this process, without workers"
        )
        add_format_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            version = version_of(options["corpus"])
            systems = select_systems(version, options["systems"])
            wanted = self._offered(version, options["metrics"], options["human"])
        except (NotFound, ConfigurationError) as refusal:
            raise CommandError(str(refusal)) from None
        if not systems:
            raise CommandError(f"{version.corpus.slug} has no systems: there is nothing to score")
        started = time.monotonic()
        actions.request(wanted, systems, hint=not options["inline"])
        bring_about = self._compute if options["inline"] else self._follow
        try:
            bring_about(wanted, systems)
        except KeyboardInterrupt:
            raise CommandError("stopped; what is not computed yet waits for the workers") from None
        done = list(queries.runs_for(wanted, systems))
        if options["format"] == "json":
            document = {"corpus": version.corpus.slug, "corpus_version": version.label}
            self.print_json({**document, "runs": _documents(version, done)})
        else:
            undefined = [
                (
                    f"{run.configuration} on {run.system.name}",
                    run.system_reason or run.error or "not computed yet",
                )
                for run in done
                if run.system_score is None
            ]
            self.print_table(*_table(done), undefined)
        for run in done:
            if warning := run.details.get("warning"):
                self.say(f"warning: {run.configuration} on {run.system.name}: {warning}")
        failed = [run for run in done if run.state == MetricRun.State.FAILED]
        self.say(
            f"{version.corpus.slug} {version.label}: {len(done) - len(failed)} runs done, "
            f"{len(failed)} failed, {time.monotonic() - started:.1f} s"
        )
        if failed:
            raise CommandError(
                "; ".join(sorted({f"{run.configuration}: {run.error}" for run in failed}))
            )

    def _offered(self, version: CorpusVersion, text: str, human: str | None) -> list[Configuration]:
        """The configurations asked for. ``all`` leaves out, and names, those that cannot be
        computed here; and judges, which are asked for by name, because they cost money or hours."""
        everything = text.strip() == "all"
        configurations = parse_list(",".join(_all_but_judges()) if everything else text)
        if not configurations:
            raise ConfigurationError("--metrics names no metric")
        if human is not None:
            if not any(queries.takes_one(one) for one in configurations):
                raise ConfigurationError(
                    "--references: none of the metrics compares with human references"
                )
            configurations = [
                queries.with_human_reference(one, human.strip()) for one in configurations
            ]
        offered = []
        for configuration in configurations:
            reason = queries.why_not_offered(configuration, version)
            if not reason:
                offered.append(queries.pinned(configuration, version))
            elif everything:
                self.say(f"{configuration.text} is left out: {reason}")
            else:
                raise ConfigurationError(
                    f"{configuration.text} cannot be computed on {version.corpus.slug}: {reason}"
                )
        if not offered:
            raise ConfigurationError(f"no metric can be computed on {version.corpus.slug}")
        return list(dict.fromkeys(offered))

    def _compute(self, wanted: list[Configuration], systems: list[System]) -> None:
        """One after another. A run that a worker has is waited for, and taken over when that worker
        fell silent."""
        unfinished = queries.runs_for(wanted, systems).filter(
            state__in=[MetricRun.State.PENDING, MetricRun.State.RUNNING]
        )
        while waiting := list(unfinished.values_list("pk", flat=True)):
            progress = tqdm(waiting, unit="run", file=self.stderr._out, disable=None)
            computed = [execution.compute(run_id) for run_id in progress]
            if not any(computed):
                MetricRun.objects.reap()
                time.sleep(POLL_SECONDS)

    def _follow(self, wanted: list[Configuration], systems: list[System]) -> None:
        pks = list(queries.runs_for(wanted, systems).values_list("pk", flat=True))
        ours = MetricRun.objects.filter(pk__in=pks)
        with tqdm(total=len(pks), unit="run", file=self.stderr._out, disable=None) as bar:
            last_change = time.monotonic()
            while True:
                states = queries.states_of(ours)
                finished = states["done"] + states["failed"]
                if finished != bar.n or queries.is_being_computed(ours):
                    last_change = time.monotonic()
                bar.update(finished - bar.n)
                # Some may have been withdrawn meanwhile
                if not states["pending"] and not states["running"]:
                    return
                if time.monotonic() - last_change > LONELY_SECONDS:
                    self.say(
                        "No worker has taken the runs yet. They wait; start one with: manage.py run"
                    )
                    last_change = float("inf")
                time.sleep(POLL_SECONDS)


def _all_but_judges() -> list[str]:
    return [name for name, metric in all_metrics().items() if metric.queue != "llm"]


def _documents(version: CorpusVersion, done: list[MetricRun]) -> list[dict[str, Any]]:
    order = turn_order(version)
    places = [
        {"dialogue": order.dialogue_ids[dialogue], "turn": int(number)}
        for dialogue, number in zip(order.dialogue, order.numbers, strict=True)
    ]
    dialogues = [{"dialogue": name} for name in order.dialogue_ids]
    return [_document(run, dialogues if run.dialogue_scores else places) for run in done]


def _document(run: MetricRun, places: list[dict[str, Any]]) -> dict[str, Any]:
    """``places``: what the run's scores are of, turns or dialogues."""
    of_dialogues = bool(run.dialogue_scores)
    document: dict[str, Any] = {
        "metric": run.configuration,
        "signature": run.signature,
        "system": run.system.name,
        "state": run.state,
        "model": run.model,
        "device": run.device,
        "system_score": run.system_score,
    }
    if run.state == MetricRun.State.FAILED:
        return {**document, "error": run.error}
    if run.system_score is None:
        document["reason"] = run.system_reason
    document["remarks"] = [
        {**places[int(turn)], "remark": remark} for turn, remark in run.remarks.items()
    ]
    document["details"] = run.details
    if of_dialogues:
        document["dialogue_scores"] = _scores(run.dialogue_scores, run.undefined, places)
    # A metric of whole systems has neither.
    document["turn_scores"] = (
        _scores(run.turn_scores, run.undefined, places) if run.turn_scores else []
    )
    return document


def _scores(
    scores: list[float | None], undefined: dict[str, str], places: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {**place, "score": score}
        if score is not None
        else {**place, "score": None, "reason": undefined.get(str(number), "")}
        for number, (place, score) in enumerate(zip(places, scores, strict=True))
    ]


def _table(done: list[MetricRun]) -> tuple[list[str], list[list[str]]]:
    """With what was computed, where a model had a part in it."""
    header = ["metric", "system", "state", "score", "undefined turns"]
    if not any(run.model for run in done):
        return header, [_row(run) for run in done]
    more = [[str(len(run.remarks)), run.model or "-", run.device or "-"] for run in done]
    rows = [_row(run) + added for run, added in zip(done, more, strict=True)]
    return [*header, "remarks", "model", "device"], rows


def _row(run: MetricRun) -> list[str]:
    undefined = len(run.undefined) - queries.absent_responses(run.undefined)
    return [
        run.configuration,
        run.system.name,
        run.state,
        figure(run.system_score, 4),
        str(undefined),
    ]
