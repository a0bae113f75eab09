from router.framework.parsing import Usage


def test_the_later_value_wins_where_it_is_present() -> None:
    first, later = Usage(prompt_tokens=5, completion_tokens=1), Usage(completion_tokens=7, cached_tokens=0)

    assert first.merged(later) == Usage(prompt_tokens=5, completion_tokens=7, cached_tokens=0)


def test_nothing_changes_nothing() -> None:
    usage = Usage(prompt_tokens=5, total_tokens=6)

    assert usage.merged(Usage()) == Usage().merged(usage) == usage
