"""JSON of answers, with the fields real vLLM always sends, null where it has nothing to say."""

from dataclasses import dataclass
from typing import Any

FINGERPRINT = "vllm-0.32.0-sim"


@dataclass(frozen=True, slots=True)
class Counts:
    """Token counts of a whole request; `details`: whether the server shows where tokens came from."""

    prompt: int
    completion: int
    cached: int
    multimodal: int
    details: bool

    def usage(self) -> dict[str, Any]:
        """The `usage` object of a whole answer."""
        shown = {"cached_tokens": self.cached, "created_cache_tokens": self.prompt - self.cached, "multimodal_tokens": self.multimodal}
        return {
            "prompt_tokens": self.prompt,
            "total_tokens": self.prompt + self.completion,
            "completion_tokens": self.completion,
            "prompt_tokens_details": shown if self.details else None,
            "completion_tokens_details": None,
        }

    def stream_usage(self) -> dict[str, Any]:
        """The three numbers of a stream's usage."""
        return {"prompt_tokens": self.prompt, "total_tokens": self.prompt + self.completion, "completion_tokens": self.completion}


@dataclass(frozen=True, slots=True)
class Identity:
    """What every piece of one answer repeats."""

    id: str
    created: int
    model: str


def chat_answer(identity: Identity, choices: list[tuple[str, str]], counts: Counts) -> dict[str, Any]:
    """A chat completion; a choice is (text, finish reason)."""
    return {
        "id": identity.id,
        "object": "chat.completion",
        "created": identity.created,
        "model": identity.model,
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": said, "refusal": None, "reasoning": None, "tool_calls": []},
                "logprobs": None,
                "finish_reason": reason,
                "stop_reason": None,
                "token_ids": None,
                "routed_experts": None,
            }
            for index, (said, reason) in enumerate(choices)
        ],
        "service_tier": None,
        "system_fingerprint": FINGERPRINT,
        "usage": counts.usage(),
        **_unused(),
    }


def completion_answer(identity: Identity, choices: list[tuple[str, str]], counts: Counts) -> dict[str, Any]:
    """A text completion; a choice is (text, finish reason)."""
    return {
        "id": identity.id,
        "object": "text_completion",
        "created": identity.created,
        "model": identity.model,
        "choices": [
            {"index": i, "text": said, "logprobs": None, "finish_reason": reason, "stop_reason": None, "token_ids": None}
            for i, (said, reason) in enumerate(choices)
        ],
        "service_tier": None,
        "system_fingerprint": FINGERPRINT,
        "usage": counts.usage(),
        **_unused(),
    }


def _unused() -> dict[str, None]:
    names = ("prompt_logprobs", "prompt_token_ids", "prompt_text", "kv_transfer_params", "ec_transfer_params", "metrics")
    return dict.fromkeys(names)


def chunk(identity: Identity, kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """One event of a stream; `kind` is `chat.completion.chunk` or `text_completion`."""
    return {"id": identity.id, "object": kind, "created": identity.created, "model": identity.model, "choices": choices, **more}


def models(names: tuple[str, ...], root: str, created: int, max_model_len: int) -> dict[str, Any]:
    """`/v1/models`."""
    return {
        "object": "list",
        "data": [
            {
                "id": name,
                "object": "model",
                "created": created,
                "owned_by": "vllm",
                "root": root,
                "parent": None,
                "max_model_len": max_model_len,
                "permission": [],
            }
            for name in names
        ],
    }
