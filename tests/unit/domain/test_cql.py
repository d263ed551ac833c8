import pytest

from plimsoll.domain.cql import CqlOptions
from plimsoll.domain.workload import Workload

CQL_KEYS = set(CqlOptions.model_fields)


def test_clients_speak_cql_unless_the_workload_says_otherwise_which_its_definition_need_not_say() -> None:
    assert Workload().protocol == "cql"
    assert Workload().model_dump(mode="json").keys() & {"protocol", *CQL_KEYS} == CQL_KEYS


def test_a_workload_of_another_protocol_is_stored_without_the_options_of_cql() -> None:
    workload = Workload.model_validate({"name": "Puts", "protocol": "hbase", "rows": "1M"})
    dumped = workload.model_dump(mode="json")
    assert dumped == {"name": "Puts", "protocol": "hbase", "rows": "1M"}
    assert Workload.model_validate(dumped) == workload
    assert list(workload.faults_with(nodes=1)) == []


@pytest.mark.parametrize("option", [{"consistency": "ONE"}, {"replication_factor": 1}])
def test_an_option_of_cql_is_refused_for_clients_that_do_not_speak_it(option: dict[str, object]) -> None:
    [fault] = Workload.model_validate({"protocol": "hbase", **option}).faults_with(nodes=3)
    assert (fault.key, fault.what) == (*option, "is an option of CQL, and these clients speak hbase")
