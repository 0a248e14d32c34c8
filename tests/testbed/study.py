#!/usr/bin/env python3
"""tools/testbed_study without a testbed: study.py STUDY THINWIRE.

The measured rows are simulated ones of which every time is known to be 1.25 times the time on links, and
without wires a quarter of it.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

study, thinwire = sys.argv[1:3]
failures = []


def check(right, what):
    if not right:
        failures.append(what)


with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)
    sweep, page, output = here / "sweep.json", here / "page.md", here / "study"
    platform = "testbed_one_switch"
    sweep.write_text(json.dumps({
        "name": "small", "base": {"density": 0.04, "granule": 1, "iterations": 3},
        "grid": {"platform": [platform], "ranks": [2, 4, 12], "components": [1000],
                 "scheme": ["dense_ring", "dense_recursive_doubling", "topka"], "network": ["links", "smpi"]},
        "except": [{"ranks": [12]}]}), encoding="utf-8")
    page.write_text("before\n<!-- tools/testbed_study compare: begin -->\nold\n"
                    "<!-- tools/testbed_study compare: end -->\nafter\n", encoding="utf-8")

    def run(*steps, expect=0):
        ended = subprocess.run([sys.executable, study, *steps, "--sweep", str(sweep), "-o", str(output), "--page",
                                str(page), "--thinwire", thinwire], capture_output=True, text=True, check=False)
        check(ended.returncode == expect, f"{steps}: exit code {ended.returncode}, not {expect}: {ended.stderr}")
        return ended

    check("is no step" in run("measured", expect=2).stderr, "a step that is none")
    check("/base/iterations: 3; at least 6 are" in run("compare", "--iterations", "5", expect=2).stderr,
          "more iterations measured than simulated")
    for wrong in (("--iterations", "0"), ("--iterations", "-3"), ("--warm-up", "-1")):
        check("takes a number from 1" in run("compare", *wrong, expect=2).stderr, f"{wrong} is accepted")
    run("simulate")
    check("no point is both" in run("compare", expect=2).stderr, "nothing is measured")
    rows = [json.loads(line) for line in (output / "simulated.jsonl").read_text(encoding="utf-8").splitlines()]
    check(len(rows) == 12, f"{len(rows)} simulated rows, without those that are excepted")
    (output / "measured").mkdir()
    with (output / "measured" / f"{platform}.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            if row["point"]["network"] != "links":
                continue
            time = 1.25 * statistics.median(row["result"]["iteration_times_s"][1:])
            row["result"]["time_s"] = time
            row["result"]["measured"] = {"median_s": time, "p10_s": time, "p90_s": time, "warm_up": 1,
                                         "iterations": 2, "library": "a library"}
            file.write(json.dumps(row) + "\n")
        file.write('{"status": "ok", "cut o')  # its writer was killed
    with (output / "simulated.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:  # what must not be read: the warm-up, and the time of one iteration alone
            row["result"]["iteration_times_s"][0] = row["result"]["time_s"] = 99
            file.write(json.dumps(row) + "\n")
    run("software")
    software = output / "software.jsonl"
    alone = [json.loads(line) for line in software.read_text(encoding="utf-8").splitlines()]
    check(len(alone) == 6 and all(row["result"]["measured"]["median_s"] > 0 for row in alone), f"{len(alone)} without wires")
    run("software")
    check(len(software.read_text(encoding="utf-8").splitlines()) == 6, "points without wires were measured again")
    with software.open("w", encoding="utf-8") as file:
        for row in rows:
            if row["point"]["network"] == "links":
                row["result"]["measured"]["median_s"] = 0.2 * row["result"]["measured"]["median_s"]
                file.write(json.dumps(row) + "\n")
    said = run("compare").stdout
    line = next((one for one in said.splitlines() if one.startswith("| all | `links + software`")), "")
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    check(cells[2:] == ["6", "0%", "0%", "0%", "2", "2", "2", "1.00 times"], f"the sum of both is {cells}")
    line = next((one for one in said.splitlines() if one.startswith("| all | `links`")), "")
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    check(cells[2:] == ["6", "25%", "25%", "-20%", "2", "2", "2", "1.00 times"], f"the reading says {cells}")
    text = page.read_text(encoding="utf-8")
    check(text.startswith("before\n") and text.endswith("after\n") and "old" not in text and line in text, text)
    drawn = subprocess.run([thinwire, "report", str(output / "validation.jsonl"), "--figure", "measured"],
                           capture_output=True, text=True, check=False)
    check(drawn.returncode == 0 and "dense_ring" in drawn.stdout, drawn.stderr)
    page.write_text("no place\n", encoding="utf-8")
    check("once each" in run("compare", expect=2).stderr, "a page without a place for the reading")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
