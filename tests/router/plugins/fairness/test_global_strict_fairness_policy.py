from router.framework.flow import FairnessPolicy
from router.plugins.fairness.global_strict_fairness_policy import TYPE, GlobalStrictFairnessPolicy, Parameters
from tests.support.engine import make_handle


def test_is_a_fairness_policy() -> None:
    assert isinstance(GlobalStrictFairnessPolicy(TYPE, Parameters(), make_handle()), FairnessPolicy)
