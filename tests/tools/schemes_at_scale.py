#!/usr/bin/env python3
"""Whether tools/benchmarks/schemes_at_scale makes its table: schemes_at_scale.py TOOL BUILD."""
import subprocess
import sys
import tempfile
import pathlib


def check(holds, what):
    if not holds:
        sys.exit(f"the table is wrong: {what}")


def main():
    tool, build = sys.argv[1:]
    command = [sys.executable, tool, "--build", build, "-P", "256", "--leaf", "16"]
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "scale.md")
        schemes = ["dense_ring", "gtopk", "dense_double_tree"]
        subprocess.run([*command, "-o", output, *schemes], check=True)
        first = output.read_text(encoding="utf-8")
        subprocess.run([*command, "-o", output, "dense_in_network"], check=True)
        page = output.read_text(encoding="utf-8")
        other = subprocess.run([*command, "--limit", "20", "-o", output, "gtopk"],
                               capture_output=True, text=True)
        slow = subprocess.run([*command, "--limit", "0", "gtopk"], check=True,
                              capture_output=True, text=True).stdout
        check(other.returncode == 1 and "other arguments" in other.stderr, "another head is refused")
    kept = [line for line in page.splitlines() if "dense_in_network |" not in line]
    check(kept == first.splitlines(), "rows of schemes that are not named are kept")
    check("256 ranks of a fat tree" in page and "children=16,16" in page, "its head")
    rows = {cells[0]: cells[1:] for cells in
            ([cell.strip() for cell in line.strip("|").split("|")]
             for line in page.splitlines() if line.startswith("| "))}
    check(rows["dense_ring"][0] == "16", "representatives of a ring")
    check(rows["gtopk"][0] == "all", "all ranks where none stand for others")
    check(rows["dense_double_tree"][0] == "all, 72 chunks", "chunks that stand for all")
    check("scale{} -o".format(" -P 256 --leaf 16") in page, "its command")
    check(rows["dense_in_network"][0] == "all", "switches that sum")
    for scheme in ("dense_ring", "gtopk", "dense_double_tree", "dense_in_network"):
        check(float(rows[scheme][1]) > 0 and float(rows[scheme][2]) > 0.2, "times")
        check(float(rows[scheme][4]) > 1 and rows[scheme][5] == "", "its cost")
    check("| gtopk | none |  |  |  |  | more than 0 s |" in slow, "a reason")

    for wrong, complaint in ((["ping_pong"], "no allreduce"), (["--leaf", "15"], "does not divide"),
                             (["--build", "/nowhere"], "is missing")):
        run = subprocess.run([*command, *wrong], capture_output=True, text=True)
        check(run.returncode == 1 and complaint in run.stderr, f"{wrong} are refused")


if __name__ == "__main__":
    main()
