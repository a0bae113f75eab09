from router.framework.attributes.latency import latency_prediction


def test_key() -> None:
    assert latency_prediction().text == "LatencyPrediction/predicted-latency-producer"
    assert latency_prediction("p").producer == "p"
