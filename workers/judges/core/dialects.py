"""An endpoint's dialect of chat completions: what it takes, learned from its answers. Pure.

A model's name tells nothing, because an alias or a deployment may stand for any model. So a request
begins in the plainest form. A refusal says which parameter is not taken; an answer without a number
says that it was cut off, that the begun answer was not continued, or that the form needs a JSON
schema. What was learned holds for an address and a model, and a run's signature names it.

A stored request is what the judge wants to ask, whatever the endpoint takes: so an answer that was
paid for is found again after more was learned. How each was sent is stored with its answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from workers.judges.core.calls import Answer, ChatRequest

Prefill = Literal["plain", "continued", "none"]
LIMITS = ("max_tokens", "max_completion_tokens")
PROBABILITIES = ("logprobs", "top_logprobs")
CONTINUING = ("continue_final_message", "add_generation_prompt")
ROOM_ANEW = 300
"""Tokens more for an answer that is not continued: it states every label before the number."""
ROOM_TO_REASON = 2_048
"""Tokens more where an answer was cut off in its reasoning; four times as many when that is too
little."""
MOST_ROOM = 32_768
LEARNABLE = (*LIMITS, *PROBABILITIES, *CONTINUING, "temperature", "seed", "response_format")
"""Parameters that may be replaced or left out. Others are somebody's wish: a refusal of one ends
the run."""
MOST_LESSONS = 8
"""Refusals of one call that are learned from: each takes a parameter away or replaces it, and there
are fewer."""
LEARNED_OF = (400, 403, 404, 422)
_PREFILL_REFUSED = re.compile(
    r"prefill|last role|end with a user message|last message", re.IGNORECASE
)
_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|up to|maximum[^\d]{0,40}|<=)\s*(\d{1,7})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The facts, each with the value that a request begins with."""

    limit: str = "max_tokens"
    """The parameter that limits an answer; "" where neither is taken."""
    left_out: tuple[str, ...] = ()
    """Parameters that are not sent, sorted. ``logprobs`` also where the endpoint takes and ignores
    it."""
    prefill: Prefill = "plain"
    """How a begun answer is sent: as the last message, with ``continue_final_message`` too, or not
    at all."""
    schema: bool = False
    """Whether the answer's form is sent as a JSON schema."""
    room: int = 0
    """Tokens added to the longest answer, for reasoning or for the whole form."""
    most: int = 0
    """The highest limit that the endpoint takes; 0 where it named none."""
    reasons: bool = field(default=False, compare=False)
    """Whether an answer was seen to use reasoning tokens. Not part of a request's form."""

    @property
    def has_reasoned(self) -> bool:
        """Seen in an answer, or learned from one that was cut off in its reasoning."""
        return self.reasons or self.room >= ROOM_TO_REASON

    def as_json(self) -> dict[str, Any]:
        """What differs from the first form; empty where nothing does."""
        plain = asdict(Dialect())
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value != plain[name]
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Dialect:
        """Of what ``as_json`` wrote; unknown names are passed over."""
        known = {one.name: document[one.name] for one in fields(cls) if one.name in document}
        if "left_out" in known:
            known["left_out"] = tuple(known["left_out"])
        return cls(**known)

    def longest_answer(self, wanted: int, most: int) -> int:
        """The limit that is sent for a request that wants ``wanted`` tokens, ``most`` with
        reasoning."""
        longest = max(wanted, min(wanted + self.room, most))
        return min(longest, self.most) if self.most else longest

    def words(self) -> str:
        """For a signature: what bears on a score. "" where the request was sent as it is."""
        words = [f"no_{name}" for name in self.left_out if name != "top_logprobs"]
        words += ["json_schema"] if self.schema else []
        words += {"plain": [], "continued": ["continue_final_message"], "none": ["no_prefill"]}[
            self.prefill
        ]
        return "+".join(words)

    def sentences(self) -> list[str]:
        """For people: what differs from the first form; empty where nothing does."""
        limit = f"the limit is sent as {self.limit}" if self.limit else "no token limit is sent"
        prefill = {
            "plain": "",
            "continued": "a begun answer is continued by continue_final_message",
            "none": "no answer is begun for the model",
        }[self.prefill]
        chosen = (
            limit if self.limit != "max_tokens" else "",
            f"not sent: {', '.join(self.left_out)}" if self.left_out else "",
            prefill,
            "the form of the answer is sent as a JSON schema" if self.schema else "",
            f"{self.room:,} tokens more for reasoning or for the form" if self.room else "",
            f"at most {self.most:,} tokens" if self.most else "",
            "answers use reasoning tokens" if self.reasons else "",
        )
        return [one for one in chosen if one]


PLAIN = Dialect()


def sent_as(request: ChatRequest, dialect: Dialect) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Messages and parameters of a request as this dialect has them; the seed is still the
    run's."""
    messages = [{"role": one.role, "content": one.text} for one in request.messages]
    parameters = dict(request.parameters)
    if is_begun(request):
        if dialect.prefill == "none":
            messages.pop()
        elif dialect.prefill == "continued":
            parameters |= {"continue_final_message": True, "add_generation_prompt": False}
    wanted = parameters.pop("max_tokens", None)
    if wanted is not None and dialect.limit:
        parameters[dialect.limit] = dialect.longest_answer(wanted, request.most_tokens)
    if dialect.schema and request.labels:
        parameters["response_format"] = _schema_of(request)
    for name in dialect.left_out:
        parameters.pop(name, None)
    return messages, parameters


def is_begun(request: ChatRequest) -> bool:
    """Whether the request ends with an answer that was begun for the model."""
    return bool(request.messages) and request.messages[-1].role == "assistant"


def _schema_of(request: ChatRequest) -> dict[str, Any]:
    """An object with a number of the scale for each label, as strict as endpoints that are strict
    want it."""
    low, high = request.scale
    number = {"type": "integer", "enum": list(range(low, high + 1))}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(request.labels, number),
        "required": list(request.labels),
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "ratings", "strict": True, "schema": schema},
    }


def merged(before: Dialect, after: Dialect, stored: Dialect) -> Dialect:
    """What was learned between ``before`` and ``after``, added to what is stored by now.

    Another worker may have stored lessons of its own since ``before`` was read.
    """
    changed = {one: getattr(after, one) for one in asdict(after)}
    changed = {one: value for one, value in changed.items() if value != getattr(before, one)}
    if "left_out" in changed:
        taken_back = set(before.left_out) - set(after.left_out)
        changed["left_out"] = tuple(sorted({*stored.left_out, *after.left_out} - taken_back))
    if after.room > before.room:
        changed["room"] = max(after.room, stored.room)
    if "most" in changed and after.most and stored.most:
        changed["most"] = min(after.most, stored.most)
    return replace(stored, **changed)


def _keep_nothing(_: Dialect, after: Dialect) -> Dialect:
    return after


@dataclass
class Learner:
    """The dialect of one address and model as far as it is known, in one run.

    ``keep`` stores what was learned between two dialects, and returns what all workers know then.
    Answers that were sent before the last lesson teach nothing: they are asked again in the present
    form. What is known from earlier runs may be wrong by now: where the endpoint refuses it, or no
    number comes, the run begins again with the plainest form, once. Then nothing is stored before
    a number came, so that an endpoint's bad hour does not cost what is known of it.
    """

    dialect: Dialect = PLAIN
    keep: Callable[[Dialect, Dialect], Dialect] = _keep_nothing
    _proven: set[str] = field(default_factory=set, init=False)
    """Kinds of requests to which an answer of this run held a number."""
    _has_begun_again: bool = field(default=False, init=False)
    _has_taken_back: bool = field(default=False, init=False)
    _is_trying: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._earlier = self._stored = self.dialect

    def is_proven(self, request: ChatRequest) -> bool:
        """Whether an answer of this run to such a request held a number. Before, one is asked at a
        time."""
        return request.kind in self._proven

    def learn(self, **facts: Any) -> bool:
        """Whether that is new."""
        learned = replace(self.dialect, **facts)
        if learned == self.dialect and learned.reasons == self.dialect.reasons:
            return False
        self.dialect = learned
        if not self._is_trying:
            self._store()
        return True

    def _store(self) -> None:
        self.dialect = self._stored = self.keep(self._stored, self.dialect)

    def begin_again(self) -> bool:
        """Take the plainest form where what is known from earlier runs is wrong. Whether that is
        new."""
        if self._has_begun_again or self._earlier == PLAIN:
            return False
        self._has_begun_again = self._is_trying = True
        self._proven.clear()
        return self.learn(**asdict(PLAIN))

    def from_refusal(self, problem: Exception, was: Dialect, request: ChatRequest) -> bool:
        """Learn from an error which parameter is not taken. Whether the call should be sent again,
        in another form."""
        import openai

        if not isinstance(problem, openai.APIStatusError) or problem.status_code not in LEARNED_OF:
            return False
        _, sent = sent_as(request, was)
        message = _words_of(problem)
        names = [name for name in LEARNABLE if name in sent]
        refused = {
            name
            for name in names
            if re.search(rf"(?<![a-z_]){name}(?![a-z_])", message, re.IGNORECASE)
        }
        param = (problem.param or "").partition(".")[0]
        if param in names:
            refused = {param}
        elif param in sent:
            return False
        is_of_the_form = problem.status_code in (400, 422)
        if was.limit in refused and was.limit == self._earlier.limit != PLAIN.limit:
            is_lower = "most" in _other_limit(was, sent[was.limit], message)
            if was == self.dialect and not is_lower and self.begin_again():
                return True
        begins = is_begun(request) and was.prefill != "none"
        if begins and (
            refused & set(CONTINUING) or (not refused and _PREFILL_REFUSED.search(message))
        ):
            return self._since(was, prefill="none", room=max(was.room, ROOM_ANEW))
        if not refused:
            return is_of_the_form and (was != self.dialect or self.begin_again())
        if was.limit in refused:
            return self._since(was, **_other_limit(was, sent[was.limit], message))
        if "response_format" in refused:
            return self._since(was, schema=False, left_out=_with(was, {"response_format"}))
        return self._since(was, left_out=_with(was, refused))

    def no_number(self, request: ChatRequest, answer: Answer) -> bool:
        """Learn from an answer without a number. Whether another form of the request may give
        one."""
        was = answer.sent
        self._note_reasoning(answer)
        if was != self.dialect and not answer.from_store:
            return True
        is_cut = answer.finish_reason == "length"
        facts: dict[str, Any] = {"room": self._more_room(was, request, answer)} if is_cut else {}
        if not self.is_proven(request):
            if is_begun(request) and was.prefill != "none":
                facts["prefill"] = "continued" if was.prefill == "plain" else "none"
                facts.setdefault("room", max(was.room, ROOM_ANEW))
            is_refused = "response_format" in was.left_out
            if not is_cut and facts.get("prefill") != "continued" and not is_refused:
                facts["schema"] = True
        # It was asked long ago, and more is known by now
        if answer.from_store and was != self.dialect:
            return True
        return self.learn(**facts)

    def number(self, request: ChatRequest, answer: Answer, is_continued: bool) -> None:
        """An answer held a number; what is known is enough."""
        was = answer.sent
        self._note_reasoning(answer)
        if was == self.dialect and is_continued and was.prefill == "continued" and was.room:
            self.learn(room=0)  # the number comes first
        if answer.from_store:
            return
        sent = sent_as(request, was)[1]
        if not self.is_proven(request):
            if "logprobs" in sent and not answer.chances and was == self.dialect:
                self.learn(left_out=_with(was, PROBABILITIES))
            self._proven.add(request.kind)
        if self._is_trying:
            self._is_trying = False
            self._store()
        # Parameters that are thought refused, and that this answer shows to be taken: once a run
        taken = set(sent) & set(self.dialect.left_out)
        if not answer.chances:
            taken -= set(PROBABILITIES)
        if taken and not self._has_taken_back:
            self._has_taken_back = True
            self.learn(left_out=tuple(sorted(set(self.dialect.left_out) - taken)))

    def _note_reasoning(self, answer: Answer) -> None:
        if answer.has_reasoned:
            self.learn(reasons=True)

    def _since(self, was: Dialect, **facts: Any) -> bool:
        """What a form that was sent taught. Other calls may have taught the same meanwhile."""
        return self.learn(**facts) if was == self.dialect else True

    def _more_room(self, was: Dialect, request: ChatRequest, answer: Answer) -> int:
        reasons = answer.has_reasoned or not answer.text.strip()
        least = ROOM_TO_REASON if reasons or was.room >= ROOM_ANEW else ROOM_ANEW
        more = max(least, 4 * was.room if was.room >= ROOM_TO_REASON else 0)
        return max(was.room, min(request.most_tokens, more))


def _with(dialect: Dialect, names: Any) -> tuple[str, ...]:
    more = set(names)
    if more & set(PROBABILITIES):
        more |= set(PROBABILITIES)
    return tuple(sorted({*dialect.left_out, *more}))


def _other_limit(was: Dialect, sent: int, message: str) -> dict[str, Any]:
    """A limit that is too high is lowered; one that is not taken gives way to the other name, and
    then to none."""
    highest = [int(one) for one in _AT_MOST.findall(message) if 0 < int(one) < sent]
    if highest:
        return {"most": max(highest)}
    return {"limit": LIMITS[1] if was.limit == LIMITS[0] else ""}


def _words_of(problem: Any) -> str:
    """The whole reply: some endpoints wrap their errors in lists, or name the parameter in a path
    beside the words."""
    try:
        return str(problem.response.text)[:4_000]
    except Exception:
        return str(problem)[:4_000]
