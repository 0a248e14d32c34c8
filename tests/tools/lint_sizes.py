#!/usr/bin/env python3
"""Long functions and classes are found, and tables are none: lint_sizes.py TOOLS."""
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(sys.argv[1])


def complaint(name, text):
    """What lint-sizes says of a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, name)
        file.write_text(text, encoding="utf-8")
        ran = subprocess.run([TOOLS / "lint-sizes", file], capture_output=True, text=True)
        return ran.stdout.replace(str(file), name) if ran.returncode == 1 else ""


def function(lines, first):
    return "\n".join(["int f(int a) {", first, *["  g();"] * (lines - 3), "}", ""])


def check(got, wanted):
    if got != wanted:
        sys.exit(f"expected '{wanted}', got '{got}'")


LONG = "a.cpp:1: f has 61 lines, the limit of a function is 60\n"
check(complaint("a.cpp", function(60, "  if (a) return 1;")), "")
check(complaint("a.cpp", function(61, "  if (a) return 1;")), LONG)
check(complaint("a.cpp", function(61, "  h(a ? 1 : 2);")), LONG)
check(complaint("a.cpp", function(61, '  h("if not?");  // or while')), "")
MEMBERS = ["  int a;"] * 398
check(complaint("a.cpp", "\n".join(["class C {", *MEMBERS, "};", ""])), "")
check(complaint("a.cpp", "\n".join(["class C {", *MEMBERS, "  int b;", "};", ""])),
      "a.cpp:1: C has 401 lines, the limit of a class is 400\n")
