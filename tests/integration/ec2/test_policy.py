"""The policy in docs/guides/aws-policy.json against the calls that the code really makes."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import REGION, Cloud
from tests.integration.ec2.campaign import STORE
from tests.integration.ec2.test_remnants import KEY
from tests.integration.ec2.watched_account import WatchedAccount
from tests.support.campaigns.ec2_definition import ec2_definition
from tests.support.cloud.resources import leave

from plimsoll.adapters.providers.ec2 import Ec2Provider, Ec2Tariffs
from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.hosts.cluster import ClusterRequest
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import StoreError

POLICY = Path(__file__).parents[3] / "docs" / "guides" / "aws-policy.json"

# Where IAM's name for a call is not the call's own.
S3_ACTIONS = {
    "HeadObject": "GetObject",
    "ListObjectsV2": "ListBucket",
    "CreateMultipartUpload": "PutObject",
    "UploadPart": "PutObject",
    "CompleteMultipartUpload": "PutObject",
    "DeleteObjects": "DeleteObject",
    "ListMultipartUploads": "ListBucketMultipartUploads",
}
PREFIXES = {"service-quotas": "servicequotas"}


def allowed() -> Any:
    policy = json.loads(POLICY.read_text())
    actions = [statement["Action"] for statement in policy["Statement"]]
    return {action for each in actions for action in ([each] if isinstance(each, str) else each)}


def action(service: Any, operation: Any) -> Any:
    name = S3_ACTIONS.get(operation, operation) if service == "s3" else operation
    return f"{PREFIXES.get(service, service)}:{name}"


def use_provider(
    provider: Ec2Provider, account: WatchedAccount, cloud: Cloud, ask: Callable[..., ClusterRequest]
) -> None:
    leave(account.client("ec2", REGION), STORE, KEY)  # by another's rights: what a cluster might leave
    account.calls.clear()
    spec = hosts_spec(resolve(ec2_definition(cloud.landscape)), NodeNeeds())
    provider.check(spec)
    Ec2Tariffs(account).tariff(spec)
    cluster = provider.ensure(ask())
    provider.ensure(ask("hosts"))  # kept hosts: their tags are changed
    provider.find(cluster.id)
    provider.clusters()
    provider.destroy(cluster.id)
    provider.destroy(KEY)


def use_store(account: WatchedAccount, tmp_path: Path) -> None:
    account.client("s3", REGION).create_bucket(Bucket="results")
    account.calls.remove(("s3", "CreateBucket"))
    store = S3Store("s3://results/runs", lambda: account.client("s3", REGION))
    (tmp_path / "big").write_bytes(bytes(20 << 20))
    store.check()
    store.create("a", b"")
    store.exists("a")
    store.exists("b")
    store.upload("big", tmp_path / "big")
    store.read("big")
    store.download_url("big", timedelta(minutes=1))
    list(store.keys(""))
    list(store.unfinished())
    store.folders("")
    store.delete("")
    account.faults["UploadPart"] = ["AccessDenied"] * 9
    with pytest.raises(StoreError):
        store.upload("big", tmp_path / "big")  # its parts would cost money for ever: boto3 takes them away


def test_the_policy_allows_what_is_called_and_nothing_else(
    provider: Ec2Provider, account: WatchedAccount, cloud: Cloud, ask: Callable[..., ClusterRequest], tmp_path: Path
) -> None:
    use_provider(provider, account, cloud, ask)
    use_store(account, tmp_path)
    called = {action(service, operation) for service, operation in account.calls}
    assert called == allowed()
