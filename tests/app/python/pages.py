#!/usr/bin/env python3
"""Runs the Python blocks of pages, each page in an empty folder: pages.py THINWIRE PAGE...

A line that ends in '# NAME: text' has to raise an exception of this name and text. Blocks that need
other machines (dask) or are no program ('...') are left out. The folder holds cluster.xml, which the first tutorial makes.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("MPLBACKEND", "agg")
RAISES = re.compile(r"^(.*?) +# ([A-Za-z]*Error): (.*)$", re.MULTILINE)
CLUSTER = "children=16,2 oversubscription=4 bandwidth=25Gbps latency=1us gap=0.5us -o cluster.xml"


def run_raising(line, name, text, names):
    try:
        exec(line, names)
    except Exception as error:  # The name is compared below.
        if type(error).__name__ != name or text not in str(error):
            sys.exit(f"{line}: expected {name}: {text}, got {type(error).__name__}: {error}")
        return
    sys.exit(f"{line}: raises nothing, expected {name}")


count = 0
for page in map(pathlib.Path, sys.argv[2:]):
    names = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([sys.argv[1], "topo", "make", "fat_tree", *CLUSTER.split()], check=True)
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            if "dask" in block or re.search(r"^\.\.\.$", block, re.MULTILINE):
                continue
            count += 1
            exec(compile(RAISES.sub("", block), str(page), "exec"), names)
            for line, name, text in RAISES.findall(block):
                run_raising(line, name, text, names)
        os.chdir("/")
print(f"{count} blocks")
sys.exit(0 if count else 1)
