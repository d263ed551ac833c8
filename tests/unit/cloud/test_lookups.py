"""EC2's answers as the test cloud writes them."""

from typing import Any
from xml.etree.ElementTree import canonicalize

import pytest
import xmltodict  # type: ignore[import-untyped]
from moto import settings
from moto.core import responses
from moto.core.serialize import EC2Serializer, XFormedAttributePicker
from tests.cloud.lookups import kept, xml


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"@xmlns": 'http://a"b&c', "requestId": "1"},
        {"item": [{"id": 1, "tag": {"key": "<a & 'b' \">"}}, {"id": 2, "tag": ""}]},
        {"none": None, "no": False, "yes": True, "price": 0.576, "empty": [], "nothing": {}},
        {"words": ["one", "two"], "text": "\u00e9 \u2028"},
    ],
)
def test_an_answer_has_the_elements_that_moto_writes(content: dict[str, Any]) -> None:
    body = {"DescribeResponse": content}
    theirs = xmltodict.unparse(body, full_document=True, short_empty_elements=True)
    assert canonicalize(xml(body)) == canonicalize(theirs)


def test_moto_is_itself_again_behind_the_block() -> None:
    places = (
        (settings, "ec2_load_default_amis"),
        (responses, "method_names_from_class"),
        (XFormedAttributePicker, "get_possible_keys"),
        (EC2Serializer, "_serialize_body"),
    )
    before = [getattr(*place) for place in places]
    with kept():
        assert all(getattr(*place) is not one for place, one in zip(places, before, strict=True))
    assert [getattr(*place) for place in places] == before
