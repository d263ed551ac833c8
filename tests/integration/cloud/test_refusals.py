"""Each fault of the API as a plain boto3 client sees it."""

import urllib.error
import urllib.request
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from tests.cloud.cloud import Cloud
from tests.cloud.faults import (
    Deny,
    DieAfter,
    LoseAnswer,
    NoAddresses,
    NoBoot,
    NoCapacity,
    StayPending,
    Throttle,
    VcpuLimit,
)
from tests.support.cloud.clients import Aws, described, launch, state


def refusal(call: Any, *args: Any, **kwargs: Any) -> tuple[str, int]:
    with pytest.raises(ClientError) as raised:
        call(*args, **kwargs)
    return raised.value.response["Error"]["Code"], raised.value.response["ResponseMetadata"]["HTTPStatusCode"]


def test_no_capacity_in_a_zone(ec2: Any, instant: Cloud) -> None:
    instant.fault(NoCapacity(zone="us-east-1a", times=2))
    elsewhere = instant.landscape.subnets["us-east-1b"]
    assert refusal(launch, ec2, instant) == ("InsufficientInstanceCapacity", 500)
    assert len(launch(ec2, instant, SubnetId=elsewhere)) == 1
    assert refusal(launch, ec2, instant) == ("InsufficientInstanceCapacity", 500)
    assert len(launch(ec2, instant)) == 1


def test_no_capacity_of_a_type(ec2: Any, instant: Cloud) -> None:
    instant.fault(NoCapacity(instance_type="c5.2xlarge"))
    assert refusal(launch, ec2, instant, InstanceType="c5.2xlarge") == ("InsufficientInstanceCapacity", 500)
    assert len(launch(ec2, instant)) == 1


def test_the_vcpu_limit_counts_the_living(ec2: Any, instant: Cloud) -> None:
    instant.fault(VcpuLimit(vcpus=24))
    ids = launch(ec2, instant, MinCount=2, MaxCount=2)
    assert refusal(launch, ec2, instant, MinCount=2, MaxCount=2) == ("VcpuLimitExceeded", 400)
    ec2.terminate_instances(InstanceIds=ids)
    instant.skip(1)
    assert len(launch(ec2, instant, MinCount=2, MaxCount=2)) == 2


def test_the_vcpu_limit_is_what_service_quotas_says(instant: Cloud) -> None:
    instant.fault(VcpuLimit(vcpus=32))
    quotas = Aws(instant.endpoint).client("service-quotas")
    assert quotas.get_service_quota(ServiceCode="ec2", QuotaCode="L-1216C47A")["Quota"]["Value"] == 32


def test_throttling_strikes_its_share(ec2: Any, instant: Cloud) -> None:
    instant.fault(Throttle(action="DescribeInstances", share=0.5))
    ec2.describe_instances()
    assert refusal(ec2.describe_instances) == ("RequestLimitExceeded", 503)
    ec2.describe_instances()
    ec2.describe_vpcs()


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "action", "code"),
    [
        ("ec2", "describe_instances", {}, "DescribeInstances", "UnauthorizedOperation"),
        ("s3", "put_object", {"Bucket": "plimsoll-results", "Key": "k"}, "PutObject", "AccessDenied"),
        ("ssm", "get_parameter", {"Name": "p"}, "GetParameter", "AccessDeniedException"),
        ("pricing", "get_products", {"ServiceCode": "AmazonEC2"}, "GetProducts", "AccessDeniedException"),
        ("sts", "get_caller_identity", {}, "GetCallerIdentity", "AccessDenied"),
    ],
)
def test_a_missing_permission_is_named(
    instant: Cloud, service: str, operation: str, parameters: dict[str, str], *, action: str, code: str
) -> None:
    instant.fault(Deny(action=action))
    with pytest.raises(ClientError, match=f"{service}:{action}") as raised:
        getattr(Aws(instant.endpoint).client(service), operation)(**parameters)
    assert raised.value.response["Error"]["Code"] == code


def test_an_answer_is_lost_after_the_work_was_done(ec2: Any, instant: Cloud) -> None:
    instant.fault(LoseAnswer(action="RunInstances", times=1))
    with pytest.raises(ConnectionClosedError):
        launch(ec2, instant, ClientToken="t1")
    assert instant.summary()["launched"] == 1
    assert len(launch(ec2, instant, ClientToken="t1")) == 1
    assert instant.summary()["launched"] == 1


def test_a_full_subnet_is_refused_and_shows(ec2: Any, instant: Cloud) -> None:
    zone, subnet = next(iter(instant.landscape.subnets.items()))
    instant.fault(NoAddresses(subnet=subnet))
    assert ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailableIpAddressCount"] == 0
    assert refusal(launch, ec2, instant) == ("InsufficientFreeAddressesInSubnet", 400)
    assert zone == "us-east-1a"


def test_an_instance_stays_pending(ec2: Any, instant: Cloud) -> None:
    instant.fault(StayPending(times=1))
    stuck, fine = launch(ec2, instant)[0], launch(ec2, instant)[0]
    instant.skip(10_000)
    assert (state(ec2, stuck), state(ec2, fine)) == ("pending", "running")
    ec2.terminate_instances(InstanceIds=[stuck])
    instant.skip(1)
    assert state(ec2, stuck) == "terminated"


def test_an_instance_dies_some_time_after_its_start(ec2: Any, instant: Cloud) -> None:
    instant.fault(DieAfter(seconds=60))
    (instance,) = launch(ec2, instant)
    instant.skip(1)
    instant.skip(59)
    assert state(ec2, instance) == "running"
    instant.skip(1)
    assert state(ec2, instance) == "terminated"
    assert described(ec2, instance)["StateReason"]["Code"] == "Server.InternalError"


def test_an_instance_that_does_not_boot_is_impaired(ec2: Any, instant: Cloud) -> None:
    instant.fault(NoBoot())
    (instance,) = launch(ec2, instant)
    instant.skip(100)
    instant.skip(100)
    (status,) = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"]
    assert status["InstanceStatus"]["Status"] == "impaired"


def test_a_presigned_url_works_without_credentials_and_expires(instant: Cloud) -> None:
    s3 = Aws(instant.endpoint).client("s3", signature_version="s3v4")
    place = {"Bucket": instant.landscape.bucket, "Key": "a"}
    upload = urllib.request.Request(s3.generate_presigned_url("put_object", place), data=b"x", method="PUT")
    urllib.request.urlopen(upload, timeout=30).close()
    with urllib.request.urlopen(s3.generate_presigned_url("get_object", place), timeout=30) as answer:
        assert answer.read() == b"x"
    for url in (s3.generate_presigned_url("get_object", place, ExpiresIn=-1), f"{instant.endpoint}/plimsoll-results/a"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, timeout=30)
        assert refused.value.code == 403
        refused.value.close()


def test_another_region_knows_nothing_of_this_one(instant: Cloud) -> None:
    other = boto3.client(
        "ec2", "eu-west-1", endpoint_url=instant.endpoint, aws_access_key_id="t", aws_secret_access_key="t"
    )
    subnet = next(iter(instant.landscape.subnets.values()))
    assert refusal(other.describe_subnets, SubnetIds=[subnet])[0] == "InvalidSubnetID.NotFound"
