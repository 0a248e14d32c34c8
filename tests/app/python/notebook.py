#!/usr/bin/env python3
"""Executes a notebook: notebook.py NOTEBOOK [--write]. Fails where a cell does, or where the outputs that
are committed with it are not those; with --write they are written into it.

Of outputs, texts and drawings are compared; a table's HTML says the same as its text.
"""
import sys
import tempfile

import nbclient
import nbformat


def outputs_of(notebook):
    """What a reader sees of each cell, without what differs between machines."""
    def plain(output):
        data = output.get("data", {})
        kept = {kind: data[kind] for kind in ("text/plain", "image/svg+xml") if kind in data}
        return {"type": output.output_type, "text": output.get("text", ""), "data": kept}
    return [[plain(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


notebook = nbformat.read(sys.argv[1], as_version=4)
before = outputs_of(notebook)
with tempfile.TemporaryDirectory() as folder:
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": folder}}).execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
for cell in code:  # without bars of progress, and notes
    cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
printed = [output for cell in code for output in cell.outputs]
errors = [output for output in printed if output.output_type == "error"]
if not printed or errors:
    sys.exit(f"notebook: {len(printed)} outputs, errors: {errors}")
if "--write" in sys.argv:
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, sys.argv[1])
elif outputs_of(notebook) != before:
    differing = [number for number, (was, now) in enumerate(zip(before, outputs_of(notebook))) if was != now]
    sys.exit(f"notebook: the committed outputs of the code cells {differing} are not what they print; "
             "write them anew with --write")
print(f"{len(code)} cells, {len(printed)} outputs")
