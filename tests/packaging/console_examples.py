#!/usr/bin/env python3
"""Runs the commands of a page's ```console blocks, and compares what they print with what is there.

console_examples.py PAGE.md: in the current folder, one after another. Lines that begin with '$ ' are
commands, and after them those with '> ' their further lines; the others are what they print on stdout
and stderr. A line '...' stands for any number of
lines, and '...' inside of one for any text.
"""
import re
import subprocess
import sys


def examples(text):
    """(line, command, expected lines) of all blocks."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside and found and not found[-1][2] and line.startswith("> "):
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
        elif inside and found:
            found[-1][2].append(line)
    return found


def pattern(lines):
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*?".join(re.escape(text) for text in line.rstrip().split("...")) + r"[ ]*\n")
    return "".join(parts)


def main():
    page = sys.argv[1]
    with open(page, encoding="utf-8") as file:
        commands = examples(file.read())
    if not commands:
        sys.exit(f"{page}: no ```console block")
    for number, command, expected in commands:
        ended = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = ended.stdout + ("" if not ended.stdout or ended.stdout.endswith("\n") else "\n")
        if not re.fullmatch(pattern(expected), printed):
            sys.exit(f"{page}:{number}: '{command}' (exit code {ended.returncode}) prints\n{printed}")


main()
