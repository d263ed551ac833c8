"""The Pricing and Service Quotas APIs as far as they concern EC2, which moto does not have.

Both speak JSON 1.1. Prices are for tests to see that they are used; nobody should quote them.
"""

import json
from collections.abc import Mapping
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from tests.cloud.answers import refusal
from werkzeug.wrappers import Response

_USD_PER_HOUR = {"r5d.2xlarge": 0.576, "c5.2xlarge": 0.34, "i3.4xlarge": 1.248, "m5.large": 0.096, "t3.micro": 0.0104}
_STANDARD = "L-1216C47A"


def get_products(request: Mapping[str, Any]) -> Response:
    """Answer GetProducts of AmazonEC2 by instance type; no product where the price is unknown."""
    wanted = {one["Field"]: one["Value"] for one in request.get("Filters", [])}
    kind = wanted.get("instanceType", "")
    shared = wanted.get("tenancy", "Shared") == "Shared"
    known = kind in _USD_PER_HOUR and shared and wanted.get("regionCode", "us-east-1") == "us-east-1"
    return _json({"FormatVersion": "aws_v1", "PriceList": [json.dumps(_product(kind))] if known else []})


def _product(kind: str) -> dict[str, Any]:
    dimension = {
        "unit": "Hrs",
        "pricePerUnit": {"USD": f"{_USD_PER_HOUR[kind]:.10f}"},
        "beginRange": "0",
        "endRange": "Inf",
    }
    vcpu = str(INSTANCE_TYPES[kind]["VCpuInfo"]["DefaultVCpus"])
    return {
        "product": {
            "sku": "TESTCLOUD",
            "productFamily": "Compute Instance",
            "attributes": {"instanceType": kind, "vcpu": vcpu},
        },
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {"TESTCLOUD.T": {"priceDimensions": {"TESTCLOUD.T.D": dimension}}}},
    }


def get_service_quota(request: Mapping[str, Any], vcpus: int) -> Response:
    """Answer GetServiceQuota of the vCPUs of standard on-demand instances."""
    if request.get("ServiceCode") != "ec2" or request.get("QuotaCode") != _STANDARD:
        return refusal(
            "servicequotas",
            "NoSuchResourceException",
            "The request failed because the specified service does not exist.",
        )
    return _json(
        {
            "Quota": {
                "ServiceCode": "ec2",
                "QuotaCode": _STANDARD,
                "Value": float(vcpus),
                "Unit": "None",
                "Adjustable": True,
            }
        }
    )


def _json(answer: Mapping[str, Any]) -> Response:
    return Response(json.dumps(answer), content_type="application/x-amz-json-1.1")
