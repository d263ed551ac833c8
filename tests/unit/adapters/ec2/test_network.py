import pytest

from plimsoll.adapters.ec2.network import wrong_rules

INSIDE = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]}
SSH = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/24"}]}


def faults(*rules):
    return list(wrong_rules({"GroupId": "sg-1", "IpPermissions": rules}))


def test_ssh_from_the_controller_and_everything_inside_is_right():
    assert faults(INSIDE, SSH) == []


def test_the_controllers_own_group_may_come_in():
    assert faults(INSIDE, {**SSH, "IpRanges": [], "UserIdGroupPairs": [{"GroupId": "sg-controller"}]}) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ((INSIDE, {**SSH, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}), "lets everyone in: tcp 22-22 from 0.0.0.0/0"),
        ((INSIDE, SSH, {"IpProtocol": "-1", "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}), "all traffic from ::/0"),
        ((SSH,), "does not let its own members reach each other"),
        ((INSIDE,), "lets nobody in by SSH"),
        ((INSIDE, {**SSH, "FromPort": 80, "ToPort": 443}), "lets nobody in by SSH"),
    ],
)
def test_what_is_wrong_is_said(rules, said):
    assert said in "; ".join(faults(*rules))
