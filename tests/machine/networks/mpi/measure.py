#!/usr/bin/env python3
"""'thinwire measure' as a user runs it: measure.py THINWIRE MPIEXEC NUMPROC_FLAG."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

thinwire, mpiexec, flag = sys.argv[1:4]
failures = []


def run(processes, *arguments, expect=0, environment=None):
    """Runs mpirun -n PROCESSES thinwire ARGUMENTS, and checks its exit code."""
    command = [mpiexec, flag, str(processes), thinwire, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120,
                           env={**os.environ, **(environment or {})}, check=False)
    if ended.returncode != expect:
        failures.append(f"{' '.join(arguments)}: exit code {ended.returncode}, not {expect}:\n"
                        f"{ended.stdout}{ended.stderr}")
    return ended


def check(right, what):
    if not right:
        failures.append(what)


SHORT = ["--warm-up", "1", "--iterations", "3"]


def rows(processes, *arguments):
    ended = run(processes, "measure", *SHORT, "--format", "jsonl", *arguments)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def counts(row):
    keys = [f"{what}_{way}_{how}" for what in ("messages", "words")
            for way in ("sent", "received") for how in ("max", "mean")]
    return [row["result"][key] for key in keys]


# Rows have the schema of simulated rows; messages and words are as on the network counting.
for processes in (3,):
    point = ["--scheme", "oktopk,dense_ring,dragonn,qsgd,quantised_alltoall,sparseloco,exdyna", "-n", "3000", "-d", "0.02"]
    measured = rows(processes, *point)
    counted = subprocess.run(
        [thinwire, "run", *point, "-P", str(processes), "--network", "counting", "--iterations",
         "4", "--set", "granule=1", "--format", "jsonl"], capture_output=True, text=True, check=True)
    for row, other in zip(measured, map(json.loads, counted.stdout.splitlines()), strict=True):
        name = row["point"]["scheme"]
        result = row["result"]
        check(row["schema"] == 2 and row["status"] == "ok", f"{name}: {row}")
        check(row["point"]["network"] == "mpi" and row["point"]["ranks"] == processes, name)
        check(counts(row) == counts(other), f"{name}: {counts(row)} and {counts(other)}")
        check(result["ranks_agree"] and result["iteration"] == 4, name)
        check(result["result_components"] == other["result"]["result_components"], name)
        check(result["selection"] == other["result"]["selection"], name)
        times = result["measured"]
        check(times["checked"] and times["warm_up"] == 1 and times["iterations"] == 3, name)
        check(0 < times["min_s"] <= times["p10_s"] <= times["median_s"] <= times["p90_s"], name)
        check(result["time_s"] == times["median_s"], name)
        check(len(result["iteration_times_s"]) == 3 and times["hosts"], name)
        check(times["library_allreduce"] is None, name)
        check({p["name"] for p in result["phases"]} >=
              {p["name"] for p in other["result"]["phases"]}, name)

# Traces, profiles, other collectives, error feedback, the library beside.
run(2, "measure", *SHORT, "--scheme", "topka", "--profile", "vgg16", "-n", "20000", "-d", "0.01",
    "--set", "granule=1")
run(2, "measure", *SHORT, "--scheme", "reduce_scatter_ring", "-n", "1000")
# Blocks of a number of ranks that does not divide n: rank 0 has more values than there are in n.
run(3, "measure", *SHORT, "--scheme", "alltoall_bruck,alltoall_pairwise", "-n", "1000,999")
feedback = rows(2, "--scheme", "oktopk", "-n", "2000", "-k", "20", "--set", "error_feedback=true")
check(len(feedback[0]["result"]["global_errors"]) == 4, "global errors of all iterations")
beside = rows(2, "--scheme", "dense_ring", "-n", "1000", "--beside-mpi")
check(beside[0]["result"]["measured"]["library_allreduce"]["min_s"] > 0, "the library's time")

# A ping-pong costs two messages of the whole vector, and two ranks have a part in it.
ping_pong = rows(3, "--scheme", "ping_pong", "-n", "1,1000,30000")
for row in ping_pong:
    sent = [row["result"][key] for key in ("messages_sent_max", "words_sent_max")]
    check(sent == [1, row["point"]["components"]] and row["result"]["ranks_agree"], f"ping_pong: {sent}")

with tempfile.TemporaryDirectory() as folder:
    # Measured rows are what a machine is calibrated on, and stand beside simulated ones in the report.
    file = pathlib.Path(folder) / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ping_pong), encoding="utf-8")
    machine = pathlib.Path(folder) / "here.json"
    machine.write_text(json.dumps({
        "name": "here", "calibrated_on": [{"run": "1"}],
        "settings": {"network": "alphabeta", "machine": {"alpha_s": 1e-5, "beta_s_per_word": 1e-9}}}),
        encoding="utf-8")
    of_machine = ["--machine", str(machine), "--fit", "machine.alpha_s"]
    fitted = subprocess.run([thinwire, "fit", f"{file},machine=here,run=1", *of_machine],
                            capture_output=True, text=True, cwd=folder, check=False)
    check(fitted.returncode == 0, fitted.stderr)
    if fitted.returncode == 0:
        check(json.loads(fitted.stdout)["calibration"]["rows"] == 3, fitted.stdout)
    refused = subprocess.run([thinwire, "fit", f"{file},machine=here,nodes=2", *of_machine],
                             capture_output=True, text=True, cwd=folder, check=False)
    check(refused.returncode == 2 and "leave the fact out" in refused.stderr, refused.stderr)
    with file.open("a", encoding="utf-8") as beside:
        beside.write(subprocess.run(
            [thinwire, "run", "--scheme", "ping_pong", "-n", "1,1000,30000", "-P", "3", "--format",
             "jsonl"], capture_output=True, text=True, check=True).stdout)
    drawn = subprocess.run([thinwire, "report", str(file), "--figure", "measured"],
                           capture_output=True, text=True, check=False)
    check("alphabeta, ping_pong, 3 ranks" in drawn.stdout, f"{drawn.stdout[:500]}{drawn.stderr}")

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "here.jsonl"
    for _ in range(2):
        run(2, "measure", *SHORT, "--scheme", "topka", "-n", "500", "-o", str(file))
    lines = file.read_text(encoding="utf-8").splitlines()
    check(len(lines) == 2, "-o adds rows")
    for reader in (["compare", str(file)], ["report", str(file), "-o", f"{folder}/report.html"]):
        ended = subprocess.run([thinwire, *reader], capture_output=True, text=True, check=False)
        check(ended.returncode == 0, f"{reader}: {ended.stderr}")
    file.write_text("no results\n", encoding="utf-8")
    ended = run(2, "measure", *SHORT, "--scheme", "topka", "-n", "500", "-o", str(file), expect=2)
    check("not JSON" in ended.stderr, ended.stderr)

ended = run(2, "measure", "-n", "3e9", "--scheme", "dense_ring", "--beside-mpi", expect=2)
check("MPI_Allreduce takes at most 2147483647 at once" in ended.stderr, ended.stderr)

# Bad input: one line, from one process, and nobody waits.
BAD = {  # starting processes takes time: each is one run
    ("-P", "3"): "/ranks: 3, but there are 2 processes",
    ("--scheme", "oktopkk"): "did you mean 'oktopk'",
    ("--set", "granule=4"): "/granule",
    ("--set", "input=3"): "/input: 3 is not valid",
    ("--set", "iterations=3"): "/iterations: --iterations and --warm-up say how many",
    ("--set", "network=smpi"): "/network",
    ("--set", "workload.model=bert"): "/workload",
    ("--set", "machine.overhead_s=1e-6"): "/machine/overhead_s",
    ("--profile", "bert", "--set", "input.statistical=true"): "/input/statistical",
    ("--trace", "/nowhere.h5"): "nowhere",
    ("--no-such-flag",): "--no-such-flag",
    ("--platform", "fat_tree"): "--platform",
}
for arguments, reason in BAD.items():
    ended = run(2, "measure", "-n", "100", *arguments, expect=2)
    said = [line for line in ended.stderr.splitlines() if reason in line]
    check(len(said) == 1, f"{arguments}: {ended.stderr}")

ended = subprocess.run([thinwire, "run", "--network", "mpi"], capture_output=True, text=True,
                       check=False)
check(ended.returncode == 2 and "mpirun -n P thinwire measure" in ended.stderr, ended.stderr)

# Started by the mpirun of another library, each process would be alone.
for variables in ({"PMI_SIZE": "4", "PMI_RANK": "0"},
                  {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}):
    other = {key: value for key, value in os.environ.items()}
    ended = subprocess.run([thinwire + "-mpi", "measure"], capture_output=True, text=True,
                           env={**other, **variables}, timeout=60, check=False)
    check(ended.returncode == 2 and "use its mpirun" in ended.stderr, f"{variables}: {ended}")
    check(len(ended.stderr.splitlines()) == 1, ended.stderr)

# Without mpirun there is one process.
ended = subprocess.run([thinwire, "measure", *SHORT, "--scheme", "oktopk", "-n", "500"],
                       capture_output=True, text=True, timeout=60, check=False)
check(ended.returncode == 0, f"{ended.stdout}{ended.stderr}")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
