"""Placement groups, which moto does not have."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.responses import EC2Response
from tests.cloud.answers import Refused
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Lifecycle


@dataclass(frozen=True)
class Group:
    """One group."""

    id: str
    name: str
    strategy: str
    tags: Mapping[str, str]
    made: float

    def described(self, region: str) -> dict[str, Any]:
        """Describe the group as EC2 does."""
        return {
            "GroupId": self.id,
            "GroupName": self.name,
            "Strategy": self.strategy,
            "State": "available",
            "GroupArn": f"arn:aws:ec2:{region}:123456789012:placement-group/{self.name}",
            "Tags": [{"Key": key, "Value": value} for key, value in self.tags.items()],
        }

    def passes(self, filters: Mapping[str, Sequence[str]]) -> bool:
        """Tell whether all filters let it through."""
        return all(
            any(fnmatch.fnmatchcase(own, one) for own in self._values(key) for one in values)
            for key, values in filters.items()
        )

    def _values(self, key: str) -> Iterable[str]:
        if key.startswith("tag:"):
            return [self.tags[key[4:]]] if key[4:] in self.tags else []
        known = {
            "group-name": [self.name],
            "strategy": [self.strategy],
            "state": ["available"],
            "tag-key": list(self.tags),
        }
        if key not in known:
            raise Refused("InvalidParameterValue", f"The filter '{key}' is invalid")
        return known[key]


class PlacementGroups:
    """All groups, by region and name."""

    def __init__(self, lifecycle: Lifecycle, lag: Lag) -> None:
        self._groups: dict[tuple[str, str], Group] = {}
        self._lifecycle, self._lag = lifecycle, lag

    def get(self, region: str, name: str) -> Group | None:
        """Return the group of that name, once it can be seen."""
        found = self._groups.get((region, name))
        return found if found and self._is_seen(found) else None

    def all(self) -> list[Group]:
        """Return the groups of all regions."""
        return list(self._groups.values())

    def create(self, call: EC2Response) -> ActionResult:
        """Answer CreatePlacementGroup."""
        name = call._get_param("GroupName")
        if (call.region, name) in self._groups:
            raise Refused("InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists.")
        call.error_on_dryrun()
        tags = call._parse_tag_specification("placement-group").get("placement-group", {})
        group = Group(f"pg-{uuid4().hex[:17]}", name, call._get_param("Strategy", "cluster"), tags, self._now())
        self._groups[call.region, name] = group
        return ActionResult({"PlacementGroup": group.described(call.region)})

    def describe(self, call: EC2Response) -> ActionResult:
        """Answer DescribePlacementGroups."""
        names, filters = call._get_param("GroupNames", []), call._filters_from_querystring()
        for name in names:
            self._known(call.region, name)
        found = [
            group
            for (region, _), group in self._groups.items()
            if region == call.region and group.passes(filters) and self._is_seen(group)
        ]
        wanted = [group.described(call.region) for group in found if not names or group.name in names]
        return ActionResult({"PlacementGroups": wanted})

    def delete(self, call: EC2Response) -> ActionResult:
        """Answer DeletePlacementGroup."""
        name = call._get_param("GroupName")
        self._known(call.region, name)
        call.error_on_dryrun()
        instances = call.ec2_backend.all_instances()
        members = [one for one in instances if one.placement.group_name == name]
        if any(one.state != "terminated" for one in members) or self._has_just_ended(name):
            raise Refused(
                "InvalidPlacementGroup.InUse", f"The placement group {name} is in use and may not be deleted."
            )
        del self._groups[call.region, name]
        return EmptyResult()

    def _has_just_ended(self, name: str) -> bool:
        """Tell whether an instance of the group was there a moment ago, also one that is hidden from this call."""
        lives = [life for life in self._lifecycle.lives.values() if life.instance.placement.group_name == name]
        ends = [self._lifecycle.census.entries[life.instance.id].ended for life in lives]
        return any(ended is None or ended + self._lag.in_use > self._now() for ended in ends)

    def _is_seen(self, group: Group) -> bool:
        return group.made + self._lag.groups <= self._now()

    def _now(self) -> float:
        return self._lifecycle.clock.now()

    def _known(self, region: str, name: str) -> None:
        if self.get(region, name) is None:
            raise Refused("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
