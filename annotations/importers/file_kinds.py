"""What a file is that is certainly no text, by its first bytes: said instead of the NUL byte that
it holds."""

from __future__ import annotations

_FIRST_BYTES = (
    (
        b"PK\x03\x04",
        "is a zip archive (or an office file: save it as CSV UTF-8); give the text file itself",
    ),
    (b"PK\x05\x06", "is a zip archive; give the text file itself"),
    (b"\x1f\x8b", "is compressed with gzip; give the text file itself"),
    (b"BZh", "is compressed with bzip2; give the text file itself"),
    (b"\xfd7zXZ\x00", "is compressed with xz; give the text file itself"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-zip archive; give the text file itself"),
    (b"(\xb5/\xfd", "is compressed with zstd; give the text file itself"),
    (b"Rar!\x1a", "is a RAR archive; give the text file itself"),
    (b"%PDF", "is a PDF; give a text file"),
    (b"\xd0\xcf\x11\xe0", "is an office file; save it as CSV in UTF-8"),
    (b"\x7fELF", "is a program; give a text file"),
    (b"\xcf\xfa\xed\xfe", "is a program; give a text file"),
    (b"MZ\x90\x00", "is a program; give a text file"),
    (b"\x89PNG", "is an image; give a text file"),
    (b"\xff\xd8\xff", "is an image; give a text file"),
    (b"GIF8", "is an image; give a text file"),
    (b"\x93NUMPY", "is a NumPy array; give {taken}"),
    (b"PAR1", "is a Parquet file; give {taken}"),
    (b"\x80\x02", "is a Python pickle; give {taken}"),
    (b"\x80\x03", "is a Python pickle; give {taken}"),
    (b"\x80\x04", "is a Python pickle; give {taken}"),
    (b"\x80\x05", "is a Python pickle; give {taken}"),
)


def not_text(start: bytes, taken: str = "JSON or CSV") -> str:
    """Recognise a file that is certainly no text file by its first bytes.

    Args:
        start: first bytes of the file; 8 are enough.
        taken: what the reader accepts instead, such as "JSON".

    Returns:
        What the file is and what to do, as a predicate ("is a PDF; give a text file"); "" where it
        may be text.
    """
    found = next((message for first, message in _FIRST_BYTES if start.startswith(first)), "")
    return found.format(taken=taken)
