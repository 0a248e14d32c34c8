#!/usr/bin/env python3
"""thinwire-train and tools/training_study: train.py THINWIRE_TRAIN SOURCE.

Runs the commands of docs/explanation/training.md, short trainings whose rows are checked against formulas, a study that is
stopped and goes on, and flags that are wrong.
"""
from __future__ import annotations

import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM, SOURCE = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
failures: list[str] = []


def check(right: bool, what: str) -> None:
    if not right:
        failures.append(what)


def run(flags: str, folder: Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run([PROGRAM, *shlex.split(flags)], capture_output=True, text=True, check=False, cwd=folder)
    check(ended.returncode == expect, f"{flags}: exit code {ended.returncode}, not {expect}: {ended.stderr}")
    return ended


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def examples(folder: Path) -> None:
    page = (SOURCE / "docs/explanation/training.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^thinwire-train (.*)$", page, re.MULTILINE)
    check(len(commands) >= 3, "docs/explanation/training.md has no examples")
    for command in commands:
        check(bool(run(command, folder).stdout), f"{command}: prints nothing")


def formulas(folder: Path) -> None:
    """2 (P - 1) messages of n / P words, and the computing time, on two networks."""
    output = run("--model cnn --scheme dense_ring -P 7 --iterations 3 --evaluate-every 2 --alpha 1e-3 --beta 1e-6 "
                 "--compute-s 0.25 --also-on machine.alpha_s=2,machine.beta_s_per_word=0 --target 0.01 -o dense.jsonl",
                 folder).stdout
    head, *steps, end = rows(folder / "dense.jsonl")
    check(head["kind"] == "training" and head["parameters"] == 105994, "the first row")
    check(end["kind"] == "end" and end["status"] == "ok", "the last row")
    check([step["iteration"] for step in steps] == [1, 2, 3], "a row for each iteration")
    check([step["accuracy"] is not None for step in steps] == [False, True, True], "evaluations")
    for step in steps:
        first, second = step["places"]
        words = 12 * math.ceil(105994 / 7)
        communication = step["iteration"] * (12e-3 + words * 1e-6)
        check(math.isclose(first["communication_s"], communication, rel_tol=1e-4), f"communication: {first}")
        check(math.isclose(second["communication_s"], step["iteration"] * 24), f"communication: {second}")
        for place in (first, second):
            parts = [place[f"{part}_s"] for part in ("computation", "sparsification", "communication")]
            check(math.isclose(sum(parts), place["time_s"]), f"parts: {place}")
            check(math.isclose(parts[0], step["iteration"] * 0.25) and parts[1] == 0, f"computing: {place}")
        check(step["result_components"] == 105994 and step["selected"] is None and step["xi"] is None, "dense")
        check(step["global_error"] == 0, "dense leaves nothing behind")
    check("time to an accuracy of 0.01" in output and "1 of 1" in output, f"the times: {output}")

    # 1400 components are ten granules of 139 parameters.
    run("--model cnn --scheme topka -P 3 -k 1400 --iterations 4 --as-model vgg16 --rows-every 2 -o sparse.jsonl", folder)
    head, *steps, end = rows(folder / "sparse.jsonl")
    point = head["points"][0]
    check(point["granule"] == 139 and point["components"] == 105994 * 139, "the granule of vgg16")
    check(head["device"] == "p100" and head["compute_s"] > 0, "the device of vgg16")
    check([step["iteration"] for step in steps] == [2, 4], "every second row")
    for step in steps:
        check(step["selected"] == {"ranks": 3, "least": 1390, "most": 1390, "total": 4170}, f"{step['selected']}")
        check(step["xi"] > 0 and step["global_error"] > 0, "what is left behind")
        place = step["places"][0]
        check(place["sparsification_s"] > 0, f"selection takes no time: {place}")
        check(math.isclose(place["computation_s"], step["iteration"] * head["compute_s"]), f"computing: {place}")

    for name in ("once.jsonl", "again.jsonl"):
        run(f"--model cnn --scheme oktopk -P 3 -d 0.01 --iterations 5 --seed 2 -o {name}", folder)
    check(rows(folder / "once.jsonl") == rows(folder / "again.jsonl"), "the same seed, other rows")


def learns(folder: Path) -> None:
    """A quick sparse training that gets somewhere: a tenth of the digits would be right by chance."""
    run("--model cnn --scheme oktopk -P 4 -d 0.05 --iterations 140 --learning-rate 0.4 --momentum 0.5 "
        "--evaluate-every 140 --rows-every 140 -o learns.jsonl", folder)
    found = [row["accuracy"] for row in rows(folder / "learns.jsonl") if row["kind"] == "iteration"]
    check(len(found) == 1 and found[0] > 0.4, f"accuracy after 140 iterations: {found}")


def bad_flags(folder: Path) -> None:
    base = "--model cnn --iterations 2 -P 2"
    for flags, why in (
            (f"{base} --scheme oktop", "did you mean"),
            (f"{base} --scheme allgather_ring", "allreduce"),
            (f"{base} --network counting", "no clock"),
            (f"{base} --set input.overlap=0.5", "comes from the model"),
            (f"{base} --device p100", "--compute-s"),
            (f"{base} --as-model vgg16 --gamma 1e-9", "local work"),
            (f"{base} --also-on scheme=topka", "what is computed"),
            (f"{base} --platform aries_daint --also-on platform=fat_tree", "only one"),
            (f"{base} -o /proc/nowhere/rows.jsonl", "cannot be written"),
    ):
        said = run(flags, folder, expect=2).stderr
        check(re.search(why, said) is not None and said.count("\n") == 1, f"{flags}: says {said!r}")
    said = run("--model cnn --iterations 200 -P 2 --learning-rate 1000 -o failed.jsonl", folder, expect=1).stderr
    check("lower learning rate" in said, f"a training that fails: {said!r}")
    end = rows(folder / "failed.jsonl")[-1]
    check(end["status"] == "failed" and "lower learning rate" in end["reason"], f"its last row: {end}")


def study(folder: Path) -> None:
    page = folder / "page.md"
    page.write_text("before\n<!-- tools/training_study compare: begin -->\nold\n"
                    "<!-- tools/training_study compare: end -->\nafter\n", encoding="utf-8")
    output = folder / "study"

    command = [sys.executable, str(SOURCE / "tools/training_study")]
    flags = ["--setups", "short", "--iterations", "20", "--ranks", "2", "--seeds", "2", "--variants", "random_k", "dgc",
             "dense_ring", "--program", PROGRAM, "-o", str(output), "--page", str(page), "--measured",
             str(folder / "measured.inc")]

    def step(*words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run([*command, *words, *flags], capture_output=True, text=True, check=False)
        check(ended.returncode == expect, f"{words}: exit code {ended.returncode}, not {expect}: {ended.stderr}")
        return ended

    check("is no step" in step("trian", expect=2).stderr, "a step that is none")
    check("has no training" in step("compare", expect=2).stderr, "nothing to compare")
    file = output / "trainings.jsonl"
    # Killed, with a training under way, as soon as one has ended.
    with subprocess.Popen([*command, "train", "-j", "1", *flags], stderr=subprocess.DEVNULL) as killed:
        while killed.poll() is None and not rows_of(file):
            time.sleep(0.02)
        killed.kill()
    done = rows_of(file)
    check(1 <= len(done) < 6, f"{len(done)} trainings ended before the study was killed")
    said = step("train").stderr
    check(f"{len(done)} trainings have a row, {6 - len(done)} are to run" in said, f"a killed study goes on: {said}")
    lines = file.read_text(encoding="utf-8").splitlines()
    check([json.loads(line) for line in lines[:len(done)]] == done and len(lines) == 6, f"{len(lines)} rows, not 6")
    # Killed while it wrote: one training is cut off, three are missing.
    file.write_text("\n".join(lines[:2]) + "\n" + lines[2][:50], encoding="utf-8")
    check("2 trainings have a row, 4 are to run" in step("train").stderr, "a study whose last row is cut off goes on")
    trainings = [json.loads(line) for line in lines]
    again = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[3:]]
    check(len(again) == 4 and all(row in trainings for row in again), "a training that is run again is the same")
    said = step().stdout
    check("dgc above random_k" in said and "6 trainings" in said, f"the tables: {said}")
    text = page.read_text(encoding="utf-8")
    check(text.startswith("before\n") and text.endswith("after\n") and "| random_k |" in text, f"the page: {text}")
    measured = (folder / "measured.inc").read_text(encoding="utf-8")
    check('.scheme = "dgc"' in measured and "dense_ring" not in measured, f"what was measured: {measured}")
    step("check")
    page.write_text(text.replace("| random_k |", "| random |"), encoding="utf-8")
    check("page.md does not follow from the rows" in step("check", expect=1).stderr, "a page that was changed by hand")


def rows_of(path: Path) -> list[dict]:
    """The complete rows of a file that is being written."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


with tempfile.TemporaryDirectory() as scratch:
    for test in (formulas, learns, bad_flags, study, examples):
        test(Path(scratch))
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
