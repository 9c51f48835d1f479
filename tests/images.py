"""``python -m tests.images``: has each base image its digest? ``--write`` (``make image-digests``)
asks the registry.

A tag is somebody's word that may change; a digest is the image. The files of ``deploy/`` have tags
beside digests, for people to read. A release is made with digests only: without ``--write`` it is a
fault where one is missing.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx2

from tests.lock import PROJECT

FILES = (PROJECT / "deploy" / "Dockerfile", PROJECT / "deploy" / "compose.yaml")
REGISTRY = "https://registry-1.docker.io"
OURS = "dialeval"
_NAMED = re.compile(r"^(?P<before>FROM|\s+image:)\s+(?P<reference>\S+)", flags=re.MULTILINE)
_REFERENCE = re.compile(
    r"(?P<image>[a-z0-9/._-]+):(?P<tag>[\w.-]+)(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_LISTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


def main(arguments: Sequence[str] | None = None) -> int:
    if "--write" in (sys.argv[1:] if arguments is None else arguments):
        write()
    missing = without_digest()
    for one in missing:
        print(f"{one} has no digest: make image-digests, where the registry can be reached")
    return int(bool(missing))


def without_digest(files: Sequence[Path] = FILES) -> list[str]:
    """The references, each with its file, that a release refuses."""
    missing = []
    for path in files:
        for named in _NAMED.finditer(path.read_text(encoding="utf-8")):
            found = _REFERENCE.fullmatch(named["reference"])
            if named["reference"] != OURS and (found is None or not found["digest"]):
                missing.append(f"{path.name}: {named['reference']}")
    return missing


def write(files: Sequence[Path] = FILES, registry: str = REGISTRY) -> None:
    """Puts behind each tag the digest that the registry has for it now."""
    known: dict[tuple[str, str], str] = {}

    def with_digest(named: re.Match[str]) -> str:
        found = _REFERENCE.fullmatch(named["reference"])
        if found is None:
            return named[0]
        at = (found["image"], found["tag"])
        if at not in known:
            known[at] = digest_of(*at, registry)
            print(f"{found['image']}:{found['tag']} {known[at]}")
        return named[0].replace(named["reference"], f"{found['image']}:{found['tag']}@{known[at]}")

    for path in files:
        path.write_text(_NAMED.sub(with_digest, path.read_text(encoding="utf-8")), encoding="utf-8")


def digest_of(image: str, tag: str, registry: str = REGISTRY) -> str:
    """Of the list of an image's builds for all processors: the sha256 of what the registry sends.

    Raises httpx2.HTTPError where the registry is not reached or does not have it.
    """
    repository = image if "/" in image else f"library/{image}"
    url = f"{registry}/v2/{repository}/manifests/{tag}"
    headers = {"Accept": ", ".join(_LISTS)}
    answer = httpx2.get(url, headers=headers)
    if answer.status_code == 401:  # everybody is given a token, but has to ask for it
        challenge = dict(re.findall(r'(\w+)="([^"]*)"', answer.headers["WWW-Authenticate"]))
        given = httpx2.get(challenge.pop("realm"), params=challenge).raise_for_status().json()
        headers["Authorization"] = f"Bearer {given['token']}"
        answer = httpx2.get(url, headers=headers)
    digest = f"sha256:{hashlib.sha256(answer.raise_for_status().content).hexdigest()}"
    if answer.headers.get("Content-Type") not in _LISTS:
        raise ValueError(f"{image}:{tag} is no list of builds for all processors")
    if answer.headers.get("Docker-Content-Digest", digest) != digest:
        raise ValueError(f"{image}:{tag}: what came is not what the registry names")
    return digest


if __name__ == "__main__":
    sys.exit(main())
