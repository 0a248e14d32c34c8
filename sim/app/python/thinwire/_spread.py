"""Points of a sweep that are simulated by the workers of an executor."""
import concurrent.futures as _futures
import os as _os
import time as _time

from . import _thinwire
from ._thinwire import InputError, SimulationError


def simulate(sweep, task, limits):
    """Simulates a point on a worker. Returns its line of the results file."""
    return _thinwire.simulated(sweep, task, _thinwire.Running(1, *limits, None))


def run(executor, config, is_text, output, limits, force, progress):
    """Simulates the points that the file `output` does not hold, and adds each to it as it ends. Returns the
    path of the file."""
    if not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor: expected one of concurrent.futures, not a {type(executor).__name__}")
    missing = _thinwire.missing(config, is_text, output, force)
    output, total = missing.output, missing.points
    _os.makedirs(_os.path.dirname(output) or ".", exist_ok=True)
    begin = _time.monotonic()
    waiting = set()
    try:
        _drop_incomplete_line(output)
        with open(output, "a", encoding="utf-8") as file:
            waiting = {executor.submit(simulate, missing.sweep, task, limits) for task in missing.tasks}
            known = total - len(waiting)
            ended = 0
            while waiting:
                done, waiting = _futures.wait(waiting, return_when=_futures.FIRST_COMPLETED)
                # What succeeded is kept before an error of another one ends all.
                for future in sorted(done, key=lambda one: one.cancelled() or one.exception() is not None):
                    file.write(_line(future))
                    file.flush()
                    ended += 1
                    left_s = (_time.monotonic() - begin) / ended * len(waiting)
                    if progress is not None:
                        progress(known + ended, total, left_s)
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror}") from None
    finally:
        for future in waiting:
            future.cancel()
    return output


def _drop_incomplete_line(path):
    """Removes the line that a killed writer left behind."""
    if not _os.path.exists(path):
        return
    with open(path, "rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _line(future):
    """What a worker has simulated."""
    try:
        return future.result()
    except (InputError, SimulationError):
        raise
    except Exception as error:  # of the executor: a worker died, or lacks the package
        raise SimulationError(f"executor: a worker ended with {type(error).__name__}: {error}") from error
