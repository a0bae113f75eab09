"""One order over all flows of a band. Accepted in configurations; queueing is not built yet."""

from router.framework.flow import FairnessPolicy
from router.framework.plugin import Handle, NoParameters

TYPE = "global-strict-fairness-policy"
Parameters = NoParameters


class GlobalStrictFairnessPolicy(FairnessPolicy):
    """The flow whose head the ordering policy ranks first."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
