#!/usr/bin/env python3
"""Tests of examples/pytorch: pytorch.py THINWIRE SOURCE. A stand-in takes the place of torch; the
oracles are a serial top-k SGD, and what Thinwire reads from the files."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

PROGRAM = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(SOURCE / "tests/pytorch/stand_in"), str(SOURCE / "examples/pytorch")]
import torch  # noqa: E402
from thinwire_ddp import Recorder  # noqa: E402

SIZES = [("embedding", 300), ("hidden", 60), ("bias", 7)]
N = sum(size for _, size in SIZES)


class Module:
    def __init__(self):
        self.all = [(name, torch.Tensor(np.zeros(size, np.float32))) for name, size in SIZES]

    def named_parameters(self):
        return iter(self.all)

    def parameters(self):
        return (parameter for _, parameter in self.all)


class Bucket:
    """Some parameters of a module, with this gradient."""

    def __init__(self, parameters, gradient, last):
        self.of, self.gradient, self.last = parameters, gradient, last

    def buffer(self):
        return torch.Tensor(self.gradient)

    def parameters(self):
        return self.of

    def is_last(self):
        return self.last


def program(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record(self, ranks, buckets, density=0.05, iterations=6, every=1):
        """Trains with the hook; returns the file, and what each rank had after each allreduce."""
        path = str(self.folder / "trace.h5")
        gradients = np.random.default_rng(ranks).standard_normal((iterations, ranks, N)).astype(np.float32)
        results = [[None] * ranks for _ in range(iterations)]

        def train(rank):
            module = Module()
            recorder = Recorder(module, density, every=every, seed=3, source="a test")
            begins = np.cumsum([0] + [size for _, size in SIZES])
            for iteration in range(iterations):
                result = np.zeros(N, np.float32)
                for number, members in enumerate(buckets):
                    places = np.concatenate([np.arange(begins[i], begins[i + 1]) for i in members])
                    bucket = Bucket([module.all[i][1] for i in members],
                                    gradients[iteration, rank, places], number == len(buckets) - 1)
                    result[places] = Recorder.hook(recorder, bucket).array
                results[iteration][rank] = result
            recorder.close(path)
        torch.distributed.run(ranks, train)
        return path, gradients, results

    def serial(self, gradients, buckets, density):
        """Top-k SGD: of each iteration, (indexes of each rank, the mean of what was sent)."""
        begins = np.cumsum([0] + [size for _, size in SIZES])
        residual = np.zeros(gradients.shape[1:], np.float32)
        for iteration in gradients:
            accumulator = residual + iteration
            sent = np.zeros_like(accumulator)
            for members in buckets:
                places = np.concatenate([np.arange(begins[i], begins[i + 1]) for i in members])
                k = max(1, round(density * len(places)))
                for rank, values in enumerate(accumulator):
                    chosen = places[np.argsort(-np.abs(values[places]))[:k]]
                    sent[rank, chosen] = values[chosen]
            residual = accumulator - sent
            yield sent, sent.sum(axis=0) / len(sent)

    def test_the_trace_is_what_top_k_sgd_selects(self):
        for ranks in (1, 2, 3):
            for buckets in ([[0, 1, 2]], [[2, 1], [0]]):
                path, gradients, results = self.record(ranks, buckets)
                self.assertIn(f"ok, {ranks} ranks, {N} components, 6 iterations",
                              program("trace", "check", path))
                with h5py.File(path) as file:
                    self.assertEqual(list(file["layers/name"]), [name.encode() for name, _ in SIZES])
                    self.assertEqual(list(file["layers/size"]), [size for _, size in SIZES])
                    begin = file["selected/begin"][:]
                    index, value = file["selected/index"][:], file["selected/value"][:]
                for iteration, (sent, mean) in enumerate(self.serial(gradients, buckets, 0.05)):
                    for rank in range(ranks):
                        part = slice(*begin[iteration * ranks + rank:][:2])
                        self.assertEqual(list(index[part]), list(np.flatnonzero(sent[rank])))
                        self.assertTrue(np.array_equal(value[part], sent[rank][index[part]]))
                        self.assertTrue(np.allclose(results[iteration][rank], mean, atol=1e-6))

    def test_thinwire_runs_on_it(self):
        path, _, _ = self.record(3, [[0, 1, 2]], every=2)
        row = json.loads(program("run", "--scheme", "topka", "--trace", path, "--format", "json"))[0]
        self.assertEqual((row["ranks"], row["components"], row["k"]), (3, N, round(0.05 * N)))
        self.assertTrue(row["ranks_agree"])

    def test_bad_arguments(self):
        for arguments in ({"density": 0}, {"density": float("nan")}, {"density": 0.1, "every": 0}):
            with self.assertRaises(ValueError):
                Recorder(Module(), **arguments)

    def kineto(self, events, *more):
        path = self.folder / "kineto.json"
        path.write_text(json.dumps({"traceEvents": events}))
        return self.kineto_of(path, *more)

    def kineto_of(self, path, *more):
        return subprocess.run([sys.executable, SOURCE / "examples/pytorch/kineto_model.py", path, "--name",
                               "mine", "--batch", "8", "--device", "p100", "-o", self.folder / "mine.json",
                               *more], capture_output=True, text=True, check=False)

    def tensors(self):
        model = json.loads((self.folder / "mine.json").read_text())
        return [layer["tensors"] for layer in model["layers"]]

    @staticmethod
    def event(name, cat, begin_ms, length_ms, **arguments):
        return {"ph": "X", "name": name, "cat": cat, "ts": begin_ms * 1e3, "dur": length_ms * 1e3,
                "pid": 1, "tid": 1, "args": arguments}

    def steps(self):
        events = [{"ph": "M", "name": "process_name"}]
        for step in range(3):
            at = 100 * step
            events += [self.event(f"ProfilerStep#{step}", "user_annotation", at, 100),
                       self.event("gemm", "kernel", at, 70)]
            for begin, elements in ((30, 1000), (40, 2000), (70, 6000)):
                events += [self.event("record_param_comms", "cpu_op", at + begin, 0.1,
                                      **{"Collective name": "allreduce", "In msg nelems": elements,
                                         "dtype": "Float"}),
                           self.event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel",
                                      at + begin, 20)]
        return events

    def test_a_kineto_trace_becomes_a_model(self):
        done = self.kineto(self.steps())
        self.assertEqual(done.returncode, 0, done.stderr)
        model = json.loads((self.folder / "mine.json").read_text())
        # Only communication runs from 70 to 90 ms of a step of 100 ms.
        self.assertTrue(math.isclose(model["compute"][0]["seconds"], 0.08))
        self.assertEqual([layer["tensors"] for layer in model["layers"]], [[6000], [2000], [1000]])
        # Gaps of 10 and 30 ms; the first bucket 40 ms * 1000 / 8000.
        self.assertEqual([round(layer["forward_flops"] / 1e12 * 45, 6) for layer in model["layers"]],
                         [30, 10, 5])
        text = program("run", "--scheme", "dense_ovlp", "-P", "2", "--model",
                       str(self.folder / "mine.json"), "--device", "p100", "--format", "json")
        row = json.loads(text)[0]
        self.assertEqual(row["components"], 9000)
        self.assertGreaterEqual(row["training.computation_s"], 0.08)

    def test_an_allreduce_of_a_loss_is_no_layer(self):
        done = self.kineto_of(SOURCE / "tests/pytorch/traces/with_loss_allreduce.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.tensors(), [[5000000], [7000000], [2000000]])
        self.assertIn("left out, in each step: 1 x allreduce in process group '0' (default_pg, 4 ranks), 1 "
                      "elements together", done.stderr)
        done = self.kineto_of(SOURCE / "tests/pytorch/traces/with_loss_allreduce.json", "--smallest", "1")
        self.assertEqual(self.tensors()[0], [1])
        # Counts are integers, however many there are.
        events = self.steps() + [self.event("record_param_comms", "cpu_op", 100 * step + 80, 0.1,
                                            **{"Collective name": "allreduce", "In msg nelems": 5000,
                                               "dtype": "Long"}) for step in range(3)]
        self.assertEqual(self.kineto(events).returncode, 0)
        self.assertEqual(self.tensors(), [[6000], [2000], [1000]])

    def test_one_process_group_has_the_gradients(self):
        def in_group(name, description, size):
            return {"Process Group Name": name, "Process Group Description": description,
                    "Group size": size}
        events = self.steps()
        for event in events:
            if event["name"] == "record_param_comms":
                event["args"].update(in_group("0", "default_pg", 8))
        for step in range(3):
            for begin, kind, elements in ((5, "allreduce", 3000), (15, "allreduce", 3000),
                                          (20, "_allgather_base", 500)):
                events.append(self.event(
                    "record_param_comms", "cpu_op", 100 * step + begin, 0.1,
                    **{"Collective name": kind, "In msg nelems": elements, "dtype": "BFloat16",
                       **in_group("3", "tensor_parallel", 2)}))
        done = self.kineto(events, "--others", self.folder / "others.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.tensors(), [[6000], [2000], [1000]])
        self.assertIn("several process groups", done.stderr)
        self.assertIn("2 x allreduce in process group '3' (tensor_parallel, 2 ranks), 6000 elements",
                      done.stderr)
        others = json.loads((self.folder / "others.json").read_text())
        self.assertEqual([(one["collective"], one["group"], one["elements"]) for one in others],
                         [("allreduce", "3", 3000), ("allreduce", "3", 3000),
                          ("_allgather_base", "3", 500)])
        for name in ("3", "tensor_parallel"):
            self.assertEqual(self.kineto(events, "--group", name).returncode, 0)
            self.assertEqual(self.tensors(), [[3000], [3000]])
        done = self.kineto(events, "--group", "7")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no allreduce of the process group '7'; there are", done.stderr)
        for event in events:
            if event["name"] == "record_param_comms" and event["args"]["Process Group Name"] == "0":
                event["args"].update(in_group("4", "data_parallel", 4))
        done = self.kineto(events)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the process groups is the default one", done.stderr)

    def test_kineto_traces_without_what_is_needed(self):
        for events, text in (([], "no ProfilerStep"),
                             ([self.event("ProfilerStep#1", "user_annotation", 0, 10)], "no allreduce")):
            done = self.kineto(events)
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stderr)

    def test_kineto_traces_with_other_things_in_the_place_of_numbers(self):
        step = self.event("ProfilerStep#1", "user_annotation", 0, 10)
        for elements in ("x", -1, 2**61, 1.5, [3]):
            call = self.event("record_param_comms", "cpu_op", 1, 1, **{"Collective name": "allreduce", "In msg nelems": elements})
            done = self.kineto([step, call])
            self.assertEqual(done.returncode, 1)
            self.assertIn("is no number of elements", done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        for wrong in ({"ts": "y"}, {"dur": -1}, {"name": 5}, {"args": []}):
            self.assertIn("no ProfilerStep", self.kineto([{**step, **wrong}]).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
