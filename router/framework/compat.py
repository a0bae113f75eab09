"""Where this engine differs from the reference on purpose, and the switch back."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compat:
    """`--compat=reference` restores the reference's behaviour wherever ours differs by choice."""

    reference: bool = False
