"""The command `mmserve`, one file a command."""
