from router.framework.attributes.encoder_match import EncoderMatch, encoder_match


def test_the_ratio_of_nothing_is_zero() -> None:
    assert EncoderMatch(matched_size=0, request_size=0).ratio == 0.0


def test_the_key_names_its_producer() -> None:
    assert encoder_match().text == "EncoderMatch/mm-embeddings-cache-producer"
