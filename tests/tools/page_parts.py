#!/usr/bin/env python3
"""The parts of pages that tools make are replaced, and nothing else is: page_parts.py TOOLS."""
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

from page_parts import NoPart, with_part  # noqa: E402

BEGIN, END = "<!-- tools/a one: begin -->\n", "<!-- tools/a one: end -->\n"
PAGE = f"# Page\n{BEGIN}old\nlines\n{END}<!-- tools/a two: begin -->\n<!-- tools/a two: end -->\nrest\n"


def check(holds, what):
    if not holds:
        sys.exit(what)


for part in ("new", "new\n"):
    check(with_part(PAGE, "tools/a one", part) == PAGE.replace("old\nlines\n", "new\n"), "a part is not replaced")
check(with_part(PAGE, "tools/a two", "new") == PAGE.replace("two: begin -->\n", "two: begin -->\nnew\n"),
      "an empty part is not replaced")
for text in (PAGE.replace(BEGIN, ""), PAGE.replace(END, ""), PAGE + BEGIN, PAGE + END, f"{END}{BEGIN}"):
    try:
        with_part(text, "tools/a one", "new")
    except NoPart as error:
        check(str(error) == f"expected the lines '{BEGIN.strip()}' and '{END.strip()}' once each, in this order",
              str(error))
    else:
        sys.exit(f"a page without its lines is accepted: {text}")
