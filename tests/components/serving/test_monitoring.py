"""Monitoring is opt-in."""

from tests.support.recordings import objects


def test_off_by_default() -> None:
    assert not [name for name in objects("default") if "Monitor/" in name or name.startswith("ClusterRole")]


def test_on_it_scrapes_engine_and_model_servers() -> None:
    found = objects("monitoring")

    assert {"ServiceMonitor/multimodal-serving-epp-monitor", "PodMonitor/decode"} <= set(found)
    service = found["Service/multimodal-serving-epp"]
    assert (
        found["ServiceMonitor/multimodal-serving-epp-monitor"]["spec"]["selector"]["matchLabels"].items()
        <= service["metadata"]["labels"].items()
    )


def test_scraping_comes_with_the_right_to_check_tokens() -> None:
    found = objects("monitoring")

    binding = found["ClusterRoleBinding/multimodal-serving-llm-d-multimodal-serving-epp"]
    assert f"ClusterRole/{binding['roleRef']['name']}" in found
