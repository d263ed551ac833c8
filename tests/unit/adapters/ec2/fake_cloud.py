"""A place of AWS in memory, and the record of launches, for tests of what the provider makes of their answers."""

from datetime import timedelta
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import LIVING, CloudRegion
from plimsoll.adapters.providers.ec2.errors import CloudError, mending
from plimsoll.domain.text.errors import DamagedRecord, StoreError

HERE = CloudRegion("aws_default", "us-east-1")


class FakeCloud:
    """Instances appear in answers only after `lag`; states are the test's to change.

    `refusals` are codes for the next launches. `answers` has, by operation, codes for its next calls; an empty one lets
    a call pass. `protected` instances can't be terminated, and neither can any other in a call that names one. Those
    without tags are found by ids and client tokens alone.
    """

    def __init__(self, clock: Any, lag_s: int = 0, place: CloudRegion = HERE) -> None:
        self.clock, self.lag, self.place, self.where = clock, timedelta(seconds=lag_s), place, str(place)
        self.made, self.tokens, self.refusals = [], {}, []
        self.state, self.terminated, self.launched = "running", [], 0
        self.asked, self.requests = [], {}
        self.answers, self.protected = {}, set()
        self.called = []

    def call(self, operation: Any, **parameters: Any) -> Any:
        self._answer(operation)
        if operation == "terminate_instances":
            return self._terminate(parameters["InstanceIds"])
        if operation != "run_instances":
            return {}
        token = parameters["ClientToken"]
        self.asked.append(token)
        if self.refusals:
            raise CloudError("refused", code=self.refusals.pop(0))
        if token not in self.tokens:
            self.tokens[token], self.requests[token] = self._launch(parameters), parameters
        if parameters != self.requests[token]:
            raise CloudError("refused", code="IdempotentParameterMismatch")
        return {"Instances": self.tokens[token]}

    def pages(self, operation: Any, key: Any, **parameters: Any) -> list[Any]:
        """Return no volumes, interfaces and groups."""
        self._answer(operation)
        return []

    def instances(self, filters: Any, states: Any = LIVING) -> list[Any]:
        self._answer("describe_instances")
        wanted = next((each["Values"] for each in filters if each["Name"] == "client-token"), None)
        visible = [one for one in self.made if self._is_known(one)]
        visible = [one for one in visible if (one["ClientToken"] in wanted if wanted else one["Tags"])]
        return [dict(one) for one in visible if one["State"]["Name"] in states]

    def of_ids(self, ids: Any) -> list[Any]:
        if not ids:
            return []
        self._answer("describe_instances")
        return [dict(one) for one in self.made if self._is_known(one) and one["InstanceId"] in ids]

    def living_of(self, ids: Any) -> set[str]:
        return {one["InstanceId"] for one in self.of_ids(ids) if one["State"]["Name"] in LIVING}

    def set_state(self, state: str, *, reason: str = "") -> None:
        """All instances are in that state."""
        for one in self.made:
            one.update(State={"Name": state}, StateReason={"Code": reason.partition(":")[0], "Message": reason})

    def remove_tags(self, *instances: str) -> None:
        """Somebody removes all tags of those instances, or of every one."""
        for one in self.made:
            if not instances or one["InstanceId"] in instances:
                one["Tags"] = []

    def living(self) -> list[str]:
        return [one["InstanceId"] for one in self.made if one["State"]["Name"] in LIVING]

    def _answer(self, operation: str) -> None:
        self.called.append(operation)
        codes = self.answers.get(operation, [])
        if codes and (code := codes.pop(0)):
            raise code if isinstance(code, Exception) else self._refusal("refused", code)

    def _refusal(self, what: str, code: str) -> CloudError:
        return CloudError(what, code=code, where=self.where, mend=mending(code, "", "ec2:Something"))

    def _is_known(self, instance: Any) -> bool:
        return bool(self.clock.now() >= instance["LaunchTime"] + self.lag)

    def _terminate(self, ids: Any) -> Any:
        named = {one["InstanceId"]: one for one in self.made if one["InstanceId"] in ids and self._is_known(one)}
        if set(named) != set(ids):
            raise CloudError("not found", code="InvalidInstanceID.NotFound")
        if self.protected & set(ids):
            raise self._refusal("protected", "OperationNotPermitted")
        self.terminated += ids
        before = [{"InstanceId": one, "PreviousState": dict(named[one]["State"])} for one in ids]
        for one in named.values():
            one["State"] = {"Name": "terminated"}
        return {"TerminatingInstances": before}

    def _launch(self, parameters: Any) -> list[Any]:
        made = [
            {
                "InstanceId": f"i-{self.place.region[:2]}{self.launched + number}",
                "AmiLaunchIndex": number,
                "LaunchTime": self.clock.now(),
                "InstanceType": parameters["InstanceType"],
                "Placement": parameters["Placement"],
                "SubnetId": parameters["NetworkInterfaces"][0]["SubnetId"],
                "ClientToken": parameters["ClientToken"],
                "State": {"Name": self.state},
                "Tags": parameters["TagSpecifications"][0]["Tags"],
            }
            for number in range(parameters["MaxCount"])
        ]
        self.made += made
        self.launched += len(made)
        return made


class Records:
    """Implements the Launches port in memory. `is_away`: the store can't be reached; `broken`: a record is damaged."""

    def __init__(self) -> None:
        self.noted, self.is_away, self.broken = {}, False, set()

    def of(self, key: Any) -> list[Any]:
        self._require()
        if key in self.broken:
            raise DamagedRecord("launches/x is damaged")
        return [launch for launch in self.noted.values() if launch.id == key]

    def unsettled(self) -> list[Any]:
        self._require()
        return list({launch.id: None for launch in self.noted.values()} | dict.fromkeys(self.broken))

    def note(self, launch: Any) -> None:
        self._require()
        self.noted[launch.token] = launch

    def hosts(self) -> dict[str, Any]:
        """Return every recorded host by its instance."""
        return {host.facts["instance_id"]: host for launch in self.noted.values() for host in launch.hosts or ()}

    def _require(self) -> None:
        if self.is_away:
            raise StoreError("the store is away")
