#!/usr/bin/env python3
"""The commands that pages show without running them have options and names that exist.

tests/docs/check_commands.py THINWIRE SOURCE

Reads README.md, CONTRIBUTING.md and every page of docs/ and results/. A command is a line of a block without a
language that begins with 'thinwire', 'mpirun ... thinwire' or 'tools/'. run_examples.py runs the console blocks.
"""
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

THINWIRE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
LISTS = {"--scheme": "schemes", "--schemes": "schemes", "--platform": "platforms", "--model": "models",
         "--device": "devices", "--network": "networks", "--profile": "profiles", "--trace": "traces"}
COMMAND = re.compile(r"^(?:mpirun .*?)?thinwire (?P<thinwire>.*)$|^(?P<tool>tools/\S+)")
NAME = re.compile(r"[a-z]\w*")


def lines_of(text):
    """The lines in the blocks of a page that name no language."""
    for block in re.findall(r"^ *```\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            yield line.strip()


@functools.cache
def help_of(*command):
    """The help of a command with all its options."""
    for flag in ("--help-all", "--help"):
        ran = subprocess.run([THINWIRE, *command, flag], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return ran.stdout
    return ""


def subcommands_of(*command):
    _, _, listed = help_of(*command).partition("\nSubcommands:\n")
    return re.findall(r"^  ([a-z][a-z_-]*)  ", listed, re.MULTILINE)


@functools.cache
def names_of(what):
    ran = subprocess.run([THINWIRE, "list", what, "--format", "json"], capture_output=True, text=True, check=True)
    rows = json.loads(ran.stdout)
    return {row.get("name", row.get("scheme", row.get("platform"))) for row in rows}


def problems_of(line):
    """What does not exist of a command line."""
    words = shlex.split(line, comments=True)
    ends = [i for i, word in enumerate(words) if word in (";", "|", ">", "&&", "&", "<", ">>")]
    words = words[:ends[0]] if ends else words
    path = []
    words = words[1:] if words[:1] == ["help"] else words
    while len(path) < len(words) and words[len(path)] in subcommands_of(*path):
        path.append(words[len(path)])
    if not path:
        return [] if words and words[0].startswith("-") else [f"there is no command {words[:1]}"]
    found = []
    rest = words[len(path):]
    for word, value in zip(rest, [*rest[1:], ""]):
        flag = word.split("=")[0]
        if not re.fullmatch(r"--[a-z][a-z-]*|-[A-Za-z]", flag):
            continue
        if not re.search(re.escape(flag) + r"(?![a-z-])", help_of(*path)):
            found.append(f"'{' '.join(path)}' has no {flag}")
        for name in value.split(",") if flag in LISTS else []:
            part = name.split("+")[0]
            if NAME.fullmatch(part) and part not in names_of(LISTS[flag]):
                found.append(f"there is no {part} in 'list {LISTS[flag]}'")
    return found


def main():
    count, failures = 0, []
    pages = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *SOURCE.glob("docs/**/*.md"), *SOURCE.glob("results/*/*.md")]
    for page in pages:
        for line in lines_of(page.read_text(encoding="utf-8")):
            command = COMMAND.match(line)
            if not command:
                continue
            count += 1
            if command["thinwire"]:
                problems = problems_of(command["thinwire"])
            else:
                problems = [] if (SOURCE / command["tool"]).exists() else ["there is no such file"]
            failures += [f"{page.relative_to(SOURCE)}: {line}: {problem}" for problem in problems]
    print("\n".join(failures))
    print(f"{count} commands, {len(failures)} failures")
    sys.exit(1 if failures or count < 50 else 0)


if __name__ == "__main__":
    main()
