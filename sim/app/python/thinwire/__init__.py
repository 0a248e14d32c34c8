"""Simulates allreduces, as the program thinwire does, and returns pandas data frames.

    import thinwire
    frame = thinwire.run(scheme=["oktopk", "topka"], ranks=[64, 256], density=0.01)

A frame has few columns: what was simulated, its mean time, the paper's formula, the ratio of `time_s` to it,
and the verdict.
`frame.full()` has all of them. `thinwire.figure(frame)` draws it. Commands of the program that are no
functions here are `thinwire.command("claims", "oktopk.bert")`.

docs/reference/columns.md lists the columns; names of measured columns end in their unit: `_s`
(seconds), `_bytes`, `_s_per_word` (seconds per word of 4 bytes), `_bytes_per_s`. `thinwire.settings()`
lists the settings: a setting "machine.alpha_s" is given as `machine={"alpha_s": 2e-6}`, and numbers
may be texts as in the command line, "25.5M" or "2us".

Errors: InputError (a ValueError) for input that cannot be run, SimulationError (a RuntimeError) for a
simulation that failed; their text is the same as on the command line. Simulations run in processes of their
own, outside the interpreter's lock. Handlers of signals run meanwhile; the exception of one, as the
KeyboardInterrupt of Ctrl-C, ends the simulations.
"""
import functools as _functools
import glob as _glob
import itertools as _itertools
import json as _json
import math as _math
import os as _os
import re as _re
import sys as _sys
import warnings as _warnings
from collections import namedtuple as _namedtuple
from collections.abc import Mapping as _Mapping

try:
    import pandas as _pandas
except ModuleNotFoundError as _error:
    if _error.name != "pandas":
        raise
    raise ModuleNotFoundError(
        f"thinwire needs pandas, which {_sys.executable} does not have. Debian: apt-get install python3-pandas, for "
        f"/usr/bin/python3. Elsewhere: {_sys.executable} -m pip install pandas", name="pandas") from None

# SimGrid's ns-3 reads its settings when its library is loaded: packets need buffers for a whole message.
_PACKET_BUFFERS = "ns3::TcpSocket::SndBufSize=1000000000;ns3::TcpSocket::RcvBufSize=1000000000"
if _PACKET_BUFFERS not in _os.environ.get("NS_ATTRIBUTE_DEFAULT", ""):
    _os.environ["NS_ATTRIBUTE_DEFAULT"] = ";".join(
        part for part in (_os.environ.get("NS_ATTRIBUTE_DEFAULT"), _PACKET_BUFFERS) if part)


def _other_python():
    """Why there is no compiled part for this Python; empty if there is one, which failed for another reason."""
    here = _os.path.dirname(_os.path.abspath(__file__))
    found = [_os.path.basename(path) for path in _glob.glob(_os.path.join(_glob.escape(here), "_thinwire.*.so"))]
    own = f"cpython-{_sys.version_info.major}{_sys.version_info.minor}-"
    if not found or any(own in name for name in found):
        return ""
    built = ", ".join(sorted({name.split("-")[1] for name in found if name.count("-") > 1}))
    built = f"CPython {built[0]}.{built[1:]}" if built.isdigit() else found[0]
    return (f"thinwire is built for {built}, and this is Python {_sys.version_info.major}.{_sys.version_info.minor}; "
            f"start that one, or build with -DPython_EXECUTABLE={_sys.executable}")


try:
    from . import _thinwire
except ImportError as _error:
    if not _other_python():
        raise
    raise ImportError(_other_python()) from None
from ._thinwire import InputError, SimulationError

from . import _commands, _spread
from ._commands import Figure, Page

for _one in (InputError, SimulationError):
    _one.__module__ = __name__

__all__ = ["Figure", "InputError", "Page", "Recommendation", "Results", "SimulationError", "command", "compare",
           "figure", "fit", "load", "platforms", "recommend", "report", "run", "schemes", "settings", "sweep", "topo"]
__version__ = _thinwire.version()

# By table: its name in a result, and its columns.
_OF_ROW = ["key", "scheme", "ranks"]
_DETAILS = {
    "phases": ("phases", ["name", "time_s_max", "words_received_max", "messages_received_max", *_OF_ROW]),
    "links": ("links", ["name", "bandwidth_bytes_per_s", "bytes", "utilisation_mean", "utilisation_peak",
                        *_OF_ROW]),
    "ranks": ("by_rank", ["rank", "phase", "time_s", "words_sent", "words_received", "messages_sent",
                          "messages_received", *_OF_ROW])}
_SLOWER = ["schema", "kind", "scheme", "over_s"]
_FORECAST = ["schema", "kind", "scheme", "iteration_s"]
_CROSSOVERS = ["schema", "kind", "along", "towards", "at", "scheme", "gain", "looked_to", "ended"]
# Columns of texts that may be null in all rows.
_TEXTS = {"platform", "placement", "reason", "reported", "reported_in", "scheme", "ended"}

Recommendation = _namedtuple("Recommendation",
                             ["candidates", "crossovers", "assumptions", "slower", "forecast", "answer"])
Recommendation.__doc__ = """Data frames: the candidates, the fastest first; where the ranking changes; what it
rests on, and which candidates were left out; slower ones, whose simulations ended early; what the formulas
told before. And the answer in one sentence."""


# The first columns of a full frame; the last ones say where a result comes from.
_FIRST = ["scheme", "network", "platform", "ranks", "components", "k", "time_mean_s", "time_s", "formula_low_s",
          "formula_high_s", "ratio_low", "ratio_high", "verdict", "status", "reason"]
_LAST = ["schema", "key", "sweep", "version", "wall_s", "peak_rss_bytes"]
# Of a short frame; between them stand the settings in which its rows differ.
_SHORT = ["scheme", "ranks"]
_SHORT_RESULT = ["time_mean_s", "paper_low_s", "paper_high_s", "ratio_low", "ratio_high", "verdict"]


class Results(_pandas.DataFrame):
    """A data frame of results with few columns. `full()` has all, which are also there by their names."""

    _metadata = ["_all", "_rows"]
    _all = None  # the full frame
    _rows = None  # the compiled part's, by the index of the full frame

    @property
    def _constructor(self):
        return Results

    def __repr__(self):
        """A few columns are printed whole, whatever the width."""
        if len(self.columns) > 14:
            return super().__repr__()
        return _pandas.DataFrame(self).to_string(max_rows=20)

    def full(self):
        """These rows with all columns."""
        if self._all is None:
            return self
        same = self.index.isin(self._all.index).all() and all(
            self[name].equals(self._all.loc[self.index, name]) for name in _SHORT if name in self.columns)
        if not same:
            raise InputError("full: the rows have another index than run, sweep or load gave them; take full() before")
        return self._all.loc[self.index]

    def __getitem__(self, key):
        wanted = key if isinstance(key, list) else [key] if isinstance(key, str) else []
        if self._all is not None and any(isinstance(name, str) and name not in self.columns for name in wanted):
            if all(name in self._all.columns for name in wanted):
                return self.full()[key]
        return super().__getitem__(key)

    def __getattr__(self, name):
        everything = None if name.startswith("_") else object.__getattribute__(self, "_all")
        if everything is not None and name in everything.columns and name not in self.columns:
            return self.full()[name]
        return super().__getattr__(name)


def _short_of(frame):
    """The columns of a full frame that a person asks for first."""
    if "time_mean_s" not in frame or frame.empty:
        return list(frame.columns)
    groups = frame.astype({"scheme": str}).groupby("scheme")

    def differs(name):
        """Whether the rows of a scheme differ in it; schemes have defaults of their own."""
        return any(group[name].astype(str).nunique() > 1 for _, group in groups)
    settings_of_rows = [name for name in frame if name in _names_of_settings() or name.startswith("options.")]
    names = [*_SHORT, *(name for name in settings_of_rows if name not in _SHORT and differs(name)), *_SHORT_RESULT]
    if not (frame["status"] == "ok").all():
        names += ["status", "reason"]
    return [name for name in names if name in frame]


@_functools.lru_cache(maxsize=None)
def _names_of_settings():
    """k is another form of the density."""
    return frozenset(settings()["setting"]) - {"k"}


@_functools.lru_cache(maxsize=None)
def _names_of_flags():
    """By flag of the command line, the argument or the setting that it gives."""
    return {**_thinwire.flags(), "--where": "where", "--group-by": "group_by", "--tolerance": "tolerance",
            "--output": "output", "-o": "output", "--force": "force", "--jobs": "jobs", "-j": "jobs",
            "--time-limit": "time_limit_s", "--memory-limit": "memory_limit_mib", "--schemes": "schemes",
            "--baseline": "baseline", "--most-ranks": "most_ranks", "--density-of": "density_of",
            "--state-bytes": "state_bytes", "--fast": "crossovers=False"}


def _in_pythons_words(text):
    """A text of the command line, which names flags, as Python's caller knows them."""
    text = _re.sub(r"(?<![\w-])--set (?=\w)", "", text)
    return _re.sub(r"(?<![\w-])--?[A-Za-z][\w-]*", lambda flag: _names_of_flags().get(flag[0], flag[0]), text)


def _public(function):
    """Errors of a function of this module in one line, and in the words of its caller."""
    @_functools.wraps(function)
    def called(*arguments, **named):
        try:
            return function(*arguments, **named)
        except (InputError, SimulationError) as error:
            text = _in_pythons_words(str(error))
            if text == str(error):
                raise
            again = type(error)(text)
            again.__dict__.update(error.__dict__)
            raise again from None
    return called


def _whole_number(name, value, least):
    """A whole number from `least`, also as a float or NumPy's."""
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    if isinstance(plain, bool) or not isinstance(plain, int) or not least <= plain < 2**31:
        raise InputError(f"{name}: expected a number from {least}, not {_shown(value)}")
    return plain


def _switch(name, value):
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return bool(value)
    raise InputError(f"{name}: expected True or False, not {_shown(value)}")


def _shown(value):
    """What a message repeats of a value, on one line."""
    try:
        return " ".join(repr(value)[:200].split())[:60]
    except Exception:  # pylint: disable=broad-except
        return _kind(value)


def _text(name, value):
    """A text that the compiled part takes."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{name}: {_shown(value)} is no UTF-8") from None
    return value


def _path(name, value):
    plain = _os.fspath(value) if isinstance(value, (str, _os.PathLike)) else None
    if not isinstance(plain, str):
        raise InputError(f"{name}: expected the path of a file, not {_kind(value)}")
    if "\0" in plain or len(plain) > 4095:
        raise InputError(f"{name}: {_shown(plain)} is no path")
    return _text(name, plain)


def _some(name, values):
    """A list of values that can be gone through."""
    most = 100_000
    found = list(_itertools.islice(values, most + 1))
    if len(found) > most:
        raise InputError(f"{name}: has more than {most} values")
    return found


def _names(name, values):
    """One text or several."""
    if isinstance(values, str):
        values = [values]
    if isinstance(values, _Mapping) or _is_one(values):
        raise InputError(f"{name}: expected a text or several, not {_kind(values)}")
    found = _some(name, values)
    if not all(isinstance(one, str) for one in found):
        raise InputError(f"{name}: expected a text or several, not {_shown(found)}")
    return [_text(name, one) for one in found]


def _kind(value):
    kind = type(value)
    return f"a {kind.__name__}" if kind.__module__ == "builtins" else f"a {kind.__module__.split('.')[0]} {kind.__name__}"


def _is_one(value):
    """Whether it is no list of values: a text, a number, or NumPy's array of one without a dimension."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0


def _given(settings, depth=0):
    """By dotted path, the list of the values of each setting."""
    flat = {}
    if depth > 10:
        raise InputError("the values are nested too deeply, or contain themselves")
    for key, value in settings.items():
        if not isinstance(key, str):
            raise InputError(f"{_shown(key)}: the name of a setting is a text")
        if value is None:
            continue
        if isinstance(value, (bytes, bytearray)):
            raise InputError(f"{key}: expected a text, not bytes: {_shown(value)}")
        if isinstance(value, _Mapping):
            for name, inner in _given(value, depth + 1).items():
                flat[f"{key}.{name}"] = inner
        elif key == "tensors":  # this one is a list
            flat[key] = [value if _is_one(value) else _some(key, value)]
        elif _is_one(value):
            flat[key] = [value]
        else:
            flat[key] = _some(key, value)
            if not flat[key]:
                raise InputError(f"{key}: the list is empty; give at least one value")
    return flat


def _json_text(values):
    """JSON of values, also of NumPy's numbers and of whatever can be gone through."""
    def plain(value):
        if isinstance(value, (bytes, bytearray)):
            raise InputError(f"{_shown(value)}: expected a text, not bytes")
        if isinstance(value, _pandas.DataFrame):
            raise InputError(f"expected a number, a text or a list of them, not {_kind(value)}")
        if hasattr(value, "tolist"):
            return whole(value.tolist())
        if hasattr(value, "__fspath__"):
            return _os.fspath(value)
        if isinstance(value, _Mapping):
            return whole(dict(value))
        if hasattr(value, "__iter__"):
            return whole(_some("a list", value))
        raise InputError(f"{_shown(value)} is {_kind(value)}; expected a number, a text or a boolean")

    def whole(value):
        """1e6 is the whole number 1000000."""
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return int(value)
        if isinstance(value, int) and value.bit_length() > 63:
            raise InputError(f"a whole number of {value.bit_length()} bits is too large")
        if isinstance(value, dict):
            return {name: whole(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [whole(inner) for inner in value]
        return value
    try:
        return _json.dumps(whole(values), default=plain, allow_nan=False)
    except InputError:
        raise
    except RecursionError:
        raise InputError("the values are nested too deeply, or contain themselves") from None
    except TypeError as error:
        raise InputError(f"{error}; the names of settings are texts") from None
    except ValueError as error:
        raise InputError(f"{error}; expected finite numbers") from None


def _frame(text, columns=None):
    """A data frame of records; one without records has these columns."""
    records = _json.loads(text)
    frame = Results(records, columns=None if records else columns)
    # A column of nulls alone is one of numbers: NaN, which can be compared and added.
    numbers = [name for name in frame if name not in _TEXTS and frame[name].isna().all()]
    frame = frame.astype({name: float for name in numbers})
    if "verdict" not in frame or "time_mean_s" not in frame:
        return frame
    middle = [name for name in frame if name not in _FIRST and name not in _LAST]
    return frame[[name for name in _FIRST if name in frame] + middle + [name for name in _LAST if name in frame]]


def _paths(files, name="results"):
    if isinstance(files, (str, _os.PathLike)):
        files = [files]
    if isinstance(files, (_pandas.DataFrame, _Mapping)) or _is_one(files):
        raise InputError(f"{name}: expected the path of a file or several, not {_kind(files)}")
    files = [_path(name, file) for file in _some(name, files)]
    if not files:
        raise InputError(f"{name}: the list is empty; give at least one file")
    return files


def _conditions(where):
    """KEY=VALUE[,VALUE] of each condition."""
    texts = []
    if where is not None and not isinstance(where, _Mapping):
        raise InputError(f"where: expected a dict as in {{'ranks': [4, 8]}}, not {_kind(where)}")
    for key, values in (where or {}).items():
        if _is_one(values):
            values = [values]
        values = [value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
                  for value in _some("where", values)]
        words = [_json.dumps(value) if isinstance(value, bool) else str(value) for value in values]
        texts.append(_text("where", f"{key}={','.join(words)}"))
    return texts


def _check_folder(file):
    """Simulations are not begun whose results could not be written. The folder is made, as by sweep()."""
    if _os.path.isdir(file):
        raise InputError(f"{file}: is a folder; name a file for the results")
    folder = _os.path.dirname(file) or "."
    try:
        _os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{file}: cannot be written: its folder cannot be made: {error.strerror}") from None
    if not _os.path.isdir(folder) or not _os.access(folder, _os.W_OK):
        raise InputError(f"{file}: cannot be written: {folder} is not a folder that can be written to")


def _number(name, value, above_zero=False):
    """A finite number from 0."""
    try:
        number = _math.nan if isinstance(value, (str, bytes, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = _math.nan
    if not 0 <= number < _math.inf or (above_zero and number == 0):
        wanted = "above 0" if above_zero else "from 0"
        raise InputError(f"{name}: {_shown(value)} is not valid; expected a number {wanted}")
    return number


def _bar_of_notebooks():
    """A progress bar in a notebook's cell, where there is tqdm; else None."""
    ipython = _sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar = None

    def show(done, total, _):
        nonlocal bar
        if total < 2:
            return
        bar = tqdm(total=total, unit="point", leave=False) if bar is None else bar
        bar.update(done - bar.n)
        if done == total:
            bar.close()
    return show


def _display_of_notebooks():
    """What shows a data frame in a notebook's cell; else None."""
    ipython = _sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return ipython.display.display if type(shell).__name__ == "ZMQInteractiveShell" else None


def _progress(progress):
    """The function that is called when a point ends, or None."""
    if progress is None:
        return _bar_of_notebooks()
    if progress is False:
        return None
    if not callable(progress):
        raise InputError(f"progress: expected a function of (done, total, seconds_left), not {_shown(progress)}")
    return progress


def _limits(time_limit_s, memory_limit_mib):
    """Seconds and bytes of a point; None: no limit."""
    seconds = None if time_limit_s is None else _number("time_limit_s", time_limit_s, True)
    mebibytes = None if memory_limit_mib is None else _number("memory_limit_mib", memory_limit_mib, True)
    return seconds, None if mebibytes is None else int(min(mebibytes * 2**20, 2**62))


def _running(jobs, time_limit_s, memory_limit_mib, progress):
    """How points run."""
    return _thinwire.Running(None if jobs is None else _whole_number("jobs", jobs, 1),
                             *_limits(time_limit_s, memory_limit_mib), _progress(progress))


def _advice_of(text, columns=None):
    """A data frame of recommend, without what is the same in all of its rows; `full()` has that too."""
    everything = _frame(text, columns)
    told = [name for name in ("schema", "kind") if name in everything and everything[name].nunique() < 2]
    short = everything.drop(columns=told)
    short._all = everything
    return short


def _checked(rows, frame):
    """Raises SimulationError if a point failed, with all results in its attribute `results`. Warns of
    points that were skipped."""
    failed = [text for is_failed, text in rows.troubles() if is_failed]
    for is_failed, text in rows.troubles():
        if not is_failed:
            _warnings.warn(text, stacklevel=3)
    if failed:
        error = SimulationError("\n".join(failed))
        error.results = frame
        raise error
    return frame


def _check_table(table):
    if not isinstance(table, str) or table not in ("results", *_DETAILS):
        raise InputError(f"table: {_shown(table)} is not valid; expected 'results', 'phases', 'links' or 'ranks'")


def _table(rows, table, tolerance=1e-9):
    _check_table(table)
    if table == "results":
        everything = _frame(rows.records(tolerance))
        short = everything[_short_of(everything)].copy()
        short._all, short._rows = everything, rows
        everything._rows = rows
        return short
    name, columns = _DETAILS[table]
    return _frame(rows.details(name), columns)


def _merged(config, settings):
    """`settings` over `config`, group by group; k and density replace each other."""
    merged = dict(config)
    for key, value in settings.items():
        both = isinstance(value, _Mapping) and isinstance(merged.get(key), _Mapping)
        merged[key] = {**merged[key], **value} if both else value
    for key, other in (("k", "density"), ("density", "k")):
        if key in settings and other not in settings:
            merged.pop(other, None)
    return merged


@_public
def run(config=None, *, table="results", output=None, jobs=None, time_limit_s=None, memory_limit_mib=None,
        progress=None, verbose=False, **settings):
    """Simulates a point, or every combination of the values of settings that are lists.

    config: a JSON file with a point, or a dict like one; settings go over it.
    table: "results", a row per point; "phases", "links" or "ranks": a row for each of those. Links
        and ranks are there if they were recorded: record={"links": True}.
    output: a results file to write, which load, compare and the program read.
    jobs, time_limit_s, memory_limit_mib, progress: as in sweep.
    Returns a short frame; its `full()` has all columns.
    Raises InputError, and SimulationError if a point failed. After Ctrl-C, or what else ends it, the
    points that had ended are in `output`, and in the attribute `results` of the exception.
    """
    file = ""
    _check_table(table)
    if isinstance(config, _Mapping):
        settings = _merged(config, settings)
    elif config is not None:
        file = _path("config", config)
        if file in schemes():
            raise InputError(f"config: '{file}' is a scheme, not a file; give it as scheme='{file}'")
    given = _json_text(_given(settings))
    verbose = _switch("verbose", verbose)
    running = _running(jobs, time_limit_s, memory_limit_mib, progress)
    if output is not None:
        output = _path("output", output)
        _check_folder(output)
    rows = _thinwire.Rows()
    try:
        _thinwire.run(rows, file, given, running, verbose)
    except BaseException as stop:
        if len(rows) > 0:
            stop.results = _table(rows, table)
            if output is not None:
                rows.write(output)
        raise
    if output is not None:
        rows.write(output)
    return _checked(rows, _table(rows, table))


def _flat_grid(config):
    """The sweep with a grid {"machine": {"alpha_s": [...]}} as "machine.alpha_s"."""
    grid = config.get("grid")
    if not isinstance(grid, _Mapping):
        return config
    flat = {}

    def flatten(prefix, values):
        if prefix.count(".") > 10:
            raise InputError("grid: the values are nested too deeply, or contain themselves")
        for key, value in values.items():
            if isinstance(value, _Mapping):
                flatten(f"{prefix}{key}.", value)
            else:
                flat[f"{prefix}{key}"] = [value] if _is_one(value) else value
    flatten("", grid)
    return {**config, "grid": flat}


@_public
def sweep(config, output=None, *, jobs=None, force=False, time_limit_s=None, memory_limit_mib=None,
          progress=None, executor=None):
    """Simulates every point of a grid. Points that `output` already holds are not simulated again.

    config: a JSON file, the name of a shipped sweep, or a dict like the file: {"name": "mine",
        "base": {"scheme": "oktopk"}, "grid": {"ranks": [8, 16]}}. Its numbers may be texts, as in run.
    output: the results file; default results/local/NAME.jsonl.
    jobs: points that run at once; default the number of cores.
    time_limit_s, memory_limit_mib: of a point, which fails beyond them.
    progress: called with (done, total, seconds_left) when a point ends; its exception ends the sweep.
        By default a notebook shows a bar, where there is tqdm; False: none.
    executor: any executor of concurrent.futures, as Dask, mpi4py and Ray have them, whose workers
        simulate the points; they need this package, and no common folder. `jobs` is then theirs.
    Raises InputError, and SimulationError if a point failed; KeyboardInterrupt after Ctrl-C. What was
    finished is in `output`, and the same call goes on.
    """
    is_text = isinstance(config, _Mapping)
    given = _json_text(_flat_grid(config)) if is_text else _path("config", config)
    output = "" if output is None else _path("output", output)
    running = _running(jobs, time_limit_s, memory_limit_mib, progress)
    force = _switch("force", force)
    if executor is not None:
        if jobs is not None:
            raise InputError("jobs: the executor has workers of its own; leave it out")
        output = _spread.run(executor, given, is_text, output, _limits(time_limit_s, memory_limit_mib), force,
                             _progress(progress))
        rows = _thinwire.of_sweep(given, is_text, output)
        return _checked(rows, _table(rows, "results"))
    rows = _thinwire.sweep(given, is_text, output, running, force)
    return _checked(rows, _table(rows, "results"))


@_public
def load(results, *, where=None, table="results"):
    """The results of one file or several, each point once.

    where: {"network": "smpi", "ranks": [64, 256]} selects rows by their columns.
    table: as in run. Rows without a result are among them, with their `status` and `reason`.
    """
    return _table(_thinwire.load(_paths(results), _conditions(where)), table)


@_public
def compare(results, *, baseline=None, tolerance=1e-9, where=None, group_by=None):
    """Compares results with their formulas (columns `formula_*`, `ratio_*`, `verdict`).

    baseline: results of an earlier version; then a row per point has both times, their ratio, and
        `change`, which is "same" if they differ by `tolerance` at most.
    group_by: columns; then a row per group has counts, medians and ranges.
    """
    tolerance = _number("tolerance", tolerance)
    if baseline is not None and group_by is not None:
        raise InputError("group_by: excludes baseline")
    rows = _thinwire.load(_paths(results), _conditions(where))
    if baseline is not None:
        before = _thinwire.load(_paths(baseline, "baseline"), _conditions(where))
        frame = _frame(rows.against(before, tolerance))
        return frame.drop(columns="settings")
    if group_by is not None:
        return _frame(rows.groups(_names("group_by", group_by)))
    return _table(rows, "results", tolerance)


@_public
def recommend(model, *, schemes=(), all=False, crossovers=True, most_ranks=1024, density_of="rank",
              state_bytes=16, most_seconds=60, jobs=None, forecast=None, progress=None, **settings):
    """Ranks schemes by the simulated iteration of a training, as `thinwire recommend` does.

    model: a shipped model or a file. schemes: the candidates; default one of each kind.
    all: simulate all candidates to their ends, also what is known to be slower than the best.
    crossovers: also search where another scheme becomes the fastest, up to `most_ranks` ranks.
    density_of: "rank", or "sum" to give all schemes sums of as many components. state_bytes: of
    weights, gradient and optimizer per component, held against the device's memory. most_seconds:
    simulations that are expected to take longer are left out. jobs, progress: as in sweep.
    forecast: called at once with a data frame of what the formulas tell; a notebook shows it by default.
    Returns a Recommendation: data frames `candidates`, `crossovers`, `assumptions`, `slower` and
    `forecast`, and a sentence, `answer`. After Ctrl-C, or what else ends it, what is known is in the
    attribute `results` of the exception.
    """
    if not isinstance(density_of, str) or density_of not in ("rank", "sum"):
        raise InputError(f"density_of: {_shown(density_of)} is not valid; expected 'rank' or 'sum'")
    if "scheme" in settings:
        raise InputError("scheme: the candidates are 'schemes'")
    workload = settings.pop("workload", {})
    if not isinstance(workload, _Mapping):
        raise InputError(f"workload: expected a dict, not {_kind(workload)}")
    if "model" in workload:
        raise InputError("workload.model: it is the first argument; leave it out")
    workload = {**workload, "model": _path("model", model)}
    state_bytes = _number("state_bytes", state_bytes)
    for key in ("device", "batch", "staging"):
        if key in settings:
            workload[key] = settings.pop(key)
    if forecast is not None and not callable(forecast):
        raise InputError(f"forecast: expected a function of a data frame, not {_shown(forecast)}")
    show = forecast or _display_of_notebooks()
    asked = _thinwire.AdviceQuestion(
        _names("schemes", schemes), _switch("all", all), _switch("crossovers", crossovers),
        _whole_number("most_ranks", most_ranks, 1), density_of == "sum", state_bytes,
        _number("most_seconds", most_seconds), (lambda text: show(_advice_of(text))) if show else None)
    advice = _thinwire.Advice()

    def found():
        return Recommendation(_advice_of(advice.candidates), _advice_of(advice.crossovers, _CROSSOVERS),
                              _advice_of(advice.assumptions), _advice_of(advice.slower, _SLOWER),
                              _advice_of(advice.forecast, _FORECAST), advice.answer)
    try:
        _thinwire.recommend(advice, _json_text(_given({**settings, "workload": workload})), asked,
                            _running(jobs, None, None, progress))
    except BaseException as stop:
        if not isinstance(stop, (InputError, SimulationError)):
            stop.results = found()
        raise
    for _, text in advice.rows.troubles():
        _warnings.warn(text, stacklevel=2)
    return found()


def settings():
    """The settings of a point: path, unit, valid values, default, what reads it, and what it is."""
    return _frame(_thinwire.settings())


def schemes():
    """The names of the schemes."""
    return _thinwire.schemes()


def platforms():
    """The names of the shipped platforms."""
    return _thinwire.platforms()


@_public
def command(*arguments, **options):
    """Runs a command of the program: command("claims", "oktopk.bert", format="jsonl") is for those that
    are no functions here. Returns what it prints, a text."""
    return _commands.printed(arguments, options)[0].decode("utf-8", "replace")


def _drawn(kind, results, where, options):
    """A figure or a page of a frame, or of files."""
    given = [f"{key}" for key in _conditions(where)]
    options = {name: value for name, value in options.items() if value is not None}
    if given:
        options["where"] = given
    if not isinstance(results, _pandas.DataFrame):
        return kind(_paths(results), options)
    rows = getattr(results, "_rows", None)
    if rows is None:
        raise InputError("results: the frame is none of run, sweep, load or compare; give theirs, or files of results")
    places = [int(place) for place in results.full().index]
    return kind([], options, rows.chosen(places))


@_public
def figure(results, figure="time", *, where=None, title=None, width=None, height=None, font=None, font_size=None,
           panels_per_row=None):
    """Draws results, of a frame of run, sweep or load, or of files: a notebook shows the figure.

    figure: "time", "volume", "breakdown", "congestion", "crossover" or "links"; of files also "measured",
        "accuracy" and "claims".
    where: as in load. width, height, font_size: in pixels, or as "85mm".
    The `save` of the figure writes it: figure.save("time.pdf").
    """
    return _drawn(_commands.Figure, results, where,
                  {"figure": figure, "title": title, "width": width, "height": height, "font": font,
                   "font_size": font_size, "panels_per_row": panels_per_row})


@_public
def report(results, *, where=None, title=None):
    """The page of all figures of a frame or of files. A notebook shows it; report.save("report.html")."""
    return _drawn(_commands.Page, results, where, {"title": title})


@_public
def topo(action, *arguments, **options):
    """Platforms: topo("show", "aries_daint"), topo("make", "fat_tree", racks=2, output="mine.xml").

    Takes the words of `thinwire topo`, with flags as named arguments. Returns a frame for "show", and for
    other words what they print.
    """
    if action == "show" and "export" not in options:
        options.setdefault("format", "jsonl")
    return _commands.records_of(["topo", action, *arguments], options)


@_public
def fit(*arguments, **options):
    """Makes a machine of measured times, as `thinwire fit` does, and predicts them on more nodes.

        fit("two_nodes.txt", gpus=8, nic_bandwidth="400Gbps", nodes=256, output="mine.json")

    arguments: logs of nccl-tests, OSU or IMB, or a CSV.
    options: the flags of the command, with _ for -: gpus, nics, nic_bandwidth, gpu_bandwidth, device, nodes,
        oversubscription, leaf_nodes, name, machine, fit, placement, output, jobs, format, wide.
        print(thinwire.command("fit", help=True)) explains each.
    Returns what it prints; a frame with format="jsonl".
    """
    return _commands.records_of(["fit", *arguments], options)
