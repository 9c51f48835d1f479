"""Files that an option names: whoever may ask for a metric may write any path there. Pure.

Only a regular file is opened (a device or a pipe would never end), and no message shows what stands
in it: messages are read on pages.
"""

from __future__ import annotations

from pathlib import Path


def named_file(name: str) -> Path | None:
    """Path of a file that somebody named.

    Args:
        name: any text; ``~`` stands for the home folder.

    Returns:
        None where there is no such regular file, or nobody can tell.
    """
    try:
        path = Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):  # too long a name, no rights, no such home, a NUL
        return None


def text_of(name: str, most_bytes: int) -> str:
    """Read a small text file in UTF-8, with or without a byte-order mark.

    Args:
        name: any text; ``~`` stands for the home folder.
        most_bytes: the largest size that is read.

    Returns:
        The whole content, without the byte-order mark.

    Raises:
        ValueError: no such regular file, unreadable, larger than ``most_bytes`` or not UTF-8. The
            message says why, and nothing of what the file holds.
    """
    path = named_file(name)
    if path is None:
        raise ValueError("there is no such file")
    try:
        with path.open("rb") as stream:
            content = stream.read(most_bytes + 1)  # some files do not know their size
    except OSError as error:
        raise ValueError(error.strerror or "cannot be read") from error
    if len(content) > most_bytes:
        raise ValueError(f"larger than {most_bytes:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
