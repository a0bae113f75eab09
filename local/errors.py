"""What the local runner refuses or cannot do, as one message for the person who started it."""


class LocalError(Exception):
    """The stack cannot be played here; the text says what is wrong and what to do."""


class NotReadyError(LocalError):
    """A pod did not get ready; the text ends with the tail of its log."""
