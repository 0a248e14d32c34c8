"""Commands of the program, in the words of Python, and what they draw."""
import json as _json
import os as _os
import tempfile as _tempfile

import pandas as _pandas

from . import _thinwire
from ._thinwire import InputError, SimulationError


def words_of(arguments, options):
    """The words of a command line: racks=2, export="dot", force=True are --racks 2 --export dot --force."""
    words = [_os.fspath(word) if hasattr(word, "__fspath__") else str(word) for word in arguments]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}"
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            for one in value:
                words += [flag, str(one)]
        else:
            words += [flag, _os.fspath(value) if hasattr(value, "__fspath__") else str(value)]
    return words


def printed(arguments, options=None):
    """What a command prints, as bytes, and the notes that it says beside. Raises the errors of the package."""
    done = _thinwire.command(words_of(arguments, options or {}))
    if done.exit_code != 0:
        lines = [line.removeprefix("thinwire: ") for line in done.err.strip().splitlines()]
        text = "\n".join(lines) or done.out.decode("utf-8", "replace").strip()
        error = InputError if done.exit_code == 2 else KeyboardInterrupt if done.exit_code == 130 else SimulationError
        raise error(text or f"ended with the exit code {done.exit_code}")
    return done.out, done.err


def records_of(arguments, options):
    """The data frame of a command that prints JSON lines, as format="jsonl" asks for; else its text."""
    text = printed(arguments, options)[0].decode("utf-8")
    if options.get("format") != "jsonl":
        return text
    return _pandas.DataFrame([_json.loads(line) for line in text.splitlines()])


class Drawn:
    """A figure or a page of results, which is drawn again for each file that it is saved to."""

    def __init__(self, files, options, rows=None):
        self._files = files
        self._options = options
        self._rows = rows  # instead of files: of a frame

    def _draw(self, **more):
        options = {**self._options, **more}
        if self._rows is None:
            return printed(["report", *self._files], options)[0]
        with _tempfile.TemporaryDirectory() as folder:
            file = _os.path.join(folder, "results.jsonl")
            self._rows.write(file)
            return printed(["report", file], options)[0]

    def save(self, path):
        """Writes it to a file, in the format of its name."""
        self._draw(output=_os.path.abspath(_os.fspath(path)))
        return path


class Figure(Drawn):
    """A figure, which a notebook shows as SVG. `save("time.pdf")` writes it as .svg, .png, .pdf or .py."""

    def __init__(self, files, options, rows=None):
        super().__init__(files, options, rows)
        self.svg = self._draw(format="svg").decode("utf-8")

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<thinwire.Figure {self._options['figure']}; a notebook shows it, save(\"figure.pdf\") writes it>"


class Page(Drawn):
    """The page of all figures, which a notebook shows. `save("report.html")` writes it."""

    def __init__(self, files, options, rows=None):
        super().__init__(files, options, rows)
        self.html = self._draw(format="html").decode("utf-8")

    def _repr_html_(self):
        escaped = self.html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{escaped}" width="100%" height="700" style="border:0" sandbox="allow-scripts"></iframe>'

    def __repr__(self):
        return '<thinwire.Page; a notebook shows it, save("report.html") writes it>'
