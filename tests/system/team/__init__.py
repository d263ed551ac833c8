"""A package to pytest, at whose end what its tests share is stopped: without this file, at the end of all tests."""
