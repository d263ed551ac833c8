"""What moto does again for each request, done once; and EC2's answers as XML.

Without this, requests take the test cloud twice as much processor time.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any
from unittest import mock
from xml.sax.saxutils import escape, quoteattr

from moto import settings
from moto.core import responses
from moto.core.serialize import AttributePickerContext, EC2Serializer, XFormedAttributePicker
from moto.core.utils import method_names_from_class
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app


class Services(DomainDispatcherApplication):
    """moto's services. moto lists its own folders and tries some hundred patterns for each request."""

    def __init__(self) -> None:
        super().__init__(create_backend_app)
        self._backends: dict[str | None, Any] = {}

    def get_backend_for_host(self, host: str | None) -> Any:
        """Find the backend as moto does, once for each host."""
        if host not in self._backends:
            self._backends[host] = super().get_backend_for_host(host)
        return self._backends[host]


@contextmanager
def kept() -> Iterator[None]:
    """Let moto keep the methods of its classes, and the names that a member of an answer may have in its objects.

    EC2's answers are written with `xml`, and none of moto's more than a thousand images is made each time it begins
    anew.
    """
    with ExitStack() as changes:
        changes.enter_context(mock.patch.object(settings, "ec2_load_default_amis", return_value=False))
        changes.enter_context(mock.patch.object(responses, "method_names_from_class", cache(method_names_from_class)))
        changes.enter_context(mock.patch.object(XFormedAttributePicker, "get_possible_keys", _names()))
        changes.enter_context(mock.patch.object(EC2Serializer, "_serialize_body", lambda _, body: xml(body)))
        yield


def xml(body: Mapping[str, Any]) -> str:
    """Return the elements of the body. A key with `@` is an attribute; a list is as many elements of one name."""
    return "".join(_element(name, one) for name, each in body.items() if name[0] != "@" for one in _listed(each))


def _element(name: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        return f"<{name}>{_text(value)}</{name}>"
    given = "".join(f" {key[1:]}={quoteattr(str(one))}" for key, one in value.items() if key[0] == "@")
    return f"<{name}{given}>{xml(value)}</{name}>"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else escape(str(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _names() -> Any:
    """Cache `get_possible_keys`, whose answer depends on the class of the object and on the place of the member
    alone.
    """
    known: dict[Any, tuple[str, ...]] = {}
    find = XFormedAttributePicker.get_possible_keys

    def names(self: XFormedAttributePicker, context: AttributePickerContext) -> tuple[str, ...]:
        place = _place(context)
        if place not in known:
            known[place] = tuple(dict.fromkeys(find(self, context)))
        return known[place]

    return names


def _place(context: AttributePickerContext) -> Any:
    """Return the object's class, the service, and the member with its name in answers and the structure that it belongs
    to.
    """
    shape, parent = context.shape, getattr(context.shape, "parent", None)
    service = context.service_model and context.service_model.service_name
    return type(context.obj), service, context.key, shape.serialization.get("name"), parent and parent.name
