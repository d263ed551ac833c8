"""The test cloud's own time, for products that wait."""

from datetime import datetime

from tests.cloud.cloud import Cloud


class CloudClock:
    """Implements the Clock port with the cloud's own time. Sleeping moves it forward."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def now(self) -> datetime:
        return self._cloud.lifecycle.time()

    def sleep(self, seconds: float) -> None:
        self._cloud.skip(seconds)
