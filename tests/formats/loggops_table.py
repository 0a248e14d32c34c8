#!/usr/bin/env python3
"""LogGOPSim's times of the schedules that thinwire exports, beside alphabeta's times.

usage: loggops_table.py THINWIRE TIMES.csv [--ranks 8,7,16,23]
Writes the times in nanoseconds, and prints the table of their ratios, and a table for trainings on four
ranks. Where LogGOPSim and txt2bin are on the PATH, their stand-in must take exactly as long;
elsewhere the stand-in's times are taken. L = 2 us, G = 1 ns, o = g = 0.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import loggops  # noqa: E402

NETWORK = "--alpha 0 --set machine.latency_s=2e-6 --beta 4e-9"
TRAINING = "--model vgg16 --device p100 --iterations 1"
TRAININGS = ["dense_ovlp", "topka --by-layer", "oktopk --by-layer"]
PARAMETERS = {"L": 2000, "G": 1}
COLUMNS = ["scheme", "ranks", "loggopsim_ns", "alphabeta_ns", "alphabeta_eager_ns",
           "loggops_full_duplex_ns"]


def output(program, arguments):
    return subprocess.run([program, *arguments.split()], check=True, capture_output=True,
                          text=True).stdout


def measure(program, folder, scheme, ranks, size):
    point = f"--scheme {scheme} -P {ranks} {size} {NETWORK}"
    output(program, f"export {point} --goal {folder}/schedule.goal")
    # LogGP counts G for the bytes after the first one; alphabeta for all of them.
    text = loggops.longer((folder / "schedule.goal").read_text())
    real = loggops.simulate(loggops.parse(text), **PARAMETERS)
    if loggops.has_loggopsim():
        stand_in, real = real, loggops.loggopsim(folder, text, **PARAMETERS)
        if stand_in != real:
            sys.exit(f"{scheme}, {ranks} ranks: LogGOPSim {real} ns, its stand-in {stand_in} ns")
    duplex = loggops.simulate(loggops.parse(text), **PARAMETERS, full_duplex=True)
    ours = []
    for eager in ("", "--eager 1000000000"):
        row, = json.loads(output(program, f"run {point} {eager} --format json"))
        ours.append(round(row["time_s"] * 1e9))
    return [scheme, ranks, real, *ours, duplex]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("thinwire")
    parser.add_argument("times")
    parser.add_argument("--ranks", default="8,7,16,23")
    given = parser.parse_args()
    if not loggops.has_loggopsim():
        print("LogGOPSim and txt2bin are not on the PATH: their stand-in runs", file=sys.stderr)
    all_ranks = [int(ranks) for ranks in given.ranks.split(",")]
    schemes = {scheme["name"]: "-n 20000" + (" -d 0.05" if scheme["input"] != "dense" else "")
               for scheme in
               json.loads(output(given.thinwire, "list schemes --format json"))
               if scheme["kind"] == "scheme" and scheme["name"] != "dense_in_network"}  # no messages
    with tempfile.TemporaryDirectory() as name:
        rows = {(scheme, ranks): measure(given.thinwire, pathlib.Path(name), scheme, ranks, size)
                for scheme, size in schemes.items() for ranks in all_ranks}
        trainings = [measure(given.thinwire, pathlib.Path(name), scheme, 4, TRAINING)
                     for scheme in TRAININGS]
    with open(given.times, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*rows.values(), *trainings])
    print("| scheme |" + "".join(f" P = {ranks} | --eager | full duplex |" for ranks in all_ranks))
    print("|---|" + "---:|" * 3 * len(all_ranks))
    for scheme in schemes:
        cells = [f"`{scheme}`"]
        for ranks in all_ranks:
            _, _, real, plain, eager, duplex = rows[scheme, ranks]
            cells += [f"{plain / real:.4f}", f"{eager / real:.4f}", f"{plain / duplex:.4f}"]
        print("| " + " | ".join(cells) + " |")
    print("\n| training | alphabeta | LogGOPSim | full duplex |\n|---|---:|---:|---:|")
    for scheme, _, real, plain, _, duplex in trainings:
        print(f"| `{scheme}` | " + " | ".join(f"{time / 1e6:.3f} ms"
                                              for time in (plain, real, duplex)) + " |")


if __name__ == "__main__":
    main()
