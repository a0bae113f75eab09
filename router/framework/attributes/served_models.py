"""Models that an endpoint lists, a live endpoint attribute."""

from dataclasses import dataclass

from router.framework.attributes.key import DataKey

PRODUCER = "models-data-extractor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """One model; an adapter names the model it belongs to as parent."""

    id: str
    parent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModels:
    """All of an endpoint's models, in its order."""

    models: tuple[ServedModel, ...]


def served_models(producer: str = PRODUCER) -> DataKey[ServedModels]:
    """Key of the live endpoint attribute."""
    return DataKey("ServedModels", producer, ServedModels)
