"""The dataset card of an exported corpus: what ``README.md`` of a dataset folder says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from annotations.formats.records import CorpusRecord

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
_FIRST = ("responses", "dialogues")
"""What ``load_dataset`` gives where no table is named: the first of these with a row."""
_TABLES = {
    "corpus": "name, language, aspects and their scales (one row)",
    "systems": "each system: agent, human, gold or baseline",
    "raters": "each rater: a person, a place in a list, or a mean over people",
    "dialogues": "each conversation once, with the points at which systems respond "
    "(`after`: how many messages stand before the response)",
    "responses": "each response of a system at a turn",
    "ratings": "each rating of a response (`turn` is empty for a whole dialogue) by a rater",
    "labels": "each category or text that a rater chose for a response, message or dialogue",
    "preferences": "each comparison of two responses by a rater",
    "metric_scores": "each score of an automatic metric; empty where it is undefined",
    "submitted_metrics": "each metric whose scores were submitted, with its author",
}


def dataset_card(
    corpus: CorpusRecord,
    counts: Mapping[str, int],
    raters: Mapping[str, int],
    signatures: Iterable[str],
) -> str:
    """Write the dataset card of a corpus.

    Args:
        corpus: what the corpus says of itself.
        counts: rows of each table that was written, in their order.
        raters: how many raters there are of each kind.
        signatures: of the metrics whose scores are there.

    Returns:
        Markdown with a YAML heading that names every table's file, as
        https://huggingface.co/docs/hub/datasets-cards describes it. The licence is left for who
        publishes the dataset: a corpus does not know its own.
    """
    default = next((name for name in _FIRST if counts.get(name)), _FIRST[0])
    name = _one_line(corpus.name) or "Corpus"
    rows = max(counts.values(), default=0)
    size = next((label for least, label in _SIZES if rows < least), "10M<n<100M")
    heading = [
        "---",
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        *([f"language:\n- {json.dumps(corpus.language)}"] if corpus.language else []),
        f"size_categories:\n- {size}",
        "tags:\n- dialogue\n- human-ratings\n- evaluation",
        "configs:",
    ]
    for table in counts:
        heading += [f"- config_name: {table}", f"  data_files: data/{table}.parquet"]
        if table == default:
            heading.append("  default: true")
    lines = [*heading, "---", "", f"# {_escaped(name)}", ""]
    if corpus.simulated:
        lines += ["**The raters were programs: these ratings say nothing about people.**", ""]
    if corpus.description:
        lines += [_escaped(corpus.description), ""]
    lines += ["| table | rows | holds |", "|---|--:|---|"]
    lines += [f"| `{table}` | {count:,} | {_TABLES[table]} |" for table, count in counts.items()]
    lines += ["", "## Ratings", ""]
    by_kind = ", ".join(f"{count:,} {kind}" for kind, count in sorted(raters.items()))
    lines += [f"Raters: {by_kind or 'none'}. Aspects and their scales:", ""]
    lines += [f"* {_escaped(aspect)}: {_scale(corpus, aspect)}" for aspect in corpus.aspects]
    lines += ["", f"`{_one_line(corpus.main_aspect)}` is the main aspect.", ""]
    if known := sorted(filter(None, signatures)):
        lines += ["## Metrics", "", "How each was computed:", ""]
        lines += [f"* `{_one_line(signature).replace('`', '')}`" for signature in known]
        lines.append("")
    return "\n".join(lines)


def _scale(corpus: CorpusRecord, aspect: str) -> str:
    low, high = ("open" if end is None else f"{end:g}" for end in corpus.scale_of(aspect))
    return f"{low} to {high}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Text that Markdown shows as it stands: no markup of a corpus acts on who reads the card."""
    for character in "\\`*_[]<>#|":
        text = text.replace(character, f"\\{character}")
    return text
