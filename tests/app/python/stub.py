#!/usr/bin/env python3
"""Tests of the type stub by mypy: PYTHONPATH names the package's folder."""
import os
import pathlib
import subprocess
import sys
import tempfile

# What a program may write, and a line that mypy has to refuse for each function.
RIGHT = """
import concurrent.futures
import pathlib
import thinwire

frame = thinwire.run("point.json", scheme=["oktopk", "topka"], ranks=64, machine={"alpha_s": 2e-6},
                     table="phases", output=pathlib.Path("rows.jsonl"), memory_limit_mib=100)
frame = thinwire.sweep({"name": "mine"}, jobs=2, progress=lambda done, total, left_s: print(done))
frame = thinwire.load(["a.jsonl", pathlib.Path("b.jsonl")], where={"ranks": [2, 4]})
frame = thinwire.compare("new.jsonl", baseline="old.jsonl", tolerance=0.01)
frame = thinwire.compare("new.jsonl", group_by=["scheme", "ranks"])
advice = thinwire.recommend("bert", schemes=["topka"], crossovers=False, ranks=8)
best: str = advice.answer
slower = advice.slower.scheme
everything: thinwire.Results = frame.full()
figure: thinwire.Figure = thinwire.figure(frame, "crossover", width="85mm", panels_per_row=2)
file: str = figure.save("time.pdf")
thinwire.report(["a.jsonl"], where={"ranks": 4}).save(pathlib.Path("report.html"))
shown = thinwire.topo("show", "fat_tree"), thinwire.command("list", "schemes", format="json")
with concurrent.futures.ProcessPoolExecutor(2) as executor:
    frame = thinwire.sweep("mine.json", executor=executor, progress=False)
both = advice.candidates, thinwire.settings()
names: list[str] = thinwire.schemes() + thinwire.platforms() + [thinwire.__version__]
try:
    thinwire.run()
except thinwire.SimulationError as error:
    print(error.results)
except thinwire.InputError as error:
    raise ValueError(error) from error
"""
WRONG = ["thinwire.run(table=3)", "thinwire.sweep()", "thinwire.sweep('a', progress=lambda done: None)",
         "thinwire.load(3)", "thinwire.compare('a', tolerance='1%')", "thinwire.recommend()",
         "thinwire.recommend('bert').candidate", "number: int = thinwire.__version__", "thinwire.plot()",
         "thinwire.figure('a').save(3)", "thinwire.sweep('a', executor=2)"]


def mypy(module, *arguments):
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


with tempfile.TemporaryDirectory() as name:
    os.chdir(name)
    os.environ["MYPYPATH"] = os.environ["PYTHONPATH"]
    # Debian's pandas has no stubs.
    pathlib.Path("mypy.ini").write_text("[mypy]\nignore_missing_imports = True\nstrict = True\n")
    pathlib.Path("right.py").write_text(RIGHT)
    pathlib.Path("wrong.py").write_text("import thinwire\n" + "\n".join(WRONG) + "\n")
    code, text = mypy("mypy", "right.py")
    if code != 0:
        sys.exit(f"a right program is refused: {text}")
    code, text = mypy("mypy", "wrong.py")
    for line, wrong in enumerate(WRONG, 2):
        if f"wrong.py:{line}: error" not in text:
            sys.exit(f"not refused: {wrong}\n{text}")
    # The stub and the package have the same names and parameters.
    code, text = mypy("mypy.stubtest", "thinwire", "--mypy-config-file", "mypy.ini", "--ignore-missing-stub")
    if code != 0:
        sys.exit(f"the stub is not as the package: {text}")
print(f"{len(WRONG)} mistakes found")
