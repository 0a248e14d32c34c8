#!/usr/bin/env python3
"""Writes a trace (docs/reference/traces.md) with h5py. Copy TraceWriter into your training; the rest shows how.

    write_trace.py FILE      a small trace of random gradients
"""
import sys

import h5py
import numpy as np


class TraceWriter:
    """One process writes; gather what the ranks selected, for instance with gather_object.

    layers: (name, components) of each tensor, as for name, p in model.named_parameters().
    residual_rule: "all" where a rank forgets all that it selected; "oktopk" where it forgets only
    what the global top-k holds too.
    """

    def __init__(self, path, layers, ranks, density, seed=0, source="", residual_rule="all"):
        self.file = h5py.File(path, "w")
        header = self.file.create_group("header")
        header["version"] = 1
        header["components"] = sum(size for _, size in layers)
        header["ranks"] = ranks
        header["density"] = float(density)
        header["seed"] = np.uint64(seed)
        header["source"] = np.bytes_(source.encode() or b" ")  # of fixed length, as all texts
        header["residual_rule"] = np.bytes_(residual_rule)
        self.file["layers/name"] = np.array([name.encode() for name, _ in layers])
        self.file["layers/size"] = np.array([size for _, size in layers], "i8")
        self._grow("iteration", "i8")
        self._grow("threshold", "f4", ranks)
        self._grow("selected/begin", "i8")
        self._grow("selected/index", "u4")
        self._grow("selected/value", "f4")
        self._add("selected/begin", [0])
        self.entries = 0

    def append(self, iteration, selected, thresholds, global_threshold=None):
        """selected: (indexes, values of the accumulator) of each rank, in the order of ranks;
        thresholds: the magnitude from which on each rank selected."""
        for index, value in selected:
            order = np.argsort(index)
            self._add("selected/index", np.asarray(index)[order])
            self._add("selected/value", np.asarray(value)[order])
            self.entries += len(index)
            self._add("selected/begin", [self.entries])
        self._add("iteration", [iteration])
        self._add("threshold", [thresholds])
        if global_threshold is not None:
            if "global_threshold" not in self.file:
                self._grow("global_threshold", "f4")
            self._add("global_threshold", [global_threshold])

    def sample_gradients(self, coordinates, residuals):
        """Optional. coordinates: increasing; residuals: [first ranks, coordinates], before the first
        iteration whose gradients are recorded."""
        self.file["gradients/coordinate"] = np.asarray(coordinates, "u4")
        self.file["gradients/residual"] = np.asarray(residuals, "f4")
        self._grow("gradients/iteration", "i8")
        self._grow("gradients/scale", "f4", len(residuals))
        self._grow("gradients/value", "f2", *np.shape(residuals))

    def append_gradients(self, iteration, gradients):
        """gradients: [first ranks, coordinates] of consecutive iterations, before error feedback."""
        gradients = np.asarray(gradients, "f4")
        scale = np.abs(gradients).max(axis=1)
        scale[scale == 0] = 1
        self._add("gradients/iteration", [iteration])
        self._add("gradients/scale", [scale])
        self._add("gradients/value", [gradients / scale[:, None]])

    def close(self):
        self.file["header/format"] = np.bytes_("thinwire-trace")  # last: the trace is whole
        self.file.close()

    def _grow(self, name, dtype, *row):
        self.file.create_dataset(name, (0, *row), dtype, maxshape=(None, *row), chunks=True,
                                 compression="gzip", shuffle=True)

    def _add(self, name, rows):
        dataset = self.file[name]
        dataset.resize(len(dataset) + len(rows), axis=0)
        if len(rows):
            dataset[-len(rows):] = rows


def main(path):
    ranks, iterations, density = 4, 20, 0.01
    layers = [("embedding.weight", 8000), ("output.weight", 1990), ("output.bias", 10)]
    n = sum(size for _, size in layers)
    k = round(density * n)
    random = np.random.default_rng(1)
    writer = TraceWriter(path, layers, ranks, density, seed=1, source="random gradients, no training")
    sampled = np.arange(0, n, 50)
    residuals = np.zeros((ranks, n), "f4")
    writer.sample_gradients(sampled, residuals[:, sampled])
    for iteration in range(1, iterations + 1):
        gradients = random.standard_t(3, (ranks, n)).astype("f4")
        accumulators = residuals + gradients
        # With torch: value, index = accumulator.abs().topk(k, sorted=False); .cpu().numpy()
        selected, thresholds = [], []
        for accumulator in accumulators:
            index = np.argpartition(np.abs(accumulator), n - k)[n - k:]
            selected.append((index, accumulator[index]))
            thresholds.append(np.abs(accumulator[index]).min())
        writer.append(iteration, selected, thresholds)
        writer.append_gradients(iteration, gradients[:, sampled])
        residuals = accumulators
        for residual, (index, _) in zip(residuals, selected):
            residual[index] = 0
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
