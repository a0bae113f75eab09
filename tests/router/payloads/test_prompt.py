import msgspec
import pytest

from router.framework.errors import RequestError
from router.payloads.prompt import Prompts, read_prompts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"hi"', Prompts(texts=("hi",))),
        ('["a","b"]', Prompts(texts=("a", "b"))),
        (' [ \n"a"]'.strip(), Prompts(texts=("a",))),
        ("[1,2,4294967295]", Prompts(token_ids=(1, 2, 4294967295))),
        ("[0]", Prompts(token_ids=(0,))),
    ],
)
def test_prompts(text: str, expected: Prompts) -> None:
    assert read_prompts(msgspec.Raw(text.encode()), "refused") == expected


@pytest.mark.parametrize(
    "text", ["", "null", '""', '[""]', "[]", "5", "{}", "true", '["a",1]', '[1,"a"]', "[-1]", "[4294967296]", "[1.5]", "[[1]]"]
)
def test_other_values_are_refused(text: str) -> None:
    with pytest.raises(RequestError, match="refused"):
        read_prompts(msgspec.Raw(text.encode()), "refused")
