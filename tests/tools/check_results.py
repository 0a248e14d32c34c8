#!/usr/bin/env python3
"""Whether tools/check_results finds the rows that a build no longer gives: check_results.py TOOL BUILD."""
import json
import pathlib
import subprocess
import sys
import tempfile

POINT = {"ranks": 8, "components": 20000}


def check(holds, what):
    if not holds:
        sys.exit(f"check_results is wrong: {what}")


def main():
    tool, build = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for scheme in ("oktopk", "dense_ring"):
            config = pathlib.Path(folder, "point.json")
            config.write_text(json.dumps({**POINT, "scheme": scheme}), encoding="utf-8")
            text = subprocess.run([f"{build}/thinwire", "run", "--config", config, "--format", "jsonl"],
                                  check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(text))
        del rows[1]["point"]["tensors"]  # as in older rows, whose points are not complete
        rows[1]["point"]["k"] = 1234
        slower, late, unknown = (json.loads(json.dumps(rows[0])) for _ in range(3))
        slower["result"]["time_s"] *= 0.5
        late["wall_s"] = 1e6
        unknown["point"]["scheme"] = "no_scheme"
        failed = {**rows[0], "status": "failed", "result": None}
        file = pathlib.Path(folder, "rows.jsonl")

        def run(*given):
            file.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
            return subprocess.run([sys.executable, tool, "--build", build, file],
                                  capture_output=True, text=True)

        same = run(*rows, failed)
        check(same.returncode == 0 and "2 rows, 0 moved, 0 fail, 0 take too long" in same.stdout, same.stdout)
        changed = run(*rows, slower, late, unknown)
        check(changed.returncode == 1, "its code if rows have moved")
        check("4 rows, 1 moved, 1 fail, 1 take too long" in changed.stdout, changed.stdout)
        check("oktopk, P = 8" in changed.stdout and "(+100.00%)" in changed.stdout, changed.stdout)
        check("1 fail: " in changed.stdout and "no_scheme" in changed.stdout, changed.stdout)
        missing = subprocess.run([sys.executable, tool, "--build", "/nowhere"], capture_output=True,
                                 text=True)
        check(missing.returncode == 1 and "is missing" in missing.stderr, "a build that is not there")


if __name__ == "__main__":
    main()
