#!/usr/bin/env python3
"""Each thing that tools/lint-docs holds of a page is found: lint_docs.py TOOLS."""
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(sys.argv[1]).resolve()
HEADING = "# A page\n\n"


def complaint(text, name="docs/page.md"):
    """What lint-docs says of a page with this text, beside a page other.md with one heading."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, name)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        page.with_name("other.md").write_text("# Its heading: `a` or *b*\n", encoding="utf-8")
        ran = subprocess.run([sys.executable, TOOLS / "lint-docs", name], cwd=folder, capture_output=True, text=True)
        return ran.stderr if ran.returncode == 1 else ran.stdout


def check(text, *wanted, name="docs/page.md"):
    got = complaint(text, name)
    if any(part not in got for part in wanted) or (not wanted and got):
        sys.exit(f"expected {wanted}, got '{got}'")


SHORT = "This is a sentence. "
check(HEADING + SHORT)
check(HEADING + "x" * 101, "page.md:3: 101 characters")
check(HEADING + "```\n" + "x" * 101 + "\n```\n")
check(HEADING + "[a](other.md#its-heading-a-or-b) and [b](other.md), [c](https://example.org/x)\n")
check(HEADING + "[a](none.md)", "leads to no file")
check(HEADING + "[a](other.md#none)", "leads to no heading of other.md")
check(HEADING + "[a](#a-page)\n")
check(HEADING + "Word and word.\n" * 834, "2504 words, the limit is 2500")
check("<!-- Made by: us -->\n" + HEADING + "Word and word.\n" * 834)
check(HEADING + "<!-- t a: begin -->\n" + "Word and word.\n" * 834 + "<!-- t a: end -->\n")
check(HEADING + "Word and word.\n" * 200, "602 words, the limit is 600", name="docs/decisions/page.md")
LONG = "\n".join(["and so on and on"] * 5)  # 25 words
check(HEADING + LONG + ".\n", "25.0 words a sentence in the mean")
check(HEADING + LONG + ".\n\n- " + SHORT * 2 + "\n")
check(HEADING + (SHORT + "\n") * 99 + "It is that of another.\n")
check(HEADING + (SHORT + "\n") * 50 + "It is that of another.\n", "1 of 51 sentences", "  docs/page.md: It is that of another.")
check("a\n" * 61, "61 lines, the limit is 60", name="README.md")
