"""Settings of all tests."""

from hypothesis import settings

settings.register_profile("without deadline", deadline=None)  # a busy machine is slow
settings.load_profile("without deadline")
