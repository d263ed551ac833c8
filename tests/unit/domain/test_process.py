"""Names of processes."""

import pytest

from plimsoll.domain.keys.process import Process, ProcessOnHost, by_prefix


@pytest.mark.parametrize("name", ["", "host.csv", "a/b", "..", "Data Node", "7", "-a"])
def test_a_name_that_can_not_be_a_folder_beside_files_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a process"):
        Process(name)


def test_people_read_of_which_process_something_is_where_there_are_several() -> None:
    one, other = Process("data-node"), Process("region-server")
    assert by_prefix([one]) == {"": one}
    assert by_prefix([one, other]) == {"data-node: ": one, "region-server: ": other}
    place = ProcessOnHost("node1", "data-node")
    assert (place.shown(several=False), place.shown(several=True)) == ("node1", "node1 data-node")
    assert ProcessOnHost("node1", "").shown(several=True) == "node1"
