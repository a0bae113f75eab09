"""Topics of event messages: which endpoint speaks, and of which model."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """`kv@<endpoint>@<model>` taken apart; a topic of another form is the endpoint as a whole."""

    endpoint: str
    model: str = ""


def parse_topic(text: str) -> Topic:
    """The parts of a topic; every text is one."""
    parts = text.split("@")
    return Topic(parts[1], parts[2]) if len(parts) == 3 else Topic(text)
