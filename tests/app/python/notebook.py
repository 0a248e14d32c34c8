#!/usr/bin/env python3
"""Executes a notebook: notebook.py NOTEBOOK. Fails where a cell does."""
import sys
import tempfile

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
with tempfile.TemporaryDirectory() as folder:
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": folder}}).execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
printed = [output for cell in code for output in cell.outputs]
errors = [output for output in printed if output.output_type == "error"]
if not printed or errors:
    sys.exit(f"notebook: {len(printed)} outputs, errors: {errors}")
print(f"{len(code)} cells, {len(printed)} outputs")
