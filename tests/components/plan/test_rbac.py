"""The engine's rights."""

from components.plan.names import Names
from components.plan.rbac import Role, metrics_reader, roles


def named(pool: bool) -> Names:
    return Names(release="r", namespace="n", pool=pool, version="1")


def test_without_a_pool_only_pods_are_read() -> None:
    (role,) = roles(named(pool=False))

    assert (role.name, role.rules) == ("r-epp-sa", [{"api_groups": [""], "resources": ["pods"], "verbs": ["get", "watch", "list"]}])


def test_with_a_pool_its_api_is_read_in_both_groups() -> None:
    groups = [rule.get("api_groups") for role in roles(named(pool=True)) for rule in role.rules]

    assert groups == [[""], ["inference.networking.x-k8s.io"], ["llm-d.ai"], ["inference.networking.k8s.io"]]


def test_nothing_may_be_written() -> None:
    verbs = {str(verb) for role in roles(named(pool=True)) for rule in role.rules for verb in list(rule["verbs"])}  # pyright: ignore[reportArgumentType]

    assert verbs == {"get", "watch", "list"}


def test_the_metrics_reader_is_cluster_wide_and_named_after_the_namespace() -> None:
    role = metrics_reader(named(pool=True))

    assert isinstance(role, Role)
    assert role.name == "r-n-epp"
    assert [rule.get("resources") or rule.get("non_resource_urls") for rule in role.rules] == [
        ["tokenreviews"],
        ["subjectaccessreviews"],
        ["/metrics"],
    ]
