from router.framework.flow import OrderingPolicy
from router.plugins.ordering.fcfs_ordering_policy import TYPE, FcfsOrderingPolicy, Parameters
from tests.support.engine import make_handle


def test_is_an_ordering_policy() -> None:
    assert isinstance(FcfsOrderingPolicy(TYPE, Parameters(), make_handle()), OrderingPolicy)
