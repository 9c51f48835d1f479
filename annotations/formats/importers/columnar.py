"""Parquet and Arrow files, row by row, as JSON values.

What a file says of itself is not believed: sizes are compared with limits before anything is read.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from annotations.formats.importers.problems import ImportFailed, Problems

MAX_COLUMNS = 2_000
MAX_BYTES = 20 * 1024**3
"""What all rows may take, uncompressed, as the file says."""
MAX_ROW_GROUP = 2 * 1024**3
MAX_RATIO = 2_000
"""Of uncompressed to compressed size: more is no text."""
ROWS_AT_ONCE = 256


def is_columnar(path: Path) -> bool:
    """Whether a file begins as Parquet or Arrow does.

    Args:
        path: a regular file.

    Returns:
        True for Parquet, and for Arrow's file format and its stream (``.arrow``).
    """
    with path.open("rb") as file:
        start = file.read(6)
    return (
        start[:4] == b"PAR1"
        or start == b"ARROW1"
        or (path.suffix == ".arrow" and start[:4] == b"\xff\xff\xff\xff")
    )


def rows(path: Path, problems: Problems) -> Iterator[dict[str, Any]]:
    """Read the rows of a Parquet or Arrow file.

    Args:
        path: the file.
        problems: collects the fault that is raised.

    Returns:
        Iterator over rows: column name to JSON value. Times are ISO 8601, bytes base64, numbers
        that are not finite null.

    Raises:
        ImportFailed: the file is damaged, too wide, or would unpack to more than the limits allow.
    """
    import pyarrow as pa

    count = 0
    try:
        with _batches(path, problems) as batches:
            for batch in batches:
                for row in batch.to_pylist(maps_as_pydicts="lossy"):
                    yield {name: _plain(value) for name, value in row.items()}
                    count += 1
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        reason = (str(error).splitlines() or [""])[0][:200]
        problems.stop("", "", f"is damaged after row {count:,}: {reason}")


def first_rows(path: Path, count: int) -> list[dict[str, Any]]:
    """The first rows of a file, for detection.

    Args:
        path: Parquet or Arrow file.
        count: most rows.

    Returns:
        At most ``count`` rows; none where the file cannot be read.
    """
    try:
        return list(islice(rows(path, Problems(path.name)), count))
    except ImportFailed:
        return []


@contextmanager
def _batches(path: Path, problems: Problems) -> Iterator[Iterator[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        start = file.read(6)
    if start[:4] == b"PAR1":
        with pq.ParquetFile(
            path, thrift_string_size_limit=64 * 1024**2, thrift_container_size_limit=1_000_000
        ) as parquet:
            _refuse_what_is_too_large(parquet.metadata, path, problems)
            yield parquet.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False)
        return
    with pa.OSFile(str(path)) as source:
        if start == b"ARROW1":
            reader = pa.ipc.open_file(source)
            batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(source)
            batches = iter(reader)
        _refuse_too_many_columns(len(reader.schema), problems)
        yield (part for batch in batches for part in _slices(batch))


def _slices(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, ROWS_AT_ONCE):
        yield batch.slice(start, ROWS_AT_ONCE)


def _refuse_too_many_columns(count: int, problems: Problems) -> None:
    if count > MAX_COLUMNS:
        problems.stop("", "", f"has {count:,} columns; at most {MAX_COLUMNS:,} are allowed")


def _refuse_what_is_too_large(metadata: Any, path: Path, problems: Problems) -> None:
    _refuse_too_many_columns(metadata.num_columns, problems)
    sizes = [metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups)]
    total, largest = sum(sizes), max(sizes, default=0)
    allowed = min(MAX_BYTES, max(path.stat().st_size, 1024) * MAX_RATIO)
    if total > allowed or largest > MAX_ROW_GROUP or min(sizes, default=0) < 0:
        problems.stop("", "", f"would unpack to {total:,} bytes; at most {allowed:,} are allowed")


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value
