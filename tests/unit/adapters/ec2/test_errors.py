import pickle
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError, ParamValidationError

from plimsoll.adapters.providers.ec2 import errors
from plimsoll.adapters.providers.ec2.errors import CAPACITY, QUOTA, CloudError, explained
from plimsoll.domain.text.errors import CloudOutOfReach, ProviderError, SecretError


def refusal(code: Any, message: str = "", operation: str = "RunInstances") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


def raised(error: Any) -> Any:
    with pytest.raises(ProviderError) as caught, explained("ec2", "AWS us-east-1"):
        raise error
    return caught.value


@pytest.mark.parametrize("code", sorted(errors._MENDING))
def test_every_known_code_says_what_where_and_how_to_mend_it(code: Any) -> None:
    error = raised(refusal(code, "the reason"))
    assert (error.code, error.where) == (code, "AWS us-east-1")
    assert "RunInstances" in error.what
    assert "the reason" in error.what
    assert error.mend == errors._MENDING[code]


def test_an_unknown_code_is_passed_on() -> None:
    error = raised(refusal("BrandNew", "the reason"))
    assert "the reason (BrandNew)" in error.what
    assert error.mend


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AccessDenied"])
def test_a_missing_permission_names_the_action_to_allow(code: str) -> None:
    assert "allow the action ec2:RunInstances" in raised(refusal(code)).mend


def test_the_action_that_aws_names_counts() -> None:
    said = "User: arn:aws:iam::1:user/x is not authorized to perform: ec2:CreateTags on resource: arn:aws:ec2:…"
    assert "allow the action ec2:CreateTags" in raised(refusal("UnauthorizedOperation", said)).mend


def test_missing_credentials_are_no_refusal() -> None:
    with pytest.raises(SecretError, match="no AWS credentials") as caught, explained("ec2", "AWS us-east-1"):
        raise NoCredentialsError
    assert "AWS_ACCESS_KEY_ID" in caught.value.mend


def test_an_endpoint_that_does_not_answer_is_named() -> None:
    error = raised(EndpointConnectionError(endpoint_url="http://127.0.0.1:1"))
    assert "http://127.0.0.1:1" in error.what
    assert "endpoint_url" in error.mend


def test_one_that_does_not_answer_is_worth_another_try() -> None:
    assert isinstance(raised(EndpointConnectionError(endpoint_url="http://127.0.0.1:9")), CloudOutOfReach)
    assert not isinstance(raised(refusal("AuthFailure")), CloudOutOfReach)


def test_what_boto_itself_refuses_is_an_option_to_correct() -> None:
    assert "provider.options" in raised(ParamValidationError(report="no such thing")).mend


def test_what_moves_a_cell_and_what_makes_it_wait_are_two_things() -> None:
    assert not CAPACITY & QUOTA
    assert "InsufficientInstanceCapacity" in CAPACITY
    assert "VcpuLimitExceeded" in QUOTA


def test_the_code_crosses_process_borders() -> None:
    error = pickle.loads(pickle.dumps(CloudError("what", where="where", mend="mend", code="Code")))
    assert (error.code, error.what) == ("Code", "what")
