"""Print what a campaign took, in the same form in all benchmarks."""

from collections.abc import Mapping


def print_costs(cells: int, wall_s: float, cpu_s: Mapping[str, float]) -> None:
    """Print wall time, CPU time and CPU time by part, in total and per cell."""
    whole = sum(cpu_s.values())
    print(f"wall: {wall_s:.0f} s, {wall_s / cells:.2f} s a cell")
    print(f"CPU: {whole:.0f} s, {whole / cells:.2f} s a cell")
    for part, seconds in sorted(cpu_s.items()):
        print(f"  {part}: {seconds:.0f} s, {seconds / cells:.2f} s a cell")
