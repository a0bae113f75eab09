from router.framework.attributes.load import InflightLoad, inflight_load, uncached_tokens


def test_keys() -> None:
    assert inflight_load().text == "InflightLoad/inflight-load-producer"
    assert uncached_tokens("p").text == "UncachedTokens/p"


def test_loads_are_told_apart_by_identity() -> None:
    assert InflightLoad() != InflightLoad()
