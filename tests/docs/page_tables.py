#!/usr/bin/env python3
"""The tables of the notes are made of the committed rows, and a wrong one is found: page_tables.py PAGE_TABLES RESULTS."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

program, results = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []


def run(*arguments):
    return subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, check=False)


def check(right, what):
    if not right:
        failures.append(what)


committed = run("check")
check(committed.returncode == 0, committed.stdout + committed.stderr)
with tempfile.TemporaryDirectory() as folder:
    pages = pathlib.Path(folder)
    for name in ("beyond", "congestion"):
        (pages / "results" / name).mkdir(parents=True)
        shutil.copy(results / name / "NOTES.md", pages / "results" / name)
    page = pages / "results/beyond/NOTES.md"
    text = page.read_text(encoding="utf-8")
    begin = "<!-- tools/page_tables aries bert: begin -->\n"
    page.write_text(text.replace(begin, begin + "| 1 | 2 |\n"), encoding="utf-8")
    stale = run("check", "--pages", folder)
    check(stale.returncode == 1 and stale.stdout.count("\n") == 1 and "'aries bert'" in stale.stdout, stale.stdout)
    check(run("--pages", folder).returncode == 0 and page.read_text(encoding="utf-8") == text, "the table is not made again")
    page.write_text(text.replace(begin, ""), encoding="utf-8")
    broken = run("check", "--pages", folder)
    check(broken.returncode == 2 and "once each" in broken.stderr, broken.stderr)
    page.unlink()
    missing = run("check", "--pages", folder)
    check(missing.returncode == 2 and "no such file" in missing.stderr, missing.stderr)
    # Rows that are cut off, or none: in a tree of their own.
    tree = pages / "tree"
    (tree / "tools").mkdir(parents=True)
    for file in (program, pathlib.Path(program).with_name("page_parts.py")):
        shutil.copy(file, tree / "tools")
    shutil.copytree(results / "beyond", tree / "results/beyond")
    rows = tree / "results/beyond/fat_tree.jsonl"
    for text, said in ((rows.read_text(encoding="utf-8")[:-9], "line 96"), ("", "no row is one of the table's")):
        rows.write_text(text, encoding="utf-8")
        own = subprocess.run([sys.executable, str(tree / "tools/page_tables"), "check", "--pages", str(results.parent)],
                             capture_output=True, text=True, check=False)
        check(own.returncode == 2 and said in own.stderr, own.stdout + own.stderr)

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
