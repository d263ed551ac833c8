"""Placement groups for moto's EC2, which has none: made, listed by tags, deleted, refused while they are in use."""

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response

Group = dict[str, Any]


def install(groups: dict[str, Group]) -> None:
    """Teach moto; `groups` is where they are, by name."""

    def create_placement_group(self: Any) -> ActionResult:
        self.error_on_dryrun()
        name = self._get_param("GroupName")
        if name in groups:
            raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The placement group {name} already exists.")
        tags = self._parse_tag_specification("placement-group").get("placement-group", {})
        listed = [{"Key": key, "Value": value} for key, value in tags.items()]
        groups[name] = {"GroupName": name, "Strategy": "cluster", "State": "available", "Tags": listed}
        return ActionResult({"PlacementGroup": groups[name]})

    def describe_placement_groups(self: Any) -> ActionResult:
        filters = self._filters_from_querystring()
        return ActionResult({"PlacementGroups": [group for group in groups.values() if _fits(group, filters)]})

    def delete_placement_group(self: Any) -> ActionResult:
        name = self._get_param("GroupName")
        if name not in groups:
            raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The placement group {name} is unknown.")
        if any(_is_of(instance, groups[name]) for instance in self.ec2_backend.all_instances()):
            raise EC2ClientError("InvalidPlacementGroup.InUse", f"The placement group {name} is in use.")
        del groups[name]
        return ActionResult({})

    for function in (create_placement_group, describe_placement_groups, delete_placement_group):
        setattr(EC2Response, function.__name__, function)


def _fits(group: Group, filters: dict[str, list[str]]) -> bool:
    tags = {f"tag:{tag['Key']}": tag["Value"] for tag in group["Tags"]}
    return all(tags.get(name) in values for name, values in filters.items())


def _is_of(instance: Any, group: Group) -> bool:
    """Whether it is of the same cluster and there: moto forgets in which group an instance was launched."""
    tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
    same = all(tags.get(tag["Key"]) == tag["Value"] for tag in group["Tags"] if tag["Key"] != "plimsoll:expires")
    return same and instance.state != "terminated"
