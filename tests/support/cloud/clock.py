"""The test cloud's own time, for products that wait."""

from datetime import datetime

from tests.cloud.cloud import Cloud


class CloudClock:
    """Implements the Clock port on the cloud's own time: who sleeps moves it."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def now(self) -> datetime:
        return self._cloud.lifecycle.time()

    def sleep(self, seconds: float) -> None:
        self._cloud.skip(seconds)
