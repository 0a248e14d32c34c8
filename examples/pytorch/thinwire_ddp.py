"""Records what top-k selects in a training by PyTorch's DistributedDataParallel, as a trace of Thinwire.

Copy this file and tools/trace/write_trace.py beside your training, and add to it:

    from thinwire_ddp import Recorder
    model = DistributedDataParallel(model, bucket_cap_mb=10_000)      # one bucket: exact top-k of all
    recorder = Recorder(model.module, density=0.01, every=10, source="my model on my data")
    model.register_comm_hook(recorder, Recorder.hook)
    ...                                                               # your loop, as it is
    recorder.close("training.h5")                                     # on all ranks, at the end

The training becomes top-k SGD with error feedback (TopkA): a rank adds its residual to the gradient,
the k largest magnitudes of each bucket are summed over the ranks and divided by their number, and the
rest is the residual of the next iteration. Then `thinwire run --scheme oktopk --trace training.h5`.

Needs torch, numpy and h5py.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.distributed as dist

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent.parent / "tools" / "trace")]
from write_trace import TraceWriter  # noqa: E402


class Recorder:
    """module: the model inside DDP. density: k/n. every: iterations from one recorded to the next.
    limit: recorded iterations at most; a rank keeps 8 bytes per selected entry and iteration until
    close()."""

    def __init__(self, module, density, every=1, limit=1000, seed=0, source=""):
        if not 0 < density <= 1:
            raise ValueError(f"density {density} is not valid; expected more than 0, up to 1")
        if every < 1 or limit < 1:
            raise ValueError("every and limit: expected a number from 1")
        self.density, self.every, self.limit = density, every, limit
        self.seed, self.source = seed, source
        self.layers = [(name, parameter.numel()) for name, parameter in module.named_parameters()
                       if parameter.requires_grad]
        begins = np.concatenate([[0], np.cumsum([size for _, size in self.layers])])
        trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self.begin_of = {id(parameter): int(begin) for parameter, begin in zip(trained, begins)}
        self.residual = np.zeros(int(begins[-1]), np.float32)
        self.iteration = 1
        self.recorded = []  # (iteration, indexes, values, threshold)
        self.parts = []  # of this iteration: (indexes, values) of each bucket

    def hook(self, bucket):
        """For DDP's register_comm_hook, whose state is the Recorder."""
        buffer = bucket.buffer()
        gradient = buffer.detach().cpu().numpy().astype(np.float32)
        where = np.concatenate([np.arange(self.begin_of[id(parameter)],
                                          self.begin_of[id(parameter)] + parameter.numel())
                                for parameter in bucket.parameters()])
        accumulator = self.residual[where] + gradient
        k = max(1, round(self.density * len(accumulator)))
        chosen = np.argpartition(np.abs(accumulator), len(accumulator) - k)[len(accumulator) - k:]
        self.parts.append((where[chosen], accumulator[chosen]))
        sent = np.zeros_like(accumulator)
        sent[chosen] = accumulator[chosen]
        self.residual[where] = accumulator - sent
        if bucket.is_last():
            self._end_iteration()
        tensor = torch.from_numpy(sent).to(device=buffer.device, dtype=buffer.dtype)
        tensor = tensor / dist.get_world_size()
        return dist.all_reduce(tensor, async_op=True).get_future().then(lambda done: done.value()[0])

    def _end_iteration(self):
        wanted = (self.iteration - 1) % self.every == 0 and len(self.recorded) < self.limit
        if wanted:
            index = np.concatenate([index for index, _ in self.parts])
            value = np.concatenate([value for _, value in self.parts])
            self.recorded.append((self.iteration, index, value, np.abs(value).min()))
        self.parts = []
        self.iteration += 1

    def close(self, path):
        """Writes the trace, on rank 0. All ranks must call it."""
        ranks = dist.get_world_size()
        writer = None
        if dist.get_rank() == 0:
            writer = TraceWriter(path, self.layers, ranks, self.density, self.seed,
                                 self.source or "recorded by a DDP hook")
        for iteration, index, value, threshold in self.recorded:
            gathered = [None] * ranks
            dist.all_gather_object(gathered, (index, value, float(threshold)))
            if writer:
                writer.append(iteration, [(index, value) for index, value, _ in gathered],
                              [threshold for _, _, threshold in gathered])
        if writer:
            writer.close()
