import pytest

from router.expressions.tokens import ExpressionError, Kind, tokens


def test_a_text_is_cut_into_tokens() -> None:
    found = [(token.kind, token.text) for token in tokens("a.b >= 1.5e3 // why\n && 'x'")]

    assert found == [
        (Kind.NAME, "a"),
        (Kind.SIGN, "."),
        (Kind.NAME, "b"),
        (Kind.SIGN, ">="),
        (Kind.NUMBER, "1.5e3"),
        (Kind.SIGN, "&&"),
        (Kind.TEXT, "'x'"),
        (Kind.END, ""),
    ]


@pytest.mark.parametrize(("text", "position"), [("a # b", 2), ('"open', 0), ("²", 0), ("a = b", 2)])
def test_what_is_not_understood_is_told_with_its_place(text: str, position: int) -> None:
    with pytest.raises(ExpressionError, match=f"at {position} is not understood"):
        tokens(text)
