#!/usr/bin/env python3
"""Tests of examples/pytorch with torch itself: real_torch.py THINWIRE SOURCE. Processes train by
DistributedDataParallel over gloo; the oracle is a serial top-k SGD on gradients without DDP."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

PROGRAM = sys.argv[1]
SOURCE = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(SOURCE / "examples/pytorch")]
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from thinwire_ddp import Recorder  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

RANKS, ITERATIONS, DENSITY = 3, 6, 0.05


def small_model():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(20, 40), torch.nn.Tanh(), torch.nn.Linear(40, 5))


def batch_of(rank, iteration):
    generator = torch.Generator().manual_seed(100 * rank + iteration)
    return torch.randn(8, 20, generator=generator), torch.randn(8, 5, generator=generator)


def flat(tensors):
    return np.concatenate([tensor.detach().numpy().ravel() for tensor in tensors])


def train(rank, folder):
    """One process: what DDP's hook makes of the gradients, beside the gradients of the same model alone."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    model = DistributedDataParallel(small_model(), bucket_cap_mb=10_000)
    recorder = Recorder(model.module, density=DENSITY, source="a test with torch")
    model.register_comm_hook(recorder, Recorder.hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    alone, after = [], []
    with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU],
            schedule=torch.profiler.schedule(wait=0, warmup=1, active=ITERATIONS - 1, repeat=1),
            on_trace_ready=lambda made: made.export_chrome_trace(f"{folder}/kineto.{rank}.json")) as profile:
        for iteration in range(ITERATIONS):
            copy = small_model()
            copy.load_state_dict(model.module.state_dict())
            x, y = batch_of(rank, iteration)
            torch.nn.functional.mse_loss(copy(x), y).backward()
            alone.append(flat(parameter.grad for parameter in copy.parameters()))
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            after.append(flat(parameter.grad for parameter in model.parameters()))
            optimizer.step()
            profile.step()
    recorder.close(f"{folder}/trace.h5")
    np.savez(f"{folder}/gradients.{rank}.npz", alone=np.array(alone), after=np.array(after))
    # No process ends while another one communicates.
    while any(not pathlib.Path(f"{folder}/gradients.{other}.npz").exists() for other in range(RANKS)):
        time.sleep(0.01)
    # Torch 1.13 may hang when DDP is destroyed: the thread that does it holds Python's lock, and joins a thread of
    # gloo's that waits for the lock to free a tensor.
    os._exit(0)


class RealTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        children = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:3], str(rank), cls.folder])
                    for rank in range(RANKS)]
        for child in children:
            cls.addClassCleanup(child.kill)
        codes = [child.wait(timeout=120) for child in children]
        assert codes == [0] * RANKS, codes

    def program(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def test_training_is_top_k_sgd_with_error_feedback(self):
        found = [np.load(self.folder / f"gradients.{rank}.npz") for rank in range(RANKS)]
        n = found[0]["alone"].shape[1]
        k = round(DENSITY * n)
        residual = np.zeros((RANKS, n), np.float32)
        for iteration in range(ITERATIONS):
            sent = np.zeros_like(residual)
            for rank in range(RANKS):
                residual[rank] += found[rank]["alone"][iteration]
                chosen = np.argsort(-np.abs(residual[rank]))[:k]
                sent[rank, chosen] = residual[rank, chosen]
            residual -= sent
            for rank in range(RANKS):
                self.assertTrue(np.allclose(found[rank]["after"][iteration], sent.mean(axis=0),
                                            rtol=1e-4, atol=1e-6), f"iteration {iteration}, rank {rank}")

    def test_thinwire_runs_on_the_trace(self):
        path = str(self.folder / "trace.h5")
        self.assertIn(f"ok, {RANKS} ranks, 1045 components, {ITERATIONS} iterations",
                      self.program("trace", "check", path))
        row = json.loads(self.program("run", "--scheme", "oktopk", "--trace", path, "--format", "json"))[0]
        self.assertEqual((row["ranks"], row["components"], row["k"]), (RANKS, 1045, round(DENSITY * 1045)))
        self.assertTrue(row["ranks_agree"])

    def test_its_kineto_trace_becomes_a_model(self):
        model = self.folder / "mine.json"
        done = subprocess.run([sys.executable, SOURCE / "examples/pytorch/kineto_model.py",
                               self.folder / "kineto.0.json", "--name", "mine", "--batch", "8", "--device", "p100",
                               "-o", model], capture_output=True, text=True, check=False)
        if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 1):
            # The steps are found, and what this version does not write is named.
            self.assertIn("no allreduce (record_param_comms with 'In msg nelems')", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        layers = json.loads(model.read_text())["layers"]
        self.assertEqual(sum(sum(layer["tensors"]) for layer in layers), 1045)
        row = json.loads(self.program("run", "--scheme", "dense_ovlp", "-P", "2", "--model", str(model),
                                      "--device", "p100", "--format", "json"))[0]
        self.assertEqual(row["components"], 1045)


if __name__ == "__main__":
    if len(sys.argv) == 5:
        train(int(sys.argv[3]), sys.argv[4])
    else:
        unittest.main(argv=sys.argv[:1])
