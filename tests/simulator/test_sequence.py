from tests.support.simulated import item, media_prompt, sequence, text_prompt


def test_only_full_blocks_have_a_hash() -> None:
    made = sequence(text_prompt(10))

    assert len(made.hash_blocks(b"seed", 10)) == 2
    assert len(made.hash_blocks(b"seed", 4)) == 1


def test_hashes_depend_on_the_salt_and_the_seed() -> None:
    plain = sequence(text_prompt(4)).hash_blocks(b"seed", 4)

    assert sequence(text_prompt(4), salt="tenant").hash_blocks(b"seed", 4) != plain
    assert sequence(text_prompt(4)).hash_blocks(b"other", 4) != plain


def test_field_P22_an_image_taints_the_blocks_it_covers_and_those_after() -> None:
    hashes = [sequence(media_prompt("abcd abcd abcd abcd abcd abcd", item(name, 8), "end of it all")).hash_blocks(b"", 20) for name in "xy"]
    equal = [a == b for a, b in zip(*hashes, strict=True)]

    assert equal == [True, False, False, False, False]


def test_a_produced_token_extends_the_sequence() -> None:
    made = sequence(text_prompt(4))
    made.computed = 4
    assert made.prefilled

    made.extend(9)

    assert (made.length, made.produced, made.prefilled) == (5, 1, False)
