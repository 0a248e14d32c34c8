"""The tables of a set-up's trainings, as text and as Markdown."""
from __future__ import annotations

import statistics
import textwrap

from training.comparison import (TARGET, Figure, Row, Rows, by_variant, density, final_accuracy, final_loss,
                                 first_reached, interval, mean_accuracy, paired, sign_test)
from training.setups import PLACES, Setup

Table = tuple[list[str], list[list[str]]]
CLOSE = 2.0  # points of accuracy that a scheme may be below dense training and still be called close to it


def spread(values: list[float], digits: int = 1) -> str:
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{statistics.fmean(values):.{digits}f} ± {statistics.stdev(values):.{digits}f}"


def middle(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})" if values else "-"


def table(heads: list[str], lines: list[list[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(heads, *lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width)
                  for at, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip() + "\n"
        for line in [heads, *lines])


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    text = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    return text + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def summary(rows: Rows) -> Table:
    heads = ["variant", "seeds", "accuracy at the end, %", "held-out loss", f"iterations to {TARGET:.0%}"]
    heads += [f"s to {TARGET:.0%}, {place}" for place in PLACES]
    heads += [f"s an iteration, {place}" for place in PLACES]
    lines = []
    for variant, group in by_variant(rows).items():
        reached = [(row, at) for row in group if (at := first_reached(row)) is not None]
        line = [variant, f"{len(group)}", spread([final_accuracy(row) for row in group]),
                spread([final_loss(row) for row in group], 3)]
        line.append(middle([row["iteration"][at] for row, at in reached]))
        if len(reached) < len(group):
            line[-1] += f", {len(reached)} of {len(group)}"
        for place in PLACES:
            line.append(middle([row["places"][place]["time_s"][at] for row, at in reached]))
        for place in PLACES:
            times = [row["places"][place]["time_s"][-1] / row["iteration"][-1] for row in group]
            line.append(f"{statistics.fmean(times):.3g}")
        lines.append(line)
    return heads, lines


def inner(rows: Rows) -> Table:
    heads = ["variant", "result, % of n: first", "median", "last", "xi: median", "largest", "global error: median",
             "last"]
    lines = []
    for variant, group in by_variant(rows).items():
        shares = [density(row) for row in group]
        xi = [value for row in group for value in row["xi"] if value is not None]
        error = [value for row in group for value in row["global_error"]]
        lines.append([variant, f"{statistics.fmean(share[0] for share in shares):.3g}",
                      f"{statistics.fmean(statistics.median(share) for share in shares):.3g}",
                      f"{statistics.fmean(share[-1] for share in shares):.3g}",
                      f"{statistics.median(xi):.2f}" if xi else "-", f"{max(xi):.2f}" if xi else "-",
                      f"{statistics.median(error):.3g}",
                      f"{statistics.fmean(row['global_error'][-1] for row in group):.3g}"])
    return heads, lines


def orderings(rows: Rows) -> Table:
    """What the papers say, as differences in the accuracy, with their tests."""
    groups = by_variant(rows)
    heads = ["ordering", "figure", "difference", "95% interval", "p", "holds"]
    lines: list[list[str]] = []

    def better(high: str, low: str, what: str, figure: Figure) -> None:
        differences = paired(groups, high, low, figure)
        if len(differences) < 2:
            return
        low_end, high_end = interval(differences)
        holds = "yes" if low_end > 0 else "no: the reverse" if high_end < 0 else "not shown"
        lines.append([f"{high} above {low}", what, f"{statistics.fmean(differences):+.1f}",
                      f"{low_end:+.1f} to {high_end:+.1f}", f"{sign_test(differences):.3f}", holds])

    def close(name: str, to: str, within: float) -> None:
        differences = paired(groups, name, to, final_accuracy)
        if len(differences) < 2:
            return
        low_end, high_end = interval(differences)
        holds = "yes" if low_end > -within else "no" if high_end < -within else "not shown"
        lines.append([f"{name} at most {within:g} points below {to}", "accuracy at the end",
                      f"{statistics.fmean(differences):+.1f}", f"{low_end:+.1f} to {high_end:+.1f}", "-", holds])

    for figure, what in ((final_accuracy, "accuracy at the end"), (mean_accuracy, "mean accuracy")):
        better("dgc", "random_k", what, figure)
        better("dragonn", "random_k", what, figure)
        better("topka", "cltk", what, figure)
        better("topka", "gaussiank", what, figure)
        better("topka", "topka, no error feedback", what, figure)
    for name in groups:
        if name not in ("dense_ring", "topka, no error feedback", "random_k"):
            close(name, "dense_ring", CLOSE)
    return heads, lines


def counts(setup: Setup, rows: Rows) -> str:
    """Orderings that are no accuracies."""
    groups = by_variant(rows)
    lines = []
    if "oktopk" in groups:
        ranks = groups["oktopk"][0]["ranks"]
        xi = [(at, value) for row in groups["oktopk"] for at, value in zip(row["iteration"], row["xi"], strict=True)
              if value is not None]
        before = [value for at, value in xi if at <= setup.decay_every]
        after = [value for at, value in xi if at > setup.decay_every]

        def below(values: list[float]) -> str:
            return f"{sum(value < ranks for value in values)} of {len(values)} iterations"

        lines.append(f"ξ of `oktopk` is below P = {ranks} in {below(before)} where it was measured before the learning rate "
                     f"is quartered ({max(before, default=0):.2f} at most), and in {below(after)} after it.")
    for variant in ("oktopk", "gaussiank", "hard_threshold", "hard_threshold, published"):
        for row in groups.get(variant, [])[:1]:
            wanted = 100 * row["k"] / row["components"]
            shares = [[total / (row["ranks"] * one["k"]) for total in one["selected_total"]] for one in groups[variant]]
            most = statistics.fmean(max(share) for share in shares)
            last = statistics.fmean(share[-1] for share in shares)
            first = statistics.fmean(share[0] for share in shares)
            lines.append(f"A rank of `{variant}` selects {first:.3g} times k (k/n is {wanted:.2g}%) in iteration "
                         f"{row['iteration'][0]}, {most:.3g} times k at most, and {last:.3g} times k at the end.")
    return "".join(textwrap.fill(line, 98, initial_indent="- ", subsequent_indent="  ") + "\n" for line in lines)


def of_setup(setup: Setup, rows: Rows) -> str:
    return (f"{setup.batch} images a worker and iteration, learning rate {setup.learning_rate}, a quarter of it after "
            f"{setup.decay_every} iterations; {len(rows)} of {setup.seeds * len(setup.variants)} trainings")


def as_text(setup: Setup, rows: Rows) -> str:
    failed = [row for row in rows if row["status"] != "ok"]
    text = (f"{setup.name}: {setup.title}; {of_setup(setup, rows)}; mean ± standard deviation over seeds, or median "
            "(least to most)\n\n")
    for part in (summary(rows), inner(rows), orderings(rows)):
        text += table(*part) + "\n"
    text += counts(setup, rows)
    for row in failed:
        text += f"failed: {row['variant']}, seed {row['seed']}: {row['reason']}\n"
    return text


def as_page(setup: Setup, rows: Rows) -> str:
    """What results/training/NOTES.md shows: all but the inner figures."""
    lead = textwrap.fill(f"`{setup.name}`: {of_setup(setup, rows)}.", 98)
    return (f"### {setup.title}\n{lead}\n\n![Accuracy over simulated time and over iterations]"
            f"({setup.name}.svg)\n\n{markdown(*summary(rows))}\n{markdown(*orderings(rows))}\n"
            f"{counts(setup, rows)}\n")
