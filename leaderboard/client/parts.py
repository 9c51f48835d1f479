"""Files that are sent in parts, and go on where they stopped."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from leaderboard.client.commands.arguments import part
from leaderboard.client.errors import ClientError, Refused
from leaderboard.client.server import Moved, Server

BREAKS = 8
"""So often in a row a part may break off before the command gives up."""
LARGEST_PART = 64_000_000
PAUSE = 2.0
"""Seconds; each is twice as long as the one before."""


def send_in_parts(server: Server, file: Path, moved: Moved) -> str:
    """Send a file. What the server has of it already, from this run or an earlier one, is not sent
    again.

    Args:
        server: connection to the API.
        file: to be sent.
        moved: called with the bytes that the server has and the file's size.

    Returns:
        The upload's id.

    Raises:
        Refused: the server refused the file or a part.
        ClientError: no answer came for too long, or it makes no sense.
        OSError: the file cannot be read.
    """
    size = file.stat().st_size
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        declared = {"file_name": file.name, "size": size, "sha256": digest}
        upload = server.post("uploads", declared, repeatable=True)
        path, breaks = f"uploads/{part(str(upload.get('id')))}", 0
        while (received := _number(upload, "received", most=size)) < size:
            moved(received, size)
            opened.seek(received)
            data = opened.read(_number(upload, "part_bytes", most=LARGEST_PART))
            if not data:
                raise ClientError(f"{file} became shorter while it was sent")
            try:
                upload = server.send_part(path, received, data)
            except ClientError as error:
                breaks += 1
                if breaks == BREAKS or (isinstance(error, Refused) and not _may_go_on(error)):
                    raise
                server.waiting(str(error), PAUSE * 2 ** (breaks - 1))
                server.sleep(PAUSE * 2 ** (breaks - 1))
                upload = server.get(path)
            else:
                if _number(upload, "received", most=size) <= received:
                    raise ClientError("the server took a part, and does not have it")
                breaks = 0
        moved(size, size)
    return str(upload["id"])


def _may_go_on(refusal: Refused) -> bool:
    """Where the part was changed on its way, or the server has it already."""
    return refusal.problem.get("code") in ("digest", "offset")


def _number(document: dict[str, Any], name: str, most: int) -> int:
    value = document.get(name)
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ClientError(f"the server's answer has no {name} that makes sense")
    return value
