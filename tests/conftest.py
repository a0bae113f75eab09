"""What holds for every test: generated examples repeat themselves and have no time limit of their own."""

from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
