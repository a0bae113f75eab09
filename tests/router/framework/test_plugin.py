from router.framework.plugin import Consumes, Plugin
from tests.support.engine import make_handle


def test_a_plugin_declares_nothing_by_default() -> None:
    plugin = Plugin("p")

    assert plugin.consumes() == Consumes()
    assert plugin.produces() == frozenset()
    assert plugin.ready()
    assert plugin.debug_state() is None


def test_a_handle_finds_plugins_built_earlier() -> None:
    plugins: dict[str, Plugin] = {}
    handle = make_handle(plugins=plugins)
    plugins["p"] = Plugin("p")

    assert handle.plugin("p") is plugins["p"]
    assert handle.plugin("q") is None
