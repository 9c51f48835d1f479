"""``import``, for organisers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from leaderboard.client import terminal
from leaderboard.client.commands.arguments import (
    Subparsers,
    add_format,
    command,
    connected,
    part,
)
from leaderboard.client.errors import ClientError
from leaderboard.client.parts import send_in_parts
from leaderboard.client.server import Server
from leaderboard.client.texts import one_line

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds between two questions; each is half as long again as the one before."""


def add(parsers: Subparsers) -> None:
    importing = command(
        parsers,
        "import",
        "send a file and store it as a corpus",
        _import,
        "Sends a file in parts; a worker of the site stores it as a corpus. Where it was "
        "interrupted, the same command goes on where it stopped, for a day.",
    )
    importing.add_argument("file", metavar="FILE", type=Path, help="a file or a zip archive")
    importing.add_argument("--slug", default="", help="the corpus's short name")
    importing.add_argument("--name", default="", help="its name on pages")
    importing.add_argument(
        "--file-format", default="", metavar="FORMAT", help="the file's format (default: detected)"
    )
    importing.add_argument("--language", default="", metavar="CODE", help="such as en, zh or ja")
    importing.add_argument("--public", action="store_true", help="everybody sees the corpus")
    importing.add_argument("--good-only", action="store_true", help="leave out bad records")
    importing.add_argument(
        "--new-version", action="store_true", help="the corpus is there: make a new version of it"
    )
    importing.add_argument(
        "--no-wait", action="store_true", help="end when the file is sent; a worker goes on"
    )
    add_format(importing, "text", "json")


def _import(options: argparse.Namespace) -> int:
    if not options.file.is_file():
        raise ClientError(f"{options.file} is no file")
    if options.file.stat().st_size == 0:
        raise ClientError(f"{options.file} is empty")
    with connected() as server:
        with terminal.bytes_moved("upload", options.file.stat().st_size) as moved:
            upload = send_in_parts(server, options.file, moved)
        command = {
            "upload": upload,
            "format": options.file_format,
            "slug": options.slug,
            "name": options.name,
            "language": options.language,
            "seen_by": "everybody" if options.public else "organisers",
            "good_only": options.good_only,
            "is_new_version": options.new_version,
        }
        job = server.post("imports", command, repeatable=True)
        if options.format == "text":
            terminal.note(f"import {one_line(job.get('id'), 60)}")
        if not options.no_wait:
            job = _when_ended(server, str(job.get("id", "")))
    if options.format == "json":
        terminal.show_json(job)
    elif job.get("state") == "done":
        for one in job.get("corpora") or []:
            terminal.say(_stored_text(one))
    if job.get("state") in ("failed", "cancelled"):
        for problem in job.get("problems") or []:
            terminal.note(one_line(problem))
        raise ClientError(f"nothing was stored: {one_line(job.get('error'))}")
    return 0


def _when_ended(server: Server, id: str) -> dict[str, Any]:
    """Poll an import until it has ended; what it does is noted where that changes."""
    pause, step = FIRST_PAUSE, ""
    while True:
        job = server.get(f"imports/{part(id)}")
        if job.get("state") not in ("pending", "running"):
            return job
        progress = job.get("progress")
        now = one_line(progress.get("step") if isinstance(progress, dict) else "", 40)
        if now and now != step:
            terminal.note(f"the records are being {now}")
            step, pause = now, FIRST_PAUSE
        server.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 1.5)


def _stored_text(corpus: Any) -> str:
    found = corpus if isinstance(corpus, dict) else {}
    slug, version = one_line(found.get("slug"), 100), one_line(found.get("version"), 100)
    if found.get("is_new") is False:
        return f"{slug}: unchanged, {version} holds this content"
    counts = ", ".join(
        f"{one_line(found.get(name), 20)} {name}" for name in ("dialogues", "responses", "ratings")
    )
    return f"{slug}: stored {version} with {counts}"
