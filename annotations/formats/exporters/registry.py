"""All exporters by name. Adding a format is one file and one line here."""

from __future__ import annotations

from annotations.formats.exporters import (
    argilla,
    csv_tables,
    dataset,
    jsonl,
    label_studio,
    mt_metrics_eval,
    preference_pairs,
)
from annotations.formats.exporters.base import Exporter


def exporters() -> dict[str, Exporter]:
    """All exporters.

    Returns:
        Exporters by format name, in the order in which help texts list them.
    """
    modules = (
        *(jsonl, dataset, csv_tables, mt_metrics_eval, preference_pairs),
        *(label_studio, argilla),
    )
    return {module.EXPORTER.name: module.EXPORTER for module in modules}
