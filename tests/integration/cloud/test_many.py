"""Thousands of instances, as a whole campaign launches them."""

from typing import Any

from tests.cloud.cloud import Cloud
from tests.support.cloud.clients import launch


def test_a_campaign_of_275_cells_leaves_nothing(ec2: Any, instant: Cloud) -> None:
    """Sixteen clusters of four at once; told apart by tag, as the provider does."""
    for block in range(0, 275, 16):
        cells = [f"cell-{number}" for number in range(block, min(block + 16, 275))]
        for cell in cells:
            tags = [{"ResourceType": "instance", "Tags": [{"Key": "cell", "Value": cell}]}]
            launch(ec2, instant, MinCount=3, MaxCount=3, TagSpecifications=tags, ClientToken=f"{cell}-node")
            launch(ec2, instant, InstanceType="c5.2xlarge", TagSpecifications=tags, ClientToken=f"{cell}-load")
        instant.skip(1)
        for cell in cells:
            found = ec2.describe_instances(Filters=[{"Name": "tag:cell", "Values": [cell]}])["Reservations"]
            ids = [one["InstanceId"] for each in found for one in each["Instances"]]
            assert len(ids) == 4
            ec2.terminate_instances(InstanceIds=ids)
        instant.skip(1)
    assert instant.nothing_left()
    summary = instant.summary()
    assert (summary["launched"], summary["peak_instances"], summary["peak_vcpus"]) == (1100, 64, 512)
