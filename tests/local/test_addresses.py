import ipaddress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from local.addresses import AddressTable, LocalService, assign, container_port, locate_services
from local.errors import LocalError
from local.pods import expand
from tests.support.manifests import NAMESPACE, ROUTER_LABELS, deployment, router_deployment, service

OWN = "127.70.1.2"
SERVICE = LocalService(name="router", namespace=NAMESPACE, address="127.70.1.1", ports={80: 8081, 9002: 9002}, port_names={"http": 8081})


@pytest.fixture
def table() -> AddressTable:
    return AddressTable(OWN, NAMESPACE, [SERVICE])


def test_each_pod_has_its_own_loopback_address_the_same_at_each_run() -> None:
    pods = expand([router_deployment(), deployment(replicas=4)])
    addresses = assign(pods, "default")

    assert addresses == assign(pods, "default")
    assert len(set(addresses.values())) == len(pods)
    assert all(ipaddress.ip_address(address).is_loopback for address in addresses.values())


@given(st.text(min_size=1, max_size=20))
def test_no_stack_touches_the_addresses_others_use_for_themselves(stack: str) -> None:
    [address] = assign(expand([deployment()]), stack).values()

    assert ipaddress.ip_address(address) in ipaddress.ip_network("127.64.0.0/10")


def test_two_stacks_run_side_by_side() -> None:
    pods = expand([deployment(replicas=4)])

    assert not set(assign(pods, "one").values()) & set(assign(pods, "two").values())


def test_too_many_pods_are_refused() -> None:
    with pytest.raises(LocalError, match="at most 1022"):
        assign(expand([deployment(replicas=1100)], limit=None), "default")


def test_a_service_is_played_by_the_first_pod_it_selects() -> None:
    pods = expand([router_deployment(), deployment()])
    addresses = assign(pods, "default")

    [found] = locate_services([service(), service("other", {"no": "pod"})], pods, addresses)

    assert found.name == "router"
    assert found.address == addresses[pods[0].key]
    assert found.ports == {80: 8081}
    assert found.port_names == {"http": 8081}


def test_a_target_port_may_be_a_name() -> None:
    pods = expand([router_deployment()])
    named = service("router", ROUTER_LABELS, [{"port": 80, "targetPort": "http"}, {"port": 9002}])

    [found] = locate_services([named], pods, assign(pods, "default"))

    assert found.ports == {80: 8081, 9002: 9002}


def test_an_unknown_port_name_is_refused() -> None:
    with pytest.raises(LocalError, match="'web'"):
        container_port(deployment()["spec"]["template"]["spec"]["containers"], "web")


REWRITES = {
    "wildcard": ("0.0.0.0", OWN),
    "wildcard-port": ("--listen=0.0.0.0:8000", f"--listen={OWN}:8000"),
    "loopback": ("127.0.0.1:9002", f"{OWN}:9002"),
    "localhost-url": ("http://localhost:8000/v1", f"http://{OWN}:8000/v1"),
    "ipv6-wildcard": ("::", OWN),
    "ipv6-loopback": ("::1", OWN),
    "ipv6-bracketed": ("[::]:8000", f"{OWN}:8000"),
    "ipv6-flag": ("--host=::", f"--host={OWN}"),
    "zmq": ("tcp://*:5557", f"tcp://{OWN}:5557"),
    "service": ("router:80", "127.70.1.1:8081"),
    "service-url": ("http://router/v1", "http://127.70.1.1/v1"),
    "service-qualified": (f"http://router.{NAMESPACE}.svc.cluster.local:80/v1", "http://127.70.1.1:8081/v1"),
    "service-svc": (f"router.{NAMESPACE}.svc:9002", "127.70.1.1:9002"),
    "service-in-list": ("a=x,router:80", "a=x,127.70.1.1:8081"),
    "json": ('{"endpoint":"tcp://*:5557"}', f'{{"endpoint":"tcp://{OWN}:5557"}}'),
}
UNTOUCHED = {
    "other-address": "10.0.0.0.0.1",
    "network": "0.0.0.0/0",
    "network-loopback": "127.0.0.1/8",
    "name-with-address": "envoy-proxy-ready-0.0.0.0-19001",
    "longer-name": "localhost.example.com",
    "part-of-name": "mylocalhost",
    "scope": "std::string",
    "prose": "a :: b",
    "type": "type.googleapis.com/envoy.Router",
    "part-of-word": "router-epp",
    "word-in-prose": "the router hashes",
    "kv-topic": "kv@pod@model",
}


@pytest.mark.parametrize(("given_text", "expected"), REWRITES.values(), ids=REWRITES)
def test_addresses_become_the_pods_own(table: AddressTable, given_text: str, expected: str) -> None:
    assert table.text(given_text) == expected


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_is_no_address_stays(table: AddressTable, text: str) -> None:
    assert table.text(text) == text


@given(st.text(max_size=40))
def test_rewriting_twice_changes_no_more_than_once(text: str) -> None:
    table = AddressTable(OWN, NAMESPACE, [SERVICE])
    once = table.text(text)

    assert table.text(once) == once


def test_a_short_name_means_a_service_of_the_own_namespace_only() -> None:
    elsewhere = AddressTable(OWN, "other", [SERVICE])

    assert elsewhere.text("router:80") == "router:80"
    assert elsewhere.text(f"router.{NAMESPACE}:80") == "127.70.1.1:8081"


def test_a_listener_is_not_bound_twice(table: AddressTable) -> None:
    address = {"socket_address": {"address": "0.0.0.0", "port_value": 8081}}
    twin = {"address": {"socket_address": {"address": "::", "port_value": 8081}}}
    other = {"address": {"socket_address": {"address": "::", "port_value": 8082}}}

    only = table.tree({"address": address, "additional_addresses": [twin]})
    kept = table.tree({"address": address, "additional_addresses": [twin, other]})

    own = {"socket_address": {"address": OWN, "port_value": 8081}}
    assert only == {"address": own}
    assert kept == {"address": own, "additional_addresses": [{"address": {"socket_address": {"address": OWN, "port_value": 8082}}}]}


def test_envoys_address_and_port_are_one_pair(table: AddressTable) -> None:
    rewritten = table.tree({"socket_address": {"address": f"router.{NAMESPACE}.svc.cluster.local", "port_value": 80}})

    assert rewritten == {"socket_address": {"address": "127.70.1.1", "port_value": 8081}}


def test_a_document_without_addresses_stays_as_it_was_written(table: AddressTable) -> None:
    text = "# a comment\nkey:   value\n"

    assert table.document(text) == text


def test_a_yaml_document_is_rewritten_as_a_tree(table: AddressTable) -> None:
    rewritten = yaml.safe_load(table.document("listen: '::'\nnested: [{host: localhost}]\nport: 8000\n"))

    assert rewritten == {"listen": OWN, "nested": [{"host": OWN}], "port": 8000}


def test_a_json_document_stays_json(table: AddressTable) -> None:
    assert table.document('{"host": "localhost"}') == f'{{\n  "host": "{OWN}"\n}}'


@pytest.mark.parametrize("text", ["listen localhost:80;\n", "a: [localhost\n"], ids=["plain", "broken-yaml"])
def test_other_documents_are_rewritten_as_text(table: AddressTable, text: str) -> None:
    assert table.document(text) == text.replace("localhost", OWN)
