#!/usr/bin/env python3
"""Whether tools/benchmarks/run --quick makes its page: benchmark_page.py RUN BUILD.

What is always there must be measured, with ratios that make sense. Skipped (77) where the
benchmark programs are not built.
"""
import pathlib
import subprocess
import sys
import tempfile


def cells_of(page, title):
    """The rows of the table of a section, without its head."""
    section = page.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def check(holds, what):
    if not holds:
        sys.exit(f"the page is wrong: {what}")


def main():
    run, build = sys.argv[1], pathlib.Path(sys.argv[2])
    if not all((build / name).exists() for name in ("thinwire", "bench_links", "bench_statistical")):
        print("the benchmark programs are not built")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "bench.md")
        subprocess.run([sys.executable, run, "--quick", "--build", build, "-o", output], check=True)
        page = output.read_text(encoding="utf-8")
    networks = cells_of(page, "Networks side by side")
    check({row[1] for row in networks} == {"smpi", "links", "alphabeta"}, "networks")
    for row in networks:
        check(float(row[3]) > 0, "a message takes time")
        check(row[1] != "smpi" or float(row[4]) == 1, "SMPI beside itself")
    for title, rows, column in (("Growth with P", 4, 2), ("Statistical values", 3, 3),
                                ("Few ranks", 4, 4), ("Iterations at once", 2, 3),
                                ("Platforms", 6, 2)):
        cells = cells_of(page, title)
        check(len(cells) == rows, title)
        check(all(float(row[column]) > 0 for row in cells), title)
    for title in ("LogGOPSim", "Packets of ns-3"):
        section = page.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
        check(cells_of(page, title) or "Not measured: " in section, title)
    check("Load of the machine at the beginning: " in page, "load")


if __name__ == "__main__":
    main()
