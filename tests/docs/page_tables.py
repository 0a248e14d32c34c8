#!/usr/bin/env python3
"""The tables of the pages are those of the committed rows, and a wrong one is found: page_tables.py PAGE_TABLES DOCS."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

program, docs = sys.argv[1], pathlib.Path(sys.argv[2])
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
    (pages / "docs").mkdir()
    for name in ("beyond.md", "congestion-at-scale.md"):
        shutil.copy(docs / name, pages / "docs")
    page = pages / "docs/beyond.md"
    text = page.read_text(encoding="utf-8")
    begin = "<!-- tools/page_tables aries bert: begin -->\n"
    page.write_text(text.replace(begin, begin + "| 1 | 2 |\n"), encoding="utf-8")
    stale = run("check", "--pages", folder)
    check(stale.returncode == 1 and stale.stdout.count("\n") == 1 and "'aries bert'" in stale.stdout, stale.stdout)
    check(run("--pages", folder).returncode == 0 and page.read_text(encoding="utf-8") == text, "the table is not made again")
    page.write_text(text.replace(begin, ""), encoding="utf-8")
    broken = run("check", "--pages", folder)
    check(broken.returncode == 2 and "once each" in broken.stderr, broken.stderr)

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
