"""The API against its own OpenAPI document: whatever fits it is answered as it says, and nothing breaks the server."""

from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from tests.airflow.web.app import CAMPAIGN, token_of
from tests.fakes.installation import Installation

from plimsoll_airflow.web.app import create_app

REAL = {"campaign_id": CAMPAIGN, "cell_id": "v1-001k-r1", "attempt": 1, "name": "demo"}
OPERATIONS = [(path, method) for path, methods in create_app().openapi()["paths"].items() for method in methods]


@pytest.fixture
def document(airflow_app: FastAPI, campaign: Installation) -> Any:
    import schemathesis  # here, so that only the process that runs these tests imports it

    token = {"Authorization": f"Bearer {token_of('user')}"}
    return schemathesis.openapi.from_asgi("/plimsoll/api/v1/openapi.json", airflow_app, headers=token)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_an_operation_answers_as_its_document_says(document: Any, path: str, method: str) -> None:
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    token = {"Authorization": f"Bearer {token_of('user')}"}

    def answered(case: Any) -> None:
        # Which cells a campaign has, no schema says: an id that fits none is refused.
        case.call_and_validate(headers=token, excluded_checks=[positive_data_acceptance])

    @given(case=document[path][method].as_strategy())
    @settings(
        max_examples=10,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any) -> None:
        answered(case)
        # The same with ids of what there is: generated ones name nothing.
        case.path_parameters = {**case.path_parameters, **{name: REAL[name] for name in case.path_parameters}}
        answered(case)

    check()
