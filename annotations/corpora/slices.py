"""Reads of slices: conversations of a version that share a value of their metadata, or a label."""

from __future__ import annotations

from collections.abc import Iterator

from annotations.corpora.actions import store_slices
from annotations.corpora.queries import NotFound
from annotations.formats.slice_counts import SliceCounter, Slices, label_values, slice_values
from annotations.models import CorpusVersion, Label

NO_SLICE = ""
"""All conversations."""


def slices_of(version: CorpusVersion) -> Slices:
    """Counted when the version was imported; of those that were imported before, when somebody
    first asks."""
    if version.slices is None:
        counter = SliceCounter()
        for _, values in _values_of(version):
            counter.begin()
            counter.count(values)
        version.slices = counter.slices()
        store_slices(version, version.slices)
    return version.slices


def resolve_slice(version: CorpusVersion, wanted: str) -> str:
    """A slice as ``KEY:VALUE``; "" for all conversations. Raises ``NotFound``."""
    slices = slices_of(version) if wanted else {}
    if wanted and _key_and_value(slices, wanted) is None:
        known = [f"{key}:{value}" for key, values in slices.items() for value in values]
        listed = ", ".join(known[:20]) or "none"
        raise NotFound(f"{version.corpus.slug} has no slice {wanted[:200]!r}. Slices: {listed}")
    return wanted


def slice_size(version: CorpusVersion, data_slice: str) -> int:
    """How many conversations are in it."""
    slices = slices_of(version)
    found = _key_and_value(slices, data_slice)
    return slices[found[0]][found[1]] if found else 0


def dialogues_in(version: CorpusVersion, data_slice: str) -> frozenset[int]:
    """The keys of its conversations' rows. Raises ``NotFound``."""
    wanted = _key_and_value(slices_of(version), resolve_slice(version, data_slice))
    return frozenset(pk for pk, values in _values_of(version) if wanted in values)


def _key_and_value(slices: Slices, written: str) -> tuple[str, str] | None:
    """Keys and values may hold colons."""
    for key, values in slices.items():
        value = written.removeprefix(f"{key}:")
        if value != written and value in values:
            return key, value
    return None


def _values_of(version: CorpusVersion) -> Iterator[tuple[int, frozenset[tuple[str, str]]]]:
    """By conversation in their order; only those of a few labels are held."""
    labels: dict[int, set[tuple[str, str]]] = {}
    of_whole = Label.objects.filter(
        dialogue__version=version, system__isnull=True, message__isnull=True
    )
    for dialogue, question, value in of_whole.values_list("dialogue_id", "question", "value"):
        labels.setdefault(dialogue, set()).update(label_values(question, value))
    rows = version.dialogues.order_by("position").values_list("pk", "metadata")
    for pk, metadata in rows.iterator(chunk_size=2_000):
        yield pk, frozenset(slice_values(metadata)) | labels.get(pk, set())
