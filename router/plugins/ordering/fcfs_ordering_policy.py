"""First come, first served. Accepted in configurations; queueing is not built yet."""

from router.framework.flow import OrderingPolicy
from router.framework.plugin import Handle, NoParameters

TYPE = "fcfs-ordering-policy"
Parameters = NoParameters


class FcfsOrderingPolicy(OrderingPolicy):
    """The request received first comes first."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
