"""DIALEVAL_STORAGE_URL: what it means, and what is refused before a file could be lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dialeval_site.config.storage import file_storage

HERE = Path("/var/lib/dialeval/files")


def test_without_an_address_files_lie_on_disk() -> None:
    found = file_storage("", HERE)
    assert found["BACKEND"] == "django.core.files.storage.FileSystemStorage"
    assert found["OPTIONS"] == {"location": HERE}


def test_an_address_names_bucket_prefix_endpoint_and_region() -> None:
    found = file_storage(
        "s3://cup/site/one?endpoint_url=https%3A%2F%2Fs3.example.org%3A9000&region_name=eu-1", HERE
    )
    options = found["OPTIONS"]
    assert found["BACKEND"] == "storages.backends.s3.S3Storage"
    assert (options["bucket_name"], options["location"]) == ("cup", "site/one")
    assert (options["endpoint_url"], options["region_name"]) == (
        "https://s3.example.org:9000",
        "eu-1",
    )
    assert "access_key" not in options


def test_a_bucket_alone_is_enough() -> None:
    options = file_storage("s3://cup", HERE)["OPTIONS"]
    assert (options["bucket_name"], options["location"], options["endpoint_url"]) == (
        "cup",
        "",
        None,
    )


def test_files_are_asked_for_within_bounded_time_and_without_trailing_checksums() -> None:
    client = file_storage("s3://cup?addressing_style=path", HERE)["OPTIONS"]["client_config"]
    assert (client.connect_timeout, client.read_timeout) == (5, 30)
    assert client.retries == {"total_max_attempts": 3, "mode": "standard"}
    assert client.s3 == {"addressing_style": "path"}
    assert client.request_checksum_calculation == "when_required"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("https://s3.example.org/cup", "must be an address such as s3://"),
        ("s3:///prefix", "must be an address such as s3://"),
        ("cup", "must be an address such as s3://"),
        ("s3://cup?acl=public-read", "not acl"),
        ("s3://cup?endpoint_url", "is no address"),
        ("s3://cup?endpoint_url=s3.example.org", "must begin with https://"),
        ("s3://cup?addressing_style=both", "addressing_style must be"),
        ("s3://cup/../other", "the prefix is a path"),
        ("s3://cup/a//b", "the prefix is a path"),
    ],
)
def test_what_makes_no_sense_is_refused(address: str, says: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DIALEVAL_STORAGE_URL") as told:
        file_storage(address, HERE)
    assert says in str(told.value)


def test_keys_in_the_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(ImproperlyConfigured) as told:
        file_storage("s3://AKIA:hush@cup", HERE)
    assert "AWS_SECRET_ACCESS_KEY" in str(told.value)
    assert "hush" not in str(told.value)
