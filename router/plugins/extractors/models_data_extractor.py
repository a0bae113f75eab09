"""Keeps the list of models that an endpoint serves."""

from typing import Any

import msgspec

from router.framework.attributes.key import DataKey
from router.framework.attributes.served_models import ServedModel, ServedModels, served_models
from router.framework.collecting import Extractor
from router.framework.endpoint import LiveEndpoint
from router.framework.plugin import Handle, NoParameters

TYPE = "models-data-extractor"
Parameters = NoParameters


class _Model(msgspec.Struct):
    id: str
    parent: str | None = None


class _Answer(msgspec.Struct):
    data: list[_Model]


class ModelsDataExtractor(Extractor):
    """Writes `ServedModels`; an answer that cannot be read leaves the older list."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._key = served_models(name)
        self._decoder = msgspec.json.Decoder(_Answer)

    def produces(self) -> frozenset[DataKey[Any]]:
        """The list."""
        return frozenset({self._key})

    def extract(self, body: bytes, endpoint: LiveEndpoint) -> tuple[str, ...]:
        """Read one answer."""
        try:
            answer = self._decoder.decode(body)
        except msgspec.DecodeError as error:
            return (f"not a list of models: {error}",)
        models = tuple(ServedModel(id=model.id, parent=model.parent or "") for model in answer.data)
        endpoint.attributes[self._key] = ServedModels(models=models)
        return ()
