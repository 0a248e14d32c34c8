"""What trainings say about the convergence of schemes, as the C++ list of algorithms/convergence.cpp."""
from __future__ import annotations

import statistics

from training.comparison import Rows, by_variant, final_accuracy, interval, paired
from training.setups import VARIANTS, Setup

MEASURED = "// Made by 'tools/training_study compare' from results/training/trainings.jsonl; do not edit.\n"


def as_measured(setup: Setup, rows: Rows) -> str:
    """A line for each scheme as it is, with error feedback and its default options where those are the scheme's."""
    groups = by_variant(rows)
    lines = ""
    for variant, group in groups.items():
        scheme = VARIANTS[variant].split()[1]
        if variant != scheme or variant == "dense_ring":
            continue
        differences = paired(groups, variant, "dense_ring", final_accuracy)
        if len(differences) < 2:
            continue
        low, high = interval(differences)
        lines += (f'{{.scheme = "{scheme}", .model = "{setup.model}", .density = {setup.density}, '
                  f".ranks = {setup.ranks}, .iterations = {setup.iterations}, .seeds = {len(differences)}, "
                  f".points_above_dense = {statistics.fmean(differences):.1f}, .low = {low:.1f}, .high = {high:.1f}}},\n")
    return lines
