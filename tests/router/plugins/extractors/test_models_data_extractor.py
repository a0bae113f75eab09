import pytest

from router.framework.attributes.served_models import ServedModel, served_models
from router.framework.endpoint import LiveEndpoint
from router.framework.plugin import NoParameters
from router.plugins.extractors.models_data_extractor import TYPE, ModelsDataExtractor
from tests.support.engine import live_endpoint, make_handle

PAGE = b'{"object":"list","data":[{"id":"base","parent":null,"created":1},{"id":"adapter","parent":"base"}]}'


def models_of(endpoint: LiveEndpoint) -> tuple[ServedModel, ...] | None:
    kept = endpoint.attributes.get(served_models())
    return kept and kept.models


def test_models_and_their_parents_are_kept() -> None:
    endpoint = live_endpoint()

    assert ModelsDataExtractor(TYPE, NoParameters(), make_handle()).extract(PAGE, endpoint) == ()
    assert models_of(endpoint) == (ServedModel(id="base"), ServedModel(id="adapter", parent="base"))


@pytest.mark.parametrize("page", [b"", b"<html>", b'{"data":[{"name":"x"}]}', b"{}"])
def test_what_cannot_be_read_leaves_the_older_list(page: bytes) -> None:
    extractor, endpoint = ModelsDataExtractor(TYPE, NoParameters(), make_handle()), live_endpoint()
    extractor.extract(PAGE, endpoint)

    (problem,) = extractor.extract(page, endpoint)

    assert problem.startswith("not a list of models")
    assert models_of(endpoint) == (ServedModel(id="base"), ServedModel(id="adapter", parent="base"))
