"""Gives a client the model name back that it asked for, where its request was sent on under another one."""

import re
from collections.abc import Mapping

import msgspec

from router import wire
from router.framework.request import InferenceRequest

GRPC = "application/grpc"

_KEY = b'"model":'


class ModelNames:
    """Replaces the served model's name in one response, in JSON members called `model`, wherever its chunks are cut."""

    def __init__(self, served: str, asked: str, *, one_spelling: bool = False) -> None:
        """`one_spelling`: a chunk that has a name without blank before it keeps those with one, as the reference does."""
        encoded = msgspec.json.encode(served)
        self._spellings = (_KEY + encoded, _KEY + b" " + encoded)
        self._either = re.compile(b"|".join(map(re.escape, self._spellings)))
        self._asked = msgspec.json.encode(asked)
        self._one_spelling = one_spelling
        self._held = b""  # what may be the start of a member

    def restore(self, chunk: bytes, *, last: bool = False) -> bytes:
        """What goes on of the next chunk; the same object where there is nothing to replace. `last`: nothing is held back."""
        content = self._held + chunk if self._held else chunk
        self._held = b""
        pieces: list[bytes] = []
        position = 0
        for match in self._pattern(content).finditer(content):
            pieces += (content[position : match.start()], self._renamed(match.group()))
            position = match.end()
        end = len(content) if last else self._unfinished(content, position)
        self._held = content[end:]
        if not pieces and end == len(content):
            return content
        return b"".join((*pieces, content[position:end]))

    def rest(self) -> bytes:
        """What is still held back, when the body turns out to have ended."""
        held, self._held = self._held, b""
        return held

    def _pattern(self, content: bytes) -> re.Pattern[bytes]:
        if not self._one_spelling:
            return self._either
        return re.compile(re.escape(self._spellings[self._spellings[0] not in content]))

    def _renamed(self, member: bytes) -> bytes:
        return _KEY + b" " * (member[len(_KEY)] == ord(" ")) + self._asked

    def _unfinished(self, content: bytes, start: int) -> int:
        """Where a member begins that the next chunk may complete; the end of the content when none does."""
        quote = content.find(b'"', max(start, len(content) - len(self._spellings[1]) + 1))
        while quote >= 0:
            key = content[quote : quote + len(_KEY)]  # a name may be long, so the cheap question comes first
            if _KEY.startswith(key) and any(spelling.startswith(content[quote:]) for spelling in self._spellings):
                return quote
            quote = content.find(b'"', quote + 1)
        return len(content)


def model_names(request: InferenceRequest, *, one_spelling: bool) -> ModelNames | None:
    """None when the response names the model that the client asked for anyway, or the client named none."""
    served, asked = request.target_model, request.incoming_model
    return ModelNames(served, asked, one_spelling=one_spelling) if served and asked and served != asked else None


def renames(headers: Mapping[str, str]) -> bool:
    """Whether names can be replaced in a response with these headers: gRPC states the length of what it carries."""
    return not headers.get(wire.CONTENT_TYPE, "").startswith(GRPC)
