"""Figures of trainings, and tests of their differences by seed."""
from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
Rows = list[Row]
Figure = Callable[[Row], float]

TARGET = 0.9
LAST = 5  # evaluations whose mean is the accuracy at the end
# Two-sided 97.5% quantiles of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def by_variant(rows: Rows) -> dict[str, Rows]:
    groups: dict[str, Rows] = {}
    for row in rows:
        if row["status"] == "ok":
            groups.setdefault(row["variant"], []).append(row)
    return groups


def final_accuracy(row: Row) -> float:
    return 100 * statistics.fmean(row["accuracy"][-LAST:])


def final_loss(row: Row) -> float:
    return statistics.fmean(row["held_out_loss"][-LAST:])


def mean_accuracy(row: Row) -> float:
    """Over all iterations: how fast it learns, whatever the end is."""
    return 100 * statistics.fmean(row["accuracy"])


def density(row: Row) -> list[float]:
    """The share of the components in the reduced gradient, in percent."""
    return [100 * count / row["components"] for count in row["result_components"]]


def first_reached(row: Row) -> int | None:
    return next((at for at, accuracy in enumerate(row["accuracy"]) if accuracy >= TARGET), None)


def paired(groups: dict[str, Rows], better: str, worse: str, figure: Figure) -> list[float]:
    """better - worse, for each seed of both."""
    of_worse = {row["seed"]: row for row in groups.get(worse, [])}
    return [figure(row) - figure(of_worse[row["seed"]]) for row in groups.get(better, []) if row["seed"] in of_worse]


def sign_test(differences: list[float]) -> float:
    """The exact one-sided p of a mean as large as this one, if signs were random."""
    mean = sum(differences)
    all_signs = itertools.product((1, -1), repeat=len(differences))
    sums = [sum(sign * abs(value) for sign, value in zip(signs, differences, strict=True)) for signs in all_signs]
    return sum(value >= mean - 1e-12 for value in sums) / len(sums)


def interval(differences: list[float]) -> tuple[float, float]:
    """Student's, of 95%, for the mean."""
    mean = statistics.fmean(differences)
    if len(differences) < 2:
        return -math.inf, math.inf
    half = STUDENT[len(differences) - 1] * statistics.stdev(differences) / math.sqrt(len(differences))
    return mean - half, mean + half
