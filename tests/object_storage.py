"""A server that speaks S3 over HTTP, as a process of its own, with one bucket."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from tests.services import free_port
from tests.site import answers, wait_until

BUCKET, PREFIX = "cup", "site"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


class ObjectStorage:
    """Gone and back under one address: what it holds is in memory, and lost when it goes."""

    def __init__(self) -> None:
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def settings(self) -> dict[str, str]:
        """Of a site that keeps its files here."""
        return {**KEYS, "DIALEVAL_STORAGE_URL": storage_url(self.endpoint)}

    def start(self) -> None:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: answers(f"{self.endpoint}/moto-api/"), 240, "the object storage answers")
        self.client().create_bucket(Bucket=BUCKET)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def empty(self) -> None:
        client = self.client()
        for one in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=one["Key"])

    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1",
            aws_access_key_id="test", aws_secret_access_key="test",
        )  # fmt: skip

    def objects(self, below: str = "") -> dict[str, bytes]:
        """By name without the prefix, and without the identity of the site that they belong to."""
        client, start = self.client(), f"{PREFIX}/{below}"
        found = client.list_objects_v2(Bucket=BUCKET, Prefix=start).get("Contents", [])
        return {
            one["Key"].removeprefix(f"{PREFIX}/"): client.get_object(Bucket=BUCKET, Key=one["Key"])[
                "Body"
            ].read()
            for one in found
            if not one["Key"].endswith("/site-identity")
        }


def storage_url(endpoint: str) -> str:
    return f"s3://{BUCKET}/{PREFIX}?endpoint_url={quote(endpoint, safe='')}&region_name=us-east-1"


@contextmanager
def object_storage() -> Iterator[ObjectStorage]:
    storage = ObjectStorage()
    storage.start()
    try:
        yield storage
    finally:
        storage.stop()
