"""The cloud's controls over HTTP, for tests in other processes: JSON below `/_cloud/`."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.cloud.faults import parse
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from tests.cloud.cloud import Cloud

_ROUTES = Map(
    [
        Rule("/_cloud/landscape", methods=["GET"], endpoint="landscape"),
        Rule("/_cloud/summary", methods=["GET"], endpoint="summary"),
        Rule("/_cloud/leftovers", methods=["GET"], endpoint="leftovers"),
        Rule("/_cloud/instances", methods=["GET"], endpoint="instances"),
        Rule("/_cloud/instances/<instance_id>/events", methods=["GET"], endpoint="events"),
        Rule("/_cloud/instances/<instance_id>/<any(freeze,thaw,cut,heal,kill):verb>", methods=["POST"], endpoint="act"),
        Rule("/_cloud/faults", methods=["POST"], endpoint="fault"),
        Rule("/_cloud/faults", methods=["DELETE"], endpoint="clear", defaults={"number": None}),
        Rule("/_cloud/faults/<int:number>", methods=["DELETE"], endpoint="clear"),
        Rule("/_cloud/skip", methods=["POST"], endpoint="skip"),
    ]
)


class Admin:
    """A WSGI application."""

    def __init__(self, cloud: "Cloud") -> None:
        self._cloud = cloud

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """JSON in, JSON out; 404 and 400 say why in `error`."""
        request = Request(environ)
        try:
            name, values = _ROUTES.bind_to_environ(environ).match()
            body = request.get_json() if request.content_length else {}
            answer, status = getattr(self, f"_{name}")(**values, **body), 200
        except HTTPException as error:
            answer, status = {"error": str(error)}, error.code or 500
        except (ValueError, TypeError, LookupError) as error:
            answer, status = {"error": f"{type(error).__name__}: {error}"}, 400
        return Response(json.dumps(answer), status, content_type="application/json")(environ, start_response)

    def _landscape(self) -> Mapping[str, Any]:
        return {**self._cloud.landscape.plain(), "mode": self._cloud.mode, "ssh_port": self._cloud.ssh_port}

    def _summary(self) -> Mapping[str, Any]:
        return self._cloud.summary()

    def _leftovers(self) -> Mapping[str, Any]:
        return self._cloud.leftovers()

    def _instances(self) -> list[Mapping[str, Any]]:
        """Return all that ever lived."""
        return [asdict(entry) for entry in self._cloud.census.entries.values()]

    def _events(self, instance_id: str) -> list[Mapping[str, Any]]:
        return list(self._cloud.log(instance_id).events)

    def _act(self, instance_id: str, verb: str) -> Mapping[str, Any]:
        if instance_id not in self._cloud.lifecycle.lives:
            raise NotFound(instance_id)
        if verb == "kill":
            self._cloud.kill(instance_id)
        else:
            getattr(self._cloud.host(instance_id), verb)()
        return {}

    def _fault(self, kind: str, **values: Any) -> Mapping[str, Any]:
        return {"number": self._cloud.fault(parse(kind, values))}

    def _clear(self, number: int | None) -> Mapping[str, Any]:
        self._cloud.clear(number)
        return {}

    def _skip(self, seconds: float) -> Mapping[str, Any]:
        self._cloud.skip(seconds)
        return {}
