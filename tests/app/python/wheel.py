#!/usr/bin/env python3
"""Makes the wheel of a build, installs it into a virtual environment, and uses it: wheel.py BUILD SOURCE."""
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:])
CODE = """
import thinwire
assert thinwire.__file__.startswith({environment!r}), thinwire.__file__
frame = thinwire.run(scheme="dense_ring", ranks=4, components=1000, network="links", platform="fat_tree")
assert list(frame.verdict), frame
assert "fat_tree" in thinwire.platforms()
print(thinwire.__version__)
"""


def call(*words, **more):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if ended.returncode != 0:
        sys.exit(f"{words}: {ended.stdout}{ended.stderr}")
    return ended.stdout.strip()


with tempfile.TemporaryDirectory() as name:
    os.environ.pop("PYTHONPATH", None)
    wheel = call(os.path.join(SOURCE, "tools/python_wheel"), BUILD, name)
    environment = os.path.join(name, "env")
    call(sys.executable, "-m", "venv", "--system-site-packages", environment)
    call(f"{environment}/bin/pip", "install", "--no-index", "--no-deps", "--quiet", wheel)
    # From another folder, without what the build and the source have beside them.
    version = call(f"{environment}/bin/python", "-c", CODE.format(environment=environment), cwd=name)
    program = f"{environment}/bin/thinwire"
    assert call(program, "--version", cwd=name) == version
    assert "fat_tree" in call(program, "list", "platforms", cwd=name)
    print(pathlib.Path(wheel).name)
