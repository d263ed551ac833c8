"""Needs a Docker engine, which most machines that run tests have not: asked for by `make test-containers` alone."""

import os

collect_ignore_glob = [] if os.environ.get("PLIMSOLL_TEST_CONTAINERS") else ["test_*.py"]
