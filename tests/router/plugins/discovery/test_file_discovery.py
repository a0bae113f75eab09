import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.discovery.file_discovery import FileDiscovery, Parameters
from tests.support.engine import make_handle


def test_it_names_the_file_and_whether_it_is_watched() -> None:
    plugin = FileDiscovery("f", decode(Parameters, {"path": "/e.yaml", "watchFile": True}), make_handle())

    assert (plugin.path, plugin.watch_file) == ("/e.yaml", True)


@pytest.mark.parametrize("parameters", [{}, {"path": ""}, {"path": "/e", "watch": True}])
def test_parameters_that_cannot_work_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        decode(Parameters, parameters)
