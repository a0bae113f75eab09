from tests.support.engine import candidates, result_of


def test_the_target_is_the_primary_profiles_first() -> None:
    prefill, decode = candidates("a", "b")

    assert result_of(prefill=prefill, decode=decode).target is decode
