#!/usr/bin/env python3
"""A sweep on two workers of Dask, of which one is killed. PYTHONPATH names the package's folder.

Exit code 77 where Dask's distributed is not installed.
"""
import os
import pathlib
import signal
import sys
import tempfile

try:
    import distributed
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-distributed)")
    sys.exit(77)

import thinwire

SWEEP = {"name": "spread", "base": {"components": 200_000, "density": 0.01},
         "grid": {"scheme": ["oktopk", "topka", "dense_ring"], "ranks": [4, 8, 16, 24]}}
SAME = ["scheme", "ranks", "time_mean_s", "verdict"]


def main():
    os.chdir(tempfile.mkdtemp())
    killed = []

    def progress(done, total, _):
        print(f"{done} of {total}")
        if done == 2:  # a process, and what it simulates
            worker = sorted(client.run(os.getpid).values())[0]
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  host="127.0.0.1") as cluster, distributed.Client(cluster) as client:
        frame = thinwire.sweep(SWEEP, "spread.jsonl", executor=client.get_executor(), progress=progress)
    assert len(killed) == 1
    assert len(pathlib.Path("spread.jsonl").read_text().splitlines()) == 12
    alone = thinwire.sweep(SWEEP, "alone.jsonl", progress=False)
    assert frame[SAME].equals(alone[SAME]), (frame, alone)
    assert list(frame.key) == list(alone.key)
    print("the same rows as of one machine")


if __name__ == "__main__":  # workers import this file
    main()
