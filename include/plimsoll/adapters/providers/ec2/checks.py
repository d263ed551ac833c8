"""Problems that would keep a definition's clusters from being launched, found by Describe calls and dry runs."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from plimsoll.adapters.aws import REFUSED_CREDENTIALS
from plimsoll.adapters.providers.ec2.cloud import Answer, Cloud, CloudRegion
from plimsoll.adapters.providers.ec2.errors import CloudError, explained
from plimsoll.adapters.providers.ec2.finding import KINDS
from plimsoll.adapters.providers.ec2.instance_types import Image, Quota, find_image, instance_store, quota_of
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan, create_placement_group, run_instances
from plimsoll.adapters.providers.ec2.network import Subnet, security_group, subnets, wrong_egress, wrong_rules
from plimsoll.adapters.providers.ec2.options import ROLES, Ec2Options
from plimsoll.adapters.providers.requested import checked_options, waiting_problems
from plimsoll.adapters.providers.ssh.login import authorized_key
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural
from plimsoll.ports.secrets import Secrets

# JDKs come as wheels and packages for these processors alone.
_SOFTWARE = "x86_64"
# A dry run names no real cluster: nothing is made.
_DRY_RUN = ClusterId(campaign_id="dry-run", name="dry-run/1")


def problems(spec: HostsSpec, secrets: Secrets) -> list[Problem]:
    """Return every problem found. Raises SecretError when AWS can't be asked because credentials are missing."""
    options = checked_options(Ec2Options, spec.options)
    if isinstance(options, list):
        return options
    place = CloudRegion(options.connection, options.region)
    return [*patience_problems(options), *_Examination(spec, options, Cloud(secrets, place), secrets).problems()]


def patience_problems(options: Ec2Options) -> list[Problem]:
    """Return the problem of a cell that may wait for longer than it may take to have hosts. Pure."""
    # Hosts may take `startup` until they run, and once more until they are prepared.
    waits = f"2 × {format_duration(options.startup)} for its hosts to start"
    return waiting_problems(options.patience, 2 * options.startup, waits, "`startup`")


class _Examination:
    """The checks of one definition in one place. They continue after each problem, to find all of them."""

    def __init__(self, spec: HostsSpec, options: Ec2Options, cloud: Cloud, secrets: Secrets) -> None:
        self._spec, self._options, self._cloud, self._secrets = spec, options, cloud, secrets
        self._place_key = "subnets" if options.subnets else "zones"
        self._found: list[Problem] = []

    def problems(self) -> list[Problem]:
        # Asked first: where the region does not answer, every other question would only fail in the same way.
        try:
            self._cloud.require_endpoint()
            self._cloud.call("describe_availability_zones")
        except CloudError as error:
            self._note("connection" if error.code in REFUSED_CREDENTIALS else "region", error.what, error.mend)
            return self._found
        self._ssh_key()
        # The calls that list resources first, because a cell that can't be ended must not begin.
        for operation in ("describe_instances", *(kind.listed_by for kind in KINDS)):
            self._dry_run("connection", operation, {})
        choices, group = self._network()
        image: Image | None = None
        with self._noted("image"):
            image = find_image(self._cloud, self._options)
        types = self._types()
        self._fits(types, image)
        self._fits_group(types)
        self._offered(choices)
        self._quotas(types)
        if image and group and not self._found:
            self._dry_runs(choices[0], image, group, types)
        return self._found

    def _ssh_key(self) -> None:
        connection = self._options.ssh_connection
        try:
            authorized_key(self._secrets.ssh_identity(connection), connection)
        except SecretError as error:
            self._note("ssh_connection", error.headline, error.mend)

    def _network(self) -> tuple[list[Subnet], Answer | None]:
        choices: list[Subnet] = []
        group: Answer | None = None
        with self._noted(self._place_key):
            choices = subnets(self._cloud, self._options)
            self._addresses(choices)
        with self._noted("security_group"):
            if choices:
                group = security_group(self._cloud, self._options, choices[0].vpc)
                for fault in (*wrong_rules(group, self._options.ssh_port), *wrong_egress(group, choices)):
                    self._note("security_group", f"{group['GroupId']} {fault}", "docs/guides/aws.md has the rules")
        return choices, group

    def _addresses(self, choices: list[Subnet]) -> None:
        needed = self._spec.node_hosts + self._spec.load_hosts
        for subnet in choices:
            if subnet.free_addresses < needed:
                what = f"{subnet.id} in {subnet.zone} has {subnet.free_addresses} free addresses, a cell takes {needed}"
                self._note(self._place_key, what, "name a larger subnet, or remove what takes its addresses")
        free, total = sum(subnet.free_addresses for subnet in choices), needed * self._spec.max_parallel
        if free < total:
            what = f"there are {free} free addresses; {plural(self._spec.max_parallel, 'cell')} at once: {total}"
            self._note(self._place_key, what, "name further subnets, or lower max_parallel")

    def _types(self) -> dict[str, Answer]:
        types: dict[str, Answer] = {}
        for role in ROLES:
            kind = self._options.instance_types.of(role)
            with self._noted(f"instance_types.{role}"):
                types[kind] = self._cloud.call("describe_instance_types", InstanceTypes=[kind])["InstanceTypes"][0]
        return types

    def _fits_group(self, types: dict[str, Answer]) -> None:
        """Check that the types can be in a placement group; burstable types can't. A dry run does not test this."""
        strategy = self._options.placement_group
        for kind, answer in types.items():
            known = answer.get("PlacementGroupInfo", {}).get("SupportedStrategies", [strategy])
            if strategy != "none" and strategy not in known:
                what = f"{kind} can't stand in a placement group with the strategy {strategy}"
                self._note("placement_group", what, "name another type, or `placement_group: none`")

    def _fits(self, types: dict[str, Answer], image: Image | None) -> None:
        """Check that the image, JDKs and programs run on the hosts: there are none of these for other processors."""
        mend = f"name an image and instance types for {_SOFTWARE}"
        if image and image.architecture not in ("", _SOFTWARE):
            what = f"{image.id} is for {image.architecture}, and the software that Plimsoll brings is for {_SOFTWARE}"
            self._note("image", what, mend)
        for kind, answer in types.items():
            runs = answer.get("ProcessorInfo", {}).get("SupportedArchitectures", ())
            if image and image.architecture and runs and image.architecture not in runs:
                what = f"{image.id} is for {image.architecture}, {kind} runs {', '.join(runs)}"
                self._note("image", what, "name an image of the instance type's architecture")
            if runs and _SOFTWARE not in runs:
                what = f"{kind} runs {', '.join(runs)}, and the software that Plimsoll brings is for {_SOFTWARE}"
                self._note("instance_types", what, mend)

    def _offered(self, choices: list[Subnet]) -> None:
        """Check that every zone offers every type, because all hosts of a cell are in one zone."""
        kinds = sorted({self._options.instance_types.of(role) for role in ROLES})
        by_type = [{"Name": "instance-type", "Values": kinds}]
        with self._noted("instance_types"):
            pages = self._cloud.pages(
                "describe_instance_type_offerings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=by_type,
            )
            offered = {(page["Location"], page["InstanceType"]) for page in pages}
            for zone in dict.fromkeys(subnet.zone for subnet in choices):
                for kind in kinds:
                    if (zone, kind) not in offered:
                        self._note(self._place_key, f"{zone} does not offer {kind}", "name other zones or types")

    def _quotas(self, types: dict[str, Answer]) -> None:
        """Compare the vCPUs with the quota, where Service Quotas can be asked. Launching waits for its share anyway."""
        needed: defaultdict[Quota, int] = defaultdict(int)
        for role, count in zip(ROLES, (self._spec.node_hosts, self._spec.load_hosts), strict=True):
            kind = self._options.instance_types.of(role)
            quota = quota_of(kind)
            if quota is not None and kind in types:
                needed[quota] += count * types[kind]["VCpuInfo"]["DefaultVCpus"]
        for quota, vcpus in needed.items():
            if (granted := self._granted(quota)) is not None:
                self._compare(quota, vcpus, granted)

    def _compare(self, quota: Quota, needed: int, granted: int) -> None:
        cells = self._spec.max_parallel
        if needed > granted:
            what = f"a cell takes {needed} vCPUs, the quota `{quota.name}` is {granted}"
            self._note("instance_types", what, "ask for a higher quota in the Service Quotas console")
        elif needed * cells > granted:
            what = f"{plural(cells, 'cell')} at once: {needed * cells} vCPUs, the quota `{quota.name}` is {granted}"
            mend = f"lower max_parallel to {granted // needed} at most, or ask for a higher quota"
            self._found.append(Problem("max_parallel", what, mend))

    def _granted(self, quota: Quota) -> int | None:
        try:
            with explained("servicequotas", self._cloud.where):
                quotas = self._cloud.client("service-quotas")
                answer = quotas.get_service_quota(ServiceCode="ec2", QuotaCode=quota.code)
        except CloudError:  # not every installation may ask, or has it
            return None
        return int(answer["Quota"]["Value"])

    def _dry_runs(self, subnet: Subnet, image: Image, group: Answer, types: dict[str, Answer]) -> None:
        plan = LaunchPlan(
            id=_DRY_RUN,
            owner="dry-run",
            store="dry-run",
            nodes=self._spec.node_hosts,
            load_hosts=self._spec.load_hosts,
            expires=datetime.now(UTC),
            ends=datetime.now(UTC),
            options=self._options,
            image=image,
            security_group=group["GroupId"],
            user_data=dict.fromkeys(ROLES, ""),
            disks={role: instance_store(types[self._options.instance_types.of(role)]) for role in ROLES},
            usd_per_hour={"node": None, "load": None},
        )
        if self._options.placement_group == "cluster":
            self._dry_run("placement_group", "create_placement_group", create_placement_group(plan, subnet))
        for role in filter(plan.count, ROLES):
            request = run_instances(plan, role, subnet, 0)
            # The group is not there: it comes with the cluster.
            request["Placement"].pop("GroupName", None)
            self._dry_run(f"instance_types.{role}", "run_instances", request)

    def _dry_run(self, key: str, operation: str, request: dict[str, Any]) -> None:
        try:
            self._cloud.call(operation, DryRun=True, **request)
        except CloudError as error:
            if error.code != "DryRunOperation":
                self._note(key, error.what, error.mend)

    @contextmanager
    def _noted(self, key: str) -> Iterator[None]:
        try:
            yield
        except ProviderError as error:
            self._note(key, error.what, error.mend)

    def _note(self, key: str, what: str, mend: str) -> None:
        self._found.append(Problem(f"provider.options.{key}", what, mend))
