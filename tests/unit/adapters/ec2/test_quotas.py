import pytest

from plimsoll.adapters.providers.ec2.instance_types import quota_of


@pytest.mark.parametrize(
    ("instance_type", "code"),
    [
        ("r5d.2xlarge", "L-1216C47A"),
        ("i4i.large", "L-1216C47A"),
        ("im4gn.large", "L-1216C47A"),
        ("is4gen.large", "L-1216C47A"),
        ("d3en.xlarge", "L-1216C47A"),
        ("t3.micro", "L-1216C47A"),
        ("inf1.xlarge", "L-1945791B"),
        ("trn1.2xlarge", "L-2C3B7624"),
        ("dl1.24xlarge", "L-6E869C2A"),
        ("hpc6a.48xlarge", "L-F7808C92"),
        ("g5.xlarge", "L-DB2E81BA"),
        ("vt1.3xlarge", "L-DB2E81BA"),
        ("u-6tb1.metal", "L-43DA4232"),
        ("x2idn.16xlarge", "L-7295265B"),
    ],
)
def test_a_family_counts_against_its_own_quota(instance_type: str, code: str) -> None:
    found = quota_of(instance_type)
    assert found is not None
    assert found.code == code


def test_a_family_that_is_not_known_is_compared_with_none() -> None:
    assert quota_of("mac1.metal") is None
