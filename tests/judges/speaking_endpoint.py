"""A chat-completions endpoint on loopback, real HTTP, that takes and refuses what real ones do.

    with speaking(takes_max_tokens=False, reasons=400) as server:
        ... server.url, server.asked

What it judges is the length of the response in words, 1 to 5 (``score_of``), so a test knows which
number belongs to which response. ``asked`` has for every request its body, its status, and what was
generated of it.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Speech:
    """How the endpoint speaks."""

    takes_max_tokens: bool = True
    takes_max_completion_tokens: bool = True
    refuses: dict[str, int] = field(default_factory=dict)
    """Parameters that are not taken, with the status: 400 names the first of them in ``param``, 403
    in words alone, 422 in a path."""
    refuses_max_tokens_with: str = ""
    """Words in a prompt with which ``max_tokens`` is not taken."""
    wants_a_limit: bool = False
    """A request without a limit is refused, in words that name nothing it holds."""
    refuses_schema_in_silence: bool = False
    """With a schema the answer is empty."""
    errors_in_a_list: bool = False
    """All refused names in one message, inside a list."""
    begun: str = "anew"
    """A begun answer is answered ``anew``, goes ``on``, goes on if ``asked`` to, or is
    ``refused``."""
    knows_all_names: bool = True
    """Else ``continue_final_message`` is an unknown name (400)."""
    chances: bool = True
    reasons: int = 0
    """Tokens that it thinks before it answers; they count against the limit, and so do their
    chances."""
    content: str = "text"
    """``text``, ``parts`` (a list), ``tags`` (``<think>`` in the text)."""
    style: str = "form"
    """``form``, ``prose`` without the labels unless a schema is sent, ``nothing``, ``no``."""


def score_of(response: str) -> int:
    return min(5, max(1, len(response.split())))


@dataclass
class Server:
    speech: Speech
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def generated(self) -> list[dict[str, Any]]:
        """Requests that were answered, and would be billed."""
        return [one for one in self.asked if one["status"] == 200]

    def answer(self, body: dict[str, Any]) -> tuple[int, Any]:
        status, document = self._refusal(body) or (200, self._completion(body))
        usage = document.get("usage", {}) if isinstance(document, dict) else {}
        with self.lock:
            self.asked.append({"body": body, "status": status, "usage": usage})
        return status, document

    def _refusal(self, body: dict[str, Any]) -> tuple[int, Any] | None:
        speech = self.speech
        if "max_tokens" in body and not speech.takes_max_tokens:
            words = "'max_tokens' is not supported here. Use 'max_completion_tokens' instead."
            return _error(400, words, "max_tokens")
        words = speech.refuses_max_tokens_with
        if words and "max_tokens" in body and words in str(body["messages"]):
            return _error(400, "'max_tokens' is not supported with this prompt", "max_tokens")
        if speech.wants_a_limit and not {"max_tokens", "max_completion_tokens"} & set(body):
            return _error(400, "a field is missing", None)
        if refused := [name for name in speech.refuses if name in body]:
            status = speech.refuses[refused[0]]
            if speech.errors_in_a_list:
                words = "\n".join(f'Unknown name "{name}": no such field.' for name in refused)
                return status, [{"error": {"code": status, "message": words, "status": "INVALID"}}]
            if status == 422:
                fault = {"type": "extra", "loc": ["body", refused[0]], "msg": "not permitted"}
                return status, {"object": "error", "message": {"detail": [fault]}}
            words = f"You may not ask for {refused[0]} of this model"
            return _error(status, words, None if status == 403 else refused[0])
        if body.get("continue_final_message"):
            if not speech.knows_all_names:
                return _error(400, "Unrecognized arguments: continue_final_message", None)
            if body.get("add_generation_prompt", True):
                return _error(400, "add_generation_prompt contradicts it", None)
        if _begun(body) is not None and speech.begun == "refused":
            return _error(400, "Prefill is not supported: end with a user message.", None)
        return None

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        speech, begun = self.speech, _begun(body)
        asks = bool(body.get("continue_final_message"))
        goes_on = begun is not None and (speech.begun == "on" or (speech.begun == "asked" and asks))
        tokens = re.findall(r"\s?\w+|\s?[^\w\s]|\s", self._text(body, begun if goes_on else None))
        known = [
            ("max_completion_tokens", speech.takes_max_completion_tokens),
            ("max_tokens", True),
        ]
        limit = next((body[name] for name, is_taken in known if is_taken and name in body), 10_000)
        thought = 0 if goes_on else min(speech.reasons, limit)
        written = tokens[: max(0, limit - thought)]
        text = "".join(written)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        thinking = ["- Humanness: 1\n"] * thought
        if thought and speech.content == "parts":
            parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
            message["content"] = [*parts, *([{"type": "text", "text": text}] if text else [])]
        elif thought and speech.content == "tags":
            end = "</think>" if speech.reasons < limit else ""
            message["content"] = f"<think>{''.join(thinking)}{end}{text}"
        elif thought:
            message["reasoning"] = "".join(thinking)
        if speech.style == "no":
            message = {"role": "assistant", "content": None, "refusal": "I do not rate people."}
        is_whole = len(written) == len(tokens) and speech.reasons <= limit
        choice = {"index": 0, "message": message, "finish_reason": "stop" if is_whole else "length"}
        if body.get("logprobs") and speech.chances and speech.style != "no":
            choice["logprobs"] = {"content": [_place(one) for one in [*thinking, *written]]}
        entered = sum(len(one["content"]) for one in body["messages"]) // 4 + 1
        usage = {"prompt_tokens": entered, "completion_tokens": len(written)}
        usage["total_tokens"] = entered + len(written) + thought
        return {"model": body["model"], "choices": [choice], "usage": usage}

    def _text(self, body: dict[str, Any], begun: str | None) -> str:
        prompt = body["messages"][-2 if _begun(body) is not None else -1]["content"]
        score = score_of(re.findall(r"^(?:B|Turn 1): (.*)$", prompt, re.MULTILINE)[-1])
        form = re.findall(r"^((?:- )?)([\w ]+?)( - |: )x$", prompt, re.MULTILINE)
        if self.speech.style in ("nothing", "no"):
            return ""
        if self.speech.refuses_schema_in_silence and "response_format" in body:
            return ""
        if schema := (body.get("response_format") or {}).get("json_schema"):
            return json.dumps(dict.fromkeys(schema["schema"]["required"], score))
        if self.speech.style == "prose":
            return f"It is easy to follow, and sounds natural enough to me. **Score: {score}**"
        if begun is not None:
            return f"{'' if begun.endswith(' ') else ' '}{score}\nIt is easy to follow."
        return "\n".join(f"{mark}{label}{sign}{score}" for mark, label, sign in form)


def _begun(body: dict[str, Any]) -> str | None:
    last = body["messages"][-1]
    return last["content"] if last["role"] == "assistant" else None


def _place(token: str) -> dict[str, Any]:
    bare = token.strip()
    others = {str(int(bare) - 1): 0.1} if bare.isdigit() and int(bare) > 1 else {"The": 0.1}
    top = {token: 0.9, **others}
    ordered = [{"token": one, "logprob": math.log(chance)} for one, chance in top.items()]
    return {"token": token, "logprob": math.log(0.9), "top_logprobs": ordered}


def _error(status: int, words: str, param: str | None) -> tuple[int, Any]:
    kind = "invalid_request_error"
    return status, {"error": {"message": words, "type": kind, "param": param, "code": None}}


@contextmanager
def speaking(**speech: Any) -> Iterator[Server]:
    server = Server(Speech(**speech))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, document = server.answer(body)
            written = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
