import logging
from collections.abc import Mapping, Sequence

import pytest

from router.engine.extproc.parsers import ParserTable, request_path
from router.framework.errors import RequestError
from router.framework.parsing import Parser, Payload, UsageReader
from router.payloads.opaque import OpaquePayload
from tests.support.exchange import make_parsers


class FakeParser(Parser):
    def __init__(self, name: str, *claims: str, kind: str = "", whole: bool = False) -> None:
        super().__init__(name)
        self._whole = whole
        self.type_name = kind or name
        self._claims = claims

    def claims(self) -> Sequence[str]:
        return self._claims

    def claims_whole_paths(self) -> bool:
        return self._whole

    def parse(self, body: bytes, path: str, headers: Mapping[str, str]) -> Payload:
        return OpaquePayload(raw=body)

    def usage_reader(self, payload: Payload, *, streaming: bool) -> UsageReader:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("headers", "parser"),
    [
        ({":path": "/v1/chat/completions?x=1"}, "openai-parser"),
        ({":path": "/v1/completions/"}, "openai-parser"),
        ({":path": "/v1/chat/completions/render"}, "openai-parser"),
        ({":path": "/v1/messages"}, "anthropic-parser"),
        ({":path": "/v1/messages/count_tokens"}, "anthropic-parser"),
        ({":path": "/inference/v1/generate"}, "vllmhttp-parser"),
        ({":path": "/v1/audio/transcriptions"}, "passthrough-parser"),
        ({}, "openai-parser"),
        ({"x-original-path": "/v1/embeddings"}, "openai-parser"),
        ({"x-forwarded-path": "/tokenize"}, "passthrough-parser"),
        ({":path": "/v1/chat/completions", "x-original-path": "/tokenize"}, "openai-parser"),
        ({":path": "/my-completions"}, "passthrough-parser"),
        ({":path": "/completions"}, "openai-parser"),
        ({":path": "/"}, "passthrough-parser"),
    ],
    ids=["J40", "J41", "J42", "J43", "J44", "J45", "J46", "J47", "original", "forwarded", "order", "segment", "whole", "root"],
)
def test_default_parsers(headers: Mapping[str, str], parser: str) -> None:
    table = ParserTable(make_parsers(), whole_segments=True)

    assert table.resolve(request_path(headers)).name == parser


def test_reference_matches_within_a_segment() -> None:
    table = ParserTable(make_parsers(), whole_segments=False)

    assert table.resolve("/my-completions").name == "openai-parser"


def test_longest_suffix_wins_and_ties_go_to_the_first() -> None:
    table = ParserTable([FakeParser("a", "x"), FakeParser("b", "/v1/x/"), FakeParser("c", "v1/x")], whole_segments=True)

    assert table.resolve("/v1/x").name == "b"
    assert table.resolve("/v2/x").name == "a"


def test_a_whole_path_is_claimed_from_its_start() -> None:
    table = ParserTable([FakeParser("fallback-less", "x"), FakeParser("whole", "generate", whole=True)], whole_segments=False)

    assert table.resolve("/generate/").name == "whole"
    with pytest.raises(RequestError, match="no parser registered"):
        table.resolve("/inference/v1/generate")


def test_a_whole_path_wins_over_suffixes() -> None:
    table = ParserTable([FakeParser("a", "generate"), FakeParser("whole", "generate", whole=True)], whole_segments=True)

    assert table.resolve("/generate").name == "whole"
    assert table.resolve("/v1/generate").name == "a"


def test_path_of_no_parser_is_refused() -> None:
    table = ParserTable([FakeParser("a", "x")], whole_segments=True)

    with pytest.raises(RequestError, match="no parser registered matching path suffix for: /y"):
        table.resolve("/y")


def test_nothing_after_the_fallback_counts() -> None:
    table = ParserTable([FakeParser("fallback"), FakeParser("late", "x")], whole_segments=True)

    assert table.resolve("/x").name == "fallback"


def test_second_parser_of_a_type_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        table = ParserTable([FakeParser("a", "x", kind="k"), FakeParser("b", "long/x", kind="k")], whole_segments=True)

    assert table.resolve("/long/x").name == "a"
    assert "ignored" in caplog.text
