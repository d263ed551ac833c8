import pickle

from plimsoll.domain.text.errors import DefinitionError, HostError, Problem


def test_an_error_says_where_what_and_how_to_mend_it() -> None:
    error = HostError("port 9042 is taken", where="node1", mend="stop what listens there")
    assert str(error) == "node1: port 9042 is taken\n  To mend it: stop what listens there"


def test_a_refusal_lists_every_problem() -> None:
    error = DefinitionError([Problem("a", "is missing"), Problem("b", "is odd", "allowed: even")], where="x.yaml")
    assert str(error) == "x.yaml: refused, 2 problems:\n  - a: is missing\n  - b: is odd (allowed: even)"


def test_errors_cross_process_borders_whole() -> None:
    error = DefinitionError([Problem("a", "is missing")], where="x.yaml")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.problems == error.problems
