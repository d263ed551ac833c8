"""The campaigns of the tests here: each module has definitions of its own."""

from tests.fakes.gated import DEAR
from tests.fakes.installation import instant_definition

from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.parameters import Parameter
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Search, Stage
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.domain.keys.trigger import Approve, Trigger

STAGES = (
    Stage(id="maximum", strategy=Ramp()),
    Stage(id="share", strategy=FullGrid(), loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"})),
)
DEAR_HOSTS = {"provider": ProviderChoice(name=DEAR)}
DEFINITIONS = {
    definition.name: definition
    for definition in (
        instant_definition("many", variants=2, loads=1, repeats=2, parallel=3),
        instant_definition("calm", variants=1, loads=2),
        instant_definition("storm", variants=2, loads=2),
        instant_definition("early", variants=1, loads=1),
        instant_definition("late", variants=1, loads=1),
        instant_definition("by-rest", variants=1, loads=2),
        instant_definition("held", variants=1, loads=2, parallel=1).model_copy(update={"cluster_scope": "campaign"}),
        instant_definition("staged", variants=1, loads=1).model_copy(update={"stages": STAGES}),
        instant_definition("dear", variants=1, loads=1).model_copy(
            update={**DEAR_HOSTS, "approve": Approve.model_validate({"above": "1 USD"})}
        ),
        instant_definition("unanswered", variants=1, loads=1).model_copy(
            update={**DEAR_HOSTS, "approve": Approve.model_validate({"above": "1 USD", "within": "5s"})}
        ),
        instant_definition("released", variants=1, loads=1).model_copy(
            update={
                "title": "Release $(version)",
                "parameters": {"version": Parameter(type="text", default="4.0.1")},
                "trigger": Trigger(asset="database-release"),
            }
        ),
        instant_definition("sought", variants=1, loads=3, repeats=2, parallel=1).model_copy(
            update={"strategy": Search(), "cluster_scope": "campaign"}
        ),
    )
}
