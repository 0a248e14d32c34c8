"""Simulates allreduces, as the program thinwire does, and returns pandas data frames.

    import thinwire
    frame = thinwire.run(scheme=["oktopk", "topka"], ranks=[64, 256], density=0.01)

The columns are those of docs/output-format.md; names of measured columns end in their unit: `_s`
(seconds), `_bytes`, `_s_per_word` (seconds per word of 4 bytes), `_bytes_per_s`. Settings are those of
`thinwire.settings()`: a setting "machine.alpha_s" is given as `machine={"alpha_s": 2e-6}`, and numbers
may be texts as in the command line, "25.5M" or "2us".

Errors: InputError (a ValueError) for input that cannot be run, SimulationError (a RuntimeError) for a
simulation that failed; their text is that of the command line. Simulations run in processes of their
own, outside the interpreter's lock; Ctrl-C ends them with a KeyboardInterrupt.
"""
import json as _json
import os as _os
import warnings as _warnings
from collections import namedtuple as _namedtuple
from collections.abc import Mapping as _Mapping

import pandas as _pandas

from . import _thinwire
from ._thinwire import InputError, SimulationError

__all__ = ["InputError", "Recommendation", "SimulationError", "compare", "load", "platforms",
           "recommend", "run", "schemes", "settings", "sweep"]
__version__ = _thinwire.version()

# By table: its name in a result, and its columns.
_OF_ROW = ["key", "scheme", "ranks"]
_DETAILS = {
    "phases": ("phases", ["name", "time_s_max", "words_received_max", "messages_received_max", *_OF_ROW]),
    "links": ("links", ["name", "bandwidth_bytes_per_s", "bytes", "utilisation_mean", "utilisation_peak",
                        *_OF_ROW]),
    "ranks": ("by_rank", ["rank", "phase", "time_s", "words_sent", "words_received", "messages_sent",
                          "messages_received", *_OF_ROW])}
_CROSSOVERS = ["schema", "kind", "along", "towards", "at", "scheme", "gain", "looked_to", "ended"]
# Columns of texts that may be null in all rows.
_TEXTS = {"platform", "placement", "reason", "reported", "reported_in", "scheme", "ended"}

Recommendation = _namedtuple("Recommendation", ["candidates", "crossovers", "assumptions"])
Recommendation.__doc__ = """Data frames: the candidates, the fastest first; where the ranking changes; what it
rests on, and which candidates were left out."""


def _is_one(value):
    """Whether it is no list of values: a text, a number, or NumPy's array of one without a dimension."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0


def _given(settings):
    """By dotted path, the list of the values of each setting."""
    flat = {}
    for key, value in settings.items():
        if value is None:
            continue
        if isinstance(value, _Mapping):
            for name, inner in _given(value).items():
                flat[f"{key}.{name}"] = inner
        elif key == "tensors":  # this one is a list
            flat[key] = [list(value)]
        elif _is_one(value):
            flat[key] = [value]
        else:
            flat[key] = list(value)
            if not flat[key]:
                raise InputError(f"{key}: the list is empty; give at least one value")
    return flat


def _json_text(values):
    """JSON of values, also of NumPy's numbers and of whatever can be gone through."""
    def plain(value):
        if hasattr(value, "tolist"):
            return value.tolist()
        if hasattr(value, "__fspath__"):
            return _os.fspath(value)
        if isinstance(value, _Mapping):
            return dict(value)
        if hasattr(value, "__iter__"):
            return list(value)
        raise InputError(f"'{value}' is of {type(value)}; expected a number, a text or a boolean")
    try:
        return _json.dumps(values, default=plain, allow_nan=False)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{error}; expected finite numbers") from None


def _frame(text, columns=None):
    """A data frame of records; one without records has these columns."""
    records = _json.loads(text)
    frame = _pandas.DataFrame(records, columns=None if records else columns)
    # A column of nulls alone is one of numbers: NaN, which can be compared and added.
    numbers = [name for name in frame if name not in _TEXTS and frame[name].isna().all()]
    return frame.astype({name: float for name in numbers})


def _paths(files):
    if isinstance(files, (str, _os.PathLike)):
        files = [files]
    if not files:
        raise InputError("results: the list is empty; give at least one file")
    return [_os.fspath(file) for file in files]


def _conditions(where):
    """KEY=VALUE[,VALUE] of each condition."""
    texts = []
    for key, values in (where or {}).items():
        if _is_one(values):
            values = [values]
        values = [value.item() if hasattr(value, "item") else value for value in values]
        words = [_json.dumps(value) if isinstance(value, bool) else str(value) for value in values]
        texts.append(f"{key}={','.join(words)}")
    return texts


def _check_folder(file):
    """Simulations are not begun whose results could not be written."""
    if _os.path.isdir(file):
        raise InputError(f"{file}: is a folder; name a file for the results")
    folder = _os.path.dirname(file) or "."
    if not _os.path.isdir(folder) or not _os.access(folder, _os.W_OK):
        raise InputError(f"{file}: cannot be written: {folder} is not a folder that can be written to")


def _above_zero(name, value):
    """A limit, or None."""
    if value is None:
        return None
    if isinstance(value, str) or not 0 < value < float("inf"):
        raise InputError(f"{name}: {value!r} is not valid; expected a number above 0")
    return float(value)


def _bytes_of(mebibytes):
    mebibytes = _above_zero("memory_limit_mib", mebibytes)
    return None if mebibytes is None else int(mebibytes * 2**20)


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


def _table(rows, table, tolerance=1e-9):
    if table == "results":
        return _frame(rows.records(tolerance))
    if table not in _DETAILS:
        raise InputError(f"table: '{table}' is not valid; expected results, phases, links or ranks")
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


def run(config=None, *, table="results", output=None, memory_limit_mib=None, verbose=False,
        **settings):
    """Simulates a point, or every combination of the values of settings that are lists.

    config: a JSON file with a point, or a dict like one; settings go over it.
    table: "results", a row per point; "phases", "links" or "ranks": a row for each of those. Links
        and ranks are there if they were recorded: record={"links": True}.
    output: a results file to write, which load, compare and the program read.
    Raises InputError, and SimulationError if a point failed.
    """
    file = ""
    if isinstance(config, _Mapping):
        settings = _merged(config, settings)
    elif config is not None:
        file = _os.fspath(config)
    given = _given(settings)
    if output is not None:
        _check_folder(_os.fspath(output))
    rows = _thinwire.run(file, _json_text(given), _bytes_of(memory_limit_mib), verbose)
    if output is not None:
        rows.write(_os.fspath(output))
    return _checked(rows, _table(rows, table))


def sweep(config, output=None, *, jobs=None, force=False, time_limit_s=None, memory_limit_mib=None,
          progress=None):
    """Simulates every point of a grid. Points that `output` already holds are not simulated again.

    config: a JSON file, the name of a shipped sweep, or a dict like the file: {"name": "mine",
        "base": {"scheme": "oktopk"}, "grid": {"ranks": [8, 16]}}.
    output: the results file; default results/local/NAME.jsonl.
    jobs: points that run at once; default the number of cores.
    progress: called with (done, total, seconds_left) when a point ends.
    Raises InputError, and SimulationError if a point failed; KeyboardInterrupt after Ctrl-C. What was
    finished is in `output`, and the same call goes on.
    """
    is_text = isinstance(config, _Mapping)
    rows = _thinwire.sweep(_json_text(config) if is_text else _os.fspath(config), is_text,
                           "" if output is None else _os.fspath(output), jobs, force,
                           _above_zero("time_limit_s", time_limit_s),
                           _bytes_of(memory_limit_mib), progress)
    return _checked(rows, _table(rows, "results"))


def load(results, *, where=None, table="results"):
    """The results of one file or several, each point once.

    where: {"network": "smpi", "ranks": [64, 256]} selects rows by their columns.
    table: as in run. Rows without a result are among them, with their `status` and `reason`.
    """
    return _table(_thinwire.load(_paths(results), _conditions(where)), table)


def compare(results, *, baseline=None, tolerance=1e-9, where=None, group_by=None):
    """Compares results with their formulas (columns `formula_*`, `ratio_*`, `verdict`).

    baseline: results of an earlier version; then a row per point has both times, their ratio, and
        `change`, which is "same" if they differ by `tolerance` at most.
    group_by: columns; then a row per group has counts, medians and ranges.
    """
    if not tolerance >= 0:
        raise InputError(f"tolerance: {tolerance} is not valid; expected a number from 0")
    if baseline is not None and group_by is not None:
        raise InputError("group_by: excludes baseline")
    rows = _thinwire.load(_paths(results), _conditions(where))
    if baseline is not None:
        before = _thinwire.load(_paths(baseline), _conditions(where))
        frame = _frame(rows.against(before, tolerance))
        return frame.drop(columns="settings")
    if group_by is not None:
        return _frame(rows.groups([group_by] if isinstance(group_by, str) else list(group_by)))
    return _table(rows, "results", tolerance)


def recommend(model, *, schemes=(), crossovers=True, most_ranks=1024, density_of="rank",
              state_bytes=16, jobs=1, **settings):
    """Ranks schemes by the simulated iteration of a training, as `thinwire recommend` does.

    model: a shipped model or a file. schemes: the candidates; default one of each kind.
    crossovers: also search where another scheme becomes the fastest, up to `most_ranks` ranks.
    density_of: "rank", or "sum" to give all schemes sums of as many components. state_bytes: of
    weights, gradient and optimizer per component, held against the device's memory. jobs:
    simulations at once.
    Returns a Recommendation: data frames `candidates`, `crossovers` and `assumptions`.
    """
    if density_of not in ("rank", "sum"):
        raise InputError(f"density_of: {density_of!r} is not valid; expected 'rank' or 'sum'")
    if "scheme" in settings:
        raise InputError("scheme: the candidates are 'schemes'")
    workload = settings.pop("workload", {})
    if "model" in workload:
        raise InputError("workload.model: it is the first argument; leave it out")
    workload = {**workload, "model": model}
    for key in ("device", "batch", "staging"):
        if key in settings:
            workload[key] = settings.pop(key)
    names = [schemes] if isinstance(schemes, str) else list(schemes)
    advice = _thinwire.recommend(_json_text(_given({**settings, "workload": workload})), names,
                                 crossovers, most_ranks, density_of == "sum", state_bytes, jobs)
    found = Recommendation(_frame(advice.candidates), _frame(advice.crossovers, _CROSSOVERS),
                           _frame(advice.assumptions))
    for _, text in advice.rows.troubles():
        _warnings.warn(text, stacklevel=2)
    return found


def settings():
    """The settings of a point: path, unit, valid values, default, what reads it, and what it is."""
    return _frame(_thinwire.settings())


def schemes():
    """The names of the schemes."""
    return _thinwire.schemes()


def platforms():
    """The names of the shipped platforms."""
    return _thinwire.platforms()
