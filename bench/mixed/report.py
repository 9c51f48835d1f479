"""What was measured, as one document; and the document as Markdown."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter, defaultdict
from typing import Any

from bench.mixed.watching import Watch
from bench.stolen import SHORTEST_SECONDS, Stretch

WANTED_MS = 300
DELIBERATE = {"archive": "a file made of the whole corpus"}
"""Not held to what is wanted of pages, and why."""
STATEMENTS_SHOWN = 12


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else float("nan")


def document(
    answers: dict[str, Any],
    watch: Watch,
    delays: dict[str, list[float]],
    slow: list[Any],
    told: dict[str, Any],
    gone: list[Stretch],
) -> dict[str, Any]:
    """``gone``: when the host took a core away."""
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in answers["answers"]:
        by_kind[row["kind"]].append(row)
    held = [row for row in answers["answers"] if row["kind"] not in DELIBERATE]
    pages = {kind: _figures(rows, answers["begin"], gone) for kind, rows in sorted(by_kind.items())}
    seconds = told["seconds"]
    return {
        **told,
        "machine": machine(),
        "pages": pages,
        "all": _figures(held, answers["begin"], gone),
        "wrong": Counter(
            row["wrong"] + f" ({row['status']})" for row in answers["answers"] if row["wrong"]
        ).most_common(20),
        "notes": answers["notes"],
        "generator": {
            "late_p95_ms": 1000 * quantile([row["late"] for row in answers["answers"]], 0.95),
            "share_of_a_core": answers["processor_seconds"] / seconds,
        },
        "ratings": len(answers["acknowledged"]),
        "uploads": len(answers["uploads"]),
        "delays": {what: _spread(values) for what, values in sorted(delays.items())},
        "most_waiting": dict(watch.most_waiting),
        "memory_mb": {
            part: {
                when: getattr(memory, when) for when in ("begin", "sixths", "peak", "end", "growth")
            }
            for part, memory in watch.memory.items()
        },
        "cores_used": {part: spent / seconds for part, spent in watch.processor.items()},
        "load_average": {
            "mean": sum(watch.load_averages) / max(1, len(watch.load_averages)),
            "most": max(watch.load_averages, default=0.0),
        },
        "share_stolen": watch.share_stolen,
        "core_gone": {
            "times": len(gone),
            "longest": max((one.seconds for one in gone), default=0.0),
        },
        "slow_statements": slow[:STATEMENTS_SHOWN],
        "too_slow": _too_slow(pages, "p95"),
        "too_slow_undisturbed": _too_slow(pages, "p95_undisturbed"),
    }


def _too_slow(pages: dict[str, dict[str, Any]], quantile_of_it: str) -> list[str]:
    return [
        kind
        for kind, row in pages.items()
        if kind not in DELIBERATE and row[quantile_of_it] > WANTED_MS
    ]


def _figures(rows: list[dict[str, Any]], begin: float, gone: list[Stretch]) -> dict[str, Any]:
    took = [1000 * row["seconds"] for row in rows]
    undisturbed = [1000 * row["seconds"] for row in rows if not _met(row, begin, gone)]
    return {
        "requests": len(rows),
        **_spread(took),
        "undisturbed": len(undisturbed),
        "p95_undisturbed": quantile(undisturbed, 0.95),
        "kB": quantile([row["size"] / 1000 for row in rows], 0.5),
        "errors": sum(bool(row["wrong"]) for row in rows),
    }


def _met(row: dict[str, Any], begin: float, gone: list[Stretch]) -> bool:
    asked = begin + row["due"]
    return any(stretch.meets(asked, asked + row["seconds"]) for stretch in gone)


def _spread(values: list[float]) -> dict[str, float]:
    return {
        "n": len(values),
        **{f"p{round(100 * q)}": quantile(values, q) for q in (0.5, 0.95, 0.99)},
        "max": max(values, default=0.0),
    }


def machine() -> dict[str, str]:
    import django
    from django.db import connection

    with open("/proc/cpuinfo") as file:
        models = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": f"{os.cpu_count()} × {models[0] if models else platform.machine()}",
        "memory": f"{memory:.0f} GB",
        "system": platform.platform(),
        "Python": sys.version.split()[0],
        "Django": django.get_version(),
        "PostgreSQL": ".".join(map(str, divmod(connection.pg_version, 10_000))),
    }


# --- as Markdown ----------------------------------------------------------------------------------


def markdown(found: dict[str, Any]) -> str:
    return "\n\n".join(
        [
            _machine(found),
            _pages(found),
            _delays(found),
            _parts(found),
            _statements(found),
            _verdict(found),
        ]
    )


def _machine(found: dict[str, Any]) -> str:
    words = "; ".join(f"{name} {what}" for name, what in found["machine"].items())
    load, gone = found["load_average"], found["core_gone"]
    return (
        f"{found['date']}; `{found['command']}`; {words}. Load average {load['mean']:.1f} (at "
        f"most {load['most']:.1f}); {found['share_stolen']:.1%} of the machine taken by its host, "
        f"{gone['times']} times a whole core for {SHORTEST_SECONDS:g} s or more (at most "
        f"{gone['longest']:.1f} s); a fixed piece of work took "
        f"{1000 * found['fixed_work_seconds']:.0f} ms of one core "
        f"beforehand.\n{found['amount']['ratings']:,} ratings, {found['amount']['systems']} "
        f"systems, database {found['amount']['database_mb']:.0f} MB. Loaded in "
        f"{found['loaded_seconds']:.0f} s; statistics were computed in "
        f"{found['statistics_seconds']:.0f} s. {found['ratings']:,} ratings and "
        f"{found['uploads']} uploads came in {found['seconds']:.0f} s. The generator took "
        f"{found['generator']['share_of_a_core']:.2f} of a core and was "
        f"{found['generator']['late_p95_ms']:.0f} ms late at p95."
    )


def _pages(found: dict[str, Any]) -> str:
    head = (
        "what",
        "requests",
        "p50",
        "p95",
        "p95, no core gone",
        "p99",
        "longest",
        "sent",
        "errors",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    rows = [*found["pages"].items(), ("**all that is held to 300 ms**", found["all"])]
    for kind, row in rows:
        mark = "**" if kind in found["too_slow"] else ""
        star = " ¹" if kind in DELIBERATE else ""
        lines.append(
            f"| {kind}{star} | {row['requests']} | {row['p50']:.0f} ms | {mark}{row['p95']:.0f} "
            f"ms{mark} | {row['p95_undisturbed']:.0f} ms ({row['undisturbed']}) | "
            f"{row['p99']:.0f} ms | {row['max']:.0f} ms | {row['kB']:.0f} kB | {row['errors']} |"
        )
    notes = "; ".join(f"{kind}: {why}" for kind, why in DELIBERATE.items())
    shown = ", ".join(f"{count} {what}" for what, count in found["notes"].items())
    return "\n".join(lines) + f"\n\n¹ {notes}. Of all answers: {shown}."


def _delays(found: dict[str, Any]) -> str:
    lines = ["| queue | n | p50 | p95 | longest |", "|---|---|---|---|---|"]
    lines += [
        f"| {what} | {row['n']} | {row['p50']:.2f} s | {row['p95']:.2f} s | {row['max']:.2f} s |"
        for what, row in found["delays"].items()
    ]
    waiting = ", ".join(f"{count} {what}" for what, count in found["most_waiting"].items())
    return "\n".join(lines) + f"\n\nMost that waited at a time: {waiting}."


def _parts(found: dict[str, Any]) -> str:
    lines = [
        (
            "| part | memory at the beginning | at most | at the end | growth under load | cores "
            "used |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for part, memory in found["memory_mb"].items():
        cells = " | ".join(f"{memory[when]:.0f} MB" for when in ("begin", "peak", "end", "growth"))
        lines.append(f"| {part} | {cells} | {found['cores_used'][part]:.2f} |")
    return "\n".join(lines)


def _statements(found: dict[str, Any]) -> str:
    lines = ["| times | in all | longest | statement |", "|---|---|---|---|"]
    for statement, times, total, longest in found["slow_statements"]:
        text = statement.replace("|", "\\|").replace("`", "'")[:160]
        lines.append(f"| {times} | {total / 1000:.1f} s | {longest:.0f} ms | `{text}` |")
    return "\n".join(lines)


def _verdict(found: dict[str, Any]) -> str:
    wrong = (
        "\n".join(f"* {count} × {what}" for what, count in found["wrong"])
        or "* no answer was other than expected"
    )
    lost = (
        "\n".join(f"* {fault}" for fault in found["faults"][:20])
        or "* nothing lost, doubled or left in hand"
    )
    slow = ", ".join(found["too_slow"]) or "none"
    undisturbed = ", ".join(found["too_slow_undisturbed"]) or "none"
    return (
        f"{wrong}\n{lost}\n* over {WANTED_MS} ms at p95: {slow}\n* of answers while no core was "
        f"gone: {undisturbed}"
    )
