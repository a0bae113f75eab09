"""Accepted for documents that list it. Plugins that follow endpoints hear of them without a source."""

from router.framework.plugin import Handle, NoParameters, Plugin

TYPE = "endpoint-notification-source"


class EndpointNotificationSource(Plugin):
    """Has no effect: endpoint listeners are registered by being configured."""

    def __init__(self, name: str, parameters: NoParameters, handle: Handle) -> None:
        super().__init__(name)
