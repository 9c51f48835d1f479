"""Collected style sheets: one file where the source imports several, so that a page's first paint
waits for one request."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = re.compile(r'^@import "([\w.-]+\.css)"(?: (print))?;$', re.MULTILINE)


class StyleSheetStorage(CompressedManifestStaticFilesStorage):
    """Writes each ``@import "other.css";`` of a sheet out, with ``print`` as a media rule."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        def written_out(name: str) -> str:
            def imported(match: re.Match[str]) -> str:
                sheet = written_out(posixpath.join(posixpath.dirname(name), match[1]))
                return f"@media {match[2]} {{\n{sheet}}}" if match[2] else sheet

            storage, path = paths[name]
            with storage.open(path) as file:
                return IMPORT.sub(imported, file.read().decode())

        importing = {}
        for name, (storage, path) in paths.items():
            if name.startswith("dialeval/") and name.endswith(".css"):
                with storage.open(path) as file:
                    if b"@import" in file.read():
                        importing[name] = written_out(name)
        if not dry_run:
            for name, sheet in importing.items():
                self.delete(name)
                self.save(name, ContentFile(sheet.encode()))
                paths = {**paths, name: (self, name)}
        yield from super().post_process(paths, dry_run, **options)
