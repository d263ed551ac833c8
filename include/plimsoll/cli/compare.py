"""`plimsoll compare`: two campaigns of the store side by side."""

from typing import Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_view


def _pairs(values: list[str]) -> list[str]:
    for value in values:
        a, equals, b = value.partition("=")
        if not (a and equals and b):
            raise typer.BadParameter(f"{value!r} is not ID_IN_A=ID_IN_B")
    return values


_A = Annotated[str, typer.Argument(metavar="A", help="Id of the campaign to compare with, as with a control.")]
_B = Annotated[str, typer.Argument(metavar="B", help="Id of the campaign to compare.")]
_Pair = Annotated[
    list[str],
    typer.Option(
        callback=_pairs,
        metavar="ID_IN_A=ID_IN_B",
        help="Compare these variants, which have different ids; can be repeated. Those of one id belong together.",
    ),
]
_Force = Annotated[
    bool, typer.Option("--force", help="Compare what is not comparable all the same; the differences are named.")
]


def compare(
    a: _A,
    b: _B,
    *,
    pair: _Pair = [],  # noqa: B006  # typer copies it
    force: _Force = False,
    as_json: JsonOption = False,
) -> None:
    """Put two campaigns side by side: environments, capacities and maxima, and which of the differences stand.

    Exits with 2 and names the differences where they are not comparable: another service level, timing or workload.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.bootstrap import existing_store
    from plimsoll.services.campaign_comparison import compare_stored
    from plimsoll.settings import Settings

    pairing = dict(value.split("=", 1) for value in pair)
    found = compare_stored(existing_store(Settings()), a, b, pairing=pairing, force=force, now=SystemClock().now())
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    from plimsoll.report.side_by_side_terminal import comparison_view

    print_view(comparison_view(found))
