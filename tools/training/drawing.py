"""Curves of a set-up's trainings: accuracy over simulated time on each network, and over iterations."""
from __future__ import annotations

import math
import statistics

from training.comparison import Rows, by_variant
from training.setups import PLACES

# Okabe and Ito's colours, which colour-blind readers can tell apart; once as lines, once dashed.
COLOURS = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00")


LEFT, WIDTH, TOP, HEIGHT, GAP = 55.0, 270.0, 40.0, 300.0, 25.0


def figure(rows: Rows, title: str) -> str:
    """The mean accuracy over the seeds, in three panels: over simulated time on each network, on a logarithmic axis,
    and over iterations; as SVG."""
    groups = by_variant(rows)
    axes = [(f"simulated time, s: {place} network", True,
             {name: mean_of([row["places"][place]["time_s"] for row in group]) for name, group in groups.items()})
            for place in PLACES]
    axes.append(("iterations", False, {name: mean_of([row["iteration"] for row in group])
                                       for name, group in groups.items()}))
    accuracies = {name: mean_of([row["accuracy"] for row in group]) for name, group in groups.items()}
    width = LEFT + len(axes) * (WIDTH + GAP)
    rows_of_legend = math.ceil(len(groups) / PER_LINE)
    height = TOP + HEIGHT + 50 + 18 * rows_of_legend
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" '
             f'font-size="12"><title>{title}</title><rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
             f'<text x="{LEFT}" y="20" font-size="14">Accuracy on held-out images: {title}</text>']
    for tick in range(0, 101, 20):
        y = y_of(tick / 100)
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick}%</text>')
    for at, (label, logarithmic, values) in enumerate(axes):
        parts += panel(LEFT + at * (WIDTH + GAP), label, logarithmic, values, accuracies)
    for at, name in enumerate(groups):
        x, y = LEFT + at % PER_LINE * (width - LEFT) / PER_LINE, TOP + HEIGHT + 55 + 18 * (at // PER_LINE)
        parts.append(f'<path d="M{x:.0f} {y}h24" {look(at)}/><text x="{x + 30:.0f}" y="{y + 4}">{name}</text>')
    return "\n".join(parts) + "\n</svg>\n"


PER_LINE = 5  # names in a line of the legend


def mean_of(curves: list[list[float]]) -> list[float]:
    return [statistics.fmean(values) for values in zip(*curves, strict=True)]


def y_of(accuracy: float) -> float:
    return TOP + HEIGHT * (1 - accuracy)


def look(at: int) -> str:
    dash = ' stroke-dasharray="5 3"' if at >= len(COLOURS) else ""
    return f'stroke="{COLOURS[at % len(COLOURS)]}" stroke-width="1.8" fill="none"{dash}'


def panel(left: float, label: str, logarithmic: bool, values: dict[str, list[float]],
          accuracies: dict[str, list[float]]) -> list[str]:
    least = min(curve[0] for curve in values.values()) if logarithmic else 0.0
    most = max(curve[-1] for curve in values.values())

    def x_of(value: float) -> float:
        share = math.log(value / least) / math.log(most / least) if logarithmic else value / most
        return left + WIDTH * share

    bottom = TOP + HEIGHT
    parts = [f'<path d="M{left} {y_of(tick / 100):.1f}h{WIDTH}" stroke="#ddd"/>' for tick in range(0, 101, 20)]
    for tick in ticks(least, most, logarithmic):
        x = x_of(tick)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{bottom + 34}" text-anchor="middle">{label}</text>')
    for at, (name, curve) in enumerate(values.items()):
        path = " ".join(f"{x_of(x):.1f},{y_of(accuracy):.1f}" for x, accuracy in zip(curve, accuracies[name], strict=True))
        parts.append(f'<polyline points="{path}" {look(at)}/>')
    return parts


def ticks(least: float, most: float, logarithmic: bool) -> list[float]:
    if not logarithmic:
        step = 10.0 ** math.floor(math.log10(most))
        step = next(step / part for part in (1, 2, 5, 10) if most / (step / part) >= 3)
        return [step * at for at in range(int(most / step) + 1)]
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    return [digit * 10.0**decade for decade in decades for digit in (1, 2, 5) if least <= digit * 10.0**decade <= most]
