from hypothesis import given
from hypothesis import strategies as st

from simulator.tokens import text


def test_a_word_counts_one_token_per_started_four_characters() -> None:
    assert text.split("abcdefghi") == ["abcd", "efgh", "i"]


@given(st.text(st.characters(codec="ascii", exclude_characters="\x0b\x0c\r\x1c\x1d\x1e\x1f")))
def test_pieces_join_to_the_text(words: str) -> None:
    assert "".join(text.split(words)) == words


@given(st.text())
def test_ids_fit_the_vocabulary_and_repeat(words: str) -> None:
    ids = text.encode(words)

    assert ids == text.Detokenizer().learn(words)
    assert all(0 <= number < text.VOCABULARY for number in ids)


@given(st.text(st.characters(codec="ascii")))
def test_the_lower_bound_holds(words: str) -> None:
    assert text.at_least(words) <= max(len(text.encode(words)), 1)


def test_detokenizing_gives_the_text_back() -> None:
    vocabulary = text.Detokenizer()

    assert vocabulary.text(vocabulary.learn("What colour is it?")) == "What colour is it?"
    assert vocabulary.text([7]) == "<7>"
