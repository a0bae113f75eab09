from router.framework.collecting import DataSource
from router.framework.plugin import NoParameters
from router.plugins.sources.endpoint_notification_source import TYPE, EndpointNotificationSource
from tests.support.engine import make_handle


def test_it_is_accepted_and_polls_nothing() -> None:
    plugin = EndpointNotificationSource(TYPE, NoParameters(), make_handle())

    assert plugin.name == TYPE
    assert not isinstance(plugin, DataSource)
