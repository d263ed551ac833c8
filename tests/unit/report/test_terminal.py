from rich.console import Console
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.report import capacity_table
from plimsoll.report.terminal import capacity_view


def test_the_terminal_table_holds_every_answer_and_takes_markup_literally() -> None:
    outcomes = {"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "m", 20_000: "m"}}
    plain = campaign_of(outcomes).definition.variants
    variants = tuple(one.model_copy(update={"title": f"[bold]{one.id}"}) for one in plain)
    rows = capacity_table(
        campaign_of({"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "m", 20_000: "m"}}, variants=variants)
    )
    console = Console(width=160, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(capacity_view(rows))
    text = captured.get()
    assert "[bold]a" in text
    assert "at least 20,000 ops/s" in text
    assert "(the capacity may be higher)" in text
    assert "20,000 ops/s: 1 of 1 repeat missed" in text
    assert "15,000 ops/s would halve the" in text
    assert "write into the definition: loads: [10000/s," in text
