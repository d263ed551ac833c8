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
        help="Compare these two variants, whose ids differ; can be repeated. Variants with the same id need no pair.",
    ),
]
_Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Compare campaigns in spite of differences that make them incomparable. The differences are named.",
    ),
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

    If they are not comparable, such as by another service level, timing or workload, the command names the differences
    and exits with 2.
    """
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.bootstrap import existing_store
    from plimsoll.services.publish.comparison import compare_stored
    from plimsoll.settings import Settings

    pairing = dict(value.split("=", 1) for value in pair)
    found = compare_stored(existing_store(Settings()), a, b, pairing=pairing, force=force, now=SystemClock().now())
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    from plimsoll.report.compare.view import comparison_view

    print_view(comparison_view(found))
