#!/usr/bin/env python3
"""Runs the examples of pages and compares what they print.

tests/docs/run_examples.py [--update] [--in FOLDER] THINWIRE SOURCE PAGE...

An example is a block that begins with ```console: lines that begin with '$ ' are commands (continued
where they end in a backslash, with a here document after them where they have one), and what follows is what they print, on both streams. A line '...' stands for any
lines, '...' within a line for any text; a line that begins with '#' is a remark. Examples of one page run one after
the other in an empty folder (or FOLDER); thinwire is on the PATH, and $THINWIRE is the source tree. A command fails unless it
exits with 0 or ends in '; echo $?'. With commands.md, its folder and those beside it have to show
every command that 'thinwire --help' names. --update writes what was printed into the page, but for examples that have '...' in them.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks_of(lines):
    """(first, last) of the lines inside each console block."""
    start = None
    for number, line in enumerate(lines):
        if start is None and line.strip() == "```console":
            start = number + 1
        elif start is not None and line.strip() == "```":
            yield start, number
            start = None


def examples_of(lines):
    """[command, expected lines, (begin, end) of those] of each example."""
    examples = []
    for first, last in blocks_of(lines):
        number = first
        while number < last:
            line = lines[number]
            if not line.startswith("$ "):
                if examples and not line.startswith("#"):
                    examples[-1][1].append(line)
                    examples[-1][2] = (examples[-1][2][0], number + 1)
                number += 1
                continue
            command = line[2:]
            while command.endswith("\\"):
                number += 1
                command = command[:-1] + lines[number].strip()
            number += 1
            here = re.search(r"<<'(\w+)'", command)
            if here:
                end = lines.index(here.group(1), number) + 1
                command += "\n" + "\n".join(lines[number:end])
                number = end
            examples.append([command, [], (number, number)])
    return examples


def matches(expected, printed):
    """Whether the lines are those that are expected."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    text = "".join(line.rstrip() + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def commands_of(thinwire, path=()):
    """Every command and subcommand, as its --help names them."""
    text = subprocess.run([thinwire, *path, "--help"], capture_output=True, text=True, check=True).stdout
    if "\nSubcommands:\n" not in text:
        return [path]
    names = re.findall(r"^  ([a-z][a-z-]*)  ", text.split("\nSubcommands:\n")[1], re.M)
    return [command for name in names for command in commands_of(thinwire, (*path, name))]


def check_page(page, thinwire, source, update, folder):
    """Runs the page's examples in a folder; gives the number of failures."""
    lines = page.read_text(encoding="utf-8").split("\n")
    examples = examples_of(lines)
    failures = 0
    changes = []
    environment = {**os.environ, "THINWIRE": str(source), "COLUMNS": "100",
                   "HOME": folder, "PATH": f"{thinwire.parent}:{os.environ['PATH']}"}
    for command, expected, (begin, end) in examples:
        ended = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, check=False,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = ended.stdout.split("\n")[:-1] if ended.stdout.endswith("\n") else ended.stdout.split("\n")
        printed = [] if ended.stdout == "" else printed
        announced = command.rstrip().endswith("; echo $?")
        if update and not any("..." in line for line in expected):
            changes.append((begin, end, printed))
        elif not matches(expected, printed):
            failures += 1
            print(f"{page}:{begin}: $ {command}\nexpected:\n  " + "\n  ".join(expected) +
                  "\nprinted:\n  " + "\n  ".join(printed))
            continue
        if ended.returncode != 0 and not announced:
            failures += 1
            print(f"{page}:{begin}: $ {command}\nexit code {ended.returncode}:\n" + ended.stdout)
    for begin, end, printed in reversed(changes):
        lines[begin:end] = printed
    if changes:
        page.write_text("\n".join(lines), encoding="utf-8")
    if page.name == "commands.md":
        shown = [example[0] for other in page.parent.parent.glob("*/*.md")
                 for example in examples_of(other.read_text(encoding="utf-8").split("\n"))]
        for command in commands_of(thinwire):
            call = " ".join(["thinwire", *command])
            if not any(re.search(re.escape(call) + r"\b", example) for example in shown):
                failures += 1
                print(f"no page has an example of '{call}'")
    print(f"{page.name}: {len(examples)} examples, {failures} failures")
    return failures + (0 if examples else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--in", dest="folder")
    parser.add_argument("thinwire", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    given = parser.parse_args()
    failures = 0
    for page in given.pages:
        with tempfile.TemporaryDirectory() as scratch:
            failures += check_page(page, given.thinwire.resolve(), given.source.resolve(), given.update,
                                   given.folder or scratch)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
