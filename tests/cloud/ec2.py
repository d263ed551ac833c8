"""What of moto's EC2 is other while a test cloud runs. Everything else is moto's."""

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from moto.core.responses import ActionResult
from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.models.instances import Instance, InstanceState
from moto.ec2.models.subnets import Subnet
from moto.ec2.responses import EC2Response
from moto.ec2.utils import filter_dict_attribute_mapping
from tests.cloud.answers import Refused
from tests.cloud.faults import NoAddresses
from tests.cloud.lag import Lag
from tests.cloud.launching import Launches
from tests.cloud.lifecycle import Lifecycle
from tests.cloud.placement_groups import PlacementGroups


@contextmanager
def changed(lifecycle: Lifecycle, groups: PlacementGroups, lag: Lag) -> Iterator[None]:
    """Give moto states, idempotency, placement groups, pages and faults."""
    launches = Launches(lifecycle, groups)
    run = EC2Response.run_instances
    with ExitStack() as changes:
        for name, method in {
            "run_instances": lambda call: launches.run(call, run),
            "describe_instances": _paged(EC2Response.describe_instances, lag),
            "create_placement_group": groups.create,
            "describe_placement_groups": groups.describe,
            "delete_placement_group": groups.delete,
            "delete_security_group": _guarded(EC2Response.delete_security_group),
            "delete_network_interface": _unless_attached(EC2Response.delete_network_interface),
        }.items():
            changes.enter_context(mock.patch.object(EC2Response, name, _method(method), create=True))
        changes.enter_context(mock.patch.object(Instance, "terminate", _terminate(lifecycle)))
        for name in ("instance_status", "system_status"):
            changes.enter_context(mock.patch.object(Instance, name, property(_checks(lifecycle))))
        free = property(_free_addresses(lifecycle, Subnet.available_ip_address_count))
        changes.enter_context(mock.patch.object(Subnet, "available_ip_address_count", free))
        changes.enter_context(mock.patch.object(TaggedEC2Resource, "get_tags", _tags))
        changes.enter_context(mock.patch.dict(filter_dict_attribute_mapping, {"client-token": "client_token"}))
        yield


def _method(function: Callable[[EC2Response], Any]) -> Callable[[EC2Response], Any]:
    """Make a plain function of the method, because moto looks for plain functions."""

    def method(self: EC2Response) -> Any:
        return function(self)

    return method


def _terminate(lifecycle: Lifecycle) -> Callable[[Instance], InstanceState]:
    def terminate(self: Instance) -> InstanceState:
        return lifecycle.terminate(self)

    return terminate


def _checks(lifecycle: Lifecycle) -> Callable[[Instance], dict[str, Any]]:
    words = {"ok": "passed", "impaired": "failed"}

    def status(self: Instance) -> dict[str, Any]:
        state = lifecycle.status(self)
        if state == "not-applicable":
            return {"Status": state}
        return {"Status": state, "Details": [{"Name": "reachability", "Status": words.get(state, state)}]}

    return status


def _free_addresses(lifecycle: Lifecycle, original: Any) -> Callable[[Subnet], int]:
    def count(self: Subnet) -> int:
        full = any(fault.subnet == self.id for fault in lifecycle.faults.of(NoAddresses))
        return 0 if full else max(0, original.fget(self))

    return count


def _paged(original: Callable[[EC2Response], Any], lag: Lag) -> Callable[[EC2Response], Any]:
    """Split a reservation where a page ends, as EC2 does; moto pages by whole reservations."""

    def describe(call: EC2Response) -> Any:
        params = call.params
        begin, page = int(params.pop("NextToken", 0)), min(lag.page, int(params.pop("MaxResults", lag.page)))
        found = original(call).result["Reservations"]
        all_of_them = [(reservation, instance) for reservation in found for instance in reservation.instances]
        shown = all_of_them[begin : begin + page]
        pages = [_part(one, [each for of, each in shown if of is one]) for one in found]
        after = str(begin + page) if begin + page < len(all_of_them) else None
        return ActionResult({"Reservations": [one for one in pages if one.instances], "NextToken": after})

    return describe


def _part(reservation: Any, instances: list[Instance]) -> Any:
    part = copy.copy(reservation)
    part.instances = instances
    return part


def _guarded(original: Callable[[EC2Response], Any]) -> Callable[[EC2Response], Any]:
    """Keep a security group that has interfaces; moto deletes it from under them."""

    def delete(call: EC2Response) -> Any:
        group = call._get_param("GroupId")
        users = [nic for nic in call.ec2_backend.enis.values() if group in {each.id for each in nic.group_set}]
        if users:
            raise Refused("DependencyViolation", f"resource {group} has a dependent object")
        return original(call)

    return delete


def _unless_attached(original: Callable[[EC2Response], Any]) -> Callable[[EC2Response], Any]:
    """Keep an attached interface; moto deletes it from under its instance."""

    def delete(call: EC2Response) -> Any:
        nic = call.ec2_backend.enis.get(call._get_param("NetworkInterfaceId"))
        if nic is not None and nic.instance is not None and str(nic.instance.state) != "terminated":
            raise Refused("InvalidParameterValue", f"Network interface '{nic.id}' is currently in use.")
        return original(call)

    return delete


def _tags(self: Any) -> list[dict[str, str]]:
    """Return the tags of one resource by a look-up; moto searches all tags of everything."""
    own = self.ec2_backend.tags.get(self.id, {})
    return [{"resource_id": self.id, "key": key, "value": value, "resource_type": ""} for key, value in own.items()]
