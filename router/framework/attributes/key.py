"""Data keys: the address of a value that one plugin writes and others read."""

from typing import Generic, TypeVar

T = TypeVar("T")


class DataKey(str, Generic[T]):
    """`type/producer`, with the type of the value stored under it.

    A `str`, so that look-ups cost a cached string hash. Two keys with equal text and different `value_type` are a configuration
    error that `engine.config.data_graph` reports.
    """

    __slots__ = ("data_type", "producer", "value_type")

    data_type: str
    producer: str
    value_type: type[T]

    def __new__(cls, data_type: str, producer: str, value_type: type[T]) -> "DataKey[T]":
        """Build the text form once."""
        key = super().__new__(cls, f"{data_type}/{producer}")
        key.data_type, key.producer, key.value_type = data_type, producer, value_type
        return key

    @property
    def text(self) -> str:
        """The plain `type/producer` form."""
        return str.__str__(self)
